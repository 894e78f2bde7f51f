// Compares the two tiers on random trees.

import type { Check } from "../kit/check.mts";
import { answerOf, nativeProgram, start } from "../kit/programs.mts";

interface Tally {
  operations: number;
  violations: number;
  examples: string[];
}

export const tiers: Check = {
  name: "tiers",
  async *run({ scale, seed }) {
    const head = { check: "kernel and walk answer alike", where: "both" };
    if (process.platform !== "linux") return yield { ...head, notRun: "there is one tier only" };
    const count = scale.of(10_000, 200_000);
    const program = start([nativeProgram("differential"), String(seed), String(count)]);
    const { control, ...found } = await answerOf<Tally & { control: Tally }>(program);
    yield {
      ...head,
      ...found,
      control: { what: "follow links by spelling", ...control },
    };
  },
};
