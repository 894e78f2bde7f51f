// `editFile`: exact replacements in one file. docs/contract.md §10. The rules for texts are tested in
// src/tools/edit_file/, too.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import fs from "node:fs";
import net from "node:net";
import { describe, test } from "node:test";
import {
  type EditFileArguments,
  type EditFileError,
  type EditFileOutput,
  editFile,
  isEditFileError,
  readFile,
  Workspace,
} from "../index.js";
import { callInChild } from "./support/child.ts";
import { ABORT_REASONS, hostileProxy, STRANGERS, withGetter } from "./support/hostile.ts";
import {
  mkfifo,
  mknodNull,
  noDevices,
  noFifos,
  noPermissions,
  noSymlinks,
  notLinux,
  notPosix,
  UNPRIVILEGED,
} from "./support/platform.ts";
import { ROOT } from "./support/program.ts";
import { rejectionValue } from "./support/read.ts";
import { inWorkspace, type TestWorkspace } from "./support/workspace.ts";

/** `editFile` without its types, for arguments that are wrong on purpose. */
const loose = editFile as unknown as (...args: unknown[]) => Promise<EditFileOutput>;

const sha256 = (bytes: Uint8Array | string) => createHash("sha256").update(bytes).digest("hex");

const EDIT = { old_string: "a", new_string: "b" };

/** Has the call refused, and the file at `path` left as it is: bytes, inode and time. */
async function refused(ws: TestWorkspace, args: object, path = "a.txt"): Promise<EditFileError> {
  const facts = () => {
    if (!fs.existsSync(ws.at(path)) || !fs.statSync(ws.at(path)).isFile()) return null;
    const { ino, mtimeNs, mode } = fs.statSync(ws.at(path), { bigint: true });
    return { ino, mtimeNs, mode, bytes: fs.readFileSync(ws.at(path), "hex") };
  };
  const before = [facts(), fs.readdirSync(ws.root)];
  const error = await rejectionValue(() => loose(ws.writable, { path, ...args }));
  assert.ok(isEditFileError(error), String(error));
  assert.ok(error.message.startsWith(`${error.code}: `), error.message);
  for (const hidden of ws.hidden) assert.ok(!`${error.message}${error.path}`.includes(hidden));
  assert.deepEqual([facts(), fs.readdirSync(ws.root)], before);
  return error;
}

describe("the answer", () => {
  test(
    "has its keys in order, and is of the bytes before and after",
    inWorkspace(async (ws) => {
      ws.write("src/a.txt", "one\r\ntwo\r\n");
      const workspace = Workspace.open(ws.root);
      const args = { path: "./src/a.txt", old_string: "two", new_string: "2\n3" };
      const answer = await editFile(workspace, args);
      assert.deepEqual(Object.entries(answer), [
        ["path", "src/a.txt"],
        ["applied", true],
        ["replacements", 1],
        ["start_line", 2],
        ["end_line", 3],
        ["diff", "--- a/src/a.txt\n+++ b/src/a.txt\n@@ -1,2 +1,3 @@\n one\n-two\n+2\n+3\n"],
        ["diff_truncated", false],
        ["before_sha256", sha256("one\r\ntwo\r\n")],
        ["sha256", sha256("one\r\n2\r\n3\r\n")],
        ["byte_length", 11],
        ["line_count", 3],
      ]);
      assert.equal(fs.readFileSync(ws.at("src/a.txt"), "latin1"), "one\r\n2\r\n3\r\n");
    }),
  );

  test(
    "its hash is the expected_hash of the next call",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "1");
      const { meta } = await readFile(ws.writable, "a.txt", { include_hash: true });
      let expected_hash = meta.sha256 ?? "";
      for (const [old_string, new_string] of [
        ["1", "2"],
        ["2", "3"],
      ] as const) {
        const args = { path: "a.txt", old_string, new_string, expected_hash };
        expected_hash = (await editFile(ws.writable, args)).sha256;
      }
      const error = await refused(ws, { ...EDIT, expected_hash: "0".repeat(64) });
      assert.deepEqual([error.code, error.sha256], ["STALE", sha256("3")]);
    }),
  );

  test(
    "an absolute path inside the root is taken, and shown as a relative one",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a");
      assert.equal((await editFile(ws.writable, { path: ws.at("a.txt"), ...EDIT })).path, "a.txt");
    }),
  );

  test(
    "a dry run makes nothing",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a");
      const answer = await editFile(ws.writable, { path: "a.txt", ...EDIT, dry_run: true });
      assert.deepEqual([answer.applied, answer.sha256], [false, sha256("b")]);
      assert.deepEqual(
        [fs.readFileSync(ws.at("a.txt"), "utf8"), fs.readdirSync(ws.root)],
        ["a", ["a.txt"]],
      );
    }),
  );
});

describe("errors that repair a call", () => {
  test(
    "NO_MATCH has the closest lines, and null where none is near",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "x\n\tindented line\ny\n");
      const error = await refused(ws, { old_string: "    indented line", new_string: "b" });
      assert.deepEqual(Object.keys(error), ["code", "path", "edit_index", "closest"]);
      assert.deepEqual(error.closest, {
        start_line: 2,
        end_line: 2,
        text: "\tindented line",
        difference: "indentation",
      });
      assert.match(error.message, /the file has 1 tab where old_string has 4 spaces: a\.txt$/);
      const none = await refused(ws, { old_string: "quite another text", new_string: "b" });
      assert.equal(none.closest, null);
    }),
  );

  test(
    "MULTIPLE_MATCHES has the count and ten lines",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a\n".repeat(12));
      const error = await refused(ws, EDIT);
      assert.deepEqual(Object.keys(error), ["code", "path", "edit_index", "count", "lines"]);
      assert.deepEqual([error.count, error.lines], [12, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]]);
    }),
  );

  test(
    "an edit of a list is named by its index",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "abcd");
      const missing = await refused(ws, { edits: [EDIT, { old_string: "z", new_string: "y" }] });
      assert.deepEqual([missing.code, missing.edit_index], ["NO_MATCH", 1]);
      assert.match(missing.message, /^NO_MATCH: edits\[1\]\.old_string does not occur/);
      const overlapping = await refused(ws, {
        edits: [
          { old_string: "abc", new_string: "x" },
          { old_string: "bcd", new_string: "y" },
        ],
      });
      assert.deepEqual(
        [overlapping.code, overlapping.edit_index, overlapping.other_index],
        ["EDIT_OVERLAP", 1, 0],
      );
    }),
  );

  test(
    "a missing file is told with its likely name",
    inWorkspace(async (ws) => {
      ws.write("src/Main.ts", "a");
      const error = await refused(ws, EDIT, "src/main.tsx");
      assert.deepEqual([error.code, error.path], ["NOT_FOUND", "src/main.tsx"]);
      assert.match(error.message, /src\/Main\.ts/);
    }),
  );
});

describe("arguments", () => {
  const wrong: [rule: RegExp, args: unknown][] = [
    [/^args must be an object with path and edits/, 5],
    [/^args must be an object/, undefined],
    [/^path is missing/, EDIT],
    [/^path must be a string/, { path: 5, ...EDIT }],
    [/^old_string is missing/, { path: "a.txt" }],
    [/^new_string is missing/, { path: "a.txt", old_string: "a" }],
    [
      /^old_string must not be empty.*workspace_create_file/, // Q24
      { path: "a.txt", old_string: "", new_string: "" },
    ],
    [
      /^old_string must not be empty.*workspace_create_file/, // Q26
      { path: "missing.txt", old_string: "", new_string: "new\n" },
    ],
    [/^old_string is missing/, { path: "a.txt", insert_line: 0, new_string: "b" }], // Q91
    [/^path must not contain a NUL/, { path: "a\0.txt", ...EDIT }], // Q89
    [/^old_string must not contain a NUL/, { path: "a.txt", old_string: "\0", new_string: "" }],
    [/^new_string .*surrogate/, { path: "a.txt", old_string: "a", new_string: "\ud800" }],
    [/^replace_all must be true or false/, { path: "a.txt", ...EDIT, replace_all: 1 }],
    [/^dry_run must be true or false/, { path: "a.txt", ...EDIT, dry_run: "true" }],
    [/^expected_hash must be a SHA-256/, { path: "a.txt", ...EDIT, expected_hash: "A".repeat(64) }],
    [/^edits must not stand beside/, { path: "a.txt", edits: [EDIT], old_string: "a" }], // T16
    [/^edits must be an array/, { path: "a.txt", edits: "[]" }],
    [/^edits must have 1 to 1000 elements, got 0/, { path: "a.txt", edits: [] }], // T12
    [
      /^edits must have 1 to 1000 elements, got 1001/,
      { path: "a.txt", edits: Array(1001).fill(EDIT) },
    ],
    [/^edits\[1\]/, { path: "a.txt", edits: [EDIT, 5] }],
    [
      /^edits\[1\]\.old_string must not be empty/,
      { path: "a.txt", edits: [EDIT, { ...EDIT, old_string: "" }] },
    ],
  ];
  for (const [rule, args] of wrong) {
    test(
      `${rule.source} is INVALID_ARGUMENT: ${JSON.stringify(args)?.slice(0, 80)}`,
      inWorkspace(async (ws) => {
        ws.write("a.txt", "a");
        const error = (await rejectionValue(() => loose(ws.writable, args))) as EditFileError;
        assert.ok(isEditFileError(error), String(error));
        assert.equal(error.code, "INVALID_ARGUMENT");
        assert.match(
          error.message.slice("INVALID_ARGUMENT: ".length).replace("edits [", "edits["),
          rule,
        );
        assert.equal(fs.readFileSync(ws.at("a.txt"), "utf8"), "a");
        assert.deepEqual(fs.readdirSync(ws.root), ["a.txt"]);
      }),
    );
  }

  test(
    "null counts as absent, and unknown keys are ignored",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a");
      const args = { path: "a.txt", ...EDIT, edits: null, replace_all: null, unknown: 5 };
      assert.equal((await loose(ws.writable, args, null)).replacements, 1);
    }),
  );

  test(
    "values that are no arguments of any kind are refused, and the process lives",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a");
      for (const stranger of [...STRANGERS, hostileProxy(), withGetter("path")]) {
        const error = await rejectionValue(() => loose(ws.writable, stranger));
        assert.ok(isEditFileError(error), String(error));
      }
    }),
  );

  for (const [name, reason] of ABORT_REASONS) {
    test(
      `an aborted signal rejects with its reason: ${name}`,
      inWorkspace(async (ws) => {
        ws.write("a.txt", "a");
        const signal = AbortSignal.abort(reason);
        const args = { path: "a.txt", ...EDIT };
        assert.equal(
          await rejectionValue(() => editFile(ws.writable, args, { signal })),
          signal.reason,
        );
        assert.equal(fs.readFileSync(ws.at("a.txt"), "utf8"), "a");
      }),
    );
  }
});

test(
  "a call that is aborted on its way has written the file, or rejects with the reason and has not",
  inWorkspace(async (ws) => {
    const text = `${"some text\n".repeat(60_000)}the end\n`;
    const seen = new Set<string>();
    for (const delay of [0, 0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 2_000]) {
      ws.write("a.txt", text);
      const controller = new AbortController();
      const args = { path: "a.txt", old_string: "the end", new_string: "another end" };
      const context = { ...ws.writable, durability: "none" as const };
      const call = editFile(context, args, { signal: controller.signal });
      const timer = setTimeout(() => controller.abort("enough"), delay);
      const outcome = await call.then(
        () => "written",
        (reason) => reason,
      );
      clearTimeout(timer);
      const now = fs.readFileSync(ws.at("a.txt"), "utf8");
      assert.equal(now === text ? "enough" : "written", outcome);
      seen.add(outcome);
    }
    assert.ok(seen.has("written"));
  }),
);

describe("places that are not edited", () => {
  const codeOf = async (ws: TestWorkspace, path: string) => (await refused(ws, EDIT, path)).code;

  test(
    "Q89: each has its code",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a");
      ws.write("latin1.txt", Buffer.from("caf\xe9 a", "latin1"));
      ws.write("utf16.txt", Buffer.from("\ufeffa", "utf16le"));
      ws.write("dir/b.txt", "a");
      for (const [path, code] of [
        ["latin1.txt", "BINARY_NOT_SUPPORTED"],
        ["utf16.txt", "BINARY_NOT_SUPPORTED"],
        ["dir", "NOT_FILE"],
        ["dir/", "NOT_FILE"],
        [".", "NOT_FILE"],
        ["missing.txt", "NOT_FOUND"],
        ["a.txt/x", "NOT_FOUND"],
        ["../a.txt", "SANDBOX_VIOLATION"],
        ["/etc/hostname", "SANDBOX_VIOLATION"],
        ["C:/a.txt", "SANDBOX_VIOLATION"],
        ["", "INVALID_ARGUMENT"],
        ["a\u202e.txt", "INVALID_ARGUMENT"],
      ] as const) {
        assert.equal(await codeOf(ws, path), code, path);
      }
    }),
  );

  test(
    "Q59, Q61: what is not UTF-8 is told by its place, or by its encoding",
    inWorkspace(async (ws) => {
      ws.write("latin1.txt", Buffer.from("x\ncaf\xe9 a", "latin1"));
      ws.write("utf16.txt", Buffer.from("\ufeffa", "utf16le"));
      const { message } = await refused(ws, EDIT, "latin1.txt");
      assert.match(message, /invalid byte 0xE9 at byte 5, line 2: latin1\.txt$/);
      assert.match((await refused(ws, EDIT, "utf16.txt")).message, /UTF-16 \(little-endian\)/);
    }),
  );

  test(
    "Q72: a link out and a dangling one",
    { skip: noSymlinks },
    inWorkspace(async (ws) => {
      fs.symlinkSync("/etc/hostname", ws.at("out"));
      fs.symlinkSync("nothing", ws.at("dangling"));
      assert.equal(await codeOf(ws, "out"), "SANDBOX_VIOLATION");
      assert.equal(await codeOf(ws, "dangling"), "NOT_FOUND");
    }),
  );

  test(
    "Q72: a FIFO, a socket, a device and a link of /proc are answered at once",
    { skip: notLinux || noFifos || noDevices, timeout: 5_000 },
    inWorkspace(async (ws) => {
      mkfifo(ws.at("fifo"));
      mknodNull(ws.at("null"));
      const server = net.createServer();
      await new Promise<void>((resolve) => server.listen(ws.at("socket"), resolve));
      for (const path of ["fifo", "null", "socket"]) {
        assert.equal(await codeOf(ws, path), "NOT_FILE", path);
      }
      await new Promise((resolve) => server.close(resolve));
      // Through a magic link the name of a file outside would be that of an open descriptor.
      const descriptor = fs.openSync(ws.write("a.txt", "a"), "r+");
      fs.symlinkSync(`/proc/self/fd/${descriptor}`, ws.at("magic"));
      assert.equal(await codeOf(ws, "magic"), "SANDBOX_VIOLATION");
      fs.closeSync(descriptor);
    }),
  );

  test(
    "Q69: a file without write permission is not replaced through its folder, not even in a dry run",
    { skip: noPermissions },
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a");
      fs.chmodSync(ws.at("a.txt"), 0o444);
      fs.chmodSync(ws.base, 0o777);
      fs.chmodSync(ws.root, 0o777);
      const before = fs.statSync(ws.at("a.txt"), { bigint: true });
      const calls = [EDIT, { ...EDIT, dry_run: true }, { ...EDIT, old_string: "z" }].map(
        (args) => ({
          call: "editFile" as const,
          args: [ws.writable, { path: "a.txt", ...args }],
        }),
      );
      for (const outcome of await callInChild({ calls, user: UNPRIVILEGED })) {
        assert.ok("error" in outcome, JSON.stringify(outcome));
        assert.equal(outcome.error.code, "PERMISSION_DENIED");
      }
      const { ino, mtimeNs } = fs.statSync(ws.at("a.txt"), { bigint: true });
      assert.deepEqual([ino, mtimeNs], [before.ino, before.mtimeNs]);
    }),
  );

  test(
    "a read-only workspace is told before anything on disk",
    inWorkspace(async (ws) => {
      for (const path of ["missing.txt", "../out.txt", "/etc/hostname"]) {
        const context = { ...ws.writable, writeScope: "read-only" as const };
        const error = await rejectionValue(() => editFile(context, { path, ...EDIT }));
        assert.equal((error as EditFileError).code, "READ_ONLY", path);
      }
    }),
  );
});

describe("the file on disk", () => {
  test(
    "Q71: a link stays a link, and the mode stays",
    { skip: noSymlinks || notPosix },
    inWorkspace(async (ws) => {
      ws.write("real.txt", "a");
      fs.chmodSync(ws.at("real.txt"), 0o751);
      fs.symlinkSync("real.txt", ws.at("link.txt"));
      await editFile(ws.writable, { path: "link.txt", ...EDIT });
      assert.ok(fs.lstatSync(ws.at("link.txt")).isSymbolicLink());
      assert.equal(fs.readFileSync(ws.at("real.txt"), "utf8"), "b");
      assert.equal(fs.statSync(ws.at("real.txt")).mode & 0o777, 0o751);
    }),
  );

  test(
    "Q79: calls side by side on one file, by several spellings and a link, all land",
    { skip: noSymlinks },
    inWorkspace(async (ws) => {
      ws.write("dir/a.txt", Array.from({ length: 40 }, (_, line) => `line ${line}: 0\n`).join(""));
      const workspace = Workspace.open(ws.root, { durability: "none" });
      fs.symlinkSync("dir/a.txt", ws.at("link.txt"));
      const paths = [
        "dir/a.txt",
        "./dir/a.txt",
        "dir/../dir/a.txt",
        ws.at("dir/a.txt"),
        "link.txt",
      ];
      await Promise.all(
        Array.from({ length: 40 }, (_, line) =>
          editFile(workspace, {
            path: paths[line % paths.length] as string,
            old_string: `line ${line}: 0\n`,
            new_string: `line ${line}: 1\n`,
          }),
        ),
      );
      const text = fs.readFileSync(ws.at("dir/a.txt"), "utf8");
      assert.equal(text, Array.from({ length: 40 }, (_, line) => `line ${line}: 1\n`).join(""));
    }),
  );

  test(
    "edits of several processes all land",
    { timeout: 120_000 },
    inWorkspace(async (ws) => {
      const [processes, edits] = [4, 50];
      ws.write(
        "a.txt",
        Array.from({ length: processes }, (_, line) => `line ${line}: 0\n`).join(""),
      );
      const program = `
        const { editFile } = require(${JSON.stringify(ROOT)});
        const context = { workspaceRoot: ${JSON.stringify(ws.root)}, durability: "none" };
        (async () => {
          const line = process.argv[1];
          for (let edit = 0; edit < ${edits}; edit += 1) {
            const [old_string, new_string] = [edit, edit + 1].map((n) => \`line \${line}: \${n}\\n\`);
            await editFile(context, { path: "a.txt", old_string, new_string });
          }
        })();`;
      const codes = Array.from({ length: processes }, async (_, line) => {
        const child = spawn(process.execPath, ["-e", program, String(line)], { stdio: "inherit" });
        return new Promise((resolve) => child.on("exit", resolve));
      });
      assert.deepEqual(await Promise.all(codes), Array(processes).fill(0));
      const expected = Array.from({ length: processes }, (_, line) => `line ${line}: ${edits}\n`);
      assert.equal(fs.readFileSync(ws.at("a.txt"), "utf8"), expected.join(""));
    }),
  );

  test(
    "Q81: a reader sees the whole text before an edit or after it, and nothing else",
    { skip: notPosix },
    inWorkspace(async (ws) => {
      const version = (edit: number) => `edit ${edit}\n`.repeat(5_000);
      ws.write("a.txt", version(0));
      const context = { ...ws.writable, durability: "none" as const };
      const seen = new Set<string>();
      for (let edit = 0; edit < 20; edit += 1) {
        let isDone = false;
        const call = editFile(context, {
          path: "a.txt",
          ...{ old_string: `edit ${edit}\n`, new_string: `edit ${edit + 1}\n`, replace_all: true },
        }).finally(() => {
          isDone = true;
        });
        while (!isDone) {
          const text = fs.readFileSync(ws.at("a.txt"), "utf8");
          assert.ok(text === version(edit) || text === version(edit + 1), text.slice(0, 20));
          seen.add(text);
          await new Promise((resolve) => setImmediate(resolve));
        }
        assert.equal((await call).replacements, 5_000);
      }
      assert.ok(seen.size > 1);
    }),
  );

  test(
    "what readFile shows after an edit is the replacement in what it showed before",
    inWorkspace(async (ws) => {
      for (const content of ["\ufeffa\r\nx\u2028y\rz\nb", "x\n", "x", "1\r\nx\r\n"]) {
        ws.write("a.txt", content);
        const before = (await readFile(ws.writable, "a.txt")).content;
        const edit = {
          old_string: "x",
          new_string: "1\n$&\n2",
        } satisfies Partial<EditFileArguments>;
        await editFile(ws.writable, { path: "a.txt", ...edit });
        const after = (await readFile(ws.writable, "a.txt")).content;
        assert.equal(after, before.split("x").join("1\n$&\n2"));
      }
    }),
  );
});
