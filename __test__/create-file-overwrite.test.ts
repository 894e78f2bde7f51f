// Overwriting: the properties that a file keeps and loses, the content for readers meanwhile, and leftovers.
// docs/contract.md §5, cases K and L of docs/cases.md.

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { describe, test } from "node:test";
import type { CreateFileResult } from "../index.js";
import { createFile, createFileSync, Workspace } from "../index.js";
import { alongside, briefly, createInChild, watching } from "./support/child.ts";
import { checkResult, inEveryWay, sha256, temporaries } from "./support/create.ts";
import { holdLease, noLeases } from "./support/linux.ts";
import {
  getXattr,
  noAppendOnly,
  noImmutable,
  noPermissions,
  noSymlinks,
  notPosix,
  notRoot,
  noXattrs,
  setAppendOnly,
  setImmutable,
  setXattr,
  UNPRIVILEGED,
} from "./support/platform.ts";
import { rejectionValue } from "./support/read.ts";
import { treeOf } from "./support/tree.mjs";
import { inWorkspace, type TestWorkspace } from "./support/workspace.ts";

const modeOf = (absolute: string) => fs.statSync(absolute).mode & 0o7777;

describe("permission bits", { skip: notPosix }, () => {
  for (const mode of [0o755, 0o600, 0o640, 0o664, 0o666, 0o777, 0o700]) {
    test(
      `L01: ${mode.toString(8)} is kept`,
      inEveryWay(async (creator) => {
        fs.chmodSync(creator.ws.write("run.sh", "old"), mode);
        await creator.creates(
          { path: "run.sh", content: "new", overwrite: true },
          { bytes: "new" },
        );
        assert.equal(modeOf(creator.ws.at("run.sh")).toString(8), mode.toString(8));
      }),
    );
  }

  for (const [mode, kept] of [
    [0o4755, 0o755],
    [0o2755, 0o755],
    [0o6711, 0o711],
  ] as const) {
    test(
      `L01: of ${mode.toString(8)} only ${kept.toString(8)} is kept: new bytes are not to be trusted so far`,
      inEveryWay(async (creator) => {
        fs.chmodSync(creator.ws.write("run.sh", "old"), mode);
        await creator.creates(
          { path: "run.sh", content: "new", overwrite: true },
          { bytes: "new" },
        );
        assert.equal(modeOf(creator.ws.at("run.sh")).toString(8), kept.toString(8));
      }),
    );
  }

  test(
    "L01: a strict umask takes nothing from the bits kept",
    inWorkspace(async (ws) => {
      fs.chmodSync(ws.write("a.txt", "old"), 0o666);
      const args = { path: "a.txt", content: "new", overwrite: true };
      const [result] = await createInChild({
        creates: [{ context: ws.writable, args }],
        umask: 0o77,
      });
      assert.equal(result?.success, true, JSON.stringify(result));
      assert.equal(modeOf(ws.at("a.txt")).toString(8), "666");
    }),
  );
});

describe("owner and attributes", () => {
  test(
    "L06: as root, owner and group are kept, and the permission bits with them",
    { skip: notRoot },
    inEveryWay(async (creator) => {
      const target = creator.ws.write("a.txt", "old");
      fs.chownSync(target, 1234, 4321);
      fs.chmodSync(target, 0o640);
      await creator.creates({ path: "a.txt", content: "new", overwrite: true }, { bytes: "new" });
      const { uid, gid } = fs.statSync(target);
      assert.deepEqual({ uid, gid, mode: modeOf(target) }, { uid: 1234, gid: 4321, mode: 0o640 });
    }),
  );

  test(
    "L06: an extended attribute is kept",
    { skip: noXattrs },
    inWorkspace(async (ws) => {
      setXattr(ws.write("a.txt", "old"), "user.origin", "imported");
      const args = { path: "a.txt", content: "new", overwrite: true };
      assert.equal(checkResult(await createFile(ws.writable, args)).overwritten, true);
      assert.equal(getXattr(ws.at("a.txt"), "user.origin"), "imported");
      assert.equal(fs.readFileSync(ws.at("a.txt"), "utf8"), "new");
    }),
  );

  test(
    "L06: extended attributes of a file that the user may not write to again are kept too",
    { skip: noXattrs || notRoot },
    inWorkspace(async (ws) => {
      const target = ws.write("a.txt", "old");
      setXattr(target, "user.origin", "imported");
      fs.chownSync(target, 1234, 4321);
      fs.chmodSync(target, 0o400);
      const args = { path: "a.txt", content: "new", overwrite: true };
      const result = checkResult(createFileSync(ws.writable, args));
      if (result.success) assert.equal(getXattr(target, "user.origin"), "imported");
      else assert.equal(result.errorCode, "WriteFailed");
    }),
  );
});

describe("hard links", { skip: notPosix }, () => {
  test(
    "L04: the link parts, and the other name keeps the old text",
    inEveryWay(async (creator) => {
      creator.ws.write("one.txt", "old");
      fs.linkSync(creator.ws.at("one.txt"), creator.ws.at("two.txt"));
      await creator.creates({ path: "one.txt", content: "new", overwrite: true }, { bytes: "new" });
      assert.equal(fs.readFileSync(creator.ws.at("two.txt"), "utf8"), "old");
      assert.equal(fs.statSync(creator.ws.at("one.txt")).nlink, 1);
    }),
  );

  test(
    "L04: a hard link to a file outside leaves that file alone",
    inEveryWay(async (creator) => {
      fs.linkSync(creator.ws.writeOutside("v.txt", "old"), creator.ws.at("a.txt"));
      await creator.creates({ path: "a.txt", content: "new", overwrite: true }, { bytes: "new" });
      assert.equal(fs.readFileSync(path.join(creator.ws.outside, "v.txt"), "utf8"), "old");
    }),
  );
});

describe("the content of the old file does not matter", () => {
  for (const [name, old] of [
    ["empty", ""],
    ["binary", new Uint8Array([0, 0xff, 0xfe, 0x80])],
    ["larger than can be read", "a".repeat(2_000_000)],
  ] as const) {
    test(
      `an old file that is ${name} is replaced whole`,
      inEveryWay(async (creator) => {
        creator.ws.write("a.txt", old);
        await creator.creates({ path: "a.txt", content: "new", overwrite: true }, { bytes: "new" });
      }),
    );
  }

  test(
    "a program that has the old file open still reads its bytes",
    { skip: notPosix },
    inEveryWay(async (creator) => {
      const fd = fs.openSync(creator.ws.write("a.txt", "old and longer"), "r");
      await creator.creates({ path: "a.txt", content: "new", overwrite: true }, { bytes: "new" });
      assert.equal(fs.readFileSync(fd, "utf8"), "old and longer");
      fs.closeSync(fd);
    }),
  );
});

describe("permission", { skip: noPermissions }, () => {
  /** Creates as a user whom the permission bits bind and who owns the whole workspace. */
  async function asUser(
    ws: TestWorkspace,
    args: object,
    arrange: () => void = () => undefined,
  ): Promise<CreateFileResult> {
    fs.chmodSync(ws.base, 0o755);
    if (UNPRIVILEGED !== null) own(ws.root, UNPRIVILEGED);
    arrange();
    const [result] = await createInChild({
      creates: [{ context: ws.writable, args }],
      user: UNPRIVILEGED,
    });
    return checkResult(result, ws.hidden);
  }

  function own(absolute: string, user: number): void {
    fs.lchownSync(absolute, user, user);
    if (!fs.lstatSync(absolute).isDirectory()) return;
    for (const name of fs.readdirSync(absolute)) own(path.join(absolute, name), user);
  }

  test(
    "the unprivileged child can create and overwrite files that it may write",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "old");
      const args = { path: "a.txt", content: "new", overwrite: true };
      assert.equal((await asUser(ws, args)).overwritten, true);
      assert.equal((await asUser(ws, { path: "d/b.txt", content: "b" })).created, true);
    }),
  );

  for (const mode of [0o444, 0o400, 0o000, 0o555]) {
    test(
      `L09, M01: a target with ${mode.toString(8).padStart(3, "0")} is WriteFailed and unchanged`,
      inWorkspace(async (ws) => {
        const target = ws.write("a.txt", "old");
        fs.chmodSync(target, mode);
        const args = { path: "a.txt", content: "new", overwrite: true };
        let before: object = {};
        const result = await asUser(ws, args, () => {
          before = treeOf(ws.root);
        });
        assert.equal(result.errorCode, "WriteFailed", result.message);
        assert.deepEqual(treeOf(ws.root), before);
      }),
    );
  }

  test(
    "a target that may be written but not read cannot be compared, and the message says so",
    inWorkspace(async (ws) => {
      const target = ws.write("a.txt", "old");
      fs.chmodSync(target, 0o222);
      const expectedHash = sha256("old");
      const args = { path: "a.txt", content: "new", overwrite: true, expectedHash };
      const result = await asUser(ws, args);
      assert.equal(result.errorCode, "WriteFailed");
      assert.match(result.message, /may not be read, and so cannot be compared with expectedHash/);
      assert.deepEqual(fs.readdirSync(ws.root), ["a.txt"]);
    }),
  );

  for (const [name, linked] of [
    ["by its name", null],
    ["by a link", "dir/a.txt"],
    ["by an absolute link", ""],
  ] as const) {
    test(
      `in a folder that may be written but not listed a file is overwritten ${name}`,
      { skip: noSymlinks },
      inWorkspace(async (ws) => {
        const target = ws.write("dir/a.txt", "old");
        if (linked !== null) ws.link("l", linked || target);
        const path = linked === null ? "dir/a.txt" : "l";
        const result = await asUser(ws, { path, content: "new", overwrite: true }, () =>
          fs.chmodSync(ws.at("dir"), 0o333),
        );
        fs.chmodSync(ws.at("dir"), 0o755);
        assert.equal(result.errorCode, null, result.message);
        assert.equal(fs.readFileSync(target, "utf8"), "new");
        assert.deepEqual(fs.readdirSync(ws.at("dir")), ["a.txt"]);
      }),
    );
  }

  test(
    "L09: a target that may be written but not read is overwritten, and keeps its bits",
    inWorkspace(async (ws) => {
      fs.chmodSync(ws.write("a.txt", "old"), 0o222);
      const result = await asUser(ws, { path: "a.txt", content: "new", overwrite: true });
      assert.equal(result.errorCode, null, result.message);
      assert.equal(modeOf(ws.at("a.txt")), 0o222);
    }),
  );

  test(
    "M12: a target without write permission is FileExists without overwrite",
    inWorkspace(async (ws) => {
      fs.chmodSync(ws.write("a.txt", "old"), 0o444);
      assert.equal((await asUser(ws, { path: "a.txt", content: "new" })).errorCode, "FileExists");
    }),
  );

  for (const [name, asked, code] of [
    ["a new file in it", "dir/new.txt", "WriteFailed"],
    ["a new folder in it", "dir/sub/new.txt", "DirectoryCreateFailed"],
  ] as const) {
    test(
      `a folder without write permission: ${name} is ${code}`,
      inWorkspace(async (ws) => {
        fs.chmodSync(ws.folder("dir"), 0o555);
        const result = await asUser(ws, { path: asked, content: "new" });
        assert.equal(result.errorCode, code, result.message);
        assert.deepEqual(Object.keys(treeOf(ws.root)), ["dir"]);
      }),
    );
  }

  test(
    "a folder without write permission: a file in it is overwritten whole or kept whole",
    inWorkspace(async (ws) => {
      const target = ws.write("dir/a.txt", "old");
      fs.chmodSync(ws.at("dir"), 0o555);
      const result = await asUser(ws, { path: "dir/a.txt", content: "new", overwrite: true });
      assert.ok(["WriteFailed", null].includes(result.errorCode), result.message);
      assert.equal(fs.readFileSync(target, "utf8"), result.success ? "new" : "old");
      assert.deepEqual(fs.readdirSync(ws.at("dir")), ["a.txt"]);
    }),
  );

  test(
    "a folder that may be written but not listed takes a new file",
    inWorkspace(async (ws) => {
      fs.chmodSync(ws.folder("dir"), 0o300);
      const result = await asUser(ws, { path: "dir/a.txt", content: "new" });
      assert.equal(result.errorCode, null, result.message);
      assert.equal(fs.readFileSync(ws.at("dir/a.txt"), "utf8"), "new");
    }),
  );

  test(
    "a folder that may not be searched is refused, and nothing in it changes",
    inWorkspace(async (ws) => {
      const target = ws.write("dir/a.txt", "old");
      fs.chmodSync(ws.at("dir"), 0o600);
      const result = await asUser(ws, { path: "dir/a.txt", content: "new", overwrite: true });
      assert.ok(
        ["WriteFailed", "DirectoryCreateFailed"].includes(result.errorCode ?? ""),
        result.message,
      );
      assert.equal(fs.readFileSync(target, "utf8"), "old");
    }),
  );
});

describe("a file on which another process holds a lease", { skip: await noLeases() }, () => {
  const args = { path: "a.txt", content: "new", overwrite: true };

  /** Runs `body` in a workspace while a child has a lease on a.txt, and for `grace` seconds after it is asked. */
  function whileLeased(grace: number | undefined, body: (ws: TestWorkspace) => Promise<void>) {
    return inWorkspace(async (ws) => {
      const holder = holdLease(ws.write("a.txt", "leased"), grace);
      await holder.ready;
      try {
        await body(ws);
        assert.deepEqual(fs.readdirSync(ws.root), ["a.txt"]);
      } finally {
        await holder.kill();
      }
    });
  }

  test(
    "is overwritten as soon as the holder gives it up",
    { timeout: 10_000 },
    whileLeased(0.1, async (ws) => {
      const { errorCode, message } = checkResult(await createFile(ws.writable, args));
      assert.equal(errorCode, null, message);
      assert.equal(fs.readFileSync(ws.at("a.txt"), "utf8"), "new");
    }),
  );

  test(
    "is WriteFailed for the sake of a lease where the holder keeps it",
    { timeout: 10_000 },
    whileLeased(undefined, async (ws) => {
      const { errorCode, message } = checkResult(await createFile(ws.writable, args));
      assert.equal(errorCode, "WriteFailed");
      assert.match(message, /\blease\b/);
    }),
  );

  test(
    "an abort ends the waiting at once",
    { timeout: 10_000 },
    whileLeased(undefined, async (ws) => {
      const controller = new AbortController();
      const context = { ...ws.writable, signal: controller.signal };
      const pending = rejectionValue(() => createFile(context, args));
      await new Promise((resolve) => setTimeout(resolve, 100));
      controller.abort("enough");
      assert.equal(await pending, "enough");
    }),
  );
});

describe("an append-only folder", { skip: noAppendOnly }, () => {
  /** Runs `body` while a folder is append-only, and lets go of it so that the workspace can be removed. */
  async function whileAppendOnly(absolute: string, body: () => Promise<unknown>): Promise<void> {
    setAppendOnly(absolute, true);
    try {
      await body();
    } finally {
      setAppendOnly(absolute, false);
    }
  }

  test(
    "an overwrite is WriteFailed, and leaves no temporary file that cannot be removed",
    inEveryWay(async (creator) => {
      creator.ws.write("dir/a.txt", "old");
      const args = { path: "dir/a.txt", content: "new", overwrite: true };
      await whileAppendOnly(creator.ws.at("dir"), async () => {
        await creator.refuses(args, "WriteFailed", /append-only/);
        const expectedHash = sha256("old");
        await creator.refuses({ ...args, expectedHash }, "WriteFailed", /append-only/);
      });
      await creator.creates(args, { bytes: "new" });
    }),
  );

  test(
    "a new file is created in it, and in a new folder",
    inEveryWay(async (creator) => {
      creator.ws.folder("dir");
      await whileAppendOnly(creator.ws.at("dir"), async () => {
        await creator.creates({ path: "dir/a.txt", content: "a" }, { bytes: "a" });
        await creator.creates({ path: "dir/sub/b.txt", content: "b" }, { bytes: "b" });
        await creator.refuses({ path: "dir/a.txt", content: "b" }, "FileExists");
      });
    }),
  );
});

describe("files and folders that not even root may change", { skip: noImmutable }, () => {
  /** Runs `body` while something is immutable, and lets go of it so that the workspace can be removed. */
  async function whileImmutable(absolute: string, body: () => Promise<unknown>): Promise<void> {
    setImmutable(absolute, true);
    try {
      await body();
    } finally {
      setImmutable(absolute, false);
    }
  }

  test(
    "an immutable file is WriteFailed, unchanged, and no temporary is left",
    inEveryWay(async (creator) => {
      const target = creator.ws.write("a.txt", "old");
      const args = { path: "a.txt", content: "new", overwrite: true };
      await whileImmutable(target, () => creator.refuses(args, "WriteFailed"));
    }),
  );

  test(
    "an immutable folder: a new file is WriteFailed, a new folder DirectoryCreateFailed",
    inEveryWay(async (creator) => {
      creator.ws.write("dir/a.txt", "old");
      await whileImmutable(creator.ws.at("dir"), async () => {
        await creator.refuses({ path: "dir/b.txt", content: "b" }, "WriteFailed");
        await creator.refuses({ path: "dir/sub/b.txt", content: "b" }, "DirectoryCreateFailed");
      });
    }),
  );
});

describe("temporaries", () => {
  test(
    "K01: after 100 creates and 100 overwrites only the targets are there",
    inWorkspace(async (ws) => {
      const context = { ...ws.writable, durability: "none" } as const;
      const names = Array.from({ length: 100 }, (_, i) => `file-${i}.txt`);
      for (const overwrite of [false, true]) {
        for (const name of names) {
          const args = { path: name, content: `${overwrite}`, overwrite };
          assert.equal((await createFile(context, args)).success, true);
          assert.deepEqual(temporaries(ws.root), []);
        }
      }
      assert.deepEqual(fs.readdirSync(ws.root).sort(), names.sort());
    }),
  );

  test(
    "K10: if another program removes temporaries, the answer is at worst a clean WriteFailed",
    { timeout: 15_000, skip: notPosix },
    inWorkspace(async (ws) => {
      ws.write("a.txt", "old");
      const context = { ...ws.writable, durability: "none" } as const;
      let now = "old";
      await alongside("tidy", { root: ws.root }, async () => {
        for (let i = 0; i < 300; i++) {
          const content = `version ${i}`;
          const result = await createFile(context, { path: "a.txt", content, overwrite: true });
          assert.ok([null, "WriteFailed"].includes(result.errorCode), JSON.stringify(result));
          if (result.success) now = content;
          assert.equal(fs.readFileSync(ws.at("a.txt"), "utf8"), now);
        }
      });
      assert.deepEqual(fs.readdirSync(ws.root), ["a.txt"]);
    }),
  );

  test(
    "a user's file whose name merely begins like a temporary's survives",
    inEveryWay(async (creator) => {
      const longAgo = 1_000_000;
      for (const name of [
        ".rf-",
        ".rf-notes",
        ".rf-1",
        ".rf-0123456789abcdef",
        ".rf-0123456789abcdef0123456789abcdef",
        ".rf-AbCdEfGh",
        ".rf-12345-67890",
        `.rf-${process.pid}`,
        `.rf-${process.pid}-0`,
      ]) {
        for (const [folder, mode] of [
          ["", 0o644],
          ["private/", 0o600],
        ] as const) {
          const target = creator.ws.write(`${folder}${name}`, "mine");
          fs.chmodSync(target, mode);
          fs.utimesSync(target, longAgo, longAgo);
        }
      }
      for (const folder of ["", "private/"]) {
        const args = { path: `${folder}a.txt`, content: "a", overwrite: true };
        await creator.creates(args, { bytes: "a" });
        await creator.creates({ ...args, content: "b" }, { bytes: "b" });
      }
    }),
  );

  test(
    "a user's empty file and folder of such a name survive",
    inEveryWay(async (creator) => {
      creator.ws.write(".rf-0123456789abcdef", "");
      creator.ws.folder(".rf-fedcba9876543210");
      creator.ws.write("a.txt", "old");
      await creator.creates({ path: "a.txt", content: "new", overwrite: true }, { bytes: "new" });
    }),
  );

  test(
    "a user's file survives under the very name that a temporary once had",
    { timeout: 20_000, skip: notPosix },
    inWorkspace(async (ws) => {
      ws.write("dir/a.txt", "A".repeat(900_000));
      const job = { context: ws.writable, path: "dir/a.txt", size: 900_000, overwrite: true };
      const names = new Set<string>();
      await alongside("hammer", job, async () => {
        const until = performance.now() + 1_500;
        while (performance.now() < until && names.size < 5) {
          for (const name of fs.readdirSync(ws.at("dir"))) if (name !== "a.txt") names.add(name);
          await new Promise((resolve) => setImmediate(resolve));
        }
      });
      for (const name of fs.readdirSync(ws.at("dir"))) {
        if (name !== "a.txt") fs.unlinkSync(ws.at(`dir/${name}`));
      }
      // The inodes of temporaries that are gone are free; the user's files are to have others.
      for (let i = 0; i < 50; i++) ws.write(`dir/filler-${i}`, "");
      for (const name of names) {
        assert.match(name, /^\.rf-.{1,40}$/, "a temporary's name is short and ours");
        fs.utimesSync(ws.write(`dir/${name}`, "mine"), 1_000_000, 1_000_000);
      }
      const before = treeOf(ws.root);
      for (let i = 0; i < 3; i++) {
        const args = { path: "dir/a.txt", content: `${i}`, overwrite: true };
        assert.equal(checkResult(await createFile(ws.writable, args)).overwritten, true);
      }
      Workspace.open(ws.root).close();
      const after = treeOf(ws.root);
      for (const name of names) assert.equal(after[`dir/${name}`], before[`dir/${name}`]);
      assert.deepEqual(Object.keys(after), Object.keys(before), "and no temporary is left");
    }),
  );
});

describe("readers", () => {
  for (const [name, sizes] of [
    ["of one size", [200_000, 200_000]],
    ["that grow and shrink", [300_000, 10]],
  ] as const) {
    test(
      `K15: a reader sees one whole version or another while files ${name} are overwritten`,
      { timeout: 60_000 },
      inWorkspace(async (ws) => {
        const [first, second] = sizes;
        const target = ws.write("a.txt", "A".repeat(first));
        const allowed = [
          ["A", first],
          ["B", second],
        ] as const;
        const context = { ...ws.writable, durability: "none" } as const;
        const { reads, odd } = await watching(target, allowed, async () => {
          // ext4 writes what is renamed over a file to the disk at once, which takes long on a busy disk.
          for (const i of briefly(120)) {
            const content = i % 2 === 0 ? "A".repeat(first) : "B".repeat(second);
            const args = { path: "a.txt", content, overwrite: true };
            const result =
              i % 4 < 2 ? await createFile(context, args) : createFileSync(context, args);
            assert.equal(result.errorCode, null, result.message);
          }
        });
        assert.ok(reads > 0, `the reader read ${reads} times`);
        assert.deepEqual(odd, []);
      }),
    );
  }
});
