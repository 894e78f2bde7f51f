// The JSON Schemas of the tools' data, for protocols that announce them, such as MCP.

import type { ResultSchema } from "./tool.js";
import { fieldOfAll, type ToolName } from "./tools.js";

/** The schema of each tool's data, by name. */
export const TOOL_RESULT_SCHEMAS: { readonly [Name in ToolName]: ResultSchema } =
  fieldOfAll("resultSchema");
