// @ts-check
// Patches, and the same patches reversed, without waiting for the disk: one of many files, and one of many hunks.
// Against `git apply`, whose process start counts, and against a package that applies patches to texts.

import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { put } from "../lib/files.mjs";
import { timingOf } from "../lib/interleave.mjs";

/**
 * @typedef {import("../measure.mjs").Bench} Bench
 * @typedef {NonNullable<import("../contenders/load.mjs").Contender["patch"]>} Patch
 */

/**
 * @typedef {object} Work
 * @property {string} name
 * @property {number} files
 * @property {number} lines Of each file.
 * @property {number} width Of a line, in bytes.
 * @property {number} hunks In each file.
 * @property {number} context How many lines a hunk has before and after the one that it changes.
 */

/** @type {Work} */
const MANY_FILES = {
  ...{ name: "a patch of 20 files, 5 hunks in each", files: 20, lines: 200, width: 64 },
  ...{ hunks: 5, context: 3 },
};
/** The patch has 300 KiB, and the file 1 MiB. @type {Work} */
const MANY_HUNKS = {
  ...{ name: "a patch of 2,000 hunks in 1 MiB", files: 1, lines: 34_000, width: 31 },
  ...{ hunks: 2_000, context: 1 },
};

/** @param {Bench} bench */
export async function patch(bench) {
  await patching(bench, MANY_FILES, { calls: 2, rounds: 40 });
  await patching(bench, MANY_HUNKS, { calls: 2, rounds: 12 });
  const timings = bench.measurements.at(-1)?.timings;
  const rounds = timings?.[0]?.rounds.length ?? 1;
  timings?.push(timingOf("100 ms", Array(rounds).fill(100_000)));
}

/**
 * @param {Bench} bench
 * @param {Work} work
 * @param {{ calls: number, rounds: number }} effort
 */
async function patching(bench, work, effort) {
  const contenders = bench.contenders.flatMap(({ name, patch }) =>
    patch ? [{ name, patch, sync: false }] : [],
  );
  if (spawnSync("git", ["--version"]).error) bench.missing.push("git apply: no git is installed");
  else contenders.push({ name: "git apply", patch: gitApply(bench.root), sync: true });
  const tasks = contenders.map(({ name, patch, sync }, index) => {
    const folder = `patch/${work.files}-${index}`;
    return { ...task(bench, work, folder, patch), name, sync };
  });
  await bench.time(work.name, tasks, effort);
}

/**
 * @param {Bench} bench
 * @param {Work} work
 * @param {string} folder
 * @param {Patch} patch
 */
function task(bench, work, folder, patch) {
  mkdirSync(dirname(join(bench.root, folder)), { recursive: true });
  const files = Array.from({ length: work.files }, (_, file) => `${folder}/src-${file}.ts`);
  const changed = changedLines(work);
  const text = Array.from({ length: work.lines }, (_, line) => lineOf(work, line, "old")).join("");
  for (const file of files) put(bench.root, file, text);
  const patches = /** @type {const} */ ([
    ["old", "new"],
    ["new", "old"],
  ]).map(([from, to]) => files.map((file) => diffOf(work, file, changed, from, to)).join(""));
  let turn = 0;
  return {
    run: () => patch(patches[turn++ % 2] ?? ""),
    answer: () => files.map((file) => readFileSync(join(bench.root, file), "utf8")),
  };
}

/**
 * The lines that change, from 0, spread over the file.
 *
 * @param {Work} work
 */
function changedLines({ lines, hunks }) {
  const every = Math.floor(lines / hunks);
  return Array.from({ length: hunks }, (_, hunk) => hunk * every + Math.floor(every / 2));
}

/**
 * @param {Work} work
 * @param {number} line
 * @param {string} word
 */
function lineOf({ width }, line, word) {
  return `${`${line} ${word} `.padEnd(width - 1, "the quick brown fox ")}\n`;
}

/**
 * As `git diff` prints it.
 *
 * @param {Work} work
 * @param {string} file
 * @param {number[]} changed
 * @param {"old" | "new"} from
 * @param {"old" | "new"} to
 */
function diffOf(work, file, changed, from, to) {
  const { context } = work;
  const around = (/** @type {number} */ first) =>
    Array.from({ length: context }, (_, index) => ` ${lineOf(work, first + index, "old")}`).join(
      "",
    );
  const hunks = changed.map((line) => {
    const range = `${line - context + 1},${2 * context + 1}`;
    const change = `-${lineOf(work, line, from)}+${lineOf(work, line, to)}`;
    return `@@ -${range} +${range} @@\n${around(line - context)}${change}${around(line + 1)}`;
  });
  return `diff --git a/${file} b/${file}\n--- a/${file}\n+++ b/${file}\n${hunks.join("")}`;
}

/**
 * @param {string} root
 * @returns {Patch}
 */
function gitApply(root) {
  // Not as a part of a repository that the folder may lie in.
  const env = { ...process.env, GIT_CEILING_DIRECTORIES: dirname(root) };
  return (input) => {
    const { status, stderr } = spawnSync("git", ["apply", "-"], { cwd: root, env, input });
    if (status !== 0) throw new Error(`git apply: ${stderr}`);
  };
}
