// @ts-check
// What is to be reached, as ratios of medians within one run.

/**
 * @typedef {object} Target
 * @property {string} item By which it is measured, as `--only` calls it.
 * @property {string} id Of the measurement.
 * @property {string} ours
 * @property {string} theirs What it is divided by.
 * @property {Limits} atMost
 */

/** @typedef {{ node: number, bun: number }} Limits */

const PEERS = [
  "MCP server-filesystem",
  "@openclaw/fs-safe",
  "Mastra LocalFilesystem",
  "deepagents",
];

const DELAY = "event-loop delay p99, 100 files of 1 MiB at once";

/**
 * What is measured in each runtime.
 *
 * @type {readonly Target[]}
 */
export const targets = [
  ours("read", "read 4 KiB", "bare fs", { node: 0.12, bun: 0.6 }),
  ...PEERS.map((peer) => ours("read", "read 4 KiB", peer, { node: 0.07, bun: 0.15 })),
  {
    ...ours("read", "read 4 KiB", "ringfence", both(1.4)),
    ours: "ringfence, plain context",
  },
  ours("read", "read 4 KiB, sync", "bare fs", { node: 1.3, bun: 1.8 }),
  ours("read", "read 4 KiB, sync", "hand-written tool", { node: 0.4, bun: 0.5 }),
  ...windowTargets(),
  ...["ascii", "cjk"].flatMap((script) => startAgainstEnd(script)),
  ours("flight", "64 reads of 4 KiB in flight, per read", "hand-written tool", {
    node: 0.2,
    bun: 0.4,
  }),
  // Both are the same work through `fs.promises`: with the window cut, and without.
  ours("loop", DELAY, "hand-written tool", both(0.5)),
  ours("loop", DELAY, "bare fs", both(0.5)),
  ours("create", "create 16 KiB, synced", "write-file-atomic", both(1)),
  ours("create", "create 16 KiB, not synced", "write-file-atomic", { node: 0.3, bun: 0.5 }),
  ours("loading", "require, in a new process", "an empty addon", both(1.5)),
  {
    item: "memory",
    id: "resident memory while reading 1,000,000 times",
    ours: "after 100 %",
    theirs: "after 40 %",
    // What allocators and engines move about. An object that is left behind by each read has 16
    // bytes at least, and 600,000 of them are a fifth of the whole.
    atMost: both(1.05),
  },
  ours("snapshot", "workspaceSnapshot of 100000 files", "rg --files", both(1.2)),
];

/**
 * What is measured without a runtime.
 *
 * @type {readonly Target[]}
 */
export const nativeTargets = [
  ours("size", "size of the stripped addon", "1.5 MiB", both(1)),
  ours("core", "Rust: read 4 KiB", "bare openat2, fstat, read, close", both(1.2)),
  ...["ASCII", "CJK"].map((script) =>
    ours("core", `Rust: count lines and check UTF-8 of 1 MiB, ${script}`, "6 GB per s", both(1)),
  ),
  ours("core", "Rust: resolveFileUri", "1 µs", both(1)),
];

/** How steeply costs may grow: 1 is linear; the rest is for noise. */
export const GROWTH_EXPONENT_AT_MOST = 1.1;

/** @param {string} script */
function startAgainstEnd(script) {
  const id = `200 lines of 1 MiB ${script}, start and end`;
  return [
    { ...ours("window", id, "end", both(1.3)), ours: "start" },
    { ...ours("window", id, "start", both(1.3)), ours: "end" },
  ];
}

function windowTargets() {
  return ["ascii", "cjk"].flatMap((script) =>
    ["start", "middle", "end"].flatMap((position) => {
      const id = `200 lines of 1 MiB ${script}, ${position}`;
      return [
        ours("window", id, "hand-written tool", both(0.1)),
        ...PEERS.map((peer) => {
          // The server has a head and a tail that skip the rest of the file.
          const skips = peer === "MCP server-filesystem" && position !== "middle";
          return ours("window", id, peer, both(skips ? 0.5 : 0.25));
        }),
      ];
    }),
  );
}

/**
 * @param {string} item
 * @param {string} id
 * @param {string} theirs
 * @param {Limits} atMost
 * @returns {Target}
 */
function ours(item, id, theirs, atMost) {
  return { item, id, ours: "ringfence", theirs, atMost };
}

/** @param {number} limit */
function both(limit) {
  return { node: limit, bun: limit };
}
