// Vercel AI SDK. Nothing of `ai` is imported: its schemas are known by a symbol of the global registry,
// the same from version 5.0 on.

import type { AgentToolkit } from "../agent-toolkit.js";
import { providerName } from "../definitions/tools.js";
import type { ToolResult } from "../result.js";
import { selected, type ToolSelection } from "./names.js";

/** A tool for `generateText({ tools })` and `streamText({ tools })`. */
export interface AiSdkTool {
  description: string;
  /**
   * What `jsonSchema` of `ai` makes. Each version declares a type of its own for it, with a symbol that
   * no other declaration can name; `never` fits them all.
   */
  inputSchema: never;
  execute(input: unknown, options?: { abortSignal?: AbortSignal | undefined }): Promise<ToolResult>;
}

const SCHEMA = Symbol.for("vercel.ai.schema");
// Version 5 takes a schema for a validator, too, and looks for its symbol.
const VALIDATOR = Symbol.for("vercel.ai.validator");

/** The tools of a toolkit, by name. Lists those that can be used, unless told otherwise. */
export function toAiSdkTools(
  toolkit: AgentToolkit,
  options?: ToolSelection,
): Record<string, AiSdkTool> {
  const tools = options?.tools ?? toolkit.getAllowedTools();
  const entries = selected({ tools }).map(({ name, description, parameters }) => {
    const tool: AiSdkTool = {
      description,
      inputSchema: schemaOf(parameters),
      execute: (input, call) => toolkit.invoke(name, input, { signal: call?.abortSignal ?? null }),
    };
    return [providerName(name), tool] as const;
  });
  return Object.fromEntries(entries);
}

/** Without `validate`: `invoke` reads what models send, and tells them how to repair it. */
function schemaOf(parameters: object): never {
  return {
    [SCHEMA]: true,
    [VALIDATOR]: true,
    _type: undefined,
    jsonSchema: structuredClone(parameters),
    validate: undefined,
  } as never;
}
