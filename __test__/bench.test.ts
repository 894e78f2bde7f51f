// The parts of `npm run bench` that compute and print its figures. No test here measures time.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { figure, interleave } from "../bench/lib/interleave.mjs";
import { table } from "../bench/lib/publish.mjs";
import { ratio, ratioRows } from "../bench/lib/ratios.mjs";
import { growthExponent, median, quantile } from "../bench/lib/statistics.mjs";

const EFFORT = { rounds: 2, calls: 3 };

function result(
  measurements: { id: string; timings: ReturnType<typeof figure>[] }[],
  runtime = "Node 24.0.0",
) {
  return {
    runtime,
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

  test("times no contender that gives another answer", async () => {
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

describe("ratios", () => {
  const id = "read 4 KiB on tmpfs";
  const measured = (ours: number) => [
    { id, timings: [figure("ringfence", ours), figure("bare fs", 1)] },
  ];

  test("a ratio is of the medians, its spread of the rounds", () => {
    const timing = (p50: number, rounds: number[]) => ({ name: "any", p50, p99: p50, rounds });
    assert.deepEqual(ratio(timing(2, [1, 2, 9]), timing(4, [4, 4, 3])), {
      value: 0.5,
      spread: [0.25, 3],
    });
  });

  test("a row divides ringfence by a contender, and has the runtime's target", () => {
    const what = "ringfence ÷ bare fs";
    assert.deepEqual(ratioRows(result(measured(2))), [{ id, what, value: 2, atMost: 0.25 }]);
    assert.equal(ratioRows(result(measured(2), "Bun 1.4.5"))[0]?.atMost, 1.3);
  });

  test("growth is looked at by the end of the curve", () => {
    const costs = [1, 1, 1, 10, 100, 1000];
    const measurements = costs.map((cost, index) => ({
      id: `growth ${index}`,
      unit: "µs",
      timings: [figure("ringfence", cost)],
      growth: { axis: "work", work: 10 ** index },
    }));
    const [row] = ratioRows({ ...result([]), measurements });
    assert.ok(Math.abs((row?.value ?? 0) - 1) < 1e-9);
  });

  test("the page has a column for each runtime, and a dash where nothing was measured", () => {
    const columns = [
      result(measured(0.2)),
      result([], "Node 20.0.0"),
      result(measured(1), "Bun 1.4.5"),
    ];
    assert.deepEqual(table(columns).split("\n"), [
      "|  |  | at most | Node 24.0.0 | Node 20.0.0 | Bun 1.4.5 |",
      "| --- | --- | --- | --: | --: | --: |",
      "| read 4 KiB on tmpfs | ringfence ÷ bare fs | 0.25, Bun 1.3 | 0.200 | – | 1.00 |",
    ]);
  });
});
