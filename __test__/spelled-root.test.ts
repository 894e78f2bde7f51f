// Paths that spell out the root are shown in errors by their last name only.

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { describe, test } from "node:test";
import { readFile, Workspace } from "../index.js";
import { looseCreateFile } from "./support/create.ts";
import { notPosix } from "./support/platform.ts";
import { rejection } from "./support/read.ts";
import { inWorkspace } from "./support/workspace.ts";

/** The error of a path, with a plain context and with a `Workspace`. */
async function pathsOf(root: string, given: string): Promise<string[]> {
  const workspace = Workspace.open(root, { writeScope: "read-only" });
  const errors = [
    await rejection(() => readFile({ workspaceRoot: root }, given)),
    await rejection(() => readFile(workspace, given)),
    // Refused before the root is open.
    await rejection(() => readFile({ workspaceRoot: root }, given, { max_lines: 0 })),
  ];
  workspace.close();
  for (const { message, path: shown } of errors) assert.ok(message.endsWith(shown), message);
  return errors.map((error) => error.path);
}

// B13: paths that look like the root, are not, and must not be hidden.
describe("second look B13", () => {
  test("second look B13: the root's names further down in a path are shown", {
    skip: notPosix,
  }, async () => {
    for (const [root, given] of [
      ["/tmp", "packages/tmp/missing.ts"],
      ["/tmp", "tmp/missing.ts"],
      ["/tmp", "a/b/tmp"],
      ["/usr", "app/(usr)/usr/x.ts"],
      ["/usr/lib", "x/usr/lib/y.ts"],
      ["/usr/lib", "usr/lib/y.ts"],
    ] as const) {
      assert.deepEqual(await pathsOf(root, given), [given, given, given]);
    }
    assert.deepEqual(await pathsOf("/tmp", "../x/tmp/a"), Array(3).fill("../x/tmp/a"));
  });

  test(
    "second look B13: an absolute spelling of the root is hidden after any text",
    { skip: notPosix },
    inWorkspace(async (ws) => {
      const root = ws.folder("my project");
      for (const given of [
        `file://${root}/x.ts`,
        `file://${encodeURI(root)}/x.ts`,
        `"${root}/x.ts"`,
        `../../../../../..${root}/x.ts`,
        `cat ${root}/x.ts`,
        `a=${root}/x.ts`,
      ]) {
        for (const shown of await pathsOf(root, given)) {
          assert.match(shown, /^…\/x\.ts"?$/, given);
        }
      }
    }),
  );

  test(
    "second look B13: both spellings of a linked root are hidden",
    { skip: notPosix },
    inWorkspace(async (ws) => {
      const root = ws.folder("real");
      fs.symlinkSync(root, path.join(ws.base, "link"));
      const link = path.join(ws.base, "link");
      for (const spelled of [root, link]) {
        const error = await rejection(() =>
          readFile({ workspaceRoot: link }, `file://${spelled}/x`),
        );
        assert.equal(error.path, "…/x");
      }
    }),
  );

  test(
    "second look B13: createFile shows no root in the path of a refusal",
    { skip: notPosix },
    inWorkspace(async (ws) => {
      const { workspaceRoot } = ws.writable;
      for (const given of [
        `file://${workspaceRoot}/x`,
        `"${workspaceRoot}/x"`,
        `${workspaceRoot}/x`,
      ]) {
        const result = await looseCreateFile(ws.writable, { path: given, content: "" });
        assert.equal(result.errorCode, "InvalidPath");
        assert.ok(!JSON.stringify(result).includes(ws.root), JSON.stringify(result));
      }
      const args = { path: `packages/${path.basename(ws.root)}/`, content: "" };
      const kept = await looseCreateFile(ws.writable, args);
      assert.equal(kept.path, `packages/${path.basename(ws.root)}`);
    }),
  );
});
