// Vercel AI SDK. Nothing of `ai` is imported: the caller passes its `jsonSchema`, of whatever version.

import type { AgentToolkit } from "../agent-toolkit.js";
import { providerName, TOOL_DEFINITIONS, type ToolName } from "../definitions/tools.js";
import type { ToolResult } from "../result.js";
import type { ToolSelection } from "./names.js";

/** A tool for `generateText({ tools })` and `streamText({ tools })`. */
export interface AiSdkTool<Schema> {
  description: string;
  inputSchema: Schema;
  execute(input: unknown, options: { abortSignal?: AbortSignal | undefined }): Promise<ToolResult>;
}

/**
 * The tools of a toolkit, by name. Lists those that can be used, unless told otherwise.
 *
 * @param jsonSchema that of the package `ai`
 */
export function toAiSdkTools<Schema>(
  toolkit: AgentToolkit,
  jsonSchema: (schema: never) => Schema,
  { tools }: ToolSelection = {},
): Record<string, AiSdkTool<Schema>> {
  const entries = (tools ?? toolkit.getAllowedTools()).map((name: ToolName) => {
    const { description, parameters } = TOOL_DEFINITIONS[name];
    const tool: AiSdkTool<Schema> = {
      description,
      inputSchema: jsonSchema(structuredClone(parameters) as never),
      execute: (input, { abortSignal }) =>
        toolkit.invoke(name as string, input, { signal: abortSignal ?? null }),
    };
    return [providerName(name), tool] as const;
  });
  return Object.fromEntries(entries);
}
