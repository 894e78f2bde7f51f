// `moveFile` and `deleteFile`. docs/contract.md §12. What other programs do meanwhile is tested in
// src/sandbox/rename/ and src/sandbox/remove/, too.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import fs from "node:fs";
import { describe, test } from "node:test";
import {
  type DeleteFileError,
  deleteFile,
  editFile,
  isDeleteFileError,
  isMoveFileError,
  type MoveFileError,
  moveFile,
  readFile,
  Workspace,
} from "../index.js";
import { callInChild, callWithFaults, callWithMounts } from "./support/child.ts";
import { ABORT_REASONS, hostileProxy, STRANGERS, withGetter } from "./support/hostile.ts";
import { noExchange } from "./support/linux.ts";
import {
  mkfifo,
  namesAreFolded,
  noFifos,
  noImmutable,
  noMounts,
  noPermissions,
  noStrace,
  noSymlinks,
  notLinux,
  notPosix,
  notWindows,
  setImmutable,
  UNPRIVILEGED,
} from "./support/platform.ts";
import { ROOT } from "./support/program.ts";
import { rejectionValue } from "./support/read.ts";
import { inWorkspace, type TestWorkspace } from "./support/workspace.ts";

type Loose = (...args: unknown[]) => Promise<unknown>;

/** The two functions without their types, for arguments that are wrong on purpose. */
const LOOSE = {
  moveFile: moveFile as unknown as Loose,
  deleteFile: deleteFile as unknown as Loose,
};

const sha256 = (bytes: string) => createHash("sha256").update(bytes).digest("hex");

/** Everything in a folder: each path with its kind, its text and its inode. */
function scene(folder: string): unknown[] {
  return fs
    .readdirSync(folder, { recursive: true, withFileTypes: true })
    .map((entry) => {
      const path = `${entry.parentPath}/${entry.name}`;
      const { ino, mode } = fs.lstatSync(path);
      return [path, mode, ino, entry.isFile() ? fs.readFileSync(path, "hex") : null];
    })
    .sort();
}

/** Has a call refused, and everything left as it is. */
async function refused(
  ws: TestWorkspace,
  call: keyof typeof LOOSE,
  args: object,
): Promise<MoveFileError | DeleteFileError> {
  const before = scene(ws.base);
  const error = await rejectionValue(() => LOOSE[call](ws.writable, args));
  assert.ok(isMoveFileError(error) || isDeleteFileError(error), String(error));
  assert.ok(error.message.startsWith(`${error.code}: `), error.message);
  for (const hidden of ws.hidden) assert.ok(!`${error.message}${error.path}`.includes(hidden));
  assert.deepEqual(scene(ws.base), before);
  return error;
}

describe("moveFile", () => {
  test(
    "its answer has its keys in order",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a");
      const args = { path: "./a.txt", to: "new/deep/b.txt" };
      const workspace = Workspace.open(ws.root);
      assert.deepEqual(Object.entries(await moveFile(workspace, args)), [
        ["path", "a.txt"],
        ["to", "new/deep/b.txt"],
        ["kind", "file"],
        ["overwritten", false],
      ]);
      assert.equal(fs.readFileSync(ws.at("new/deep/b.txt"), "utf8"), "a");
      assert.deepEqual(fs.readdirSync(ws.root), ["new"]);
    }),
  );

  test(
    "absolute paths inside the root are taken, and shown as relative ones",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a");
      const moved = await moveFile(ws.writable, { path: ws.at("a.txt"), to: ws.at("b.txt") });
      assert.deepEqual([moved.path, moved.to], ["a.txt", "b.txt"]);
    }),
  );

  test(
    "a file keeps its inode, its mode and its times",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a");
      fs.chmodSync(ws.at("a.txt"), 0o640);
      const facts = (path: string) => {
        const { ino, mode, mtimeNs } = fs.statSync(ws.at(path), { bigint: true });
        return { ino, mode, mtimeNs };
      };
      const before = facts("a.txt");
      await moveFile(ws.writable, { path: "a.txt", to: "b.txt" });
      assert.deepEqual(facts("b.txt"), before);
    }),
  );

  test(
    "X01: an existing file is kept, unless overwrite says that it is replaced",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a");
      ws.write("b.txt", "b");
      const error = await refused(ws, "moveFile", { path: "a.txt", to: "b.txt" });
      assert.deepEqual([error.code, error.path], ["ALREADY_EXISTS", "b.txt"]);
      assert.match(error.message, /set overwrite to true/);
      const args = { path: "a.txt", to: "b.txt", overwrite: true };
      assert.equal((await moveFile(ws.writable, args)).overwritten, true);
      assert.equal(fs.readFileSync(ws.at("b.txt"), "utf8"), "a");
    }),
  );

  test(
    "X04, X09: to is the new path itself: a folder there is named with the path that was meant",
    inWorkspace(async (ws) => {
      ws.write("src/a.txt", "a");
      ws.folder("dir");
      for (const to of ["dir", "dir/"]) {
        for (const overwrite of [false, true]) {
          const error = await refused(ws, "moveFile", { path: "src/a.txt", to, overwrite });
          assert.equal(error.code, "ALREADY_EXISTS");
          assert.match(error.message, /give "dir\/a\.txt" as to: dir$/);
        }
      }
      ws.write("b.txt", "b");
      for (const to of ["other/", "b.txt/"]) {
        const args = { path: "src/a.txt", to, overwrite: true };
        assert.equal((await refused(ws, "moveFile", args)).code, "INVALID_ARGUMENT", to);
      }
    }),
  );

  test(
    "only the file that was read is moved",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a");
      const { meta } = await readFile(ws.writable, "a.txt", { include_hash: true });
      const args = { path: "a.txt", to: "b.txt", expected_hash: meta.sha256 ?? null };
      ws.write("a.txt", "changed");
      const error = await refused(ws, "moveFile", args);
      assert.deepEqual([error.code, error.sha256], ["STALE", sha256("changed")]);
      ws.write("a.txt", "a");
      await moveFile(ws.writable, args);
      assert.deepEqual(fs.readdirSync(ws.root), ["b.txt"]);
    }),
  );

  test(
    "a dry run moves nothing, makes no folder, and fails as the call would",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a");
      ws.write("b.txt", "b");
      const before = scene(ws.base);
      const tried = { path: "a.txt", to: "x/y.txt", dry_run: true };
      assert.deepEqual(await moveFile(ws.writable, tried), {
        path: "a.txt",
        to: "x/y.txt",
        kind: "file",
        overwritten: false,
      });
      assert.deepEqual(scene(ws.base), before);
      const error = await refused(ws, "moveFile", { path: "a.txt", to: "b.txt", dry_run: true });
      assert.equal(error.code, "ALREADY_EXISTS");
    }),
  );

  test(
    "each refusal has its code, at the path that is at fault",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a");
      ws.write("dir/b.txt", "b");
      for (const [path, to, code, at] of [
        ["a.txt", "a.txt", "NO_CHANGE", "a.txt"],
        ["a.txt", "dir/../a.txt", "NO_CHANGE", "a.txt"],
        ["dir", "dir/sub/dir", "INVALID_ARGUMENT", "dir/sub/dir"],
        [".", "x", "INVALID_ARGUMENT", "."],
        ["a.txt", ".", "INVALID_ARGUMENT", "."],
        ["", "x", "INVALID_ARGUMENT", ""],
        ["a.txt", "x\u202e", "INVALID_ARGUMENT", "x\u202e"],
        ["../a.txt", "x", "SANDBOX_VIOLATION", "../a.txt"],
        ["a.txt", "../x", "SANDBOX_VIOLATION", "../x"],
        ["a.txt", "C:/x", "SANDBOX_VIOLATION", "…/x"],
        ["a.txt", "/etc/x", "SANDBOX_VIOLATION", "…/x"],
        ["../a.txt", "", "INVALID_ARGUMENT", ""],
        ["missing.txt", "x", "NOT_FOUND", "missing.txt"],
        ["a.txt/", "x", "NOT_FOUND", "a.txt"],
        ["a.txt/x", "x", "NOT_FOUND", "a.txt/x"],
        ["a.txt", "dir/b.txt/x", "NOT_DIRECTORY", "dir/b.txt/x"],
        ["dir", "a.txt", "ALREADY_EXISTS", "a.txt"],
      ] as const) {
        const error = await refused(ws, "moveFile", { path, to });
        assert.deepEqual([error.code, error.path], [code, at], `${path} → ${to}`);
      }
      const args = { path: "dir", to: "x", expected_hash: sha256("") };
      assert.equal((await refused(ws, "moveFile", args)).code, "NOT_FILE");
    }),
  );

  test(
    "a missing file is answered with near names",
    inWorkspace(async (ws) => {
      ws.write("src/Main.ts", "a");
      const error = await refused(ws, "moveFile", { path: "src/main.ts", to: "x" });
      assert.match(error.message, /did you mean "src\/Main\.ts"\?: src\/main\.ts$/);
    }),
  );

  test(
    "X09, X11: links are moved and replaced themselves, and lead nowhere else",
    { skip: noSymlinks },
    inWorkspace(async (ws) => {
      ws.writeOutside("kept.txt", "kept");
      ws.write("a.txt", "a");
      ws.write("dir/b.txt", "b");
      ws.link("out", ws.outside);
      ws.link("dir/link", "b.txt");
      for (const args of [
        { path: "out/kept.txt", to: "x" },
        { path: "a.txt", to: "out/x" },
        { path: "a.txt", to: "out/new/x" },
      ]) {
        assert.equal((await refused(ws, "moveFile", args)).code, "SANDBOX_VIOLATION");
      }
      // Its text is relative, and leads to nothing afterwards.
      const moved = await moveFile(ws.writable, { path: "dir/link", to: "link" });
      assert.equal(moved.kind, "symlink");
      assert.equal(fs.readlinkSync(ws.at("link")), "b.txt");
      await moveFile(ws.writable, { path: "a.txt", to: "out", overwrite: true });
      assert.equal(fs.readFileSync(ws.at("out"), "utf8"), "a");
      assert.deepEqual(fs.readdirSync(ws.outside), ["kept.txt"]);
    }),
  );

  test(
    "X06: two hard links of one file are no change, and both stay",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a");
      fs.linkSync(ws.at("a.txt"), ws.at("b.txt"));
      const args = { path: "a.txt", to: "b.txt", overwrite: true };
      assert.equal((await refused(ws, "moveFile", args)).code, "NO_CHANGE");
    }),
  );

  test(
    "a FIFO is neither moved nor replaced",
    { skip: noFifos },
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a");
      mkfifo(ws.at("fifo"));
      for (const [args, code] of [
        [{ path: "fifo", to: "x" }, "NOT_FILE"],
        [{ path: "a.txt", to: "fifo" }, "ALREADY_EXISTS"],
        [{ path: "a.txt", to: "fifo", overwrite: true }, "NOT_FILE"],
      ] as const) {
        assert.equal((await refused(ws, "moveFile", args)).code, code);
      }
    }),
  );

  test(
    "to another file system it is refused, and nothing is half done",
    { skip: noMounts },
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a");
      ws.write("dir/b.txt", "b");
      ws.folder("mounted");
      const before = scene(ws.base);
      const calls = [
        { path: "a.txt", to: "mounted/new/x" },
        { path: "dir", to: "mounted/new/x", dry_run: true },
        { path: "mounted", to: "x" },
      ].map((args) => ({ call: "moveFile" as const, args: [ws.writable, args] }));
      const outcomes = await callWithMounts([{ source: null, at: ws.at("mounted") }], { calls });
      assert.deepEqual(
        outcomes.map((outcome) => "error" in outcome && [outcome.error.code, outcome.error.path]),
        [
          ["CROSS_DEVICE", "mounted/new/x"],
          ["CROSS_DEVICE", "mounted/new/x"],
          ["PERMISSION_DENIED", "mounted"],
        ],
      );
      assert.deepEqual(scene(ws.base), before);
    }),
  );

  test(
    "without the right to change a folder it is refused beforehand",
    { skip: noPermissions },
    inWorkspace(async (ws) => {
      ws.write("closed/a.txt", "a");
      ws.write("open/b.txt", "b");
      for (const [path, mode] of [
        [ws.base, 0o777],
        [ws.root, 0o777],
        [ws.at("open"), 0o777],
        [ws.at("closed"), 0o555],
        [ws.at("open/b.txt"), 0o444],
      ] as const) {
        fs.chmodSync(path, mode);
      }
      const before = scene(ws.base);
      const calls = [
        { path: "closed/a.txt", to: "x" },
        { path: "open/b.txt", to: "closed/x" },
        { path: "open/b.txt", to: "closed/new/x", dry_run: true },
        { path: "closed", to: "open/closed" },
      ].map((args) => ({ call: "moveFile" as const, args: [ws.writable, args] }));
      for (const outcome of await callInChild({ calls, user: UNPRIVILEGED })) {
        assert.ok("error" in outcome, JSON.stringify(outcome));
        assert.equal(outcome.error.code, "PERMISSION_DENIED", outcome.error.message);
      }
      assert.deepEqual(scene(ws.base), before);
      fs.chmodSync(ws.at("closed"), 0o755);
    }),
  );
});

describe("deleteFile", () => {
  test(
    "its answer has its keys in order, and nothing is left",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a");
      ws.write("dir/sub/b.txt", "b");
      const answers = [
        await deleteFile(ws.writable, { path: "./a.txt" }),
        await deleteFile(Workspace.open(ws.root), { path: "dir/", recursive: true }),
      ];
      assert.deepEqual(
        answers.map((answer) => Object.entries(answer)),
        [
          [
            ["path", "a.txt"],
            ["kind", "file"],
            ["entries", 0],
          ],
          [
            ["path", "dir"],
            ["kind", "directory"],
            ["entries", 2],
          ],
        ],
      );
      assert.deepEqual(fs.readdirSync(ws.root), []);
    }),
  );

  test(
    "X12: a folder that is not empty needs recursive; an empty one does not",
    inWorkspace(async (ws) => {
      ws.write("dir/a.txt", "a");
      ws.folder("dir/b/c");
      const error = await refused(ws, "deleteFile", { path: "dir" });
      assert.deepEqual([error.code, (error as DeleteFileError).entries], ["NOT_EMPTY", 2]);
      assert.match(error.message, /holds 2 entries; set recursive to true/);
      await deleteFile(ws.writable, { path: "dir/b/c" });
      assert.deepEqual(fs.readdirSync(ws.at("dir/b")), []);
    }),
  );

  test(
    "only the file that was read is deleted",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "changed");
      const error = await refused(ws, "deleteFile", { path: "a.txt", expected_hash: sha256("a") });
      assert.deepEqual([error.code, error.sha256], ["STALE", sha256("changed")]);
      await deleteFile(ws.writable, { path: "a.txt", expected_hash: sha256("changed") });
      assert.deepEqual(fs.readdirSync(ws.root), []);
    }),
  );

  test(
    "a dry run deletes nothing and tells what would be",
    inWorkspace(async (ws) => {
      ws.write("dir/a.txt", "a");
      const before = scene(ws.base);
      const tried = await deleteFile(ws.writable, { path: "dir", recursive: true, dry_run: true });
      assert.deepEqual(tried, { path: "dir", kind: "directory", entries: 1 });
      assert.deepEqual(scene(ws.base), before);
    }),
  );

  test(
    "each refusal has its code",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a");
      ws.write("dir/b.txt", "b");
      for (const [path, code] of [
        [".", "INVALID_ARGUMENT"],
        ["dir/..", "INVALID_ARGUMENT"],
        ["", "INVALID_ARGUMENT"],
        ["~", "INVALID_ARGUMENT"],
        ["../outside", "SANDBOX_VIOLATION"],
        ["/etc/hostname", "SANDBOX_VIOLATION"],
        ["missing.txt", "NOT_FOUND"],
        ["missing/a.txt", "NOT_FOUND"],
        ["a.txt/", "NOT_FOUND"],
        ["a.txt/x", "NOT_FOUND"],
      ] as const) {
        const error = await refused(ws, "deleteFile", { path, recursive: true });
        assert.equal(error.code, code, path);
      }
      const args = { path: "dir", recursive: true, expected_hash: sha256("b") };
      assert.equal((await refused(ws, "deleteFile", args)).code, "NOT_FILE");
    }),
  );

  test(
    "X12: a link goes and its target stays, also beneath a folder",
    { skip: noSymlinks },
    inWorkspace(async (ws) => {
      ws.writeOutside("kept.txt", "kept");
      ws.write("target/a.txt", "a");
      ws.link("out", ws.outside);
      ws.link("inside", "target");
      ws.link("dir/out", ws.outside);
      ws.link("dir/inside", "../target");
      for (const path of ["out", "inside/"]) {
        const deleted = await deleteFile(ws.writable, { path, recursive: true });
        assert.equal(deleted.kind, "symlink");
      }
      const { entries } = await deleteFile(ws.writable, { path: "dir", recursive: true });
      assert.equal(entries, 2);
      assert.deepEqual(fs.readdirSync(ws.outside), ["kept.txt"]);
      assert.deepEqual(fs.readdirSync(ws.at("target")), ["a.txt"]);
    }),
  );

  test(
    "X14, X16: what the system tells beforehand refuses the whole: rights of a folder beneath",
    { skip: noPermissions },
    inWorkspace(async (ws) => {
      ws.write("dir/1.txt", "1");
      ws.write("dir/closed/2.txt", "2");
      ws.write("dir/hidden/3.txt", "3");
      ws.write("a.txt", "a");
      for (const path of [ws.base, ws.root, ws.at("dir")]) fs.chmodSync(path, 0o777);
      fs.chmodSync(ws.at("a.txt"), 0o444);
      const callsOf = (path: string) =>
        [false, true].map((dry_run) => ({
          call: "deleteFile" as const,
          args: [ws.writable, { path, recursive: true, dry_run }],
        }));
      for (const [folder, mode] of [
        ["dir/closed", 0o555],
        ["dir/hidden", 0o333],
      ] as const) {
        fs.chmodSync(ws.at(folder), mode);
        const before = scene(ws.base);
        const calls = [...callsOf("dir"), ...callsOf("a.txt")];
        for (const outcome of await callInChild({ calls, user: UNPRIVILEGED })) {
          assert.ok("error" in outcome, JSON.stringify(outcome));
          assert.equal(outcome.error.code, "PERMISSION_DENIED");
        }
        assert.deepEqual(scene(ws.base), before);
        fs.chmodSync(ws.at(folder), 0o777);
      }
    }),
  );

  test(
    "X14: what the system tells beforehand refuses the whole: a mount point beneath",
    { skip: noMounts },
    inWorkspace(async (ws) => {
      ws.write("dir/1.txt", "1");
      ws.folder("dir/sub/mounted");
      ws.write("dir/file.txt", "");
      ws.writeOutside("mounted/kept.txt", "kept");
      const before = scene(ws.base);
      const mounts = [
        { source: `${ws.outside}/mounted`, at: ws.at("dir/sub/mounted") },
        { source: `${ws.outside}/mounted/kept.txt`, at: ws.at("dir/file.txt") },
      ];
      for (const mount of mounts) {
        const calls = ["dir", mount.at].map((path) => ({
          call: "deleteFile" as const,
          args: [ws.writable, { path, recursive: true }],
        }));
        for (const outcome of await callWithMounts([mount], { calls })) {
          assert.ok("error" in outcome, JSON.stringify(outcome));
          assert.equal(outcome.error.code, "PERMISSION_DENIED");
          assert.match(outcome.error.message, /mount point/);
        }
      }
      assert.deepEqual(scene(ws.base), before);
    }),
  );

  test(
    "what the system tells beforehand refuses the whole: an immutable file beneath",
    { skip: noImmutable },
    inWorkspace(async (ws) => {
      ws.write("dir/1.txt", "1");
      ws.write("dir/sub/fixed.txt", "2");
      setImmutable(ws.at("dir/sub/fixed.txt"), true);
      try {
        const error = await refused(ws, "deleteFile", { path: "dir", recursive: true });
        assert.equal(error.code, "PERMISSION_DENIED");
        assert.match(error.message, /immutable or append-only \(sub\/fixed\.txt\): dir$/);
      } finally {
        setImmutable(ws.at("dir/sub/fixed.txt"), false);
      }
    }),
  );

  test(
    "a FIFO is refused when it is named, and goes along with its folder",
    { skip: noFifos },
    inWorkspace(async (ws) => {
      ws.folder("dir");
      mkfifo(ws.at("dir/fifo"));
      assert.equal((await refused(ws, "deleteFile", { path: "dir/fifo" })).code, "NOT_FILE");
      const { entries } = await deleteFile(ws.writable, { path: "dir", recursive: true });
      assert.deepEqual([entries, fs.readdirSync(ws.root)], [1, []]);
    }),
  );
});

describe("arguments of both", () => {
  const GOOD = { moveFile: { path: "a.txt", to: "b.txt" }, deleteFile: { path: "a.txt" } };
  for (const call of ["moveFile", "deleteFile"] as const) {
    test(
      `${call} checks its numbers, flags and texts, and coerces none`,
      inWorkspace(async (ws) => {
        ws.write("a.txt", "a");
        const wrong: [string, object][] = [
          ["path", { path: 5 }],
          ["path", { path: null }],
          ["path", { path: "a\0.txt" }],
          ["path", { path: "\ud800" }],
          ["expected_hash", { expected_hash: "A".repeat(64) }],
          ["expected_hash", { expected_hash: 5 }],
          ["dry_run", { dry_run: "true" }],
        ];
        if (call === "moveFile") {
          wrong.push(
            ["to", { to: undefined }],
            ["to", { to: ["b"] }],
            ["overwrite", { overwrite: 1 }],
          );
        } else {
          wrong.push(["recursive", { recursive: 1 }]);
        }
        for (const [argument, part] of wrong) {
          const error = await refused(ws, call, { ...GOOD[call], ...part });
          assert.equal(error.code, "INVALID_ARGUMENT");
          assert.match(error.message, new RegExp(`\\b${argument}\\b`), error.message);
        }
      }),
    );

    test(
      `${call} takes null for absent and ignores unknown keys`,
      inWorkspace(async (ws) => {
        ws.write("a.txt", "a");
        const args = { ...GOOD[call], dry_run: null, expected_hash: null, unknown: 5 };
        await LOOSE[call](ws.writable, args, null);
        assert.equal(fs.existsSync(ws.at("a.txt")), false);
      }),
    );

    test(
      `${call} refuses values that are no arguments of any kind`,
      inWorkspace(async (ws) => {
        ws.write("a.txt", "a");
        for (const stranger of [...STRANGERS, hostileProxy(), withGetter("path")]) {
          const error = await rejectionValue(() => LOOSE[call](ws.writable, stranger));
          assert.ok(isMoveFileError(error) || isDeleteFileError(error), String(error));
        }
        assert.deepEqual(fs.readdirSync(ws.root), ["a.txt"]);
      }),
    );

    test(
      `X17: ${call} of a read-only workspace is told before anything on disk`,
      inWorkspace(async (ws) => {
        for (const path of ["missing.txt", "../out.txt", "/etc/hostname"]) {
          const context = { ...ws.writable, writeScope: "read-only" };
          const args = { ...GOOD[call], path };
          const error = await rejectionValue(() => LOOSE[call](context, args));
          assert.equal((error as MoveFileError).code, "READ_ONLY", path);
        }
        const context = { ...ws.writable, writeScope: "read-only" };
        const error = await rejectionValue(() =>
          LOOSE[call](context, { ...GOOD[call], path: "." }),
        );
        assert.equal((error as MoveFileError).code, "INVALID_ARGUMENT");
      }),
    );

    for (const [name, reason] of ABORT_REASONS) {
      test(
        `${call} with an aborted signal rejects with its reason: ${name}`,
        inWorkspace(async (ws) => {
          ws.write("a.txt", "a");
          const signal = AbortSignal.abort(reason);
          const rejected = await rejectionValue(() =>
            LOOSE[call](ws.writable, GOOD[call], { signal }),
          );
          assert.equal(rejected, signal.reason);
          assert.deepEqual(fs.readdirSync(ws.root), ["a.txt"]);
        }),
      );
    }
  }
});

test(
  "on overlayfs, whose lower layers rename no folders, they are deleted where they stand",
  { skip: noMounts },
  inWorkspace(async (ws) => {
    const [lower, upper] = [`${ws.base}/lower`, `${ws.base}/upper`];
    fs.mkdirSync(upper);
    fs.mkdirSync(`${lower}/dir/sub`, { recursive: true });
    fs.mkdirSync(`${lower}/empty`);
    fs.writeFileSync(`${lower}/dir/sub/a.txt`, "a");
    fs.writeFileSync(`${lower}/b.txt`, "b");
    const calls = [
      { call: "deleteFile", args: [ws.writable, { path: "empty" }] },
      { call: "moveFile", args: [ws.writable, { path: "b.txt", to: "dir/b.txt" }] },
      { call: "moveFile", args: [ws.writable, { path: "dir", to: "other" }] },
      { call: "deleteFile", args: [ws.writable, { path: "dir" }] },
      { call: "deleteFile", args: [ws.writable, { path: "dir", recursive: true }] },
      { call: "tree", args: [ws.writable, ".", { entry_kind: "all" }] },
    ];
    const overlay = { overlay: lower, upper, at: ws.root };
    const outcomes = await callWithMounts([overlay], { calls });
    const tree = outcomes.pop();
    assert.deepEqual(
      outcomes.map((outcome) => ("error" in outcome ? outcome.error.code : "done")),
      ["done", "done", "CROSS_DEVICE", "NOT_EMPTY", "done"],
    );
    assert.ok(tree !== undefined && "answer" in tree, JSON.stringify(tree));
    assert.deepEqual((tree.answer as { total_dirs: number; total_files: number }).total_files, 0);
    assert.ok(fs.existsSync(`${lower}/dir/sub/a.txt`), "the layer itself is untouched");
  }),
);

describe("where the system refuses calls", { skip: noStrace }, () => {
  const move = (ws: TestWorkspace, path: string, to: string) => ({
    call: "moveFile" as const,
    args: [ws.writable, { path, to }],
  });
  const remove = (ws: TestWorkspace, path: string) => ({
    call: "deleteFile" as const,
    args: [ws.writable, { path, recursive: true }],
  });

  // NFS, FUSE without a rename of its own, and filters of system calls.
  for (const error of ["EINVAL", "ENOSYS", "EPERM"]) {
    test(
      `renames that replace nothing (${error}): the move replaces nothing all the same`,
      inWorkspace(async (ws) => {
        ws.write("a.txt", "a");
        ws.write("b.txt", "b");
        ws.write("dir/c.txt", "c");
        ws.write("old/d.txt", "d");
        ws.write("e.txt", "e");
        ws.write("f.txt", "f");
        const calls = [
          move(ws, "a.txt", "b.txt"),
          move(ws, "a.txt", "new/a.txt"),
          move(ws, "dir", "dir/in/itself"),
          move(ws, "dir", "new/dir"),
          remove(ws, "old"),
          remove(ws, "b.txt"),
          {
            call: "moveFile" as const,
            args: [
              ws.writable,
              { path: "e.txt", to: "f.txt", overwrite: true, expected_hash: sha256("e") },
            ],
          },
        ];
        const outcomes = await callWithFaults({ calls }, `renameat2:error=${error}`);
        assert.deepEqual(
          outcomes.map((outcome) => ("error" in outcome ? outcome.error.code : "done")),
          ["ALREADY_EXISTS", "done", "INVALID_ARGUMENT", "done", "done", "done", "done"],
        );
        assert.equal(fs.readFileSync(ws.at("f.txt"), "utf8"), "e");
        assert.deepEqual(fs.readdirSync(ws.root, { recursive: true }).sort(), [
          "f.txt",
          "new",
          "new/a.txt",
          "new/dir",
          "new/dir/c.txt",
        ]);
      }),
    );
  }

  test(
    "a removal that the system refuses on its way: what is left stands there again, and is told",
    inWorkspace(async (ws) => {
      for (const name of ["1", "2", "3", "4"]) ws.write(`dir/sub/${name}`, name);
      const calls = [remove(ws, "dir")];
      const [outcome] = await callWithFaults({ calls }, "unlinkat:error=EIO:when=3+");
      assert.ok(outcome !== undefined && "error" in outcome, JSON.stringify(outcome));
      assert.deepEqual([outcome.error.removed, outcome.error.path], [2, "dir"]);
      assert.match(outcome.error.message, /only a part of the folder could be removed/);
      assert.deepEqual(fs.readdirSync(ws.root), ["dir"]);
      assert.equal(fs.readdirSync(ws.at("dir/sub")).length, 2);
    }),
  );

  test(
    "a removal that fails at once has removed nothing",
    inWorkspace(async (ws) => {
      ws.write("dir/a.txt", "a");
      ws.write("b.txt", "b");
      const before = scene(ws.base);
      const calls = [remove(ws, "dir"), remove(ws, "b.txt")];
      for (const outcome of await callWithFaults({ calls }, "unlinkat:error=EACCES")) {
        assert.ok("error" in outcome, JSON.stringify(outcome));
        assert.equal(outcome.error.code, "PERMISSION_DENIED");
        assert.equal(outcome.error.removed, undefined);
      }
      assert.deepEqual(scene(ws.base), before);
    }),
  );

  test(
    "a folder that cannot be synced: the move stands, and the message says so",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a");
      const calls = [move(ws, "a.txt", "b.txt")];
      const [outcome] = await callWithFaults({ calls }, "fsync:error=EIO");
      assert.ok(outcome !== undefined && "error" in outcome, JSON.stringify(outcome));
      assert.equal(outcome.error.code, "INTERNAL");
      assert.match(outcome.error.message, /it is done, but a folder could not be synced/);
      assert.deepEqual(fs.readdirSync(ws.root), ["b.txt"]);
    }),
  );
});

test(
  "of moves and removals side by side, each file is at one place or gone",
  inWorkspace(async (ws) => {
    const workspace = Workspace.open(ws.root, { durability: "none" });
    for (let round = 0; round < 20; round += 1) {
      ws.write("dir/a.txt", "a");
      const outcomes = await Promise.allSettled([
        moveFile(workspace, { path: "dir/a.txt", to: "b.txt" }),
        moveFile(workspace, { path: "dir", to: "other" }),
        deleteFile(workspace, { path: "dir/a.txt" }),
        deleteFile(workspace, { path: "dir", recursive: true }),
      ]);
      for (const outcome of outcomes) {
        if (outcome.status === "fulfilled") continue;
        assert.match(outcome.reason.code, /^(?:NOT_FOUND|CONTENDED)$/, outcome.reason.message);
      }
      const left = fs.readdirSync(ws.root, { recursive: true }) as string[];
      const files = left.filter((name) => name.endsWith(".txt"));
      assert.ok(files.length <= 1, left.join(" "));
      assert.ok(!left.some((name) => name.includes(".rf-")), left.join(" "));
      for (const name of fs.readdirSync(ws.root)) fs.rmSync(ws.at(name), { recursive: true });
    }
  }),
);

/**
 * Without `renameat2` no system call moves a file and replaces nothing. The file gets its new name before it loses the
 * old one, and a kill in between leaves it both.
 */
const movesInTwoSteps = !notLinux && (await noExchange()) !== false;

test(
  "after kill -9 the moved file is whole at one place, and later calls remove what a deletion has left",
  { skip: notPosix, timeout: 60_000 },
  inWorkspace(async (ws) => {
    const program = `
      const { createFileSync, deleteFile, moveFile } = require(${JSON.stringify(ROOT)});
      const context = { workspaceRoot: ${JSON.stringify(ws.root)}, durability: "none" };
      (async () => {
        for (;;) {
          for (let n = 0; n < 40; n += 1) {
            const path = \`tree/\${n % 4}/\${n}.txt\`;
            createFileSync(context, { path, content: "x", overwrite: true });
          }
          await moveFile(context, { path: "a.txt", to: "dir/b.txt" });
          await deleteFile(context, { path: "tree", recursive: true });
          await moveFile(context, { path: "dir/b.txt", to: "a.txt" });
          await deleteFile(context, { path: "dir" });
          process.stdout.write(".");
        }
      })();`;
    const content = "whole\n".repeat(10_000);
    for (let round = 0; round < 8; round += 1) {
      for (const name of fs.readdirSync(ws.root)) fs.rmSync(ws.at(name), { recursive: true });
      ws.write("a.txt", content);
      const child = spawn(process.execPath, ["-e", program]);
      await new Promise((resolve) => child.stdout.once("data", resolve));
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 20));
      child.kill("SIGKILL");
      await new Promise((resolve) => child.once("exit", resolve));

      const places = ["a.txt", "dir/b.txt"].filter((path) => fs.existsSync(ws.at(path)));
      if (!(movesInTwoSteps && places.length === 2)) assert.equal(places.length, 1);
      assert.equal(new Set(places.map((path) => fs.statSync(ws.at(path)).ino)).size, 1);
      assert.equal(fs.readFileSync(ws.at(places[0] ?? ""), "utf8"), content);
      const left = () => fs.readdirSync(ws.root).filter((name) => name.startsWith(".rf-"));
      for (let attempt = 0; attempt < 100 && left().length > 0; attempt += 1) {
        await new Promise((resolve) => setTimeout(resolve, 100));
        ws.write("other.txt", "");
        await deleteFile(ws.writable, { path: "other.txt" });
      }
      assert.deepEqual(left(), []);
    }
  }),
);

test(
  "X21: edits side by side with a move are in the moved file, or NOT_FOUND",
  inWorkspace(async (ws) => {
    const workspace = Workspace.open(ws.root, { durability: "none" });
    for (let round = 0; round < 10; round += 1) {
      ws.write("a.txt", Array.from({ length: 20 }, (_, line) => `line ${line}: old\n`).join(""));
      const edits = Array.from({ length: 20 }, (_, line) =>
        editFile(workspace, {
          path: "a.txt",
          old_string: `line ${line}: old`,
          new_string: `line ${line}: new`,
        }),
      );
      const moved = moveFile(workspace, { path: "a.txt", to: "b.txt", overwrite: true });
      const outcomes = await Promise.allSettled([...edits, moved]);
      assert.equal(outcomes.pop()?.status, "fulfilled");
      const text = fs.readFileSync(ws.at("b.txt"), "utf8");
      for (const [line, outcome] of outcomes.entries()) {
        if (outcome.status === "rejected") assert.equal(outcome.reason.code, "NOT_FOUND");
        const made = outcome.status === "fulfilled" ? "new" : "old";
        assert.ok(text.includes(`line ${line}: ${made}\n`), `${line}: ${outcome.status}\n${text}`);
      }
      assert.deepEqual(fs.readdirSync(ws.root), ["b.txt"]);
    }
  }),
);

test(
  "X22: a new name that Windows gives another meaning",
  { skip: notWindows },
  inWorkspace(async (ws) => {
    ws.write("a.txt", "a");
    for (const to of ["nul", "con.txt", "b.txt.", "b.txt ", "b.txt::$DATA", "b?.txt"]) {
      assert.equal((await refused(ws, "moveFile", { path: "a.txt", to })).code, "INVALID_ARGUMENT");
    }
  }),
);

test(
  "a change of case alone is a move where names are folded",
  { skip: !namesAreFolded && "this volume tells names apart by their case" },
  inWorkspace(async (ws) => {
    ws.write("dir/file.txt", "a");
    await moveFile(ws.writable, { path: "dir/file.txt", to: "dir/File.txt" });
    await moveFile(ws.writable, { path: "dir", to: "Dir" });
    assert.deepEqual(fs.readdirSync(ws.root, { recursive: true }).length, 2);
    assert.deepEqual(
      [fs.readdirSync(ws.root), fs.readdirSync(ws.at("Dir"))],
      [["Dir"], ["File.txt"]],
    );
  }),
);
