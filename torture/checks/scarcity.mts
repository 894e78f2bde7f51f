// A full disk, a process with few descriptors, a system without /proc.

import fs from "node:fs";
import path from "node:path";
import type { Check, Row, Setting } from "../kit/check.mts";
import { answerOf, onTier, script, start, TIERS, type Tier } from "../kit/programs.mts";
import { inScratch } from "../kit/scratch.mts";

interface Tally {
  operations: number;
  violations: number;
  refused: number;
  examples: string[];
}

interface Scene {
  check: string;
  /** In scarce-worker.mjs. */
  name: string;
  /** The naive way, in words. */
  naive: string;
  times(setting: Setting): number;
  /** Whether every operation must succeed, because the missing resource is not needed. */
  isHarmless?: boolean;
  /** The command that takes the resource away; `$1` is the root, the rest is the program to run. */
  shell: string;
  /** Whether the command needs a mount namespace. */
  mounts: boolean;
}

const SCENES: Scene[] = [
  {
    check: "a full disk",
    name: "fullDisk",
    naive: "write in place",
    times: ({ scale }) => scale.of(400, 20_000),
    shell: 'mount -t tmpfs -o size=256k none "$1" && shift && exec "$@"',
    mounts: true,
  },
  {
    check: "32 descriptors, a few of them free",
    name: "fewDescriptors",
    naive: "write in place",
    times: ({ scale }) => scale.of(60, 3_000),
    shell: 'ulimit -n 32 && shift && exec "$@"',
    mounts: false,
  },
  {
    check: "no /proc",
    name: "noProc",
    naive: "link by /proc/self/fd",
    times: ({ scale }) => scale.of(50, 2_000),
    isHarmless: true,
    shell: 'mount -t tmpfs none /proc && shift && exec "$@"',
    mounts: true,
  },
];

export const scarcity: Check = {
  name: "scarcity",
  async *run(setting) {
    const noMounts = await whyNoMounts();
    for (const scene of SCENES) {
      const { check, naive, isHarmless } = scene;
      const notRun = scene.mounts ? noMounts : undefined;
      for (const tier of TIERS) {
        if (notRun || process.platform === "win32") {
          yield { check, where: tier, notRun: notRun ?? "there is no such limit" };
          continue;
        }
        const times = scene.times(setting);
        const { refused, ...found } = await play(scene, tier, "ringfence", times);
        if (!isHarmless && refused === 0) throw new Error(`${check}: nothing was refused`);
        const control = await play(scene, tier, "naive", Math.min(times, 400));
        yield { check, where: tier, ...found, control: { what: naive, ...control } } satisfies Row;
      }
    }
  },
};

/** Runs a command in a new mount namespace; for an ordinary user, within a user namespace. */
const UNSHARE = ["unshare", ...(process.getuid?.() === 0 ? [] : ["--map-root-user"]), "-m"];

async function whyNoMounts(): Promise<string | undefined> {
  if (process.platform !== "linux") return "mount namespaces are Linux'";
  const { code } = await inScratch((root) =>
    start([...UNSHARE, "sh", "-c", 'mount -t tmpfs none "$0"', root]).ended.catch(() => ({
      code: "no unshare",
    })),
  );
  return code === 0 ? undefined : "this user may not mount anything in a namespace of its own";
}

function play(scene: Scene, tier: Tier, how: string, times: number): Promise<Tally> {
  return inScratch(async (base) => {
    const root = path.join(base, "ws");
    fs.mkdirSync(root);
    const worker = script("scarce-worker.mjs", "kernel", scene.name, how, root, String(times));
    const shell = ["sh", "-c", scene.shell, "sh", root, ...onTier(tier, worker)];
    return answerOf<Tally>(start(scene.mounts ? [...UNSHARE, ...shell] : shell));
  });
}
