// What the other checks do to files that are created and overwritten, done to files that are edited, and swaps to
// files that are moved and deleted, too. Q82 is among it.

import type { Check } from "../kit/check.mts";
import { editsUnderFaults } from "./faults.mts";
import { underKills } from "./kills.mts";
import { editingTogether } from "./races.mts";
import { underSwaps } from "./swaps.mts";

export const edits: Check = {
  name: "edits",
  async *run(setting) {
    const { scale } = setting;
    const kills = { core: scale.of(80, 2_000), addon: scale.of(8, 100) };
    yield* underSwaps(setting, ["edit", "move"]);
    yield* underKills(setting, ["edit"], kills);
    yield* editingTogether(scale);
    yield* editsUnderFaults(setting);
  },
};
