// The process whose system calls fail. It runs one operation for each line of JSON on its input, and answers with a
// line. node --single-threaded fault-worker.mjs ROOT
//
// In a trace, the operation's own calls are between two marks: lookups of names that do not exist. Edits and patches run on the
// only thread of the pool, and so do their marks. First the worker prints the ids of both threads.

import fs from "node:fs";
import path from "node:path";
import { createInterface } from "node:readline";
import { Worker } from "node:worker_threads";
import { applyPatch, createFileSync, editFile, readFileSync } from "../../index.js";

const root = process.argv[2] ?? "";
const context = { workspaceRoot: root };
/** Allocated once, because allocations would cause system calls of the engine. */
const NEW = "new\n".repeat(20_000);

/** @type {Record<string, (args: any) => object | Promise<object>>} */
const operations = {
  read(args) {
    try {
      return { success: true, content: readFileSync(context, args.path, args.options).content };
    } catch (error) {
      const { code, message } = /** @type {{ code: string, message: string }} */ (error);
      return { success: false, code, message };
    }
  },

  create(args) {
    const { success, errorCode, message } = createFileSync(context, { ...args, content: NEW });
    return { success, code: errorCode, message };
  },

  async edit(args) {
    try {
      await editFile(context, { ...args, new_string: NEW });
      return { success: true };
    } catch (error) {
      const { code, message } = /** @type {{ code: string, message: string }} */ (error);
      return { success: false, code, message };
    }
  },

  async patch({ patch }) {
    try {
      await applyPatch(context, { patch });
      return { success: true };
    } catch (error) {
      const { code, message, applied } = /** @type {import("../../index.js").ApplyPatchError} */ (
        error
      );
      return { success: false, code, message, applied };
    }
  },

  /** The naive way: writing in place. */
  naive({ path: relative }) {
    const absolute = path.join(root, relative);
    try {
      fs.mkdirSync(path.dirname(absolute), { recursive: true });
      fs.writeFileSync(absolute, NEW, { flush: true });
      return { success: true };
    } catch (error) {
      const { code, message } = /** @type {{ code: string, message: string }} */ (error);
      return { success: false, code, message };
    }
  },
};

/**
 * Repeats work outside the operation until it succeeds: the injected fault may last longer than the operation.
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

const descriptors = () => insist(() => fs.readdirSync("/proc/self/fd").length);

/**
 * Wakes the engine again and again. If the call fails by which the pool's thread does so, the engine would not look for
 * its results.
 */
async function startWaking() {
  const program = `setInterval(() => require("worker_threads").parentPort.postMessage(0), 10)`;
  const worker = new Worker(program, { eval: true });
  await new Promise((resolve) => worker.on("message", resolve));
}

let isWaking = false;

/** @param {string} name */
const onMainThread = (name) => fs.existsSync(name);
/** @param {string} name */
const onPoolThread = (name) => fs.promises.access(name).catch(() => {});

/** @param {{ operation: string, args: object }} command */
async function answer({ operation, args }) {
  const isOnPool = operation === "edit" || operation === "patch";
  const mark = isOnPool ? onPoolThread : onMainThread;
  if (isOnPool && !isWaking) await startWaking();
  isWaking ||= isOnPool;
  const before = descriptors();
  await mark("/ringfence-torture-begin");
  const result = await operations[operation]?.(args);
  await mark("/ringfence-torture-end");
  return { ...result, leaked: descriptors() - before };
}

const pool = Number(path.basename(await fs.promises.readlink("/proc/thread-self")));
fs.writeSync(1, `${JSON.stringify({ main: process.pid, pool })}\n`);
for await (const line of createInterface({ input: process.stdin })) {
  const said = `${JSON.stringify(await answer(JSON.parse(line)))}\n`;
  insist(() => fs.writeSync(1, said));
}
