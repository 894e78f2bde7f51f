// What each tool answers, as JSON Schema: for protocols that announce it, such as MCP.

import type { ToolName } from "./tools.js";

/** A JSON Schema as protocols want it; more than the arguments of tools need. */
export type ResultSchema = {
  readonly type: "object";
  readonly properties: Readonly<Record<string, object>>;
  readonly required: readonly string[];
};

const string = { type: "string" };
const integer = { type: "integer" };
const boolean = { type: "boolean" };
// Not `type: [x, "null"]`, which clients that know one type at a time cannot take.
const nullable = (schema: object) => ({ anyOf: [schema, { type: "null" }] });

const object = (properties: Record<string, object>, optional: readonly string[] = []) => ({
  type: "object" as const,
  properties,
  required: Object.keys(properties).filter((key) => !optional.includes(key)),
});

/** The schema of each tool's data, by name. */
export const TOOL_RESULT_SCHEMAS: { readonly [Name in ToolName]: ResultSchema } = {
  read_file: object({
    path: string,
    content: string,
    truncated: boolean,
    next_start_line: nullable(integer),
    meta: object(
      {
        byte_length: integer,
        line_count: integer,
        returned_line_count: integer,
        mtime_ms: integer,
        replaced_count: integer,
        sha256: string,
      },
      ["replaced_count", "sha256"],
    ),
  }),
  workspace_create_file: object({
    success: boolean,
    message: string,
    path: string,
    sizeBytes: integer,
    hash: string,
    created: boolean,
    overwritten: boolean,
    errorCode: nullable(string),
  }),
  "workspace.read_file": object({
    success: boolean,
    errorCode: nullable(string),
    errors: { type: "array", items: string },
    file: nullable(
      object({ path: string, sizeBytes: integer, content: string, isTruncated: boolean }),
    ),
    sessionId: nullable(string),
    conversationId: nullable(string),
  }),
  read: object({ uri: string, text: string, mimeType: string }),
};
