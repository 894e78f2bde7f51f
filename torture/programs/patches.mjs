// Patches as the checks apply them.

/**
 * A change of one file, by its whole texts.
 *
 * @typedef {object} Change
 * @property {string} path
 * @property {string} [to] The new path of a file that is moved.
 * @property {string} [before] What it holds; absent for a file that is made.
 * @property {string} [after] What it will hold; absent for a file that is removed.
 */

/**
 * The patch that makes some changes. Only in a unified diff may the last line of a text have no end.
 *
 * @param {readonly Change[]} changes
 * @param {"v4a" | "unified"} format
 */
export function patchOf(changes, format) {
  if (format === "unified") return changes.map(gitDiffOf).join("");
  return ["*** Begin Patch\n", ...changes.map(sectionOf), "*** End Patch\n"].join("");
}

/** @param {Change} change */
function sectionOf({ path, to, before, after }) {
  if (after === undefined) return `*** Delete File: ${path}\n`;
  if (before === undefined) return `*** Add File: ${path}\n${linesOf("+", after)}`;
  const moves = to === undefined ? "" : `*** Move to: ${to}\n`;
  const hunk = before === after ? "" : `@@\n${linesOf("-", before)}${linesOf("+", after)}`;
  return `*** Update File: ${path}\n${moves}${hunk}`;
}

/** @param {Change} change */
function gitDiffOf({ path, to = path, before, after }) {
  const head = `diff --git a/${path} b/${to}\n`;
  const moves = to === path ? "" : `rename from ${path}\nrename to ${to}\n`;
  if (before === after) return head + moves;
  const [old, now] = [before && `a/${path}`, after && `b/${to}`].map((side) => side ?? "/dev/null");
  const hunk = `@@ -${rangeOf(before)} +${rangeOf(after)} @@\n`;
  const lines = linesOf("-", before) + linesOf("+", after);
  return `${head}${moves}--- ${old}\n+++ ${now}\n${hunk}${lines}`;
}

/** @param {string | undefined} text */
function rangeOf(text) {
  return text === undefined ? "0,0" : `1,${text.replace(/\n$/, "").split("\n").length}`;
}

/**
 * @param {string} sign
 * @param {string | undefined} text
 */
function linesOf(sign, text) {
  if (text === undefined) return "";
  const lines = text.replace(/\n$/, "").replaceAll(/^/gm, sign);
  return `${lines}\n${text.endsWith("\n") ? "" : "\\ No newline at end of file\n"}`;
}
