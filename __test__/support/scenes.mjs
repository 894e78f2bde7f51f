// Scenes that a process must survive, each played in one of its own: node scenes.mjs <scene> <root>.
// A scene prints one word; the process must then end by itself with code 0.

import { Worker } from "node:worker_threads";
import { readFile, Workspace } from "../../index.js";

const [, , scene, root] = process.argv;
const collectGarbage = () => (globalThis.Bun ? globalThis.Bun.gc(true) : globalThis.gc());

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
    const paths = Array.from({ length: 200 }, () => "a.txt");
    for (let i = 0; i < 5; i++) {
      const worker = new Worker(new URL("./reader-worker.mjs", import.meta.url), {
        workerData: { context: { workspaceRoot: root }, paths },
      });
      await new Promise((resolve) => worker.once("online", resolve));
      await new Promise((resolve) => setTimeout(resolve, 10 * i));
      await worker.terminate();
    }
    await readFile({ workspaceRoot: root }, "a.txt");
    console.log("terminated");
  },

  async unhandled() {
    process.on("unhandledRejection", (error) => console.log(error.code));
    readFile({ workspaceRoot: root }, "missing.txt");
    await new Promise((resolve) => setTimeout(resolve, 100));
  },
};

await scenes[scene]();
