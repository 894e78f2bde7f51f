// @ts-check
// One file of 4 KiB, as agents read most files, alone and 64 at a time; and 50 of them in one call.

import { put, textOf } from "../lib/files.mjs";

/** @typedef {import("../measure.mjs").Bench} Bench */

const SIZE = 4096;
const IN_FLIGHT = 64;
const MANY = 50;

/** @param {Bench} bench */
export async function read(bench) {
  const path = put(bench.root, "src/tools/read.ts", textOf(SIZE));
  const contenders = bench.contenders.filter((contender) => contender.read);
  await bench.time(
    "read 4 KiB",
    contenders.map(({ name, read, text }) => ({ name, run: () => read?.(path), answer: text })),
    { calls: 50 },
  );
  await bench.time(
    "read 4 KiB, sync",
    contenders
      .filter((contender) => contender.readSync)
      .map(({ name, readSync, text }) => ({
        name,
        run: () => readSync?.(path),
        sync: true,
        answer: text,
      })),
    { calls: 50 },
  );
}

/** @param {Bench} bench */
export async function flight(bench) {
  const paths = Array.from({ length: IN_FLIGHT }, (_, index) =>
    put(bench.root, `src/flight/${index}.ts`, textOf(SIZE)),
  );
  await bench.time(
    `${IN_FLIGHT} reads of 4 KiB in flight, per read`,
    bench.contenders
      .filter((contender) => contender.read)
      .map(({ name, read, text }) => ({
        name,
        run: () => Promise.all(paths.map((path) => read?.(path))),
        per: IN_FLIGHT,
        answer: (results) => results.map(text),
      })),
    { calls: 5 },
  );
}

/** @param {Bench} bench */
export async function many(bench) {
  const paths = Array.from({ length: MANY }, (_, index) =>
    put(bench.root, `src/many/${index}.ts`, textOf(SIZE)),
  );
  /** @param {string[]} texts */
  const same = (texts) => texts;
  const inOneCall = bench.contenders.flatMap(({ name, readMany }) =>
    readMany ? [{ name, run: () => readMany(paths), answer: same }] : [],
  );
  const inMany = bench.contenders.flatMap(({ name, read, text }) => {
    if (!read) return [];
    const run = async () => (await Promise.all(paths.map(read))).map(text);
    return [{ name: `${name}, a call for each`, run, answer: same }];
  });
  await bench.time(`${MANY} files of 4 KiB`, [...inOneCall, ...inMany], { calls: 5 });
}
