// Kills processes while they create, overwrite, edit and patch, and checks the folder after each kill.

import fs from "node:fs";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { Random } from "../../__test__/support/random.ts";
import { applyPatch, createFileSync, editFile, Workspace } from "../../index.js";
import type { Check, Row, Setting } from "../kit/check.mts";
import { nativeProgram, script, start } from "../kit/programs.mts";
import { inScratch } from "../kit/scratch.mts";
import { patchOf } from "../programs/patches.mjs";

const SIZE = 120_000;
const WHOLE = ["A", "B"].map((letter) => Buffer.alloc(SIZE, letter));
/** How many writers run at once. */
const PARALLEL = 4;
/** How often writing in place must have left a partial file, before its kills may end early. */
const ENOUGH = 3;
const PATIENCE_MS = 10_000;

type What = "create" | "overwrite" | "edit" | "patch";

const NAMES: Record<What, string> = {
  create: "creating",
  overwrite: "overwriting",
  edit: "editing",
  patch: "patching",
};

/** The names of the files that are replaced. */
const REPLACED = ["a.txt", "b.txt"];
/** The names of a file that is moved to and fro, and replaced. */
const MOVED = ["c.txt", "d.txt"];
/** The name of a file that is made and removed. */
const PASSING = "e.txt";

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
    for (const name of laidFor(what)) fs.writeFileSync(path.join(root, name), WHOLE.at(-1) ?? "");
    const writer = start(victim(what, safely, root));
    await writer.ready;
    await pause(random.below(8));
    const { code, stderr } = await writer.kill();
    if (code !== "SIGKILL") throw new Error(`the writer ended with ${code}: ${stderr}`);
    return what === "create" ? wrongFiles(root, safely) : wrongVersion(root, what, safely);
  });
}

function laidFor(what: What): string[] {
  if (what === "create") return [];
  return what === "patch" ? [...REPLACED, ...MOVED.slice(0, 1)] : REPLACED.slice(0, 1);
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
  if (what === "patch") wrong.push(...wrongOthers(root));
  return [...wrong, ...(await leftAfterReopening(root, what)).map((name) => `left: ${name}`)];
}

/** The other files of a patch: none is missing, and none is there in part or twice. */
function wrongOthers(root: string): string[] {
  const there = [...REPLACED.slice(1), ...MOVED, PASSING].filter((name) =>
    fs.existsSync(path.join(root, name)),
  );
  const wrong = there.filter((name) => !wholeAt(path.join(root, name)));
  const count = (names: string[]) => names.filter((name) => there.includes(name)).length;
  return [
    ...wrong.map((name) => `a mixture, or a part: ${name}`),
    ...(count(REPLACED) === 1 ? [] : ["b.txt is gone"]),
    ...(count(MOVED) === 1 ? [] : [`the moved file is there ${count(MOVED)} times`]),
  ];
}

/**
 * The leftovers after the folder was opened again and written to.
 *
 * Sweeping takes at most a fiftieth of the time. A new folder may have the inode number of another folder that was
 * swept a moment ago; on a busy machine it is then swept a little later.
 */
async function leftAfterReopening(root: string, what: What): Promise<string[]> {
  const own = what === "patch" ? [...REPLACED, ...MOVED, PASSING] : REPLACED.slice(0, 1);
  const left = () => fs.readdirSync(root).filter((name) => !own.includes(name));
  for (let waited = 0; waited < PATIENCE_MS && left().length > 0; waited += 100) {
    if (waited > 0) await pause(100);
    // The first write into a folder sweeps it; opening the workspace lists nothing.
    const workspace = Workspace.open(root);
    if (what === "edit") {
      fs.writeFileSync(path.join(root, SWEEPER), "a");
      await editFile(workspace, { path: SWEEPER, old_string: "a", new_string: "b" });
    } else if (what === "patch") {
      fs.writeFileSync(path.join(root, SWEEPER), "a\n");
      const patch = patchOf([{ path: SWEEPER, before: "a\n", after: "b\n" }], "v4a");
      await applyPatch(workspace, { patch });
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
