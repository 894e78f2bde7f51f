// Anthropic: tools of Messages, and their results.

import { providerName } from "../definitions/tools.js";
import type { ToolResult } from "../result.js";
import { selected, type ToolSelection } from "./names.js";

/** A tool for `messages.create({ tools })`. */
export interface AnthropicTool {
  name: string;
  description: string;
  input_schema: { type: "object"; properties: Record<string, unknown>; required: string[] };
}

/** The tools for Messages. */
export function toAnthropicTools(options?: ToolSelection): AnthropicTool[] {
  return selected(options).map(({ name, description, parameters }) => ({
    name: providerName(name),
    description,
    input_schema: {
      type: "object",
      properties: structuredClone(parameters.properties) as Record<string, unknown>,
      required: [...parameters.required],
    },
  }));
}

/** The block that answers a `tool_use` block. */
export function toAnthropicToolResult(
  toolUseId: string,
  result: ToolResult,
): { type: "tool_result"; tool_use_id: string; content: string; is_error: boolean } {
  return {
    type: "tool_result",
    tool_use_id: toolUseId,
    content: JSON.stringify(result),
    is_error: result.status !== "success",
  };
}
