// @ts-check
// One file of 4 KiB, as agents read most files, alone and 64 at a time.

import { put, textOf } from "../lib/files.mjs";

/** @typedef {import("../measure.mjs").Bench} Bench */

const SIZE = 4096;
const IN_FLIGHT = 64;

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
