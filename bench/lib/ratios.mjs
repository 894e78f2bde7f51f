// @ts-check
// Ringfence, the first of each measurement, divided by each of the others.

import { limitOf } from "../targets.mjs";
import { growthExponent, quantile } from "./statistics.mjs";

/**
 * @typedef {import("./interleave.mjs").Timing} Timing
 * @typedef {import("../measure.mjs").Measurement} Measurement
 * @typedef {import("../measure.mjs").RuntimeResult} RuntimeResult
 */

/**
 * @typedef {object} Ratio
 * @property {number} value Of the medians.
 * @property {[number, number]} spread The 10th and the 90th percentile among the rounds.
 */

/**
 * @param {Timing} ours
 * @param {Timing} theirs
 * @returns {Ratio}
 */
export function ratio(ours, theirs) {
  const rounds = ours.rounds.map((value, round) => value / (theirs.rounds[round] ?? Number.NaN));
  return {
    value: ours.p50 / theirs.p50,
    spread: [quantile(rounds, 0.1), quantile(rounds, 0.9)],
  };
}

/**
 * @typedef {object} Row
 * @property {string} id Of the measurement.
 * @property {string} what
 * @property {number} value
 * @property {number} [atMost] What is to be reached, if anything is.
 */

/**
 * The ratios of all measurements, and one exponent for each series.
 *
 * @param {RuntimeResult} result
 * @returns {Row[]}
 */
export function ratioRows({ runtime, measurements }) {
  const single = measurements.filter(({ growth }) => growth === undefined);
  return [
    ...single.flatMap(({ id, timings: [ours, ...others] }) =>
      others.map((theirs) => ({
        id,
        what: `${ours?.name} ÷ ${theirs.name}`,
        value: ours ? ratio(ours, theirs).value : Number.NaN,
        atMost: limitOf(id, theirs.name, runtime),
      })),
    ),
    ...growthRows(measurements),
  ];
}

/**
 * How steeply ringfence's costs grow. Only the end of a curve is looked at: at its beginning a cost that does
 * not grow hides one that does.
 *
 * @param {readonly Measurement[]} measurements
 * @returns {Row[]}
 */
function growthRows(measurements) {
  const axes = new Set(measurements.flatMap(({ growth }) => growth?.axis ?? []));
  return [...axes].map((axis) => {
    const points = growthPoints(measurements, axis, "ringfence").slice(-3);
    return {
      id: `growth with ${axis}`,
      what: "exponent, 1 is linear",
      value: growthExponent(points),
    };
  });
}

/**
 * A contender's medians as the work grows.
 *
 * @param {readonly Measurement[]} measurements
 * @param {string} axis
 * @param {string} contender
 */
export function growthPoints(measurements, axis, contender) {
  return measurements.flatMap(({ growth, timings }) => {
    const cost = timings.find(({ name }) => name === contender)?.p50;
    return growth?.axis === axis && cost ? [{ work: growth.work, cost }] : [];
  });
}
