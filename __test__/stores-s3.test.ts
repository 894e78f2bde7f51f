// Stores over S3, against a real server: documents with ranged reads, content-addressed bytes, and
// networks that fail. docs/contract.md §6, §7.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import fs from "node:fs";
import { Readable } from "node:stream";
import { after, before, describe, test } from "node:test";
import type { S3Client } from "@aws-sdk/client-s3";
import { s3FileStore, s3Store } from "../dist/stores/s3.js";
import type { FileStoreError, StoredDocument } from "../index.js";
import { ABORT_REASONS } from "./support/hostile.ts";
import { rejectionValue } from "./support/read.ts";
import { type Bucket, S3Server, Wire } from "./support/s3.ts";

const MIB = 1024 * 1024;
const bytes = (text: string) => new Uint8Array(Buffer.from(text));
const document = (text: string, sizeBytes = Buffer.byteLength(text)) => ({
  bytes: bytes(text),
  sizeBytes,
});
const sha256 = (data: Uint8Array) => createHash("sha256").update(data).digest("hex");
const keyOf = (hash: string) => `${hash.slice(0, 2)}/${hash.slice(2)}`;
const range = (count: number) => Array.from({ length: count }, (_, i) => i);

let server: S3Server;
before(async () => {
  server = await S3Server.start();
});
after(() => server.stop());

/** A test body that gets a bucket of its own. */
function inBucket(body: (bucket: Bucket) => Promise<unknown>): () => Promise<void> {
  return async () => {
    await body(await server.bucket());
  };
}

/** A test body that gets a bucket of its own, and a way there that can fail. */
function overWire(
  body: (
    bucket: Bucket,
    wire: Wire,
    location: { client: S3Client; bucket: string },
  ) => Promise<unknown>,
): () => Promise<void> {
  return inBucket(async (bucket) => {
    const wire = await Wire.to(server.port);
    const client = server.client({ port: wire.port });
    try {
      await body(bucket, wire, { client, bucket: bucket.name });
    } finally {
      client.destroy();
      await wire.stop();
    }
  });
}

/** Has a client change its requests before they are signed. */
function changing(
  client: S3Client,
  change: (request: { headers: Record<string, string>; body?: unknown }) => void,
): S3Client {
  client.middlewareStack.add(
    (next) => (args) => {
      change(args.request as Parameters<typeof change>[0]);
      return next(args);
    },
    { step: "build", priority: "low" },
  );
  return client;
}

describe("documents", () => {
  test(
    "a document comes whole, with its size",
    inBucket(async (bucket) => {
      await bucket.put("src/a.ts", "const a = 1;\n");
      const store = s3Store(bucket.location);
      assert.deepEqual(await store.get("src/a.ts", {}), document("const a = 1;\n"));
    }),
  );

  test(
    "with maxBytes it is its first bytes, with the size of the whole",
    inBucket(async (bucket) => {
      await bucket.put("a.txt", "0123456789");
      const store = s3Store(bucket.location);
      for (const maxBytes of [1, 9]) {
        const expected = document("0123456789".slice(0, maxBytes), 10);
        assert.deepEqual(await store.get("a.txt", { maxBytes }), expected);
      }
      for (const maxBytes of [10, 11, Number.MAX_SAFE_INTEGER]) {
        assert.deepEqual(await store.get("a.txt", { maxBytes }), document("0123456789"));
      }
    }),
  );

  test(
    "an empty document is one",
    inBucket(async (bucket) => {
      await bucket.put("empty", "");
      const store = s3Store(bucket.location);
      assert.deepEqual(await store.get("empty", {}), document(""));
      assert.deepEqual(await store.get("empty", { maxBytes: 10 }), document(""));
    }),
  );

  test(
    "a missing object, and a key that no object can have, are null",
    inBucket(async (bucket) => {
      await bucket.put("a.txt", "a");
      const store = s3Store(bucket.location);
      for (const docPath of ["b.txt", "A.txt", "a.tx", "", "\ud800", "a".repeat(2000)]) {
        assert.equal(await store.get(docPath, {}), null, docPath);
        assert.equal(await store.get(docPath, { maxBytes: 5 }), null, docPath);
      }
    }),
  );

  test(
    "the key is prefix and DocPath, to the letter",
    inBucket(async (bucket) => {
      await bucket.put("docs/a.txt", "in the folder");
      await bucket.put("docs-a.txt", "with the prefix");
      const of = (prefix: string) => s3Store({ ...bucket.location, prefix }).get("a.txt", {});
      assert.deepEqual(await of("docs/"), document("in the folder"));
      assert.deepEqual(await of("docs-"), document("with the prefix"));
      assert.equal(await of("docs"), null);
      assert.equal(await of(""), null);
    }),
  );

  test(
    "a maxBytes that is no positive integer is refused before any request",
    overWire(async (_bucket, wire, location) => {
      for (const maxBytes of [0, -1, 1.5, Number.NaN, "5"] as number[]) {
        await assert.rejects(async () => s3Store(location).get("a", { maxBytes }), RangeError);
      }
      assert.deepEqual(wire.requests, []);
    }),
  );

  test("a location that is none is refused when the store is made", () => {
    const client = server.client();
    for (const make of [s3Store, s3FileStore] as ((location: unknown) => unknown)[]) {
      assert.throws(() => make({ bucket: "b" }), /^TypeError: client must be/);
      assert.throws(() => make({ client: {}, bucket: "b" }), /^TypeError: client must be/);
      for (const bucket of [undefined, null, "", 5]) {
        assert.throws(() => make({ client, bucket }), /^TypeError: bucket must be/);
      }
      assert.throws(() => make({ client, bucket: "b", prefix: 5 }), /^TypeError: prefix must be/);
      make({ client, bucket: "b", prefix: null, exactKeys: null });
    }
  });

  test(
    "a refusal by the server throws",
    inBucket(async (bucket) => {
      await bucket.put("a.txt", "a");
      const credentials = { accessKeyId: "RINGFENCE", secretAccessKey: "wrong" };
      const client = server.client({ credentials });
      const get = async () => s3Store({ ...bucket.location, client }).get("a.txt", {});
      await assert.rejects(get, { name: "SignatureDoesNotMatch" });
    }),
  );

  test(
    "64 readers at once find each of 1,000 documents",
    { timeout: 60_000 },
    inBucket(async (bucket) => {
      const text = (i: number) => `document ${i}\n`.repeat((i % 50) + 1);
      const store = s3Store({ ...bucket.location, prefix: "docs/" });
      for (const i of range(1000)) bucket.lay(`docs/src/${i % 10}/${i}.txt`, text(i));

      const found = new Set<number>();
      const reader = async (_: unknown, first: number) => {
        for (let i = first; i < 1000; i += 64) {
          const got = await store.get(`src/${i % 10}/${i}.txt`, { maxBytes: 100 });
          assert.deepEqual(got, document(text(i).slice(0, 100), text(i).length));
          found.add(i);
        }
      };
      await Promise.all(range(64).map(reader));
      assert.equal(found.size, 1000);
    }),
  );
});

describe("keys", () => {
  const NAMES = [
    "C#/Billing.cs#method:Tax",
    "what?.md",
    "a?x-id=GetObject",
    "100%.txt",
    "a%2Fb",
    "a%252Fb",
    "with space.txt",
    " leading and trailing ",
    "pl+us.txt",
    "back\\slash",
    "col:on",
    `quo'te"s`,
    "<xml>&amp;",
    "(paren)[bracket]{brace}!*~",
    "ünï/日本語/🎉.md",
    "e\u0301",
    "\u00e9",
    "..a/b../...",
    "Upper",
    "upper",
  ];

  test(
    "every DocPath finds its own document and no other",
    inBucket(async (bucket) => {
      for (const name of NAMES) await bucket.put(name, `this is ${name}`);
      const store = s3Store(bucket.location);
      for (const name of NAMES) {
        assert.deepEqual(await store.get(name, {}), document(`this is ${name}`), name);
      }
    }),
  );

  // The server of these tests takes some of these for others, or for none.
  const EXACT: [docPath: string, target: string][] = [
    ["/a", "//a"],
    ["a//b", "/a//b"],
    ["a/", "/a/"],
    ["a/../b", "/a/../b"],
    ["./a", "/./a"],
    ["a/.", "/a/."],
    ["a#b", "/a%23b"],
    ["a?b", "/a%3Fb"],
    ["a%2F..%2Fb", "/a%252F..%252Fb"],
    ["a b\u00e9", "/a%20b%C3%A9"],
  ];
  for (const [docPath, target] of EXACT) {
    test(
      `with exactKeys ${JSON.stringify(docPath)} goes over the wire as it is`,
      overWire(async (bucket, wire, location) => {
        await rejectionOrAnswer(s3Store({ ...location, exactKeys: true }).get(docPath, {}));
        assert.deepEqual(wire.requests, [`GET /${bucket.name}${target}?x-id=GetObject`]);
      }),
    );
  }

  for (const docPath of ["../b", "a/../b", "..", ".", "./b", "b/."]) {
    test(
      `there is no document under ${JSON.stringify(docPath)}, which a server may take for another`,
      overWire(async (bucket, wire, location) => {
        await bucket.put("b", "b");
        await bucket.put("a/b", "b");
        assert.equal(await s3Store(location).get(docPath, {}), null);
        assert.deepEqual(wire.requests, []);
      }),
    );
  }

  for (const docPath of ["..a", "a..", ".a/b", "...", "a/..b"]) {
    test(
      `${JSON.stringify(docPath)} is a key like any other`,
      overWire(async (bucket, wire, location) => {
        await rejectionOrAnswer(s3Store(location).get(docPath, {}));
        assert.deepEqual(wire.requests, [`GET /${bucket.name}/${docPath}?x-id=GetObject`]);
      }),
    );
  }

  test(
    "no DocPath leaves the prefix",
    inBucket(async (bucket) => {
      await bucket.put("secret", "secret");
      const store = s3Store({ ...bucket.location, prefix: "docs/" });
      assert.equal(await store.get("../secret", {}), null);
    }),
  );
});

describe("requests on the wire", () => {
  test(
    "1,000 bytes of 1 GiB are about 1,000 bytes",
    overWire(async (bucket, wire, location) => {
      await bucket.putZeros("large", 1024 * MIB);
      const got = await s3Store(location).get("large", { maxBytes: 1000 });
      assert.deepEqual(got, { bytes: new Uint8Array(1000), sizeBytes: 1024 * MIB });
      assert.ok(wire.answered < 3000, String(wire.answered));
    }),
  );

  test(
    "of a server that knows no ranges no more is read than it has sent already",
    overWire(async (bucket, wire, location) => {
      await bucket.putZeros("large", 256 * MIB);
      changing(location.client, ({ headers }) => {
        delete headers.range;
      });
      const got = await s3Store(location).get("large", { maxBytes: 1000 });
      assert.deepEqual(got, { bytes: new Uint8Array(1000), sizeBytes: 256 * MIB });
      await wire.idle();
      // What the sockets between hold, and no more.
      assert.ok(wire.answered < 16 * MIB, String(wire.answered));
    }),
  );

  for (const maxBytes of [undefined, 1_000_000]) {
    test(
      `a connection that ends in the middle of a body is an error, maxBytes ${maxBytes}`,
      overWire(async (bucket, wire, location) => {
        await bucket.putZeros("large", 2_000_000);
        wire.faults = { cutAfter: 500_000 };
        const options = maxBytes === undefined ? {} : { maxBytes };
        const error = await rejectionValue(async () => s3Store(location).get("large", options));
        assert.ok(error instanceof Error);
      }),
    );
  }

  test(
    "a connection that ends before the answer is an error",
    overWire(async (bucket, wire, location) => {
      await bucket.put("a.txt", "a");
      wire.faults = { cutAfter: 20 };
      const error = await rejectionValue(async () => s3Store(location).get("a.txt", {}));
      assert.ok(error instanceof Error);
    }),
  );

  test(
    "retries are the client's: it tries again when an answer does not come",
    inBucket(async (bucket) => {
      await bucket.put("a.txt", "a");
      const wire = await Wire.to(server.port);
      wire.faults = { cutAfter: 20 };
      const client = server.client({ port: wire.port, maxAttempts: 2 });
      changing(client, () => {});
      try {
        client.middlewareStack.add(
          (next) => async (args) => {
            const answer = next(args);
            await answer.catch(() => {});
            wire.faults = {};
            return answer;
          },
          { step: "deserialize" },
        );
        assert.deepEqual(
          await s3Store({ client, bucket: bucket.name }).get("a.txt", {}),
          document("a"),
        );
        assert.equal(wire.requests.length, 2);
      } finally {
        client.destroy();
        await wire.stop();
      }
    }),
  );
});

describe("answers of servers", () => {
  /** The answer to a request for 4 bytes, by a client that says what `output` does. */
  function answered(output: object): Promise<unknown> {
    const client = server.client();
    client.middlewareStack.add(() => async () => ({ output, response: {} }) as never, {
      step: "initialize",
    });
    return Promise.resolve(s3Store({ client, bucket: "b" }).get("a.txt", { maxBytes: 4 }));
  }
  const body = (...chunks: string[]) => Readable.from(chunks.map(bytes));

  test("a stream of the web", async () => {
    const Body = { transformToWebStream: () => new Blob(["01234567"]).stream() };
    assert.deepEqual(await answered({ Body, ContentLength: 8 }), document("0123", 8));
  });

  test("chunks of any size", async () => {
    const part = { ContentLength: 4, ContentRange: "bytes 0-3/9" };
    assert.deepEqual(await answered({ Body: body("0", "", "123"), ...part }), document("0123", 9));
  });

  test("everything, without a length", async () => {
    assert.deepEqual(await answered({ Body: body("012", "345", "67") }), document("0123", 8));
  });

  const WRONG: Record<string, object> = {
    "fewer bytes than the length": { Body: body("012"), ContentLength: 8 },
    "fewer bytes than the range": {
      Body: body("01"),
      ContentLength: 4,
      ContentRange: "bytes 0-3/9",
    },
    "another range": { Body: body("4567"), ContentLength: 4, ContentRange: "bytes 4-7/9" },
    "a range of unknown size": {
      Body: body("0123"),
      ContentLength: 4,
      ContentRange: "bytes 0-3/*",
    },
    "no body": { ContentLength: 4 },
  };
  for (const [name, output] of Object.entries(WRONG)) {
    test(`${name} is an error`, () => assert.rejects(answered(output), Error));
  }
});

describe("an aborted read", () => {
  for (const [name, reason] of ABORT_REASONS) {
    test(
      `rejects with the reason itself, in the middle of the body, ${name}`,
      overWire(async (bucket, wire, location) => {
        await bucket.putZeros("large", 64 * MIB);
        wire.faults = { stallAfter: 100_000 };
        const controller = new AbortController();
        const stalled = wire.stalled();
        const reading = rejectionValue(async () =>
          s3Store(location).get("large", { signal: controller.signal }),
        );
        await stalled;
        controller.abort(reason);
        assert.equal(await reading, reason);
        await wire.idle();
      }),
    );
  }

  test(
    "rejects with the reason before any request if it comes first",
    overWire(async (_bucket, wire, location) => {
      const signal = AbortSignal.abort("enough");
      const get = async () => s3Store(location).get("..", { signal, maxBytes: -1 });
      assert.equal(await rejectionValue(get), "enough");
      assert.deepEqual(wire.requests, []);
    }),
  );

  test(
    "the caller's onabort is left alone",
    inBucket(async (bucket) => {
      await bucket.put("a.txt", "a");
      const controller = new AbortController();
      let calls = 0;
      controller.signal.onabort = () => {
        calls += 1;
      };
      const { signal } = controller;
      assert.deepEqual(await s3Store(bucket.location).get("a.txt", { signal }), document("a"));
      controller.abort();
      assert.equal(calls, 1);
    }),
  );
});

describe("bytes by their hash", () => {
  const data = bytes("some bytes\n");
  const hash = sha256(data);

  test(
    "they are kept at two digits and sixty-two, behind the prefix",
    inBucket(async (bucket) => {
      const store = s3FileStore({ ...bucket.location, prefix: "cas/" });
      assert.equal(await store.exists(hash), false);
      assert.deepEqual(await store.putBytes(data), { hash, size: data.length });
      assert.equal(await store.exists(hash), true);
      assert.deepEqual(await store.getBytes(hash), data);
      assert.deepEqual(fs.readFileSync(bucket.file(`cas/${keyOf(hash)}`)), Buffer.from(data));
      assert.equal(await s3FileStore(bucket.location).exists(hash), false);
    }),
  );

  test(
    "none, and a few MiB, are bytes like others",
    inBucket(async (bucket) => {
      const store = s3FileStore(bucket.location);
      for (const some of [new Uint8Array(), new Uint8Array(5 * MIB).fill(7)]) {
        const stored = await store.putBytes(some);
        assert.deepEqual(stored, { hash: sha256(some), size: some.length });
        assert.equal(Buffer.compare(await store.getBytes(stored.hash), some), 0);
      }
    }),
  );

  test(
    "bytes that are stored already are not sent again",
    overWire(async (bucket, wire, location) => {
      const large = new Uint8Array(MIB).fill(1);
      await s3FileStore(bucket.location).putBytes(large);
      assert.deepEqual(await s3FileStore(location).putBytes(large), {
        hash: sha256(large),
        size: MIB,
      });
      assert.deepEqual(wire.requests, [`HEAD /${bucket.name}/${keyOf(sha256(large))}`]);
      assert.ok(wire.asked < 3000, String(wire.asked));
    }),
  );

  test(
    "an object of another size is replaced",
    inBucket(async (bucket) => {
      const store = s3FileStore(bucket.location);
      await bucket.put(keyOf(hash), "some");
      await store.putBytes(data);
      assert.deepEqual(await store.getBytes(hash), data);
    }),
  );

  test(
    "64 writers of the same bytes at once all succeed",
    inBucket(async (bucket) => {
      const store = s3FileStore(bucket.location);
      const stored = await Promise.all(range(64).map(() => store.putBytes(data)));
      for (const answer of stored) assert.deepEqual(answer, { hash, size: data.length });
      assert.deepEqual(await store.getBytes(hash), data);
    }),
  );

  test(
    "bytes that change under way are refused by the server",
    overWire(async (_bucket, _wire, location) => {
      const checksums: unknown[] = [];
      changing(location.client, (request) => {
        if (!(request.body instanceof Uint8Array)) return;
        checksums.push(request.headers["x-amz-checksum-sha256"]);
        request.body = bytes("SOME BYTES\n");
      });
      const error = await storeError(() => s3FileStore(location).putBytes(data));
      assert.deepEqual(checksums, [Buffer.from(hash, "hex").toString("base64")]);
      assert.equal(error.code, "INTERNAL");
      assert.match(error.message, /\(BadDigest\)$/);
    }),
  );

  test(
    "the caller may change his bytes while they are stored",
    inBucket(async (bucket) => {
      const store = s3FileStore(bucket.location);
      const mine = Uint8Array.from(data);
      const storing = store.putBytes(mine);
      mine.fill(0);
      assert.deepEqual(await storing, { hash, size: data.length });
      assert.deepEqual(await store.getBytes(hash), data);
    }),
  );

  test(
    "a flipped bit on the server's disk is CORRUPT",
    inBucket(async (bucket) => {
      const store = s3FileStore(bucket.location);
      await store.putBytes(data);
      const flipped = Uint8Array.from(data);
      flipped[3] = 0x20 ^ (flipped[3] ?? 0);
      fs.writeFileSync(bucket.file(keyOf(hash)), flipped);
      const error = await storeError(() => store.getBytes(hash));
      assert.equal(error.code, "CORRUPT");
      assert.match(error.message, new RegExp(hash));
      assert.equal(await store.exists(hash), true);
    }),
  );

  test(
    "other bytes under a hash, with a checksum of their own, are CORRUPT",
    inBucket(async (bucket) => {
      await bucket.put(keyOf(hash), "other bytes");
      const error = await storeError(() => s3FileStore(bucket.location).getBytes(hash));
      assert.equal(error.code, "CORRUPT");
      assert.match(error.message, new RegExp(hash));
    }),
  );

  test(
    "a hash that is none is refused before any request",
    overWire(async (_bucket, wire, location) => {
      const store = s3FileStore(location);
      const wrong = ["", "abc", hash.toUpperCase(), `${hash}\n`, `../${hash}`, null, 5, {}];
      for (const value of wrong as string[]) {
        for (const call of [() => store.getBytes(value), () => store.exists(value)]) {
          assert.equal((await storeError(call)).code, "INVALID_ARGUMENT");
        }
      }
      for (const value of ["text", null, [1, 2], new ArrayBuffer(2)] as unknown as Uint8Array[]) {
        assert.equal((await storeError(() => store.putBytes(value))).code, "INVALID_ARGUMENT");
      }
      assert.deepEqual(wire.requests, []);
    }),
  );

  test(
    "a missing object is NOT_FOUND",
    inBucket(async (bucket) => {
      const error = await storeError(() => s3FileStore(bucket.location).getBytes(hash));
      assert.equal(error.code, "NOT_FOUND");
    }),
  );

  test(
    "credentials that may not are PERMISSION_DENIED",
    inBucket(async (bucket) => {
      const credentials = { accessKeyId: "RINGFENCE", secretAccessKey: "wrong" };
      const store = s3FileStore({ ...bucket.location, client: server.client({ credentials }) });
      for (const call of [
        () => store.getBytes(hash),
        () => store.exists(hash),
        () => store.putBytes(data),
      ]) {
        assert.equal((await storeError(call)).code, "PERMISSION_DENIED");
      }
    }),
  );

  test(
    "a server that is not there is INTERNAL",
    overWire(async (_bucket, wire, location) => {
      wire.faults = { cutAfter: 0 };
      const store = s3FileStore(location);
      for (const call of [
        () => store.getBytes(hash),
        () => store.exists(hash),
        () => store.putBytes(data),
      ]) {
        assert.equal((await storeError(call)).code, "INTERNAL");
      }
    }),
  );

  test(
    "a connection that ends in the middle of the bytes is INTERNAL, never CORRUPT or short",
    overWire(async (bucket, wire, location) => {
      const large = new Uint8Array(2 * MIB).fill(1);
      await s3FileStore(bucket.location).putBytes(large);
      wire.faults = { cutAfter: MIB };
      const error = await storeError(() => s3FileStore(location).getBytes(sha256(large)));
      assert.equal(error.code, "INTERNAL");
    }),
  );

  test(
    "an aborted call rejects with the reason itself",
    overWire(async (bucket, wire, location) => {
      const large = new Uint8Array(4 * MIB).fill(1);
      await s3FileStore(bucket.location).putBytes(large);
      const store = s3FileStore(location);
      const aborted = { signal: AbortSignal.abort("enough") };
      for (const call of [
        () => store.getBytes("no hash", aborted),
        () => store.exists("no hash", aborted),
        () => store.putBytes("no bytes" as unknown as Uint8Array, aborted),
      ]) {
        assert.equal(await rejectionValue(call), "enough");
      }
      assert.deepEqual(wire.requests, []);

      wire.faults = { stallAfter: MIB };
      const controller = new AbortController();
      const stalled = wire.stalled();
      const reading = rejectionValue(() => store.getBytes(sha256(large), controller));
      await stalled;
      controller.abort("enough");
      assert.equal(await reading, "enough");
      await wire.idle();
    }),
  );
});

async function rejectionOrAnswer(
  answer: StoredDocument | null | undefined | PromiseLike<StoredDocument | null | undefined>,
): Promise<void> {
  await Promise.resolve(answer).catch(() => {});
}

/** The error of a call, of the form that every one has. */
async function storeError(call: () => Promise<unknown>): Promise<FileStoreError> {
  const error = await rejectionValue(call);
  assert.ok(error instanceof Error);
  assert.equal(error.name, "FileStoreError");
  assert.deepEqual(Object.keys(error), ["code"]);
  const { code, message } = error as FileStoreError;
  assert.match(message, new RegExp(`^${code}: [^\\n]+$`));
  for (const secret of server.secrets) {
    assert.ok(!message.includes(secret), `the message tells ${secret}: ${message}`);
  }
  return error as FileStoreError;
}
