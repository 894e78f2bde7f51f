// The tool `find_files`, docs/contract.md §13.

import type { FindFilesArguments } from "../../index.js";
import { asList, rename, unwrap, withoutEmpty } from "./aliases.js";
import { array, boolean, integer, object, string } from "./result-schema.js";
import { metadataOf, type ToolDescription } from "./tool.js";

/** The arguments of `find_files`. */
export type FindFilesToolArguments = FindFilesArguments;

const definition = {
  name: "find_files",
  description:
    "Finds files and folders in the workspace whose paths match globs, by path or newest first. It looks at " +
    "names, not at contents.",
  parameters: {
    type: "object",
    properties: {
      patterns: {
        type: "array",
        items: { type: "string" },
        description:
          'Globs. Without a "/" a pattern matches names at any depth ("*.ts"), with one it is relative to ' +
          'root_path ("src/**/*.test.ts"). {a,b} gives alternatives; a leading "!" takes back what earlier ' +
          "patterns matched.",
      },
      root_path: {
        type: "string",
        description: "Workspace-root-relative folder to look in (default: the whole workspace).",
      },
      exclude: {
        type: "array",
        items: { type: "string" },
        description: "Globs of files and folders to leave out.",
      },
      kind: {
        type: "string",
        enum: ["file", "directory", "all"],
        default: "file",
        description: 'What to find (default: "file").',
      },
      case_insensitive: {
        type: "boolean",
        default: false,
        description: "Whether patterns ignore case (default: false).",
      },
      gitignore: {
        type: "boolean",
        default: true,
        description: "Whether to leave out what .gitignore files ignore (default: true).",
      },
      include_hidden: {
        type: "boolean",
        default: true,
        description: "Whether names with a leading dot are found (default: true).",
      },
      default_excludes: {
        type: "boolean",
        default: true,
        description:
          "Whether to leave out folders called .git, node_modules, dist, build, target and .vscode " +
          "(default: true).",
      },
      sort: {
        type: "string",
        enum: ["path", "mtime"],
        default: "path",
        description: '"path", or "mtime" for the newest first (default: "path").',
      },
      max_results: {
        type: "integer",
        minimum: 1,
        maximum: 1000,
        default: 100,
        description: "Maximum number of items (default: 100).",
      },
      after: {
        type: "string",
        description: "The next of an earlier answer, to get the items after it.",
      },
    },
    required: ["patterns"],
  },
} as const;

/** Names under which models send the arguments, as they know them from other tools. */
const ALIASES = {
  pattern: "patterns",
  glob: "patterns",
  globs: "patterns",
  glob_pattern: "patterns",
  include_pattern: "patterns",
  query: "patterns",
  path: "root_path",
  dir_path: "root_path",
  directory: "root_path",
  dir: "root_path",
  folder: "root_path",
  cwd: "root_path",
  excludes: "exclude",
  exclude_pattern: "exclude",
  exclude_patterns: "exclude",
  ignore: "exclude",
  type: "kind",
  "-i": "case_insensitive",
  ignore_case: "case_insensitive",
  respect_gitignore: "gitignore",
  respect_git_ignore: "gitignore",
  limit: "max_results",
  head_limit: "max_results",
  cursor: "after",
} as const;

/** Words for `kind` that models know from `find` and `fd`. */
const KINDS: Readonly<Record<string, string>> = {
  f: "file",
  files: "file",
  d: "directory",
  dir: "directory",
  directories: "directory",
  folder: "directory",
  any: "all",
  both: "all",
};

function fold(given: Record<string, unknown>): Record<string, unknown> {
  const sent = rename(unwrap(given, "input", "patterns"), ALIASES);
  asList(sent, "patterns");
  asList(sent, "exclude");
  const { kind } = sent;
  if (typeof kind === "string" && Object.hasOwn(KINDS, kind)) sent.kind = KINDS[kind];
  return withoutEmpty(sent, ["root_path", "after"]);
}

export const FIND_FILES = {
  definition,
  metadata: metadataOf(definition, false, "client"),
  title: "Find files",
  eventName: "FindFiles",
  furtherParameters: { timeout_ms: { type: "integer" } },
  fold,
  examples: { patterns: ["src/**/*.ts"] },
  resultSchema: object(
    {
      patterns: array(string),
      root_path: string,
      took_ms: integer,
      truncated: boolean,
      total: integer,
      scanned_entries: integer,
      items: array(object({ path: string, kind: string, size: integer, mtime_ms: integer })),
      warnings: array(string),
      next: string,
    },
    ["next"],
  ),
} as const satisfies ToolDescription<"find_files">;
