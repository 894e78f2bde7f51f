// @ts-check
// The files that are read.

import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

const SENTENCES = {
  ascii: "the quick brown fox jumps over the lazy dog and counts the lines",
  cjk: "いろはにほへとちりぬるをわかよたれそつねならむうゐのおくやま",
};

/** @typedef {keyof typeof SENTENCES} Script */

/**
 * Text of exactly so many bytes in lines of about 64, without a LF at the end, so that contenders
 * which differ there answer alike.
 *
 * @param {number} bytes
 * @param {Script} [script]
 */
export function textOf(bytes, script = "ascii") {
  /** @type {string[]} */
  const lines = [];
  let length = 0;
  while (length < bytes) {
    const line = `${lines.length + 1} ${SENTENCES[script]}`.slice(0, script === "ascii" ? 63 : 24);
    lines.push(line);
    length += Buffer.byteLength(line) + 1;
  }
  const text = lines.join("\n");
  return padded(
    Buffer.from(text)
      .subarray(0, bytes - 3)
      .toString("utf8"),
    bytes,
  );
}

/**
 * Cuts what a cut through a character left, and fills up with dots.
 *
 * @param {string} text
 * @param {number} bytes
 */
function padded(text, bytes) {
  const whole = text.replace(/\uFFFD$/u, "");
  return whole + ".".repeat(bytes - Buffer.byteLength(whole));
}

/**
 * @param {string} root
 * @param {string} path
 * @param {string} text
 */
export function put(root, path, text) {
  const file = join(root, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  return path;
}

/** @param {string} text */
export function lineCount(text) {
  return text.split("\n").length;
}
