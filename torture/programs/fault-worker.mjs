// Does one operation per line of JSON that it reads, and answers each with a line: the process whose
// system calls are made to fail. node --single-threaded fault-worker.mjs ROOT
//
// What it does for the operation itself stands in a trace between two looks at names that nobody has.

import fs from "node:fs";
import path from "node:path";
import { createInterface } from "node:readline";
import { createFileSync, readFileSync } from "../../index.js";

const root = process.argv[2] ?? "";
const context = { workspaceRoot: root };
/** Made once, since memory that comes and goes brings the engine to calls of its own. */
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

  /** In place: how it is usually done. */
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
 * Does what is not the operation's own until it works: the fault may last longer than the operation.
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
