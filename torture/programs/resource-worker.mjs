// Calls the addon many times, and reports which resources of the process have grown.
//
//     node --expose-gc resource-worker.mjs steady|workers|pool ringfence|naive ROOT TIMES
//
// Prints { operations, violations, examples } as JSON.

import fs from "node:fs";
import path from "node:path";
import { Worker } from "node:worker_threads";
import {
  createFile,
  createFileSync,
  DirectoryStore,
  FileStore,
  readBytes,
  readFile,
  readFileSync,
  readFiles,
  readFileUri,
  readSourceDocument,
  Workspace,
} from "../../index.js";

const [, , scene = "", how = "", root = "", times] = process.argv;
const context = /** @type {const} */ ({ workspaceRoot: root, durability: "none" });
const at = (/** @type {string} */ name) => path.join(root, name);
const pause = (/** @type {number} */ ms) => new Promise((resolve) => setTimeout(resolve, ms));

const tally = { operations: 0, violations: 0, examples: /** @type {string[]} */ ([]) };

/** @param {string} example */
function violation(example) {
  tally.violations++;
  if (tally.examples.length < 5) tally.examples.push(example);
}

/** How much the memory of a process may vary without a leak, in MiB. */
const BREATH = 24;

/** The resources of the process that can leak. */
async function holdings() {
  // The first collection finalises objects, the next one frees their memory.
  for (let i = 0; i < 3; i++) {
    globalThis.gc?.();
    await pause(20);
  }
  return {
    descriptors: fs.readdirSync("/proc/self/fd").length,
    threads: fs.readdirSync("/proc/self/task").length,
    mebibytes: process.memoryUsage.rss() / 2 ** 20,
  };
}

/** @typedef {Awaited<ReturnType<typeof holdings>>} Holdings */

/**
 * @param {Holdings} before
 * @param {Holdings} after
 */
function compare(before, after) {
  for (const what of /** @type {const} */ (["descriptors", "threads"])) {
    if (after[what] > before[what]) violation(`${what}: ${before[what]}, then ${after[what]}`);
  }
  const grown = after.mebibytes - before.mebibytes;
  if (grown > BREATH) violation(`memory has grown by ${grown.toFixed(1)} MiB`);
}

const store = FileStore.open(at("store"));
const documents = DirectoryStore.open(root);
fs.writeFileSync(at("old.txt"), "line\n".repeat(4_000));
const refused = () => undefined;

/**
 * Every function, in turn: calls that succeed, are refused, or are aborted.
 *
 * @type {((turn: number) => unknown)[]}
 */
const CALLS = [
  () => readFileSync(context, "old.txt"),
  () => readFile(context, "old.txt", { include_hash: true }),
  (turn) => createFileSync(context, { path: `new/${turn % 8}.txt`, content: "new" }),
  (turn) => createFile(context, { path: `${turn % 8}.txt`, content: `${turn}`, overwrite: true }),
  () => createFile(context, { path: "old.txt/x", content: "" }),
  () => readFile(context, "../out").catch(refused),
  () => readFile(context, "none.txt").catch(refused),
  () => readFiles(context, { files: ["old.txt", "none.txt", "../out", "old.txt"] }),
  () => readBytes(context, "old.txt", { offset: 5, include_hash: true }),
  () => readBytes(context, "old.txt", { length: 0, signal: AbortSignal.abort() }).catch(refused),
  () => readFileUri("file:///old.txt", { space: root }),
  (turn) => store.putBytes(Buffer.from(`${turn % 50}`)).then(({ hash }) => store.getBytes(hash)),
  () => documents.get("old.txt", { maxBytes: 100 }),
  () => readSourceDocument('{"path":"old.txt"}', { store: documents }),
  () => readFile(context, "old.txt", { signal: AbortSignal.abort() }).catch(refused),
  () => {
    const controller = new AbortController();
    const reading = readFile(context, "old.txt", { signal: controller.signal }).catch(refused);
    controller.abort();
    return reading;
  },
  () => Workspace.open(root).close(),
  () => void Workspace.open(root), // never closed, so the garbage collector has to close it
];

/** @type {unknown[]} */
const kept = [];

/** Opens, keeps, and never closes. */
const NAIVE = [
  () => kept.push(fs.openSync(at("old.txt"), "r")),
  () => kept.push(fs.readFileSync(at("old.txt"))),
];

/** @param {number} count */
async function callMany(count) {
  const calls = how === "naive" ? NAIVE : CALLS;
  const AT_ONCE = 30;
  for (let done = 0; done < count; done += AT_ONCE) {
    await Promise.all(
      Array.from({ length: AT_ONCE }, (_, i) => calls[(done + i) % calls.length]?.(done + i)),
    );
    tally.operations += AT_ONCE;
  }
}

const BUSY = new URL("./busy-worker.mjs", import.meta.url);

/** Starts a busy Worker, and terminates it during its calls. */
async function terminateOne() {
  const worker = new Worker(BUSY, { workerData: root });
  worker.on("error", (error) => violation(String(error)));
  await new Promise((resolve) => worker.once("message", resolve));
  await pause(Math.random() * 5);
  await worker.terminate();
  if (how === "naive") kept.push(fs.openSync(at("old.txt"), "r"));
  tally.operations++;
}

/** @type {Record<string, () => Promise<void>>} */
const scenes = {
  async steady() {
    await callMany(Number(times) / 5);
    const before = await holdings();
    await callMany(Number(times));
    compare(before, await holdings());
  },

  async workers() {
    for (let i = 0; i < 4; i++) await terminateOne();
    const before = await holdings();
    const each = Math.ceil(Number(times) / 4);
    await Promise.all(
      Array.from({ length: 4 }, async () => {
        for (let i = 0; i < each; i++) await terminateOne();
      }),
    );
    await pause(200);
    compare(before, await holdings());
    if (!createFileSync(context, { path: "last.txt", content: "" }).success) {
      violation("nothing works any more");
    }
  },

  /** Starts far more reads of FIFOs and sockets than the pool has threads, and then an ordinary read. */
  async pool() {
    const waiting = ["fifo", ...(how === "naive" ? [] : ["socket", "link-to-fifo"])];
    /** @type {Promise<unknown>[]} */
    const calls = [];
    /** @type {Promise<unknown>[]} */
    const hanging = [];
    for (let i = 0; i < Number(times); i++) {
      const name = waiting[i % waiting.length] ?? "";
      if (how === "naive") hanging.push(fs.promises.readFile(at(name)));
      else {
        calls.push(readFile(context, name).then(answerOf, answerOf));
        calls.push(
          createFile(context, { path: name, content: "", overwrite: true }).then(answerOf),
        );
      }
      tally.operations++;
    }
    const plain = fs.promises.readFile(at("old.txt")).then(() => "read");
    const outcome = await Promise.race([plain, pause(2_000).then(() => "kept waiting")]);
    if (outcome !== "read") violation("the pool is used up");
    await letGo(hanging);
    const late = pause(5_000).then(() => "late");
    for (const call of calls) {
      const settled = await Promise.race([call, late]);
      if (!["NOT_FILE", "InvalidPath"].includes(String(settled))) violation(`came to ${settled}`);
    }
  },
};

/**
 * Opens the FIFO's other end until no read waits for it; otherwise the process could not end.
 *
 * @param {Promise<unknown>[]} hanging
 */
async function letGo(hanging) {
  const flags = fs.constants.O_WRONLY | fs.constants.O_NONBLOCK;
  const opening = setInterval(() => {
    try {
      fs.closeSync(fs.openSync(at("fifo"), flags));
    } catch {}
  }, 5);
  await Promise.all(hanging);
  clearInterval(opening);
}

/** @param {any} outcome */
function answerOf(outcome) {
  return outcome.code ?? outcome.errorCode;
}

await scenes[scene]?.();
process.stdout.write(`${JSON.stringify(tally)}\n`, () => process.exit());
