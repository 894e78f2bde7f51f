// Bytes of another realm, such as a test runner's or a `vm` context's, in every store. docs/contract.md §7.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { describe, test } from "node:test";
import vm from "node:vm";
import { memoryFileStore, memoryStore, unstorageStore } from "../dist/stores/index.js";
import { s3FileStore } from "../dist/stores/s3.js";
import { type ContentAddressedStore, FileStore } from "../index.js";
import { S3Stub, s3Error } from "./support/s3-stub.ts";
import { inWorkspace } from "./support/workspace.ts";

const realm = vm.createContext({});
const foreign = (code: string): unknown => vm.runInContext(code, realm);
const TEXT = "document";
const expected = { bytes: new Uint8Array(Buffer.from(TEXT)), sizeBytes: TEXT.length };
const codes = JSON.stringify([...Buffer.from(TEXT)]);

/** A subclass that overrides the properties of its base class with wrong values. */
class Lying extends Uint8Array {
  override get length() {
    return 2;
  }
  override subarray(): never {
    throw new Error("subarray was called");
  }
}
Object.defineProperty(Lying, Symbol.species, {
  get: () => {
    throw new Error("species was asked");
  },
});

const BYTES: Record<string, unknown> = {
  "a Uint8Array of another realm": foreign(`new Uint8Array(${codes})`),
  "a part of a buffer of another realm": foreign(
    `new Uint8Array(new Uint8Array([9, ...${codes}, 9]).buffer, 1, ${TEXT.length})`,
  ),
  "a subclass of another realm": foreign(`new (class Mine extends Uint8Array {})(${codes})`),
  "a subclass that lies": Lying.from(Buffer.from(TEXT)),
  "a Buffer": Buffer.from(TEXT),
};

const NO_BYTES: Record<string, unknown> = {
  "an array of another realm": foreign("[1, 2]"),
  "an ArrayBuffer of another realm": foreign("new ArrayBuffer(2)"),
  "a Uint16Array of another realm": foreign("new Uint16Array(2)"),
  "a forged tag": { [Symbol.toStringTag]: "Uint8Array", length: 2, 0: 1, 1: 2 },
  "a forged prototype": Object.create(Uint8Array.prototype),
  "a proxy": new Proxy(new Uint8Array(2), {}),
};

// D7: `instanceof` knows the types of one realm only.
for (const [name, value] of Object.entries(BYTES)) {
  const bytes = value as Uint8Array;
  const hash = createHash("sha256").update(TEXT).digest("hex");

  test(`second look D7: documents in memory may be ${name}`, async () => {
    for (const documents of [{ a: bytes }, new Map([["a", bytes]])]) {
      assert.deepEqual(await memoryStore(documents).get("a", {}), expected);
    }
  });

  test(`second look D7: a driver of unstorage may answer with ${name}`, async () => {
    const store = unstorageStore({ getItemRaw: async () => value });
    assert.deepEqual(await store.get("a", {}), expected);
    const start = await store.get("a", { maxBytes: 3 });
    assert.deepEqual(start, { bytes: expected.bytes.slice(0, 3), sizeBytes: TEXT.length });
  });

  const puts = async (store: ContentAddressedStore | FileStore) => {
    assert.deepEqual(await store.putBytes(bytes), { hash, size: TEXT.length });
  };
  test(`second look D7: bytes by their hash may be ${name}, in memory`, async () => {
    const store = memoryFileStore();
    await puts(store);
    assert.deepEqual(await store.getBytes(hash), expected.bytes);
  });

  test(
    `second look D7: bytes by their hash may be ${name}, in a directory`,
    inWorkspace(async (ws) => puts(FileStore.open(ws.root))),
  );

  test(`second look D7: bytes by their hash may be ${name}, in S3`, () =>
    S3Stub.with(
      ({ method }) => (method === "HEAD" ? s3Error(404, "NotFound") : { status: 200 }),
      async (stub) => {
        await puts(s3FileStore(stub.location));
        const [, put] = stub.asked;
        const sum = Buffer.from(hash, "hex").toString("base64");
        assert.deepEqual(
          [put?.method, put?.headers["content-length"], put?.headers["x-amz-checksum-sha256"]],
          ["PUT", String(TEXT.length), sum],
        );
      },
    ));
}

for (const [name, value] of Object.entries(NO_BYTES)) {
  const bytes = value as Uint8Array;

  test(`second look D7: ${name} is refused`, async () => {
    assert.throws(() => memoryStore({ a: bytes }), TypeError);
    await assert.rejects(() => memoryFileStore().putBytes(bytes), { code: "INVALID_ARGUMENT" });
    await S3Stub.with(
      () => ({ status: 500 }),
      async (stub) => {
        const put = () => s3FileStore(stub.location).putBytes(bytes);
        await assert.rejects(put, { code: "INVALID_ARGUMENT" });
        assert.equal(stub.asked.length, 0);
      },
    );
  });
}

describe("second look D7: answers of unstorage drivers", () => {
  const VALUES: Record<string, unknown> = {
    "an ArrayBuffer": foreign(`new Uint8Array(${codes}).buffer`),
    "a view": foreign(`new DataView(new Uint8Array(${codes}).buffer)`),
    "a SharedArrayBuffer": (() => {
      const shared = new SharedArrayBuffer(TEXT.length);
      new Uint8Array(shared).set(expected.bytes);
      return shared;
    })(),
  };
  for (const [name, value] of Object.entries(VALUES)) {
    test(`second look D7: ${name} of another realm is the document`, async () => {
      const store = unstorageStore({ getItemRaw: () => value });
      assert.deepEqual(await store.get("a", {}), expected);
    });
  }

  test("second look D7: an error of another realm is thrown, or says that nothing is there", async () => {
    const failing = (code: string) =>
      unstorageStore({
        getItemRaw: () => foreign(`Object.assign(new Error("failed"), { code: "${code}" })`),
      });
    await assert.rejects(async () => failing("EIO").get("a", {}), { message: "failed" });
    assert.equal(await failing("ENOTDIR").get("a/b", {}), null);
    assert.equal(await failing("ENAMETOOLONG").get("a".repeat(300), {}), null);
  });
});

// B21: properties of `Object.prototype` are no options.
test("options are the caller's own: nothing that stands on Object.prototype counts", async () => {
  const polluted = Object.prototype as Record<string, unknown>;
  Object.assign(polluted, { exactKeys: true, prefix: "other/", maxBytes: 1 });
  try {
    assert.deepEqual(await memoryStore({ a: TEXT }).get("a", {}), expected);
    assert.deepEqual(await unstorageStore({ getItemRaw: () => TEXT }).get("a", {}), expected);
  } finally {
    for (const key of ["exactKeys", "prefix", "maxBytes"]) delete polluted[key];
  }
});
