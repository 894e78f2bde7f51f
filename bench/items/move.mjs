// @ts-check
// A file of 4 KiB that is moved to another folder and back, without waiting for the disk.

import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { put } from "../lib/files.mjs";

/**
 * @typedef {import("../measure.mjs").Bench} Bench
 * @typedef {NonNullable<import("../contenders/load.mjs").Contender["move"]>} Move
 */

/** @param {Bench} bench */
export async function move(bench) {
  const contenders = bench.contenders.flatMap(({ name, move }) => (move ? [{ name, move }] : []));
  await bench.time(
    "move a file to another folder",
    contenders.map(({ name, move }, index) => moving(bench, name, move, `move/${index}`)),
    { calls: 4 },
  );
}

/**
 * @param {Bench} bench
 * @param {string} name
 * @param {Move} move
 * @param {string} folder
 * @returns {import("../lib/interleave.mjs").Task}
 */
function moving(bench, name, move, folder) {
  const places = /** @type {const} */ ([`${folder}/from/a.ts`, `${folder}/to/a.ts`]);
  put(bench.root, places[0], "x".repeat(4096));
  mkdirSync(join(bench.root, folder, "to"));
  let turn = 0;
  return {
    name,
    run: () => {
      const [from, to] = turn % 2 === 0 ? places : [places[1], places[0]];
      turn += 1;
      return move(from, to);
    },
    answer: () => String(places.filter((place) => existsSync(join(bench.root, place))).length),
  };
}
