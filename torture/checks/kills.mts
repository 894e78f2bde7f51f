// Kills processes while they create, overwrite and edit, and checks the folder after each kill.

import fs from "node:fs";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { Random } from "../../__test__/support/random.ts";
import { createFileSync, editFile, Workspace } from "../../index.js";
import type { Check, Row, Setting } from "../kit/check.mts";
import { nativeProgram, script, start } from "../kit/programs.mts";
import { inScratch } from "../kit/scratch.mts";

const SIZE = 120_000;
const WHOLE = ["A", "B"].map((letter) => Buffer.alloc(SIZE, letter));
/** How many writers run at once. */
const PARALLEL = 4;
/** How often writing in place must have left a partial file, before its kills may end early. */
const ENOUGH = 3;
const PATIENCE_MS = 10_000;

type What = "create" | "overwrite" | "edit";

const NAMES: Record<What, string> = {
  create: "creating",
  overwrite: "overwriting",
  edit: "editing",
};

/** A program that writes until it is killed. */
type Victim = (what: What, safely: boolean, root: string) => string[];

type Where = "core" | "addon";

const VICTIMS: Record<Where, Victim> = {
  core: (what, safely, root) => [
    ...[nativeProgram("writer"), what, safely ? "core" : "in-place", root, String(SIZE)],
  ],
  addon: (what, safely, root) =>
    script("hammer.mjs", "kernel", what, safely ? "addon" : "in-place", root, String(SIZE)),
};

export const kills: Check = {
  name: "kills",
  run(setting) {
    const { scale } = setting;
    const counts = { core: scale.of(300, 10_000), addon: scale.of(16, 500) };
    return underKills(setting, ["create", "overwrite"], counts);
  },
};

/** Kills so many writers of some kinds. */
export async function* underKills(
  { seed }: Setting,
  kinds: What[],
  counts: Record<Where, number>,
): AsyncIterable<Row> {
  const random = new Random(seed);
  for (const where of ["core", "addon"] as const) {
    const [victim, count] = [VICTIMS[where], counts[where]];
    for (const what of kinds) {
      const found = await killMany(count, () => killOne(victim, what, true, random));
      const naive = await killUntilPartial(count, () => killOne(victim, what, false, random));
      yield rowOf(where, what, found, naive);
    }
  }
}

function rowOf(where: string, what: What, found: string[][], naive: string[][]): Row {
  const violations = found.flat();
  return {
    check: `kill -9, ${NAMES[what]}`,
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

/** Kills `count` writers, some at a time, and returns the violations after each kill. */
async function killMany(count: number, kill: () => Promise<string[]>): Promise<string[][]> {
  const found: string[][] = [];
  let started = 0;
  const one = async () => {
    while (started++ < count) found.push(await kill());
  };
  await Promise.all(Array.from({ length: PARALLEL }, one));
  return found;
}

/** The same in rounds, until enough violations were found: at most ten times as many kills. */
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
    // The first turn makes the first version of the last.
    if (what !== "create") fs.writeFileSync(path.join(root, "a.txt"), WHOLE.at(-1) ?? "");
    const writer = start(victim(what, safely, root));
    await writer.ready;
    await pause(random.below(8));
    const { code, stderr } = await writer.kill();
    if (code !== "SIGKILL") throw new Error(`the writer ended with ${code}: ${stderr}`);
    return what === "create" ? wrongFiles(root, safely) : wrongVersion(root, what, safely);
  });
}

/** Each new file must be whole, and there must be no other file. */
function wrongFiles(root: string, safely: boolean): string[] {
  return fs.readdirSync(root).flatMap((name) => {
    if (!/^\d+\.txt$/.test(name)) return safely ? [`left: ${name}`] : [];
    return wholeAt(path.join(root, name)) ? [] : [`partial: ${name}`];
  });
}

const SWEEPER = "sweep.txt";

/** The file must be one whole version, and leftovers must go when the folder is written to again. */
async function wrongVersion(root: string, what: What, safely: boolean): Promise<string[]> {
  const wrong = wholeAt(path.join(root, "a.txt")) ? [] : ["a mixture, or a part"];
  if (!safely) return wrong;
  return [...wrong, ...(await leftAfterReopening(root, what)).map((name) => `left: ${name}`)];
}

/**
 * The leftovers after the folder was opened again and written to.
 *
 * Sweeping takes at most a fiftieth of the time. A new folder may have the inode number of another folder that was
 * swept a moment ago; on a busy machine it is then swept a little later.
 */
async function leftAfterReopening(root: string, what: What): Promise<string[]> {
  const left = () => fs.readdirSync(root).filter((name) => name !== "a.txt");
  for (let waited = 0; waited < PATIENCE_MS && left().length > 0; waited += 100) {
    if (waited > 0) await pause(100);
    // The first write into a folder sweeps it; opening the workspace lists nothing.
    const workspace = Workspace.open(root);
    if (what === "edit") {
      fs.writeFileSync(path.join(root, SWEEPER), "a");
      await editFile(workspace, { path: SWEEPER, old_string: "a", new_string: "b" });
    } else createFileSync(workspace, { path: SWEEPER, content: "" });
    workspace.close();
    fs.rmSync(path.join(root, SWEEPER));
  }
  return left();
}

function wholeAt(absolute: string): boolean {
  const bytes = fs.readFileSync(absolute);
  return WHOLE.some((whole) => whole.equals(bytes));
}
