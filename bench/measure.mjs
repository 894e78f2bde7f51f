// @ts-check
// The process of one runtime. Started by run.mjs as
//
//     RUNTIME measure.mjs '{"only":["read"],"quick":true,"root":"/tmp/…"}' RESULT-FILE

import { mkdirSync, realpathSync, writeFileSync } from "node:fs";
import { openContenders } from "./contenders/index.mjs";
import { items } from "./items/index.mjs";
import { interleave } from "./lib/interleave.mjs";

/**
 * @typedef {object} Settings
 * @property {string[]} only Which items.
 * @property {boolean} quick
 * @property {string} root An empty directory.
 * @property {string} [against] Another checkout of ringfence.
 */

/**
 * @typedef {object} Measurement
 * @property {string} id
 * @property {string} unit
 * @property {import("./lib/interleave.mjs").Timing[]} timings
 * @property {Growth} [growth] If it is one of a series.
 */

/**
 * @typedef {object} Growth
 * @property {string} axis What grows, in which unit.
 * @property {number} work How large it is here.
 */

/**
 * @typedef {object} RuntimeResult
 * @property {string} runtime Its name and version.
 * @property {Record<string, string>} versions Of the contenders that have one.
 * @property {string[]} missing What was asked for and could not be measured, and why.
 * @property {Measurement[]} measurements
 */

/** What the items work with. */
export class Bench {
  /** @type {Measurement[]} */
  measurements = [];
  /** @type {string[]} */
  missing = [];

  /**
   * @param {Settings} settings
   * @param {import("./contenders/load.mjs").Contender[]} contenders
   */
  constructor(settings, contenders) {
    this.root = settings.root;
    this.quick = settings.quick;
    this.contenders = contenders;
  }

  /**
   * Times tasks against each other.
   *
   * @param {string} id
   * @param {import("./lib/interleave.mjs").Task[]} tasks
   * @param {{ calls: number, rounds?: number, growth?: Growth }} effort
   */
  async time(id, tasks, { calls, rounds = 40, growth }) {
    this.say(id);
    const timings = await interleave(tasks, {
      calls,
      rounds: this.quick ? Math.ceil(rounds / 4) : rounds,
    });
    this.add({ id, unit: "µs", timings, ...(growth === undefined ? {} : { growth }) });
  }

  /** @param {Measurement} measurement */
  add(measurement) {
    this.measurements.push(measurement);
  }

  /**
   * Shows how far it has come.
   *
   * @param {string} what
   */
  say(what) {
    process.stderr.write(`  ${what}\n`);
  }
}

const [json, resultFile] = process.argv.slice(2);
if (json === undefined || resultFile === undefined) throw new Error("run.mjs starts this");
/** @type {Settings} */
const settings = JSON.parse(json);
mkdirSync(settings.root, { recursive: true });
settings.root = realpathSync(settings.root);

const { contenders, missing } = await openContenders(settings.root, settings.against);
const bench = new Bench(settings, contenders);
for (const name of settings.only) await items[name]?.(bench);

const { bun } = process.versions;
/** @type {RuntimeResult} */
const result = {
  runtime: bun === undefined ? `Node ${process.versions.node}` : `Bun ${bun}`,
  versions: Object.fromEntries(
    contenders.flatMap(({ name, version }) => (version === undefined ? [] : [[name, version]])),
  ),
  missing: [...missing, ...bench.missing],
  measurements: bench.measurements,
};
writeFileSync(resultFile, JSON.stringify(result));
// Some contenders keep handles open.
process.exit(0);
