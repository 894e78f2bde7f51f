// Scenes that a process must survive, each played in one of its own: node scenes.mjs <scene> <root>.
// A scene prints one word; the process must then end by itself with code 0.

import fs from "node:fs";
import path from "node:path";
import { Worker } from "node:worker_threads";
import { nearMisses, readFile, Workspace } from "../../index.js";

const [, , scene, root] = process.argv;
const collectGarbage = () => (globalThis.Bun ? globalThis.Bun.gc(true) : globalThis.gc());

/** Reads of 1 MiB, too many for one turn of the event loop. */
const largeReads = () =>
  Array.from({ length: 32 }, () => readFile({ workspaceRoot: root }, "a.txt"));

const neverCalls = () => ({});

/** Terminates five workers, each `pause` ms later than the one before, while they read a file so often. */
async function terminateReaders(name, times, pause) {
  const context = { workspaceRoot: root };
  for (let i = 0; i < 5; i++) {
    const worker = new Worker(new URL("./reader-worker.mjs", import.meta.url), {
      workerData: { context, paths: Array(times).fill(name) },
    });
    await new Promise((resolve) => worker.once("online", resolve));
    await new Promise((resolve) => setTimeout(resolve, pause * i));
    await worker.terminate();
  }
  await readFile(context, name);
}

/** Reads on `count` signals, each of its own and forgotten at the end; tells how many stay. */
async function signalsLeft(count, read) {
  const signals = [];
  // In frames that have returned, so that no register or stack slot holds a signal.
  for (let i = 0; i < count; i++) {
    const controller = new AbortController();
    signals.push(new WeakRef(controller.signal));
    await read(controller);
  }
  const left = () => signals.filter((signal) => signal.deref() !== undefined).length;
  for (let i = 0; i < 20 && left() > 0; i++) {
    await new Promise((resolve) => setTimeout(resolve, 1));
    collectGarbage();
  }
  return left();
}

const scenes = {
  async linger() {
    const workspace = Workspace.open(root);
    await readFile(workspace, "a.txt");
    globalThis.kept = workspace;
    console.log("read");
  },

  leave() {
    for (let i = 0; i < 64; i++) readFile({ workspaceRoot: root }, "a.txt");
    console.log("left");
    process.exit(0);
  },

  leaveQueue() {
    fs.writeFileSync(path.join(root, "small.txt"), "small");
    for (let i = 0; i < 5_000; i++) readFile({ workspaceRoot: root }, "small.txt");
    console.log("left");
    process.exit(0);
  },

  async closeQueue() {
    fs.writeFileSync(path.join(root, "small.txt"), "small");
    const workspace = Workspace.open(root);
    const reads = Array.from({ length: 5_000 }, () => readFile(workspace, "small.txt"));
    workspace.close();
    const answers = await Promise.all(reads);
    console.log(answers.filter(({ content }) => content === "small").length);
  },

  async throwingThen() {
    fs.writeFileSync(path.join(root, "small.txt"), "small");
    const outcomes = new Set();
    let looks = 0;
    // biome-ignore lint/suspicious/noThenProperty: a program that does it is what this scene plays
    Object.defineProperty(Object.prototype, "then", {
      configurable: true,
      get() {
        looks += 1;
        if (looks % 50 === 0) throw new Error("then");
        return undefined;
      },
    });
    const settled = Array.from({ length: 3_000 }, () =>
      readFile({ workspaceRoot: root }, "small.txt").then(
        ({ content }) => void outcomes.add(content),
        ({ message }) => void outcomes.add(message),
      ),
    );
    await Promise.all(settled);
    delete Object.prototype.then;
    console.log([...outcomes].sort().join());
  },

  async terminateQueue() {
    fs.writeFileSync(path.join(root, "small.txt"), "small");
    await terminateReaders("small.txt", 50_000, 50);
    console.log("terminated");
  },

  async collect() {
    const reads = Array.from({ length: 32 }, () => readFile(Workspace.open(root), "a.txt"));
    for (let i = 0; i < 5; i++) {
      collectGarbage();
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    const answers = await Promise.all(reads);
    collectGarbage();
    console.log(answers.filter(({ content }) => content.length === 1_000_000).length);
  },

  async crowd() {
    const reads = Array.from({ length: 2_000 }, () => readFile({ workspaceRoot: root }, "a.txt"));
    const answers = await Promise.all(reads);
    console.log(answers.length);
  },

  async terminate() {
    await terminateReaders("a.txt", 200, 10);
    console.log("terminated");
  },

  async timersReplaced() {
    globalThis.setImmediate = neverCalls;
    const answers = await Promise.all(largeReads());
    console.log(answers.length);
  },

  async timersDeleted() {
    delete globalThis.setImmediate;
    const answers = await Promise.all(largeReads());
    console.log(answers.length);
  },

  async timersReplacedMeanwhile() {
    const reads = largeReads();
    globalThis.setImmediate = neverCalls;
    const answers = await Promise.all(reads);
    console.log(answers.length);
  },

  async timersRestored() {
    const { setImmediate } = globalThis;
    globalThis.setImmediate = neverCalls;
    const under = largeReads();
    await Promise.race(under);
    globalThis.setImmediate = setImmediate;
    const answers = await Promise.all([...under, ...largeReads()]);
    console.log(answers.length);
  },

  async signalsOfReads() {
    const left = await signalsLeft(50, ({ signal }) =>
      readFile({ workspaceRoot: root }, "a.txt", { signal }),
    );
    console.log(left < 10 ? "collected" : `${left} of 50 stay`);
  },

  async signalsOfRefusals() {
    const left = await signalsLeft(50, ({ signal }) =>
      readFile({ workspaceRoot: root, signal }, "missing.txt").catch(() => undefined),
    );
    console.log(left < 10 ? "collected" : `${left} of 50 stay`);
  },

  async signalsOfAborted() {
    const left = await signalsLeft(50, (controller) => {
      const { signal } = controller;
      const read = readFile({ workspaceRoot: root }, "a.txt", { signal });
      controller.abort();
      return read.catch(() => undefined);
    });
    console.log(left < 10 ? "collected" : `${left} of 50 stay`);
  },

  async twoSignals() {
    const { signal } = new AbortController();
    const context = { workspaceRoot: root, signal: new AbortController().signal };
    const heapAfter = async (count) => {
      for (let i = 0; i < count; i++) await nearMisses(context, "b.txt", { signal });
      for (let i = 0; i < 3; i++) {
        collectGarbage();
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      return process.memoryUsage().heapUsed;
    };
    // The engine compiles now and then, so one round may grow without a leak. Each round of a leak grows.
    let before = await heapAfter(10_000);
    let stays = Number.POSITIVE_INFINITY;
    for (let round = 0; round < 4 && stays >= 120_000; round++) {
      const after = await heapAfter(5_000);
      stays = Math.min(stays, after - before);
      before = after;
    }
    console.log(stays < 120_000 ? "nothing stays" : `${stays} bytes stay`);
  },

  async signalsWithoutRemoval() {
    const left = await signalsLeft(50, ({ signal }) => {
      signal.removeEventListener = undefined;
      return readFile({ workspaceRoot: root }, "a.txt", { signal });
    });
    console.log(left < 10 ? "collected" : `${left} of 50 stay`);
  },

  async deep() {
    const LEVELS = 1_500;
    const deep = "d/".repeat(LEVELS);
    // Made and removed step by step: by their paths such folders take seconds.
    process.chdir(root);
    for (let i = 0; i < LEVELS; i++) {
      fs.mkdirSync("d");
      process.chdir("d");
    }
    fs.writeFileSync("a.txt", "deep");
    fs.symlinkSync(path.join(root, deep), path.join(root, "link"));
    const byName = await readFile({ workspaceRoot: root }, `${deep}a.txt`);
    const byLink = await readFile({ workspaceRoot: root }, "link/a.txt");
    fs.rmSync("a.txt");
    for (let i = 0; i < LEVELS; i++) {
      process.chdir("..");
      fs.rmdirSync("d");
    }
    console.log(byName.content, byLink.content);
  },

  async unhandled() {
    process.on("unhandledRejection", (error) => console.log(error.code));
    readFile({ workspaceRoot: root }, "missing.txt");
    await new Promise((resolve) => setTimeout(resolve, 100));
  },
};

await scenes[scene]();
