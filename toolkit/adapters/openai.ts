// OpenAI: function tools of Chat Completions and of Responses, and their results.

import { type JsonSchema, providerName, type ToolDefinition } from "../definitions/tools.js";
import type { ToolResult } from "../result.js";
import { selected, type ToolSelection } from "./names.js";

/** Options of `toOpenAITools`. */
export interface OpenAIToolOptions extends ToolSelection {
  /**
   * Structured Outputs: every key is required, what is optional is nullable, there is no `default`
   * and no other key. Default `false`.
   */
  strict?: boolean | null;
}

/** A tool for `chat.completions.create({ tools })`. */
export interface OpenAIChatTool {
  type: "function";
  function: {
    name: string;
    description: string;
    parameters: Record<string, unknown>;
    strict: boolean;
  };
}

/** A tool for `responses.create({ tools })`. */
export interface OpenAIResponsesTool {
  type: "function";
  name: string;
  description: string;
  parameters: Record<string, unknown>;
  strict: boolean;
}

/** The tools for Chat Completions. */
export function toOpenAITools(options?: OpenAIToolOptions): OpenAIChatTool[] {
  return toOpenAIResponsesTools(options).map(({ type, ...tool }) => ({ type, function: tool }));
}

/** The tools for Responses. */
export function toOpenAIResponsesTools(options?: OpenAIToolOptions): OpenAIResponsesTool[] {
  const strict = options?.strict === true;
  return selected(options).map((definition) => ({
    type: "function",
    name: providerName(definition.name),
    description: definition.description,
    parameters: strict
      ? strictParameters(definition)
      : (structuredClone(definition.parameters) as object as Record<string, unknown>),
    strict,
  }));
}

function strictParameters({ parameters }: ToolDefinition): Record<string, unknown> {
  const { properties, required } = parameters;
  const entries = Object.entries(properties).map(([key, schema]) => [
    key,
    strictSchema(schema, required.includes(key)),
  ]);
  return {
    type: "object",
    properties: Object.fromEntries(entries),
    required: Object.keys(properties),
    additionalProperties: false,
  };
}

/** The tools' arguments are flat, so there is no further level. */
function strictSchema({ type, description }: JsonSchema, isRequired: boolean): object {
  return { type: isRequired ? type : [type, "null"], description };
}

/** The message that answers a tool call of Chat Completions. */
export function toOpenAIToolMessage(
  toolCallId: string,
  result: ToolResult,
): { role: "tool"; tool_call_id: string; content: string } {
  return { role: "tool", tool_call_id: toolCallId, content: JSON.stringify(result) };
}

/** The item that answers a function call of Responses. */
export function toOpenAIFunctionOutput(
  callId: string,
  result: ToolResult,
): { type: "function_call_output"; call_id: string; output: string } {
  return { type: "function_call_output", call_id: callId, output: JSON.stringify(result) };
}
