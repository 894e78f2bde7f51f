// Applies patches in a process of its own: node patch-worker.mjs. It prints the id of the only thread of the pool; then
// for each line of JSON, [context, arguments], it prints a line with the outcome. In a trace the call stands between two
// marks: lookups of names that do not exist, as torture/kit/tracer.mts expects them.

import fs from "node:fs";
import path from "node:path";
import { createInterface } from "node:readline";
import { Worker } from "node:worker_threads";
import { applyPatch } from "../../index.js";

/**
 * Repeats work outside the call until it succeeds: the injected fault may hit it.
 *
 * @template T
 * @param {() => T} action
 * @returns {T}
 */
function insist(action) {
  for (let attempt = 0; ; attempt++) {
    try {
      return action();
    } catch (error) {
      if (attempt > 1000) throw error;
    }
  }
}

// If the call fails by which the pool's thread wakes the engine, the engine looks for results all the same.
const program = `setInterval(() => require("worker_threads").parentPort.postMessage(0), 10)`;
const waking = new Worker(program, { eval: true });
await new Promise((resolve) => waking.on("message", resolve));

const descriptors = () => insist(() => fs.readdirSync("/proc/self/fd").length);

/** @param {string} line */
async function outcomeOf(line) {
  const before = descriptors();
  await fs.promises.access("/ringfence-torture-begin").catch(() => {});
  /** @type {object} */
  let outcome;
  try {
    const [context, args] = JSON.parse(line);
    const { files } = await applyPatch(context, args);
    outcome = { files: files.length };
  } catch (error) {
    const { code, message, path: shown, applied } = /** @type {any} */ (error);
    outcome = { code, message, path: shown, applied };
  }
  await fs.promises.access("/ringfence-torture-end").catch(() => {});
  return { ...outcome, leaked: descriptors() - before };
}

const pool = path.basename(await fs.promises.readlink("/proc/thread-self"));
fs.writeSync(1, `${pool}\n`);
for await (const line of createInterface({ input: process.stdin })) {
  const said = `${JSON.stringify(await outcomeOf(line))}\n`;
  insist(() => fs.writeSync(1, said));
}
