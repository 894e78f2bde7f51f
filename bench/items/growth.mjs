// @ts-check
// What calls cost as there is more to do: larger files, deeper folders, fuller folders, more reads
// at once.

import { mkdtempSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { cut } from "../contenders/load.mjs";
import { put, textOf } from "../lib/files.mjs";

/**
 * @typedef {import("../measure.mjs").Bench} Bench
 * @typedef {import("../contenders/load.mjs").Contender} Contender
 */

const SMALL = 4096;

/** @param {Bench} bench */
export async function growth(bench) {
  await fileSize(bench);
  await depth(bench);
  await filesPerFolder(bench);
  await inFlight(bench);
}

/**
 * Growth is shown of ringfence and of what hosts do without a library.
 *
 * @param {Bench} bench
 */
function shown(bench) {
  return bench.contenders.filter(
    ({ kind, name }) => kind !== "peer" && !name.includes("plain context"),
  );
}

/** @param {Bench} bench */
async function fileSize(bench) {
  const axis = "file size in bytes";
  for (const work of [1024, 4096, 16_384, 65_536, 262_144, 1_048_576]) {
    const path = put(bench.root, `growth/size/${work}.ts`, textOf(work));
    await bench.time(
      `read, ${axis}: ${work}`,
      shown(bench).map(({ name, read, text }) => ({
        name,
        run: () => read?.(path),
        // The bare functions give the whole file, the others 200 lines of it.
        answer: (result) => cut(text(result), { position: "start", startLine: 1, maxLines: 200 }),
      })),
      { calls: 10, rounds: 20, growth: { axis, work } },
    );
  }
}

/** @param {Bench} bench */
async function depth(bench) {
  const axis = "folders on the way";
  for (const work of [1, 2, 4, 8, 16, 32, 64]) {
    const path = put(bench.root, `${"d/".repeat(work)}file.ts`, textOf(SMALL));
    await bench.time(`read, ${axis}: ${work}`, readings(bench, path), {
      calls: 20,
      rounds: 20,
      growth: { axis, work },
    });
  }
}

/** @param {Bench} bench */
async function filesPerFolder(bench) {
  let made = 0;
  const folder = join(bench.root, "growth/many");
  const path = put(bench.root, "growth/many/file.ts", textOf(SMALL));
  for (const work of [10, 100, 1000, 10_000, 100_000]) {
    // Empty: 100,000 files of a block each would fill disks.
    for (; made < work; made++) writeFileSync(join(folder, `${made}.ts`), "");
    const reading = "files in the folder, reading one";
    await bench.time(`read, ${reading}: ${work}`, readings(bench, path), {
      calls: 20,
      rounds: 20,
      growth: { axis: reading, work },
    });
    const creating = "files in the folder, creating one";
    await bench.time(`create, ${creating}: ${work}`, creations(bench, "growth/many"), {
      calls: 10,
      rounds: 20,
      growth: { axis: creating, work },
    });
  }
}

/** @param {Bench} bench */
async function inFlight(bench) {
  const axis = "reads in flight";
  const paths = Array.from({ length: 1024 }, (_, index) =>
    put(bench.root, `growth/flight/${index}.ts`, textOf(SMALL)),
  );
  for (const work of [1, 4, 16, 64, 256, 1024]) {
    const some = paths.slice(0, work);
    await bench.time(
      `all of them, ${axis}: ${work}`,
      shown(bench).map(({ name, read, text }) => ({
        name,
        run: () => Promise.all(some.map((path) => read?.(path))),
        answer: (results) => results.map(text),
      })),
      { calls: 3, rounds: 20, growth: { axis, work } },
    );
  }
}

/**
 * @param {Bench} bench
 * @param {string} path
 */
function readings(bench, path) {
  return shown(bench).map(({ name, read, text }) => ({
    name,
    run: () => read?.(path),
    answer: text,
  }));
}

/**
 * Files of 4 KiB, not synced; they are moved out after each block, so that the folder stays as full
 * as it was. Not removed: see items/create.mjs.
 *
 * @param {Bench} bench
 * @param {string} folder
 * @returns {import("../lib/interleave.mjs").Task[]}
 */
function creations(bench, folder) {
  const content = textOf(SMALL);
  const graveyard = mkdtempSync(join(bench.root, "moved-"));
  /** @param {number} contender @param {number} file */
  const aside = (contender, file) => join(graveyard, `${contender}-${file}.ts`);
  return shown(bench)
    .filter(({ create }) => create)
    .map(({ name, create }, index) => {
      let [count, moved] = [0, 0];
      return {
        name,
        run: () => create?.(`${folder}/${index}-${count++}.ts`, content, { durable: false }),
        answer: () => undefined,
        afterBlock() {
          for (; moved < count; moved++) {
            renameSync(join(bench.root, folder, `${index}-${moved}.ts`), aside(index, moved));
          }
        },
      };
    });
}
