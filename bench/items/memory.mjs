// @ts-check
// Whether a process that reads on and on grows.

import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { put, textOf } from "../lib/files.mjs";
import { figure } from "../lib/interleave.mjs";

const CHILD = fileURLToPath(new URL("../children/memory.mjs", import.meta.url));

/** @param {import("../measure.mjs").Bench} bench */
export async function memory(bench) {
  const reads = bench.quick ? 100_000 : 1_000_000;
  bench.say(`memory over ${reads} reads`);
  const path = put(bench.root, "src/tools/memory.ts", textOf(4096));
  const options = process.versions.bun === undefined ? ["--expose-gc"] : [];
  const child = spawnSync(
    process.execPath,
    [...options, CHILD, bench.root, path, "src/tools/absent.ts", String(reads)],
    { encoding: "utf8" },
  );
  if (child.status !== 0) throw new Error(`the reads failed: ${child.stderr}`);
  /** @type {number[]} */
  const sizes = JSON.parse(child.stdout);
  bench.add({
    id: "resident memory while reading 1,000,000 times",
    unit: "MiB",
    timings: sizes
      .map((bytes, index) => figure(`after ${(index + 1) * 20} %`, bytes / 2 ** 20))
      .reverse(),
  });
}
