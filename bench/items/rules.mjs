// @ts-check
// The same read with access rules: 50 patterns, as `SECRET_PATHS` begins.

import { SECRET_PATHS } from "../../dist/definitions/index.mjs";
import { loadRingfence } from "../contenders/ringfence.mjs";
import { put, textOf } from "../lib/files.mjs";

/** @typedef {import("../measure.mjs").Bench} Bench */

const PATTERNS = 50;

/** @param {Bench} bench */
export async function rules(bench) {
  const { readFile, readFileSync, Workspace } = loadRingfence();
  const path = put(bench.root, "src/tools/rules.ts", textOf(4096));
  const deny = SECRET_PATHS.slice(0, PATTERNS);
  const contexts = [
    { name: "ringfence", context: Workspace.open(bench.root, { rules: { deny } }) },
    { name: "ringfence, without rules", context: Workspace.open(bench.root) },
  ];
  /** @param {import("../../index.js").ReadFileOutput} output */
  const answer = ({ content }) => content;
  await bench.time(
    `read 4 KiB, ${PATTERNS} rules`,
    contexts.map(({ name, context }) => ({ name, run: () => readFile(context, path), answer })),
    { calls: 50 },
  );
  await bench.time(
    `read 4 KiB, sync, ${PATTERNS} rules`,
    contexts.map(({ name, context }) => ({
      name,
      run: () => readFileSync(context, path),
      sync: true,
      answer,
    })),
    { calls: 50 },
  );
}
