// Replacing a file while other programs work in its folder, and where the system refuses some of the system
// calls. docs/cases.md, second look F1, F2, F4, F10, F14, F22, F24 and F28.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import { describe, test } from "node:test";
import { createFile, createFileSync, type WorkspaceContext } from "../index.js";
import { countCalls, createInChild, createWithFaults } from "./support/child.ts";
import { checkResult, sha256, temporaries } from "./support/create.ts";
import { exchange, noExchange } from "./support/linux.ts";
import { noStrace, notRoot, noXattrs } from "./support/platform.ts";
import { inWorkspace, type TestWorkspace } from "./support/workspace.ts";

const withoutExchange = await noExchange();
const NOBODY = 65_534;

/** Replaces t.txt by what it holds, counted up, and gives how often each file was replaced. */
function countUp(ws: TestWorkspace, context: WorkspaceContext, times: number): Map<string, number> {
  const counts = new Map([
    ["A", 0],
    ["B", 0],
  ]);
  for (let i = 0; i < times; i++) {
    const text = fs.readFileSync(ws.at("t.txt"), "utf8");
    const [letter = "", count] = text.split(" ");
    const content = `${letter} ${Number(count) + 1}`;
    const args = { path: "t.txt", content, overwrite: true, expectedHash: sha256(text) };
    const { success } = checkResult(createFileSync(context, args));
    if (success) counts.set(letter, (counts.get(letter) ?? 0) + 1);
  }
  return counts;
}

function told(counts: Map<string, number>): string[] {
  return [...counts].map(([letter, count]) => `${letter} ${count}`).sort();
}

// F1: another program works with the same name while it is replaced. Variants: a file, a link, no hash.
describe("another program that exchanges names without a pause", { skip: withoutExchange }, () => {
  test(
    "second look F1: with another file: neither is lost, and both have the content that the answers say",
    { timeout: 60_000 },
    inWorkspace(async (ws) => {
      ws.write("t.txt", "A 0");
      ws.write("u.txt", "B 0");
      const neighbour = exchange(ws.at("t.txt"), ws.at("u.txt"));
      await neighbour.ready;
      const counts = countUp(ws, { ...ws.writable, durability: "none" }, 300);
      await neighbour.kill();
      const texts = ["t.txt", "u.txt"].map((name) => fs.readFileSync(ws.at(name), "utf8"));
      assert.deepEqual(texts.sort(), told(counts));
      assert.deepEqual(fs.readdirSync(ws.root).sort(), ["t.txt", "u.txt"]);
    }),
  );

  for (const durability of ["none", "full"] as const) {
    const withHash = durability === "none";
    test(
      `second look F1: with a link leaves it a link, ${withHash ? "with" : "without"} expectedHash`,
      { timeout: 60_000 },
      inWorkspace(async (ws) => {
        ws.write("t.txt", "A 0");
        ws.write("v.txt", "B 0");
        ws.link("u.txt", "v.txt");
        const neighbour = exchange(ws.at("t.txt"), ws.at("u.txt"));
        await neighbour.ready;
        const context = { ...ws.writable, durability };
        if (withHash) {
          const counts = countUp(ws, context, 200);
          await neighbour.kill();
          const texts = ["t.txt", "v.txt", "u.txt"]
            .filter((name) => fs.lstatSync(ws.at(name)).isFile())
            .map((name) => fs.readFileSync(ws.at(name), "utf8"));
          assert.deepEqual(texts.sort(), told(counts));
        } else {
          for (let i = 0; i < 40; i++) {
            createFileSync(context, { path: "t.txt", content: `W ${i}`, overwrite: true });
          }
          await neighbour.kill();
        }
        const links = ["t.txt", "u.txt"].filter((name) =>
          fs.lstatSync(ws.at(name)).isSymbolicLink(),
        );
        assert.equal(links.length, 1, "the link is still there");
        assert.equal(fs.readlinkSync(ws.at(links[0] ?? "")), "v.txt");
        assert.deepEqual(fs.readdirSync(ws.root).sort(), ["t.txt", "u.txt", "v.txt"]);
      }),
    );
  }
});

// F10: how a file is replaced without `expectedHash`. Variants: durable, with a hash.
describe("the call that replaces a file", { skip: noStrace }, () => {
  for (const [name, durability, expects, exchanges] of [
    ["nothing expected, not durable: a plain rename", "none", false, false],
    ["a hash expected: an exchange", "none", true, true],
    ["durable: an exchange", "full", false, true],
  ] as const) {
    test(
      `second look F10: ${name}`,
      inWorkspace(async (ws) => {
        ws.write("a.txt", "old");
        const expectedHash = expects ? sha256("old") : null;
        const args = { path: "a.txt", content: "new", overwrite: true, expectedHash };
        const creates = [{ context: { ...ws.writable, durability }, args }];
        assert.equal((await countCalls({ creates }, ["renameat2"])) > 0, exchanges);
        assert.equal(fs.readFileSync(ws.at("a.txt"), "utf8"), "new");
      }),
    );
  }
});

// F4: files that take long to compare. Variants: too large, aborted during the comparison.
describe("expectedHash of a large file", () => {
  const MAX = 64 * 1024 * 1024;
  const sparse = (ws: TestWorkspace, size: number) =>
    fs.truncateSync(ws.write("large.bin", ""), size);
  const args = {
    ...{ path: "large.bin", content: "new", overwrite: true },
    expectedHash: sha256("other"),
  };

  for (const size of [MAX + 1, 4 * 1024 ** 3]) {
    test(
      `second look F4: of ${size} bytes is refused before anything is read, and says why`,
      { timeout: 5_000 },
      inWorkspace(async (ws) => {
        sparse(ws, size);
        for (const result of [
          await createFile(ws.writable, args),
          createFileSync(ws.writable, args),
        ]) {
          assert.equal(checkResult(result).errorCode, "WriteFailed");
          assert.match(result.message, /64 MiB/);
        }
        assert.equal(fs.statSync(ws.at("large.bin")).size, size);
      }),
    );
  }

  test(
    "second look F4: an abort ends the comparing",
    { timeout: 10_000 },
    inWorkspace(async (ws) => {
      sparse(ws, MAX);
      const controller = new AbortController();
      const reason = new Error("not wanted any more");
      const created = createFile({ ...ws.writable, signal: controller.signal }, args);
      setTimeout(() => controller.abort(reason), 5);
      await assert.rejects(created, (error) => error === reason);
      assert.equal(fs.statSync(ws.at("large.bin")).size, MAX);
      assert.deepEqual(temporaries(ws.root), []);
    }),
  );
});

// F2, F24: a seccomp filter or a file system refuses system calls. Variants: each call, several at once.
describe("a system call that is refused as not permitted", { skip: noStrace }, () => {
  for (const calls of [
    ["faccessat2"],
    ["renameat2"],
    ["linkat"],
    ["fchmod"],
    ["fchown"],
    ["fsetxattr", "fgetxattr", "flistxattr", "fremovexattr"],
    ["flock"],
    ["faccessat2", "renameat2", "fchmod", "fchown", "fsetxattr", "flistxattr", "statx"],
    ["renameat2", "linkat"],
  ]) {
    test(
      `second look F2 F24: without ${calls.join(", ")} files are made and replaced`,
      { timeout: 20_000 },
      inWorkspace(async (ws) => {
        for (const name of ["old.txt", "known.txt"]) {
          fs.chmodSync(ws.write(name, "old"), 0o640);
        }
        const args = [
          { path: "new/dir/a.txt", content: "new" },
          { path: "old.txt", content: "new", overwrite: true },
          { path: "known.txt", content: "new", overwrite: true, expectedHash: sha256("old") },
          { path: "known.txt", content: "newer", overwrite: true, expectedHash: sha256("old") },
        ];
        const creates = args.map((args) => ({ context: ws.writable, args }));
        const faults = calls.map((call) => `${call}:error=EPERM`);
        const results = (await createWithFaults({ creates }, ...faults)).map((it) =>
          checkResult(it),
        );
        const codes = results.map(({ errorCode }) => errorCode);
        assert.deepEqual(codes, [null, null, null, "WriteFailed"], JSON.stringify(results));
        for (const name of ["new/dir/a.txt", "old.txt", "known.txt"]) {
          assert.equal(fs.readFileSync(ws.at(name), "utf8"), "new");
        }
        for (const name of ["old.txt", "known.txt"]) {
          assert.equal(fs.statSync(ws.at(name)).mode & 0o777 & ~0o640, 0, "no more than before");
        }
        assert.deepEqual(fs.readdirSync(ws.root).sort(), ["known.txt", "new", "old.txt"]);
        assert.deepEqual(fs.readdirSync(ws.at("new/dir")), ["a.txt"]);
        // F14: with neither links nor exclusive renames there is one exclusive way left. The filter of
        // `npm run test:walk` takes the renames away by itself.
        const renames = !withoutExchange && !calls.includes("renameat2");
        const isLastResort = calls.includes("linkat") && !renames;
        assert.equal(/before it was complete/.test(results[0]?.message ?? ""), isLastResort);
      }),
    );
  }

  test(
    "second look F14: a file that is a mount point of its own is named",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "old");
      for (const expectedHash of [null, sha256("old")]) {
        const args = { path: "a.txt", content: "new", overwrite: true, expectedHash };
        const creates = [{ context: ws.writable, args }];
        const [result] = await createWithFaults({ creates }, "renameat2:error=EBUSY");
        assert.equal(checkResult(result).errorCode, "WriteFailed");
        assert.match(result?.message ?? "", /mount point/);
        assert.equal(fs.readFileSync(ws.at("a.txt"), "utf8"), "old");
      }
    }),
  );
});

// F28: permissions after another user has replaced a file. Variants: an access list, plain bits.
describe("a file of another user's", { skip: notRoot || noXattrs }, () => {
  /** Replaces a.txt as a user who may give nothing away. */
  async function replaceAsNobody(ws: TestWorkspace) {
    fs.chmodSync(ws.base, 0o755);
    fs.chmodSync(ws.root, 0o777);
    const args = { path: "a.txt", content: "new", overwrite: true };
    const creates = [{ context: ws.writable, args }];
    const [result] = await createInChild({ user: NOBODY, creates });
    return checkResult(result);
  }

  test(
    "second look F28: with an access list is refused, and keeps its owner, group and list",
    inWorkspace(async (ws) => {
      const file = ws.write("a.txt", "old");
      fs.chownSync(file, 4_001, 4_002);
      fs.chmodSync(file, 0o660);
      setAccessList(file, NOBODY);
      const before = fs.statSync(file);
      const result = await replaceAsNobody(ws);
      assert.equal(result.errorCode, "WriteFailed");
      assert.match(result.message, /access rights cannot be kept/);
      const { uid, gid, mode, ino } = fs.statSync(file);
      assert.deepEqual({ uid, gid, mode, ino }, pick(before));
      assert.deepEqual(fs.readdirSync(ws.root), ["a.txt"]);
    }),
  );

  test(
    "second look F28: with plain bits gives its group's rights to no other group",
    inWorkspace(async (ws) => {
      const file = ws.write("a.txt", "old");
      fs.chownSync(file, 4_001, 4_002);
      fs.chmodSync(file, 0o676);
      const result = await replaceAsNobody(ws);
      assert.equal(result.errorCode, null, result.message);
      const { uid, mode } = fs.statSync(file);
      assert.equal(uid, NOBODY);
      assert.equal((mode & 0o777).toString(8), "666");
    }),
  );
});

function pick({ uid, gid, mode, ino }: fs.Stats) {
  return { uid, gid, mode, ino };
}

/** Gives a user the right to read and write, beside the owner and the group. */
function setAccessList(file: string, user: number): void {
  const program = `
import os, struct, sys
entries = [(1, 6, 2**32 - 1), (2, 6, int(sys.argv[2])), (4, 6, 2**32 - 1), (16, 6, 2**32 - 1), (32, 0, 2**32 - 1)]
data = struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in entries)
os.setxattr(sys.argv[1], "system.posix_acl_access", data)`;
  execFileSync("python3", ["-c", program, file, String(user)], { stdio: "ignore" });
}
