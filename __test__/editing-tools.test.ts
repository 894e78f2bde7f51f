// The tool `edit_file` in a toolkit, behind MCP's text, and with the arguments that models send.

import assert from "node:assert/strict";
import fs from "node:fs";
import { describe, test } from "node:test";
import { createAgentToolkit, readArguments, toMcpToolResult } from "../dist/index.js";
import { callThrough, failureIn, withClient } from "./support/mcp.ts";
import { inWorkspace } from "./support/workspace.ts";

describe("arguments under the names that models know", () => {
  const readBy = (sent: unknown) => {
    const read = readArguments("edit_file", sent);
    assert.ok(read.ok, JSON.stringify(read));
    assert.equal(read.ignored, null);
    return JSON.parse(JSON.stringify(read.args));
  };
  const edit = { old_string: "a", new_string: "b" };
  for (const [name, sent, expected] of [
    ["of Anthropic's editor", { path: "p", old_str: "a", new_str: "b" }, { path: "p", ...edit }],
    [
      "in camel case",
      { filePath: "p", oldString: "a", newString: "b", replaceAll: true },
      { path: "p", ...edit, replace_all: true },
    ],
    [
      "of a list of edits",
      { file_path: "p", edits: [{ oldText: "a", newText: "b" }] },
      { path: "p", edits: [edit] },
    ],
    [
      "of a list as JSON text",
      { path: "p", edits: JSON.stringify([{ old_str: "a", new_str: "b" }]) },
      { path: "p", edits: [edit] },
    ],
    ["inside of input", { input: { path: "p", ...edit } }, { path: "p", ...edit }],
  ] as const) {
    test(`T16: ${name}`, () => assert.deepEqual(readBy(sent), expected));
  }
});

describe("in a toolkit", () => {
  test(
    "it stands beside the tools, and gives what the function gives",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "one\n");
      using kit = createAgentToolkit(ws.writable);
      const args = { path: "a.txt", old_string: "one", new_string: "two" };
      const edited = await kit.editFile(args);
      assert.ok(edited.status === "success", JSON.stringify(edited));
      assert.deepEqual([edited.data.applied, edited.data.replacements], [true, 1]);
      assert.equal(fs.readFileSync(ws.at("a.txt"), "utf8"), "two\n");
    }),
  );

  test(
    "a text that does not occur is answered with the closest lines, for the model to copy",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "x\n\tindented line\ny\n");
      using kit = createAgentToolkit(ws.writable);
      const args = { path: "a.txt", old_string: "  indented line", new_string: "b" };
      const failed = await kit.invoke("edit_file", args);
      assert.ok(failed.status === "failure", JSON.stringify(failed));
      assert.match(
        failed.message,
        /has 1 tab where old_string has 2 spaces: a\.txt\nLine 2 of the file:\n\tindented line$/,
      );
      const { code, facts } = failed.error.details;
      assert.equal(code, "NO_MATCH");
      assert.deepEqual(facts, {
        edit_index: 0,
        closest: { start_line: 2, end_line: 2, text: "\tindented line", difference: "indentation" },
      });
    }),
  );

  test(
    "a read-only workspace does not have it, and refuses it",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a");
      using kit = createAgentToolkit(ws.context);
      assert.ok(!kit.getAllowedTools().includes("edit_file"));
      const refused = await kit.editFile({ path: "a.txt", old_string: "a", new_string: "b" });
      assert.equal(refused.status, "denied");
      assert.equal(fs.readFileSync(ws.at("a.txt"), "utf8"), "a");
    }),
  );

  test(
    "approval shows the diff, and only the file that was shown is edited",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "one\n");
      const shown: (string | null)[] = [];
      using kit = createAgentToolkit({
        ...ws.writable,
        policy: { tools: { edit_file: "ask" } },
        approve(call) {
          shown.push(call.diff);
          if (shown.length === 2) ws.write("a.txt", "two\nmore\n");
          return "allow";
        },
      });
      const edit = (old_string: string, new_string: string) =>
        kit.editFile({ path: "a.txt", old_string, new_string });
      assert.equal((await edit("one", "two")).status, "success");
      assert.deepEqual(shown, ["--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+two\n"]);
      const late = await edit("two", "three");
      assert.ok(late.status === "failure", JSON.stringify(late));
      assert.equal(late.error.details.code, "STALE");
      assert.equal(fs.readFileSync(ws.at("a.txt"), "utf8"), "two\nmore\n");
      // A call that would fail anyway is not shown.
      assert.equal((await edit("none", "x")).status, "failure");
      assert.equal(shown.length, 2);
    }),
  );

  test(
    "MCP's text has the diff and a line about it",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "one\n");
      using kit = createAgentToolkit(ws.writable);
      const edited = await kit.editFile({ path: "a.txt", old_string: "one", new_string: "two" });
      const texts = toMcpToolResult(edited).content.map(({ text }) => text);
      assert.deepEqual(texts, [
        "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+two\n",
        "a.txt is edited: 1 place, line 1.",
      ]);
    }),
  );

  test(
    "the official MCP client calls it, and finds that the answer fits its schema",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "one\n");
      await withClient(["--root", ws.root], async (client) => {
        const { tools } = await client.listTools();
        const annotations = tools.find(({ name }) => name === "edit_file")?.annotations;
        assert.equal(annotations?.readOnlyHint, false);
        const args = { file_path: "a.txt", old_str: "one", new_str: "two" };
        const { structuredContent } = await callThrough(client, "edit_file", args);
        assert.equal(structuredContent?.replacements, 1);
        const failed = failureIn(await callThrough(client, "edit_file", args));
        assert.equal(failed.error.details.code, "NO_MATCH");
        assert.match(failed.message, /new_string stands already at line 1/);
      });
      assert.equal(fs.readFileSync(ws.at("a.txt"), "utf8"), "two\n");
    }),
  );
});
