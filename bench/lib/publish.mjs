// @ts-check
// Writes the results into docs/: the pictures, and the figures in benchmarks.md. Of other products there are
// ratios only.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../scripts/lib/project.mjs";
import { contendersPlot, growthPlot } from "./plots.mjs";
import { ratioRows } from "./ratios.mjs";
import { rounded } from "./tables.mjs";

/** @typedef {import("../measure.mjs").RuntimeResult} RuntimeResult */

/**
 * @typedef {object} Run
 * @property {string} date
 * @property {string} processor
 * @property {number} cores
 * @property {string} kernel
 * @property {boolean} complete Whether everything was measured, everywhere and in full.
 * @property {RuntimeResult[]} results What was measured without a runtime comes first.
 */

const DOCS = join(ROOT, "docs");
const BEGIN = "<!-- figures: written by `npm run bench` -->";
const END = "<!-- end of the figures -->";

/** @param {Run} run */
export async function publish(run) {
  const [, ...runtimes] = run.results;
  writeFileSync(join(DOCS, "bench-contenders.svg"), await contendersPlot(runtimes));
  writeFileSync(join(DOCS, "bench-growth.svg"), await growthPlot(runtimes));
  insert(join(DOCS, "benchmarks.md"), figures(run));
}

/** @param {Run} run */
function figures({ date, processor, cores, kernel, results }) {
  const versions = new Map(results.flatMap((result) => Object.entries(result.versions)));
  const contenders = [...versions].map(([name, version]) => `${name} ${version}`).join(", ");
  const [native, ...runtimes] = results;
  return [
    `${date}, ${processor}, ${cores} cores, Linux ${kernel}; ${contenders}.`,
    table(runtimes),
    ...(native ? [table([native])] : []),
    ...results.flatMap((result) =>
      result.missing.map((reason) => `Not measured on ${result.runtime}: ${reason}.`),
    ),
  ].join("\n\n");
}

/**
 * A row for each ratio, a column for each runtime.
 *
 * @param {readonly RuntimeResult[]} results
 */
export function table(results) {
  const columns = results.map(ratioRows);
  const rows = columns[0]?.map(({ id, what }) => {
    const cells = columns.map((rows) => rows.find((row) => row.id === id && row.what === what));
    const limits = [...new Set(cells.flatMap((cell) => cell?.atMost ?? []))].join(", Bun ");
    return [id, what, limits, ...cells.map((cell) => rounded(cell?.value ?? Number.NaN))];
  });
  const names = results.map(({ runtime }) => runtime);
  const head = ["", "", "at most", ...names];
  const rule = ["---", "---", "---", ...names.map(() => "--:")];
  return [head, rule, ...(rows ?? [])].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
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
