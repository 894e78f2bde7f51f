// @ts-check
// What is measured without a JavaScript runtime: the size of the addon, and the benches of the Rust
// core in benches/, by criterion.

import { readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { binaryName, ROOT, readJson, run, thisPlatform } from "../scripts/lib/project.mjs";
import { figure } from "./lib/interleave.mjs";

/** By the names that `--only` takes. */
export const nativeItems = { size, core };

/**
 * @param {readonly string[]} only
 * @param {boolean} quick
 * @returns {import("./measure.mjs").RuntimeResult}
 */
export function measureNative(only, quick) {
  const names = /** @type {(keyof typeof nativeItems)[]} */ (Object.keys(nativeItems));
  return {
    runtime: "without a runtime",
    versions: {},
    missing: [],
    measurements: names
      .filter((name) => only.includes(name))
      .flatMap((name) => nativeItems[name](quick)),
  };
}

/** @returns {import("./measure.mjs").Measurement[]} */
function size() {
  const bytes = statSync(join(ROOT, binaryName(thisPlatform()))).size;
  return [
    {
      id: "size of the stripped addon",
      unit: "MiB",
      timings: [figure("ringfence", bytes / 2 ** 20), figure("4 MiB", 4)],
    },
  ];
}

/**
 * Criterion finishes one function before it begins the next, so unlike elsewhere the ratios here
 * are not of neighbours.
 *
 * @param {boolean} quick
 * @returns {import("./measure.mjs").Measurement[]}
 */
function core(quick) {
  console.error("measuring the Rust core");
  const manifest = join(ROOT, "benches", "Cargo.toml");
  const target = join(ROOT, "target", "benches");
  const folder = join(target, "criterion");
  rmSync(folder, { recursive: true, force: true }); // benches that are no more must not show
  process.env.CRITERION_HOME = folder;
  const options = quick ? ["--", "--quick"] : [];
  run("cargo", [
    ...["bench", "--quiet", "--bench", "core", "--manifest-path", manifest],
    ...["--target-dir", target, ...options],
  ]);
  return readdirSync(folder)
    .filter((group) => group !== "report")
    .map((group) => ({
      id: `Rust: ${group}`,
      unit: "µs",
      timings: readdirSync(join(folder, group))
        .filter((name) => name !== "report")
        .map((name) => criterionFigure(name, join(folder, group, name, "new", "estimates.json")))
        .sort(
          (one, other) => Number(other.name === "ringfence") - Number(one.name === "ringfence"),
        ),
    }))
    .map(withLimit);
}

/**
 * @param {string} name
 * @param {string} file
 */
function criterionFigure(name, file) {
  const { median } = /** @type {{ median: { point_estimate: number } }} */ (readJson(file));
  return figure(name, median.point_estimate / 1000);
}

const SIX_GB_PER_SECOND = figure("6 GB per s", 2 ** 20 / 6000);

/** What figures are held against that have no contender; in microseconds. */
const LIMITS = new Map([
  ["Rust: count lines and check UTF-8 of 1 MiB, ASCII", SIX_GB_PER_SECOND],
  ["Rust: count lines and check UTF-8 of 1 MiB, CJK", SIX_GB_PER_SECOND],
  ["Rust: resolveFileUri", figure("1 µs", 1)],
]);

/**
 * @param {import("./measure.mjs").Measurement} measurement
 * @returns {import("./measure.mjs").Measurement}
 */
function withLimit(measurement) {
  const limit = LIMITS.get(measurement.id);
  if (limit === undefined) return measurement;
  return { ...measurement, timings: [...measurement.timings, limit] };
}
