// @ts-check
// One file of 16 KiB, made and replaced, with and without waiting for the disk.

import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { put, textOf } from "../lib/files.mjs";

/**
 * @typedef {import("../measure.mjs").Bench} Bench
 * @typedef {import("../contenders/load.mjs").Contender} Contender
 */

const SIZE = 16_384;

/** @param {Bench} bench */
export async function create(bench) {
  const content = textOf(SIZE);
  for (const durable of [true, false]) {
    const how = durable ? "synced" : "not synced";
    // A disk has bad seconds: while waiting for it, neighbours are close in time.
    const effort = durable ? { calls: 2, rounds: 100 } : { calls: 10 };
    // Only the others that sync when asked to do the same work then.
    const contenders = bench.contenders.filter(({ canSync }) => canSync || !durable);
    const creating = contenders.filter(({ create }) => create);
    await bench.time(
      `create 16 KiB, ${how}`,
      creating.map((contender, index) =>
        creation(bench, contender, `new/${how}/${index}`, content, durable),
      ),
      effort,
    );
    await bench.time(
      `overwrite 16 KiB, ${how}`,
      creating.map((contender, index) =>
        overwriting(bench, contender, `old/${how}/${index}`, content, durable),
      ),
      effort,
    );
  }
}

/**
 * A new name each time. Nothing is removed between blocks: where ext4 has no journal, making files
 * gets ten times slower for minutes after many were removed, for every contender alike.
 *
 * @param {Bench} bench
 * @param {Contender} contender
 * @param {string} folder
 * @param {string} content
 * @param {boolean} durable
 * @returns {import("../lib/interleave.mjs").Task}
 */
function creation(bench, { name, create }, folder, content, durable) {
  const whole = join(bench.root, folder);
  mkdirSync(whole, { recursive: true });
  let count = 0;
  return {
    name,
    run: () => create?.(`${folder}/${++count}.ts`, content, { durable }),
    answer: () => readFileSync(join(whole, `${count}.ts`), "utf8"),
  };
}

/**
 * @param {Bench} bench
 * @param {Contender} contender
 * @param {string} folder
 * @param {string} content
 * @param {boolean} durable
 * @returns {import("../lib/interleave.mjs").Task}
 */
function overwriting(bench, { name, overwrite }, folder, content, durable) {
  const path = put(bench.root, `${folder}/old.ts`, "old");
  return {
    name,
    run: () => overwrite?.(path, content, { durable }),
    answer: () => readFileSync(join(bench.root, path), "utf8"),
  };
}
