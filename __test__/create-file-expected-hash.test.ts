// `expectedHash` in a workspace with the content hash `"aptix"`.

import assert from "node:assert/strict";
import fs from "node:fs";
import { test } from "node:test";
import { createAgentToolkit, TUL_004_OPTIONS } from "../dist/index.js";
import { contentHash, createFile, readFile, Workspace } from "../index.js";
import { inWorkspace } from "./support/workspace.ts";

// Fault: a hash of one algorithm is compared with one of another, and the answer does not say so.
test(
  "second look B20: the message for an aptix hash as expectedHash says that SHA-256 is wanted",
  inWorkspace(async (ws) => {
    const context = { ...ws.writable, ...TUL_004_OPTIONS };
    const workspace = Workspace.open(ws.root, TUL_004_OPTIONS);
    const kit = createAgentToolkit(context);
    const made = await createFile(context, { path: "a.txt", content: "a\n" });
    assert.equal(made.hash, contentHash("a\n", "aptix"));
    const args = { path: "a.txt", content: "b", overwrite: true, expectedHash: made.hash };
    const viaKit = await kit.createFile(args);
    for (const result of [
      await createFile(context, args),
      await createFile(workspace, args),
      viaKit.status === "success" ? viaKit.data : viaKit.error.details.result,
      await createFile(context, { ...args, path: "absent.txt" }),
    ]) {
      const { errorCode, message } = result as { errorCode: string; message: string };
      assert.equal(errorCode, "WriteFailed");
      assert.match(message, /changed since it was read/);
      assert.match(message, /SHA-256.*meta\.sha256.*include_hash/);
    }
    assert.equal(fs.readFileSync(ws.at("a.txt"), "utf8"), "a\n");
    const { meta } = await readFile(workspace, "a.txt", { include_hash: true });
    const replaced = await createFile(context, { ...args, expectedHash: meta.sha256 ?? "" });
    assert.equal(replaced.errorCode, null);
    // Where both are SHA-256, there is nothing to mistake.
    const stale = await createFile(ws.writable, { ...args, expectedHash: meta.sha256 ?? "" });
    assert.doesNotMatch(stale.message, /SHA-256/);
    workspace.close();
  }),
);
