// @ts-check
// Searches of an installed dependency tree, against `rg --json`, whose process start counts, and against
// a walk in JavaScript. All look at the same files: nothing is left out but large and binary ones.

import { spawnSync } from "node:child_process";
import { promises } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../scripts/lib/project.mjs";
import { loadRingfence } from "../contenders/ringfence.mjs";

/** At most so many matches are compared and returned. */
const FIRST = 100;

const SEARCHES = [
  { name: "a rare literal", pattern: "MAX_SAFE_COMPONENT_LENGTH" },
  { name: "a common word, the first 100", pattern: "function" },
  { name: "a class", pattern: "[A-Z]\\w+Exception\\b" },
];

/** @param {import("../measure.mjs").Bench} bench */
export async function search(bench) {
  if (spawnSync("rg", ["--version"]).error) {
    bench.missing.push("search: rg is not installed (Debian's package is ripgrep)");
    return;
  }
  const root = join(ROOT, "node_modules");
  const { searchFiles, Workspace } = loadRingfence();
  const workspace = Workspace.open(root);
  const everything = { gitignore: false, default_excludes: false, timeout_ms: 30_000 };
  for (const { name, pattern } of SEARCHES) {
    await bench.time(
      `search for ${name}`,
      [
        {
          name: "ringfence",
          run: () => searchFiles(workspace, { ...everything, pattern, max_results: FIRST }),
          answer: placesOf,
        },
        ...[["--sort", "path"], []].map((order) => ({
          name: ["rg --json", ...order].join(" "),
          run: () => ripgrep(root, ["--json", ...order, "-e", pattern, "."]),
          sync: true,
          answer: matchesOf,
        })),
      ],
      { calls: 1, rounds: 15 },
    );
  }
  const pattern = SEARCHES[0]?.pattern ?? "";
  await bench.time(
    "search for a rare literal, hand-written",
    [
      {
        name: "ringfence",
        run: () => searchFiles(workspace, { ...everything, pattern, max_results: FIRST }),
        answer: placesOf,
      },
      {
        name: "readdir and RegExp",
        run: () => byHand(root, new RegExp(pattern)),
        answer: firstPlaces,
      },
    ],
    { calls: 1, rounds: 3 },
  );
  workspace.close();
}

/** @param {{ items: { path: string, line: number }[] }} found */
function placesOf({ items }) {
  return items.map(({ path, line }) => `${path}:${line}`);
}

/**
 * @param {string} root
 * @param {string[]} args
 */
function ripgrep(root, args) {
  const everything = ["--no-ignore", "--hidden", "-g", "!.git", "--max-filesize", "1M"];
  return spawnSync("rg", [...everything, ...args], {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 2 ** 30,
  });
}

/** @param {{ stdout: string }} run */
function matchesOf({ stdout }) {
  const matches = stdout
    .split("\n")
    .filter((line) => line.startsWith('{"type":"match"'))
    .map((line) => JSON.parse(line).data);
  return firstPlaces(
    matches.flatMap(({ path, line_number, submatches }) =>
      submatches.map(() => [path.text.replace(/^\.\//, ""), line_number]),
    ),
  );
}

/** @param {[path: string, line: number][]} places */
function firstPlaces(places) {
  places.sort(([one, line], [other, otherLine]) => byUnits(one, other) || line - otherLine);
  return places.slice(0, FIRST).map(([path, line]) => `${path}:${line}`);
}

/**
 * @param {string} root
 * @param {RegExp} regexp
 */
async function byHand(root, regexp) {
  /** @type {[path: string, line: number][]} */
  const found = [];
  for (const entry of await promises.readdir(root, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    const info = await promises.stat(path);
    if (info.size > 1_048_576) continue;
    const bytes = await promises.readFile(path);
    if (bytes.subarray(0, 8192).includes(0)) continue;
    const lines = bytes.toString("utf8").split(/\r?\n/);
    for (const [index, line] of lines.entries()) {
      if (regexp.test(line)) found.push([path.slice(root.length + 1), index + 1]);
    }
  }
  return found;
}

/**
 * @param {string} one
 * @param {string} other
 */
function byUnits(one, other) {
  return one < other ? -1 : one > other ? 1 : 0;
}
