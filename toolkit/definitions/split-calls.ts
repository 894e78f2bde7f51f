// Splits a turn's calls by the side that executes them: TUL-004 §3.2 and §6.1.

import type { ExecutionLocation, ToolDescription } from "./tool.js";
import { namedAmong, TOOL_DESCRIPTIONS } from "./tools.js";

/** The calls of a turn, each in its order. */
export interface SplitCalls<Call> {
  client: Call[];
  server: Call[];
  /** Calls of tools that either side can execute. */
  both: Call[];
  /** Calls of unknown tools. */
  unknown: Call[];
}

/**
 * Splits a turn's calls by the side that executes their tools. Names are understood as `invoke`
 * understands them.
 *
 * @param nameOf the name of a call's tool; by default its `name`
 * @param own descriptions of the host's own tools, such as `defineTool` makes
 */
export function splitCallsByLocation<Call>(
  calls: Iterable<Call>,
  nameOf: (call: Call) => string = (call) => (call as { name: string }).name,
  own: readonly ToolDescription[] = [],
): SplitCalls<Call> {
  const locations = new Map<string, ExecutionLocation | "both">();
  for (const { metadata } of [...Object.values(TOOL_DESCRIPTIONS), ...own]) {
    locations.set(metadata.name, metadata.executionLocation);
  }
  const names = [...locations.keys()];
  const split: SplitCalls<Call> = { client: [], server: [], both: [], unknown: [] };
  for (const call of calls) {
    const name = namedAmong(names, nameOf(call));
    split[locations.get(name ?? "") ?? "unknown"].push(call);
  }
  return split;
}
