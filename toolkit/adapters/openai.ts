// OpenAI: function tools of Chat Completions and of Responses, and their results.

import type { JsonSchema } from "../definitions/tool.js";
import { providerName } from "../definitions/tools.js";
import { ownOf } from "../own.js";
import type { ToolResult } from "../result.js";
import { selected, type ToolSelection } from "./names.js";

/** Options of `toOpenAITools`. */
export interface OpenAIToolOptions extends ToolSelection {
  /** The API: Chat Completions (the default) or Responses. */
  api?: "chat" | "responses" | null;
  /**
   * Structured Outputs: every key is required, optional keys are nullable, there is no `default`, and further
   * keys are forbidden. Tools have the key `strict` only if this option is given, because some servers refuse it.
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
    /** Present only if the option was given. */
    strict?: boolean;
  };
}

/** A tool for `responses.create({ tools })`. */
export interface OpenAIResponsesTool {
  type: "function";
  name: string;
  description: string;
  parameters: Record<string, unknown>;
  /** Present only if the option was given. The official type declares it as always present. */
  strict: boolean | null;
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
  const strict = ownOf(options, "strict") ?? null;
  const tools = selected(options).map(({ name, description, parameters }) => ({
    name: providerName(name),
    description,
    parameters: (strict === true
      ? strictSchema(parameters)
      : structuredClone(parameters)) as object as Record<string, unknown>,
    ...(strict === null ? {} : { strict }),
  }));
  return ownOf(options, "api") === "responses"
    ? tools.map((tool) => ({ type: "function", ...tool }) as OpenAIResponsesTool)
    : tools.map((tool) => ({ type: "function", function: tool }));
}

/** A schema in the form of Structured Outputs. Keywords that these refuse are left out at every level. */
export function strictSchema(schema: JsonSchema, isRequired = true): object {
  const { type, description, properties, required = [], items } = schema;
  const isObject = type === "object" || properties !== undefined;
  return {
    ...(type === undefined ? {} : { type: isRequired ? type : [type, "null"] }),
    ...(description === undefined ? {} : { description }),
    ...valuesOf(schema, isRequired),
    ...(items === undefined ? {} : { items: strictSchema(items) }),
    ...(isObject ? strictObject(properties ?? {}, required) : {}),
  };
}

/** The allowed values; `null` is among them if the key is optional. */
function valuesOf(schema: JsonSchema, isRequired: boolean): object {
  const { enum: values, anyOf, const: only } = schema;
  const list = values ?? (only === undefined ? undefined : [only]);
  return {
    ...(list === undefined ? {} : { enum: isRequired ? [...list] : [...new Set([...list, null])] }),
    ...(Array.isArray(anyOf) ? { anyOf: strictChoices(anyOf, isRequired) } : {}),
  };
}

function strictChoices(choices: readonly JsonSchema[], isRequired: boolean): object[] {
  const strict = choices.map((choice) => strictSchema(choice));
  const hasNull = choices.some(({ type }) => type === "null");
  return isRequired || hasNull ? strict : [...strict, { type: "null" }];
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
