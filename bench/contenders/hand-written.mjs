// @ts-check
// The tool that is written where no library is used: resolve the real path, compare prefixes, look
// at the size, read, look for NUL, split, cut. It answers what `readFile` of ringfence answers, but
// for CRLF, byte order marks, ill-formed UTF-8 and whoever changes a link between check and use.

import { promises, readFileSync, realpathSync, statSync } from "node:fs";
import { relative, resolve, sep } from "node:path";

const MAX_BYTES = 1_048_576;
const NUL_SEARCHED_BYTES = 8192;
const WHOLE = { startLine: 1, maxLines: 200 };

/**
 * @param {string} root
 * @returns {import("./load.mjs").Contender}
 */
export function openHandWritten(root) {
  const realRoot = realpathSync(root);
  return {
    name: "hand-written tool",
    kind: "hand-written",
    read: (path) => readWindow(realRoot, path, WHOLE),
    readSync: (path) => readWindowSync(realRoot, path, WHOLE),
    window: (path, window) => readWindow(realRoot, path, window),
    text: (output) => output.content,
  };
}

/** @typedef {{ startLine: number, maxLines: number }} Lines */

/**
 * @param {string} realRoot
 * @param {string} path
 * @param {Lines} lines
 */
async function readWindow(realRoot, path, lines) {
  const real = await promises.realpath(resolve(realRoot, path));
  checkPrefix(realRoot, real);
  const info = await promises.stat(real);
  checkStat(info);
  return answer(relative(realRoot, real), await promises.readFile(real), info.mtimeMs, lines);
}

/**
 * @param {string} realRoot
 * @param {string} path
 * @param {Lines} lines
 */
function readWindowSync(realRoot, path, lines) {
  // The native form: the other walks in JavaScript and takes several times as long.
  const real = realpathSync.native(resolve(realRoot, path));
  checkPrefix(realRoot, real);
  const info = statSync(real);
  checkStat(info);
  return answer(relative(realRoot, real), readFileSync(real), info.mtimeMs, lines);
}

/**
 * @param {string} realRoot
 * @param {string} real
 */
function checkPrefix(realRoot, real) {
  if (!real.startsWith(realRoot + sep)) throw new Error("outside the workspace");
}

/** @param {import("node:fs").Stats} info */
function checkStat(info) {
  if (!info.isFile()) throw new Error("not a file");
  if (info.size > MAX_BYTES) throw new Error("too large");
}

/**
 * @param {string} path
 * @param {Buffer} bytes
 * @param {number} mtimeMs
 * @param {Lines} lines
 */
function answer(path, bytes, mtimeMs, { startLine, maxLines }) {
  if (bytes.subarray(0, NUL_SEARCHED_BYTES).includes(0)) throw new Error("binary");
  const lines = bytes.toString("utf8").split("\n");
  const lineCount = lines.at(-1) === "" ? lines.length - 1 : lines.length;
  const end = startLine - 1 + maxLines;
  const truncated = end < lineCount;
  return {
    path,
    // The window that reaches the end keeps the empty piece behind a final LF, and so that LF.
    content: lines.slice(startLine - 1, truncated ? end : undefined).join("\n"),
    truncated,
    next_start_line: truncated ? end + 1 : null,
    meta: {
      byte_length: bytes.length,
      line_count: lineCount,
      returned_line_count: Math.max(0, Math.min(end, lineCount) - (startLine - 1)),
      mtime_ms: Math.floor(mtimeMs),
    },
  };
}
