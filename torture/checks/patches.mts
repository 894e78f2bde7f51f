// What the other checks do to files that are created, overwritten, edited and moved, done to files that are patched.

import type { Check } from "../kit/check.mts";
import { patchesUnderFaults } from "./faults.mts";
import { underKills } from "./kills.mts";
import { patchedBesideNeighbours } from "./neighbours.mts";
import { underSwaps } from "./swaps.mts";

export const patches: Check = {
  name: "patches",
  async *run(setting) {
    const { scale } = setting;
    const kills = { core: scale.of(80, 2_000), addon: scale.of(8, 100) };
    yield* underSwaps(setting, ["patch"]);
    yield* underKills(setting, ["patch"], kills);
    yield* patchedBesideNeighbours(setting);
    yield* patchesUnderFaults(setting);
  },
};
