// Many processes work on one name: exactly one creates it, no update or edit is lost, and every read is a whole version.

import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import type { Check, Row, Scale } from "../kit/check.mts";
import { answerOf, linesOf, script, start, TIERS, type Tier } from "../kit/programs.mts";
import { inScratch } from "../kit/scratch.mts";

const CREATORS = 64;
const COUNTERS = 8;
/** The naive way stops after it has gone wrong in so many rounds, or after the most rounds. */
const ENOUGH = 5;
const MOST_NAIVE_ROUNDS = 300;

interface Count {
  operations: number;
  violations: number;
  examples: string[];
}

export const races: Check = {
  name: "races",
  async *run({ scale }) {
    for (const tier of TIERS) {
      const [found, naive] = await oneWinner(tier, scale.of(40, 1_000));
      const control = { what: "exists?, then write", ...naive };
      yield rowOf(`${CREATORS} processes create one name`, tier, found, control);
    }
    for (const tier of TIERS) {
      yield rowOf(
        `${COUNTERS} processes count one file up`,
        tier,
        await noLostUpdate(tier, "ringfence", scale.of(800, 10_000)),
        { what: "without expectedHash", ...(await noLostUpdate(tier, "naive", 800)) },
      );
    }
    for (const tier of TIERS) {
      yield rowOf(
        "reading what is overwritten",
        tier,
        await noTornRead(tier, "ringfence", scale.of(10_000, 100_000)),
        { what: "write in place", ...(await noTornRead(tier, "naive", 10_000)) },
      );
    }
  },
};

/** Many processes edit one file, each a line of its own. */
export async function* editingTogether(scale: Scale): AsyncIterable<Row> {
  for (const tier of TIERS) {
    yield rowOf(
      `${COUNTERS} processes edit lines of one file`,
      tier,
      await noLostEdit(tier, "ringfence", scale.of(2_000, 10_000)),
      { what: "read, then write", ...(await noLostEdit(tier, "naive", 800)) },
    );
  }
}

function rowOf(check: string, where: Tier, found: Count, control: Count & { what: string }): Row {
  return { check, where, ...found, control };
}

/**
 * In each round all processes create one name at once, first by ringfence, then naively. A round without exactly
 * one success is a violation.
 */
async function oneWinner(tier: Tier, rounds: number): Promise<[Count, Count]> {
  return inScratch(async (base) => {
    const root = path.join(base, "ws");
    fs.mkdirSync(root);
    const gates = ["even", "odd"].map((name) => path.join(base, name));
    execFileSync("mkfifo", gates);
    const racers = Array.from({ length: CREATORS }, (_, number) =>
      start(script("racer.mjs", tier, root, String(number), String(rounds), ...gates)),
    );
    try {
      const lines = racers.map(linesOf);
      await Promise.all(lines.map((line) => line())); // "ready"
      const [found, naive]: [string[], string[]] = [[], []];
      let round = 0;
      const isEnough = () => naive.length >= ENOUGH || round >= rounds + MOST_NAIVE_ROUNDS;
      for (; round < rounds || !isEnough(); round++) {
        const outcomes = await oneRound(lines, gates[round % 2] ?? "");
        const wrong = wrongOutcome(outcomes, path.join(root, `${round}.txt`));
        if (wrong) (round < rounds ? found : naive).push(`round ${round}: ${wrong}`);
      }
      return [countOf(rounds, found), countOf(round - rounds, naive)];
    } finally {
      await Promise.all(racers.map((racer) => racer.kill()));
    }
  });
}

/** Starts all racers, and returns the result of each. */
async function oneRound(lines: (() => Promise<string>)[], gate: string): Promise<string[]> {
  // The FIFO stays open until the last racer has reported, so that late racers can start, too.
  const open = await fs.promises.open(gate, "w");
  const outcomes = await Promise.all(lines.map((line) => line()));
  await open.close();
  return outcomes;
}

function countOf(rounds: number, wrong: string[]): Count {
  const examples = wrong.slice(0, 5);
  return { operations: rounds * CREATORS, violations: wrong.length, examples };
}

function wrongOutcome(outcomes: string[], target: string): string | undefined {
  const winners = outcomes.flatMap((outcome, i) => (outcome === "won" ? [i] : []));
  if (winners.length !== 1) return `${winners.length} winners`;
  const odd = outcomes.find((outcome) => outcome !== "won" && outcome !== "FileExists");
  if (odd) return `a loser was told ${odd}`;
  const content = fs.readFileSync(target, "utf8");
  return content === String(winners[0]) ? undefined : `the file is ${content}'s, not the winner's`;
}

/** All processes increase one counter; a difference at the end is a lost update. */
async function noLostUpdate(tier: Tier, how: string, total: number): Promise<Count> {
  return inScratch(async (root) => {
    const file = path.join(root, "counter.txt");
    fs.writeFileSync(file, "0\n");
    const each = total / COUNTERS;
    await together(() => script("counter.mjs", tier, how, root, String(each)));
    const counted = Number(fs.readFileSync(file, "utf8"));
    const stray = fs.readdirSync(root).filter((name) => name !== "counter.txt");
    return {
      operations: total,
      violations: Math.abs(total - counted) + stray.length,
      examples: [`counted ${counted} of ${total}`, ...stray.map((name) => `left over: ${name}`)],
    };
  });
}

/** Starts the programs, lets them begin at the same moment, and returns their answers. */
async function together<T>(commandOf: (number: number) => string[]): Promise<T[]> {
  const programs = Array.from({ length: COUNTERS }, (_, number) => start(commandOf(number)));
  await Promise.all(programs.map(({ ready }) => ready));
  for (const { child } of programs) child.stdin?.write("\n");
  return Promise.all(programs.map((program) => answerOf<T>(program)));
}

/** Each process counts up the number in its line: a difference at the end is a lost edit. A refused one is a violation. */
async function noLostEdit(tier: Tier, how: string, total: number): Promise<Count> {
  return inScratch(async (root) => {
    const file = path.join(root, "lines.txt");
    const each = total / COUNTERS;
    fs.writeFileSync(
      file,
      Array.from({ length: COUNTERS }, (_, line) => `line ${line}: 0\n`).join(""),
    );
    const refused = await together<string[]>((line) =>
      script("editor.mjs", tier, how, root, String(line), String(each)),
    );
    const text = fs.readFileSync(file, "utf8");
    const lost = refused.map(
      (_, line) => each - Number(new RegExp(`^line ${line}: (\\d+)$`, "m").exec(text)?.[1] ?? 0),
    );
    const wrong = [
      ...lost.flatMap((count, line) => (count === 0 ? [] : [`line ${line} lacks ${count} edits`])),
      ...refused.flat(),
      ...fs.readdirSync(root).filter((name) => name !== "lines.txt"),
    ];
    const violations = lost.reduce((sum, count) => sum + Math.max(0, Math.abs(count) - 1), 0);
    return {
      operations: total,
      violations: violations + wrong.length,
      examples: wrong.slice(0, 5),
    };
  });
}

/** One process reads, another overwrites: each read must be one whole version. */
async function noTornRead(tier: Tier, how: string, times: number): Promise<Count> {
  return inScratch(async (root) => {
    const overwriter = start(script("overwriter.mjs", tier, how, root));
    await overwriter.ready;
    try {
      const reader = start(script("torn-reader.mjs", tier, root, String(times)));
      const { torn, odd, changes } = await answerOf<{
        torn: number;
        odd: string[];
        changes: number;
      }>(reader);
      const { code, stderr } = await overwriter.finish();
      if (code !== 0) throw new Error(`the overwriter ended with ${code}: ${stderr}`);
      if (changes < 10) throw new Error(`hardly anything was overwritten: ${changes} changes`);
      return { operations: times, violations: torn, examples: odd };
    } finally {
      await overwriter.kill();
    }
  });
}
