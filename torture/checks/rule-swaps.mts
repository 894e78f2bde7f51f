// Swaps names with links to files that access rules protect, all inside the workspace. The protected files themselves
// stay where they are: a program that renames one takes it away from its rules, which is no attack on ringfence.

import fs from "node:fs";
import path from "node:path";
import type { AccessRules } from "../../index.js";
import type { Check } from "../kit/check.mts";
import { TIERS } from "../kit/programs.mts";
import { underExchanges } from "./rule-exchanges.mts";
import { type Action, attack, fileAndLink, SHAPES, type Shape, VAULT } from "./swaps.mts";

/** Rules under which nothing in the vault may be read: by its folder, and by what stands in it. */
const UNREADABLE: AccessRules[] = [{ deny: [VAULT] }, { deny: [`/${VAULT}/**`] }];

/** Rules under which nothing in the vault may be changed, by each of the lists. */
const UNWRITABLE: AccessRules[] = [
  ...UNREADABLE,
  { read_only: [`${VAULT}/`] },
  { read_only: [`/${VAULT}/**`] },
  { write_only: ["/*", `!/${VAULT}`] },
];

const RULES: Record<Action, AccessRules[]> = {
  ...{ read: UNREADABLE, list: UNREADABLE, search: UNREADABLE },
  ...{ write: UNWRITABLE, edit: UNWRITABLE, patch: UNWRITABLE },
  ...{ move: UNWRITABLE, folder: UNWRITABLE },
};

const EVERY_ACTION: Action[] = ["read", "list", "search", "write", "edit", "move", "patch"];

/** Tried in the first shape alone, but for a long run: each of their calls takes several milliseconds. */
const LONG_ALONE: Action[] = ["edit", "move", "patch"];

/** A shape of swaps, and what is done meanwhile. */
interface Battle {
  shape: Shape;
  actions: Action[];
}

const BATTLES: Battle[] = [
  ...SHAPES.map((shape) => ({ shape, actions: EVERY_ACTION })),
  {
    shape: fileAndLink("file ↔ relative link", ({ at, out }, name) =>
      path.relative(at(""), out(name)),
    ),
    actions: EVERY_ACTION,
  },
  {
    shape: {
      ...fileAndLink("file ↔ link to nothing", ({ out }) => out("absent.txt")),
      hidesAbsence: true,
    },
    // Nothing can be found or moved where nothing stands.
    actions: ["read", "write", "edit", "patch"],
  },
  {
    shape: {
      name: "links moved in",
      folder: "heap",
      homes: ["heap"],
      lay: ({ at, out }) => fs.symlinkSync(out(""), at("other")),
      reading: ({ at, out }) =>
        ["heap", "moved"].flatMap((folder) => [
          ...["link", out(""), at("other"), "exchange", at(`${folder}/sub`), at("other")],
          ...["link", out("a.txt"), at("next"), "rename", at("next"), at(`${folder}/link`)],
        ]),
    },
    actions: ["folder"],
  },
];

export const ruleSwaps: Check = {
  name: "rules",
  async *run({ scale }) {
    for (const { shape, actions } of BATTLES) {
      for (const action of actions) {
        if (action === "list" && !shape.isListed) continue;
        if (!scale.long && LONG_ALONE.includes(action) && shape !== BATTLES[0]?.shape) continue;
        for (const tier of TIERS) {
          // Of the patches that meet a file ↔ link, about 1 in 100 is answered, and one at least must be.
          const operations = scale.of(action === "patch" ? 1_200 : 200, 3_000);
          const settings = { shape, action, tier, rules: RULES[action], subject: "ringfence" };
          yield await attack({ ...settings, operations, controls: operations });
        }
      }
    }
    const operations = scale.of(600, 6_000);
    yield* underExchanges(operations, Math.min(operations, 600));
  },
};
