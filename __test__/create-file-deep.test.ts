// Paths of very many folders: the cost of creating grows linearly with the depth.

import assert from "node:assert/strict";
import fs from "node:fs";
import { describe, test } from "node:test";
import { createFile, readFile } from "../index.js";
import { countCalls } from "./support/child.ts";
import { noStrace, noSymlinks, notPosix } from "./support/platform.ts";
import { inWorkspace, type TestWorkspace } from "./support/workspace.ts";

/** System calls that look names up. */
const LOOKUPS = ["openat", "openat2", "readlink", "readlinkat", "mkdirat", "mkdir"];

function deep(folders: number): string {
  return `${"d/".repeat(folders)}new.txt`;
}

// F11: messages about reading in answers about creating.
describe("a file where a folder is needed", () => {
  for (const path of ["f/a.txt", "f/a/b.txt", "dir/f/a/b/c.txt", "link/a.txt", "dir/f/a"]) {
    test(
      `second look F11: creating ${path} says so, with and without overwrite`,
      { skip: noSymlinks },
      inWorkspace(async (ws) => {
        ws.write("f", "");
        ws.write("dir/f", "");
        ws.link("link", "dir/f");
        for (const overwrite of [false, true]) {
          const result = await createFile(ws.writable, { path, content: "x", overwrite });
          assert.equal(result.errorCode, "DirectoryCreateFailed", result.message);
          assert.match(result.message, /a file stands where the path needs a folder/);
          assert.doesNotMatch(result.message, /no such file/);
        }
        assert.deepEqual(fs.readdirSync(ws.root).sort(), ["dir", "f", "link"]);
      }),
    );
  }

  test(
    "second look F11: nor is a path that is too long called a missing file",
    { skip: notPosix },
    inWorkspace(async (ws) => {
      const path = `${"d/".repeat(2040)}${"x".repeat(200)}`;
      const result = await createFile(ws.writable, { path, content: "x" });
      assert.equal(result.errorCode, "InvalidPath", result.message);
      assert.doesNotMatch(result.message, /no such file/);
      assert.deepEqual(fs.readdirSync(ws.root), []);
    }),
  );
});

// F8: work that grows with the square of a path's depth: making folders, finding the
// deepest existing one, removing folders again (`src/tools/create_file/tests.rs`), and reading.
describe("paths of many folders", () => {
  /** The lookups of a child that creates a file so deep, with a workspace of its own. */
  async function lookups(ws: TestWorkspace, folders: number): Promise<number> {
    const context = { ...ws.writable, durability: "none" };
    const args = { path: deep(folders), content: "x", overwrite: true };
    return countCalls({ creates: [{ context, args }] }, LOOKUPS);
  }

  for (const existing of [0, 200]) {
    test(
      `second look F8: 400 more folders take as many more lookups, not their square, where ${existing} exist`,
      { skip: noStrace, timeout: 60_000 },
      inWorkspace(async (ws) => {
        if (existing > 0) fs.mkdirSync(ws.at("d/".repeat(existing)), { recursive: true });
        const few = await lookups(ws, existing + 1);
        fs.rmSync(ws.at("d"), { recursive: true });
        if (existing > 0) fs.mkdirSync(ws.at("d/".repeat(existing)), { recursive: true });
        const many = await lookups(ws, existing + 401);
        // On the walk each folder is made, opened, and passed through once or twice at the end, and
        // the search for the deepest one that exists passes through a few hundred.
        assert.ok(many - few < 400 * 20, `${few} lookups, then ${many}`);
      }),
    );
  }

  test(
    "second look F8: 1,900 folders are made, found again, written and read in a moment",
    { skip: notPosix, timeout: 60_000 },
    inWorkspace(async (ws) => {
      const context = { ...ws.writable, durability: "none" } as const;
      const path = deep(1900);
      const created = await createFile(context, { path, content: "x" });
      assert.equal(created.errorCode, null, created.message);
      const again = await createFile(context, { path, content: "y" });
      assert.equal(again.errorCode, "FileExists", again.message);
      const beside = await createFile(context, { path: path.replace("new", "other"), content: "" });
      assert.equal(beside.success, true, beside.message);
      assert.equal((await readFile(context, path)).content, "x");
    }),
  );
});
