// `expectedHash`: a file is replaced only if it still has the content that the caller has read.
// docs/contract.md §5.

import assert from "node:assert/strict";
import fs from "node:fs";
import { describe, test } from "node:test";
import { createFile, createFileSync, readFile } from "../index.js";
import { briefly, startScene, watching } from "./support/child.ts";
import { checkResult, inEveryWay, sha256, temporaries } from "./support/create.ts";
import { noExchange, noLeases } from "./support/linux.ts";
import { mkfifo, noFifos, noSymlinks, notPosix } from "./support/platform.ts";
import { looseReadFile } from "./support/read.ts";
import { hex, inWorkspace, type TestWorkspace } from "./support/workspace.ts";

const CHANGED = /changed since it was read/;

/** Without leases the system does not tell whether a file is open for writing. */
const untold = await noLeases();

/**
 * Without an exchange of names, what a program writes to the old file after it was compared goes with it:
 * docs/threat-model.md says so.
 */
const noTakingBack = await noExchange();

describe("expectedHash", () => {
  test(
    "with the hash of the file on disk the file is overwritten",
    inEveryWay(async (creator) => {
      creator.ws.write("a.txt", "old");
      const args = { path: "a.txt", content: "new", overwrite: true, expectedHash: sha256("old") };
      await creator.creates(args, { bytes: "new" });
    }),
  );

  test(
    "another hash is WriteFailed, and the file is as it was",
    inEveryWay(async (creator) => {
      creator.ws.write("a.txt", "changed");
      const args = { path: "a.txt", content: "new", overwrite: true, expectedHash: sha256("old") };
      await creator.refuses(args, "WriteFailed", CHANGED);
    }),
  );

  test(
    "the hash of the new content is not that of the old",
    inEveryWay(async (creator) => {
      creator.ws.write("a.txt", "old");
      const args = { path: "a.txt", content: "new", overwrite: true, expectedHash: sha256("new") };
      await creator.refuses(args, "WriteFailed", CHANGED);
    }),
  );

  test(
    "an absent file does not have the hash, not even that of nothing, and no folder is made",
    inEveryWay(async (creator) => {
      for (const expectedHash of [sha256("old"), sha256("")]) {
        for (const target of ["a.txt", "new/dir/a.txt"]) {
          const args = { path: target, content: "new", overwrite: true, expectedHash };
          await creator.refuses(args, "WriteFailed", CHANGED);
        }
      }
    }),
  );

  test(
    "without overwrite an absent file does not have the hash either",
    inEveryWay((creator) =>
      creator.refuses(
        { path: "a.txt", content: "new", expectedHash: sha256("old") },
        "WriteFailed",
        CHANGED,
      ),
    ),
  );

  test(
    "M12: expectedHash does not replace overwrite: true",
    inEveryWay(async (creator) => {
      creator.ws.write("a.txt", "old");
      const args = { path: "a.txt", content: "new", expectedHash: sha256("old") };
      await creator.refuses(args, "FileExists");
    }),
  );

  test(
    "an empty file has the hash of nothing",
    inEveryWay(async (creator) => {
      creator.ws.write("a.txt", "");
      const args = { path: "a.txt", content: "new", overwrite: true, expectedHash: sha256("") };
      await creator.creates(args, { bytes: "new" });
    }),
  );

  test(
    "the bytes count, not the text: CRLF and a byte order mark are part of them",
    inEveryWay(async (creator) => {
      const bytes = hex("EF BB BF 61 0D 0A");
      creator.ws.write("a.txt", bytes);
      const args = { path: "a.txt", content: "a\r\n", overwrite: true };
      await creator.refuses({ ...args, expectedHash: sha256("a\n") }, "WriteFailed", CHANGED);
      await creator.creates({ ...args, expectedHash: sha256(bytes) }, { bytes: "a\n" });
    }),
  );

  test(
    "the old file may be binary and larger than can be read",
    inEveryWay(async (creator) => {
      const bytes = new Uint8Array(3_000_000).fill(0xff);
      creator.ws.write("a.bin", bytes);
      const args = { path: "a.bin", content: "new", overwrite: true };
      await creator.refuses({ ...args, expectedHash: sha256("x") }, "WriteFailed", CHANGED);
      await creator.creates({ ...args, expectedHash: sha256(bytes) }, { bytes: "new" });
    }),
  );

  test(
    "it is SHA-256 also where results tell the Aptix hash",
    inEveryWay(async (creator) => {
      creator.ws.write("a.txt", "old");
      const args = { path: "a.txt", content: "new", overwrite: true, expectedHash: sha256("old") };
      const { errorCode } = await creator.create(args, { contentHash: "aptix" });
      assert.equal(errorCode, null);
    }),
  );

  test(
    "permission bits are kept and a hard link parts, as in any overwrite",
    { skip: notPosix },
    inEveryWay(async (creator) => {
      fs.chmodSync(creator.ws.write("a.sh", "old"), 0o751);
      fs.linkSync(creator.ws.at("a.sh"), creator.ws.at("b.sh"));
      const args = { path: "a.sh", content: "new", overwrite: true, expectedHash: sha256("old") };
      await creator.creates(args, { bytes: "new" });
      assert.equal(fs.statSync(creator.ws.at("a.sh")).mode & 0o7777, 0o751);
      assert.equal(fs.readFileSync(creator.ws.at("b.sh"), "utf8"), "old");
    }),
  );

  test(
    "by a link inside, the hash is that of the target, which is replaced",
    { skip: noSymlinks },
    inEveryWay(async (creator) => {
      creator.ws.write("dir/real.txt", "old");
      creator.ws.link("l", "dir/real.txt");
      const args = { path: "l", content: "new", overwrite: true };
      await creator.refuses({ ...args, expectedHash: sha256("x") }, "WriteFailed", CHANGED);
      const expected = { at: "dir/real.txt", bytes: "new" };
      await creator.creates({ ...args, expectedHash: sha256("old") }, expected);
    }),
  );

  test(
    "a target that is no regular file is InvalidPath",
    { skip: noFifos || noSymlinks, timeout: 5_000 },
    inEveryWay(async (creator) => {
      creator.ws.folder("dir");
      mkfifo(creator.ws.at("pipe"));
      creator.ws.link("dangling", "missing");
      creator.ws.link("out", creator.ws.writeOutside("v.txt", "old"));
      for (const target of ["dir", "pipe", "dangling", "out"]) {
        const args = { path: target, content: "new", overwrite: true, expectedHash: sha256("old") };
        await creator.refuses(args, "InvalidPath");
      }
    }),
  );

  test(
    "a read-only scope comes before it",
    inEveryWay(async (creator) => {
      creator.ws.write("a.txt", "old");
      const args = { path: "a.txt", content: "new", overwrite: true, expectedHash: sha256("old") };
      await creator.refuses(args, "WriteFailed", /read-only/, { writeScope: "read-only" });
    }),
  );

  test(
    "a file that another program has open for writing is not replaced until that program closes it",
    { skip: untold },
    inEveryWay(async (creator) => {
      const writer = fs.openSync(creator.ws.write("a.txt", "old"), "a");
      const args = { path: "a.txt", content: "new", overwrite: true, expectedHash: sha256("old") };
      await creator.refuses(args, "WriteFailed", CHANGED);
      fs.writeSync(writer, ", edited");
      fs.closeSync(writer);
      assert.equal(fs.readFileSync(creator.ws.at("a.txt"), "utf8"), "old, edited");
      await creator.creates({ ...args, expectedHash: sha256("old, edited") }, { bytes: "new" });
    }),
  );

  test(
    "100 refused and 100 accepted overwrites leave no temporary",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "0");
      const context = { ...ws.writable, durability: "none" } as const;
      for (let i = 0; i < 100; i++) {
        const args = { path: "a.txt", content: `${i + 1}`, overwrite: true };
        const refused = await createFile(context, { ...args, expectedHash: sha256("x") });
        assert.match(refused.message, CHANGED);
        const done = createFileSync(context, { ...args, expectedHash: sha256(`${i}`) });
        assert.equal(done.errorCode, null, done.message);
        assert.deepEqual(temporaries(ws.root), []);
      }
      assert.deepEqual(fs.readdirSync(ws.root), ["a.txt"]);
    }),
  );
});

describe("with readFile's include_hash", () => {
  for (const [name, bytes] of [
    ["a plain file", "a\nb\n"],
    ["CRLF and a byte order mark", hex("EF BB BF 61 0D 0A 62")],
    ["an empty file", ""],
    ["more lines than a window has", "line\n".repeat(900)],
  ] as const) {
    test(
      `${name}: a file that was read can be overwritten once`,
      inWorkspace(async (ws) => {
        ws.write("a.txt", bytes);
        const { meta } = await readFile(ws.context, "a.txt", { include_hash: true });
        assert.equal(meta.sha256, sha256(bytes));
        const args = { path: "a.txt", content: "new", overwrite: true, expectedHash: meta.sha256 };
        assert.equal(checkResult(await createFile(ws.writable, args)).overwritten, true);
        assert.match(checkResult(await createFile(ws.writable, args)).message, CHANGED);
      }),
    );
  }

  test(
    "the hash of a result may be expected next",
    inWorkspace(async (ws) => {
      let { hash } = await createFile(ws.writable, { path: "a.txt", content: "\ufeff0\r\n" });
      for (let i = 1; i < 5; i++) {
        const { meta } = await looseReadFile(ws.context, "a.txt", { include_hash: true });
        assert.equal(meta.sha256, hash);
        const args = { path: "a.txt", content: `${i}\r`, overwrite: true, expectedHash: hash };
        const result = checkResult(await createFile(ws.writable, args));
        assert.equal(result.errorCode, null, result.message);
        hash = result.hash;
      }
    }),
  );

  for (const [name, edit] of [
    ["in place", (target: string) => fs.writeFileSync(target, "edited")],
    ["by appending", (target: string) => fs.appendFileSync(target, "more")],
    [
      "by rename",
      (target: string) => {
        fs.writeFileSync(`${target}.new`, "edited");
        fs.renameSync(`${target}.new`, target);
      },
    ],
    ["by removal", (target: string) => fs.rmSync(target)],
  ] as const) {
    test(
      `an edit by another program ${name} between reading and overwriting is never lost`,
      inEveryWay(async (creator) => {
        const target = creator.ws.write("a.txt", "old");
        const { meta } = await readFile(creator.ws.context, "a.txt", { include_hash: true });
        edit(target);
        const args = { path: "a.txt", content: "new", overwrite: true, expectedHash: meta.sha256 };
        await creator.refuses(args, "WriteFailed", CHANGED);
      }),
    );
  }
});

describe("in a race", () => {
  test(
    "of 32 writers that expect the same, exactly one wins",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "old");
      const results = await Promise.all(
        Array.from({ length: 32 }, (_, i) =>
          createFile(ws.writable, {
            path: "a.txt",
            content: `writer ${i}`,
            overwrite: true,
            expectedHash: sha256("old"),
          }),
        ),
      );
      const winners = results.flatMap((result, i) => (checkResult(result).success ? [i] : []));
      assert.equal(winners.length, 1, `winners: ${winners}`);
      assert.equal(fs.readFileSync(ws.at("a.txt"), "utf8"), `writer ${winners[0]}`);
      for (const { success, errorCode, message } of results) {
        if (success) continue;
        assert.equal(errorCode, "WriteFailed");
        assert.match(message, CHANGED);
      }
      assert.deepEqual(fs.readdirSync(ws.root), ["a.txt"]);
    }),
  );

  test(
    "8 processes that count one file up lose no step",
    { timeout: 40_000 },
    inWorkspace(async (ws) => {
      ws.write("counter", "0\n");
      const context = { ...ws.writable, durability: "none" };
      const job = { context, path: "counter", times: 50 };
      const counters = Array.from({ length: 8 }, () => startScene("count", job));
      for (const ended of await Promise.all(counters.map((counter) => counter.ended))) {
        assert.equal(ended.code, 0, ended.stderr);
      }
      assert.equal(fs.readFileSync(ws.at("counter"), "utf8"), "400\n");
      assert.deepEqual(fs.readdirSync(ws.root), ["counter"]);
    }),
  );

  test(
    "a program that writes in place loses no line, even one it opened the file for before",
    { skip: untold || noTakingBack, timeout: 30_000 },
    inWorkspace(async (ws) => {
      const target = ws.write("log", "");
      const times = 150;
      const appender = startScene("append", { path: target, times });
      await appender.ready;
      let over = false;
      const ended = appender.ended.finally(() => {
        over = true;
      });
      let [replaced, refused] = [0, 0];
      /** What the program has written to in the moment that it showed before it was taken back. */
      const kept: string[] = [];
      while (!over) {
        const text = fs.readFileSync(target, "utf8");
        const content = `${text}replaced\n`;
        const args = { path: "log", content, overwrite: true, expectedHash: sha256(text) };
        const context = { ...ws.writable, durability: "none" } as const;
        const { success, message } = checkResult(await createFile(context, args));
        if (!success) assert.match(message, CHANGED);
        for (const [name] of message.matchAll(/\.rf-[0-9a-z]+/g)) kept.push(name);
        if (success) replaced++;
        else refused++;
      }
      const { code, stderr } = await ended;
      assert.equal(code, 0, stderr);
      assert.ok(replaced > 0 && refused > 0, `${replaced} replaced, ${refused} refused`);
      const texts = ["log", ...kept].map((name) => fs.readFileSync(ws.at(name), "utf8"));
      const lines = new Set(texts.flatMap((text) => text.split("\n")));
      const lost = Array.from({ length: times }, (_, i) => i).filter(
        (i) => !lines.has(`appended ${i}`),
      );
      assert.deepEqual(lost, []);
      assert.deepEqual(fs.readdirSync(ws.root).sort(), [...kept.sort(), "log"]);
    }),
  );

  test(
    "a reader sees neither refused content nor a gap",
    { timeout: 60_000 },
    inWorkspace((ws) =>
      watched(ws, [["A", 100_000]], async (context) => {
        for (const _ of briefly(200)) {
          const args = { path: "a.txt", content: "R".repeat(100_000), overwrite: true };
          const result = await createFile(context, { ...args, expectedHash: sha256("x") });
          assert.equal(result.errorCode, "WriteFailed");
        }
      }),
    ),
  );

  test(
    "a reader sees each accepted content whole",
    { timeout: 60_000 },
    inWorkspace((ws) =>
      watched(
        ws,
        [
          ["A", 100_000],
          ["B", 50_000],
        ],
        async (context) => {
          let hash = sha256("A".repeat(100_000));
          for (const i of briefly(200)) {
            const content = i % 2 === 0 ? "A".repeat(100_000) : "B".repeat(50_000);
            const args = { path: "a.txt", content, overwrite: true, expectedHash: hash };
            const result = createFileSync(context, args);
            assert.equal(result.errorCode, null, result.message);
            hash = result.hash;
          }
        },
      ),
    ),
  );

  test(
    "where a refused and an accepted writer race, a reader never sees the refused one's content",
    { timeout: 60_000 },
    inWorkspace((ws) =>
      watched(
        ws,
        [
          ["A", 20_000],
          ["B", 20_000],
        ],
        async (context) => {
          const [a, b] = ["A".repeat(20_000), "B".repeat(20_000)];
          let [now, next] = [a, b];
          for (const _ of briefly(150)) {
            const args = { path: "a.txt", overwrite: true };
            const [accepted, refused] = await Promise.all([
              createFile(context, { ...args, content: next, expectedHash: sha256(now) }),
              createFile(context, {
                ...args,
                content: "R".repeat(20_000),
                expectedHash: sha256("x"),
              }),
            ]);
            assert.equal(accepted.errorCode, null, accepted.message);
            assert.equal(refused.errorCode, "WriteFailed");
            [now, next] = [next, now];
          }
        },
      ),
    ),
  );

  /** Overwrites a.txt, which starts as the first of `allowed`, while a process looks on; it may see no other. */
  async function watched(
    ws: TestWorkspace,
    allowed: [string, number][],
    body: (context: { workspaceRoot: string; durability: "none" }) => Promise<void>,
  ): Promise<void> {
    const [letter, length] = allowed[0] as [string, number];
    const target = ws.write("a.txt", letter.repeat(length));
    const { odd } = await watching(target, allowed, () =>
      body({ workspaceRoot: ws.root, durability: "none" }),
    );
    assert.deepEqual(odd, []);
  }
});
