// How the torture kit decides that a run has failed. docs/torture.md has the rules.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { isFailure, type Measured, verdictOf } from "../torture/kit/check.mts";
import { tableOf } from "../torture/kit/table.mts";

const ROW: Measured = {
  ...{ check: "a check", where: "kernel", operations: 1_000, violations: 0, examples: [] },
  control: { what: "naive", operations: 1_000, violations: 1 },
};
const NOT_RUN = { check: "a check", where: "kernel", notRun: "strace is missing" };

describe("a row of the torture kit", () => {
  test("holds if nothing was violated and the control was", () => {
    assert.equal(verdictOf(ROW), "holds");
    assert.equal(isFailure(ROW, true), false);
  });

  test("fails if one operation of a thousand was violated", () => {
    const row = { ...ROW, violations: 1 };
    assert.equal(verdictOf(row), "VIOLATED");
    assert.equal(isFailure(row, false), true);
  });

  test("fails if the control was not violated, since then nothing could have been", () => {
    const row = { ...ROW, control: { what: "naive", operations: 1_000, violations: 0 } };
    assert.equal(verdictOf(row), "CANNOT BITE");
    assert.equal(isFailure(row, false), true);
  });

  test("fails if nothing was done", () => {
    assert.equal(isFailure({ ...ROW, operations: 0 }, false), true);
  });

  test("that could not run fails only where everything is demanded", () => {
    assert.equal(verdictOf(NOT_RUN), "not run");
    assert.equal(isFailure(NOT_RUN, false), false);
    assert.equal(isFailure(NOT_RUN, true), true);
  });

  test("of another package is shown, and decides nothing", () => {
    const row = { ...ROW, violations: 7, isPeer: true };
    assert.equal(verdictOf(row), "leaks");
    assert.equal(isFailure(row, true), false);
  });
});

test("the table has every row, with its figures, its control and its verdict or reason", () => {
  const table = tableOf([ROW, NOT_RUN]);
  assert.match(table, /^a check +kernel +1,000 +0 +naive: 1 of 1,000 +holds$/m);
  assert.match(table, /^a check +kernel +not run: strace is missing$/m);
});
