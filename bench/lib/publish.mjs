// @ts-check
// Writes the results into docs/: the pictures, benchmarks.json, and the figures in benchmarks.md.
// Of other products there are ratios only.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../scripts/lib/project.mjs";
import { contendersPlot, growthPlot } from "./plots.mjs";
import { rounded } from "./tables.mjs";
import { ratio } from "./verdicts.mjs";

/**
 * @typedef {import("../measure.mjs").RuntimeResult} RuntimeResult
 * @typedef {import("./verdicts.mjs").Verdict} Verdict
 * @typedef {{ result: RuntimeResult, verdicts: Verdict[] }} Judged
 */

/**
 * @typedef {object} Run
 * @property {string} date
 * @property {string} processor
 * @property {number} cores
 * @property {string} kernel
 * @property {boolean} complete Whether everything was measured, everywhere and in full.
 * @property {Judged[]} judged
 */

const DOCS = join(ROOT, "docs");
const BEGIN = "<!-- figures: written by `npm run bench` -->";
const END = "<!-- end of the figures -->";

/** @param {Run} run */
export async function publish({ judged, ...run }) {
  const results = judged
    .map(({ result }) => result)
    .filter(({ measurements }) => measurements.some(({ growth }) => growth));
  writeFileSync(join(DOCS, "bench-contenders.svg"), await contendersPlot(results));
  writeFileSync(join(DOCS, "bench-growth.svg"), await growthPlot(results));
  const published = { ...run, runtimes: judged.map(publishable) };
  writeFileSync(join(DOCS, "benchmarks.json"), `${JSON.stringify(published, null, 2)}\n`);
  insert(join(DOCS, "benchmarks.md"), figures({ ...run, judged }));
}

/** @param {Judged} judged */
function publishable({ result, verdicts }) {
  return {
    runtime: result.runtime,
    versions: result.versions,
    missing: result.missing,
    targets: verdicts,
    measurements: result.measurements.map(({ id, unit, timings }) => {
      const [ours, ...others] = timings;
      return {
        id,
        unit,
        ...(ours && { first: { name: ours.name, p50: short(ours.p50), p99: short(ours.p99) } }),
        firstDividedBy: others.map((theirs) => {
          const { value, spread } = ratio(/** @type {typeof theirs} */ (ours), theirs);
          return { name: theirs.name, p50: short(value), rounds10To90: spread.map(short) };
        }),
      };
    }),
  };
}

/** @param {number} value */
function short(value) {
  return Number(value.toPrecision(3));
}

/** @param {Run} run */
function figures({ date, processor, cores, kernel, judged }) {
  const versions = new Map(judged.flatMap(({ result }) => Object.entries(result.versions)));
  const contenders = [...versions].map(([name, version]) => `${name} ${version}`).join(", ");
  const [native, ...runtimes] = judged;
  return [
    `${date}, ${processor}, ${cores} cores, Linux ${kernel}; ${contenders}. What is missed is **bold**.`,
    table(runtimes),
    ...(native ? [table([native])] : []),
    ...judged.flatMap(({ result }) =>
      result.missing.map((reason) => `Not measured on ${result.runtime}: ${reason}.`),
    ),
  ].join("\n\n");
}

/**
 * A row for each target, a column for each runtime.
 *
 * @param {readonly Judged[]} judged
 */
function table(judged) {
  const rows = judged[0]?.verdicts.map(({ id, what }, row) => {
    const verdicts = judged.map((one) => /** @type {Verdict} */ (one.verdicts[row]));
    const limits = [...new Set(verdicts.map(({ atMost }) => atMost))].join(", Bun ");
    return [id, what, limits, ...verdicts.map(cell)];
  });
  const names = judged.map(({ result }) => result.runtime);
  const head = ["", "", "at most", ...names];
  const rule = ["---", "---", "---", ...names.map(() => "--:")];
  return [head, rule, ...(rows ?? [])].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

/** @param {Verdict} verdict */
function cell({ value, met }) {
  if (value === undefined) return "**not measured**";
  return met ? rounded(value) : `**${rounded(value)}**`;
}

/**
 * @param {string} file
 * @param {string} text
 */
function insert(file, text) {
  const [before, rest] = readFileSync(file, "utf8").split(BEGIN);
  const after = rest?.split(END)[1];
  if (before === undefined || after === undefined) throw new Error(`${BEGIN} is missing`);
  writeFileSync(file, `${before}${BEGIN}\n\n${text}\n\n${END}${after}`);
}
