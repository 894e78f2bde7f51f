// Exchanges what stands at a name for something that access rules protect there: a file for a folder, under a rule for
// folders alone, and a folder for one that holds a protected file.

import fs from "node:fs";
import path from "node:path";
import type { AccessRules } from "../../index.js";
import type { Row } from "../kit/check.mts";
import { answerOf, nativeProgram, script, start, TIERS, type Tier } from "../kit/programs.mts";
import { inScratch } from "../kit/scratch.mts";
import { countLeftovers, type Tallies } from "./swaps.mts";

/** An exchange, and what is done meanwhile. */
interface Exchange {
  check: string;
  action: "look" | "folder";
  control: string;
  /** The two names that are exchanged. */
  names: [string, string];
  rules: AccessRules[];
}

const EXCHANGES: Exchange[] = [
  {
    check: "rules, reading and listing: file ↔ folder",
    action: "look",
    control: "stat, then readFile or readdir",
    names: ["keep", "spare"],
    rules: [{ deny: ["keep/"] }],
  },
  {
    check: "rules, moving and deleting a folder: folder ↔ folder",
    action: "folder",
    control: "readdir, then rename or rm -r",
    names: ["heap", "spare"],
    rules: [{ read_only: [".env"] }, { deny: [".env"] }],
  },
];

/** All exchanges on all tiers. */
export async function* underExchanges(operations: number, controls: number): AsyncIterable<Row> {
  for (const exchange of EXCHANGES) {
    for (const tier of TIERS) yield await attack(exchange, tier, { operations, controls });
  }
}

type Amounts = Record<"operations" | "controls", number>;

async function attack(exchange: Exchange, tier: Tier, amounts: Amounts): Promise<Row> {
  const { check, control: what } = exchange;
  const { subject, control } = await inScratch((base) => fight(exchange, tier, amounts, base));
  if (subject.answered === 0) throw new Error(`${check}: everything was refused`);
  const { operations, violations, examples } = subject;
  const { operations: controls, violations: leaks } = control;
  return {
    ...{ check, where: tier, operations, violations, examples },
    control: { what, operations: controls, violations: leaks },
  };
}

async function fight(
  { action, names, rules }: Exchange,
  tier: Tier,
  amounts: Amounts,
  base: string,
): Promise<Tallies> {
  const root = path.join(base, "ws");
  fs.mkdirSync(root);
  const job = { containment: tier, action, root, rules, ...amounts, mostControls: 200_000 };
  const swapper = start([
    nativeProgram("swapper"),
    "exchange",
    ...names.map((name) => path.join(root, name)),
  ]);
  await swapper.ready;
  try {
    const worker = start(script("exchange-worker.mjs", tier, JSON.stringify(job)));
    const tallies = await answerOf<Tallies>(worker);
    await swapper.finish();
    countLeftovers(root, tallies.subject);
    return tallies;
  } finally {
    await swapper.kill();
  }
}
