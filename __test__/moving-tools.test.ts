// The tools `move_file` and `delete_file` in a toolkit, through MCP, and with the arguments that models send.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import fs from "node:fs";
import { describe, test } from "node:test";
import { createAgentToolkit, readArguments } from "../dist/index.js";
import { callThrough, failureIn, withClient } from "./support/mcp.ts";
import { inWorkspace } from "./support/workspace.ts";

describe("arguments under the names that models know", () => {
  for (const [tool, sent, expected] of [
    ["move_file", { source: "a", destination: "b" }, { path: "a", to: "b" }],
    ["move_file", { from: "a", to: "b" }, { path: "a", to: "b" }],
    ["move_file", { old_path: "a", new_path: "b" }, { path: "a", to: "b" }],
    ["move_file", { input: { file_path: "a", dest: "b" } }, { path: "a", to: "b" }],
    [
      "move_file",
      { path: "a", to: "b", overwrite: "true" },
      { path: "a", to: "b", overwrite: true },
    ],
    ["delete_file", { filePath: "a", recursive: "true" }, { path: "a", recursive: true }],
    ["delete_file", { path: "a", dryRun: true }, { path: "a", dry_run: true }],
  ] as const) {
    test(`${tool} ${JSON.stringify(sent)}`, () => {
      const read = readArguments(tool, sent);
      assert.ok(read.ok, JSON.stringify(read));
      assert.equal(read.ignored, null);
      assert.deepEqual(JSON.parse(JSON.stringify(read.args)), expected);
    });
  }
});

describe("in a toolkit", () => {
  test(
    "they stand beside the tools, and give what the functions give",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a");
      using kit = createAgentToolkit(ws.writable);
      const moved = await kit.moveFile({ path: "a.txt", to: "dir/b.txt" });
      assert.deepEqual(moved, {
        status: "success",
        data: { path: "a.txt", to: "dir/b.txt", kind: "file", overwritten: false },
      });
      const kept = await kit.deleteFile({ path: "dir" });
      assert.ok(kept.status === "failure", JSON.stringify(kept));
      const { code, facts } = kept.error.details;
      assert.deepEqual([code, facts], ["NOT_EMPTY", { entries: 1 }]);
      const deleted = await kit.deleteFile({ path: "dir", recursive: true });
      assert.deepEqual(deleted, {
        status: "success",
        data: { path: "dir", kind: "directory", entries: 1 },
      });
      assert.deepEqual(fs.readdirSync(ws.root), []);
    }),
  );

  test(
    "a read-only workspace does not have them, and refuses them",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a");
      using kit = createAgentToolkit(ws.context);
      assert.ok(!kit.getAllowedTools().some((name) => /move|delete/.test(name)));
      assert.equal((await kit.moveFile({ path: "a.txt", to: "b.txt" })).status, "denied");
      assert.equal((await kit.deleteFile({ path: "a.txt" })).status, "denied");
      assert.deepEqual(fs.readdirSync(ws.root), ["a.txt"]);
    }),
  );

  test(
    "approval shows what goes, and only the file that was shown is moved or deleted",
    inWorkspace(async (ws) => {
      const shown: (string | null)[] = [];
      let change = () => {};
      using kit = createAgentToolkit({
        ...ws.writable,
        policy: { tools: { move_file: "ask", delete_file: "ask" } },
        approve(call) {
          shown.push(call.diff);
          change();
          return "allow";
        },
      });
      ws.write("a.txt", "one\n");
      ws.write("dir/1.bin", Buffer.from([0, 1]));
      await kit.moveFile({ path: "a.txt", to: "b.txt" });
      await kit.deleteFile({ path: "b.txt" });
      await kit.deleteFile({ path: "dir/1.bin", dry_run: true });
      await kit.deleteFile({ path: "dir", recursive: true });
      // A call that would fail anyway is not shown.
      await kit.deleteFile({ path: "missing" });
      assert.deepEqual(shown, [
        "diff --git a/a.txt b/b.txt\nrename from a.txt\nrename to b.txt\n",
        "--- a/b.txt\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-one\n",
        "The folder dir, and with it all that it holds, 1 in number, is deleted.\n",
      ]);
      change = () => ws.write("a.txt", "changed\n");
      for (const call of [
        () => kit.moveFile({ path: "a.txt", to: "b.txt" }),
        () => kit.deleteFile({ path: "a.txt" }),
      ]) {
        ws.write("a.txt", "one\n");
        const late = await call();
        assert.ok(late.status === "failure", JSON.stringify(late));
        assert.equal(late.error.details.code, "STALE");
        assert.equal(fs.readFileSync(ws.at("a.txt"), "utf8"), "changed\n");
      }
    }),
  );

  test(
    "what appears while a person decides was not approved, and the hash that was given holds",
    inWorkspace(async (ws) => {
      let change = () => {};
      using kit = createAgentToolkit({
        ...ws.writable,
        policy: { tools: { move_file: "ask", delete_file: "ask" } },
        approve() {
          change();
          return "allow";
        },
      });
      const codeOf = async (call: Promise<{ status: string }>) => {
        const failed = (await call) as { error?: { details: { code: string } } };
        return failed.error?.details.code;
      };
      ws.write("a.txt", "a");
      ws.folder("empty");
      change = () => ws.write("b.txt", "not seen");
      const move = { path: "a.txt", to: "b.txt", overwrite: true };
      assert.equal(await codeOf(kit.moveFile(move)), "ALREADY_EXISTS");
      change = () => ws.write("empty/c.txt", "not seen");
      assert.equal(await codeOf(kit.deleteFile({ path: "empty", recursive: true })), "NOT_EMPTY");
      const sha256 = createHash("sha256").update("a").digest("hex");
      change = () => ws.write("a.txt", "changed");
      for (const call of [
        () => kit.moveFile({ path: "a.txt", to: "d.txt", expected_hash: sha256 }),
        () => kit.deleteFile({ path: "a.txt", expected_hash: sha256 }),
      ]) {
        ws.write("a.txt", "a");
        assert.equal(await codeOf(call()), "STALE");
      }
    }),
  );

  test(
    "the official MCP client calls them, and finds that the answers fit their schemas",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "one\n");
      await withClient(["--root", ws.root], async (client) => {
        const { tools } = await client.listTools();
        for (const name of ["move_file", "delete_file"]) {
          const annotations = tools.find((tool) => tool.name === name)?.annotations;
          assert.deepEqual(
            [annotations?.readOnlyHint, annotations?.destructiveHint],
            [false, true],
          );
        }
        const args = { source: "a.txt", destination: "b.txt" };
        const moved = await callThrough(client, "move_file", args);
        assert.equal(moved.structuredContent?.kind, "file");
        const failed = failureIn(await callThrough(client, "move_file", args));
        assert.equal(failed.error.details.code, "NOT_FOUND");
        const deleted = await callThrough(client, "delete_file", { path: "b.txt" });
        assert.equal(deleted.structuredContent?.entries, 0);
      });
      assert.deepEqual(fs.readdirSync(ws.root), []);
    }),
  );
});
