// @ts-check
// The results as text for a terminal.

import { limitOf } from "../targets.mjs";
import { ratio } from "./ratios.mjs";

/**
 * @param {import("../measure.mjs").Measurement} measurement
 * @param {string} runtime
 * @returns {string}
 */
export function measurementTable({ id, unit, timings }, runtime) {
  const [first] = timings;
  if (first === undefined) return `${id}: nothing was measured`;
  const rows = timings.map((timing) => {
    const { value, spread } = ratio(first, timing);
    return [
      timing.name,
      rounded(timing.p50),
      rounded(timing.p99),
      timing === first ? "" : rounded(value),
      timing === first ? "" : `${rounded(spread[0])}–${rounded(spread[1])}`,
      String(limitOf(id, timing.name, runtime) ?? ""),
    ];
  });
  return table(
    [id, `p50 ${unit}`, `p99 ${unit}`, "ringfence ÷ this", "10th–90th", "at most"],
    rows,
  );
}

/**
 * @param {readonly string[]} head
 * @param {readonly (readonly string[])[]} rows
 */
function table(head, rows) {
  const all = [head, ...rows];
  const widths = head.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  /** @param {readonly string[]} row */
  const line = (row) =>
    row
      .map((cell, column) =>
        isNumeric(cell) ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0),
      )
      .join("  ")
      .trimEnd();
  const rule = widths.map((width) => "─".repeat(width)).join("──");
  return [line(head), rule, ...rows.map(line)].join("\n");
}

/** @param {string} cell */
function isNumeric(cell) {
  return /^[\d.]+$/u.test(cell);
}

/**
 * Three significant digits.
 *
 * @param {number} value
 */
export function rounded(value) {
  if (!Number.isFinite(value)) return "–";
  return value >= 1000 ? value.toFixed(0) : value.toPrecision(3);
}
