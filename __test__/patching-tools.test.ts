// The tool `apply_patch` in a toolkit, through MCP, and with the arguments that models send; and `patchFile`.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import fs from "node:fs";
import { describe, test } from "node:test";
import type Anthropic from "@anthropic-ai/sdk";
import type { ResponseCustomToolCall } from "openai/resources/responses/responses";
import {
  createAgentToolkit,
  createSecureTool,
  type PatchFileError,
  patchFile,
  readArguments,
  type ToolResult,
  toAnthropicToolResult,
  toAnthropicTools,
  toMcpToolResult,
} from "../dist/index.js";
import { withClosestLines } from "../dist/tools/closest-lines.js";
import { isApplyPatchError, Workspace } from "../index.js";
import { published } from "./support/events.ts";
import { callThrough, failureIn, withClient } from "./support/mcp.ts";
import { v4a } from "./support/patch.ts";
import { rejectionValue } from "./support/read.ts";
import { inWorkspace, type TestWorkspace } from "./support/workspace.ts";

/** Changes a line of `a.txt`. */
const change = (from: string, to: string) => v4a("*** Update File: a.txt", `-${from}`, `+${to}`);

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

const textAt = (ws: TestWorkspace, path: string) => fs.readFileSync(ws.at(path), "utf8");

/** A failure's code, its message, and what else it tells. */
function failureOf(result: ToolResult) {
  assert.ok(result.status === "failure", JSON.stringify(result));
  const { code, facts = {} } = result.error.details;
  return { code, facts, message: result.message };
}

describe("arguments under the names that models know", () => {
  const patch = change("a", "b");
  const diff = "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-a\n+b\n";
  for (const [name, sent, expected] of [
    ["input, as Codex sends it", { input: patch }, { patch }],
    ["patch_text", { patch_text: patch }, { patch }],
    ["patchText", { patchText: patch }, { patch }],
    ["diff", { diff }, { patch: diff }],
    ["an object in input", { input: { patch } }, { patch }],
    ["an object in input, as JSON text", { input: JSON.stringify({ diff }) }, { patch: diff }],
    ["JSON text", JSON.stringify({ input: patch }), { patch }],
    ["the patch alone", patch, { patch }],
    [
      "the patch alone, in a fence",
      `\`\`\`diff\n${diff}\`\`\``,
      { patch: `\`\`\`diff\n${diff}\`\`\`` },
    ],
    ["the patch alone, as a JSON string", JSON.stringify(patch), { patch }],
    [
      "camel case",
      { patch, expectedHashes: { "a.txt": null }, dryRun: "true" },
      { patch, expected_hashes: { "a.txt": null }, dry_run: true },
    ],
    [
      "hashes as JSON text",
      { patch, expected_hashes: '{"a.txt":null}' },
      { patch, expected_hashes: { "a.txt": null } },
    ],
  ] as const) {
    test(name, () => {
      const read = readArguments("apply_patch", sent);
      assert.ok(read.ok, JSON.stringify(read));
      assert.equal(read.ignored, null);
      assert.deepEqual(JSON.parse(JSON.stringify(read.args)), expected);
    });
  }

  test("broken JSON with a patch in it is no patch", () => {
    for (const sent of [`{"patch":"${diff}"}`, `"${diff}`, "a patch", 5]) {
      const read = readArguments("apply_patch", sent);
      assert.ok(!read.ok);
      assert.match(
        read.repair,
        /^apply_patch: the arguments .*send for example \{"patch":"\*\*\* Begin/,
      );
    }
  });
});

describe("in a toolkit", () => {
  test(
    "it stands beside the tools, and gives what the function gives",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "one\n");
      using kit = createAgentToolkit(ws.writable);
      const patched = await kit.applyPatch({ patch: change("one", "two") });
      assert.deepEqual(patched, {
        status: "success",
        data: {
          format: "v4a",
          applied: true,
          files: [
            {
              path: "a.txt",
              action: "update",
              from_path: null,
              hunks: [{ start_line: 1, offset: 0, match: "exact" }],
              lines_added: 1,
              lines_removed: 1,
              before_sha256: sha256("one\n"),
              sha256: sha256("two\n"),
            },
          ],
          diff: "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+two\n",
          diff_truncated: false,
        },
      });
      assert.equal(textAt(ws, "a.txt"), "two\n");
    }),
  );

  test(
    "a read-only workspace does not have it, and refuses it",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "one\n");
      using kit = createAgentToolkit(ws.context);
      assert.ok(!kit.getAllowedTools().includes("apply_patch"));
      const refused = await kit.invoke("apply_patch", { patch: change("one", "two") });
      assert.equal(refused.status, "denied");
      assert.equal(textAt(ws, "a.txt"), "one\n");
    }),
  );

  test(
    "a path that leads out is denied, and nothing of the patch is written",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "one\n");
      ws.writeOutside("b.txt", "two\n");
      ws.link("out", ws.outside, "dir");
      using kit = createAgentToolkit(ws.writable);
      for (const path of ["../outside/b.txt", "out/b.txt"]) {
        const lines = ["*** Update File: a.txt", "-one", "+two", `*** Delete File: ${path}`];
        const refused = await kit.applyPatch({ patch: v4a(...lines) });
        assert.ok(refused.status === "denied", JSON.stringify(refused));
        assert.equal(refused.error.code, "SANDBOX_VIOLATION");
      }
      assert.equal(textAt(ws, "a.txt"), "one\n");
      assert.deepEqual(fs.readdirSync(ws.outside), ["b.txt"]);
    }),
  );

  test(
    "its events have its name, its code, and nothing of the patch",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "one\n");
      using kit = createAgentToolkit(ws.writable);
      const events = await published(async () => {
        await kit.applyPatch({ patch: change("one", "two") }, { callId: "call-1" });
        await kit.applyPatch({ patch: change("one", "two") });
      });
      const told = events.map(({ event, CallId, Success, ErrorCode }) => [
        event,
        CallId === "call-1",
        Success,
        ErrorCode,
      ]);
      assert.deepEqual(told, [
        ["Tool.ApplyPatch.Executed", true, true, null],
        ["Tool.ApplyPatch.Executed", false, false, "HUNK_NOT_FOUND"],
      ]);
      assert.doesNotMatch(JSON.stringify(events), /Begin Patch/);
    }),
  );
});

describe("what a model reads of a patch that was refused", () => {
  test(
    "the closest lines, to copy",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "x\n\tindented line\ny\n");
      using kit = createAgentToolkit(ws.writable);
      const { code, facts, message } = failureOf(
        await kit.applyPatch({ patch: change("  indented line", "b") }),
      );
      assert.equal(code, "HUNK_NOT_FOUND");
      assert.match(message, /^HUNK_NOT_FOUND: .*a\.txt\nLine 2 of the file:\n\tindented line$/s);
      const { closest, ...place } = facts;
      assert.deepEqual(place, { hunk: 0, patch_line: 3 });
      assert.deepEqual(closest, {
        start_line: 2,
        end_line: 2,
        text: "\tindented line",
        difference: "indentation",
        first_difference: {
          patch_line: 3,
          line: 2,
          expected: "  indented line",
          found: "\tindented line",
        },
      });
      assert.equal(textAt(ws, "a.txt"), "x\n\tindented line\ny\n");
    }),
  );

  test(
    "the lines at which a hunk could stand",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a\nb\na\nb\n");
      using kit = createAgentToolkit(ws.writable);
      const { code, facts, message } = failureOf(await kit.applyPatch({ patch: change("b", "c") }));
      assert.equal(code, "HUNK_AMBIGUOUS");
      assert.deepEqual(facts, { hunk: 0, patch_line: 3, lines: [2, 4] });
      assert.match(message, /\b2 and 4\b|\b2, 4\b/);
    }),
  );

  test(
    "the line of a patch that does not parse",
    inWorkspace(async (ws) => {
      using kit = createAgentToolkit(ws.writable);
      const cut = change("b", "c").replace("*** End Patch\n", "");
      const { code, facts, message } = failureOf(await kit.applyPatch({ patch: cut }));
      assert.equal(code, "PATCH_INVALID");
      assert.equal(typeof facts.patch_line, "number");
      assert.match(message, /\*\*\* End Patch/);
    }),
  );

  test(
    "the file at fault of several",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "one\n");
      ws.write("b.txt", "two\n");
      using kit = createAgentToolkit(ws.writable);
      const lines = ["*** Update File: a.txt", "-one", "+1", "*** Add File: b.txt", "+b"];
      const { code, message } = failureOf(await kit.applyPatch({ patch: v4a(...lines) }));
      assert.equal(code, "ALREADY_EXISTS");
      assert.match(message, /b\.txt$/);
      assert.equal(textAt(ws, "a.txt"), "one\n");
    }),
  );

  test("the closest lines are all that is added to the sentence of the error", () => {
    for (const facts of [{ closest: null }, {}]) {
      const said = { code: "RUNTIME_ERROR", message: "no", retriable: false } as const;
      const error = { ...said, details: { code: "HUNK_NOT_FOUND", facts } };
      const failed = { status: "failure", reason: "runtime", message: "no", error } as const;
      assert.equal(withClosestLines(failed), failed);
    }
  });
});

describe("approval", () => {
  /** A toolkit whose person sees each diff, then does `meanwhile`, and answers. */
  function asking(ws: TestWorkspace, answer: "allow" | "deny" = "allow") {
    const asked = {
      shown: [] as (string | null)[],
      meanwhile: () => {},
    };
    const kit = createAgentToolkit({
      ...ws.writable,
      policy: { tools: { apply_patch: "ask" } },
      approve(call) {
        asked.shown.push(call.diff);
        asked.meanwhile();
        return answer;
      },
    });
    return { kit, asked };
  }

  /** A patch of every action. */
  const EVERY = v4a(
    "*** Update File: a.txt",
    "-one",
    "+1",
    "*** Add File: new/b.txt",
    "+b",
    "*** Delete File: c.txt",
    "*** Update File: d.txt",
    "*** Move to: e.txt",
    "*** Update File: e.txt",
    "-four",
    "+4",
  );

  function writeAll(ws: TestWorkspace): void {
    for (const [name, text] of [
      ["a.txt", "one\n"],
      ["c.txt", "three\n"],
      ["d.txt", "four\n"],
    ] as const) {
      ws.write(name, text);
    }
    for (const name of ["new", "e.txt"]) fs.rmSync(ws.at(name), { recursive: true, force: true });
  }

  test(
    "shows the diff of all files, and writes what was shown",
    inWorkspace(async (ws) => {
      writeAll(ws);
      const { kit, asked } = asking(ws);
      const patched = await kit.applyPatch({ patch: EVERY });
      assert.ok(patched.status === "success", JSON.stringify(patched));
      assert.equal(patched.data.applied, true);
      assert.deepEqual(asked.shown, [patched.data.diff]);
      for (const line of ["-one", "+1", "+b", "-three", "+4"]) {
        assert.ok(asked.shown[0]?.split("\n").includes(line), line);
      }
      assert.deepEqual(fs.readdirSync(ws.root).sort(), ["a.txt", "e.txt", "new"]);
      assert.equal(textAt(ws, "e.txt"), "4\n");
      kit.close();
    }),
  );

  test(
    "a denied patch writes nothing, and neither does a dry run, which asks nobody",
    inWorkspace(async (ws) => {
      writeAll(ws);
      const { kit, asked } = asking(ws, "deny");
      const denied = await kit.applyPatch({ patch: EVERY });
      assert.ok(denied.status === "denied", JSON.stringify(denied));
      assert.equal(asked.shown.length, 1);
      const tried = await kit.applyPatch({ patch: EVERY, dry_run: true });
      assert.ok(tried.status === "success" && !tried.data.applied, JSON.stringify(tried));
      // A call that would fail anyway is not shown.
      assert.equal((await kit.applyPatch({ patch: change("none", "x") })).status, "failure");
      assert.equal(asked.shown.length, 1);
      assert.deepEqual(fs.readdirSync(ws.root).sort(), ["a.txt", "c.txt", "d.txt"]);
      kit.close();
    }),
  );

  test(
    "a file that changes, goes or appears while a person decides was not approved",
    inWorkspace(async (ws) => {
      const { kit, asked } = asking(ws);
      for (const [meanwhile, codes] of [
        [() => ws.write("a.txt", "one\nmore\n"), ["STALE"]],
        [() => ws.write("c.txt", "not seen\n"), ["STALE"]],
        [() => ws.write("d.txt", "four\nmore\n"), ["STALE"]],
        [() => fs.rmSync(ws.at("a.txt")), ["STALE", "NOT_FOUND"]],
        [() => fs.rmSync(ws.at("c.txt")), ["STALE", "NOT_FOUND"]],
        [() => ws.write("new/b.txt", "not seen\n"), ["STALE", "ALREADY_EXISTS"]],
        [() => ws.write("e.txt", "not seen\n"), ["STALE", "ALREADY_EXISTS"]],
      ] as const) {
        writeAll(ws);
        asked.meanwhile = meanwhile;
        const { code } = failureOf(await kit.applyPatch({ patch: EVERY }));
        assert.ok(
          codes.some((one) => one === code),
          `${code} after ${meanwhile}`,
        );
      }
      kit.close();
    }),
  );

  test(
    "the hashes that were given hold beside",
    inWorkspace(async (ws) => {
      writeAll(ws);
      const { kit, asked } = asking(ws);
      const stale = { patch: EVERY, expected_hashes: { "c.txt": sha256("other\n") } };
      assert.equal(failureOf(await kit.applyPatch(stale)).code, "STALE");
      assert.equal(asked.shown.length, 0);
      const expected_hashes = { "./a.txt": sha256("one\n"), "new/b.txt": null };
      const patched = await kit.applyPatch({ patch: EVERY, expected_hashes });
      assert.equal(patched.status, "success", JSON.stringify(patched));
      kit.close();
    }),
  );

  test(
    "a diff that is cut is followed by the whole patch",
    inWorkspace(async (ws) => {
      const { kit, asked } = asking(ws, "deny");
      const lines = Array.from({ length: 3000 }, (_, index) => `+line ${index}`);
      await kit.applyPatch({ patch: v4a("*** Add File: long.txt", ...lines) });
      assert.ok(asked.shown[0]?.includes("\n+line 2999\n"));
      assert.match(asked.shown[0] ?? "", /^The diff is cut here\. The whole patch, as it came:$/m);
      kit.close();
    }),
  );
});

describe("through MCP", () => {
  test(
    "the text has the diff, and a line about each file",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "one  \n");
      using kit = createAgentToolkit(ws.writable);
      const patch = v4a(
        "*** Update File: a.txt",
        "*** Move to: b.txt",
        "-one",
        "+two",
        "*** Add File: c.txt",
        "+c",
      );
      const patched = await kit.applyPatch({ patch });
      const [diff, note, ...more] = toMcpToolResult(patched).content.map(({ text }) => text);
      assert.match(diff ?? "", /^\+two$/m);
      assert.equal(
        note,
        "Applied: move a.txt to b.txt, add c.txt. 1 hunk matched except for white space or look-alikes.",
      );
      assert.deepEqual(more, []);
    }),
  );

  test(
    "of many files the line names the first",
    inWorkspace(async (ws) => {
      using kit = createAgentToolkit(ws.writable);
      const lines = Array.from({ length: 25 }, (_, index) => [`*** Add File: ${index}.txt`, "+x"]);
      const patched = await kit.applyPatch({ patch: v4a(...lines.flat()), dry_run: true });
      const note = toMcpToolResult(patched).content.at(-1)?.text;
      assert.match(
        note ?? "",
        /^Not written, only tried: add 0\.txt, .*add 19\.txt, and 5 more\.$/,
      );
      assert.deepEqual(fs.readdirSync(ws.root), []);
    }),
  );

  test(
    "the official client calls it, and finds that the answer fits its schema",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "one\n");
      await withClient(["--root", ws.root], async (client) => {
        const { tools } = await client.listTools();
        assert.deepEqual(tools.find(({ name }) => name === "apply_patch")?.annotations, {
          title: "Apply a patch",
          readOnlyHint: false,
          destructiveHint: true,
          idempotentHint: false,
          openWorldHint: false,
        });
        const args = { input: change("one", "two") };
        const { structuredContent } = await callThrough(client, "apply_patch", args);
        assert.equal(structuredContent?.applied, true);
        const failed = failureIn(await callThrough(client, "apply_patch", args));
        assert.equal(failed.error.details.code, "HUNK_NOT_FOUND");
        assert.match(failed.message, /already|Line 1 of the file/);
      });
      assert.equal(textAt(ws, "a.txt"), "two\n");
    }),
  );
});

describe("with the types of the models' APIs", () => {
  test(
    "Anthropic's tool use, and its result",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "one\n");
      using kit = createAgentToolkit(ws.writable);
      const tools: Anthropic.Tool[] = toAnthropicTools({ tools: ["apply_patch"] });
      assert.deepEqual(tools[0]?.input_schema.required, ["patch"]);
      const use: Pick<Anthropic.ToolUseBlock, "id" | "name" | "input"> = {
        id: "toolu_1",
        name: "apply_patch",
        input: { patch: change("one", "two") },
      };
      const result = await kit.invoke(use.name, use.input, { callId: use.id });
      const block: Anthropic.ToolResultBlockParam = toAnthropicToolResult(use.id, result);
      assert.ok(!block.is_error, JSON.stringify(block));
      assert.equal(textAt(ws, "a.txt"), "two\n");
    }),
  );

  test(
    "OpenAI's custom tools, whose input is the patch alone",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "one\n");
      using kit = createAgentToolkit(ws.writable);
      const call: ResponseCustomToolCall = {
        type: "custom_tool_call",
        call_id: "call_1",
        name: "apply_patch",
        input: change("one", "two"),
      };
      const result = await kit.invoke(call.name, call.input, { callId: call.call_id });
      assert.equal(result.status, "success", JSON.stringify(result));
      assert.equal(textAt(ws, "a.txt"), "two\n");
    }),
  );

  test("its description is not longer than OpenAI allows", () => {
    const [tool] = toAnthropicTools({ tools: ["apply_patch"] });
    assert.ok((tool?.description?.length ?? 0) <= 1_024);
  });
});

describe("patchFile", () => {
  const unified = (path: string, from: string, to: string) =>
    `--- a/${path}\n+++ b/${path}\n@@ -1 +1 @@\n-${from}\n+${to}\n`;

  async function refused(call: Promise<unknown>): Promise<PatchFileError> {
    const error = (await rejectionValue(() => call)) as PatchFileError;
    assert.ok(error instanceof Error);
    assert.equal(error.name, "PatchFileError");
    assert.deepEqual(Object.keys(error).sort(), ["code", "path"]);
    assert.ok(error.message.startsWith(`${error.code}: `), error.message);
    return error;
  }

  test(
    "an error of the patch as a whole has the path of the call",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a\n");
      const error = await patchFile(ws.writable, "a.txt", "").catch((error) => error);
      assert.deepEqual([error.code, error.path], ["APPLY_FAILED", "a.txt"]);
      assert.match(error.message, /: a\.txt$/m);
    }),
  );

  test(
    "its error has its name whatever `get` every object inherits",
    inWorkspace(async (ws) => {
      const inherited = Object.prototype as { get?: unknown };
      inherited.get = () => null;
      const outcome = patchFile(ws.writable, "missing.txt", unified("missing.txt", "a", "b"));
      const error = await outcome.catch((error) => error).finally(() => delete inherited.get);
      assert.deepEqual([error.name, error.code], ["PatchFileError", "NOT_FOUND"]);
    }),
  );

  test(
    "answers as a host that runs git does, for a diff and for V4A",
    inWorkspace(async (ws) => {
      ws.write("src/a.txt", "one\n");
      const answer = { file_path: "src/a.txt", exit_code: 0, changed: true, stderr: "" };
      const first = await patchFile(ws.writable, "src/a.txt", unified("src/a.txt", "one", "two"));
      assert.deepEqual(Object.entries(first), Object.entries(answer));
      const patch = v4a("*** Update File: src/a.txt", "-two", "+three");
      const workspace = Workspace.open(ws.root);
      assert.deepEqual(await patchFile(workspace, ws.at("src/a.txt"), patch), answer);
      workspace.close();
      assert.equal(textAt(ws, "src/a.txt"), "three\n");
    }),
  );

  test(
    "a patch that leaves the file as it was has not changed it",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "one\n");
      const answer = await patchFile(ws.writable, "a.txt", unified("a.txt", "one", "one"));
      assert.equal(answer.changed, false);
      const sections = [
        "*** Update File: a.txt",
        "-one",
        "+two",
        "*** Update File: a.txt",
        "-two",
        "+one",
      ];
      assert.equal((await patchFile(ws.writable, "a.txt", v4a(...sections))).changed, false);
      assert.equal(textAt(ws, "a.txt"), "one\n");
    }),
  );

  test(
    "the file may be deleted",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "one\n");
      const patch = "--- a/a.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-one\n";
      assert.equal((await patchFile(ws.writable, "a.txt", patch)).changed, true);
      assert.deepEqual(fs.readdirSync(ws.root), []);
      ws.write("a.txt", "one\n");
      ws.link("link.txt", "a.txt", "file");
      const ofLink = v4a("*** Delete File: link.txt");
      assert.equal((await patchFile(ws.writable, "link.txt", ofLink)).changed, true);
      assert.deepEqual(fs.readdirSync(ws.root), ["a.txt"]);
    }),
  );

  test(
    "is the handler of a secure tool, which passes on the message alone",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "one\n");
      const tool = createSecureTool({ name: "apply_patch", isWriteOp: true }, patchFile);
      const patched = await tool(ws.writable, "a.txt", unified("a.txt", "one", "two"));
      assert.deepEqual(patched, {
        status: "success",
        data: { file_path: "a.txt", exit_code: 0, changed: true, stderr: "" },
      });
      const { code, message } = failureOf(
        await tool(ws.writable, "a.txt", unified("a.txt", "one", "two")),
      );
      assert.equal(code, "APPLY_FAILED");
      assert.match(message, /^APPLY_FAILED: HUNK_NOT_FOUND: .*\nLine 1 of the file:\ntwo$/s);
      const denied = await tool(ws.context, "a.txt", unified("a.txt", "two", "three"));
      assert.equal(denied.status, "denied");
    }),
  );

  test(
    "each code, with the file as it was",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "one\n");
      ws.write("b.txt", "one\n");
      ws.write("large.txt", "x\n".repeat(6 * 1024 * 1024));
      ws.write("binary.bin", new Uint8Array([0, 1]));
      ws.writeOutside("c.txt", "one\n");
      ws.link("out.txt", `${ws.outside}/c.txt`, "file");
      ws.folder("dir");
      const good = unified("a.txt", "one", "two");
      const both = good + unified("b.txt", "one", "two");
      const moved = v4a("*** Update File: a.txt", "*** Move to: c.txt", "-one", "+two");
      for (const [path, patch, code, said] of [
        ["", good, "INVALID_ARGUMENT", /path must be a string/],
        [5, good, "INVALID_ARGUMENT", /path must be a string/],
        ["a.txt", 5, "INVALID_ARGUMENT", /patch must be a string/],
        ["a.txt", null, "INVALID_ARGUMENT", /patch must be a string/],
        ["a.txt", `${good}\0`, "INVALID_ARGUMENT", /patch/],
        ["../outside/c.txt", good, "INVALID_ARGUMENT", /SANDBOX_VIOLATION/],
        ["out.txt", good, "INVALID_ARGUMENT", /SANDBOX_VIOLATION/],
        ["a.txt", unified("../outside/c.txt", "one", "two"), "INVALID_ARGUMENT", /SANDBOX/],
        ["none.txt", good, "NOT_FOUND", /none\.txt/],
        ["none.txt", "no patch", "NOT_FOUND", /none\.txt/],
        ["large.txt", unified("large.txt", "x", "y"), "FILE_TOO_LARGE", /limit/],
        ["a.txt", "no patch", "APPLY_FAILED", /PATCH_INVALID/],
        ["a.txt", unified("a.txt", "zero", "two"), "APPLY_FAILED", /HUNK_NOT_FOUND/],
        ["a.txt", both, "APPLY_FAILED", /section for b\.txt/],
        ["a.txt", unified("b.txt", "one", "two"), "APPLY_FAILED", /section for b\.txt/],
        ["a.txt", unified("none.txt", "one", "two"), "APPLY_FAILED", /section for none\.txt/],
        ["a.txt", moved, "APPLY_FAILED", /section for c\.txt/],
        ["a.txt", v4a("*** Add File: a.txt", "+b"), "APPLY_FAILED", /ALREADY_EXISTS/],
        ["binary.bin", unified("binary.bin", "one", "two"), "APPLY_FAILED", /BINARY_NOT_SUPPORTED/],
        ["dir", good, "APPLY_FAILED", /NOT_FILE/],
      ] as const) {
        const error = await refused(patchFile(ws.writable, path as string, patch as string));
        assert.equal(error.code, code, error.message);
        assert.match(error.message, said);
        for (const hidden of ws.hidden) assert.ok(!error.message.includes(hidden), error.message);
      }
      const readOnly = await refused(patchFile(ws.context, "a.txt", good));
      assert.equal(readOnly.code, "APPLY_FAILED");
      assert.ok(isApplyPatchError(readOnly.cause) && readOnly.cause.code === "READ_ONLY");
      for (const name of ["a.txt", "b.txt"]) assert.equal(textAt(ws, name), "one\n");
      assert.ok(!fs.existsSync(ws.at("c.txt")));
      assert.equal(fs.readFileSync(`${ws.outside}/c.txt`, "utf8"), "one\n");
    }),
  );

  test(
    "an aborted call rejects with the signal's reason, whichever of the two has it",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "one\n");
      const signal = AbortSignal.abort("enough");
      const good = unified("a.txt", "one", "two");
      const workspace = Workspace.open(ws.root);
      for (const call of [
        () => patchFile(ws.writable, "a.txt", good, { signal }),
        () => patchFile({ ...ws.writable, signal }, "a.txt", good),
        () => patchFile({ workspace, signal }, "a.txt", good),
      ]) {
        assert.equal(await rejectionValue(call), "enough");
      }
      workspace.close();
      assert.equal(textAt(ws, "a.txt"), "one\n");
    }),
  );

  test(
    "calls at once on different lines of one file all land",
    inWorkspace(async (ws) => {
      const lines = Array.from({ length: 8 }, (_, index) => `line ${index}`);
      ws.write("a.txt", `${lines.join("\n")}\n`);
      await Promise.all(
        lines.map((line) =>
          patchFile(ws.writable, "a.txt", v4a("*** Update File: a.txt", `-${line}`, `+${line}!`)),
        ),
      );
      assert.equal(textAt(ws, "a.txt"), `${lines.map((line) => `${line}!`).join("\n")}\n`);
    }),
  );
});
