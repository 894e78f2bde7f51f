// FileStore: bytes under their SHA-256, in the layout of the virtual-space host. docs/contract.md §1 and §6.

import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { describe, test } from "node:test";
import { FileStore, readFileUri } from "../index.js";
import { assertBytes } from "./support/create.ts";
import {
  type CodedError,
  checkStoreError,
  looseOpenStore,
  plant,
  sha256,
  storeDir,
  storedAt,
} from "./support/file-uri.ts";
import { ABORT_REASONS } from "./support/hostile.ts";
import { mkfifo, noFifos, noPermissions, noSymlinks, UNPRIVILEGED } from "./support/platform.ts";
import { Random } from "./support/random.ts";
import { exceptionValue, rejectionValue } from "./support/read.ts";
import { treeOf } from "./support/tree.mjs";
import { outcomesOf, runUriChild, startUriChild } from "./support/uri-child.ts";
import { inWorkspace, SECRET, type TestWorkspace } from "./support/workspace.ts";

const MIB = 1_048_576;
const EMPTY = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
// What would wait for another process, or for ever, fails instead.
const AT_ONCE = { timeout: 5_000 };

/** The paths of the files below a directory, relative to it, with `/`. */
function filesBelow(dir: string): string[] {
  const tree: Record<string, string> = treeOf(dir);
  return Object.keys(tree)
    .filter((name) => !tree[name]?.startsWith("folder"))
    .sort();
}

function layout(...texts: (string | Uint8Array)[]): string[] {
  return texts
    .map(sha256)
    .map((hash) => `${hash.slice(0, 2)}/${hash.slice(2)}`)
    .sort();
}

/** Has a call refused with `code` in words that `says` finds. */
async function refuses(
  call: () => Promise<unknown>,
  code: string | readonly string[],
  says: RegExp = /./,
  hidden: readonly string[] = [],
): Promise<CodedError> {
  const error = checkStoreError(await rejectionValue(call), hidden);
  assert.ok([code].flat().includes(error.code), error.message);
  assert.match(error.message, says);
  return error;
}

/** A test body with a store of its own, beside the workspace. */
function inStore(
  body: (store: FileStore, dir: string, ws: TestWorkspace) => unknown,
): () => Promise<void> {
  return inWorkspace((ws) => body(FileStore.open(storeDir(ws)), storeDir(ws), ws));
}

function randomBytes(random: Random, length: number): Uint8Array {
  return Uint8Array.from({ length }, () => random.below(256));
}

describe("FileStore.open", () => {
  test(
    "makes the directory if it is missing, at once",
    inWorkspace((ws) => {
      const store = FileStore.open(storeDir(ws));
      assert.ok(store instanceof FileStore);
      assert.ok(fs.statSync(storeDir(ws)).isDirectory());
    }),
  );

  test(
    "makes the directories above it too",
    inWorkspace((ws) => {
      FileStore.open(path.join(ws.base, "data/cas/sha256"));
      assert.ok(fs.statSync(path.join(ws.base, "data/cas/sha256")).isDirectory());
    }),
  );

  test(
    "leaves other files in the directory alone",
    inStore(async (store, dir) => {
      const { hash } = await store.putBytes(Buffer.from("a"));
      assertBytes(await FileStore.open(dir).getBytes(hash), "a");
    }),
  );

  test(
    "takes a directory that a link leads to",
    { skip: noSymlinks },
    inStore(async (store, dir, ws) => {
      const { hash } = await store.putBytes(Buffer.from("a"));
      fs.symlinkSync(dir, path.join(ws.base, "alias"), "dir");
      assertBytes(await FileStore.open(path.join(ws.base, "alias")).getBytes(hash), "a");
    }),
  );

  for (const [name, dir] of [
    ["relative", "relative/dir"],
    ["a dot", "."],
    ["empty", ""],
    ["blank", " "],
    ["null", null],
    ["undefined", undefined],
    ["a number", 5],
    ["true", true],
    ["an object", {}],
    ["an array", ["/tmp"]],
    ["a URL", new URL("file:///tmp")],
    ["a Buffer", Buffer.from("/tmp")],
    ["a symbol", Symbol("s")],
    ["a BigInt", 5n],
  ] as const) {
    test(`a directory that is ${name} is refused, and none is made`, () => {
      const error = checkStoreError(exceptionValue(() => looseOpenStore(dir)));
      assert.equal(error.code, "INVALID_ARGUMENT", error.message);
      assert.match(error.message, /\bdir|director|root/);
      assert.ok(!error.message.includes("relative/dir"), error.message);
      assert.ok(!fs.existsSync("relative"));
    });
  }

  test(
    "a directory that is a file, or with a NUL or a lone surrogate, is refused without its value",
    inWorkspace((ws) => {
      for (const dir of [ws.write("file", "a"), `${ws.root}\0`, `${ws.root}\ud800`]) {
        const error = checkStoreError(
          exceptionValue(() => looseOpenStore(dir)),
          ws.hidden,
        );
        assert.equal(error.code, "INVALID_ARGUMENT", error.message);
      }
    }),
  );

  test("without arguments is refused", () => {
    const error = checkStoreError(exceptionValue(() => looseOpenStore()));
    assert.equal(error.code, "INVALID_ARGUMENT");
  });
});

describe("putBytes", () => {
  test(
    "answers hash and size, in this order",
    inStore(async (store) => {
      const stored = await store.putBytes(Buffer.from("é\n"));
      assert.equal(Object.getPrototypeOf(stored), Object.prototype);
      assert.equal(JSON.stringify(stored), JSON.stringify({ hash: sha256("é\n"), size: 3 }));
    }),
  );

  test(
    "writes the bytes to <first two digits>/<other 62>, and nothing else",
    inStore(async (store, dir) => {
      const { hash } = await store.putBytes(Buffer.from("a"));
      assert.equal(hash, "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb");
      assert.deepEqual(filesBelow(dir), [
        "ca/978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb",
      ]);
      assertBytes(fs.readFileSync(storedAt(dir, hash)), "a");
    }),
  );

  test(
    "makes files with the bits that the umask allows, without execute bits",
    { skip: process.platform === "win32" && "a POSIX rule: this is Windows" },
    inStore(async (store, dir) => {
      const { hash } = await store.putBytes(Buffer.from("a"));
      const { mode } = fs.statSync(storedAt(dir, hash));
      assert.equal(mode & 0o111, 0);
      assert.equal(mode & 0o400, 0o400);
    }),
  );

  for (const [name, bytes] of [
    ["no bytes", new Uint8Array(0)],
    ["one NUL", new Uint8Array(1)],
    ["all bytes there are", Uint8Array.from({ length: 256 }, (_, i) => i)],
    ["a Buffer", Buffer.from("text é")],
    ["a view into a larger buffer", Buffer.from("xxtextxx").subarray(2, 6)],
    ["a view that begins at an odd place", new Uint8Array(new ArrayBuffer(99), 3, 7)],
    ["an empty view", Buffer.from("text").subarray(2, 2)],
    ["a line end that must stay", Buffer.from("\ufeffa\r\nb\r")],
    ["5 MiB", new Uint8Array(5 * MIB).map((_, i) => i * 31)],
  ] as const) {
    test(
      `keeps ${name}`,
      inStore(async (store, dir) => {
        assert.deepEqual(await store.putBytes(bytes), {
          hash: sha256(bytes),
          size: bytes.length,
        });
        assert.deepEqual(filesBelow(dir), layout(bytes));
        assertBytes(fs.readFileSync(storedAt(dir, sha256(bytes))), bytes);
        assertBytes(await store.getBytes(sha256(bytes)), bytes);
      }),
    );
  }

  test(
    "keeps no bytes under the hash of no bytes",
    inStore(async (store) => {
      assert.deepEqual(await store.putBytes(new Uint8Array(0)), { hash: EMPTY, size: 0 });
      assert.equal((await store.getBytes(EMPTY)).length, 0);
    }),
  );

  test(
    "keeps an instance of a subclass of Uint8Array",
    inStore(async (store) => {
      class Bytes extends Uint8Array {}
      assert.equal((await store.putBytes(Bytes.from([97]))).hash, sha256("a"));
    }),
  );

  test(
    "leaves the file alone that is there already",
    inStore(async (store, dir) => {
      const first = await store.putBytes(Buffer.from("a"));
      fs.utimesSync(storedAt(dir, first.hash), 1_000_000, 1_000_000);
      const before = treeOf(dir);
      assert.deepEqual(await store.putBytes(Buffer.from("a")), first);
      assert.deepEqual(treeOf(dir), before);
    }),
  );

  test(
    "writes removed bytes again",
    inStore(async (store, dir) => {
      const { hash } = await store.putBytes(Buffer.from("a"));
      fs.rmSync(path.dirname(storedAt(dir, hash)), { recursive: true });
      await store.putBytes(Buffer.from("a"));
      assertBytes(await store.getBytes(hash), "a");
    }),
  );

  test(
    "has copied the bytes when it returns: later changes to the buffer have no effect",
    inStore(async (store, dir) => {
      for (const length of [1, 1_000, 3 * MIB]) {
        const bytes = new Uint8Array(length).fill(97);
        const expected = sha256(bytes);
        const pending = store.putBytes(bytes);
        bytes.fill(98);
        assert.deepEqual(await pending, { hash: expected, size: length });
        assertBytes(fs.readFileSync(storedAt(dir, expected)), "a".repeat(length));
      }
    }),
  );

  test(
    "does not keep hold of the buffer: it may be transferred meanwhile",
    inStore(async (store) => {
      const bytes = new Uint8Array(MIB).fill(97);
      const expected = sha256(bytes);
      const pending = store.putBytes(bytes);
      structuredClone(bytes.buffer, { transfer: [bytes.buffer] });
      assert.equal((await pending).hash, expected);
      assertBytes(await store.getBytes(expected), "a".repeat(MIB));
    }),
  );

  for (const [name, value] of [
    ["a string", "a"],
    ["a number", 5],
    ["null", null],
    ["undefined", undefined],
    ["true", true],
    ["an array of bytes", [97]],
    ["an object", { length: 1, 0: 97 }],
    ["a symbol", Symbol("s")],
    ["a BigInt", 5n],
    ["a function", () => 5],
    ["a boxed string", Object("a")],
  ] as const) {
    test(
      `refuses ${name} by name, and writes nothing`,
      inWorkspace(async (ws) => {
        const store = looseOpenStore(storeDir(ws));
        await refuses(() => store.putBytes(value), "INVALID_ARGUMENT", /\bbytes\b/, ws.hidden);
        assert.deepEqual(filesBelow(storeDir(ws)), []);
      }),
    );
  }

  test(
    "without arguments is refused",
    inWorkspace(async (ws) => {
      const store = looseOpenStore(storeDir(ws));
      await refuses(() => store.putBytes(), "INVALID_ARGUMENT", /\bbytes\b/);
    }),
  );

  test(
    "answers or refuses bytes that were transferred away, and lives",
    inWorkspace(async (ws) => {
      const store = looseOpenStore(storeDir(ws));
      const bytes = new Uint8Array(10);
      structuredClone(bytes.buffer, { transfer: [bytes.buffer] });
      const outcome = await store.putBytes(bytes).then(
        ({ hash }) => hash,
        (error) => checkStoreError(error).code,
      );
      assert.ok([EMPTY, "INVALID_ARGUMENT"].includes(outcome), outcome);
    }),
  );

  test(
    "answers or refuses shared memory, and lives",
    inWorkspace(async (ws) => {
      const store = looseOpenStore(storeDir(ws));
      const outcome = await store.putBytes(new Uint8Array(new SharedArrayBuffer(1))).then(
        ({ hash }) => hash,
        (error) => checkStoreError(error).code,
      );
      assert.ok([sha256("\0"), "INVALID_ARGUMENT"].includes(outcome), outcome);
    }),
  );
});

describe("getBytes", () => {
  test(
    "gives a Uint8Array that is the caller's own",
    inStore(async (store) => {
      const { hash } = await store.putBytes(Buffer.from("text"));
      const [one, other] = await Promise.all([store.getBytes(hash), store.getBytes(hash)]);
      assert.ok(one instanceof Uint8Array);
      one.fill(0);
      assertBytes(other, "text");
      assertBytes(await store.getBytes(hash), "text");
    }),
  );

  test(
    "gives bytes that another program has stored",
    inStore(async (store, dir) => {
      plant(dir, sha256("planted"), "planted");
      assertBytes(await store.getBytes(sha256("planted")), "planted");
    }),
  );

  test(
    "of a hash without bytes is NOT_FOUND by the hash",
    inStore(async (store, _dir, ws) => {
      const hash = sha256("a");
      await refuses(() => store.getBytes(hash), "NOT_FOUND", new RegExp(hash), ws.hidden);
      // The folder is there and the file is not.
      await store.putBytes(Buffer.from("a"));
      const neighbour = `${hash.slice(0, 2)}${"0".repeat(62)}`;
      await refuses(() => store.getBytes(neighbour), "NOT_FOUND", new RegExp(neighbour));
    }),
  );

  for (const [name, damage] of [
    ["one bit flipped", "uext"],
    ["its end cut off", "tex"],
    ["something added", "text\n"],
    ["nothing in it", ""],
  ] as const) {
    test(
      `of a file with ${name} is CORRUPT by the hash`,
      inStore(async (store, dir, ws) => {
        const { hash } = await store.putBytes(Buffer.from("text"));
        fs.chmodSync(storedAt(dir, hash), 0o644);
        fs.writeFileSync(storedAt(dir, hash), damage);
        await refuses(() => store.getBytes(hash), "CORRUPT", new RegExp(hash), ws.hidden);
      }),
    );
  }

  test(
    "finds each single flipped bit",
    inStore(async (store, dir) => {
      const hash = sha256("text");
      for (let bit = 0; bit < 32; bit++) {
        const bytes = Buffer.from("text");
        bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7));
        plant(dir, hash, bytes);
        await refuses(() => store.getBytes(hash), "CORRUPT");
      }
      plant(dir, hash, "text");
      assertBytes(await store.getBytes(hash), "text");
    }),
  );

  test(
    "of the hash of no bytes, where there are some, is CORRUPT",
    inStore(async (store, dir) => {
      plant(dir, EMPTY, "a");
      await refuses(() => store.getBytes(EMPTY), "CORRUPT", new RegExp(EMPTY));
    }),
  );

  test(
    "of a directory in place of the file is refused",
    inStore(async (store, dir, ws) => {
      const hash = sha256("text");
      fs.mkdirSync(storedAt(dir, hash), { recursive: true });
      await refuses(() => store.getBytes(hash), ["CORRUPT", "INTERNAL"], /./, ws.hidden);
    }),
  );

  test(
    "of a file in place of the folder is refused",
    inStore(async (store, dir, ws) => {
      const hash = sha256("text");
      fs.writeFileSync(path.join(dir, hash.slice(0, 2)), "");
      const codes = ["NOT_FOUND", "CORRUPT", "INTERNAL"];
      await refuses(() => store.getBytes(hash), codes, /./, ws.hidden);
    }),
  );

  test(
    "of a FIFO in place of the file is refused at once",
    { ...AT_ONCE, skip: noFifos },
    inStore(async (store, dir, ws) => {
      const hash = sha256("text");
      fs.mkdirSync(path.dirname(storedAt(dir, hash)));
      mkfifo(storedAt(dir, hash));
      await refuses(() => store.getBytes(hash), ["CORRUPT", "INTERNAL"], /./, ws.hidden);
    }),
  );

  for (const [name, place] of [
    ["file", (dir: string, hash: string) => storedAt(dir, hash)],
    ["folder", (dir: string, hash: string) => path.dirname(storedAt(dir, hash))],
  ] as const) {
    test(
      `of a link in place of the ${name} that leads out is refused, though the bytes are right`,
      { skip: noSymlinks },
      inStore(async (store, dir, ws) => {
        const hash = sha256(SECRET);
        ws.writeOutside(hash.slice(2));
        fs.mkdirSync(path.dirname(place(dir, hash)), { recursive: true });
        const target = name === "file" ? path.join(ws.outside, hash.slice(2)) : ws.outside;
        fs.symlinkSync(target, place(dir, hash));
        const codes = ["CORRUPT", "INTERNAL", "PERMISSION_DENIED"];
        await refuses(() => store.getBytes(hash), codes, /./, ws.hidden);
      }),
    );
  }

  test(
    "of a file that may not be read is PERMISSION_DENIED",
    { skip: noPermissions },
    inStore(async (store, dir, ws) => {
      const { hash } = await store.putBytes(Buffer.from("text"));
      fs.chmodSync(ws.base, 0o755);
      fs.chmodSync(storedAt(dir, hash), 0);
      const [outcome] = await runUriChild({ user: UNPRIVILEGED, store: dir, gets: [hash] });
      assert.equal(outcome?.error?.name, "FileStoreError", JSON.stringify(outcome));
      assert.equal(outcome.error.code, "PERMISSION_DENIED", outcome.error.message);
      assert.ok(!outcome.error.message.includes(ws.base), outcome.error.message);
    }),
  );
});

describe("putBytes into a directory that may not be written", { skip: noPermissions }, () => {
  test(
    "is PERMISSION_DENIED",
    inStore(async (_store, dir, ws) => {
      fs.chmodSync(ws.base, 0o755);
      fs.chmodSync(dir, 0o555);
      const [outcome] = await runUriChild({ user: UNPRIVILEGED, store: dir, puts: ["text"] });
      fs.chmodSync(dir, 0o755);
      assert.equal(outcome?.error?.code, "PERMISSION_DENIED", JSON.stringify(outcome));
      assert.ok(!outcome.error.message.includes(ws.base), outcome.error.message);
      assert.deepEqual(filesBelow(dir), []);
    }),
  );
});

describe("exists", () => {
  test(
    "tells whether there are bytes",
    inStore(async (store) => {
      assert.equal(await store.exists(sha256("a")), false);
      await store.putBytes(Buffer.from("a"));
      assert.equal(await store.exists(sha256("a")), true);
      assert.equal(await store.exists(sha256("b")), false);
    }),
  );

  test(
    "does not check the bytes",
    inStore(async (store, dir) => {
      plant(dir, sha256("a"), "b");
      assert.equal(await store.exists(sha256("a")), true);
    }),
  );
});

describe("a hash that is none", () => {
  const digits = sha256("a");
  const wrong: readonly (readonly [string, unknown])[] = [
    ["empty", ""],
    ["in upper case", digits.toUpperCase()],
    ["with one upper-case digit", digits.replace("c", "C")],
    ["a digit short", digits.slice(1)],
    ["a digit long", `${digits}0`],
    ["with a letter that is no digit", `g${digits.slice(1)}`],
    ["with a leading blank", ` ${digits}`],
    ["with a final line end", `${digits}\n`],
    ["with a final NUL", `${digits}\0`],
    ["with a NUL in place of a digit", `${digits.slice(0, 63)}\0`],
    ["with a lone surrogate", `${digits.slice(0, 63)}\ud800`],
    ["with full-width digits", `${digits.slice(0, 63)}１`],
    ["64 characters of several bytes", "é".repeat(64)],
    ["64 bytes of other characters", "é".repeat(32)],
    ["with a prefix", `sha256:${digits}`],
    ["laid out like its path", `${digits.slice(0, 2)}/${digits.slice(2)}`],
    ["dots", ".."],
    ["a path of the right length", `../${"a".repeat(61)}`],
    ["null", null],
    ["undefined", undefined],
    ["a number", 5],
    ["an array of a hash", [digits]],
    ["a boxed hash", Object(digits)],
    ["an object", {}],
    ["a Buffer", Buffer.from(digits)],
    ["a symbol", Symbol("s")],
    ["a BigInt", 5n],
  ];
  for (const [name, hash] of wrong) {
    test(
      `${name}: getBytes and exists refuse it by name`,
      inWorkspace(async (ws) => {
        plant(storeDir(ws), digits, "a");
        const store = looseOpenStore(storeDir(ws));
        await refuses(() => store.getBytes(hash), "INVALID_ARGUMENT", /\bhash\b/, ws.hidden);
        await refuses(() => store.exists(hash), "INVALID_ARGUMENT", /\bhash\b/, ws.hidden);
      }),
    );
  }

  test(
    "it never becomes a path: no spelling of 64 characters leads out of the directory",
    inWorkspace(async (ws) => {
      const store = looseOpenStore(storeDir(ws));
      // A path by two parts: "..", then one of 62 characters that ends in a file outside.
      for (const tail of ["/outside/", "//outside/", "/./outside/"]) {
        const file = "s".repeat(62 - tail.length);
        ws.writeOutside(file);
        const hash = `..${tail}${file}`;
        assert.equal(hash.length, 64);
        await refuses(() => store.getBytes(hash), "INVALID_ARGUMENT", /\bhash\b/, ws.hidden);
        await refuses(() => store.exists(hash), "INVALID_ARGUMENT", /\bhash\b/, ws.hidden);
      }
    }),
  );

  test(
    "it never becomes a path: a file of that name in the directory is not found",
    inWorkspace(async (ws) => {
      const store = looseOpenStore(storeDir(ws));
      for (const hash of [digits.toUpperCase(), `zz${digits.slice(2)}`, `${digits.slice(0, 8)}`]) {
        plant(storeDir(ws), hash, "a");
        await refuses(() => store.getBytes(hash), "INVALID_ARGUMENT");
      }
    }),
  );
});

describe("many at once", () => {
  test(
    "64 writers of the same bytes leave one file",
    inStore(async (store, dir) => {
      const bytes = Buffer.alloc(100_000, "same");
      const answers = await Promise.all(Array.from({ length: 64 }, () => store.putBytes(bytes)));
      for (const answer of answers) {
        assert.deepEqual(answer, { hash: sha256(bytes), size: bytes.length });
      }
      assert.deepEqual(filesBelow(dir), layout(bytes));
    }),
  );

  test(
    "64 writers of other bytes leave 64 files",
    inStore(async (store, dir) => {
      const random = new Random(11);
      const blobs = Array.from({ length: 64 }, (_, i) => randomBytes(random, i * 100));
      const answers = await Promise.all(blobs.map((bytes) => store.putBytes(bytes)));
      assert.deepEqual(
        answers,
        blobs.map((bytes) => ({ hash: sha256(bytes), size: bytes.length })),
      );
      assert.deepEqual(filesBelow(dir), layout(...blobs));
      for (const bytes of blobs) assertBytes(await store.getBytes(sha256(bytes)), bytes);
    }),
  );

  test(
    "64 writers through stores of their own leave one file",
    inWorkspace(async (ws) => {
      const stores = Array.from({ length: 64 }, () => FileStore.open(storeDir(ws)));
      await Promise.all(stores.map((store) => store.putBytes(Buffer.from("same"))));
      assert.deepEqual(filesBelow(storeDir(ws)), layout("same"));
    }),
  );

  test(
    "four processes that put the same 40 texts at once all succeed",
    { timeout: 30_000 },
    inStore(async (store, dir, ws) => {
      const repeat = 5_000;
      const words = Array.from({ length: 40 }, (_, i) => `${i} `);
      const puts = words.map((word) => word.repeat(repeat));
      const job = { store: dir, puts: words, repeat, start: path.join(ws.base, "start") };
      const children = Array.from({ length: 4 }, () => startUriChild(job));
      await Promise.all(children.map(({ ready }) => ready));
      fs.writeFileSync(job.start, "");
      for (const outcomes of await Promise.all(children.map(outcomesOf))) {
        assert.deepEqual(
          outcomes.map(({ answer }) => answer),
          puts.map((text) => ({ hash: sha256(text), size: text.length })),
        );
      }
      assert.deepEqual(filesBelow(dir), layout(...puts));
      for (const text of puts) assertBytes(await store.getBytes(sha256(text)), text);
    }),
  );

  test(
    "a reader sees no bytes or all of them, never a part",
    inStore(async (store) => {
      const random = new Random(12);
      for (let round = 0; round < 10; round++) {
        const bytes = Buffer.alloc(2 * MIB, randomBytes(random, 1_000));
        const hash = sha256(bytes);
        let written = false;
        const pending = store.putBytes(bytes).then(() => {
          written = true;
        });
        do {
          const got = await store.getBytes(hash).catch((error: unknown) => {
            const { code, message } = checkStoreError(error);
            assert.equal(code, "NOT_FOUND", message);
            return null;
          });
          if (got !== null) assertBytes(got, bytes);
          await new Promise((turn) => setImmediate(turn));
        } while (!written);
        await pending;
        assertBytes(await store.getBytes(hash), bytes);
      }
    }),
  );
});

describe("a signal", () => {
  const hash = sha256("a");
  const calls = [
    [
      "putBytes",
      (store: FileStore, signal: AbortSignal) => store.putBytes(Buffer.from("b"), { signal }),
    ],
    ["getBytes", (store: FileStore, signal: AbortSignal) => store.getBytes(hash, { signal })],
    ["exists", (store: FileStore, signal: AbortSignal) => store.exists(hash, { signal })],
  ] as const;

  for (const [name, call] of calls) {
    for (const [kind, reason] of ABORT_REASONS) {
      test(
        `aborted already with ${kind}: ${name} rejects with the reason itself`,
        inStore(async (store, dir) => {
          plant(dir, hash, "a");
          const before = treeOf(dir);
          const signal = AbortSignal.abort(reason);
          assert.equal(await rejectionValue(() => call(store, signal)), reason);
          assert.deepEqual(treeOf(dir), before);
        }),
      );
    }

    test(
      `aborted in the turn of the call: ${name} rejects with the reason itself`,
      inStore(async (store, dir) => {
        plant(dir, hash, "a");
        const controller = new AbortController();
        const pending = rejectionValue(() => call(store, controller.signal));
        controller.abort("enough");
        assert.equal(await pending, "enough");
      }),
    );

    test(
      `that stays quiet: ${name} leaves its onabort alone, which still fires`,
      inStore(async (store, dir) => {
        plant(dir, hash, "a");
        const controller = new AbortController();
        const { signal } = controller;
        let fired = 0;
        const handler = () => {
          fired++;
        };
        signal.onabort = handler;
        const pending = call(store, signal);
        assert.equal(signal.onabort, handler);
        await pending;
        assert.equal(signal.onabort, handler);
        controller.abort();
        assert.equal(fired, 1);
      }),
    );

    test(
      `that stays quiet: ${name} leaves no listener behind`,
      inStore(async (store, dir) => {
        plant(dir, hash, "a");
        const { signal } = new AbortController();
        await call(store, signal);
        assert.equal(getEventListeners(signal, "abort").length, 0);
      }),
    );
  }

  test(
    "aborted already wins over a wrong argument",
    inWorkspace(async (ws) => {
      const store = looseOpenStore(storeDir(ws));
      const options = { signal: AbortSignal.abort("enough") };
      for (const call of [
        () => store.putBytes(5, options),
        () => store.getBytes(5, options),
        () => store.exists("x", options),
      ]) {
        assert.equal(await rejectionValue(call), "enough");
      }
    }),
  );

  test(
    "that is none is refused by name",
    inWorkspace(async (ws) => {
      const store = looseOpenStore(storeDir(ws));
      for (const signal of [5, "x", {}]) {
        await refuses(() => store.getBytes(hash, { signal }), "INVALID_ARGUMENT", /signal/);
      }
    }),
  );

  test(
    "or options that are absent are fine",
    inWorkspace(async (ws) => {
      const store = looseOpenStore(storeDir(ws));
      for (const options of [null, undefined, {}, { signal: null }, { other: 5n }]) {
        await store.putBytes(Buffer.from("a"), options);
        assertBytes(await store.getBytes(hash, options), "a");
        assert.equal(await store.exists(hash, options), true);
      }
    }),
  );
});

test(
  "seeded: stored bytes come back, with the right hash and size",
  inStore(async (store, dir) => {
    const random = new Random(13);
    const hashes = new Set<string>();
    for (let i = 0; i < 200; i++) {
      const bytes = randomBytes(random, random.below(random.pick([3, 300, 30_000])));
      const { hash, size } = await store.putBytes(bytes);
      assert.deepEqual([hash, size], [sha256(bytes), bytes.length]);
      assertBytes(await store.getBytes(hash), bytes);
      assert.equal(await store.exists(hash), true);
      hashes.add(hash);
    }
    assert.equal(filesBelow(dir).length, hashes.size);
  }),
);

test("a store that was closed refuses calls and finishes those under way", async () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "ringfence-closed-"));
  try {
    const store = FileStore.open(folder);
    const stored = store.putBytes(Buffer.from("a"));
    store.close();
    store.close();
    const { hash } = await stored;
    const refused = { name: "FileStoreError", code: "INVALID_ARGUMENT" };
    await assert.rejects(store.putBytes(Buffer.from("a")), refused);
    await assert.rejects(store.getBytes(hash), refused);
    await assert.rejects(store.exists(hash), refused);
    const space = { store, resolve: () => ({ hash }) };
    await assert.rejects(readFileUri("file:///a", { space }), { code: "INVALID_ARGUMENT" });
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
});
