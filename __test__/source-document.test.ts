// readSourceDocument and DirectoryStore. docs/contract.md §7, spec TUL-001.

import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import fs from "node:fs";
import net from "node:net";
import os from "node:os";
import path from "node:path";
import { describe, test } from "node:test";
import { DirectoryStore, readSourceDocument, Workspace } from "../index.js";
import { assertBytes } from "./support/create.ts";
import { thenable } from "./support/host-tree.ts";
import { ABORT_REASONS, hostileProxy, revokedProxy, withGetter } from "./support/hostile.ts";
import { mkfifo, namesAreFolded, noFifos, noSymlinks, notPosix } from "./support/platform.ts";
import { Random } from "./support/random.ts";
import { rejectionValue } from "./support/read.ts";
import {
  abortOf,
  cutModel,
  looseReadSource,
  MemoryStore,
  readSource,
  refuseSource,
  storeOf,
} from "./support/source.ts";
import { concat, hex, inWorkspace, SECRET, type TestWorkspace } from "./support/workspace.ts";

const DOC = "src/Billing/BillingService.cs";
const MIB = 1_048_576;
// What would wait for another process, or for ever, fails instead.
const AT_ONCE = { timeout: 5_000 };
const boom = new Error("boom of the store at /srv/secret");

const alreadyThere = (docPath: string) =>
  `File '${docPath}' is already present in activeFiles for this session; reuse that content.`;
const notThere = (docPath: string) =>
  `File '${docPath}' is not available in activeFiles or cloud source storage. Ask the user to upload it if needed.`;

/** An onError that records its calls. */
function listener(): { told: unknown[]; onError: (error: unknown) => void } {
  const told: unknown[] = [];
  return { told, onError: (error) => told.push(error) };
}

/** Has a read answered with INTERNAL_ERROR, and `thrown` told to onError, exactly once. */
async function failsWith(store: unknown, thrown: unknown, args: unknown = { path: DOC }) {
  const { told, onError } = listener();
  const result = await refuseSource(args, { store, onError }, "INTERNAL_ERROR");
  assert.doesNotMatch(result.errors.join(), /boom|secret|srv/);
  assert.equal(told.length, 1, "told once");
  // Compared by hand: an assertion would ask a hostile value for its text.
  assert.ok(Object.is(told[0], thrown), "told the very value");
}

/** Has a read answered with INTERNAL_ERROR, and an Error told to onError, exactly once. */
async function failsOfItself(store: unknown, args: unknown = { path: DOC }): Promise<Error> {
  const { told, onError } = listener();
  await refuseSource(args, { store, onError }, "INTERNAL_ERROR");
  assert.equal(told.length, 1, "told once");
  const [error] = told;
  assert.ok(error instanceof Error, String(error));
  return error;
}

describe("the result", () => {
  test("of a success, to the letter", async () => {
    const store = new MemoryStore({ [DOC]: "class é {}\n" });
    assert.equal(
      JSON.stringify(await readSource({ path: DOC }, { store })),
      `{"success":true,"errorCode":null,"errors":[],"file":{"path":"${DOC}","sizeBytes":12,"content":"class é {}\\n","isTruncated":false},"sessionId":null,"conversationId":null}`,
    );
  });

  test("of a success with session and conversation, to the letter", async () => {
    const store = new MemoryStore({ a: "abc" });
    const context = { store, sessionId: "s-1", conversationId: "c-1" };
    assert.equal(
      JSON.stringify(await readSource('{"path":"a","maxBytes":2}', context)),
      '{"success":true,"errorCode":null,"errors":[],"file":{"path":"a","sizeBytes":3,"content":"ab","isTruncated":true},"sessionId":"s-1","conversationId":"c-1"}',
    );
  });

  test("of ALREADY_IN_CONTEXT, to the letter", async () => {
    const store = new MemoryStore({ [DOC]: "a" });
    const context = { store, activeFiles: { [DOC]: {} }, sessionId: "s", conversationId: "c" };
    assert.equal(
      JSON.stringify(await readSource({ path: DOC }, context)),
      `{"success":false,"errorCode":"ALREADY_IN_CONTEXT","errors":["File '${DOC}' is already present in activeFiles for this session; reuse that content."],"file":null,"sessionId":"s","conversationId":"c"}`,
    );
  });

  test("of NOT_FOUND, to the letter", async () => {
    const path = "src/Billing/ExperimentalService.cs";
    const context = { store: new MemoryStore(), sessionId: "s", conversationId: "c" };
    assert.equal(
      JSON.stringify(await readSource({ path }, context)),
      `{"success":false,"errorCode":"NOT_FOUND","errors":["File '${path}' is not available in activeFiles or cloud source storage. Ask the user to upload it if needed."],"file":null,"sessionId":"s","conversationId":"c"}`,
    );
  });

  for (const [name, sessionId, conversationId] of [
    ["a session alone", "s", null],
    ["a conversation alone", null, "c"],
    ["neither", undefined, undefined],
    ["empty texts", "", ""],
    ["texts that JSON must escape", '"\\\n\u2028', "é😀\0"],
  ] as const) {
    test(`with ${name} has both keys, on success and failure`, async () => {
      const ids = { sessionId, conversationId };
      const expected = [sessionId ?? null, conversationId ?? null];
      const store = new MemoryStore({ a: "a", bad: hex("FF") });
      const context = { store, activeFiles: ["active"], ...ids };
      for (const [args, code] of [
        [{ path: "a" }, null],
        [{ path: "active" }, "ALREADY_IN_CONTEXT"],
        [{ path: "missing" }, "NOT_FOUND"],
        [{}, "INVALID_ARGUMENT"],
        ["{", "INVALID_ARGUMENT"],
        [{ path: "bad" }, "INTERNAL_ERROR"],
      ] as const) {
        const result = await readSource(args, context);
        assert.equal(result.errorCode, code);
        assert.deepEqual([result.sessionId, result.conversationId], expected);
      }
    });
  }

  test("of an empty document", async () => {
    const { file } = await readSource({ path: "a" }, { store: new MemoryStore({ a: "" }) });
    assert.deepEqual(file, { path: "a", sizeBytes: 0, content: "", isTruncated: false });
  });

  test("keeps line ends and NULs", async () => {
    const text = "a\r\nb\rc\0\u2028\n";
    const { file } = await readSource({ path: "a" }, { store: new MemoryStore({ a: text }) });
    assert.equal(file?.content, text);
  });

  test("of a document of 3 MiB is whole where no maxBytes was given", async () => {
    const store = new MemoryStore({ a: "é".repeat(1.5 * MIB) });
    const { file } = await readSource({ path: "a" }, { store });
    assert.equal(file?.sizeBytes, 3 * MIB);
    assert.equal(file?.content.length, 1.5 * MIB);
    assert.equal(file?.isTruncated, false);
  });

  test("comes for 64 calls at once", async () => {
    const documents = Array.from({ length: 64 }, (_, i) => [`${i}`, `text ${i}`]);
    const store = new MemoryStore(Object.fromEntries(documents));
    const results = await Promise.all(documents.map(([path]) => readSource({ path }, { store })));
    assert.deepEqual(
      results.map(({ file }) => file?.content),
      documents.map(([, text]) => text),
    );
  });
});

describe("the arguments", () => {
  const store = new MemoryStore({ a: "abc", b: "other" });

  for (const [name, args] of [
    ["an object", { path: "a" }],
    ["JSON text", '{"path":"a"}'],
    ["JSON text with blanks", ' \n\t{ "path" : "a" }\r\n'],
    ["JSON text with escapes", '{"\\u0070ath":"\\u0061"}'],
    ["JSON text with a key twice, of which the last counts", '{"path":"b","path":"a"}'],
    ["JSON text with unknown keys", '{"x":1,"path":"a","maxbytes":1,"Path":"b","y":{"path":"b"}}'],
    ["an object with unknown keys", { path: "a", x: 5n, maxbytes: 1, PATH: "b" }],
    ["an object without a prototype", Object.assign(Object.create(null), { path: "a" })],
    ["a frozen object", Object.freeze({ path: "a" })],
    ["an object with maxBytes null", { path: "a", maxBytes: null }],
    ["an object with maxBytes undefined", { path: "a", maxBytes: undefined }],
    ["JSON text with maxBytes null", '{"path":"a","maxBytes":null}'],
    ["JSON text with __proto__ besides", '{"__proto__":{"path":"b","maxBytes":1},"path":"a"}'],
  ] as const) {
    test(`may be ${name}`, async () => {
      const { file } = await readSource(args, { store });
      assert.deepEqual(file, { path: "a", sizeBytes: 3, content: "abc", isTruncated: false });
    });
  }

  for (const [name, args] of [
    ["null", null],
    ["undefined", undefined],
    ["an empty text", ""],
    ["JSON text of an empty object", "{}"],
    ["an empty object", {}],
    ["an object with path null", { path: null }],
    ["an object with path undefined", { path: undefined }],
    ["JSON text with path null", '{"path":null}'],
    ["JSON text with the path in __proto__", '{"__proto__":{"path":"a"}}'],
    ["an object with the key in another case", { Path: "a", PATH: "a" }],
    ["an object with another key", { docPath: "a", uri: "a" }],
  ] as const) {
    test(`${name}: the path is missing`, async () => {
      await refuseSource(args, { store }, "INVALID_ARGUMENT", /\bpath\b/);
    });
  }

  for (const [name, args] of [
    ["broken JSON", '{"path":"a"'],
    ["JSON with a final comma", '{"path":"a",}'],
    ["JSON with single quotes", "{'path':'a'}"],
    ["JSON with something behind it", '{"path":"a"} x'],
    ["JSON twice", '{"path":"a"}{"path":"a"}'],
    ["a raw line end in a JSON text", '{"path":"a\n"}'],
    ["a path instead of JSON", "a"],
    ["a blank text", "  "],
    ["a JSON array", '["a"]'],
    ["a JSON text", '"a"'],
    ["a JSON number", "5"],
    ["JSON true", "true"],
    ["NaN, which is no JSON", '{"path":"a","maxBytes":NaN}'],
    ["an array", ["a"]],
    ["a number", 5],
    ["true", true],
    ["false", false],
    ["a BigInt", 5n],
    ["a symbol", Symbol("s")],
    ["a function", () => ({ path: "a" })],
    ["deeply nested JSON", `${"[".repeat(100_000)}${"]".repeat(100_000)}`],
    ["a revoked Proxy", revokedProxy()],
    ["a Proxy on which everything throws", hostileProxy()],
    ["an object whose path throws", withGetter("path", boom)],
    ["an object whose maxBytes throws", Object.assign(withGetter("maxBytes", boom), { path: "a" })],
  ] as const) {
    test(`${name}: INVALID_ARGUMENT, and the store is not called`, async () => {
      const own = new MemoryStore({ a: "abc" });
      const { told, onError } = listener();
      await refuseSource(args, { store: own, onError }, "INVALID_ARGUMENT");
      assert.deepEqual(own.asked, []);
      assert.deepEqual(told, []);
    });
  }

  test("JSON null is no path", async () => {
    await refuseSource("null", { store }, "INVALID_ARGUMENT");
  });

  test("JSON text and object are one and the same", async () => {
    for (const args of [
      { path: "a" },
      { path: "a", maxBytes: 2 },
      { path: "missing" },
      { path: "" },
      { path: 5 },
      { path: "a", maxBytes: 0 },
      { path: "a", maxBytes: "2" },
      {},
    ]) {
      assert.deepEqual(
        await readSource(JSON.stringify(args), { store }),
        await readSource(args, { store }),
      );
    }
  });

  test("are not changed", async () => {
    const args = { path: "a", maxBytes: 2, x: 1 };
    await readSource(args, { store });
    assert.deepEqual(args, { path: "a", maxBytes: 2, x: 1 });
  });

  for (const [name, value] of [
    ["a number", 5],
    ["0", 0],
    ["true", true],
    ["false", false],
    ["an array", ["a"]],
    ["an object", {}],
    ["an empty text", ""],
    ["a blank", " "],
    ["blanks", " \t\n "],
  ] as const) {
    test(`path as ${name} is refused by name, and the store is not called`, async () => {
      const own = new MemoryStore();
      const context = { store: own, activeFiles: ["", " ", " \t\n "] };
      for (const args of [{ path: value }, JSON.stringify({ path: value })]) {
        await refuseSource(args, context, "INVALID_ARGUMENT", /\bpath\b/);
      }
      assert.deepEqual(own.asked, []);
    });
  }

  for (const [name, value] of [
    ["a BigInt", 5n],
    ["a symbol", Symbol("s")],
    ["a boxed string", Object("a")],
    ["a URL", new URL("file:///a")],
  ] as const) {
    test(`path as ${name} is refused by name`, async () => {
      await refuseSource({ path: value }, { store }, "INVALID_ARGUMENT", /\bpath\b/);
    });
  }
});

describe("maxBytes", () => {
  const store = new MemoryStore({ a: "abc" });

  for (const [name, args, content] of [
    ["1", { path: "a", maxBytes: 1 }, "a"],
    ["2.0", { path: "a", maxBytes: 2.0 }, "ab"],
    ["2.0 in JSON", '{"path":"a","maxBytes":2.0}', "ab"],
    ["2e0 in JSON", '{"path":"a","maxBytes":2e0}', "ab"],
    ["20e-1 in JSON", '{"path":"a","maxBytes":20e-1}', "ab"],
    ["the size", { path: "a", maxBytes: 3 }, "abc"],
    ["more than the size", { path: "a", maxBytes: 4 }, "abc"],
    ["2^31", { path: "a", maxBytes: 2 ** 31 }, "abc"],
    ["2^32", { path: "a", maxBytes: 2 ** 32 }, "abc"],
    ["2^32 + 1", { path: "a", maxBytes: 2 ** 32 + 1 }, "abc"],
    ["2^53 - 1", { path: "a", maxBytes: Number.MAX_SAFE_INTEGER }, "abc"],
    ["2^53 - 1 in JSON", '{"path":"a","maxBytes":9007199254740991}', "abc"],
  ] as const) {
    test(`${name} is a limit`, async () => {
      const { file } = await readSource(args, { store });
      const isTruncated = content.length < 3;
      assert.deepEqual(file, { path: "a", sizeBytes: 3, content, isTruncated });
    });
  }

  for (const [name, maxBytes] of [
    ["0", 0],
    ["-0", -0],
    ["-1", -1],
    ["1.5", 1.5],
    ["0.5", 0.5],
    ["NaN", Number.NaN],
    ["Infinity", Number.POSITIVE_INFINITY],
    ["-Infinity", Number.NEGATIVE_INFINITY],
    ["a text", "10"],
    ["an empty text", ""],
    ["true", true],
    ["false", false],
    ["an array", [10]],
    ["an object", {}],
    ["a BigInt", 10n],
    ["a symbol", Symbol("s")],
    ["a boxed number", Object(10)],
  ] as const) {
    test(`${name} is refused by name, and the store is not called`, async () => {
      const own = new MemoryStore({ a: "abc" });
      const args = { path: "a", maxBytes };
      await refuseSource(args, { store: own }, "INVALID_ARGUMENT", /maxBytes/);
      assert.deepEqual(own.asked, []);
    });
  }

  for (const literal of ["0", "-1", "1.5", '"10"', "true", "[]", "{}", "0.0", "1e-400"]) {
    test(`${literal} in JSON is refused by name`, async () => {
      const args = `{"path":"a","maxBytes":${literal}}`;
      await refuseSource(args, { store }, "INVALID_ARGUMENT", /maxBytes/);
    });
  }

  for (const literal of ["1e400", "-1e400", "010", "+1", "0x10", "1."]) {
    test(`${literal} in JSON is refused`, async () => {
      await refuseSource(`{"path":"a","maxBytes":${literal}}`, { store }, "INVALID_ARGUMENT");
    });
  }

  for (const [name, args] of [
    ["2^53", { path: "a", maxBytes: 2 ** 53 }],
    ["1e300", { path: "a", maxBytes: 1e300 }],
    ["2^64 in JSON", '{"path":"a","maxBytes":18446744073709551616}'],
    ["a JSON number of 400 digits", `{"path":"a","maxBytes":${"9".repeat(300)}}`],
  ] as const) {
    test(`${name} is a limit or refused`, async () => {
      const { errorCode, file, errors } = await readSource(args, { store });
      if (errorCode === null) assert.equal(file?.content, "abc");
      else assert.match(`${errorCode} ${errors.join()}`, /^INVALID_ARGUMENT .*maxBytes/);
    });
  }

  test("is passed to the store unchanged", async () => {
    const own = new MemoryStore({ a: "abc" });
    await readSource({ path: "a", maxBytes: 2 }, { store: own });
    await readSource({ path: "a" }, { store: own });
    assert.equal(own.options[0]?.maxBytes, 2);
    assert.ok((own.options[1]?.maxBytes ?? null) === null, "none where none was given");
  });

  test("is refused before activeFiles are asked", async () => {
    const context = { store, activeFiles: ["a"] };
    await refuseSource({ path: "a", maxBytes: 0 }, context, "INVALID_ARGUMENT", /maxBytes/);
  });

  test("is kept where the store gives more", async () => {
    const { file } = await readSource({ path: "a", maxBytes: 1 }, { store });
    assert.deepEqual(file, { path: "a", sizeBytes: 3, content: "a", isTruncated: true });
  });

  for (const extra of [0, 1, 2, 3]) {
    test(`is enough for a store that gives ${extra} bytes more than asked`, async () => {
      const bytes = Buffer.from("aé€😀b");
      const ranged = storeOf((_, options) => {
        const { maxBytes } = options as { maxBytes: number };
        return { bytes: bytes.subarray(0, maxBytes + extra), sizeBytes: bytes.length };
      });
      for (let maxBytes = 1; maxBytes <= bytes.length + 1; maxBytes++) {
        const { file } = await readSource({ path: "a", maxBytes }, { store: ranged });
        assert.deepEqual(file, {
          path: "a",
          sizeBytes: bytes.length,
          ...cutModel("aé€😀b", maxBytes),
        });
      }
    });
  }
});

describe("the cut at a character's boundary", () => {
  async function cutsLikeModel(text: string): Promise<void> {
    const sizeBytes = Buffer.byteLength(text);
    const store = new MemoryStore({ a: text });
    for (let maxBytes = 1; maxBytes <= sizeBytes + 2; maxBytes++) {
      const { file } = await readSource({ path: "a", maxBytes }, { store });
      const expected = { path: "a", sizeBytes, ...cutModel(text, maxBytes) };
      assert.deepEqual(file, expected, `${JSON.stringify(text)} cut to ${maxBytes}`);
    }
  }

  for (const [name, text] of [
    ["one byte each", "abc"],
    ["two bytes", "aéb"],
    ["three bytes", "a€b"],
    ["four bytes", "a😀b"],
    ["four bytes first", "😀"],
    ["the last code point", "\u{10ffff}"],
    ["a combining mark, which may be parted from its letter", "e\u0301e\u0301"],
    ["a family of emoji, which may be parted", "👩‍👩‍👧"],
    ["a line end of two characters", "a\r\nb"],
    ["a NUL", "a\0é"],
    ["U+FFFD in the document", "a\ufffdb"],
    ["a byte order mark", "\ufeffaé"],
    ["a byte order mark alone", "\ufeff"],
    ["two byte order marks", "\ufeff\ufeffa"],
    ["a byte order mark further on", "a\ufeffb"],
  ] as const) {
    test(`${name}, for every maxBytes`, () => cutsLikeModel(text));
  }

  for (const seed of [21, 22, 23]) {
    test(`random texts, for every maxBytes, seed ${seed}`, async () => {
      const random = new Random(seed);
      const alphabet = [
        "a",
        "\n",
        "\0",
        "é",
        "߿",
        "ࠀ",
        "€",
        "\uffff",
        "😀",
        "\u{10ffff}",
        "\ufeff",
      ];
      for (let i = 0; i < 40; i++) {
        const length = 1 + random.below(10);
        await cutsLikeModel(Array.from({ length }, () => random.pick(alphabet)).join(""));
      }
    });
  }

  test("in a large document", async () => {
    const text = "é".repeat(MIB);
    const store = new MemoryStore({ a: text });
    const { file } = await readSource({ path: "a", maxBytes: MIB + 1 }, { store });
    assert.equal(file?.content, "é".repeat(MIB / 2));
    assert.equal(file?.isTruncated, true);
  });
});

describe("the byte order mark", () => {
  test("is dropped from content and counted in sizeBytes", async () => {
    const store = new MemoryStore({ a: "\ufeffa" });
    const { file } = await readSource({ path: "a" }, { store });
    assert.deepEqual(file, { path: "a", sizeBytes: 4, content: "a", isTruncated: false });
  });

  for (const maxBytes of [1, 2]) {
    test(`cut after ${maxBytes} bytes is no content`, async () => {
      const store = new MemoryStore({ a: "\ufeffa" });
      const { file } = await readSource({ path: "a", maxBytes }, { store });
      assert.deepEqual(file, { path: "a", sizeBytes: 4, content: "", isTruncated: true });
    });
  }
});

describe("a document that is not UTF-8", () => {
  for (const [name, dump] of [
    ["a Latin-1 letter", "63 61 66 E9 21"],
    ["a byte that is never UTF-8", "61 FF 62"],
    ["UTF-16", "FF FE 61 00"],
    ["an overlong slash", "C0 AF"],
    ["an encoded surrogate", "ED A0 80"],
    ["what is above U+10FFFF", "F4 90 80 80"],
    ["a lone continuation byte", "80"],
    ["a last character that is cut short", "61 E2 82"],
    ["an ill-formed byte behind a byte order mark", "EF BB BF FF"],
  ] as const) {
    test(`${name}: INTERNAL_ERROR, and onError is called`, async () => {
      await failsOfItself(new MemoryStore({ [DOC]: hex(dump) }));
    });
  }

  test("is that also where maxBytes cuts behind the ill-formed byte", async () => {
    const store = new MemoryStore({ [DOC]: concat("a", hex("FF"), "b".repeat(100)) });
    await failsOfItself(store, { path: DOC, maxBytes: 50 });
  });

  test("is answered without onError too", async () => {
    const store = new MemoryStore({ a: hex("FF") });
    for (const onError of [null, undefined]) {
      await refuseSource({ path: "a" }, { store, onError }, "INTERNAL_ERROR");
    }
  });
});

describe("activeFiles", () => {
  /** Each kind of collection with these DocPaths in it. */
  const kinds: Record<string, (...paths: string[]) => unknown> = {
    "an object": (...paths) => Object.fromEntries(paths.map((path) => [path, {}])),
    "an object of undefineds": (...paths) =>
      Object.fromEntries(paths.map((path) => [path, undefined])),
    "an object of false": (...paths) => Object.fromEntries(paths.map((path) => [path, false])),
    "an object without a prototype": (...paths) =>
      Object.assign(Object.create(null), Object.fromEntries(paths.map((path) => [path, 1]))),
    "a frozen object": (...paths) =>
      Object.freeze(Object.fromEntries(paths.map((path) => [path, 1]))),
    "a Proxy of an object": (...paths) =>
      new Proxy(Object.fromEntries(paths.map((path) => [path, 1])), {}),
    "a Map": (...paths) => new Map(paths.map((path) => [path, {}])),
    "a Map of undefineds": (...paths) => new Map(paths.map((path) => [path, undefined])),
    "a subclass of Map": (...paths) =>
      new (class Files extends Map<string, unknown> {})(paths.map((path) => [path, 1])),
    "a frozen Map": (...paths) => Object.freeze(new Map(paths.map((path) => [path, 1]))),
    "an array": (...paths) => paths,
    "a frozen array": (...paths) => Object.freeze(paths),
    "a Set": (...paths) => new Set(paths),
  };

  for (const [name, make] of Object.entries(kinds)) {
    test(`as ${name}: a DocPath in it is ALREADY_IN_CONTEXT, and the store is not called`, async () => {
      const store = new MemoryStore({ [DOC]: "a" });
      const { told, onError } = listener();
      const context = { store, onError, activeFiles: make("x", DOC, "y") };
      const { errors } = await refuseSource({ path: DOC }, context, "ALREADY_IN_CONTEXT");
      assert.deepEqual(errors, [alreadyThere(DOC)]);
      assert.deepEqual(store.asked, []);
      assert.deepEqual(told, []);
    });

    test(`as ${name}: a DocPath that is not in it is read`, async () => {
      const store = new MemoryStore({ [DOC]: "a" });
      const context = { store, activeFiles: make("x", `${DOC}x`, "y") };
      assert.equal((await readSource({ path: DOC }, context)).file?.content, "a");
      assert.deepEqual(store.asked, [DOC]);
    });

    test(`as ${name}, empty: everything is read`, async () => {
      const store = new MemoryStore({ [DOC]: "a" });
      const context = { store, activeFiles: make() };
      assert.equal((await readSource({ path: DOC }, context)).file?.content, "a");
    });

    test(`as ${name}: twins by case, normal form or spelling are others`, async () => {
      const twins = ["SRC/a.cs", "src/A.cs", "src/a.cs ", "./src/a.cs", "src\\a.cs", "src//a.cs"];
      for (const twin of [...twins, "src/a.cs#method:X", "/src/a.cs"]) {
        const store = new MemoryStore({ [twin]: "twin" });
        const context = { store, activeFiles: make("src/a.cs", "caf\u00e9") };
        assert.equal((await readSource({ path: twin }, context)).file?.content, "twin");
        await refuseSource({ path: "cafe\u0301" }, context, "NOT_FOUND");
        await refuseSource({ path: "src/a.cs" }, context, "ALREADY_IN_CONTEXT");
      }
    });

    for (const path of [
      "constructor",
      "toString",
      "__proto__",
      "hasOwnProperty",
      "length",
      "size",
      "0",
    ]) {
      test(`as ${name}: ${path} is not in it unless it was put there`, async () => {
        const store = new MemoryStore({ [DOC]: "a" });
        store.documents.set(path, Buffer.from("own"));
        const context = { store, activeFiles: make("x") };
        const { file } = await readSource({ path }, context);
        assert.equal(file?.content, "own");
      });
    }
  }

  for (const path of ["constructor", "toString", "length"]) {
    for (const [name, make] of Object.entries(kinds)) {
      test(`as ${name}: ${path} is in it if it was put there`, async () => {
        const context = { store: new MemoryStore(), activeFiles: make(path) };
        await refuseSource({ path }, context, "ALREADY_IN_CONTEXT");
      });
    }
  }

  for (const path of ["é.cs", "文/件.cs", "😀", "a b", "a\\b", "it's", '"', "#", "%20"]) {
    test(`in the sentence, ${JSON.stringify(path)} stands as it is`, async () => {
      const context = { store: new MemoryStore(), activeFiles: [path] };
      const { errors } = await refuseSource({ path }, context, "ALREADY_IN_CONTEXT");
      assert.deepEqual(errors, [alreadyThere(path)]);
      const missing = await refuseSource({ path }, { store: new MemoryStore() }, "NOT_FOUND");
      assert.deepEqual(missing.errors, [notThere(path)]);
    });
  }

  test("an inherited key is no active file", async () => {
    const store = new MemoryStore({ [DOC]: "a" });
    const context = { store, activeFiles: Object.create({ [DOC]: {} }) };
    assert.equal((await readSource({ path: DOC }, context)).file?.content, "a");
  });

  test("a large collection is asked", async () => {
    const paths = Array.from({ length: 100_000 }, (_, i) => `src/${i}.cs`);
    for (const activeFiles of [paths, new Set(paths), new Map(paths.map((path) => [path, 1]))]) {
      const context = { store: new MemoryStore(), activeFiles };
      await refuseSource({ path: "src/99999.cs" }, context, "ALREADY_IN_CONTEXT");
      await refuseSource({ path: "src/100000.cs" }, context, "NOT_FOUND");
    }
  });

  test("null or undefined are none", async () => {
    for (const activeFiles of [null, undefined]) {
      const context = { store: new MemoryStore({ a: "a" }), activeFiles };
      assert.equal((await readSource({ path: "a" }, context)).file?.content, "a");
    }
  });

  for (const [name, activeFiles] of [
    ["a number", 5],
    ["a text", DOC],
    ["true", true],
    ["a symbol", Symbol("s")],
    ["a BigInt", 5n],
  ] as const) {
    test(`as ${name} are refused by name, and the store is not called`, async () => {
      const store = new MemoryStore({ [DOC]: "a" });
      const context = { store, activeFiles };
      await refuseSource({ path: DOC }, context, "INVALID_ARGUMENT", /activeFiles/);
      assert.deepEqual(store.asked, []);
    });
  }

  test("as a Proxy on which everything throws are a failure, not a crash", async () => {
    for (const activeFiles of [hostileProxy(), revokedProxy()]) {
      const store = new MemoryStore({ [DOC]: "a" });
      const context = { store, activeFiles };
      await refuseSource({ path: DOC }, context, ["INVALID_ARGUMENT", "INTERNAL_ERROR"]);
      assert.deepEqual(store.asked, []);
    }
  });
});

describe("the store", () => {
  test("is asked once, as a method, with the DocPath and options", async () => {
    const store = new MemoryStore({ [DOC]: "a" });
    await readSource({ path: DOC }, { store });
    assert.deepEqual(store.asked, [DOC]);
    assert.equal(store.receivers[0], store);
    assert.equal(typeof store.options[0], "object");
  });

  for (const docPath of [
    "src/Billing/BillingService.cs#method:CalculateTaxes",
    "../../etc/passwd",
    "/etc/passwd",
    "C:\\Windows\\x",
    "a//b/./c/../d/",
    " leading and trailing ",
    "a\tb\nc",
    "%2e%2e/%20",
    "file:///a",
    "~/a",
    "é/e\u0301/文/😀",
    "\ufeffa",
    "a\u202eb\u200b",
    "a\0b",
    "__proto__",
    "constructor",
    "x".repeat(10_000),
  ]) {
    test(`gets the DocPath as it is: ${JSON.stringify(docPath).slice(0, 80)}`, async () => {
      for (const args of [{ path: docPath }, JSON.stringify({ path: docPath })]) {
        const store = new MemoryStore();
        store.documents.set(docPath, Buffer.from("text"));
        const { file } = await readSource(args, { store });
        assert.deepEqual(store.asked, [docPath]);
        assert.equal(file?.path, docPath);
      }
    });
  }

  test("never gets a changed DocPath where it has a lone surrogate", async () => {
    for (const path of ["a\ud800", "\udc00b"]) {
      for (const args of [{ path }, `{"path":${JSON.stringify(path)}}`]) {
        const store = new MemoryStore({ "a\ufffd": "wrong", "\ufffdb": "wrong" });
        const context = { store, activeFiles: ["a\ufffd", "\ufffdb"] };
        await refuseSource(args, context, ["INVALID_ARGUMENT", "NOT_FOUND"]);
        for (const asked of store.asked) assert.equal(asked, path);
      }
    }
  });

  const document = { bytes: Buffer.from("text"), sizeBytes: 4 };
  for (const [name, form] of [
    ["at once", (value: unknown) => value],
    ["by promise", (value: unknown) => Promise.resolve(value)],
    ["later", (value: unknown) => new Promise((resolve) => setTimeout(resolve, 5, value))],
    ["by thenable", (value: unknown) => thenable((settle) => settle(value))],
    ["by thenable, later", (value: unknown) => thenable((settle) => setTimeout(settle, 5, value))],
  ] as const) {
    test(`may answer ${name}`, async () => {
      const store = storeOf(() => form(document));
      assert.equal((await readSource({ path: "a" }, { store })).file?.content, "text");
    });

    test(`may say ${name} that there is none`, async () => {
      for (const nothing of [null, undefined]) {
        const { told, onError } = listener();
        const context = { store: storeOf(() => form(nothing)), onError };
        const { errors } = await refuseSource({ path: "a" }, context, "NOT_FOUND");
        assert.deepEqual(errors, [notThere("a")]);
        assert.deepEqual(told, []);
      }
    });
  }

  test("may be an instance of a class, and its document too", async () => {
    class Document {
      get bytes() {
        return new Uint8Array(Buffer.from("text"));
      }
      get sizeBytes() {
        return 4;
      }
    }
    class Store {
      #document = new Document();
      async get() {
        return this.#document;
      }
    }
    assert.equal((await readSource({ path: "a" }, { store: new Store() })).file?.content, "text");
  });

  test("may give a part of a larger buffer, and more keys", async () => {
    const bytes = Buffer.from("xxtextxx").subarray(2, 6);
    const store = storeOf(() => ({ bytes, sizeBytes: 4, etag: "x", path: "other" }));
    const { file } = await readSource({ path: "a" }, { store });
    assert.deepEqual(file, { path: "a", sizeBytes: 4, content: "text", isTruncated: false });
  });

  test("may reuse its buffer afterwards", async () => {
    const bytes = Buffer.from("text");
    const store = storeOf(() => ({ bytes, sizeBytes: 4 }));
    const { file } = await readSource({ path: "a" }, { store });
    bytes.fill("x");
    assert.equal(file?.content, "text");
  });
});

describe("a store that fails", () => {
  const ways: readonly (readonly [string, (thrown: unknown) => () => unknown])[] = [
    [
      "throws",
      (thrown) => () => {
        throw thrown;
      },
    ],
    ["rejects", (thrown) => () => Promise.reject(thrown)],
    ["rejects later", (thrown) => () => new Promise((_, reject) => setTimeout(reject, 5, thrown))],
    ["gives a thenable that rejects", (thrown) => () => thenable((_, reject) => reject(thrown))],
    [
      "gives a thenable whose then throws",
      (thrown) => () =>
        thenable(() => {
          throw thrown;
        }),
    ],
    ["gives a thenable whose getter throws", (thrown) => () => withGetter("then", thrown)],
    ["gives a document whose bytes throw", (thrown) => () => withGetter("bytes", thrown)],
    [
      "gives a document whose sizeBytes throws",
      (thrown) => () => Object.assign(withGetter("sizeBytes", thrown), { bytes: Buffer.from("a") }),
    ],
  ];
  for (const [name, way] of ways) {
    test(`${name}: INTERNAL_ERROR, and onError is called once with the original error`, async () => {
      await failsWith(storeOf(way(boom)), boom);
    });
  }

  for (const [name, thrown] of [
    ["a string", "secret"],
    ["null", null],
    ["undefined", undefined],
    ["0", 0],
    ["a symbol", Symbol("secret")],
    ["an object", { secret: 1 }],
    ["a revoked Proxy", revokedProxy()],
    ["a Proxy on which everything throws", hostileProxy()],
    ["an Error with the code NOT_FOUND", Object.assign(new Error("boom"), { code: "NOT_FOUND" })],
    ["an Error named AbortError", Object.assign(new Error("boom"), { name: "AbortError" })],
  ] as const) {
    test(`with ${name}: onError gets that very value`, async () => {
      for (const [, way] of ways.slice(0, 2)) await failsWith(storeOf(way(thrown)), thrown);
    });
  }

  const bytes = Buffer.from("text");
  for (const [name, answer] of [
    ["a string", "text"],
    ["a number", 4],
    ["0", 0],
    ["true", true],
    ["false", false],
    ["an empty string", ""],
    ["bytes alone", bytes],
    ["an empty object", {}],
    ["an array", []],
    ["a document without bytes", { sizeBytes: 4 }],
    ["a document without a size", { bytes }],
    ["bytes as null", { bytes: null, sizeBytes: 0 }],
    ["bytes as a string", { bytes: "text", sizeBytes: 4 }],
    ["bytes as an array", { bytes: [1, 2, 3, 4], sizeBytes: 4 }],
    ["a size as a string", { bytes, sizeBytes: "4" }],
    ["a size as a BigInt", { bytes, sizeBytes: 4n }],
    ["a size as null", { bytes, sizeBytes: null }],
    ["a size of NaN", { bytes, sizeBytes: Number.NaN }],
    ["a size of Infinity", { bytes, sizeBytes: Number.POSITIVE_INFINITY }],
    ["a negative size", { bytes, sizeBytes: -4 }],
    ["a size that is no integer", { bytes, sizeBytes: 4.5 }],
    ["fewer bytes than the size", { bytes, sizeBytes: 5 }],
    ["no bytes of a document that has some", { bytes: new Uint8Array(), sizeBytes: 5 }],
    ["more bytes than the size", { bytes, sizeBytes: 3 }],
  ] as const) {
    test(`by its answer, ${name}: INTERNAL_ERROR, and onError is called`, async () => {
      for (const get of [() => answer, async () => answer]) await failsOfItself(storeOf(get));
    });
  }

  test("by fewer bytes than were wanted: INTERNAL_ERROR", async () => {
    const store = storeOf(() => ({ bytes, sizeBytes: 100 }));
    await failsOfItself(store, { path: DOC, maxBytes: 5 });
    const { file } = await readSource({ path: DOC, maxBytes: 4 }, { store });
    assert.deepEqual(file, { path: DOC, sizeBytes: 100, content: "text", isTruncated: true });
  });

  test("by more bytes than the size, where maxBytes would have cut them: INTERNAL_ERROR", async () => {
    const store = storeOf(() => ({ bytes, sizeBytes: 3 }));
    await failsOfItself(store, { path: DOC, maxBytes: 2 });
  });

  test("and settles twice counts once", async () => {
    const { told, onError } = listener();
    const get = () =>
      thenable((settle, reject) => {
        settle({ bytes, sizeBytes: 4 });
        reject(boom);
        settle(null);
      });
    const { file } = await readSource({ path: "a" }, { store: storeOf(get), onError });
    assert.equal(file?.content, "text");
    assert.deepEqual(told, []);
  });
});

describe("onError", () => {
  const store = storeOf(() => {
    throw boom;
  });

  test("that throws does no harm", async () => {
    let calls = 0;
    const onError = () => {
      calls++;
      throw new Error("boom of onError");
    };
    const { errors } = await refuseSource({ path: "a" }, { store, onError }, "INTERNAL_ERROR");
    assert.doesNotMatch(errors.join(), /boom/);
    assert.equal(calls, 1);
  });

  test("that rejects does no harm", async () => {
    let calls = 0;
    const onError = async () => {
      calls++;
      throw new Error("boom of onError");
    };
    await refuseSource({ path: "a" }, { store, onError }, "INTERNAL_ERROR");
    // An unhandled rejection would fail this test in a later turn.
    await new Promise((done) => setTimeout(done, 20));
    assert.equal(calls, 1);
  });

  test("that gives a thenable whose then throws does no harm", async () => {
    const onError = () =>
      thenable(() => {
        throw new Error("boom of onError");
      });
    await refuseSource({ path: "a" }, { store, onError }, "INTERNAL_ERROR");
    await new Promise((done) => setTimeout(done, 20));
  });

  test("that never settles is not waited for", AT_ONCE, async () => {
    const onError = () => new Promise(() => {});
    await refuseSource({ path: "a" }, { store, onError }, "INTERNAL_ERROR");
  });

  test("is called before the answer comes", async () => {
    const { told, onError } = listener();
    await refuseSource({ path: "a" }, { store, onError }, "INTERNAL_ERROR");
    assert.deepEqual(told, [boom]);
  });

  test("is not called without an unexpected failure", async () => {
    const { told, onError } = listener();
    const own = new MemoryStore({ a: "a" });
    const context = { store: own, onError, activeFiles: ["active"] };
    await readSource({ path: "a" }, context);
    for (const args of [{ path: "missing" }, { path: "active" }, {}, "{", { path: 5 }]) {
      await readSource(args, context);
    }
    assert.deepEqual(told, []);
  });

  test("that is absent is not missed", async () => {
    for (const context of [{ store }, { store, onError: null }, { store, onError: undefined }]) {
      await refuseSource({ path: "a" }, context, "INTERNAL_ERROR");
    }
  });

  for (const [name, onError] of [
    ["a number", 5],
    ["a text", "x"],
    ["an object", {}],
    ["true", true],
  ] as const) {
    test(`as ${name} is refused by name`, async () => {
      await refuseSource({ path: "a" }, { store, onError }, "INVALID_ARGUMENT", /onError/);
    });
  }
});

describe("the context", () => {
  for (const [name, context] of [
    ["null", null],
    ["undefined", undefined],
    ["a number", 5],
    ["a text", "/tmp"],
    ["true", true],
    ["a symbol", Symbol("s")],
  ] as const) {
    test(`as ${name} is refused by name`, async () => {
      await refuseSource({ path: "a" }, context, "INVALID_ARGUMENT", /\bcontext\b|\bstore\b/);
    });
  }

  for (const [name, store] of [
    ["missing", undefined],
    ["null", null],
    ["a number", 5],
    ["true", true],
    ["a relative path", "relative/dir"],
    ["an empty text", ""],
    ["an object without get", {}],
    ["an object whose get is a text", { get: "x" }],
    ["a symbol", Symbol("s")],
    ["an array", []],
  ] as const) {
    test(`with a store that is ${name} is refused by name`, async () => {
      const { errors } = await refuseSource(
        { path: "a" },
        { store },
        "INVALID_ARGUMENT",
        /\bstore\b/,
      );
      assert.ok(!errors.join().includes("relative/dir"), errors.join());
    });
  }

  for (const key of ["sessionId", "conversationId"]) {
    for (const [name, value] of [
      ["a number", 5],
      ["0", 0],
      ["true", true],
      ["an object", {}],
      ["an array", ["x"]],
      ["a symbol", Symbol("s")],
      ["a BigInt", 5n],
    ] as const) {
      test(`with ${key} as ${name} is refused by name, and the store is not called`, async () => {
        const store = new MemoryStore({ a: "a" });
        const context = { store, [key]: value };
        await refuseSource({ path: "a" }, context, "INVALID_ARGUMENT", new RegExp(key));
        assert.deepEqual(store.asked, []);
      });
    }
  }

  for (const [name, signal] of [
    ["a number", 5],
    ["a text", "x"],
    ["an empty object", {}],
    ["the controller", new AbortController()],
  ] as const) {
    test(`with signal as ${name} is refused by name`, async () => {
      const context = { store: new MemoryStore({ a: "a" }), signal };
      await refuseSource({ path: "a" }, context, "INVALID_ARGUMENT", /signal/);
    });
  }

  test("may be frozen, with unknown keys and nulls", async () => {
    const context = Object.freeze({
      ...{ store: new MemoryStore({ a: "a" }), activeFiles: null, sessionId: null },
      ...{ conversationId: null, signal: null, onError: null, workspaceRoot: 5, x: 5n },
    });
    assert.equal((await readSource({ path: "a" }, context)).file?.content, "a");
  });

  test("may be an instance of a class with getters", async () => {
    class Session {
      get store() {
        return new MemoryStore({ a: "a" });
      }
      get sessionId() {
        return "s";
      }
    }
    const result = await readSource({ path: "a" }, new Session());
    assert.deepEqual([result.file?.content, result.sessionId], ["a", "s"]);
  });
});

describe("a signal that is aborted already", () => {
  for (const [name, reason] of ABORT_REASONS) {
    test(`the call rejects with the reason itself, ${name}, and the store is not called`, async () => {
      const store = new MemoryStore({ a: "a" });
      const { told, onError } = listener();
      const context = { store, onError, signal: AbortSignal.abort(reason) };
      assert.equal(await abortOf({ path: "a" }, context), reason);
      assert.deepEqual([store.asked, told], [[], []]);
    });
  }

  test("it wins over every other answer", async () => {
    const store = new MemoryStore({ a: "a" });
    const signal = AbortSignal.abort("enough");
    for (const [args, context] of [
      [{ path: "missing" }, { store }],
      [{ path: "a" }, { store, activeFiles: ["a"] }],
      [{}, { store }],
      ["{", { store }],
      [5, { store }],
      [{ path: "a", maxBytes: 0 }, { store }],
      [{ path: "a" }, {}],
      [{ path: "a" }, { store: 5 }],
      [{ path: "a" }, { store, activeFiles: 5 }],
      [{ path: "a" }, { store, sessionId: 5 }],
      [{ path: "a" }, { store, onError: 5 }],
    ] as const) {
      assert.equal(await abortOf(args, { ...context, signal }), "enough");
    }
  });
});

describe("a signal that is aborted later", AT_ONCE, () => {
  test("a store that hangs is not waited for", async () => {
    const controller = new AbortController();
    const { signal } = controller;
    const { told, onError } = listener();
    const store = storeOf(() => new Promise(() => {}));
    const pending = abortOf({ path: "a" }, { store, signal, onError });
    setTimeout(() => controller.abort("enough"), 5);
    assert.equal(await pending, "enough");
    assert.equal(getEventListeners(signal, "abort").length, 0);
    assert.deepEqual(told, []);
  });

  test("the store sees the abort by its own signal", async () => {
    const controller = new AbortController();
    const store = new MemoryStore();
    store.get = (_path, options) => {
      store.options.push(options);
      return new Promise(() => {});
    };
    const pending = abortOf({ path: "a" }, { store, signal: controller.signal });
    await new Promise((done) => setTimeout(done, 5));
    const seen = store.options[0]?.signal;
    assert.ok(seen instanceof AbortSignal, "the store has a signal");
    assert.equal(seen.aborted, false);
    controller.abort("enough");
    assert.equal(await pending, "enough");
    assert.deepEqual([seen.aborted, seen.reason], [true, "enough"]);
  });

  test("a rejection of the store because of the abort is ignored", async () => {
    const controller = new AbortController();
    const { told, onError } = listener();
    const store = storeOf((_, options) => {
      const { signal } = options as { signal: AbortSignal };
      return new Promise((_, reject) =>
        signal.addEventListener("abort", () => reject(signal.reason)),
      );
    });
    const pending = abortOf({ path: "a" }, { store, onError, signal: controller.signal });
    setTimeout(() => controller.abort("enough"), 5);
    assert.equal(await pending, "enough");
    // An unhandled rejection would fail this test in a later turn.
    await new Promise((done) => setTimeout(done, 10));
    assert.deepEqual(told, []);
  });

  test("a store that aborts while it is asked ends the read", async () => {
    const controller = new AbortController();
    for (const get of [
      () => {
        controller.abort("enough");
        return { bytes: Buffer.from("a"), sizeBytes: 1 };
      },
      () => {
        controller.abort("enough");
        throw boom;
      },
    ]) {
      const context = { store: storeOf(get), signal: controller.signal };
      assert.equal(await abortOf({ path: "a" }, context), "enough");
    }
  });

  test("an abort after the end changes nothing", async () => {
    const controller = new AbortController();
    const store = new MemoryStore({ a: "a" });
    const pending = looseReadSource({ path: "a" }, { store, signal: controller.signal });
    await pending;
    controller.abort("too late");
    assert.equal((await pending).file?.content, "a");
  });
});

describe("the caller's signal", () => {
  test("onabort is left alone and still fires", async () => {
    const controller = new AbortController();
    const { signal } = controller;
    let fired = 0;
    const handler = () => {
      fired++;
    };
    signal.onabort = handler;
    const store = new MemoryStore({ a: "a" });
    const pending = readSource({ path: "a" }, { store, signal });
    assert.equal(signal.onabort, handler);
    await pending;
    assert.equal(signal.onabort, handler);
    controller.abort();
    assert.equal(fired, 1);
  });

  for (const [name, args] of [
    ["a read", { path: "a" }],
    ["a document that is missing", { path: "missing" }],
    ["an active file", { path: "active" }],
    ["a wrong argument", {}],
    ["a document that is not UTF-8", { path: "bad" }],
  ] as const) {
    test(
      `no listener is left after ${name}`,
      inWorkspace(async (ws) => {
        ws.write("a", "a");
        ws.write("bad", hex("FF"));
        const memory = new MemoryStore({ a: "a", bad: hex("FF") });
        for (const store of [memory, ws.root]) {
          const { signal } = new AbortController();
          await readSource(args, { store, signal, activeFiles: ["active"] });
          assert.equal(getEventListeners(signal, "abort").length, 0);
        }
      }),
    );
  }
});

/** Reads from the workspace in each form a directory may have, and demands one result. */
async function readEveryStore(ws: TestWorkspace, args: unknown) {
  const workspace = Workspace.open(ws.root);
  try {
    const result = await readSource(args, { store: ws.root }, ws.hidden);
    for (const store of [workspace, DirectoryStore.open(ws.root)]) {
      assert.deepEqual(await readSource(args, { store }, ws.hidden), result);
    }
    return result;
  } finally {
    workspace.close();
  }
}

describe("a directory as store", () => {
  test(
    "has its files by their relative paths",
    inWorkspace(async (ws) => {
      ws.write(DOC, "\ufeffclass é {}\r\n");
      const { file } = await readEveryStore(ws, { path: DOC });
      assert.deepEqual(file, {
        path: DOC,
        sizeBytes: 16,
        content: "class é {}\r\n",
        isTruncated: false,
      });
    }),
  );

  for (const name of [
    ...["a", "..foo", "...", "a..b", ".env", "[id]/page.tsx", "a b", "a#b", "%20", "~/a", "文/件"],
    ...["😀", "e\u0301", "a\u202eb", "constructor", "__proto__"],
  ]) {
    test(
      `has a file named ${JSON.stringify(name)}`,
      { skip: name === "..." && notPosix },
      inWorkspace(async (ws) => {
        ws.write(name, "text");
        assert.equal((await readEveryStore(ws, { path: name })).file?.content, "text");
      }),
    );
  }

  const unseen = new Map([
    ["a\0", "a\\u{0}"],
    ["\0", "\\u{0}"],
  ]);
  for (const key of [
    ...["missing", "dir/missing", "a/b", "", "dir", "dir/", "a/", "/a", "//a", "./a", "a/.", "."],
    ...["..", "../a", "../ws/a", "dir/../a", "dir/./b", "dir//b", "/", "dir\\b", "a\\", "..\\a"],
    ...["C:/a", "C:\\a", "\\\\server\\a", "a\0", "\0", "a%", "%61", " a", "a "],
    "x".repeat(300),
    "x/".repeat(3_000),
  ]) {
    const shown = JSON.stringify(key).slice(0, 40);
    test(
      `has nothing under the key ${shown}`,
      inWorkspace(async (ws) => {
        ws.write("a", "a");
        ws.write("dir/b", "b");
        const store = DirectoryStore.open(ws.root);
        assert.equal(await store.get(key, {}), null);
        if (key.trim() === "") return;
        const { errors } = await refuseSource({ path: key }, { store }, "NOT_FOUND");
        assert.deepEqual(errors, [notThere(unseen.get(key) ?? key)]);
      }),
    );
  }

  test(
    "has nothing under the absolute path of its own file",
    inWorkspace(async (ws) => {
      const store = DirectoryStore.open(ws.root);
      assert.equal(await store.get(ws.write("a", "a"), {}), null);
    }),
  );

  test(
    "minds the case",
    { skip: namesAreFolded },
    inWorkspace(async (ws) => {
      ws.write("src/A.cs", "A");
      await refuseSource({ path: "src/a.cs" }, { store: ws.root }, "NOT_FOUND");
      await refuseSource({ path: "SRC/A.cs" }, { store: ws.root }, "NOT_FOUND");
      assert.equal((await readEveryStore(ws, { path: "src/A.cs" })).file?.content, "A");
    }),
  );

  test(
    "cuts like any other, for every maxBytes",
    inWorkspace(async (ws) => {
      const text = "\ufeffa😀é\r\n€";
      ws.write("a", text);
      const store = DirectoryStore.open(ws.root);
      const sizeBytes = Buffer.byteLength(text);
      for (let maxBytes = 1; maxBytes <= sizeBytes + 2; maxBytes++) {
        const { file } = await readSource({ path: "a", maxBytes }, { store });
        assert.deepEqual(file, { path: "a", sizeBytes, ...cutModel(text, maxBytes) });
      }
    }),
  );

  test(
    "gives a large document whole, above the cap of the other tools",
    inWorkspace(async (ws) => {
      ws.write("a", "é".repeat(1.5 * MIB));
      const { file } = await readEveryStore(ws, { path: "a" });
      assert.deepEqual([file?.sizeBytes, file?.content.length], [3 * MIB, 1.5 * MIB]);
    }),
  );

  test(
    "reads no more of a sparse file of 5 GiB than was wanted",
    { ...AT_ONCE, skip: notPosix },
    inWorkspace(async (ws) => {
      ws.write("a", "text");
      fs.truncateSync(ws.at("a"), 5 * 1024 * MIB);
      const { file } = await readEveryStore(ws, { path: "a", maxBytes: 4 });
      assert.deepEqual(file, {
        path: "a",
        sizeBytes: 5 * 1024 * MIB,
        content: "text",
        isTruncated: true,
      });
    }),
  );

  test(
    "is not asked for an active file",
    inWorkspace(async (ws) => {
      const context = { store: ws.root, activeFiles: ["missing"] };
      await refuseSource({ path: "missing" }, context, "ALREADY_IN_CONTEXT");
    }),
  );

  test(
    "answers 64 calls at once",
    inWorkspace(async (ws) => {
      for (let i = 0; i < 64; i++) ws.write(`${i}`, `text ${i}`);
      const store = DirectoryStore.open(ws.root);
      const results = await Promise.all(
        Array.from({ length: 64 }, (_, i) => readSource({ path: `${i}` }, { store })),
      );
      for (const [i, { file }] of results.entries()) assert.equal(file?.content, `text ${i}`);
    }),
  );

  test(
    "that is gone is a refusal or a failure without its path",
    inWorkspace(async (ws) => {
      const store = path.join(ws.base, "gone");
      const codes = ["INVALID_ARGUMENT", "INTERNAL_ERROR"];
      await refuseSource({ path: "a" }, { store }, codes, /./, ws.hidden);
    }),
  );

  test(
    "that is a closed Workspace is a refusal or a failure",
    inWorkspace(async (ws) => {
      const store = Workspace.open(ws.root);
      store.close();
      const codes = ["INVALID_ARGUMENT", "INTERNAL_ERROR"];
      await refuseSource({ path: "a" }, { store }, codes, /./, ws.hidden);
    }),
  );

  test(
    "with a document that is not UTF-8: INTERNAL_ERROR, and onError is called",
    inWorkspace(async (ws) => {
      ws.write(DOC, hex("61 FF"));
      await failsOfItself(ws.root);
      await failsOfItself(DirectoryStore.open(ws.root));
    }),
  );
});

describe("links in a directory as store", { skip: noSymlinks }, () => {
  test(
    "that end inside are read, under their own names",
    inWorkspace(async (ws) => {
      ws.write("real/a", "text");
      ws.link("l", "real/a");
      ws.link("absolute", ws.at("real/a"));
      ws.link("dir", "real", "dir");
      for (const key of ["l", "absolute", "dir/a"]) {
        const { file } = await readEveryStore(ws, { path: key });
        assert.deepEqual([file?.path, file?.content], [key, "text"]);
      }
    }),
  );

  for (const [name, key, target] of [
    ["a file outside", "l", "../outside/secret"],
    ["a folder outside", "l/secret", "../outside"],
    ["nothing outside", "l", "../outside/missing"],
    ["a device", "l", "/dev/null"],
    ["itself", "l", "l"],
  ] as const) {
    test(
      `to ${name}: get rejects with SANDBOX_VIOLATION`,
      AT_ONCE,
      inWorkspace(async (ws) => {
        ws.writeOutside("secret");
        ws.link("l", target);
        const store = DirectoryStore.open(ws.root);
        const error = await rejectionValue(() => Promise.resolve(store.get(key, {})));
        assert.ok(error instanceof Error, String(error));
        assert.equal((error as { code?: unknown }).code, "SANDBOX_VIOLATION", error.message);
        assert.ok(!error.message.includes(ws.base), error.message);
      }),
    );

    test(
      `to ${name}: INTERNAL_ERROR, and onError gets the error`,
      AT_ONCE,
      inWorkspace(async (ws) => {
        ws.writeOutside("secret");
        ws.link("l", target);
        const workspace = Workspace.open(ws.root);
        for (const store of [DirectoryStore.open(ws.root), ws.root, workspace]) {
          const { told, onError } = listener();
          const context = { store, onError };
          const result = await refuseSource(
            { path: key },
            context,
            "INTERNAL_ERROR",
            /./,
            ws.hidden,
          );
          assert.ok(!JSON.stringify(result).includes(SECRET.trim()));
          assert.equal(told.length, 1);
          assert.equal((told[0] as { code?: unknown }).code, "SANDBOX_VIOLATION");
        }
        workspace.close();
      }),
    );
  }

  test(
    "that dangle inside are nothing",
    inWorkspace(async (ws) => {
      ws.link("l", "missing");
      assert.equal(await DirectoryStore.open(ws.root).get("l", {}), null);
    }),
  );
});

describe("special files in a directory as store", () => {
  test(
    "a FIFO is nothing, at once",
    { ...AT_ONCE, skip: noFifos },
    inWorkspace(async (ws) => {
      mkfifo(ws.at("pipe"));
      const store = DirectoryStore.open(ws.root);
      assert.equal(await store.get("pipe", {}), null);
      await refuseSource({ path: "pipe" }, { store: ws.root }, "NOT_FOUND");
    }),
  );

  test(
    "a socket is nothing, at once",
    { ...AT_ONCE, skip: notPosix },
    inWorkspace(async (ws) => {
      const server = net.createServer();
      await new Promise<void>((resolve) => server.listen(ws.at("s"), resolve));
      assert.equal(await DirectoryStore.open(ws.root).get("s", {}), null);
      await new Promise((resolve) => server.close(resolve));
    }),
  );
});

describe("DirectoryStore", () => {
  test(
    "gives bytes and the size of the whole document",
    inWorkspace(async (ws) => {
      ws.write("a", hex("EF BB BF 61 FF"));
      const found = await DirectoryStore.open(ws.root).get("a", {});
      assert.ok(found);
      assert.deepEqual(Object.keys(found).sort(), ["bytes", "sizeBytes"]);
      assert.ok(found.bytes instanceof Uint8Array);
      assertBytes(found.bytes, hex("EF BB BF 61 FF"));
      assert.equal(found.sizeBytes, 5);
    }),
  );

  test(
    "gives the first maxBytes at least, and the true size",
    inWorkspace(async (ws) => {
      ws.write("a", "abcdef");
      const store = DirectoryStore.open(ws.root);
      for (const maxBytes of [1, 3, 6, 7, 1_000]) {
        const found = await store.get("a", { maxBytes });
        assert.ok(found);
        assert.ok(found.bytes.length >= Math.min(maxBytes, 6));
        assertBytes(found.bytes, "abcdef".slice(0, found.bytes.length));
        assert.equal(found.sizeBytes, 6);
      }
    }),
  );

  test(
    "gives no bytes of an empty document",
    inWorkspace(async (ws) => {
      ws.write("a", "");
      const found = await DirectoryStore.open(ws.root).get("a", {});
      assert.ok(found);
      assert.deepEqual([found.bytes.length, found.sizeBytes], [0, 0]);
    }),
  );

  test(
    "rejects with the reason of its signal",
    inWorkspace(async (ws) => {
      ws.write("a", "a");
      const store = DirectoryStore.open(ws.root);
      for (const [, reason] of ABORT_REASONS) {
        const signal = AbortSignal.abort(reason);
        assert.equal(
          await rejectionValue(() => Promise.resolve(store.get("a", { signal }))),
          reason,
        );
      }
    }),
  );

  for (const [name, dir] of [
    ["relative", "relative/dir"],
    ["empty", ""],
    ["null", null],
    ["undefined", undefined],
    ["a number", 5],
    ["an object", {}],
  ] as const) {
    test(`a directory that is ${name} is refused`, () => {
      const open = DirectoryStore.open as unknown as (dir: unknown) => unknown;
      assert.throws(
        () => open.call(DirectoryStore, dir),
        (error: Error & { code?: unknown }) => {
          assert.equal(error.code, "INVALID_ARGUMENT", error.message);
          assert.match(error.message, /^INVALID_ARGUMENT: /);
          assert.ok(!error.message.includes("relative/dir"), error.message);
          return true;
        },
      );
    });
  }
});

test("a DirectoryStore that was closed refuses calls", async () => {
  const store = DirectoryStore.open(os.tmpdir());
  store.close();
  await assert.rejects(store.get("a"), { code: "INVALID_ARGUMENT" });
  const result = await readSourceDocument({ path: "a" }, { store });
  assert.equal(result.errorCode, "INVALID_ARGUMENT");
});
