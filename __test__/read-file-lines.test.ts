// Lines, windows and counts: docs/contract.md §4 "Lines" and "Content", spec read_file §3.1 and §5.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { readFileSync, Workspace } from "../index.js";
import { normalised, windowOf } from "./support/model.ts";
import { Random } from "./support/random.ts";
import { readEveryWay, readLikeModel } from "./support/read.ts";
import { concat, hex, inWorkspace, type TestWorkspace } from "./support/workspace.ts";

const bytesOf = (text: string) => new TextEncoder().encode(text);
const numbered = (count: number) => Array.from({ length: count }, (_, i) => `line ${i + 1}`);

/** Writes `bytes`, reads the window, checks the whole answer against the model and gives it back. */
function readText(
  ws: TestWorkspace,
  data: string | Uint8Array,
  options?: { start_line?: number; max_lines?: number },
) {
  const bytes = typeof data === "string" ? bytesOf(data) : data;
  ws.write("file.txt", bytes);
  return readLikeModel(ws, "file.txt", bytes, options);
}

describe("line ends", () => {
  test(
    "A05: a lone CR is an ordinary character",
    inWorkspace(async (ws) => {
      const text = "alpha\nbeta\rmore\ngamma\n";
      const { content, meta } = await readText(ws, text, { start_line: 2, max_lines: 1 });
      assert.equal(content, "beta\rmore");
      assert.equal(meta.line_count, 3);
    }),
  );

  test(
    "A07: a form feed is an ordinary character",
    inWorkspace(async (ws) => {
      const text = "l1\nl2\nl3\n\f\nl5\nTARGET\n";
      const { content, meta } = await readText(ws, text, { start_line: 6, max_lines: 1 });
      assert.equal(content, "TARGET\n");
      assert.equal(meta.line_count, 6);
    }),
  );

  for (const [name, separator] of [
    ["vertical tab", "\v"],
    ["NEL", "\u0085"],
    ["line separator U+2028", "\u2028"],
    ["paragraph separator U+2029", "\u2029"],
    ["file separator U+001C", "\u001c"],
  ] as const) {
    test(
      `A05: ${name} does not end a line`,
      inWorkspace(async (ws) => {
        const { content, meta } = await readText(ws, `a${separator}b\nc`, { max_lines: 1 });
        assert.equal(content, `a${separator}b`);
        assert.equal(meta.line_count, 2);
      }),
    );
  }

  test(
    "A10: CRLF is one line end, not two",
    inWorkspace(async (ws) => {
      const { content, meta } = await readText(ws, hex("61 0D 0A 62 0D 0A"));
      assert.equal(content, "a\nb\n");
      assert.equal(meta.line_count, 2);
      assert.equal(meta.returned_line_count, 2);
    }),
  );

  test(
    "A10: byte_length counts the CRs that content lost",
    inWorkspace(async (ws) => {
      const { meta } = await readText(ws, "a\r\nb\r\n");
      assert.equal(meta.byte_length, 6);
    }),
  );

  test(
    "A10: CR CR LF loses only the CR that belongs to the LF",
    inWorkspace(async (ws) => {
      const { content } = await readText(ws, "a\r\r\nb");
      assert.equal(content, "a\r\nb");
    }),
  );

  test(
    "A10: LF CR LF are two line ends",
    inWorkspace(async (ws) => {
      const { content, meta } = await readText(ws, "a\n\r\nb");
      assert.equal(content, "a\n\nb");
      assert.equal(meta.line_count, 3);
    }),
  );

  test(
    "A05: a CR at the end of the file stays",
    inWorkspace(async (ws) => {
      const { content, meta } = await readText(ws, "a\nb\r");
      assert.equal(content, "a\nb\r");
      assert.equal(meta.line_count, 2);
    }),
  );

  test(
    "A05: a file of one lone CR is one line",
    inWorkspace(async (ws) => {
      const { content, meta } = await readText(ws, "\r");
      assert.equal(content, "\r");
      assert.equal(meta.line_count, 1);
    }),
  );

  test(
    "A10: mixed line ends all come out as LF",
    inWorkspace(async (ws) => {
      const { content, meta } = await readText(ws, "a\nb\r\nc\nd\r\n");
      assert.equal(content, "a\nb\nc\nd\n");
      assert.equal(meta.line_count, 4);
    }),
  );
});

describe("line_count", () => {
  for (const [dump, count] of [
    ["", 0],
    ["0A", 1],
    ["0A 0A", 2],
    ["61 0A 0A", 2],
    ["61 0A 62 0A", 2],
    ["61 0A 62", 2],
    ["61", 1],
    ["0D 0A", 1],
    ["EF BB BF", 0],
    ["EF BB BF 0A", 1],
  ] as const) {
    test(
      `D22: the bytes [${dump}] are ${count} line(s)`,
      inWorkspace(async (ws) => {
        const { meta } = await readText(ws, hex(dump));
        assert.equal(meta.line_count, count);
      }),
    );
  }

  test(
    "D03: a last line without LF counts",
    inWorkspace(async (ws) => {
      const { content, meta } = await readText(ws, "l1\nl2\nl3");
      assert.equal(content, "l1\nl2\nl3");
      assert.equal(meta.line_count, 3);
    }),
  );

  test(
    "D07: the count follows one rule for 20 bytes and for nearly 1 MiB",
    inWorkspace(async (ws) => {
      const unit = "first\nsecond\r\nthird\n"; // 20 bytes, 3 lines
      const copies = 52_000;
      const short = await readText(ws, unit);
      const long = await readText(ws, unit.repeat(copies));
      assert.equal(short.meta.line_count, 3);
      assert.equal(long.meta.line_count, 3 * copies);
    }),
  );

  test(
    "D16: line_count is the file's, not the window's",
    inWorkspace(async (ws) => {
      const { meta } = await readText(ws, `${numbered(500).join("\n")}\n`, { max_lines: 100 });
      assert.equal(meta.line_count, 500);
      assert.equal(meta.returned_line_count, 100);
    }),
  );
});

describe("windows", () => {
  test(
    "D01: a window that stops early says where to go on",
    inWorkspace(async (ws) => {
      const text = `${numbered(10).join("\n")}\n`;
      const { truncated, next_start_line, meta } = await readText(ws, text, { max_lines: 5 });
      assert.equal(truncated, true);
      assert.equal(next_start_line, 6);
      assert.equal(meta.line_count, 10);
      assert.equal(meta.returned_line_count, 5);
    }),
  );

  test(
    "D01: a window that stops early has no LF at its end",
    inWorkspace(async (ws) => {
      const { content } = await readText(ws, "a\nb\nc\n", { max_lines: 2 });
      assert.equal(content, "a\nb");
    }),
  );

  test(
    "D01: 250 lines without options stop after 200, and split gives 200 pieces",
    inWorkspace(async (ws) => {
      const { content, truncated, next_start_line } = await readText(ws, numbered(250).join("\n"));
      assert.equal(content.split("\n").length, 200);
      assert.equal(truncated, true);
      assert.equal(next_start_line, 201);
    }),
  );

  test(
    "D01: 200 lines without options are whole",
    inWorkspace(async (ws) => {
      const { truncated, next_start_line } = await readText(ws, `${numbered(200).join("\n")}\n`);
      assert.equal(truncated, false);
      assert.equal(next_start_line, null);
    }),
  );

  test(
    "D01: the second window of 250 lines is the rest",
    inWorkspace(async (ws) => {
      const lines = numbered(250);
      const { content, truncated } = await readText(ws, lines.join("\n"), { start_line: 201 });
      assert.equal(content, lines.slice(200).join("\n"));
      assert.equal(truncated, false);
    }),
  );

  test(
    "D06: a window that starts at the last line is that line",
    inWorkspace(async (ws) => {
      const { content, meta } = await readText(ws, "a\nb\nc", { start_line: 3 });
      assert.equal(content, "c");
      assert.equal(meta.returned_line_count, 1);
    }),
  );

  test(
    "D06: a window that ends exactly at the last line is not truncated",
    inWorkspace(async (ws) => {
      const options = { start_line: 2, max_lines: 2 };
      const { content, truncated, next_start_line } = await readText(ws, "a\nb\nc\n", options);
      assert.equal(content, "b\nc\n");
      assert.equal(truncated, false);
      assert.equal(next_start_line, null);
    }),
  );

  test(
    "D09: a window past the end is empty, and still tells the true line_count",
    inWorkspace(async (ws) => {
      const text = `${numbered(5).join("\n")}\n`;
      const answer = await readText(ws, text, { start_line: 100 });
      assert.equal(answer.content, "");
      assert.equal(answer.truncated, false);
      assert.equal(answer.next_start_line, null);
      assert.equal(answer.meta.line_count, 5);
      assert.equal(answer.meta.returned_line_count, 0);
    }),
  );

  test(
    "D09: the line after the last one is already past the end",
    inWorkspace(async (ws) => {
      const { content, meta } = await readText(ws, "a\nb\n", { start_line: 3 });
      assert.equal(content, "");
      assert.equal(meta.returned_line_count, 0);
    }),
  );

  for (const start of [1200, 2 ** 31, 2 ** 32, 2 ** 32 + 1, 2 ** 53 - 1]) {
    test(
      `D11: start_line ${start} in a file of 3 lines is an empty page`,
      inWorkspace(async (ws) => {
        const { content, meta } = await readText(ws, "a\nb\nc\n", {
          start_line: start,
          max_lines: 500,
        });
        assert.equal(content, "");
        assert.equal(meta.line_count, 3);
      }),
    );
  }

  test(
    "D19: a window wider than the file is the file",
    inWorkspace(async (ws) => {
      const { truncated, next_start_line, meta } = await readText(ws, numbered(50).join("\n"), {
        max_lines: 500,
      });
      assert.equal(meta.returned_line_count, 50);
      assert.equal(truncated, false);
      assert.equal(next_start_line, null);
    }),
  );

  test(
    "D09: an empty file is an empty answer",
    inWorkspace(async (ws) => {
      const { content, truncated, meta } = await readText(ws, "");
      assert.equal(content, "");
      assert.equal(truncated, false);
      assert.equal(meta.byte_length, 0);
      assert.equal(meta.returned_line_count, 0);
    }),
  );

  test(
    "D22: empty lines are lines of a window",
    inWorkspace(async (ws) => {
      const { content, meta } = await readText(ws, "\n\n\n\n", { start_line: 2, max_lines: 2 });
      assert.equal(content, "\n");
      assert.equal(meta.returned_line_count, 2);
    }),
  );

  test(
    "E01: a line of 32,768 characters comes whole",
    inWorkspace(async (ws) => {
      const line = "x".repeat(32_768);
      const { content, truncated, next_start_line, meta } = await readText(ws, line);
      assert.equal(content, line);
      assert.equal(meta.returned_line_count, 1);
      assert.equal(truncated, false);
      assert.equal(next_start_line, null);
    }),
  );

  test(
    "C05: a long line of many bytes is not cut",
    inWorkspace(async (ws) => {
      const line = `${"a".repeat(1999)}😀tail`;
      const { content } = await readText(ws, `${line}\nnext`, { max_lines: 1 });
      assert.equal(content, line);
    }),
  );
});

describe("the answer", () => {
  test(
    "keys stand in the order of the specification, null included",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a\n");
      const answer = await readEveryWay(ws, "a.txt");
      assert.deepEqual(Object.keys(answer), [
        "path",
        "content",
        "truncated",
        "next_start_line",
        "meta",
      ]);
      assert.deepEqual(Object.keys(answer.meta), [
        "byte_length",
        "line_count",
        "returned_line_count",
        "mtime_ms",
      ]);
      assert.equal(answer.next_start_line, null);
    }),
  );

  test(
    "two reads of one file are equal",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a\r\nb\n");
      assert.deepStrictEqual(await readEveryWay(ws, "a.txt"), await readEveryWay(ws, "a.txt"));
    }),
  );
});

describe("every window of every file", () => {
  // Whole line ends, halves of them, and characters of one to four bytes.
  const PIECES = ["a", "é", "あ", "😀", "\n", "\n", "\r\n", "\r\n", "\r", "\f", "\u2028"];

  test(
    "random files: each window is the model's, and the windows joined are the normalised text",
    inWorkspace((ws) => {
      const random = new Random(20_251_128);
      const workspace = Workspace.open(ws.root);
      for (let round = 0; round < 150; round++) {
        const pieces = Array.from({ length: random.below(14) }, () => random.pick(PIECES));
        const text = pieces.join("");
        const bytes = concat(random.below(5) === 0 ? "\ufeff" : "", text);
        ws.write("file.txt", bytes);
        for (let max = 1; max <= windowOf(bytes).line_count + 1; max++) {
          const windows: string[] = [];
          let next: number | null = 1;
          while (next !== null) {
            const answer = readFileSync(workspace, "file.txt", {
              start_line: next,
              max_lines: max,
            });
            const expected = windowOf(bytes, next, max);
            const { line_count, returned_line_count } = answer.meta;
            const { content, truncated, next_start_line } = answer;
            assert.deepStrictEqual(
              { content, truncated, next_start_line, line_count, returned_line_count },
              expected,
              `${JSON.stringify(text)} from line ${next}, ${max} lines`,
            );
            windows.push(content);
            next = next_start_line;
          }
          assert.equal(windows.join("\n"), normalised(bytes), JSON.stringify(text));
        }
      }
      workspace.close();
    }),
  );

  test(
    "a long file: windows of 500 joined are the normalised text",
    inWorkspace(async (ws) => {
      const text = Array.from({ length: 2_345 }, (_, i) => `${i} – ${"あ".repeat(i % 7)}`).join(
        "\r\n",
      );
      ws.write("file.txt", text);
      const windows: string[] = [];
      for (let next: number | null = 1; next !== null; ) {
        const answer = await readEveryWay(ws, "file.txt", { start_line: next, max_lines: 500 });
        windows.push(answer.content);
        next = answer.next_start_line;
      }
      assert.equal(windows.length, 5);
      assert.equal(windows.join("\n"), text.replaceAll("\r\n", "\n"));
    }),
  );
});
