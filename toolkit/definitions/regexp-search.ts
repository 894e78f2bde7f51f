// The tool `regexp_search`: matches of a pattern in the contents of files.

import type { SearchFilesArguments } from "../../index.js";
import { asList, rename, unwrap, withoutEmpty } from "./aliases.js";
import { array, boolean, integer, object, string } from "./result-schema.js";
import { metadataOf, type ToolDescription } from "./tool.js";

/** The arguments of `regexp_search`: those of `searchFiles`. */
export type RegexpSearchToolArguments = SearchFilesArguments;

const definition = {
  name: "regexp_search",
  description:
    "Searches the contents of the workspace's files for a regular expression, and returns the matching lines " +
    "with their line and column numbers. Files that .gitignore ignores, node_modules and the like are left out.",
  parameters: {
    type: "object",
    properties: {
      pattern: {
        type: "string",
        description:
          'Regular expression, matched in each line (e.g., "function\\s+\\w+"). To search for text as it ' +
          "stands, set literal to true.",
      },
      flags: {
        type: "string",
        description: 'Flags of the regular expression: "i" ignores case (default: none).',
      },
      literal: {
        type: "boolean",
        default: false,
        description: "Whether every character of the pattern stands for itself (default: false).",
      },
      word: {
        type: "boolean",
        default: false,
        description: "Whether only whole words match (default: false).",
      },
      multiline: {
        type: "boolean",
        default: false,
        description: "Whether a match may go over several lines (default: false).",
      },
      root_path: {
        type: "string",
        description:
          'Workspace-root-relative folder or file to search (e.g., "src"; default: the whole workspace).',
      },
      include: {
        type: "array",
        items: { type: "string" },
        description: 'Globs of files to search, relative to root_path (e.g., ["*.ts", "*.tsx"]).',
      },
      exclude: {
        type: "array",
        items: { type: "string" },
        description: 'Globs of files and folders to leave out (e.g., ["*.test.ts", "fixtures/"]).',
      },
      output: {
        type: "string",
        enum: ["matches", "files", "counts"],
        default: "matches",
        description:
          'What to return: each match, or the files that have matches with their number (default: "matches").',
      },
      context_lines: {
        type: "number",
        default: 0,
        description: "Lines of context before and after each match, at most 20 (default: 0).",
      },
      max_results: {
        type: "number",
        default: 100,
        description: "Maximum number of items to return, at most 500 (default: 100).",
      },
      after: {
        type: "string",
        description: "The `next` of a truncated answer, to get the items after it.",
      },
    },
    required: ["pattern"],
  },
} as const;

/** The names that models know from other tools. */
const ALIASES = {
  regex: "pattern",
  query: "pattern",
  path: "root_path",
  file_path: "root_path",
  filePath: "root_path",
  glob: "include",
  include_pattern: "include",
  exclude_pattern: "exclude",
  output_mode: "output",
  head_limit: "max_results",
} as const;

const OUTPUTS: Readonly<Record<string, string>> = {
  content: "matches",
  files_with_matches: "files",
  count: "counts",
};

/** Folds the switches of grep, and the values of `output_mode`. A switch with a value that it cannot have stays. */
function fold(given: Record<string, unknown>): Record<string, unknown> {
  const sent = rename(unwrap(given, "input", "pattern"), ALIASES);
  withoutEmpty(sent, ["root_path", "after", "include", "exclude"]);
  asList(sent, "include");
  asList(sent, "exclude");
  if (typeof sent.output === "string") sent.output = OUTPUTS[sent.output] ?? sent.output;
  if (sent.max_results === 0 || sent.max_results === "0") sent.max_results = MAX_RESULTS;
  foldCase(sent);
  foldContext(sent);
  if (isBoolean(sent["-n"])) delete sent["-n"];
  return sent;
}

/** Tools in which 0 results mean no limit get the largest. */
const MAX_RESULTS = 500;

const CASE_SWITCHES = ["-i", "case_insensitive", "ignore_case", "ignoreCase"] as const;

function foldCase(sent: Record<string, unknown>): void {
  for (const key of CASE_SWITCHES) {
    const value = sent[key];
    const flags = sent.flags ?? "";
    if (!isBoolean(value) || typeof flags !== "string") continue;
    if (/^true$/i.test(String(value)) && !flags.includes("i")) sent.flags = `${flags}i`;
    delete sent[key];
  }
}

function isBoolean(value: unknown): boolean {
  return (
    typeof value === "boolean" || (typeof value === "string" && /^(?:true|false)$/i.test(value))
  );
}

function foldContext(sent: Record<string, unknown>): void {
  const lines: number[] = [];
  for (const key of ["-A", "-B", "-C"]) {
    const value = sent[key];
    const isCount = /^\d{1,4}$/.test(String(value));
    if (!isCount || (typeof value !== "number" && typeof value !== "string")) continue;
    lines.push(Number(value));
    delete sent[key];
  }
  if (lines.length > 0) sent.context_lines ??= Math.min(20, Math.max(...lines));
}

export const REGEXP_SEARCH = {
  definition,
  metadata: metadataOf(definition, false, "client"),
  title: "Search in files",
  eventName: "RegexpSearch",
  furtherParameters: {
    gitignore: { type: "boolean" },
    include_hidden: { type: "boolean" },
    default_excludes: { type: "boolean" },
    max_line_chars: { type: "number" },
    max_file_size_bytes: { type: "number" },
    timeout_ms: { type: "number" },
  },
  examples: { pattern: "function\\s+main" },
  fold,
  resultSchema: object(
    {
      query: object({ pattern: string, flags: string }),
      root_path: string,
      took_ms: integer,
      truncated: boolean,
      scanned_files: integer,
      items: array(
        object(
          {
            path: string,
            line: integer,
            column: integer,
            match: string,
            line_text: string,
            end_line: integer,
            before: array(string),
            after: array(string),
            line_offset: integer,
            more_in_line: integer,
            matches: integer,
            matching_lines: integer,
          },
          [
            "line",
            "column",
            "match",
            "line_text",
            "end_line",
            "before",
            "after",
            "line_offset",
            "more_in_line",
            "matches",
            "matching_lines",
          ],
        ),
      ),
      warnings: array(string),
      next: string,
    },
    ["next"],
  ),
} as const satisfies ToolDescription<"regexp_search">;
