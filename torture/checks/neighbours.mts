// Another program, the "neighbour", works in the folder in which a file is replaced. Its files must never be lost or
// duplicated, and every answer about them must be true. Patches replace a second file, too: both or none.

import type { Check, Control, Row, Setting } from "../kit/check.mts";
import { answerOf, nativeProgram, script, start, TIERS, type Tier } from "../kit/programs.mts";
import { inScratch } from "../kit/scratch.mts";

/** The neighbour's work, and how files are replaced meanwhile. */
interface Shape {
  name: string;
  /** The first argument of programs/neighbour.rs. */
  work: "exchange" | "edit" | "save" | "both";
  /** Whether it exchanges t.txt with a link. */
  link?: boolean;
  /** Whether each write has an `expectedHash`. */
  expects: boolean;
  durability: "full" | "none";
  /** The percentage of writes with this neighbour. */
  share: number;
}

const SHAPES: Shape[] = [
  { name: "exchanges two files", work: "exchange", expects: true, durability: "none", share: 25 },
  {
    ...{ name: "exchanges a file and a link", work: "exchange", link: true },
    ...{ expects: true, durability: "none", share: 20 },
  },
  { name: "edits in place", work: "edit", expects: true, durability: "none", share: 15 },
  { name: "exchanges and edits", work: "both", expects: true, durability: "none", share: 15 },
  { name: "saves by rename", work: "save", expects: true, durability: "none", share: 10 },
  {
    ...{ name: "exchanges two files; no expectedHash", work: "exchange" },
    ...{ expects: false, durability: "full", share: 5 },
  },
  {
    ...{ name: "exchanges a file and a link; no expectedHash", work: "exchange", link: true },
    ...{ expects: false, durability: "full", share: 5 },
  },
  {
    ...{ name: "exchanges two files; no expectedHash, not durable", work: "exchange" },
    ...{ expects: false, durability: "none", share: 5 },
  },
];

/** The counts of programs/beside-worker.mjs. */
interface Tally {
  operations: number;
  violations: number;
  /** How many files were kept beside the target and named by an answer. */
  kept: number;
  /** How many edits reached a file that had lost its name while it was opened. */
  nameless: number;
  examples: string[];
}

export const neighbours: Check = {
  name: "neighbours",
  async *run(setting) {
    if (process.platform !== "linux") {
      return yield { check: "a neighbour", where: "", notRun: "exchanging names is Linux's" };
    }
    for (const tier of TIERS) yield* onTier(tier, setting);
  },
};

/** The same, where files are patched. */
export async function* patchedBesideNeighbours(setting: Setting): AsyncGenerator<Row> {
  if (process.platform !== "linux") return;
  for (const tier of TIERS) yield* onTier(tier, setting, "patch");
}

async function* onTier(
  tier: Tier,
  { scale, say }: Setting,
  how: "ringfence" | "patch" = "ringfence",
): AsyncGenerator<Row> {
  const control: Control = { what: "compare, then rename over", operations: 0, violations: 0 };
  for (const shape of SHAPES.filter(({ expects, link }) => expects || link)) {
    const { operations, violations } = await beside(shape, tier, "naive", 160);
    control.operations += operations;
    control.violations += violations;
  }
  for (const shape of SHAPES) {
    // A patch tells by its lines what it expects.
    if (how === "patch" && !shape.expects) continue;
    const all = how === "patch" ? scale.of(1_000, 40_000) : scale.of(2_000, 200_000);
    const { kept, nameless, ...found } = await beside(shape, tier, how, (all * shape.share) / 100);
    if (kept > 0) say(`   kept beside, and named: ${kept}`);
    if (nameless > 0)
      say(`   edits of files that lost their name while they were opened: ${nameless}`);
    const check = `a neighbour ${shape.name}${how === "patch" ? "; patching" : ""}`;
    yield { check, where: tier, ...found, control };
  }
}

function beside(
  { work, link = false, expects, durability }: Shape,
  tier: Tier,
  how: "ringfence" | "patch" | "naive",
  writes: number,
): Promise<Tally> {
  return inScratch(async (base) => {
    const program = nativeProgram("neighbour");
    const job = { how, root: base, containment: tier, program, work, link, expects, durability };
    const worker = script("beside-worker.mjs", tier, JSON.stringify({ ...job, writes }));
    return answerOf<Tally>(start(worker, { timeout: 60 * 60_000 }));
  });
}
