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
  if (spawnSync("rg", ["--version"]).error) {
    bench.missing.push("snapshot: rg is not installed (Debian's package is ripgrep)");
    return;
  }
  const root = join(bench.root, "tree");
  makeTree(root);
  const { workspaceSnapshot, Workspace } = loadRingfence();
  const workspace = Workspace.open(root);
  const options = { maxDepth: 100, maxEntries: 200_000 };
  await bench.time(
    `workspaceSnapshot of ${FILES} files`,
    [
      {
        name: "ringfence",
        run: () => workspaceSnapshot(workspace, options),
        answer: ({ entries }) => filesAmong(entries).sort(),
      },
      {
        name: "rg --files",
        run: () =>
          spawnSync("rg", ["--files"], { cwd: root, encoding: "utf8", maxBuffer: 2 ** 28 }),
        sync: true,
        answer: ({ stdout }) => stdout.trimEnd().split("\n").sort(),
      },
    ],
    { calls: 1, rounds: 30 },
  );
}

/** @param {readonly string[]} entries */
function filesAmong(entries) {
  return entries.filter((entry) => !entry.endsWith("/"));
}

const FILE_NAMES = Array.from({ length: FILES }, (_, index) => `file-${index}.ts`);

/** @param {string} root */
export function makeTree(root) {
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
