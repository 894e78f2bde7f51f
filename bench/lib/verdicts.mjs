// @ts-check
import { GROWTH_EXPONENT_AT_MOST } from "../targets.mjs";
import { growthExponent, quantile } from "./statistics.mjs";

/**
 * @typedef {object} Ratio
 * @property {number} value Ours divided by theirs, of the medians.
 * @property {[number, number]} spread The 10th and the 90th percentile among the rounds.
 */

/**
 * @param {import("./interleave.mjs").Timing} ours
 * @param {import("./interleave.mjs").Timing} theirs
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
 * @typedef {object} Verdict
 * @property {string} id
 * @property {string} what
 * @property {number | undefined} value `undefined` where nothing was measured.
 * @property {number} atMost
 * @property {boolean} met
 */

/**
 * How the targets fare whose items were asked for.
 *
 * @param {readonly import("../targets.mjs").Target[]} targets
 * @param {readonly string[]} only
 * @param {import("../measure.mjs").RuntimeResult} result
 * @returns {Verdict[]}
 */
export function verdicts(targets, only, result) {
  const kind = result.runtime.startsWith("Bun") ? "bun" : "node";
  return targets
    .filter(({ item }) => only.includes(item))
    .map((target) => {
      const timings = result.measurements.find(({ id }) => id === target.id)?.timings;
      const ours = timings?.find(({ name }) => name === target.ours);
      const theirs = timings?.find(({ name }) => name === target.theirs);
      const value = ours && theirs ? ratio(ours, theirs).value : undefined;
      const what = `${target.ours} ÷ ${target.theirs}`;
      return verdict(target.id, what, value, target.atMost[kind]);
    });
}

/**
 * Whether ringfence's costs grow no faster than the work.
 *
 * @param {import("../measure.mjs").RuntimeResult} result
 * @returns {Verdict[]}
 */
export function growthVerdicts({ measurements }) {
  const axes = new Set(measurements.flatMap(({ growth }) => growth?.axis ?? []));
  return [...axes].map((axis) => {
    const points = growthPoints(measurements, axis, "ringfence");
    // The end of the curve: at its beginning a cost that does not grow hides one that does.
    const value = growthExponent(points.slice(-3));
    return verdict(`growth with ${axis}`, "exponent, 1 is linear", value, GROWTH_EXPONENT_AT_MOST);
  });
}

/**
 * A contender's medians as the work grows.
 *
 * @param {readonly import("../measure.mjs").Measurement[]} measurements
 * @param {string} axis
 * @param {string} contender
 */
export function growthPoints(measurements, axis, contender) {
  return measurements.flatMap(({ growth, timings }) => {
    const cost = timings.find(({ name }) => name === contender)?.p50;
    return growth?.axis === axis && cost ? [{ work: growth.work, cost }] : [];
  });
}

/**
 * @param {string} id
 * @param {string} what
 * @param {number | undefined} value
 * @param {number} atMost
 * @returns {Verdict}
 */
function verdict(id, what, value, atMost) {
  return { id, what, value, atMost, met: value !== undefined && value <= atMost };
}
