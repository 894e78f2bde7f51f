// Processes that are killed while they create and overwrite: what they leave is looked at each time.

import fs from "node:fs";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { Random } from "../../__test__/support/random.ts";
import { Workspace } from "../../index.js";
import type { Check, Row } from "../kit/check.mts";
import { nativeProgram, script, start } from "../kit/programs.mts";
import { inScratch } from "../kit/scratch.mts";

const SIZE = 120_000;
const WHOLE = ["A", "B"].map((letter) => Buffer.alloc(SIZE, letter));
/** How many victims are under way at once. */
const PARALLEL = 4;
/** So often must writing in place have left a part of a file, before its kills may end early. */
const ENOUGH = 3;
const PATIENCE_MS = 10_000;

type What = "create" | "overwrite";

/** A program that writes until it is killed. */
type Victim = (what: What, safely: boolean, root: string) => string[];

const VICTIMS: Record<string, Victim> = {
  core: (what, safely, root) => [
    ...[nativeProgram("writer"), what, safely ? "core" : "in-place", root, String(SIZE)],
  ],
  addon: (what, safely, root) =>
    script("hammer.mjs", "kernel", what, safely ? "addon" : "in-place", root, String(SIZE)),
};

export const kills: Check = {
  name: "kills",
  async *run({ scale, seed }) {
    const random = new Random(seed);
    for (const [where, victim] of Object.entries(VICTIMS)) {
      const count = where === "core" ? scale.of(300, 10_000) : scale.of(16, 500);
      for (const what of ["create", "overwrite"] as const) {
        const found = await killMany(count, () => killOne(victim, what, true, random));
        const naive = await killUntilPartial(count, () => killOne(victim, what, false, random));
        yield rowOf(where, what, found, naive);
      }
    }
  },
};

function rowOf(where: string, what: What, found: string[][], naive: string[][]): Row {
  const violations = found.flat();
  return {
    check: `kill -9, ${what === "create" ? "creating" : "overwriting"}`,
    where,
    operations: found.length,
    violations: violations.length,
    examples: violations.slice(0, 5),
    control: {
      what: "write in place",
      operations: naive.length,
      violations: naive.filter((partial) => partial.length > 0).length,
    },
  };
}

/** Kills so many, some at a time, and gives what was wrong after each. */
async function killMany(count: number, kill: () => Promise<string[]>): Promise<string[][]> {
  const found: string[][] = [];
  let started = 0;
  const one = async () => {
    while (started++ < count) found.push(await kill());
  };
  await Promise.all(Array.from({ length: PARALLEL }, one));
  return found;
}

/** The same, in rounds, until enough has gone wrong: at most ten times as many. */
async function killUntilPartial(count: number, kill: () => Promise<string[]>): Promise<string[][]> {
  const found: string[][] = [];
  const wrong = () => found.filter((partial) => partial.length > 0).length;
  while (wrong() < ENOUGH && found.length < count * 10) {
    found.push(...(await killMany(Math.min(count, 40), kill)));
  }
  return found;
}

function killOne(victim: Victim, what: What, safely: boolean, random: Random): Promise<string[]> {
  return inScratch(async (root) => {
    if (what === "overwrite") fs.writeFileSync(path.join(root, "a.txt"), WHOLE[0] ?? "");
    const writer = start(victim(what, safely, root));
    await writer.ready;
    await pause(random.below(8));
    const { code, stderr } = await writer.kill();
    if (code !== "SIGKILL") throw new Error(`the writer ended with ${code}: ${stderr}`);
    return what === "create" ? wrongFiles(root, safely) : wrongVersion(root, safely);
  });
}

/** Of new files each is whole, and there is nothing else. */
function wrongFiles(root: string, safely: boolean): string[] {
  return fs.readdirSync(root).flatMap((name) => {
    if (!/^\d+\.txt$/.test(name)) return safely ? [`left: ${name}`] : [];
    return wholeAt(path.join(root, name)) ? [] : [`partial: ${name}`];
  });
}

/** The overwritten file is one whole version, and what stands beside goes when it is opened again. */
async function wrongVersion(root: string, safely: boolean): Promise<string[]> {
  const wrong = wholeAt(path.join(root, "a.txt")) ? [] : ["a mixture, or a part"];
  if (!safely) return wrong;
  return [...wrong, ...(await leftAfterReopening(root)).map((name) => `left: ${name}`)];
}

/**
 * What is left when the folder is opened again.
 *
 * Sweeping takes at most a fiftieth of the time, and a folder may have the number of another that
 * was swept a moment ago: then it has its turn a little later, in this process and on a busy machine.
 */
async function leftAfterReopening(root: string): Promise<string[]> {
  const left = () => fs.readdirSync(root).filter((name) => name !== "a.txt");
  for (let waited = 0; waited < PATIENCE_MS && left().length > 0; waited += 100) {
    if (waited > 0) await pause(100);
    Workspace.open(root).close();
  }
  return left();
}

function wholeAt(absolute: string): boolean {
  const bytes = fs.readFileSync(absolute);
  return WHOLE.some((whole) => whole.equals(bytes));
}
