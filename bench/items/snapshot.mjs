// @ts-check
// The list of 100,000 files for a boot prompt, against `rg --files`, which only lists them.

import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { loadRingfence } from "../contenders/ringfence.mjs";

const FILES = 100_000;
const FILES_PER_FOLDER = 100;

/** @param {import("../measure.mjs").Bench} bench */
export async function snapshot(bench) {
  const { workspaceSnapshot, Workspace } = /** @type {any} */ (loadRingfence());
  if (workspaceSnapshot === undefined) {
    bench.missing.push("snapshot: this build exports no workspaceSnapshot");
    return;
  }
  if (spawnSync("rg", ["--version"]).error) {
    bench.missing.push("snapshot: rg is not installed");
    return;
  }
  const root = join(bench.root, "tree");
  makeTree(root);
  const workspace = Workspace.open(root);
  await bench.time(
    "workspaceSnapshot of 100,000 files",
    [
      {
        name: "ringfence",
        run: () => workspaceSnapshot(workspace, { maxDepth: 10, maxEntries: 2 * FILES }),
        answer: ({ text }) => FILE_NAMES.every((name) => text.includes(name)),
      },
      {
        name: "rg --files",
        run: () => spawnSync("rg", ["--files", root], { encoding: "utf8", maxBuffer: 2 ** 28 }),
        sync: true,
        answer: ({ stdout }) => FILE_NAMES.every((name) => stdout.includes(name)),
      },
    ],
    { calls: 1, rounds: 20 },
  );
}

const FILE_NAMES = Array.from({ length: FILES }, (_, index) => `file-${index}.ts`);

/** @param {string} root */
function makeTree(root) {
  for (const [index, name] of FILE_NAMES.entries()) {
    const folder = join(root, ...foldersOf(index));
    if (index % FILES_PER_FOLDER === 0) mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, name), "");
  }
}

/**
 * Three levels of ten folders each.
 *
 * @param {number} index
 */
function foldersOf(index) {
  const folder = Math.floor(index / FILES_PER_FOLDER);
  return [...String(folder).padStart(3, "0")].map((digit) => `folder-${digit}`);
}
