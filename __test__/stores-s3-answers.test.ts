// `s3Store` with servers' various answers to ranges, bodies without an end, and keys that no object can have.
// docs/contract.md §7.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import { describe, test } from "node:test";
import { S3Client } from "@aws-sdk/client-s3";
import { s3FileStore, s3Store } from "../dist/stores/s3.js";
import { readSourceDocument } from "../index.js";
import { type Answered, type Asked, S3Stub, s3Error, zeros } from "./support/s3-stub.ts";

const TEXT = "01234567890";
const SLACK = 16 * 1024 * 1024;
const document = (text: string, sizeBytes = text.length) => ({
  bytes: new Uint8Array(Buffer.from(text)),
  sizeBytes,
});

/** The document of a server that does right where it is asked without a range. */
function whole(text = TEXT): Answered {
  return { status: 200, headers: { "content-length": text.length }, body: text };
}

function part(text: string, headers: Record<string, string | number>): Answered {
  return { status: 206, headers: { "content-length": text.length, ...headers }, body: text };
}

/** What `s3Store` answers, and `readSourceDocument` with it, of a server that answers ranges so. */
async function asked(
  ranged: Answered,
  maxBytes: number,
  unranged: Answered = whole(),
): Promise<{ got: unknown; answered: unknown; questions: string[] }> {
  const results: { got: unknown; answered: unknown; questions: string[] }[] = [];
  await S3Stub.with(
    ({ headers }) => (headers.range === undefined ? unranged : ranged),
    async (stub) => {
      const store = s3Store(stub.location);
      const got = await Promise.resolve(store.get("a.txt", { maxBytes })).catch((error) => error);
      const questions = stub.asked.map(({ method, headers }) => `${method} ${headers.range ?? ""}`);
      const { file, errorCode } = await readSourceDocument({ path: "a.txt", maxBytes }, { store });
      const answered = file ? [file.content, file.sizeBytes, file.isTruncated] : errorCode;
      results.push({ got, answered, questions });
    },
  );
  const [result] = results;
  assert.ok(result);
  return result;
}

// D1: the answer to a range has too little of the document, or nothing.
describe("second look D1: a range that the server refuses", () => {
  const REFUSALS: Record<string, Answered> = {
    "with the size": s3Error(416, "InvalidRange"),
    "with the size in the body": s3Error(
      416,
      "InvalidRange",
      "<ActualObjectSize>11</ActualObjectSize>",
    ),
    "with a size of another unit": s3Error(416, "InvalidRange"),
    "without a size": s3Error(416, "InvalidRange"),
  };
  const header = (name: string, range: string) => {
    const answer = REFUSALS[name] as Answered;
    answer.headers = { ...answer.headers, "content-range": range };
  };
  header("with the size", "bytes */11");
  header("with a size of another unit", "items */0");

  for (const [name, refusal] of Object.entries(REFUSALS)) {
    test(`second look D1: ${name} is asked for again without one`, async () => {
      const { got, answered, questions } = await asked(refusal, 5);
      assert.deepEqual(got, document("01234", 11));
      assert.deepEqual(answered, ["01234", 11, true]);
      assert.deepEqual(questions, ["GET bytes=0-4", "GET "]);
    });
  }

  test("second look D1: a document is empty only where the server says so", async () => {
    const empty = s3Error(416, "InvalidRange");
    empty.headers = { ...empty.headers, "content-range": "bytes */0" };
    const { got, answered, questions } = await asked(empty, 5, s3Error(500, "InternalError"));
    assert.deepEqual([got, answered], [document(""), ["", 0, false]]);
    assert.deepEqual(questions, ["GET bytes=0-4"]);
    const inBody = s3Error(416, "InvalidRange", "<ActualObjectSize>0</ActualObjectSize>");
    assert.deepEqual((await asked(inBody, 5, s3Error(500, "InternalError"))).got, document(""));
  });

  test("second look D1: one that is refused without a range, too, is an error", async () => {
    const refusal = s3Error(416, "InvalidRange");
    const { got, answered } = await asked(refusal, 5, refusal);
    assert.ok(got instanceof Error);
    assert.equal(answered, "INTERNAL_ERROR");
  });
});

// D2: a partial answer without its range.
describe("second look D2: a part whose range does not fit", () => {
  const PARTS: Record<string, Answered> = {
    "without Content-Range": part("01234", {}),
    "of unknown size": part("01234", { "content-range": "bytes 0-4/*" }),
    "from further on": part("56789", { "content-range": "bytes 5-9/11" }),
    "shorter than asked for": part("012", { "content-range": "bytes 0-2/11" }),
    "longer than the document": part("01234", { "content-range": "bytes 0-4/3" }),
    "of another unit": part("01234", { "content-range": "items 0-4/11" }),
    "of a size beyond all numbers": part("01234", {
      "content-range": "bytes 0-4/99999999999999999999",
    }),
  };
  for (const [name, answer] of Object.entries(PARTS)) {
    test(`second look D2: ${name} is asked for again without a range`, async () => {
      const { got, answered, questions } = await asked(answer, 5);
      assert.deepEqual(got, document("01234", 11));
      assert.deepEqual(answered, ["01234", 11, true]);
      assert.deepEqual(questions, ["GET bytes=0-4", "GET "]);
    });

    test(`second look D2: ${name} is an error where nothing else comes`, async () => {
      const { got, answered } = await asked(answer, 5, answer);
      assert.ok(got instanceof Error);
      assert.equal(answered, "INTERNAL_ERROR");
    });
  }

  test("second look D2: a part that is all of it is the document", async () => {
    const all = part(TEXT, { "content-range": "bytes 0-10/11" });
    const { got, questions } = await asked(all, 50);
    assert.deepEqual([got, questions], [document(TEXT), ["GET bytes=0-49"]]);
    // A server that sends it unasked, too.
    await S3Stub.with(
      () => all,
      async (stub) => {
        assert.deepEqual(await s3Store(stub.location).get("a", {}), document(TEXT));
      },
    );
  });
});

// D3: a checksum of other bytes than the answer's.
describe("second look D3: a part with a checksum of the whole", () => {
  const sha256 = createHash("sha256").update(TEXT).digest("base64");
  const CHECKSUMS: Record<string, Record<string, string>> = {
    "of the whole object": {
      "x-amz-checksum-sha256": sha256,
      "x-amz-checksum-type": "FULL_OBJECT",
    },
    composite: { "x-amz-checksum-sha256": `${sha256}-3`, "x-amz-checksum-type": "COMPOSITE" },
    "of two kinds": { "x-amz-checksum-crc32": "AAAAAA==", "x-amz-checksum-sha256": `${sha256}-3` },
    "that is none": { "x-amz-checksum-sha1": "nonsense" },
  };
  for (const [name, headers] of Object.entries(CHECKSUMS)) {
    test(`second look D3: ${name} is a part like others`, async () => {
      const answer = part("01234", { "content-range": "bytes 0-4/11", ...headers });
      const { got, answered } = await asked(answer, 5);
      assert.deepEqual(got, document("01234", 11));
      assert.deepEqual(answered, ["01234", 11, true]);
    });
  }

  test("second look D3: no checksum is asked for with a range, and one is without", async () => {
    await S3Stub.with(
      ({ headers }) =>
        headers.range === undefined ? whole() : part("01234", { "content-range": "bytes 0-4/11" }),
      async (stub) => {
        const store = s3Store(stub.location);
        await store.get("a", { maxBytes: 5 });
        await store.get("a", {});
        const modes = stub.asked.map(({ headers }) => headers["x-amz-checksum-mode"]);
        assert.deepEqual(modes, [undefined, "ENABLED"]);
      },
    );
  });

  test("second look D3: a whole document that does not have its checksum is an error", async () => {
    const answer = whole();
    const other = createHash("sha256").update("other").digest("base64");
    answer.headers = { ...answer.headers, "x-amz-checksum-sha256": other };
    await S3Stub.with(
      () => answer,
      (stub) =>
        assert.rejects(async () => s3Store(stub.location).get("a", {}), /Checksum mismatch/),
    );
  });
});

// D4: an empty document has no first byte, and servers answer that in several ways.
describe("second look D4: an empty document", () => {
  const ANSWERS: Record<string, Answered> = {
    "206 bytes 0--1/0": part("", { "content-range": "bytes 0--1/0" }),
    "206 bytes */0": part("", { "content-range": "bytes */0" }),
    "200 without bytes": { status: 200, headers: { "content-length": 0 } },
    "200 without bytes or length": { status: 200 },
  };
  for (const [name, answer] of Object.entries(ANSWERS)) {
    test(`second look D4: answered with ${name} is an empty document`, async () => {
      const { got, answered } = await asked(answer, 5, answer);
      assert.deepEqual([got, answered], [document(""), ["", 0, false]]);
    });
  }
});

// D5: the server says that no object can have the key, so there is no document.
describe("second look D5: a key that no object can have", () => {
  const answers = async (answer: Answered, call: (stub: S3Stub) => unknown) => {
    const got: unknown[] = [];
    await S3Stub.with(
      () => answer,
      async (stub) => {
        got.push(await Promise.resolve(call(stub)).catch((error) => error));
      },
    );
    return got[0];
  };
  const get = (stub: S3Stub) => s3Store(stub.location).get("a//b", {});
  const getPart = (stub: S3Stub) => s3Store(stub.location).get("a//b", { maxBytes: 5 });
  const read = async (stub: S3Stub) => {
    const context = { store: s3Store(stub.location) };
    return (await readSourceDocument({ path: "a//b" }, context)).errorCode;
  };

  for (const [code, status] of [
    ["XMinioInvalidObjectName", 400],
    ["XMinioInvalidResourceName", 400],
    ["XMinioParentIsObject", 400],
    ["XMinioObjectExistsAsDirectory", 409],
    ["InvalidObjectName", 400],
    ["InvalidURI", 400],
    ["KeyTooLongError", 400],
    ["NoSuchKey", 404],
  ] as const) {
    test(`second look D5: ${code} is a document that is not there`, async () => {
      const answer = s3Error(status, code);
      assert.equal(await answers(answer, get), null);
      assert.equal(await answers(answer, getPart), null);
      assert.equal(await answers(answer, read), "NOT_FOUND");
    });
  }

  for (const [code, status] of [
    ["InvalidRequest", 400],
    ["InvalidArgument", 400],
    ["BadRequest", 400],
    ["ExpiredToken", 400],
    ["AuthorizationHeaderMalformed", 400],
    ["InvalidBucketName", 400],
    ["NoSuchBucket", 404],
    ["InvalidObjectName", 500],
    ["AccessDenied", 403],
  ] as const) {
    test(`second look D5: ${status} ${code} is an error`, async () => {
      const answer = s3Error(status, code);
      assert.ok((await answers(answer, get)) instanceof Error);
      assert.ok((await answers(answer, getPart)) instanceof Error);
      assert.equal(await answers(answer, read), "INTERNAL_ERROR");
    });
  }
});

// D8: a body that is longer than the wanted bytes.
describe("second look D8: no more is read than is wanted", () => {
  const HUGE = 3_000_000_000;
  /** A server that tells a document's size to HEAD alone, if at all. */
  const serving =
    (answer: Answered, headSize: number | null = null) =>
    ({ method }: Asked): Answered => {
      if (method !== "HEAD") return answer;
      return { status: 200, headers: headSize === null ? {} : { "content-length": headSize } };
    };
  const body = () => zeros(HUGE);
  const SERVERS: Record<string, { answer: () => Answered; headSize?: number; is: unknown }> = {
    "everything, without a length, whose size HEAD tells": {
      answer: () => ({ status: 200, body: body() }),
      headSize: HUGE,
      is: document("0".repeat(10), HUGE),
    },
    "everything, without a length, whose size nothing tells": {
      answer: () => ({ status: 200, body: body() }),
      is: Error,
    },
    "everything, without a length, of a size that is less than came": {
      answer: () => ({ status: 200, body: body() }),
      headSize: 5,
      is: Error,
    },
    "everything, with its length": {
      answer: () => ({ status: 200, headers: { "content-length": HUGE }, body: body() }),
      is: document("0".repeat(10), HUGE),
    },
    "a part without an end": {
      answer: () => ({ status: 206, headers: { "content-range": "bytes 0-9/50" }, body: body() }),
      is: document("0".repeat(10), 50),
    },
    "a part that claims to be all": {
      answer: () =>
        part("", { "content-range": `bytes 0-${HUGE - 1}/${HUGE}`, "content-length": HUGE }),
      is: Error,
    },
  };
  for (const [name, { answer, headSize, is }] of Object.entries(SERVERS)) {
    test(`second look D8: of ${name}`, { timeout: 30_000 }, async () => {
      await S3Stub.with(serving(answer(), headSize), async (stub) => {
        const store = s3Store(stub.location);
        const got = await Promise.resolve(store.get("a", { maxBytes: 10 })).catch((error) => error);
        if (is === Error) assert.ok(got instanceof Error, JSON.stringify(got));
        else assert.deepEqual(got, is);
        await stub.idle();
        assert.ok(stub.sent < SLACK, `${stub.sent} bytes were sent`);
      });
    });
  }

  test("second look D8: a body without a length that ends is its own size", async () => {
    for (const [text, maxBytes] of [
      ["012", 10],
      ["0123456789", 10],
      ["01234567890123456789", 10],
    ] as const) {
      await S3Stub.with(
        () => ({ status: 200, body: text }),
        async (stub) => {
          const got = await s3Store(stub.location).get("a", { maxBytes });
          assert.deepEqual(got, document(text.slice(0, maxBytes), text.length));
          assert.deepEqual(stub.asked.length, 1);
        },
      );
    }
  });

  test("second look D8: more than can be answered is refused before it is read", async () => {
    const answer = { status: 200, headers: { "content-length": HUGE }, body: body() };
    const hash = "0".repeat(64);
    const calls: ((stub: S3Stub) => unknown)[] = [
      (stub) => s3Store(stub.location).get("a", {}),
      (stub) => s3Store(stub.location).get("a", { maxBytes: 1_000_000_000 }),
    ];
    for (const call of calls) {
      await S3Stub.with(
        () => ({ ...answer, body: body() }),
        async (stub) => {
          await assert.rejects(async () => call(stub), { code: "TOO_LARGE" });
          await stub.idle();
          assert.ok(stub.sent < SLACK, `${stub.sent} bytes were sent`);
        },
      );
    }
    const larger = { "content-length": 5_000_000_000 };
    await S3Stub.with(
      () => ({ status: 200, headers: larger, body: body() }),
      async (stub) => {
        const get = async () => s3FileStore(stub.location).getBytes(hash);
        await assert.rejects(get, { code: "INTERNAL", name: "FileStoreError" });
        await stub.idle();
        assert.ok(stub.sent < SLACK, `${stub.sent} bytes were sent`);
      },
    );
  });

  /** A client whose answers are made here, with bodies that say how often they were asked. */
  function answering(output: () => object): S3Client {
    const client = new S3Client({ region: "us-east-1", maxAttempts: 1 });
    client.middlewareStack.add(() => async () => ({ output: output(), response: {} }) as never, {
      step: "initialize",
    });
    return client;
  }

  test("second look D8: more than was announced is an error, and is not read", async () => {
    let chunks = 0;
    async function* endless() {
      for (;;) {
        chunks += 1;
        yield new Uint8Array(65_536);
      }
    }
    for (const maxBytes of [undefined, 100]) {
      chunks = 0;
      const client = answering(() => ({ Body: endless(), ContentLength: 8 }));
      const store = s3Store({ client, bucket: "b" });
      const options = maxBytes === undefined ? {} : { maxBytes };
      await assert.rejects(async () => store.get("a", options), /more than the 8 bytes/);
      assert.ok(chunks <= 2, String(chunks));
    }
    chunks = 0;
    const client = answering(() => ({ Body: endless() }));
    await assert.rejects(async () => s3Store({ client, bucket: "b" }).get("a", { maxBytes: 9 }));
    assert.ok(chunks <= 2, String(chunks));
  });

  test("second look D8: a body that is no stream of bytes is an error", async () => {
    for (const Body of [Readable.from(["text"]), Readable.from([[1, 2]])]) {
      const client = answering(() => ({ Body, ContentLength: 4 }));
      await assert.rejects(async () => s3Store({ client, bucket: "b" }).get("a", {}), TypeError);
    }
  });
});
