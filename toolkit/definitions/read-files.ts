// The tool `read_files`: windows of several files in one call.

import { asList, PATH_ALIASES, rename, unwrap } from "./aliases.js";
import { READ_FILE } from "./read-file.js";
import { boolean, integer, nullable, object, string } from "./result-schema.js";
import { metadataOf, type ToolDescription } from "./tool.js";

/** The arguments of `read_files`. */
export interface ReadFilesToolArguments {
  /** From 1 to 100 paths, each alone or with the window that is wanted. */
  files: (string | ReadFilesToolEntry)[];
  /** Most bytes of all contents together, an integer from 1 to 4,194,304. Default 262,144. */
  max_total_bytes?: number | null;
  /** Whether each `meta.sha256` is wanted, the value for `expectedHash`. Default `false`. */
  include_hash?: boolean | null;
}

/** A window of one file. */
export interface ReadFilesToolEntry {
  /** Relative to the workspace root. */
  path: string;
  /** First line of the window, an integer >= 1. Default 1. */
  start_line?: number | null;
  /** Most lines that come, an integer from 1 to 500. Default 200. */
  max_lines?: number | null;
}

const definition = {
  name: "read_files",
  description:
    "Reads windows of several UTF-8 text files in the workspace in one call. A file that cannot be read fails alone. All contents together stay within max_total_bytes: a window that was cut has truncated: true, and goes on at its next_start_line.",
  parameters: {
    type: "object",
    properties: {
      files: {
        type: "array",
        description: "The files to read, 1 to 100.",
        minItems: 1,
        maxItems: 100,
        items: {
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
              description: "Maximum number of lines to return, up to 500 (default: 200).",
            },
          },
          required: ["path"],
        },
      },
      max_total_bytes: {
        type: "number",
        default: 262144,
        description:
          "Maximum number of bytes of all contents together, shared evenly (default: 262144).",
      },
    },
    required: ["files"],
  },
} as const;

/** The names that models give `files`. A single path becomes a list of one. */
const FILES_ALIASES = {
  paths: "files",
  file_paths: "files",
  filePaths: "files",
  path: "files",
  ...Object.fromEntries(Object.keys(PATH_ALIASES).map((alias) => [alias, "files"])),
};

export const READ_FILES = {
  definition,
  metadata: metadataOf(definition, false, "client"),
  title: "Read several files",
  eventName: "ReadFiles",
  furtherParameters: { include_hash: { type: "boolean" } },
  fold(sent) {
    const unwrapped = unwrap(sent, "input", "files");
    const folded = asList(rename(unwrapped, FILES_ALIASES), "files");
    const { files } = folded;
    const isOne = typeof files === "object" && files !== null && !Array.isArray(files);
    return isOne ? Object.assign(folded, { files: [files] }) : folded;
  },
  examples: { files: [{ path: "src/main.ts" }] },
  resultSchema: object({
    items: {
      type: "array",
      items: object({
        path: string,
        output: nullable(READ_FILE.resultSchema),
        error: nullable(object({ code: string, message: string })),
      }),
    },
    total_bytes: integer,
    truncated: boolean,
    failed: integer,
  }),
} as const satisfies ToolDescription<"read_files">;
