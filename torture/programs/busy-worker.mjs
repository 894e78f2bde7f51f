// A Worker that reads and overwrites until it is terminated. It posts "busy" after each round.

import { parentPort, threadId, workerData } from "node:worker_threads";
import { createFile, readFile, Workspace } from "../../index.js";

const workspace = Workspace.open(workerData, { durability: "none" });
const path = `${threadId}.txt`;

async function work() {
  for (;;) {
    await readFile(workspace, "old.txt");
    await createFile(workspace, { path, content: "x".repeat(50_000), overwrite: true });
    parentPort?.postMessage("busy");
  }
}

for (let i = 0; i < 4; i++) void work();
