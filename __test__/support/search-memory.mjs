// How much memory searches take at most: node search-memory.mjs <folder>. Prints for each pattern the growth of the
// process's peak in MiB and how the call ended, as JSON. Linux.

import fs from "node:fs";
import path from "node:path";
import { searchFiles } from "../../index.js";

const MIB = 1024 * 1024;
const folder = process.argv[2];

/** Text of half a million letters of many kinds, in lines of `width` characters. */
const chunk = (width) => {
  const letters = "aбc日 дe=f'(x)gйh1я";
  let text = "";
  for (let i = 0; text.length < MIB / 2; i += 1) {
    text += i % width === width - 1 ? "\n" : letters[(i * i + (i >> 3)) % letters.length];
  }
  return text;
};

const write = (name, mebibytes, text, encoding, head = "") => {
  const file = fs.openSync(path.join(folder, name), "w");
  fs.writeSync(file, Buffer.from(head, encoding));
  const bytes = Buffer.from(text, encoding);
  for (let size = 0; size + bytes.length < mebibytes * MIB; size += bytes.length) {
    fs.writeSync(file, bytes);
  }
  fs.closeSync(file);
};

write("1-wide.txt", 60, chunk(80), "utf16le", "\uFEFF");
write("2-lines.txt", 60, chunk(80), "utf8");
write("3-one-line.txt", 60, chunk(Number.POSITIVE_INFINITY), "utf8");
for (let i = 0; i < 40; i += 1) write(`small-${i}.txt`, 0.9, chunk(2), "utf8");

const status = (key) =>
  Number(new RegExp(`${key}:\\s+(\\d+)`).exec(fs.readFileSync("/proc/self/status", "utf8"))?.[1]) /
  1024;

const SEARCHES = {
  "a literal": { pattern: "nowhere", literal: true },
  "a state for each position": { pattern: "[a-zа-я日]{1,60}=[a-zа-я日]{1,60}!" },
  "a match for each letter": { pattern: "\\w", max_results: 500, max_line_chars: 10_000 },
  "all matches counted": { pattern: ".", output: "counts", max_results: 500 },
  "a match over all lines": { pattern: "(?s)a.*я", multiline: true },
  "look-around": { pattern: "(?<=a)\\w+(?!x)q" },
};

const grown = {};
for (const [name, args] of Object.entries(SEARCHES)) {
  fs.writeFileSync("/proc/self/clear_refs", "5"); // the peak begins anew
  const before = status("VmRSS");
  let ended = "done";
  try {
    await searchFiles(
      { workspaceRoot: folder },
      { max_file_size_bytes: 64 * MIB, timeout_ms: 3_000, ...args },
    );
  } catch (error) {
    ended = error.code;
  }
  grown[name] = { mebibytes: Math.round(status("VmHWM") - before), ended };
}
fs.writeSync(1, `${JSON.stringify(grown)}\n`);
