// The torture kit: attacks, crashes, races and faults, each with a naive control that has to fail.
//
//     npm run torture -- [--long] [--peers] [--only NAME[,NAME…]] [--demand-all] [--seed N]
//
// Prints one table. Ends with 1 if anything was violated, or if a control did not fail.

import { parseArgs } from "node:util";
import { edits } from "./checks/edits.mts";
import { faults } from "./checks/faults.mts";
import { fuzzing } from "./checks/fuzzing.mts";
import { kills } from "./checks/kills.mts";
import { memory } from "./checks/memory.mts";
import { neighbours } from "./checks/neighbours.mts";
import { patches } from "./checks/patches.mts";
import { races } from "./checks/races.mts";
import { resources } from "./checks/resources.mts";
import { ruleSwaps } from "./checks/rule-swaps.mts";
import { scarcity } from "./checks/scarcity.mts";
import { swaps } from "./checks/swaps.mts";
import { tiers } from "./checks/tiers.mts";
import { type Check, isFailure, type Row, type Setting } from "./kit/check.mts";
import { buildPrograms } from "./kit/programs.mts";
import { lineOf, tableOf } from "./kit/table.mts";

const CHECKS: Check[] = [
  swaps,
  kills,
  races,
  neighbours,
  faults,
  edits,
  patches,
  ruleSwaps,
  scarcity,
  tiers,
  resources,
  memory,
  fuzzing,
];

const HELP = `npm run torture -- [options]

  --long         the full figures; without it, about two and a half minutes
  --peers        also attack other packages, installed from npm for the time of the run
  --only NAMES   some of the checks: ${CHECKS.map(({ name }) => name).join(", ")}
  --demand-all   what cannot be run here is a failure
  --seed N       where random choices start
`;

const { values: options } = parseArgs({
  options: {
    long: { type: "boolean", default: false },
    peers: { type: "boolean", default: false },
    only: { type: "string" },
    "demand-all": { type: "boolean", default: false },
    seed: { type: "string" },
    help: { type: "boolean", default: false },
  },
});

// After these signals the process ends its programs and removes its folders.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.on(signal, () => process.exit(1));
}

if (options.help) console.log(HELP);
else if (process.platform === "win32") console.log("the torture kit runs on Linux and macOS");
else process.exitCode = await torture();

async function torture(): Promise<number> {
  const say = (text: string) => process.stderr.write(`${text}\n`);
  const { long, peers } = options;
  const seed = Number(options.seed ?? Date.now() % 1_000_000);
  const scale = { long, of: (short: number, full: number) => (long ? full : short) };
  const setting: Setting = { scale, peers, seed, say };
  say(`seed ${seed}`);
  await buildPrograms();

  const rows: Row[] = [];
  for (const check of chosen()) {
    say(`== ${check.name}`);
    let begun = performance.now();
    for await (const row of check.run(setting)) {
      say(`   ${((performance.now() - begun) / 1000).toFixed(1)} s: ${lineOf(row)}`);
      rows.push(row);
      begun = performance.now();
    }
  }
  console.log(tableOf(rows));
  return report(rows);
}

function chosen(): Check[] {
  if (options.only === undefined) return CHECKS;
  return options.only.split(",").map((name) => {
    const check = CHECKS.find((check) => check.name === name);
    if (!check) throw new Error(`no check is called ${name}\n${HELP}`);
    return check;
  });
}

/** Prints the failures, and returns the exit code. */
function report(rows: Row[]): number {
  const failures = rows.filter((row) => isFailure(row, options["demand-all"]));
  for (const row of failures) {
    console.log(`\n${lineOf(row)}`);
    if ("examples" in row) for (const example of row.examples) console.log(`   ${example}`);
  }
  return failures.length === 0 ? 0 : 1;
}
