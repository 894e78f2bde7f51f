// @ts-check
// Files by glob, in an installed dependency tree and in a made one, against `rg --files -g`, whose process start
// counts. Both look at the same files.

import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { ROOT } from "../../scripts/lib/project.mjs";
import { loadRingfence } from "../contenders/ringfence.mjs";
import { makeTree } from "./snapshot.mjs";

/** At most so many paths are compared and returned. */
const FIRST = 100;

/** @param {import("../measure.mjs").Bench} bench */
export async function find(bench) {
  if (spawnSync("rg", ["--version"]).error) {
    bench.missing.push("find: rg is not installed (Debian's package is ripgrep)");
    return;
  }
  const dependencies = join(ROOT, "node_modules");
  await findIn(bench, "find **/*.ts among dependencies", dependencies, "**/*.ts");
  await findIn(bench, "find a rare name among dependencies", dependencies, "tsconfig.json");
  const made = join(bench.root, "found-tree");
  makeTree(made);
  await findIn(bench, "find **/*.ts among 100000 files", made, "**/*.ts");
}

/**
 * @param {import("../measure.mjs").Bench} bench
 * @param {string} name
 * @param {string} root
 * @param {string} glob
 */
async function findIn(bench, name, root, glob) {
  const { findFiles, Workspace } = loadRingfence();
  const workspace = Workspace.open(root);
  const everything = { gitignore: false, default_excludes: false, exclude: ".git" };
  const args = ["--files", "--no-ignore", "--hidden", "-g", glob, "-g", "!.git"];
  await bench.time(
    name,
    [
      {
        name: "ringfence",
        run: () => findFiles(workspace, { ...everything, patterns: glob, max_results: FIRST }),
        answer: (/** @type {import("../../index.js").FindFilesResult} */ { total, items }) => [
          total,
          ...items.map(({ path }) => path),
        ],
      },
      {
        name: "rg --files -g",
        run: () => spawnSync("rg", args, { cwd: root, encoding: "utf8", maxBuffer: 2 ** 28 }),
        sync: true,
        answer: ({ stdout }) => {
          const paths = stdout.split("\n").filter(Boolean).sort();
          return [paths.length, ...paths.slice(0, FIRST)];
        },
      },
    ],
    { calls: 1, rounds: 30 },
  );
  workspace.close();
}
