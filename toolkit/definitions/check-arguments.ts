// The argument checks of `invoke`, for hosts that forward calls and want to check them first.

import { type ReadArguments, readArguments as readArgumentsOf } from "../arguments.js";
import type { ToolDescription } from "./tool.js";
import { TOOL_DESCRIPTIONS, type ToolName, toolNamed } from "./tools.js";

export type { ReadArguments } from "../arguments.js";

/**
 * Reads the arguments that a model sent, as `invoke` does before it calls the tool: an object or its JSON text,
 * `"10"` for 10, `null` for an absent key. No value of the arguments makes it throw.
 *
 * Throws a `TypeError` if no tool of ringfence has the name.
 *
 * @param tool the name of one of ringfence's tools, or the description of any tool
 */
export function readArguments(tool: ToolName | ToolDescription, sent: unknown): ReadArguments {
  return readArgumentsOf(typeof tool === "string" ? descriptionOf(tool) : tool, () => sent);
}

function descriptionOf(given: string): ToolDescription {
  const name = toolNamed(given);
  if (name === null) throw new TypeError(`there is no tool ${JSON.stringify(given)}`);
  return TOOL_DESCRIPTIONS[name];
}
