// What readFile answers: docs/contract.md §4.
"use strict";

const assert = require("node:assert/strict");
const fs = require("node:fs");
const { addon, check, context, inRoot, read, refuses, sha256, write } = require("./harness.cjs");

const { readFile } = addon;

check("the answer has the specification's keys in its order", async () => {
  const answer = await read("a.txt");
  const stat = fs.statSync(inRoot("a.txt"));
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
  assert.deepEqual(answer, {
    path: "a.txt",
    content: "one\ntwo\nthree",
    truncated: false,
    next_start_line: null,
    meta: {
      byte_length: 14,
      line_count: 3,
      returned_line_count: 3,
      mtime_ms: Math.floor(stat.mtimeMs),
    },
  });
});

check("windows joined are the whole text", async () => {
  write("lines.txt", Array.from({ length: 250 }, (_, i) => `${i + 1}`).join("\r\n"));
  const first = await read("lines.txt");
  assert.deepEqual(
    [first.truncated, first.next_start_line, first.content.split("\n").length],
    [true, 201, 200],
  );
  const rest = await read("lines.txt", { start_line: 201, max_lines: 500 });
  assert.equal(
    `${first.content}\n${rest.content}`,
    fs.readFileSync(inRoot("lines.txt"), "utf8").replaceAll("\r\n", "\n"),
  );
  const past = await read("lines.txt", { start_line: 2 ** 53 - 1 });
  assert.deepEqual(
    [past.content, past.truncated, past.next_start_line, past.meta.line_count],
    ["", false, null, 250],
  );
});

check("what is not UTF-8 text is refused", async () => {
  write("with-nul.bin", "a\0b");
  write("latin.txt", Buffer.from([0x70, 0x31, 0x30, 0x99, 0x0a]));
  write("utf16.txt", Buffer.from([0xff, 0xfe, 0x68, 0, 0x69, 0]));
  await refuses("BINARY_NOT_SUPPORTED", "with-nul.bin");
  assert.match((await refuses("BINARY_NOT_SUPPORTED", "latin.txt")).message, /\b3\b.*\b1\b/);
  await refuses("BINARY_NOT_SUPPORTED", "utf16.txt");
});

check("include_hash gives the SHA-256 of the bytes", async () => {
  const { meta } = await read("a.txt", { include_hash: true });
  assert.equal(meta.sha256, sha256(fs.readFileSync(inRoot("a.txt"))));
});

check("an aborted signal rejects with its own reason", async () => {
  const reason = new Error("mine");
  await assert.rejects(
    readFile(context, "a.txt", { signal: AbortSignal.abort(reason) }),
    (error) => error === reason,
  );
});

check("many reads at once all answer", async () => {
  const answers = await Promise.all(
    Array.from({ length: 200 }, (_, i) => readFile(context, i % 2 ? "a.txt" : "sub/x.txt")),
  );
  for (const [i, answer] of answers.entries()) {
    assert.equal(answer.path, i % 2 ? "a.txt" : "sub/x.txt");
  }
});
