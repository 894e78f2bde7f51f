// The tool `edit_file`, docs/contract.md §10.

import type { EditFileArguments } from "../../index.js";
import { PATH_ALIASES, rename, unwrap, unwritten } from "./aliases.js";
import { boolean, integer, object, string } from "./result-schema.js";
import { metadataOf, type ToolDescription } from "./tool.js";

/** The arguments of `edit_file`. */
export type EditFileToolArguments = EditFileArguments;

const EDIT = {
  old_string: {
    type: "string",
    description:
      "The text to replace, exactly as it stands in the file, without line numbers. It must occur once: add " +
      "lines around it until it does, or set replace_all.",
  },
  new_string: {
    type: "string",
    description: "The text to put there. It is taken literally.",
  },
  replace_all: {
    type: "boolean",
    default: false,
    description: "Set to true to replace every occurrence (default: false).",
  },
} as const;

const definition = {
  name: "edit_file",
  description:
    "Replaces text in a file of the workspace, exactly. Give old_string and new_string, or several of them as " +
    "edits: all are located in the file as it is now, and all or none are made. The answer has a diff.",
  parameters: {
    type: "object",
    properties: {
      path: { type: "string", description: "Relative path of the file inside the workspace." },
      ...EDIT,
      edits: {
        type: "array",
        items: { type: "object", properties: EDIT, required: ["old_string", "new_string"] },
        description: "Several edits of the file, in place of old_string and new_string.",
      },
    },
    required: ["path"],
  },
} as const;

/** Names under which models send the texts of an edit, as they know them from other tools. */
const EDIT_ALIASES = {
  old_str: "old_string",
  oldStr: "old_string",
  old_text: "old_string",
  oldText: "old_string",
  oldString: "old_string",
  search: "old_string",
  new_str: "new_string",
  newStr: "new_string",
  new_text: "new_string",
  newText: "new_string",
  newString: "new_string",
  replace: "new_string",
  replaceAll: "replace_all",
  allow_multiple: "replace_all",
} as const;

const ALIASES = {
  ...PATH_ALIASES,
  ...EDIT_ALIASES,
  expectedHash: "expected_hash",
  dryRun: "dry_run",
} as const;

function fold(given: Record<string, unknown>): Record<string, unknown> {
  const sent = rename(unwrap(given, "input", "path"), ALIASES);
  const edits = unwritten(sent.edits);
  if (Array.isArray(edits)) sent.edits = edits.map(withOwnNames);
  return sent;
}

function withOwnNames(edit: unknown): unknown {
  if (typeof edit !== "object" || edit === null || Array.isArray(edit)) return edit;
  return rename({ ...edit }, EDIT_ALIASES);
}

export const EDIT_FILE = {
  definition,
  metadata: metadataOf(definition, true, "client"),
  title: "Edit a file",
  eventName: "EditFile",
  // A new_string may hold the old_string: then a second call changes the file again.
  isIdempotent: false,
  furtherParameters: { expected_hash: { type: "string" }, dry_run: { type: "boolean" } },
  fold,
  examples: { path: "src/main.ts" },
  resultSchema: object({
    path: string,
    applied: boolean,
    replacements: integer,
    start_line: integer,
    end_line: integer,
    diff: string,
    diff_truncated: boolean,
    before_sha256: string,
    sha256: string,
    byte_length: integer,
    line_count: integer,
  }),
} as const satisfies ToolDescription<"edit_file">;
