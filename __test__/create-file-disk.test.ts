// Disks: full, read-only, and another disk than the temporary folder's; syncing, the umask, and killed
// processes. docs/contract.md §5, cases K of docs/cases.md.

import assert from "node:assert/strict";
import fs from "node:fs";
import { describe, test } from "node:test";
import { type CreateFileResult, createFile, Workspace } from "../index.js";
import {
  alongside,
  answerOf,
  countCalls,
  createInChild,
  createWithFaults,
  playMounted,
  startScene,
} from "./support/child.ts";
import { checkResult, sha256, temporaries } from "./support/create.ts";
import { noExchange } from "./support/linux.ts";
import { noMounts, noStrace, notLinux, notPosix } from "./support/platform.ts";
import { Random } from "./support/random.ts";
import { treeOf } from "./support/tree.mjs";
import { inWorkspace, type TestWorkspace } from "./support/workspace.ts";

/** One step in a mounted root: something arranged, or a create. */
type Step =
  | { write: string; text: string }
  | { folder: string }
  | { remove: string }
  | { mount: string }
  | {
      create: { path: string; content: string; overwrite?: boolean; expectedHash?: string };
      sync?: boolean;
    };

interface Look {
  result: CreateFileResult;
  before: Record<string, string>;
  after: Record<string, string>;
}

describe("a disk of one's own", { skip: noMounts }, () => {
  /** Plays the steps in a root that is a tmpfs with these options, and gives what came of each create. */
  async function onDisk(ws: TestWorkspace, options: string, steps: Step[]): Promise<Look[]> {
    const job = { root: ws.root, context: ws.writable, steps };
    const ended = await playMounted(options, ws.root, "mounted", job);
    const looks = answerOf<Look[]>(ended);
    assert.deepEqual(fs.readdirSync(ws.root), [], "all this was on the child's own disk");
    for (const { result } of looks) checkResult(result, ws.hidden);
    return looks;
  }

  /** Demands that a create failed with `code` and left no trace. */
  function failed(look: Look | undefined, code: string): void {
    assert.ok(look, "the child told of this create");
    assert.equal(look.result.errorCode, code, look.result.message);
    assert.deepEqual(look.after, look.before, "old bytes kept, no temporary, no folder");
  }

  for (const sync of [false, true]) {
    const way = sync ? "createFileSync" : "createFile";

    test(
      `K06: ${way}: no room for an overwrite is WriteFailed, and the old file is kept`,
      inWorkspace(async (ws) => {
        const create = { path: "old.txt", content: "n".repeat(60_000), overwrite: true };
        const [look] = await onDisk(ws, "size=64k", [
          { write: "old.txt", text: "o".repeat(20_000) },
          { create, sync },
        ]);
        failed(look, "WriteFailed");
      }),
    );

    test(
      `K06: ${way}: no room for a new file is WriteFailed, and its new folders go again`,
      inWorkspace(async (ws) => {
        const content = "n".repeat(30_000);
        const looks = await onDisk(ws, "size=16k", [
          { folder: "kept" },
          { create: { path: "new.txt", content }, sync },
          { create: { path: "new/deep/er/new.txt", content }, sync },
          { create: { path: "kept/deep/new.txt", content }, sync },
        ]);
        for (const look of looks) failed(look, "WriteFailed");
      }),
    );
  }

  test(
    "K06: no room for an overwrite with expectedHash is WriteFailed, and the old file is kept",
    inWorkspace(async (ws) => {
      const text = "o".repeat(20_000);
      const create = { path: "old.txt", content: "n".repeat(60_000), overwrite: true };
      const [look] = await onDisk(ws, "size=64k", [
        { write: "old.txt", text },
        { create: { ...create, expectedHash: sha256(text) } },
      ]);
      failed(look, "WriteFailed");
    }),
  );

  test(
    "K06: a disk that has room again is written to",
    inWorkspace(async (ws) => {
      const create = { path: "new.txt", content: "n".repeat(40_000) };
      const [full, done] = await onDisk(ws, "size=64k", [
        { write: "big.txt", text: "b".repeat(40_000) },
        { create },
        { remove: "big.txt" },
        { create },
      ]);
      failed(full, "WriteFailed");
      assert.equal(done?.result.errorCode, null, String(done?.result.message));
    }),
  );

  test(
    "K06: no inode for the file is WriteFailed, and the folder made for it goes again",
    inWorkspace(async (ws) => {
      const looks = await onDisk(ws, "nr_inodes=2", [
        { create: { path: "dir/new.txt", content: "n" } },
        { write: "old.txt", text: "old" },
        { create: { path: "new.txt", content: "n" } },
        { create: { path: "old.txt", content: "n", overwrite: true } },
      ]);
      for (const look of looks) failed(look, "WriteFailed");
    }),
  );

  test(
    "K06: no inode for a folder is DirectoryCreateFailed, and the folders above go again",
    inWorkspace(async (ws) => {
      const create = { path: "a/b/c/new.txt", content: "n" };
      failed((await onDisk(ws, "nr_inodes=3", [{ create }]))[0], "DirectoryCreateFailed");
    }),
  );

  test(
    "a read-only file system: WriteFailed for a file, DirectoryCreateFailed for a folder",
    inWorkspace(async (ws) => {
      const [file, folder, deep, over, guarded, exists, isFolder] = await onDisk(ws, "size=64k", [
        { write: "old.txt", text: "old" },
        { folder: "dir" },
        { mount: "remount,ro" },
        { create: { path: "new.txt", content: "n" } },
        { create: { path: "new/new.txt", content: "n" } },
        { create: { path: "dir/deep/er/new.txt", content: "n" } },
        { create: { path: "old.txt", content: "n", overwrite: true } },
        { create: { path: "old.txt", content: "n", overwrite: true, expectedHash: sha256("old") } },
        { create: { path: "old.txt", content: "n" } },
        { create: { path: "dir", content: "n", overwrite: true } },
      ]);
      failed(file, "WriteFailed");
      failed(folder, "DirectoryCreateFailed");
      failed(deep, "DirectoryCreateFailed");
      failed(over, "WriteFailed");
      failed(guarded, "WriteFailed");
      failed(exists, "FileExists");
      failed(isFolder, "InvalidPath");
    }),
  );

  test(
    "K08: a workspace on another disk than the temporary folder's is created in and overwritten",
    inWorkspace(async (ws) => {
      const looks = await onDisk(ws, "size=1m", [
        { create: { path: "dir/a.txt", content: "a" } },
        { create: { path: "dir/a.txt", content: "b", overwrite: true } },
        { create: { path: "dir/a.txt", content: "c", overwrite: true, expectedHash: sha256("b") } },
      ]);
      for (const { result, after } of looks) {
        assert.equal(result.errorCode, null, result.message);
        assert.deepEqual(Object.keys(after), ["dir", "dir/a.txt"]);
      }
    }),
  );
});

describe("durability", { skip: noStrace }, () => {
  const SYNCS = ["fsync", "fdatasync", "syncfs", "sync"];

  async function syncs(ws: TestWorkspace, args: object, settings: object): Promise<number> {
    const context = { ...ws.writable, ...settings };
    return countCalls({ creates: [{ context, args }] }, SYNCS);
  }

  for (const [name, args] of [
    ["a new file", { path: "new.txt", content: "new" }],
    ["an overwrite", { path: "old.txt", content: "new", overwrite: true }],
  ] as const) {
    for (const settings of [{}, { durability: "full" }]) {
      test(
        `${name} syncs file and folder before success is reported: ${JSON.stringify(settings)}`,
        { timeout: 15_000 },
        inWorkspace(async (ws) => {
          ws.write("old.txt", "old");
          const count = await syncs(ws, args, settings);
          assert.ok(count >= 2, `${count} syncs`);
        }),
      );
    }

    test(
      `${name} syncs nothing with durability none`,
      { timeout: 15_000 },
      inWorkspace(async (ws) => {
        ws.write("old.txt", "old");
        assert.equal(await syncs(ws, args, { durability: "none" }), 0);
      }),
    );
  }

  test(
    "a folder that is made is synced into its parent, too",
    { timeout: 15_000 },
    inWorkspace(async (ws) => {
      const count = await syncs(ws, { path: "new/new.txt", content: "new" }, {});
      assert.ok(count >= 3, `${count} syncs: file, new folder, and the folder that has it`);
    }),
  );
});

describe("a system call that always fails", { skip: noStrace }, () => {
  /** What the job tries, and the text that stands there before it. */
  const TRIES = [
    { args: { path: "new.txt", content: "new" }, old: null },
    { args: { path: "made/deep/new.txt", content: "new" }, old: null },
    { args: { path: "old.txt", content: "new", overwrite: true }, old: "old" },
    {
      args: { path: "known.txt", content: "new", overwrite: true, expectedHash: sha256("old") },
      old: "old",
    },
  ];

  for (const [call, error] of [
    ["fsync", "EIO"],
    ["linkat", "EIO"],
    ["linkat", "EPERM"],
    ["renameat2", "EIO"],
    ["renameat2", "EINVAL"],
    ["mkdirat", "EACCES"],
    ["mkdirat", "ENOSPC"],
    ["fchmod", "EPERM"],
    ["fchown", "EPERM"],
    ["flistxattr", "EOPNOTSUPP"],
    ["flock", "ENOLCK"],
    ["faccessat2", "EIO"],
  ] as const) {
    test(
      `${call}, ${error}: each file is whole, old or new, as the result says; nothing else is left`,
      { timeout: 15_000 },
      inWorkspace(async (ws) => {
        for (const { args, old } of TRIES) if (old !== null) ws.write(args.path, old);
        const creates = TRIES.map(({ args }) => ({ context: ws.writable, args }));
        const results = await createWithFaults({ creates }, `${call}:error=${error}`);
        const expected: string[] = [];
        for (const [i, { args, old }] of TRIES.entries()) {
          const result = checkResult(results[i], ws.hidden);
          const there = fs.existsSync(ws.at(args.path));
          const now = there ? fs.readFileSync(ws.at(args.path), "utf8") : null;
          assert.equal(now, result.success ? "new" : old, `${args.path}: ${result.message}`);
          const codes = ["WriteFailed", "DirectoryCreateFailed", null];
          assert.ok(codes.includes(result.errorCode), JSON.stringify(result));
          if (there) expected.push(args.path);
        }
        const files = fs.readdirSync(ws.root, { recursive: true }).map(String);
        const made = expected.includes("made/deep/new.txt") ? ["made", "made/deep"] : [];
        assert.deepEqual(files.sort(), [...expected, ...made].sort());
      }),
    );
  }
});

/** Without an exchange of names a replaced file is gone: the next test but one. */
const noTakingBack = await noExchange();

describe("a folder that cannot be synced", { skip: noStrace }, () => {
  /** The first sync is the file's own. */
  const FAULT = "fsync:error=EIO:when=2+";

  /** Creates in `ws` with these faults, and gives the message of the WriteFailed that must come. */
  async function failing(ws: TestWorkspace, args: object, ...faults: string[]): Promise<string> {
    const creates = [{ context: ws.writable, args }];
    const [result] = await createWithFaults({ creates }, FAULT, ...faults);
    const { errorCode, message } = checkResult(result, ws.hidden);
    assert.equal(errorCode, "WriteFailed", message);
    return message;
  }

  test(
    "a new file goes again",
    { timeout: 15_000 },
    inWorkspace(async (ws) => {
      assert.doesNotMatch(await failing(ws, { path: "new.txt", content: "new" }), /was written/);
      assert.deepEqual(fs.readdirSync(ws.root), []);
    }),
  );

  test(
    "a replaced file is put back",
    { skip: noTakingBack, timeout: 15_000 },
    inWorkspace(async (ws) => {
      const target = ws.write("old.txt", "old");
      const args = { path: "old.txt", content: "new", overwrite: true };
      assert.doesNotMatch(await failing(ws, args), /was written/);
      assert.equal(fs.readFileSync(target, "utf8"), "old");
      assert.deepEqual(fs.readdirSync(ws.root), ["old.txt"]);
    }),
  );

  test(
    "a file that was replaced where names cannot be exchanged stays, and the message says so",
    { timeout: 15_000 },
    inWorkspace(async (ws) => {
      const target = ws.write("old.txt", "old");
      const args = { path: "old.txt", content: "new", overwrite: true };
      const message = await failing(ws, args, "renameat2:error=EINVAL");
      assert.match(message, /the file was written, but .*could not be synced/);
      assert.equal(fs.readFileSync(target, "utf8"), "new");
      assert.deepEqual(fs.readdirSync(ws.root), ["old.txt"]);
    }),
  );
});

describe("the umask", { skip: notPosix }, () => {
  for (const [umask, file, folder] of [
    [0o000, 0o666, 0o777],
    [0o022, 0o644, 0o755],
    [0o027, 0o640, 0o750],
    [0o077, 0o600, 0o700],
    [0o002, 0o664, 0o775],
  ] as const) {
    const name = umask.toString(8).padStart(3, "0");

    test(
      `${name} is respected: files ${file.toString(8)}, folders ${folder.toString(8)}`,
      inWorkspace(async (ws) => {
        ws.write("old.txt", "old");
        const args = { path: "a/b/new.txt", content: "new", overwrite: true };
        const results = await createInChild({
          creates: [
            { context: ws.writable, args },
            { context: ws.writable, args: { ...args, path: "top.txt" } },
          ],
          umask,
        });
        for (const result of results) assert.equal(result.errorCode, null, result.message);
        const modes = Object.fromEntries(
          ["a", "a/b", "a/b/new.txt", "top.txt"].map((made) => [
            made,
            (fs.statSync(ws.at(made)).mode & 0o7777).toString(8),
          ]),
        );
        assert.deepEqual(modes, {
          a: folder.toString(8),
          "a/b": folder.toString(8),
          "a/b/new.txt": file.toString(8),
          "top.txt": file.toString(8),
        });
      }),
    );
  }
});

describe("kill -9", { skip: notPosix }, () => {
  const SIZE = 150_000;
  const PARALLEL = 2;

  /** Starts `kills` writers, two at a time, kills each after a moment, and looks at what it leaves. */
  async function killed(kills: number, job: object, look: () => void): Promise<void> {
    const random = new Random(9);
    for (let done = 0; done < kills; done += PARALLEL) {
      const writers = Array.from({ length: PARALLEL }, () => startScene("hammer", job));
      await Promise.all(
        writers.map(async (writer) => {
          await writer.ready;
          await new Promise((resolve) => setTimeout(resolve, 2 + random.below(25)));
          const { code, stderr } = await writer.kill();
          assert.equal(code, "SIGKILL", `a writer failed: ${stderr}`);
        }),
      );
      look();
    }
  }

  for (const durability of ["full", "none"]) {
    test(
      `no new file is ever partial, and no temporary is left, with durability ${durability}`,
      { timeout: 30_000 },
      inWorkspace(async (ws) => {
        ws.folder("dir");
        const job = { context: { ...ws.writable, durability }, path: "dir", size: SIZE };
        let made = 0;
        await killed(10, job, () => {
          for (const name of fs.readdirSync(ws.at("dir"))) {
            assert.match(name, notLinux ? /^/ : /^\d+-\d+\.txt$/, "no temporary");
            if (!name.endsWith(".txt")) continue;
            assert.equal(fs.statSync(ws.at(`dir/${name}`)).size, SIZE, `${name} is partial`);
            made++;
          }
        });
        assert.ok(made > 0, "the writers wrote");
      }),
    );

    test(
      `an overwritten file is always one whole version, and leftovers go, with durability ${durability}`,
      { timeout: 30_000 },
      inWorkspace(async (ws) => {
        const target = ws.write("dir/a.txt", "A".repeat(SIZE));
        const context = { ...ws.writable, durability };
        const job = { context, path: "dir/a.txt", size: SIZE, overwrite: true };
        await killed(10, job, () => {
          const text = fs.readFileSync(target, "utf8");
          assert.ok(
            ["A", "B"].some((letter) => text === letter.repeat(SIZE)),
            `${text.length}`,
          );
        });
        const args = { path: "dir/a.txt", content: "last", overwrite: true };
        const result = checkResult(await createFile(ws.writable, args));
        assert.equal(result.errorCode, null, result.message);
        assert.deepEqual(fs.readdirSync(ws.at("dir")), ["a.txt"]);
        assert.deepEqual(Object.keys(treeOf(ws.root)), ["dir", "dir/a.txt"]);
      }),
    );
  }

  test(
    "leftovers of a killed overwrite go, while the temporaries of those that live stay",
    { timeout: 30_000 },
    inWorkspace(async (ws) => {
      ws.write("dir/a.txt", "A".repeat(SIZE));
      ws.write("dir/b.txt", "A".repeat(SIZE));
      const hammer = { context: ws.writable, size: SIZE, overwrite: true };
      await alongside("hammer", { ...hammer, path: "dir/b.txt" }, () =>
        killed(6, { ...hammer, path: "dir/a.txt" }, () => {
          assert.equal(fs.statSync(ws.at("dir/b.txt")).size, SIZE);
        }),
      );
      const workspace = Workspace.open(ws.root);
      const args = { path: "dir/a.txt", content: "last", overwrite: true };
      assert.equal((await createFile(workspace, args)).errorCode, null);
      workspace.close();
      assert.deepEqual(temporaries(ws.at("dir")), []);
      assert.deepEqual(fs.readdirSync(ws.at("dir")).sort(), ["a.txt", "b.txt"]);
    }),
  );
});
