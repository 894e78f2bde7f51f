// Hashes: SHA-256 of the bytes on disk, the canonical Aptix content hash, and contentHash. docs/contract.md §2
// and §5. The Aptix hash is checked against the vectors there and against a model of the algorithm.

import assert from "node:assert/strict";
import fs from "node:fs";
import { describe, test } from "node:test";
import { contentHash } from "../index.js";
import { aptixModel, contentModel, inEveryWay, sha256 } from "./support/create.ts";
import { hostileProxy, STRANGERS } from "./support/hostile.ts";
import { Random } from "./support/random.ts";
import { exceptionValue } from "./support/read.ts";

const looseContentHash = contentHash as unknown as (...args: unknown[]) => string;
const shown = (text: string) => JSON.stringify(text).slice(0, 40);

const VECTORS = [
  ["", "01ba4719c80b6fe911b091a7c05124b64eeece964e09c058ef8f9805daca546b"],
  ["a", "87428fc522803d31065e7bce3cf03fe475096631e5e07bbd7a0fde60c4cf25c7"],
  ["a\n", "a7da489976d0047490617adb4f7a1f27f7af8b52a5176fd002ffe471863520ab"],
  ["a\r\nb", "911169ddaaf146aff539f58c26c489af3b892dff0fe283c1c264c65ae5aa59a2"],
  ["a\rb", "911169ddaaf146aff539f58c26c489af3b892dff0fe283c1c264c65ae5aa59a2"],
] as const;

const TEXTS = [
  "",
  "\n",
  "\r\n",
  "\r\r\n",
  "a\n\nb\n",
  "é日本😀\n",
  "\ufeffa",
  "a\0b",
  "a\u2028b\u0085c",
  "x".repeat(499),
  "x".repeat(500),
  "x".repeat(501),
  `${"x".repeat(600)}\n${"y".repeat(500)}\n${"z".repeat(1_500)}`,
  "é".repeat(501),
  `${"x".repeat(498)}😀tail`,
  `${"x".repeat(500)}\r\n${"x".repeat(501)}\r`,
  "line\n".repeat(10_000),
  "long ".repeat(100_000),
];

test("the model gives the vectors of docs/contract.md §5", () => {
  for (const [text, hash] of VECTORS) assert.equal(aptixModel(text), hash, shown(text));
});

describe("contentHash", () => {
  for (const [text, hash] of VECTORS) {
    test(`aptix of ${shown(text)} is the vector of docs/contract.md §5`, () => {
      assert.equal(contentHash(text, "aptix"), hash);
    });
  }

  for (const text of TEXTS) {
    test(`aptix of ${shown(text)}, ${text.length} units long, is the model's`, () => {
      assert.equal(contentHash(text, "aptix"), aptixModel(text));
    });

    test(`sha256 of ${shown(text)}, ${text.length} units long, is that of the text as given`, () => {
      assert.equal(contentHash(text), sha256(text));
      assert.equal(contentHash(text, "sha256"), sha256(text));
    });
  }

  test("aptix cuts a surrogate pair at the 500th unit, and its half is U+FFFD in UTF-8", () => {
    const text = `${"x".repeat(499)}😀`;
    assert.equal(contentHash(text, "aptix"), aptixModel(text));
    assert.equal(contentHash(text, "aptix"), sha256(`${"x".repeat(499)}\ufffd\n`));
  });

  test("aptix of random texts is the model's", () => {
    const random = new Random(500);
    const alphabet = ["\r", "\n", "\r\n", "a", "é", "あ", "😀", "x".repeat(249), "é".repeat(250)];
    for (let i = 0; i < 300; i++) {
      let text = "";
      for (let length = random.below(12); length > 0; length--) text += random.pick(alphabet);
      assert.equal(contentHash(text, "aptix"), aptixModel(text), `${i}: ${shown(text)}`);
    }
  });

  for (const algorithm of [undefined, null, "sha256"]) {
    test(`the algorithm ${algorithm} is sha256`, () => {
      assert.equal(looseContentHash("a\r\n", algorithm), sha256("a\r\n"));
    });
  }

  /** Has the arguments refused by an Error with INVALID_ARGUMENT whose message `says` finds. */
  function refuse(args: unknown[], says: RegExp): void {
    const error = exceptionValue(() => looseContentHash(...args));
    assert.ok(error instanceof Error, String(error));
    assert.equal((error as { code?: unknown }).code, "INVALID_ARGUMENT", error.message);
    assert.match(error.message, says);
  }

  for (const [name, value] of [
    ...STRANGERS,
    ["a number", 5],
    ["null", null],
    ["undefined", undefined],
    ["a Buffer", Buffer.from("a")],
    ["a hostile Proxy", hostileProxy()],
  ] as const) {
    test(`text as ${name} is refused by name`, () => {
      refuse([value], /\btext\b/);
      refuse([value, "aptix"], /\btext\b/);
    });
  }

  test("no arguments are refused", () => {
    refuse([], /\btext\b/);
  });

  for (const [name, value] of [
    ...STRANGERS,
    ["a number", 5],
    ["unknown", "md5"],
    ["SHA256 in capitals", "SHA256"],
    ["empty", ""],
    ["a hostile Proxy", hostileProxy()],
  ] as const) {
    test(`algorithm as ${name} is refused by name`, () => {
      refuse(["a", value], /\balgorithm\b/);
    });
  }

  test("a lone surrogate is refused, or hashed as U+FFFD like a TextEncoder has it", () => {
    for (const algorithm of ["sha256", "aptix"]) {
      let hash: string;
      try {
        hash = looseContentHash("a\ud800", algorithm);
      } catch (error) {
        assert.equal((error as { code?: unknown }).code, "INVALID_ARGUMENT");
        continue;
      }
      assert.equal(hash, looseContentHash("a\ufffd", algorithm));
    }
  });
});

describe("the hash of a created file", () => {
  for (const content of TEXTS) {
    test(
      `${shown(content)}, ${content.length} units long: SHA-256 of the bytes on disk`,
      inEveryWay(async (creator) => {
        for (const overwrite of [false, true]) {
          const result = await creator.create({ path: "a.txt", content, overwrite });
          assert.equal(result.hash, sha256(fs.readFileSync(creator.ws.at("a.txt"))));
          assert.equal(result.hash, sha256(contentModel(content)));
        }
      }),
    );

    test(
      `${shown(content)}, ${content.length} units long: aptix of the final text`,
      inEveryWay(async (creator) => {
        const settings = { contentHash: "aptix" };
        for (const overwrite of [false, true]) {
          const args = { path: "a.txt", content, overwrite };
          const { hash } = await creator.create(args, settings);
          const text = Buffer.from(contentModel(content)).toString("utf8");
          assert.equal(hash, aptixModel(text));
          assert.equal(hash, contentHash(text, "aptix"));
        }
      }),
    );
  }
});
