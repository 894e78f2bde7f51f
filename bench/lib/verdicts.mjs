// @ts-check
import { quantile } from "./statistics.mjs";

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
 * @property {import("../targets.mjs").Target} target
 * @property {number} atMost
 * @property {Ratio} ratio
 * @property {boolean} met
 */

/**
 * The targets that a runtime's measurements say something about.
 *
 * @param {readonly import("../targets.mjs").Target[]} targets
 * @param {import("../measure.mjs").RuntimeResult} result
 * @returns {Verdict[]}
 */
export function verdicts(targets, result) {
  const limit = result.runtime.startsWith("Bun") ? "bun" : "node";
  return targets.flatMap((target) => {
    const timings = result.measurements.find(({ id }) => id === target.id)?.timings;
    const ours = timings?.find(({ name }) => name === target.ours);
    const theirs = timings?.find(({ name }) => name === target.theirs);
    if (ours === undefined || theirs === undefined) return [];
    const found = ratio(ours, theirs);
    const atMost = target.atMost[limit];
    return [{ target, atMost, ratio: found, met: found.value <= atMost }];
  });
}
