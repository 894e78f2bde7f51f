// `readFiles`: several windows in one call, within a budget. docs/contract.md §13.

import assert from "node:assert/strict";
import fs from "node:fs";
import { describe, test } from "node:test";
import {
  isReadFilesError,
  type ReadFileOutput,
  type ReadFilesArguments,
  type ReadFilesItem,
  type ReadFilesOutput,
  readFile,
  readFiles,
  Workspace,
} from "../index.js";
import {
  ABORT_REASONS,
  hostileProxy,
  revokedProxy,
  STRANGERS,
  withGetter,
} from "./support/hostile.ts";
import { mkfifo, noFifos, noSymlinks, notPosix } from "./support/platform.ts";
import { Random } from "./support/random.ts";
import { type Refusal, rejectionValue } from "./support/read.ts";
import { inWorkspace, type TestWorkspace } from "./support/workspace.ts";

const loose = readFiles as unknown as (...args: unknown[]) => Promise<ReadFilesOutput>;

const LIMIT = 1_048_576;

/** The output of an item, which has no error. */
function outputOf(item: ReadFilesItem | undefined): ReadFileOutput {
  assert.ok(item?.output, JSON.stringify(item));
  assert.equal(item.error, null);
  return item.output;
}

/** The error of an item, which has no output. */
function errorOf(item: ReadFilesItem | undefined): { code: string; message: string } {
  assert.ok(item?.error, JSON.stringify(item));
  assert.equal(item.output, null);
  assert.deepEqual(Object.keys(item.error), ["code", "message"]);
  assert.ok(item.error.message.startsWith(`${item.error.code}: `), item.error.message);
  return item.error;
}

/** Has these arguments refused, in words that `says` finds. */
async function refuses(args: unknown[], says: RegExp): Promise<void> {
  const error = (await rejectionValue(() => loose(...args))) as Refusal;
  assert.ok(isReadFilesError(error), String(error));
  assert.deepEqual({ ...error }, { code: "INVALID_ARGUMENT", path: "" });
  assert.match(error.message, /^INVALID_ARGUMENT: /);
  assert.match(error.message, says);
}

describe("the items", () => {
  test(
    "each is what readFile answers, with the same keys in the same order",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "one\r\ntwo\nthree\n");
      ws.write("bom.txt", "\ufeffé\n");
      ws.write("empty.txt", "");
      const workspace = Workspace.open(ws.root);
      for (const include_hash of [false, true]) {
        const windows = [
          { path: "a.txt" },
          { path: "a.txt", start_line: 2, max_lines: 1 },
          { path: "./bom.txt", max_lines: null },
          { path: "empty.txt" },
          { path: "a.txt", start_line: 99 },
        ];
        for (const context of [ws.context, workspace]) {
          const answer = await readFiles(context, { files: windows, include_hash });
          assert.deepEqual(Object.keys(answer), ["items", "total_bytes", "truncated", "failed"]);
          for (const [index, { path, ...window }] of windows.entries()) {
            const item = answer.items[index];
            assert.deepEqual(Object.keys(item ?? {}), ["path", "output", "error"]);
            const alone = await readFile(context, path, { ...window, include_hash });
            const output = outputOf(item);
            assert.equal(JSON.stringify(output), JSON.stringify(alone));
            assert.equal(item?.path, alone.path);
          }
          assert.deepEqual([answer.truncated, answer.failed], [false, 0]);
        }
      }
      workspace.close();
    }),
  );

  test(
    "they stand in the order of the call, and a path that comes twice is read twice",
    inWorkspace(async (ws) => {
      ws.write("b.txt", "b");
      ws.write("a.txt", "a");
      const files = ["b.txt", { path: "a.txt" }, "./b.txt", "b.txt"];
      const { items } = await readFiles(ws.context, { files });
      assert.deepEqual(
        items.map(({ path, output }) => [path, output?.content]),
        [
          ["b.txt", "b"],
          ["a.txt", "a"],
          ["b.txt", "b"],
          ["b.txt", "b"],
        ],
      );
    }),
  );

  test(
    "total_bytes counts bytes of UTF-8, after CRLF has become LF",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "é\r\nあ😀");
      const { total_bytes } = await readFiles(ws.context, { files: ["a.txt", "a.txt"] });
      assert.equal(total_bytes, 2 * Buffer.byteLength("é\nあ😀"));
    }),
  );

  test(
    "the context's invalidUtf8 counts, and so do the losses of each file",
    inWorkspace(async (ws) => {
      ws.write("latin.txt", new Uint8Array([0x61, 0xe9, 0x0a]));
      ws.write("clean.txt", "a");
      const files = ["latin.txt", "clean.txt"];
      const lossy = await readFiles({ ...ws.context, invalidUtf8: "replace" }, { files });
      const counts = lossy.items.map((item) => outputOf(item).meta.replaced_count);
      assert.deepEqual(counts, [1, 0]);
      const strict = await readFiles(ws.context, { files });
      assert.equal(errorOf(strict.items[0]).code, "BINARY_NOT_SUPPORTED");
      assert.ok(!("replaced_count" in outputOf(strict.items[1]).meta));
    }),
  );
});

describe("a fault of one entry", () => {
  /** Reads the entry between two good files, which nothing may harm. */
  async function itemOf(ws: TestWorkspace, entry: unknown): Promise<ReadFilesItem> {
    ws.write("good.txt", "good");
    const answer = await loose(ws.context, { files: ["good.txt", entry, "good.txt"] });
    assert.equal(answer.failed, 1);
    for (const index of [0, 2]) assert.equal(outputOf(answer.items[index]).content, "good");
    const shown = JSON.stringify(answer);
    for (const hidden of ws.hidden) assert.ok(!shown.includes(hidden), shown);
    return answer.items[1] ?? assert.fail();
  }

  test(
    "is told as readFile tells it, and the path stands as it was asked for",
    inWorkspace(async (ws) => {
      ws.folder("folder");
      ws.write("binary.bin", "a\0b");
      ws.write("large.txt", "a".repeat(LIMIT + 1));
      for (const [path, code] of [
        ["missing.txt", "NOT_FOUND"],
        ["./x/../missing.txt", "NOT_FOUND"],
        ["good.txt/x", "NOT_FOUND"],
        ["n".repeat(300), "NOT_FOUND"],
        ["folder", "NOT_FILE"],
        [".", "NOT_FILE"],
        ["../x", "SANDBOX_VIOLATION"],
        ["/etc/passwd", "SANDBOX_VIOLATION"],
        ["C:\\x", "SANDBOX_VIOLATION"],
        ["binary.bin", "BINARY_NOT_SUPPORTED"],
        ["large.txt", "SIZE_LIMIT_EXCEEDED"],
        ["", "INVALID_ARGUMENT"],
        ["  ", "INVALID_ARGUMENT"],
        ["a\0b", "INVALID_ARGUMENT"],
      ] as const) {
        const item = await itemOf(ws, path);
        assert.equal(item.path, path);
        const { code: told, message } = errorOf(item);
        assert.equal(told, code, message);
        const alone = (await rejectionValue(() => readFile(ws.context, path))) as Refusal;
        assert.equal(message, alone.message);
      }
    }),
  );

  test(
    "a lone surrogate, and more than any path has, are no path",
    inWorkspace(async (ws) => {
      const surrogate = await itemOf(ws, "a\ud800");
      assert.equal(surrogate.path, "a\ufffd");
      assert.match(errorOf(surrogate).message, /^INVALID_ARGUMENT: path must be well-formed/);
      const long = await itemOf(ws, { path: "a".repeat(100_000) });
      assert.equal(long.path, "");
      assert.match(errorOf(long).message, /^NOT_FOUND: .*too long/);
    }),
  );

  test(
    "a window that is none is refused by its name, whatever the path",
    inWorkspace(async (ws) => {
      for (const [window, says] of [
        [{ start_line: 0 }, /start_line must be an integer >= 1, got 0: good\.txt$/],
        [{ start_line: "1" }, /start_line must be an integer >= 1, got a string/],
        [{ start_line: 2 ** 53 }, /start_line must be/],
        [{ max_lines: 501 }, /max_lines must be an integer >= 1 and <= 500, got 501/],
        [{ max_lines: 1.5 }, /max_lines must be/],
        [{ max_lines: Number.NaN }, /max_lines must be .* got NaN/],
        [{ max_lines: 10n }, /max_lines must be .* got a bigint/],
      ] as const) {
        const item = await itemOf(ws, { path: "good.txt", ...window });
        assert.equal(item.path, "good.txt");
        assert.match(errorOf(item).message, says);
        assert.match(errorOf(item).message, /^INVALID_ARGUMENT: /);
      }
      const outside = await itemOf(ws, { path: "../x", start_line: 0 });
      assert.match(errorOf(outside).message, /^INVALID_ARGUMENT: start_line/);
    }),
  );

  test(
    "what is neither path nor object is refused by its place in the list",
    inWorkspace(async (ws) => {
      for (const [name, stranger] of STRANGERS) {
        const item = await itemOf(ws, stranger);
        assert.equal(item.path, "", name);
        assert.match(errorOf(item).message, /^INVALID_ARGUMENT: (?:files\[1\]|path) /, name);
      }
      for (const nothing of [null, undefined, 5]) {
        const { message } = errorOf(await itemOf(ws, nothing));
        assert.match(message, /files\[1\] must be a path, or an object with a path, got/);
      }
      for (const entry of [{}, { path: null }, { file_path: "good.txt" }]) {
        const { message } = errorOf(await itemOf(ws, entry));
        assert.equal(message, "INVALID_ARGUMENT: path must be a string, got nothing");
      }
      assert.match(errorOf(await itemOf(ws, { path: 5 })).message, /path must be a string, got 5/);
    }),
  );

  test(
    "getters and traps that throw are faults of their entry",
    inWorkspace(async (ws) => {
      for (const entry of [withGetter("path"), hostileProxy(), revokedProxy()]) {
        assert.equal(errorOf(await itemOf(ws, entry)).code, "INVALID_ARGUMENT");
      }
      const window = Object.assign(withGetter("start_line"), { path: "good.txt" });
      const item = await itemOf(ws, window);
      assert.equal(item.path, "good.txt");
      assert.match(errorOf(item).message, /start_line could not be read/);
      const list = Object.defineProperty(["good.txt", "", "good.txt"], 1, {
        get() {
          throw new Error("boom");
        },
      });
      const { items } = await loose(ws.context, { files: list });
      assert.match(errorOf(items[1]).message, /^INVALID_ARGUMENT: files could not be read/);
    }),
  );

  test(
    "an absolute path inside is read, and shown from the root on",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a");
      const { items } = await readFiles(ws.context, { files: [ws.at("a.txt"), ws.at("none")] });
      assert.equal(items[0]?.path, "a.txt");
      assert.equal(outputOf(items[0]).path, "a.txt");
      assert.equal(items[1]?.path, "none");
      assert.match(errorOf(items[1]).message, /: none$/);
      for (const path of [`file://${ws.at("none")}`, `../../..${ws.at("none")}`]) {
        const item = await itemOf(ws, path);
        assert.match(item.path, /^…\/none$/);
      }
      const wrong = await itemOf(ws, { path: ws.at("good.txt"), max_lines: 0 });
      assert.equal(wrong.path, "good.txt");
    }),
  );

  test(
    "a link is followed inside, and refused where it leads out or nowhere",
    { skip: noSymlinks },
    inWorkspace(async (ws) => {
      ws.write("real.txt", "real");
      ws.writeOutside("secret.txt");
      ws.link("inside", "real.txt");
      ws.link("out", "../outside/secret.txt");
      ws.link("dangling", "gone.txt");
      ws.link("loop", "loop");
      const files = ["inside", "out", "dangling", "loop"];
      const { items } = await readFiles(ws.context, { files });
      assert.equal(outputOf(items[0]).content, "real");
      const codes = items.slice(1).map((item) => errorOf(item).code);
      assert.deepEqual(codes, ["SANDBOX_VIOLATION", "NOT_FOUND", "SANDBOX_VIOLATION"]);
    }),
  );

  test(
    "a FIFO is answered at once",
    { skip: noFifos, timeout: 5_000 },
    inWorkspace(async (ws) => {
      mkfifo(ws.at("pipe"));
      assert.equal(errorOf(await itemOf(ws, "pipe")).code, "NOT_FILE");
    }),
  );

  test(
    "all of them may fail, and the call still answers",
    inWorkspace(async (ws) => {
      const { items, ...rest } = await readFiles(ws.context, { files: ["a", "b"] });
      assert.deepEqual(rest, { total_bytes: 0, truncated: false, failed: 2 });
      assert.deepEqual(
        items.map((item) => errorOf(item).message),
        ["NOT_FOUND: no such file: a", "NOT_FOUND: no such file: b"],
      );
    }),
  );

  test(
    "a file that is exchanged meanwhile is one of the two, whole, or missing",
    { skip: notPosix },
    inWorkspace(async (ws) => {
      const texts = ["a\n".repeat(400), "b\n".repeat(300)];
      const files = Array.from({ length: 20 }, () => ({ path: "now.txt", max_lines: 500 }));
      let isReading = true;
      const swapping = (async () => {
        for (let round = 0; isReading; round += 1) {
          ws.write("next.txt", texts[round % 2] ?? "");
          fs.renameSync(ws.at("next.txt"), ws.at("now.txt"));
          if (round % 7 === 6) fs.unlinkSync(ws.at("now.txt"));
          await new Promise((resolve) => setImmediate(resolve));
        }
      })();
      const { signal } = new AbortController(); // so that a worker reads, while the swaps go on
      for (let round = 0; round < 50; round += 1) {
        const { items } = await readFiles(ws.context, { files }, { signal });
        for (const { output, error } of items) {
          if (output) assert.ok(texts.includes(output.content));
          else assert.equal(error?.code, "NOT_FOUND");
        }
      }
      isReading = false;
      await swapping;
    }),
  );
});

/** The largest share at which the windows fit into the budget, by trying all; `null` if they fit as they are. */
function shareOf(sizes: readonly number[], budget: number): number | null {
  const taken = (share: number) => sizes.reduce((sum, size) => sum + Math.min(size, share), 0);
  if (taken(Number.POSITIVE_INFINITY) <= budget) return null;
  for (let share = budget; ; share -= 1) if (taken(share) <= budget) return share;
}

const sizeOf = ({ content }: { content: string }) => Buffer.byteLength(content);

/** The window with as many lines as fit into the share, found by asking `readFile` for fewer and fewer. */
async function fitting(
  ws: TestWorkspace,
  { path, start_line, max_lines }: { path: string; start_line: number; max_lines: number },
  share: number,
) {
  for (let lines = max_lines; lines > 0; lines -= 1) {
    const output = await readFile(ws.context, path, { start_line, max_lines: lines });
    if (sizeOf(output) <= share) return output;
  }
  const whole = await readFile(ws.context, path, { start_line, max_lines });
  return {
    ...whole,
    content: "",
    truncated: true,
    next_start_line: start_line,
    meta: { ...whole.meta, returned_line_count: 0 },
  };
}

describe("the budget", () => {
  const read = async (ws: TestWorkspace, texts: string[], max_total_bytes: number) => {
    for (const [index, text] of texts.entries()) ws.write(`${index}.txt`, text);
    const files = texts.map((_text, index) => `${index}.txt`);
    const answer = await readFiles(ws.context, { files, max_total_bytes });
    return { ...answer, contents: answer.items.map((item) => outputOf(item).content) };
  };

  test(
    "is shared evenly, and what small windows leave goes to the larger ones",
    inWorkspace(async (ws) => {
      const lines = "12345\n".repeat(20);
      const { contents, ...answer } = await read(ws, ["1234\n", lines, lines], 53);
      // 5 bytes for the first, 24 for each of the others: four lines of 6, less the last LF.
      assert.deepEqual(contents, ["1234\n", ...Array(2).fill("12345\n12345\n12345\n12345")]);
      assert.equal(answer.truncated, true);
      assert.equal(answer.total_bytes, 5 + 23 + 23);
      assert.ok(answer.total_bytes <= 53);
    }),
  );

  test(
    "cuts nothing if all windows fit, to the byte",
    inWorkspace(async (ws) => {
      const texts = ["12345\n12345\n", "あ\n"];
      const exact = await read(ws, texts, 16);
      assert.deepEqual([exact.contents, exact.truncated], [texts, false]);
      const less = await read(ws, texts, 15);
      assert.deepEqual([less.contents, less.truncated], [["12345", "あ\n"], true]);
    }),
  );

  test(
    "of an answer is told apart from a window that max_lines ends",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a\nb\nc\n");
      const answer = await readFiles(ws.context, { files: [{ path: "a.txt", max_lines: 1 }] });
      const output = outputOf(answer.items[0]);
      assert.deepEqual(
        [answer.truncated, output.truncated, output.next_start_line],
        [false, true, 2],
      );
    }),
  );

  test(
    "leaves no line of a window whose first line does not fit, and says where it goes on",
    inWorkspace(async (ws) => {
      ws.write("a.txt", `x\n${"long ".repeat(100)}\nend\n`);
      const files = [{ path: "a.txt", start_line: 2 }];
      const answer = await readFiles(ws.context, { files, max_total_bytes: 100 });
      const { content, truncated, next_start_line, meta } = outputOf(answer.items[0]);
      assert.deepEqual([content, truncated, next_start_line], ["", true, 2]);
      assert.deepEqual([meta.returned_line_count, meta.line_count], [0, 3]);
      assert.deepEqual([answer.truncated, answer.total_bytes], [true, 0]);
    }),
  );

  test(
    "counts no failed item, and no window past the end",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "1234567890");
      const files = ["none", { path: "a.txt", start_line: 9 }, "a.txt"];
      const answer = await readFiles(ws.context, { files, max_total_bytes: 10 });
      assert.equal(outputOf(answer.items[2]).content, "1234567890");
      assert.equal(answer.truncated, false);
    }),
  );

  test(
    "is 256 KiB by default, and 4 MiB at most",
    inWorkspace(async (ws) => {
      const line = `${"x".repeat(1_023)}\n`;
      ws.write("a.txt", line.repeat(1_000));
      const files = Array.from({ length: 10 }, () => ({ path: "a.txt", max_lines: 500 }));
      const usual = await readFiles(ws.context, { files });
      assert.ok(usual.truncated);
      // Ten shares of 26,214 bytes: 25 lines each.
      const each = outputOf(usual.items[0]).meta.returned_line_count;
      assert.equal(each, 25);
      const most = await readFiles(ws.context, { files, max_total_bytes: 4_194_304 });
      assert.equal(outputOf(most.items[9]).meta.returned_line_count, 409);
      await refuses([ws.context, { files, max_total_bytes: 4_194_305 }], /max_total_bytes must be/);
    }),
  );

  test(
    "bounds a call of a hundred files of 1 MiB",
    inWorkspace(async (ws) => {
      ws.write("a.txt", `${"x".repeat(2_047)}\n`.repeat(512));
      const files = Array.from({ length: 100 }, () => ({ path: "a.txt", max_lines: 500 }));
      const answer = await readFiles(ws.context, { files });
      assert.equal(answer.items.length, 100);
      for (const item of answer.items) assert.equal(sizeOf(outputOf(item)), 2_047);
      assert.equal(answer.total_bytes, 204_700);
    }),
  );

  test(
    "windows that go on at next_start_line are the whole files, joined by LF",
    inWorkspace(async (ws) => {
      const random = new Random(7);
      const pieces = ["\n", "\r\n", "a", "é", "あ", "word ", "\n\n"];
      const texts = Array.from({ length: 6 }, () =>
        Array.from({ length: random.below(120) }, () => random.pick(pieces)).join(""),
      );
      for (const [index, text] of texts.entries()) ws.write(`${index}.txt`, text);
      const contents: string[][] = texts.map(() => []);
      let files = texts.map((_text, index) => ({ path: `${index}.txt`, start_line: 1 }));
      for (let call = 0; files.length > 0; call += 1) {
        assert.ok(call < 1_000, "the windows come to an end");
        const { items } = await readFiles(ws.context, { files, max_total_bytes: 700 });
        files = items.flatMap((item) => {
          const { path, content, next_start_line, meta } = outputOf(item);
          if (next_start_line === null || meta.returned_line_count > 0) {
            contents[Number.parseInt(path, 10)]?.push(content);
          }
          return next_start_line === null ? [] : [{ path, start_line: next_start_line }];
        });
      }
      for (const [index, text] of texts.entries()) {
        assert.equal(contents[index]?.join("\n"), text.replaceAll("\r\n", "\n"));
      }
    }),
  );

  test(
    "agrees with a model that tries every share and every number of lines",
    inWorkspace(async (ws) => {
      const random = new Random(11);
      const pieces = ["\n", "\r\n", "\r", "a", "é", "あ", "word ", "\n\n"];
      for (let round = 0; round < 60; round += 1) {
        const files = Array.from({ length: 1 + random.below(6) }, (_, index) => {
          const length = random.below(40);
          const text = Array.from({ length }, () => random.pick(pieces)).join("");
          ws.write(`${index}.txt`, text);
          const [start_line, max_lines] = [1 + random.below(6), 1 + random.below(9)];
          return { path: `${index}.txt`, start_line, max_lines };
        });
        const whole = await Promise.all(
          files.map(({ path, ...window }) => readFile(ws.context, path, window)),
        );
        const sizes = whole.map(sizeOf);
        const max_total_bytes = 1 + random.below(120);
        const share = shareOf(sizes, max_total_bytes);
        const answer = await readFiles(ws.context, { files, max_total_bytes });
        assert.equal(answer.truncated, share !== null);
        for (const [index, file] of files.entries()) {
          const isCut = share !== null && (sizes[index] ?? 0) > share;
          const expected = isCut ? await fitting(ws, file, share) : whole[index];
          assert.deepEqual(outputOf(answer.items[index]), expected);
        }
      }
    }),
  );
});

describe("arguments", () => {
  test(
    "a list that is none fails the call",
    inWorkspace(async (ws) => {
      for (const [args, says] of [
        [undefined, /args must be an object, got undefined/],
        [null, /args must be an object, got null/],
        [["a.txt"], /args must be an object, got an array/],
        ["a.txt", /args must be an object, got a string/],
        [{}, /files must be an array of paths, or of objects with a path, got nothing/],
        [{ files: null }, /files must be an array .* got nothing/],
        [{ files: "a.txt" }, /files must be an array .* got a string/],
        [{ files: { 0: "a.txt", length: 1 } }, /files must be an array .* got an object/],
        [{ files: [] }, /files must have 1 to 100 entries, got 0/],
        [{ files: Array(101).fill("a") }, /files must have 1 to 100 entries, got 101/],
        [{ files: Array(4e9) }, /files must have 1 to 100 entries, got 4000000000/],
        [{ files: revokedProxy() }, /files must be an array|files could not be read/],
        [withGetter("files"), /files could not be read/],
        [hostileProxy(), /files could not be read/],
      ] as const) {
        await refuses([ws.context, args], says);
      }
    }),
  );

  test(
    "the others have their rules, and no value is coerced",
    inWorkspace(async (ws) => {
      const files = ["a.txt"];
      const integer = /max_total_bytes must be an integer >= 1 and <= 4194304/;
      for (const value of [0, -1, 1.5, "10", Number.NaN, 2 ** 32, ...STRANGERS.map(([, s]) => s)]) {
        await refuses([ws.context, { files, max_total_bytes: value }], integer);
      }
      for (const value of [0, 1, "true", [], {}]) {
        await refuses([ws.context, { files, include_hash: value }], /include_hash must be true/);
      }
      for (const options of [5, "x", true, []]) {
        await refuses([ws.context, { files }, options], /options must be an object/);
      }
    }),
  );

  test(
    "null and undefined are absent, and keys that are not known are ignored",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a\nb\n");
      for (const nothing of [null, undefined]) {
        const entry = { path: "a.txt", start_line: nothing, max_lines: nothing, offset: 5 };
        const args = {
          files: [entry] as ReadFilesArguments["files"],
          max_total_bytes: nothing,
          include_hash: nothing,
          glob: "*",
        };
        const { items } = await readFiles(ws.context, args, nothing);
        assert.equal(outputOf(items[0]).content, "a\nb\n");
        assert.ok(!("sha256" in outputOf(items[0]).meta));
      }
    }),
  );

  test(
    "what stands on Object.prototype is no argument",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "a\nb\n");
      Object.assign(Object.prototype, { max_lines: 1, max_total_bytes: 1, include_hash: true });
      try {
        const { items } = await readFiles(ws.context, { files: ["a.txt", { path: "a.txt" }] });
        for (const item of items) {
          assert.equal(outputOf(item).content, "a\nb\n");
          assert.ok(!Object.hasOwn(outputOf(item).meta, "sha256"));
        }
      } finally {
        const prototype = Object.prototype as Record<string, unknown>;
        for (const key of ["max_lines", "max_total_bytes", "include_hash"]) delete prototype[key];
      }
    }),
  );

  test(
    "a context without a usable root fails the call",
    inWorkspace(async (ws) => {
      const args = { files: ["a.txt"] };
      await refuses([{}, args], /workspaceRoot/);
      await refuses(
        [{ workspaceRoot: "relative" }, args],
        /workspaceRoot must be an absolute path/,
      );
      await refuses([{ workspaceRoot: ws.at("gone") }, args], /workspaceRoot does not exist/);
      await refuses([5, args], /context must be/);
      const workspace = Workspace.open(ws.folder("root"));
      fs.rmdirSync(ws.at("root"));
      await refuses([workspace, args], /workspaceRoot does not exist any more/);
      workspace.close();
      await refuses([workspace, args], /closed/);
    }),
  );
});

describe("abort", () => {
  for (const [name, reason] of ABORT_REASONS) {
    test(
      `a signal that is aborted already ends the call with its reason, ${name}`,
      inWorkspace(async (ws) => {
        const signal = AbortSignal.abort(reason);
        for (const args of [{ files: ["a.txt"] }, { files: [] }, 5]) {
          assert.equal(await rejectionValue(() => loose(ws.context, args, { signal })), reason);
        }
        const context = { ...ws.context, signal };
        assert.equal(await rejectionValue(() => loose(context, { files: ["a"] })), reason);
      }),
    );
  }

  test(
    "a call under way rejects with the reason, and its worker reads no further",
    inWorkspace(async (ws) => {
      ws.write("a.txt", "x\n".repeat(LIMIT / 2));
      const files = Array.from({ length: 100 }, () => "a.txt");
      const controller = new AbortController();
      const call = readFiles(ws.context, { files, include_hash: true }, controller);
      const began = performance.now();
      setTimeout(() => controller.abort("enough"), 5);
      assert.equal(await rejectionValue(() => call), "enough");
      // The calls after it get the workers of the pool at once.
      await Promise.all(Array.from({ length: 8 }, () => readFile(ws.context, "a.txt")));
      assert.ok(performance.now() - began < 5_000);
    }),
  );

  test(
    "a signal that is none is refused",
    inWorkspace(async (ws) => {
      await refuses([ws.context, { files: ["a"] }, { signal: 5 }], /signal must be an AbortSignal/);
    }),
  );
});
