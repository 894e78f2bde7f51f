// @ts-check
// What is to be reached: ringfence divided by a contender, at most. Shown beside the ratios.

/**
 * By measurement and contender.
 *
 * @type {Record<string, Record<string, { node: number, bun: number }>>}
 */
const TARGETS = {
  "read 4 KiB on ext4": { "bare fs": { node: 0.15, bun: 0.7 } },
  "read 4 KiB on tmpfs": { "bare fs": { node: 0.25, bun: 1.3 } },
  "read 4 KiB on overlayfs": { "bare fs": { node: 0.3, bun: 1.6 } },
  "read 4 KiB, sync, on ext4": { "bare fs": { node: 1.3, bun: 1.8 } },
  "read 4 KiB, sync, on tmpfs": { "bare fs": { node: 1.3, bun: 1.8 } },
  "read 4 KiB, sync, on overlayfs": { "bare fs": { node: 1.3, bun: 1.8 } },
  "read 4 KiB, 50 rules": { "ringfence, without rules": { node: 1.5, bun: 1.5 } },
  "read 4 KiB, sync, 50 rules": { "ringfence, without rules": { node: 1.5, bun: 1.5 } },
  "edit a line of 100 KiB": {
    "MCP server-filesystem": { node: 0.5, bun: 0.5 },
    "ringfence, readFile and createFile": { node: 1.3, bun: 1.3 },
  },
  "a patch of 20 files, 5 hunks in each": { "git apply": { node: 0.5, bun: 0.5 } },
  "a patch of 2,000 hunks in 1 MiB": { "100 ms": { node: 1, bun: 1 } },
  "search for a rare literal": {
    "rg --json --sort path": { node: 0.8, bun: 0.8 },
    "rg --json": { node: 1.3, bun: 1.3 },
  },
  "search for a common word, the first 100": {
    "rg --json --sort path": { node: 0.8, bun: 0.8 },
    "rg --json": { node: 1.3, bun: 1.3 },
  },
  "search for a class": {
    "rg --json --sort path": { node: 0.8, bun: 0.8 },
    "rg --json": { node: 1.3, bun: 1.3 },
  },
  "search for a rare literal, hand-written": { "readdir and RegExp": { node: 0.1, bun: 0.1 } },
  "find **/*.ts among dependencies": { "rg --files -g": { node: 0.8, bun: 0.8 } },
  "find **/*.ts among 100000 files": { "rg --files -g": { node: 0.8, bun: 0.8 } },
  "50 files of 4 KiB": { "ringfence, a call for each": { node: 0.6, bun: 0.6 } },
  "event-loop delay p99, 100 files of 1 MiB at once": { "bare fs": { node: 1, bun: 1 } },
  "size of the stripped addon": { "4 MiB": { node: 1, bun: 1 } },
};

/**
 * @param {string} id Of the measurement.
 * @param {string} contender
 * @param {string} runtime
 */
export function limitOf(id, contender, runtime) {
  return TARGETS[id]?.[contender]?.[runtime.startsWith("Bun") ? "bun" : "node"];
}
