// @ts-check
// Measures ringfence against what it would be replaced by:
//
//     npm run bench -- [--only read,window] [--quick] [--runtimes node,node24,bun]
//                      [--against CHECKOUT] [--dir DIRECTORY]
//
// --quick     a quarter of the rounds
// --against   another checkout with a built addon takes part, to compare two states of ringfence
// --dir       where the files lie that are read and made; by default the system's temporary folder
//
// The addon must be a release build: `npm run build` first.

import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { ROOT } from "../scripts/lib/project.mjs";
import { items } from "./items/index.mjs";
import { buildEmptyAddon, installContenders } from "./lib/install.mjs";
import { runtimeBinary } from "./lib/runtimes.mjs";
import { measurementTable, verdictTable } from "./lib/tables.mjs";
import { growthVerdicts, verdicts } from "./lib/verdicts.mjs";
import { measureNative, nativeItems } from "./native.mjs";
import { nativeTargets, targets } from "./targets.mjs";

const { values: options } = parseArgs({
  options: {
    only: {
      type: "string",
      default: [...Object.keys(items), ...Object.keys(nativeItems)].join(","),
    },
    quick: { type: "boolean", default: false },
    runtimes: { type: "string", default: "node,node24,bun" },
    against: { type: "string" },
    dir: { type: "string", default: tmpdir() },
  },
});
const known = { ...items, ...nativeItems };
const only = options.only.split(",");
for (const name of only) {
  if (!(name in known)) throw new Error(`--only knows ${Object.keys(known).join(", ")}`);
}

installContenders();
if (only.includes("loading")) buildEmptyAddon();
const native = measureNative(only, options.quick);
const results = only.some((name) => name in items)
  ? options.runtimes.split(",").map((name) => measure(name))
  : [];
writeResults([native, ...results]);
report(native, verdicts(nativeTargets, only, native));
for (const result of results) {
  report(result, [...verdicts(targets, only, result), ...growthVerdicts(result)]);
}

/**
 * @param {string} runtime
 * @returns {import("./measure.mjs").RuntimeResult}
 */
function measure(runtime) {
  console.error(`measuring on ${runtime}`);
  const folder = mkdtempSync(join(options.dir, "ringfence-bench-"));
  try {
    const settings = {
      only,
      quick: options.quick,
      root: join(folder, "workspace"),
      against: options.against === undefined ? undefined : resolve(options.against),
    };
    const resultFile = join(folder, "result.json");
    const child = spawnSync(
      runtimeBinary(runtime),
      [join(ROOT, "bench", "measure.mjs"), JSON.stringify(settings), resultFile],
      { stdio: ["ignore", "ignore", "inherit"] },
    );
    if (child.error) throw child.error;
    if (child.status !== 0)
      throw new Error(`${runtime} ended with ${child.signal ?? child.status}`);
    return JSON.parse(readFileSync(resultFile, "utf8"));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** @param {import("./measure.mjs").RuntimeResult[]} results */
function writeResults(results) {
  const folder = join(ROOT, "target", "bench");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "results.json"), `${JSON.stringify(results, null, 2)}\n`);
}

/**
 * @param {import("./measure.mjs").RuntimeResult} result
 * @param {import("./lib/verdicts.mjs").Verdict[]} verdicts
 */
function report({ runtime, missing, measurements }, verdicts) {
  if (measurements.length === 0 && missing.length === 0) return;
  console.log(`\n═══ ${runtime}`);
  for (const reason of missing) console.log(`not measured: ${reason}`);
  for (const measurement of measurements) console.log(`\n${measurementTable(measurement)}`);
  console.log(`\n${verdictTable(verdicts)}`);
}
