// Stores in memory: documents, and bytes by their hash. docs/contract.md §6, §7.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { describe, test } from "node:test";
import { type MemoryDocuments, memoryFileStore, memoryStore } from "../dist/stores/index.js";
import type { FileStoreError } from "../index.js";
import { ABORT_REASONS } from "./support/hostile.ts";
import { rejectionValue } from "./support/read.ts";

const bytes = (text: string) => new Uint8Array(Buffer.from(text));
const document = (text: string) => ({ bytes: bytes(text), sizeBytes: Buffer.byteLength(text) });

describe("documents in memory", () => {
  const SOURCES: Record<string, MemoryDocuments> = {
    "a Map": new Map<string, string | Uint8Array>([
      ["src/a.ts", "text ü"],
      ["b", bytes("bytes")],
      ["c", Buffer.from("a Buffer")],
    ]),
    "an object": { "src/a.ts": "text ü", b: bytes("bytes"), c: Buffer.from("a Buffer") },
    pairs: (function* () {
      yield ["src/a.ts", "text ü"] as const;
      yield ["b", bytes("bytes")] as const;
      yield ["c", Buffer.from("a Buffer")] as const;
    })(),
  };
  for (const [name, source] of Object.entries(SOURCES)) {
    test(`${name} of text and bytes`, async () => {
      const store = memoryStore(source);
      assert.deepEqual(await store.get("src/a.ts", {}), document("text ü"));
      assert.deepEqual(await store.get("b", {}), document("bytes"));
      assert.deepEqual(await store.get("c", {}), document("a Buffer"));
      assert.equal(await store.get("d", {}), null);
    });
  }

  test("DocPaths are exact and case-sensitive", async () => {
    const names = [
      "a",
      "A",
      "a ",
      "./a",
      "/a",
      "a/",
      "a//b",
      "a/b",
      "x/../a",
      "",
      "\u00e9",
      "e\u0301",
    ];
    const store = memoryStore(names.map((name) => [name, `this is ${name}`] as const));
    for (const name of names) {
      assert.deepEqual(await store.get(name, {}), document(`this is ${name}`));
    }
    for (const name of ["B", "a.", "\\a", "a\\b", "a%2Fb", " a", "a\0"]) {
      assert.equal(await store.get(name, {}), null, name);
    }
  });

  test("an inherited property is no document, and an own key of that name is one", async () => {
    const inherited = ["constructor", "__proto__", "toString", "hasOwnProperty"];
    const none = memoryStore({});
    const own = memoryStore(JSON.parse('{"__proto__": "own", "constructor": "own"}'));
    for (const name of inherited) assert.equal(await none.get(name, {}), null);
    assert.deepEqual(await own.get("__proto__", {}), document("own"));
    assert.deepEqual(await own.get("constructor", {}), document("own"));
    assert.equal(await own.get("toString", {}), null);
  });

  test("maxBytes gives the first bytes and the size of the whole", async () => {
    const store = memoryStore({ a: "0123456789", "": "" });
    assert.deepEqual(await store.get("a", { maxBytes: 3 }), { bytes: bytes("012"), sizeBytes: 10 });
    assert.deepEqual(await store.get("a", { maxBytes: 10 }), document("0123456789"));
    assert.deepEqual(await store.get("a", { maxBytes: 11 }), document("0123456789"));
    assert.deepEqual(await store.get("", { maxBytes: 1 }), document(""));
    for (const maxBytes of [0, -1, 1.5, Number.NaN, "5"] as number[]) {
      await assert.rejects(async () => store.get("a", { maxBytes }), RangeError);
    }
  });

  test("null is absent, and so are the options", async () => {
    const store = memoryStore({ a: "a" });
    const loose = store.get as (docPath: string, options?: object) => Promise<unknown>;
    assert.deepEqual(await loose("a", { maxBytes: null, signal: null }), document("a"));
    assert.deepEqual(await loose("a"), document("a"));
  });

  test("changes to the given bytes, or to the bytes that get returned, do not change a document", async () => {
    const given = Buffer.from("document");
    const source = new Map<string, string | Uint8Array>([["a", given]]);
    const store = memoryStore(source);
    given.fill(0);
    source.set("a", "other");
    const got = await store.get("a", {});
    got?.bytes.fill(0);
    assert.deepEqual(await store.get("a", {}), document("document"));
  });

  test("a value that is neither text nor bytes is refused when the store is made", () => {
    const loose = memoryStore as (documents: unknown) => unknown;
    for (const value of [5, null, undefined, {}, [1], new ArrayBuffer(1)]) {
      assert.throws(
        () => loose({ "src/a": value }),
        /^TypeError: the document "src\/a" is neither/,
      );
    }
    assert.throws(
      () => loose({ a: "\ud800" }),
      /^TypeError: the document "a" has a lone surrogate/,
    );
  });

  for (const [name, reason] of ABORT_REASONS) {
    test(`an aborted call rejects with the reason itself, ${name}`, async () => {
      const signal = AbortSignal.abort(reason);
      const get = async () => memoryStore({ a: "a" }).get("a", { signal, maxBytes: -1 });
      assert.equal(await rejectionValue(get), reason);
    });
  }
});

describe("bytes in memory by their hash", () => {
  const data = bytes("some bytes\n");
  const hash = createHash("sha256").update(data).digest("hex");

  test("stored bytes come back", async () => {
    const store = memoryFileStore();
    assert.equal(await store.exists(hash), false);
    for (const _ of [1, 2]) assert.deepEqual(await store.putBytes(data), { hash, size: 11 });
    assert.equal(await store.exists(hash), true);
    assert.deepEqual(await store.getBytes(hash), data);
  });

  test("changes to the given bytes, or to the returned bytes, do not change the stored bytes", async () => {
    const store = memoryFileStore();
    const given = Buffer.from(data);
    await store.putBytes(given);
    given.fill(0);
    (await store.getBytes(hash)).fill(0);
    assert.deepEqual(await store.getBytes(hash), data);
  });

  test("its errors are FileStoreErrors", async () => {
    const store = memoryFileStore();
    const refusal = async (call: () => Promise<unknown>) => {
      const error = (await rejectionValue(call)) as FileStoreError;
      assert.ok(error instanceof Error);
      assert.equal(error.name, "FileStoreError");
      assert.deepEqual(Object.keys(error), ["code"]);
      assert.ok(error.message.startsWith(`${error.code}: `));
      return error.code;
    };
    assert.equal(await refusal(() => store.getBytes(hash)), "NOT_FOUND");
    for (const wrong of ["", hash.toUpperCase(), `${hash}\n`, "__proto__", null, 5] as string[]) {
      assert.equal(await refusal(() => store.getBytes(wrong)), "INVALID_ARGUMENT");
      assert.equal(await refusal(() => store.exists(wrong)), "INVALID_ARGUMENT");
    }
    const text = "text" as unknown as Uint8Array;
    assert.equal(await refusal(() => store.putBytes(text)), "INVALID_ARGUMENT");
  });

  test("an aborted call rejects with the reason itself", async () => {
    const store = memoryFileStore();
    const aborted = { signal: AbortSignal.abort("enough") };
    for (const call of [
      () => store.getBytes("no hash", aborted),
      () => store.exists("no hash", aborted),
      () => store.putBytes(data, aborted),
    ]) {
      assert.equal(await rejectionValue(call), "enough");
    }
    assert.equal(await store.exists(hash), false);
  });
});
