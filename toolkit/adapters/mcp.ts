// Model Context Protocol: tools with output schemas and annotations, and their results.

import { TOOL_RESULT_SCHEMAS } from "../definitions/results.js";
import { providerName, TOOL_METADATA, type ToolName } from "../definitions/tools.js";
import type { ToolResult } from "../result.js";
import { selected, type ToolSelection } from "./names.js";

/** A tool for the answer to `tools/list`. */
export interface McpTool {
  name: string;
  /** For people to read. */
  title: string;
  description: string;
  inputSchema: McpSchema;
  outputSchema: McpSchema;
  annotations: {
    /** Where clients of before 2025-06-18 look for the title. */
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

const TITLES: { readonly [Name in ToolName]: string } = {
  read_file: "Read a file",
  workspace_create_file: "Create a file",
  "workspace.read_file": "Read a source document",
  read: "Read a URI",
};

/** The tools for `tools/list`. */
export function toMcpTools(options?: ToolSelection): McpTool[] {
  return selected(options).map((definition) => {
    const { name } = definition;
    const { isWriteOp } = TOOL_METADATA[name];
    return {
      name: providerName(name),
      title: TITLES[name],
      description: definition.description,
      inputSchema: copyOf(definition.parameters),
      outputSchema: copyOf(TOOL_RESULT_SCHEMAS[name]),
      annotations: {
        title: TITLES[name],
        readOnlyHint: !isWriteOp,
        // With `overwrite` it replaces files.
        destructiveHint: isWriteOp,
        // Repeated without `overwrite` it fails, and changes nothing.
        idempotentHint: true,
        // The `read` tool reaches whatever the host's fetch reaches.
        openWorldHint: name === "read",
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

/** The answer to `tools/call`. */
export interface McpToolResult {
  content: { type: "text"; text: string }[];
  /** The data, which fits the tool's output schema. */
  structuredContent?: Record<string, unknown>;
  isError?: boolean;
  [key: string]: unknown;
}

/** The answer to `tools/call`. */
export function toMcpToolResult(result: ToolResult): McpToolResult {
  if (result.status !== "success") {
    return { content: [{ type: "text", text: JSON.stringify(result) }], isError: true };
  }
  const content = [{ type: "text" as const, text: JSON.stringify(result.data) }];
  if (result.hint !== undefined) content.push({ type: "text", text: result.hint });
  return { content, structuredContent: result.data as Record<string, unknown> };
}
