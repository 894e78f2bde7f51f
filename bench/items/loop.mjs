// @ts-check
// How late the event loop is while it reads much at once: what the rest of a server feels.

import { setTimeout as sleep } from "node:timers/promises";
import { put, textOf } from "../lib/files.mjs";
import { median, quantile, seededRandom, shuffled } from "../lib/statistics.mjs";

const FILES = 100;
const SIZE = 1_048_576;

/** @param {import("../measure.mjs").Bench} bench */
export async function loop(bench) {
  const text = textOf(SIZE);
  const paths = Array.from({ length: FILES }, (_, index) =>
    put(bench.root, `src/loop/${index}.ts`, text),
  );
  const observed = bench.contenders
    .filter(({ read }) => read)
    .map(({ name, read }) => ({
      name,
      work: () => Promise.all(paths.map((path) => read?.(path))),
      delays: /** @type {number[]} */ ([]),
      rounds: /** @type {number[]} */ ([]),
    }));
  bench.say("event-loop delay");
  const random = seededRandom();
  const rounds = bench.quick ? 5 : 15;
  for (let round = -1; round < rounds; round++) {
    for (const { work, delays, rounds: perRound } of shuffled(observed, random)) {
      const during = await delaysDuring(work);
      if (round < 0) continue; // the first is for warming up
      delays.push(...during);
      perRound.push(quantile(during, 0.99));
    }
  }
  bench.add({
    id: `event-loop delay p99, ${FILES} files of 1 MiB at once`,
    unit: "µs",
    // The delay that a target is about is the p99, so it stands where medians stand elsewhere.
    timings: observed.map(({ name, delays, rounds: perRound }) => ({
      name,
      p50: quantile(delays, 0.99),
      p99: Math.max(...delays),
      rounds: perRound,
    })),
  });
  bench.add({
    id: `event-loop delay p50, ${FILES} files of 1 MiB at once`,
    unit: "µs",
    timings: observed.map(({ name, delays }) => ({
      name,
      p50: median(delays),
      p99: quantile(delays, 0.99),
      rounds: [median(delays)],
    })),
  });
}

/**
 * How many microseconds too late a timer of 1 ms came, each time, as `monitorEventLoopDelay`
 * measures it (which Bun does not have).
 *
 * @param {() => Promise<unknown>} work
 */
async function delaysDuring(work) {
  await sleep(20); // what is left of the work before
  /** @type {number[]} */
  const delays = [];
  let due = performance.now() + 1;
  /** @type {NodeJS.Timeout} */
  let timer;
  const tick = () => {
    const now = performance.now();
    delays.push(Math.max(0, now - due) * 1000);
    due = now + 1;
    timer = setTimeout(tick, 1);
  };
  timer = setTimeout(tick, 1);
  await work();
  // One more turn, or the longest delay, the one that the end of the work has caused, is missing.
  await sleep(2);
  clearTimeout(timer);
  return delays;
}
