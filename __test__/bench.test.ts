// The parts of `npm run bench` that decide what it says. What is measured is measured nowhere here.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { figure, interleave } from "../bench/lib/interleave.mjs";
import { growthExponent, median, quantile } from "../bench/lib/statistics.mjs";
import { growthVerdicts, ratio, verdicts } from "../bench/lib/verdicts.mjs";
import { nativeTargets, targets } from "../bench/targets.mjs";

const EFFORT = { rounds: 2, calls: 3 };

function result(measurements: { id: string; timings: ReturnType<typeof figure>[] }[]) {
  return {
    runtime: "Node 24.0.0",
    versions: {},
    missing: [],
    measurements: measurements.map((measurement) => ({ unit: "µs", ...measurement })),
  };
}

describe("interleave", () => {
  test("gives each contender as many calls, and says the median of each round", async () => {
    const calls: Record<string, number> = {};
    const task = (name: string, sync: boolean) => ({
      name,
      sync,
      run() {
        calls[name] = (calls[name] ?? 0) + 1;
        return sync ? "answer" : Promise.resolve("answer");
      },
      answer: (given: unknown) => given,
    });
    const timings = await interleave([task("one", true), task("other", false)], EFFORT);
    assert.equal(calls.one, calls.other);
    assert.deepEqual(
      timings.map(({ name, rounds }) => [name, rounds.length]),
      [
        ["one", 2],
        ["other", 2],
      ],
    );
  });

  test("times nobody whose answer is another one", async () => {
    const task = (name: string) => ({ name, run: () => name, answer: (given: unknown) => given });
    await assert.rejects(interleave([task("one"), task("other")], EFFORT), {
      message: /^other does not answer what one does: "other" instead of "one"$/u,
    });
  });
});

describe("statistics", () => {
  test("quantiles are of the nearest rank", () => {
    const values = Array.from({ length: 100 }, (_, index) => 100 - index);
    assert.deepEqual(
      [quantile(values, 0.99), median(values), quantile(values, 0), quantile([7], 0.99)],
      [99, 50, 1, 7],
    );
  });

  test("a cost in proportion to the work has the exponent 1, a constant one 0, a square 2", () => {
    for (const exponent of [0, 1, 2]) {
      const points = [1, 4, 64].map((work) => ({ work, cost: 3 * work ** exponent }));
      assert.ok(Math.abs(growthExponent(points) - exponent) < 1e-9);
    }
  });
});

describe("verdicts", () => {
  const id = "read 4 KiB, sync";
  const only = ["read"];
  const about = (measured: Parameters<typeof result>[0]) =>
    verdicts(targets, only, result(measured)).find(
      (verdict) => verdict.id === id && verdict.what === "ringfence ÷ bare fs",
    );

  test("a target is met up to its limit and missed above", () => {
    const measured = (ours: number) => [
      { id, timings: [figure("ringfence", ours), figure("bare fs", 1)] },
    ];
    assert.equal(about(measured(1.3))?.met, true);
    assert.equal(about(measured(1.31))?.met, false);
  });

  test("a target about which nothing was measured is not met, and shows", () => {
    assert.deepEqual(about([]), {
      id,
      what: "ringfence ÷ bare fs",
      value: undefined,
      atMost: 1.3,
      met: false,
    });
  });

  test("a ratio is of the medians, its spread of the rounds", () => {
    const timing = (p50: number, rounds: number[]) => ({ name: "any", p50, p99: p50, rounds });
    assert.deepEqual(ratio(timing(2, [1, 2, 9]), timing(4, [4, 4, 3])), {
      value: 0.5,
      spread: [0.25, 3],
    });
  });

  test("growth is judged by the end of the curve", () => {
    const costs = [1, 1, 1, 10, 100, 1000];
    const measurements = costs.map((cost, index) => ({
      id: `growth ${index}`,
      unit: "µs",
      timings: [figure("ringfence", cost)],
      growth: { axis: "work", work: 10 ** index },
    }));
    const [verdict] = growthVerdicts({ ...result([]), measurements });
    assert.ok(Math.abs((verdict?.value ?? 0) - 1) < 1e-9);
    assert.equal(verdict?.met, true);
  });

  test("no two targets are about the same", () => {
    const names = [...targets, ...nativeTargets].map(
      (target) => `${target.id}: ${target.ours} ÷ ${target.theirs}`,
    );
    assert.equal(new Set(names).size, names.length);
  });
});
