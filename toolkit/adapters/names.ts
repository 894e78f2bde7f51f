// Which tools an adapter lists.

import {
  TOOL_DEFINITIONS,
  TOOL_NAMES,
  type ToolDefinition,
  type ToolName,
} from "../definitions/tools.js";

/** Which tools an adapter lists. */
export interface ToolSelection {
  /** Default: all four. `toolkit.getAllowedTools()` lists those that can be used. */
  tools?: readonly ToolName[] | null;
}

/** The definitions of a selection, in the order of the definitions. */
export function selected(selection: ToolSelection | undefined): ToolDefinition[] {
  const wanted = selection?.tools ?? TOOL_NAMES;
  return TOOL_NAMES.filter((name) => wanted.includes(name)).map((name) => TOOL_DEFINITIONS[name]);
}
