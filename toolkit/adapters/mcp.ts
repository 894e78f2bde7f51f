// Model Context Protocol: tools with output schemas and annotations, and their results.

import { providerName } from "../definitions/tools.js";
import type { ToolResult } from "../result.js";
import { answerTextOf } from "./mcp-text.js";
import { describe, type ToolSelection } from "./names.js";

/** A tool for the answer to `tools/list`. */
export interface McpTool {
  name: string;
  /** The title for people. */
  title: string;
  description: string;
  inputSchema: McpSchema;
  outputSchema?: McpSchema;
  annotations: {
    /** The title once more: clients of protocol versions before 2025-06-18 look for it here. */
    title: string;
    readOnlyHint: boolean;
    destructiveHint: boolean;
    idempotentHint: boolean;
    openWorldHint: boolean;
  };
}

interface McpSchema {
  type: "object";
  properties: Record<string, object>;
  required: string[];
  [key: string]: unknown;
}

/** The tools for `tools/list`. */
export function toMcpTools(options?: ToolSelection): McpTool[] {
  return describe(options).map((description) => {
    const {
      definition,
      metadata,
      title,
      resultSchema,
      isIdempotent = true,
      isOpenWorld = false,
    } = description;
    const { isWriteOp } = metadata;
    return {
      name: providerName(definition.name),
      title,
      description: definition.description,
      inputSchema: copyOf(definition.parameters),
      ...(resultSchema === undefined ? {} : { outputSchema: withHint(copyOf(resultSchema)) }),
      annotations: {
        title,
        readOnlyHint: !isWriteOp,
        // A write may replace what a file has.
        destructiveHint: isWriteOp,
        idempotentHint: isIdempotent,
        openWorldHint: isOpenWorld,
      },
    };
  });
}

function copyOf(schema: {
  readonly type: "object";
  readonly properties: Readonly<Record<string, object>>;
  readonly required: readonly string[];
}): McpSchema {
  return structuredClone(schema) as McpSchema;
}

/** Adds `hint` to the schema of the data: clients may show their model the data only. */
function withHint(schema: McpSchema): McpSchema {
  const description = "What the next call could be, or what of the arguments was ignored.";
  return { ...schema, properties: { hint: { type: "string", description }, ...schema.properties } };
}

/** The answer to `tools/call`. */
export interface McpToolResult {
  content: { type: "text"; text: string }[];
  /** The data, which fits the tool's output schema, and `hint` where there is one. */
  structuredContent?: Record<string, unknown>;
  isError?: boolean;
  [key: string]: unknown;
}

/**
 * The answer to `tools/call`. The data comes as structured content and as text: the document itself, then one
 * line about it, with the hint if there is one.
 */
export function toMcpToolResult(result: ToolResult): McpToolResult {
  if (result.status !== "success") {
    return { content: [textBlock(JSON.stringify(result))], isError: true };
  }
  const { data, hint } = result;
  const { texts, note } = answerTextOf(data);
  const line = hint === undefined ? note : `${note} ${hint}`;
  // Some providers refuse an empty text block.
  const blocks = [...texts.filter((text) => text !== ""), line];
  return { content: blocks.map(textBlock), ...structured(data, hint) };
}

/** The data as structured content. MCP allows objects only. */
function structured(data: unknown, hint: string | undefined): Partial<McpToolResult> {
  if (typeof data !== "object" || data === null || Array.isArray(data)) return {};
  const fields = data as Record<string, unknown>;
  const isTold = hint === undefined || Object.hasOwn(fields, "hint");
  return { structuredContent: isTold ? fields : { ...fields, hint } };
}

function textBlock(text: string): { type: "text"; text: string } {
  return { type: "text", text };
}
