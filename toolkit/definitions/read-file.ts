// The tool `read_file`. Its definition is that of specification `read_file` §4.4, to the letter.

import { boolean, integer, nullable, object, string } from "./result-schema.js";
import { metadataOf, type ToolDescription } from "./tool.js";

/** The arguments of `read_file`. */
export interface ReadFileToolArguments {
  /** Relative to the workspace root. */
  path: string;
  /** First line of the window, an integer >= 1. Default 1. */
  start_line?: number | null;
  /** Most lines that come, an integer from 1 to 500. Default 200. */
  max_lines?: number | null;
  /** Whether `meta.sha256` is wanted, the value for `expectedHash`. Default `false`. */
  include_hash?: boolean | null;
}

const definition = {
  name: "read_file",
  description:
    "Reads a UTF-8 text file in the workspace and returns a line-limited content window.",
  parameters: {
    type: "object",
    properties: {
      path: {
        type: "string",
        description: 'Workspace-root-relative file path to read (e.g., "src/main.ts").',
      },
      start_line: {
        type: "number",
        default: 1,
        description: "1-based start line of the returned window (default: 1).",
      },
      max_lines: {
        type: "number",
        default: 200,
        description: "Maximum number of lines to return (default: 200).",
      },
    },
    required: ["path"],
  },
} as const;

export const READ_FILE = {
  definition,
  metadata: metadataOf(definition, false, "client"),
  title: "Read a file",
  eventName: "ReadFile",
  furtherParameters: { include_hash: { type: "boolean" } },
  examples: { path: "src/main.ts" },
  resultSchema: object({
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
} as const satisfies ToolDescription<"read_file">;
