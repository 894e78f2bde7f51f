// @ts-check
// What `require` of the addon costs a process that starts, against an addon that exports one empty
// function and is loaded by the same generated code.

import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { binaryName, ROOT, thisPlatform } from "../../scripts/lib/project.mjs";
import { timingOf } from "../lib/interleave.mjs";
import { seededRandom, shuffled } from "../lib/statistics.mjs";

const CHILD = fileURLToPath(new URL("../children/require.cjs", import.meta.url));
const EMPTY = join(ROOT, "target", "bench", "empty-addon");

/** Each as a package is loaded, by its generated loader, and the binary alone. */
const MODULES = [
  { name: "ringfence", module: join(ROOT, "index.js") },
  { name: "an empty addon", module: join(EMPTY, "index.js") },
  { name: "ringfence, the binary alone", module: join(ROOT, binaryName(thisPlatform())) },
  { name: "an empty addon, the binary alone", module: join(EMPTY, `empty.${thisPlatform()}.node`) },
];

/** @param {import("../measure.mjs").Bench} bench */
export async function loading(bench) {
  bench.say("require");
  const random = seededRandom();
  const times = new Map(MODULES.map(({ name }) => [name, /** @type {number[]} */ ([])]));
  for (let round = 0; round < (bench.quick ? 10 : 40); round++) {
    for (const { name, module } of shuffled(MODULES, random)) {
      times.get(name)?.push(requireTime(module));
    }
  }
  bench.add({
    id: "require, in a new process",
    unit: "µs",
    timings: [...times].map(([name, samples]) => timingOf(name, samples)),
  });
}

/** @param {string} module */
function requireTime(module) {
  const child = spawnSync(process.execPath, [CHILD, module], { encoding: "utf8" });
  if (child.status !== 0) throw new Error(`${module} does not load: ${child.stderr}`);
  return Number(child.stdout);
}
