// Bytes: BOM, binary, encodings, the size cap, meta. docs/contract.md §4 "Bytes", spec read_file §3.2 and §5.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import fs from "node:fs";
import { describe, test } from "node:test";
import { MAX_READ_FILE_SIZE_BYTES, readFileSync } from "../index.js";
import { decode, lineOfByte } from "./support/model.ts";
import { notPosix } from "./support/platform.ts";
import { Random } from "./support/random.ts";
import { mtimeMs, readEveryWay, readLikeModel, refuseEveryWay } from "./support/read.ts";
import { concat, hex, inWorkspace } from "./support/workspace.ts";

const CHUNK = 8_192;

describe("the BOM", () => {
  test(
    "B03: one leading BOM is dropped from content and counted in byte_length",
    inWorkspace(async (ws) => {
      const bytes = hex("EF BB BF 2D 2D 2D 0A");
      ws.write("a.md", bytes);
      const { content, meta } = await readLikeModel(ws, "a.md", bytes);
      assert.equal(content, "---\n");
      assert.equal(meta.byte_length, 7);
    }),
  );

  test(
    "B03: a file that holds only a BOM has no line",
    inWorkspace(async (ws) => {
      const bytes = hex("EF BB BF");
      ws.write("a.md", bytes);
      const { content, meta } = await readLikeModel(ws, "a.md", bytes);
      assert.equal(content, "");
      assert.equal(meta.line_count, 0);
      assert.equal(meta.byte_length, 3);
    }),
  );

  test(
    "B03: a second BOM is content",
    inWorkspace(async (ws) => {
      const bytes = hex("EF BB BF EF BB BF 61");
      ws.write("a.md", bytes);
      const { content } = await readLikeModel(ws, "a.md", bytes);
      assert.equal(content, "\ufeffa");
    }),
  );

  test(
    "B03: a BOM on a later line is content",
    inWorkspace(async (ws) => {
      const bytes = concat("a\n\ufeffb\n");
      ws.write("a.md", bytes);
      const { content } = await readLikeModel(ws, "a.md", bytes, { start_line: 2 });
      assert.equal(content, "\ufeffb\n");
    }),
  );
});

describe("binary files", () => {
  test(
    "F05: an ELF file is binary",
    inWorkspace(async (ws) => {
      ws.write("a.out", hex("7F 45 4C 46 02 01 01 00"));
      await refuseEveryWay(ws, "a.out", "BINARY_NOT_SUPPORTED");
    }),
  );

  for (const name of ["x.bin", "x.dat", "x.ts", "x.sh", "x.png", "x"]) {
    test(
      `F08: plain text in ${name} is text`,
      inWorkspace(async (ws) => {
        const bytes = concat("plain text\n");
        ws.write(name, bytes);
        await readLikeModel(ws, name, bytes);
      }),
    );
  }

  for (const offset of [0, 1, CHUNK - 1]) {
    test(
      `F05: a NUL at byte ${offset} is binary`,
      inWorkspace(async (ws) => {
        const bytes = new Uint8Array(CHUNK + 100).fill(0x61);
        bytes[offset] = 0;
        ws.write("a.txt", bytes);
        await refuseEveryWay(ws, "a.txt", "BINARY_NOT_SUPPORTED");
      }),
    );
  }

  test(
    `F08: a NUL at byte ${CHUNK}, behind the first chunk, is a character`,
    inWorkspace(async (ws) => {
      const bytes = new Uint8Array(CHUNK + 100).fill(0x61);
      bytes[CHUNK] = 0;
      ws.write("a.txt", bytes);
      const { content } = await readLikeModel(ws, "a.txt", bytes);
      assert.equal(content[CHUNK], "\0");
    }),
  );

  test(
    "F05: the first chunk is counted from the first byte of the file, BOM included",
    inWorkspace(async (ws) => {
      const bytes = new Uint8Array(CHUNK + 100).fill(0x61);
      bytes.set(hex("EF BB BF"));
      bytes[CHUNK] = 0;
      ws.write("a.txt", bytes);
      await readLikeModel(ws, "a.txt", bytes);
    }),
  );

  test(
    "F05: a file is binary in every window, not only in the one with the NUL",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "\0\na\nb\n");
      await refuseEveryWay(ws, "a.txt", "BINARY_NOT_SUPPORTED", { start_line: 3 });
    }),
  );

  test(
    "F05: a NUL is binary also where invalid UTF-8 is replaced",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a\0b");
      await refuseEveryWay(ws, "a.txt", "BINARY_NOT_SUPPORTED", {}, { invalidUtf8: "replace" });
    }),
  );
});

describe("bytes that are not UTF-8", () => {
  test(
    "B05: a Windows-1252 byte is refused with its offset and line",
    inWorkspace(async (ws) => {
      ws.write("a.txt", hex("70 31 30 99 0A"));
      const { message } = await refuseEveryWay(ws, "a.txt", "BINARY_NOT_SUPPORTED");
      assert.match(message, /\bbyte 3\b/);
      assert.match(message, /\bline 1\b/);
    }),
  );

  test(
    "B07: GBK bytes are refused",
    inWorkspace(async (ws) => {
      ws.write("a.txt", hex("D6 D0 CE C4 0A"));
      await refuseEveryWay(ws, "a.txt", "BINARY_NOT_SUPPORTED");
    }),
  );

  test(
    "B11: GBK bytes in notes.txt are a coded refusal of that file",
    inWorkspace(async (ws) => {
      ws.write("notes.txt", hex("B1 CA BC C7 0A"));
      const { path } = await refuseEveryWay(ws, "notes.txt", "BINARY_NOT_SUPPORTED");
      assert.equal(path, "notes.txt");
    }),
  );

  test(
    "B09: UTF-16LE with BOM and NULs is refused",
    inWorkspace(async (ws) => {
      ws.write("a.txt", hex("FF FE 68 00 69 00 0A 00"));
      await refuseEveryWay(ws, "a.txt", "BINARY_NOT_SUPPORTED");
    }),
  );

  for (const [name, dump] of [
    ["little-endian, with NULs", "FF FE 68 00 69 00 0A 00"],
    ["little-endian, without NULs", "FF FE 2D 4E 87 65"],
    ["big-endian, with NULs", "FE FF 00 68 00 69 00 0A"],
    ["big-endian, without NULs", "FE FF 4E 2D 65 87"],
  ] as const) {
    test(
      `B09: UTF-16 (${name}) is named as such`,
      inWorkspace(async (ws) => {
        ws.write("a.txt", hex(dump));
        const { message } = await refuseEveryWay(ws, "a.txt", "BINARY_NOT_SUPPORTED");
        assert.match(message, /UTF-16/);
      }),
    );
  }

  for (const [name, dump] of [
    ["a lone continuation byte", "80"],
    ["an overlong slash", "C0 AF"],
    ["an overlong three-byte form", "E0 9F BF"],
    ["an encoded surrogate", "ED A0 80"],
    ["a code point above U+10FFFF", "F4 90 80 80"],
    ["a byte that is never UTF-8", "FF"],
    ["a four-byte character cut short", "F0 9F 98"],
  ] as const) {
    test(
      `B05: ${name} is refused where it starts`,
      inWorkspace(async (ws) => {
        const bytes = concat("é\r\nb\n", hex(dump), "\nrest");
        ws.write("a.txt", bytes);
        const { message } = await refuseEveryWay(ws, "a.txt", "BINARY_NOT_SUPPORTED");
        assert.match(message, /\bbyte 6\b/);
        assert.match(message, /\bline 3\b/);
      }),
    );
  }

  test(
    "B05: a character cut by the end of the file is refused",
    inWorkspace(async (ws) => {
      ws.write("a.txt", hex("61 0A E3 81"));
      const { message } = await refuseEveryWay(ws, "a.txt", "BINARY_NOT_SUPPORTED");
      assert.match(message, /\bbyte 2\b/);
      assert.match(message, /\bline 2\b/);
    }),
  );

  test(
    "B05: the offset is the file's, BOM included",
    inWorkspace(async (ws) => {
      ws.write("a.txt", hex("EF BB BF 61 99"));
      const { message } = await refuseEveryWay(ws, "a.txt", "BINARY_NOT_SUPPORTED");
      assert.match(message, /\bbyte 4\b/);
    }),
  );

  test(
    "B05: a bad byte outside the window is refused too",
    inWorkspace(async (ws) => {
      ws.write("a.txt", concat("a\nb\nc\n", hex("99"), "\n"));
      const options = { start_line: 1, max_lines: 1 };
      const { message } = await refuseEveryWay(ws, "a.txt", "BINARY_NOT_SUPPORTED", options);
      assert.match(message, /\bline 4\b/);
    }),
  );

  test(
    "B05: a bad byte far behind the first chunk is found",
    inWorkspace(async (ws) => {
      const bytes = concat("0123456789abcde\n".repeat(6_250), hex("FE"), "\n");
      ws.write("a.txt", bytes);
      const { message } = await refuseEveryWay(ws, "a.txt", "BINARY_NOT_SUPPORTED");
      assert.match(message, /\bbyte 100000\b/);
      assert.match(message, /\bline 6251\b/);
    }),
  );

  test(
    "B05: a file that holds U+FFFD itself is text",
    inWorkspace(async (ws) => {
      const bytes = concat("a\ufffdb\n");
      ws.write("a.txt", bytes);
      const { content } = await readLikeModel(ws, "a.txt", bytes);
      assert.equal(content, "a\ufffdb\n");
    }),
  );

  test(
    "B05: random bytes are refused exactly where the model sees the first bad one",
    inWorkspace(async (ws) => {
      const random = new Random(7);
      const pieces = ["61", "0A", "0D 0A", "C3 A9", "E3 81 82", "F0 9F 98 80", "E3 81", "80", "C3"];
      for (let round = 0; round < 60; round++) {
        const bytes = hex(
          Array.from({ length: 1 + random.below(8) }, () => random.pick(pieces)).join(" "),
        );
        ws.write("a.txt", bytes);
        const first = decode(bytes).bad[0];
        if (first === undefined) {
          await readLikeModel(ws, "a.txt", bytes);
          continue;
        }
        const { message } = await refuseEveryWay(ws, "a.txt", "BINARY_NOT_SUPPORTED");
        const dump = Buffer.from(bytes).toString("hex");
        assert.match(message, new RegExp(`\\bbyte ${first}\\b`), dump);
        assert.match(message, new RegExp(`\\bline ${lineOfByte(bytes, first)}\\b`), dump);
      }
    }),
  );
});

describe('invalidUtf8: "replace"', () => {
  const lossy = { invalidUtf8: "replace" };

  test(
    "B05: a bad byte becomes U+FFFD and is counted",
    inWorkspace(async (ws) => {
      ws.write("a.txt", hex("70 31 30 99 0A"));
      const { content, meta } = await readEveryWay(ws, "a.txt", {}, lossy);
      assert.equal(content, "p10\ufffd\n");
      assert.equal(meta.replaced_count, 1);
    }),
  );

  test(
    "B05: replaced_count is 0 for a clean file",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "clean\n");
      const { meta } = await readEveryWay(ws, "a.txt", {}, lossy);
      assert.equal(meta.replaced_count, 0);
    }),
  );

  test(
    "B05: without the option there is no replaced_count",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "clean\n");
      const { meta } = await readEveryWay(ws, "a.txt");
      assert.ok(!("replaced_count" in meta));
    }),
  );

  test(
    "B05: the count is the whole file's, not the window's",
    inWorkspace(async (ws) => {
      ws.write("a.txt", concat("a\n", hex("99"), "\n", hex("99 99"), "\n"));
      const { content, meta } = await readEveryWay(ws, "a.txt", { max_lines: 1 }, lossy);
      assert.equal(content, "a");
      assert.equal(meta.replaced_count, 3);
    }),
  );

  test(
    "B05: a U+FFFD that the file holds itself is not counted",
    inWorkspace(async (ws) => {
      ws.write("a.txt", concat("\ufffd", hex("99"), "\n"));
      const { content, meta } = await readEveryWay(ws, "a.txt", {}, lossy);
      assert.equal(content, "\ufffd\ufffd\n");
      assert.equal(meta.replaced_count, 1);
    }),
  );

  test(
    "B05: byte_length stays the file's",
    inWorkspace(async (ws) => {
      ws.write("a.txt", hex("99 99"));
      const { meta } = await readEveryWay(ws, "a.txt", {}, lossy);
      assert.equal(meta.byte_length, 2);
    }),
  );

  test(
    "B05: replaced_count stands after mtime_ms and before sha256",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a");
      const { meta } = await readEveryWay(ws, "a.txt", { include_hash: true }, lossy);
      assert.deepEqual(Object.keys(meta), [
        "byte_length",
        "line_count",
        "returned_line_count",
        "mtime_ms",
        "replaced_count",
        "sha256",
      ]);
    }),
  );

  test(
    "B05: ill-formed sequences are replaced one for one, like TextDecoder does",
    inWorkspace(async (ws) => {
      const random = new Random(11);
      const pieces = [
        "61",
        "0A",
        "C3 A9",
        "E3 81",
        "80",
        "F0 9F 98",
        "ED A0 80",
        "FF",
        "F4 90",
        "C0",
      ];
      for (let round = 0; round < 60; round++) {
        const bytes = hex(
          Array.from({ length: 1 + random.below(8) }, () => random.pick(pieces)).join(" "),
        );
        ws.write("a.txt", bytes);
        const { text, bad } = decode(bytes);
        const { content, meta } = await readEveryWay(ws, "a.txt", {}, lossy);
        const dump = Buffer.from(bytes).toString("hex");
        assert.equal(content, text, dump);
        assert.equal(meta.replaced_count, bad.length, dump);
      }
    }),
  );
});

describe("characters at a boundary", () => {
  test(
    "C01: a character across byte 1,024 is whole",
    inWorkspace(async (ws) => {
      const bytes = concat(`${"a".repeat(1023)}あ\n`);
      ws.write("a.txt", bytes);
      const { content } = await readLikeModel(ws, "a.txt", bytes);
      assert.equal(content, `${"a".repeat(1023)}あ\n`);
    }),
  );

  test(
    "C04: a character across byte 1,000 is text",
    inWorkspace(async (ws) => {
      const bytes = concat(`${"a".repeat(999)}中\n`);
      ws.write("a.txt", bytes);
      await readLikeModel(ws, "a.txt", bytes);
    }),
  );

  for (const boundary of [4_096, CHUNK, 65_536]) {
    test(
      `C01: characters and CRLF slid over byte ${boundary} are whole`,
      inWorkspace(async (ws) => {
        for (const piece of ["é", "あ", "😀", "\r\n", "\ufeff"]) {
          for (let before = boundary - 4; before <= boundary + 1; before++) {
            const bytes = concat("a".repeat(before), piece, "tail\n");
            ws.write("a.txt", bytes);
            await readLikeModel(ws, "a.txt", bytes);
          }
        }
      }),
    );
  }
});

describe("the size cap", () => {
  test("MAX_READ_FILE_SIZE_BYTES is 1 MiB", () => {
    assert.equal(MAX_READ_FILE_SIZE_BYTES, 1_048_576);
  });

  test(
    "E05: a file of exactly the cap is read",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a".repeat(MAX_READ_FILE_SIZE_BYTES));
      const { content, meta } = await readEveryWay(ws, "a.txt");
      assert.equal(content.length, MAX_READ_FILE_SIZE_BYTES);
      assert.equal(meta.byte_length, MAX_READ_FILE_SIZE_BYTES);
    }),
  );

  test(
    "E05: one byte more is refused",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a".repeat(MAX_READ_FILE_SIZE_BYTES + 1));
      await refuseEveryWay(ws, "a.txt", "SIZE_LIMIT_EXCEEDED");
    }),
  );

  test(
    "E05: the cap is the file's, BOM included",
    inWorkspace(async (ws) => {
      ws.write("a.txt", `\ufeff${"a".repeat(MAX_READ_FILE_SIZE_BYTES - 2)}`);
      await refuseEveryWay(ws, "a.txt", "SIZE_LIMIT_EXCEEDED");
    }),
  );

  test(
    "E05: a small window of a file above the cap is refused",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "0123456\n".repeat(262_144));
      const options = { start_line: 1, max_lines: 1 };
      await refuseEveryWay(ws, "a.txt", "SIZE_LIMIT_EXCEEDED", options);
    }),
  );

  test(
    "E05: the refusal names the size and the limit",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "0123456\n".repeat(262_144));
      const { message } = await refuseEveryWay(ws, "a.txt", "SIZE_LIMIT_EXCEEDED");
      assert.match(message, /2[,_]?097[,_]?152/);
      assert.match(message, /1[,_]?048[,_]?576|1 MiB/);
    }),
  );

  test(
    "E05: the refusal does not advise paging, which would not help",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "0123456\n".repeat(262_144));
      const { message } = await refuseEveryWay(ws, "a.txt", "SIZE_LIMIT_EXCEEDED");
      assert.doesNotMatch(message, /start_line|max_lines|\bpag(e|es|ing)\b|window|smaller range/i);
    }),
  );

  test(
    "E03: a sparse file of 5 GiB is refused at once and takes no memory",
    { timeout: 5_000 },
    inWorkspace(async (ws) => {
      fs.truncateSync(ws.write("a.txt", ""), 5 * 1024 ** 3);
      const before = process.memoryUsage.rss();
      const { message } = await refuseEveryWay(ws, "a.txt", "SIZE_LIMIT_EXCEEDED");
      assert.ok(process.memoryUsage.rss() - before < 64 * 1024 ** 2, "memory stays flat");
      assert.match(message, /5[,_]?368[,_]?709[,_]?120/);
    }),
  );
});

describe("meta", () => {
  test(
    "mtime_ms is rounded down to a whole millisecond",
    inWorkspace(async (ws) => {
      fs.utimesSync(ws.write("a.txt", "a"), 1_700_000_000, 1_700_000_000.9996);
      const { meta } = await readEveryWay(ws, "a.txt");
      assert.equal(meta.mtime_ms, 1_700_000_000_999);
    }),
  );

  test(
    "mtime_ms is rounded down before 1970 too",
    { skip: notPosix },
    inWorkspace(async (ws) => {
      execFileSync("touch", ["-d", "1969-12-31T23:59:59.9995Z", ws.write("a.txt", "a")]);
      assert.equal(mtimeMs(ws.at("a.txt")), -1, "the file system keeps such a time");
      const { meta } = await readEveryWay(ws, "a.txt");
      assert.equal(meta.mtime_ms, -1);
    }),
  );

  test(
    "include_hash gives the SHA-256 of the bytes on disk, for every window",
    inWorkspace(async (ws) => {
      const bytes = concat("\ufeffa\r\nb\r\nc\r\n");
      ws.write("a.txt", bytes);
      const { meta } = await readEveryWay(ws, "a.txt", { include_hash: true, max_lines: 1 });
      assert.equal(meta.sha256, createHash("sha256").update(bytes).digest("hex"));
    }),
  );

  test(
    "include_hash of an empty file is the hash of nothing",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "");
      const { meta } = await readEveryWay(ws, "a.txt", { include_hash: true });
      assert.equal(meta.sha256, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    }),
  );

  test(
    "without include_hash there is no sha256",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a");
      const { meta } = await readEveryWay(ws, "a.txt", { include_hash: false });
      assert.ok(!("sha256" in meta));
    }),
  );
});

describe("the answer as an object", () => {
  const KEYS = ["path", "content", "truncated", "next_start_line", "meta"];
  const META = ["byte_length", "line_count", "returned_line_count", "mtime_ms"];

  test(
    "its keys come in the order of the specification, those not asked for not at all",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a\n");
      const cases: [object, object, string[]][] = [
        [{}, {}, []],
        [{}, { include_hash: true }, ["sha256"]],
        [{ invalidUtf8: "replace" }, {}, ["replaced_count"]],
        [{ invalidUtf8: "replace" }, { include_hash: true }, ["replaced_count", "sha256"]],
      ];
      for (const [settings, options, further] of cases) {
        const answer = await readEveryWay(ws, "a.txt", options, { ...settings });
        assert.deepEqual(Object.keys(answer), KEYS);
        assert.deepEqual(Object.keys(answer.meta), [...META, ...further]);
      }
    }),
  );

  test(
    "its keys are its own, in spite of setters that all objects inherit",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a\n");
      const taken: unknown[] = [];
      const keys = [...KEYS, ...META, "replaced_count", "sha256"];
      for (const key of keys) {
        Object.defineProperty(Object.prototype, key, {
          set: (value) => void taken.push(value),
          configurable: true,
        });
      }
      try {
        const answer = readFileSync(ws.context, "a.txt");
        const context = { ...ws.context, invalidUtf8: "replace" } as const;
        const more = readFileSync(context, "a.txt", { include_hash: true });
        assert.deepEqual(Object.keys(answer), KEYS);
        assert.equal(answer.content, "a\n");
        assert.deepEqual(Object.keys(more.meta), [...META, "replaced_count", "sha256"]);
        assert.deepEqual(taken, []);
      } finally {
        for (const key of keys) delete (Object.prototype as Record<string, unknown>)[key];
      }
    }),
  );
});
