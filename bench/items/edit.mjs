// @ts-check
// One line of a file of 100 KiB, replaced without waiting for the disk.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { put } from "../lib/files.mjs";

/**
 * @typedef {import("../measure.mjs").Bench} Bench
 * @typedef {import("../contenders/load.mjs").Contender} Contender
 * @typedef {NonNullable<Contender["edit"]>} Edit
 */

/** As many lines as one window of `readFile` has, of 256 bytes each. */
const CONTENT = Array.from({ length: 400 }, (_, line) => `${line} the quick`.padEnd(255, ".")).join(
  "\n",
);

/** The texts that take each other's place. Lines begin with their numbers, so each occurs once. */
const TEXTS = /** @type {const} */ (["\n300 the quick", "\n300 the QUICK"]);

const WHOLE = /** @type {const} */ ({ position: "start", startLine: 1, maxLines: 500 });

/** @param {Bench} bench */
export async function edit(bench) {
  const contenders = bench.contenders.flatMap(({ name, edit }) => (edit ? [{ name, edit }] : []));
  const [ours] = bench.contenders;
  if (ours)
    contenders.push({ name: `${ours.name}, readFile and createFile`, edit: rewriting(ours) });
  await bench.time(
    "edit a line of 100 KiB",
    contenders.map(({ name, edit }, index) => editing(bench, name, edit, `edit/${index}.ts`)),
    { calls: 4 },
  );
}

/**
 * The same by two calls: the host replaces the text in between.
 *
 * @param {Contender} contender
 * @returns {Edit}
 */
function rewriting({ window, overwrite, text }) {
  return async (path, oldText, newText) => {
    const content = text(await window?.(path, WHOLE));
    await overwrite?.(
      path,
      content.replace(oldText, () => newText),
      { durable: false },
    );
  };
}

/**
 * @param {Bench} bench
 * @param {string} name
 * @param {Edit} edit
 * @param {string} file
 * @returns {import("../lib/interleave.mjs").Task}
 */
function editing(bench, name, edit, file) {
  const path = put(bench.root, file, CONTENT);
  let turn = 0;
  return {
    name,
    run: () => {
      const from = turn % 2;
      turn += 1;
      return edit(path, TEXTS[from === 0 ? 0 : 1], TEXTS[from === 0 ? 1 : 0]);
    },
    answer: () => readFileSync(join(bench.root, path), "utf8").replace(TEXTS[1], TEXTS[0]),
  };
}
