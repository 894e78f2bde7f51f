// @ts-check
// Reads again and again, in every way, and prints the resident memory in bytes after each fifth:
//
//     RUNTIME memory.mjs ROOT PATH ABSENT-PATH READS

import { loadRingfence } from "../contenders/ringfence.mjs";

const [root = "", path = "", absent = "", reads = "0"] = process.argv.slice(2);
const IN_FLIGHT = 64;
const { readFile, readFileSync, Workspace } = loadRingfence();
const workspace = Workspace.open(root);
/** @type {number[]} */
const sizes = [];
for (let part = 0; part < 5; part++) {
  for (let done = 0; done < Number(reads) / 5; done += 2 * IN_FLIGHT) await readMuch();
  collectGarbage();
  sizes.push(process.memoryUsage.rss());
}
console.log(JSON.stringify(sizes));

/** Half of the reads wait for each other, half are in flight together; a few fail. */
async function readMuch() {
  for (let call = 1; call < IN_FLIGHT; call++) readFileSync(workspace, path);
  await readFile(workspace, absent).then(unexpected, () => undefined);
  await Promise.all(
    Array.from({ length: IN_FLIGHT }, (_, index) =>
      readFile(workspace, path, { start_line: index + 1, include_hash: index === 0 }),
    ),
  );
}

function unexpected() {
  throw new Error(`${absent} was read`);
}

function collectGarbage() {
  const { Bun } = /** @type {{ Bun?: { gc(force: boolean): void } }} */ (globalThis);
  if (Bun === undefined) globalThis.gc?.();
  else Bun.gc(true);
}
