// @ts-check
// Times contenders against each other. mitata and tinybench finish one task before they begin the
// next, so whatever else the machine does in a second falls on one contender alone. Here every
// round gives each contender one short block of calls, in another order each time, and the ratios
// of a round compare neighbours.

import { isDeepStrictEqual } from "node:util";
import { median, quantile, seededRandom, shuffled } from "./statistics.mjs";

/**
 * @typedef {object} Task
 * @property {string} name
 * @property {() => unknown} run What is timed; a promise is awaited if the task is not `sync`.
 * @property {boolean} [sync]
 * @property {(result: any) => unknown} answer What must be equal among the contenders.
 * @property {number} [per] How many units of work one call of `run` does. Default 1.
 * @property {() => unknown} [afterBlock] Untimed.
 */

/**
 * @typedef {object} Effort
 * @property {number} rounds
 * @property {number} calls In each block.
 */

/**
 * @typedef {object} Timing Microseconds per unit of work.
 * @property {string} name
 * @property {number} p50
 * @property {number} p99
 * @property {number[]} rounds The median of each round.
 */

const WARM_UP_ROUNDS = 3;

/**
 * Something that was not timed but looked up, in the form of a timing.
 *
 * @param {string} name
 * @param {number} value
 * @returns {Timing}
 */
export function figure(name, value) {
  return { name, p50: value, p99: value, rounds: [value] };
}

/**
 * @param {string} name
 * @param {readonly number[]} samples One for each round.
 * @returns {Timing}
 */
export function timingOf(name, samples) {
  return { name, p50: median(samples), p99: quantile(samples, 0.99), rounds: [...samples] };
}

/**
 * @param {readonly Task[]} tasks
 * @param {Effort} effort
 * @returns {Promise<Timing[]>} In the order of the tasks.
 */
export async function interleave(tasks, effort) {
  await checkAnswers(tasks);
  const random = seededRandom();
  const timed = tasks.map((task) => ({
    task,
    samples: /** @type {number[]} */ ([]),
    rounds: /** @type {number[]} */ ([]),
  }));
  for (let round = 0; round < WARM_UP_ROUNDS + effort.rounds; round++) {
    for (const { task, samples, rounds } of shuffled(timed, random)) {
      const block = task.sync ? blockOfSync(task, effort.calls) : await blockOf(task, effort.calls);
      await task.afterBlock?.();
      if (round < WARM_UP_ROUNDS) continue;
      samples.push(...block);
      rounds.push(median(block));
    }
  }
  return timed.map(({ task, samples, rounds }) => ({
    name: task.name,
    p50: median(samples),
    p99: quantile(samples, 0.99),
    rounds,
  }));
}

/** @param {readonly Task[]} tasks */
async function checkAnswers(tasks) {
  /** @type {unknown} */
  let expected;
  for (const [index, { name, run, answer, afterBlock }] of tasks.entries()) {
    const given = await answer(await run());
    await afterBlock?.();
    if (index === 0) expected = given;
    if (!isDeepStrictEqual(given, expected)) {
      throw new Error(
        `${name} does not answer what ${tasks[0]?.name} does: ${shown(given)} instead of ${shown(expected)}`,
      );
    }
  }
}

/** @param {unknown} value */
function shown(value) {
  return JSON.stringify(value)?.slice(0, 300);
}

/**
 * @param {Task} task
 * @param {number} calls
 */
function blockOfSync({ run, per = 1 }, calls) {
  const samples = new Float64Array(calls);
  for (let call = 0; call < calls; call++) {
    const start = performance.now();
    run();
    samples[call] = ((performance.now() - start) * 1000) / per;
  }
  return samples;
}

/**
 * @param {Task} task
 * @param {number} calls
 */
async function blockOf({ run, per = 1 }, calls) {
  const samples = new Float64Array(calls);
  for (let call = 0; call < calls; call++) {
    const start = performance.now();
    await run();
    samples[call] = ((performance.now() - start) * 1000) / per;
  }
  return samples;
}
