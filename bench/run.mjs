// @ts-check
// Measures ringfence against what it would be replaced by:
//
//     npm run bench -- [--only read,window] [--quick] [--runtimes node,node24,bun]
//                      [--against CHECKOUT] [--dir DIRECTORY] [--last]
//
// --quick     a quarter of the rounds
// --against   another checkout with a built addon takes part, to compare two states of ringfence
// --dir       where the files lie that are read and made; by default the system's temporary folder
// --last      measures nothing and shows the results of the last run once more
//
// All results are kept in target/bench/results.json. Those of a complete run, one without --only,
// --quick, --runtimes and --against, are also written into docs/.
//
// The addon must be a release build: `npm run build` first.

import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { cpus, release, tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { binaryName, ROOT, thisPlatform } from "../scripts/lib/project.mjs";
import { items } from "./items/index.mjs";
import { buildEmptyAddon, installContenders } from "./lib/install.mjs";
import { publish } from "./lib/publish.mjs";
import { runtimeBinary } from "./lib/runtimes.mjs";
import { measurementTable } from "./lib/tables.mjs";
import { measureNative, nativeItems } from "./native.mjs";

const { values: options } = parseArgs({
  options: {
    only: { type: "string" },
    quick: { type: "boolean", default: false },
    runtimes: { type: "string" },
    against: { type: "string" },
    dir: { type: "string", default: tmpdir() },
    last: { type: "boolean", default: false },
  },
});
const RESULTS = join(ROOT, "target", "bench", "results.json");
const ALL = [...Object.keys(items), ...Object.keys(nativeItems)];
const only = options.only?.split(",") ?? ALL;
for (const name of only) {
  if (!ALL.includes(name)) throw new Error(`--only knows ${ALL.join(", ")}`);
}

installContenders();
const run = options.last ? lastRun() : newRun();
for (const result of run.results) report(result);
if (run.complete) await publish(run);

/**
 * @typedef {import("./lib/publish.mjs").Run} Run
 * @typedef {import("./measure.mjs").RuntimeResult} RuntimeResult
 */

/** @returns {Run} */
function lastRun() {
  return JSON.parse(readFileSync(RESULTS, "utf8"));
}

/** @returns {Run} */
function newRun() {
  refuseDebugBuild();
  if (only.includes("loading")) buildEmptyAddon();
  const native = measureNative(only, options.quick);
  const runtimes = (options.runtimes ?? "node,node24,bun").split(",");
  const results = only.some((name) => name in items) ? measureEach(runtimes) : [];
  const run = {
    date: new Date().toISOString().slice(0, 10),
    processor: cpus()[0]?.model ?? "an unknown processor",
    cores: cpus().length,
    kernel: release().split(".", 2).join("."),
    complete: !(options.only ?? options.runtimes ?? options.against) && !options.quick,
    results: [native, ...results],
  };
  mkdirSync(dirname(RESULTS), { recursive: true });
  writeFileSync(RESULTS, `${JSON.stringify(run, null, 2)}\n`);
  return run;
}

/** A release build is stripped, and a tenth as large: 4 MiB at most. */
function refuseDebugBuild() {
  const addon = join(ROOT, binaryName(thisPlatform()));
  if (statSync(addon).size > 2 ** 23) throw new Error("a debug build: `npm run build` first");
}

/**
 * What one runtime has written is removed after the last one: where ext4 has no journal, making files
 * gets ten times slower for minutes after many were removed.
 *
 * @param {readonly string[]} runtimes
 */
function measureEach(runtimes) {
  const folder = mkdtempSync(join(options.dir, "ringfence-bench-"));
  try {
    return runtimes.map((runtime) => measure(runtime, join(folder, runtime)));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * @param {string} runtime
 * @param {string} folder Which does not exist yet.
 * @returns {import("./measure.mjs").RuntimeResult}
 */
function measure(runtime, folder) {
  console.error(`measuring on ${runtime}`);
  mkdirSync(folder);
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
  if (child.status !== 0) throw new Error(`${runtime} ended with ${child.signal ?? child.status}`);
  return JSON.parse(readFileSync(resultFile, "utf8"));
}

/** @param {RuntimeResult} result */
function report({ runtime, missing, measurements }) {
  if (measurements.length === 0 && missing.length === 0) return;
  console.log(`\n═══ ${runtime}`);
  for (const reason of missing) console.log(`not measured: ${reason}`);
  for (const measurement of measurements) {
    console.log(`\n${measurementTable(measurement, runtime)}`);
  }
}
