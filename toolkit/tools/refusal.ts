// Adds a tool's own payload to the result of a call that was refused before the tool ran. TUL-001 and TUL-004
// ask for their payload in every case.

import type { HandlerContext } from "../context.js";
import { isToolName } from "../definitions/tools.js";
import { readableOf } from "../own.js";
import { type ToolFailure, type ToolResult, withDetails } from "../result.js";
import { TOOLS } from "./index.js";
import type { Refusal, Tool } from "./tool.js";

/** Adds the tool's own payload to the details, if the tool has one and the result lacks it. */
export function completeRefusal(
  tool: Tool | string,
  context: HandlerContext,
  args: unknown,
  result: ToolResult,
  argument: string | null = null,
): ToolResult {
  if (result.status === "success" || result.error.details.result !== undefined) return result;
  const known: Pick<Tool, "refusal"> | null = typeof tool === "string" ? toolOf(tool) : tool;
  if (!known?.refusal) return result;
  const refusal = { by: reasonOf(result, argument), argument, message: result.message };
  return withDetails(result, known.refusal(context, { path: readableOf(args, "path") }, refusal));
}

function toolOf(name: string): Pick<Tool, "refusal"> | null {
  return isToolName(name) ? (TOOLS[name] as object) : null;
}

function reasonOf({ error }: ToolFailure, argument: string | null): Refusal["by"] {
  if (error.code === "POLICY_DENIED") return "policy";
  // A path refused by its spelling has the tool's own payload already, so this is the write scope.
  if (error.code === "SANDBOX_VIOLATION") return "scope";
  return argument !== null || error.details.code === "INVALID_ARGUMENT" ? "arguments" : "failure";
}
