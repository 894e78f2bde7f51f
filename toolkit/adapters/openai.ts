// OpenAI: function tools of Chat Completions and of Responses, and their results.

import { type JsonSchema, providerName } from "../definitions/tools.js";
import type { ToolResult } from "../result.js";
import { selected, type ToolSelection } from "./names.js";

/** Options of `toOpenAITools`. */
export interface OpenAIToolOptions extends ToolSelection {
  /** Which API they are for: Chat Completions, by default, or Responses. */
  api?: "chat" | "responses" | null;
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

/** The tools for Responses, or for Chat Completions. */
export function toOpenAITools(
  options: OpenAIToolOptions & { api: "responses" },
): OpenAIResponsesTool[];
export function toOpenAITools(
  options?: OpenAIToolOptions & { api?: "chat" | null },
): OpenAIChatTool[];
export function toOpenAITools(
  options?: OpenAIToolOptions,
): OpenAIResponsesTool[] | OpenAIChatTool[] {
  const strict = options?.strict === true;
  const tools = selected(options).map(({ name, description, parameters }) => ({
    name: providerName(name),
    description,
    parameters: (strict
      ? strictSchema(parameters)
      : structuredClone(parameters)) as object as Record<string, unknown>,
    strict,
  }));
  return options?.api === "responses"
    ? tools.map((tool) => ({ type: "function", ...tool }))
    : tools.map((tool) => ({ type: "function", function: tool }));
}

/** A schema as Structured Outputs take it, with what they refuse left out, at every level. */
export function strictSchema(schema: JsonSchema, isRequired = true): object {
  const { type, description, properties, required = [] } = schema;
  return {
    type: isRequired ? type : [type, "null"],
    ...(description === undefined ? {} : { description }),
    ...(properties === undefined ? {} : strictObject(properties, required)),
  };
}

function strictObject(
  properties: Readonly<Record<string, JsonSchema>>,
  required: readonly string[],
): object {
  const entries = Object.entries(properties).map(([key, schema]) => [
    key,
    strictSchema(schema, required.includes(key)),
  ]);
  return {
    properties: Object.fromEntries(entries),
    required: Object.keys(properties),
    additionalProperties: false,
  };
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
