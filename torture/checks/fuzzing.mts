// Compares the parsers with models: for the committed corpora, and in the long run for new inputs, too.

import fs from "node:fs";
import { fileURLToPath } from "node:url";
import type { Check, Row } from "../kit/check.mts";
import { start } from "../kit/programs.mts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const SECONDS = 600;

export const fuzzing: Check = {
  name: "fuzzing",
  async *run({ scale, say }) {
    const found = await replay();
    for (const target of fs.readdirSync(`${ROOT}/fuzz/corpus`)) yield rowOf(target, found);
    if (!scale.long) return;
    const installed = await start(["cargo", "fuzz", "--version"]).ended;
    for (const target of fs.readdirSync(`${ROOT}/fuzz/corpus`)) {
      say(`fuzzing ${target} for ${SECONDS} s`);
      yield installed.code === 0
        ? await fuzz(target)
        : { check: `fuzzing: ${target}`, where: "core", notRun: "cargo-fuzz is missing" };
    }
  },
};

interface Replay {
  code: number | string | null;
  stdout: string;
}

/** Runs tests/fuzz_corpus.rs, which prints how many inputs it has replayed. */
async function replay(): Promise<Replay> {
  const test = ["cargo", "test", "--quiet", "--test", "fuzz_corpus", "--", "--nocapture"];
  return start(test, { cwd: ROOT }).ended;
}

function rowOf(target: string, { code, stdout }: Replay): Row {
  const count = (what: string) =>
    Number(new RegExp(`${what} ${target} (\\d+)`).exec(stdout)?.[1] ?? 0);
  const operations = count("replayed");
  const control = count("control");
  const failed = code !== 0 && operations === 0;
  return {
    check: `corpus: ${target}`,
    where: "core",
    ...{ operations, violations: failed ? 1 : 0 },
    examples: failed ? stdout.split("\n").slice(-20) : [],
    // Two older targets have properties instead of a model.
    control: /^(?:file_uri|source_request)$/.test(target)
      ? { none: "properties, not a model" }
      : { what: "a model with a mistake", operations, violations: control },
  };
}

/** Searches for new failing inputs, starting from the corpus, without adding to it. */
async function fuzz(target: string): Promise<Row> {
  const env = { ...process.env, RUSTC_BOOTSTRAP: "1" };
  const options = [`-max_total_time=${SECONDS}`, "-print_final_stats=1"];
  const folders = [`fuzz/target/torture/${target}`, `fuzz/corpus/${target}`];
  fs.mkdirSync(`${ROOT}/${folders[0]}`, { recursive: true });
  const command = ["cargo", "fuzz", "run", target, ...folders, "--", ...options];
  const { code, stderr } = await start(command, { cwd: ROOT, env }).ended;
  const operations = Number(/number_of_executed_units: (\d+)/.exec(stderr)?.[1] ?? 0);
  return {
    check: `fuzzing: ${target}`,
    where: "core",
    ...{ operations, violations: code === 0 ? 0 : 1 },
    examples: code === 0 ? [] : stderr.split("\n").slice(-25),
    control: { none: "its corpus has one" },
  };
}
