// @ts-check
// What is to be reached, as ratios of medians within one run.

/**
 * @typedef {object} Target
 * @property {string} id Of the measurement.
 * @property {string} ours
 * @property {string} theirs A contender's name.
 * @property {Limits} atMost
 */

/** @typedef {{ node: number, bun: number }} Limits */

const PEERS = [
  "MCP server-filesystem",
  "@openclaw/fs-safe",
  "Mastra LocalFilesystem",
  "deepagents",
];

/** @type {Target[]} */
export const targets = [
  ours("read 4 KiB", "bare fs", { node: 0.12, bun: 0.6 }),
  ...PEERS.map((peer) => ours("read 4 KiB", peer, { node: 0.07, bun: 0.15 })),
  {
    id: "read 4 KiB",
    ours: "ringfence, plain context",
    theirs: "ringfence",
    atMost: both(1.4),
  },
  ours("read 4 KiB, sync", "bare fs", { node: 1.3, bun: 1.8 }),
  ours("read 4 KiB, sync", "hand-written tool", { node: 0.4, bun: 0.5 }),
  ...windowTargets(),
  ours("64 reads of 4 KiB in flight, per read", "hand-written tool", { node: 0.2, bun: 0.4 }),
];

function windowTargets() {
  return ["ascii", "cjk"].flatMap((script) =>
    ["start", "middle", "end"].flatMap((position) => {
      const id = `200 lines of 1 MiB ${script}, ${position}`;
      return [
        ours(id, "hand-written tool", both(0.1)),
        ...PEERS.map((peer) => {
          // The server has a head and a tail that skip the rest of the file.
          const skips = peer === "MCP server-filesystem" && position !== "middle";
          return ours(id, peer, both(skips ? 0.5 : 0.25));
        }),
      ];
    }),
  );
}

/**
 * @param {string} id
 * @param {string} theirs
 * @param {Limits} atMost
 * @returns {Target}
 */
function ours(id, theirs, atMost) {
  return { id, ours: "ringfence", theirs, atMost };
}

/** @param {number} limit */
function both(limit) {
  return { node: limit, bun: limit };
}
