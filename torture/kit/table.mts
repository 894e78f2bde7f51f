// The rows as a table of text.

import { type Row, verdictOf } from "./check.mts";

const HEAD = ["check", "where", "operations", "violations", "control", "verdict"];
const RIGHT = new Set([2, 3]);

const number = (value: number) => value.toLocaleString("en-US");

export function tableOf(rows: readonly Row[]): string {
  const lines = [HEAD, ...rows.map(cellsOf)];
  const widths = HEAD.map((_, i) => Math.max(...lines.map((line) => line[i]?.length ?? 0)));
  const draw = (line: string[]) =>
    line
      .map((cell, i) =>
        RIGHT.has(i) ? cell.padStart(widths[i] ?? 0) : cell.padEnd(widths[i] ?? 0),
      )
      .join("  ")
      .trimEnd();
  const rule = widths.map((width) => "-".repeat(width)).join("  ");
  return [draw(HEAD), rule, ...lines.slice(1).map(draw)].join("\n");
}

export function lineOf(row: Row): string {
  return cellsOf(row)
    .filter((cell) => cell !== "")
    .join(" · ");
}

function cellsOf(row: Row): string[] {
  if ("notRun" in row) return [row.check, row.where, "", "", "", `not run: ${row.notRun}`];
  const { check, where, operations, violations, control } = row;
  const shown =
    "none" in control
      ? `none: ${control.none}`
      : `${control.what}: ${number(control.violations)} of ${number(control.operations)}`;
  return [check, where, number(operations), number(violations), shown, verdictOf(row)];
}
