// The process whose system calls fail. It runs one operation for each line of JSON on its input, and answers with a
// line. node --single-threaded fault-worker.mjs ROOT
//
// In a trace, the operation's own calls are between two marks: lookups of names that do not exist.

import fs from "node:fs";
import path from "node:path";
import { createInterface } from "node:readline";
import { createFileSync, readFileSync } from "../../index.js";

const root = process.argv[2] ?? "";
const context = { workspaceRoot: root };
/** Allocated once, because allocations would cause system calls of the engine. */
const NEW = "new\n".repeat(20_000);

/** @type {Record<string, (args: any) => object>} */
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

/** @param {{ operation: string, args: object }} command */
function answer({ operation, args }) {
  const before = descriptors();
  fs.existsSync("/ringfence-torture-begin");
  const result = operations[operation]?.(args);
  fs.existsSync("/ringfence-torture-end");
  return { ...result, leaked: descriptors() - before };
}

fs.writeSync(1, `${process.pid}\n`);
for await (const line of createInterface({ input: process.stdin })) {
  const said = `${JSON.stringify(answer(JSON.parse(line)))}\n`;
  insist(() => fs.writeSync(1, said));
}
