// Descriptors, threads and memory of a process must not grow, and its thread pool must stay free.

import { execFileSync } from "node:child_process";
import net from "node:net";
import path from "node:path";
import type { Check, Row, Setting } from "../kit/check.mts";
import { answerOf, scriptWith, start, TIERS, type Tier } from "../kit/programs.mts";
import { inScratch } from "../kit/scratch.mts";

interface Tally {
  operations: number;
  violations: number;
  examples: string[];
}

interface Scene {
  check: string;
  /** In resource-worker.mjs. */
  name: string;
  /** The naive way, in words. */
  naive: string;
  times(setting: Setting): number;
  naiveTimes: number;
}

const SCENES: Scene[] = [
  {
    check: "reads and creates, and what stays of them",
    name: "steady",
    naive: "files kept open",
    times: ({ scale }) => scale.of(12_000, 100_000),
    naiveTimes: 3_000,
  },
  {
    check: "Workers terminated in the middle of calls",
    name: "workers",
    naive: "files kept open",
    times: ({ scale }) => scale.of(24, 500),
    naiveTimes: 8,
  },
  {
    check: "FIFOs, sockets and the pool",
    name: "pool",
    naive: "fs.promises.readFile",
    times: ({ scale }) => scale.of(300, 10_000),
    naiveTimes: 8,
  },
];

export const resources: Check = {
  name: "resources",
  async *run(setting) {
    for (const scene of SCENES) {
      const { check, naive } = scene;
      for (const tier of TIERS) {
        if (process.platform !== "linux") {
          yield { check, where: tier, notRun: "only Linux tells of a process what is looked at" };
          continue;
        }
        const found = await play(scene, tier, "ringfence", scene.times(setting));
        const control = await play(scene, tier, "naive", scene.naiveTimes);
        yield { check, where: tier, ...found, control: { what: naive, ...control } } satisfies Row;
      }
    }
  },
};

function play(scene: Scene, tier: Tier, how: string, times: number): Promise<Tally> {
  return inScratch(async (root) => {
    execFileSync("mkfifo", [path.join(root, "fifo")]);
    execFileSync("ln", ["-s", "fifo", path.join(root, "link-to-fifo")]);
    const server = net.createServer().listen(path.join(root, "socket"));
    const args = [scene.name, how, root, String(times)];
    const worker = start(scriptWith(["--expose-gc"], "resource-worker.mjs", tier, ...args));
    try {
      return await answerOf<Tally>(worker);
    } finally {
      server.close();
    }
  });
}
