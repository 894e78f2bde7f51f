// The tool `tree`, docs/contract.md §13.

import type { TreeOptions } from "../../index.js";
import { asList, PATH_ALIASES, rename, unwrap, withoutEmpty } from "./aliases.js";
import { array, boolean, integer, object, string } from "./result-schema.js";
import { metadataOf, type ToolDescription } from "./tool.js";

/** The arguments of `tree`. */
export interface TreeToolArguments extends Omit<TreeOptions, "signal"> {
  /** Relative to the workspace root. Default: the root. */
  path?: string | null;
}

const definition = {
  name: "tree",
  description:
    "Shows the tree of folders beneath a folder of the workspace, with files and links if entry_kind is " +
    '"all".',
  parameters: {
    type: "object",
    properties: {
      path: {
        type: "string",
        default: ".",
        description: 'Workspace-root-relative folder (default: ".", the whole workspace).',
      },
      entry_kind: {
        type: "string",
        enum: ["directory", "all"],
        default: "directory",
        description: 'Folders alone, or "all" for files and links, too (default: "directory").',
      },
      max_depth: {
        type: "integer",
        minimum: 0,
        maximum: 12,
        default: 3,
        description: "How many levels beneath the folder (default: 3).",
      },
      max_entries: {
        type: "integer",
        minimum: 1,
        maximum: 1000,
        default: 100,
        description: "Maximum number of nodes, the folder itself included (default: 100).",
      },
      include_hidden: {
        type: "boolean",
        default: false,
        description: "Whether names with a leading dot are shown (default: false).",
      },
      exclude: {
        type: "array",
        items: { type: "string" },
        description: "Globs of files and folders to leave out, relative to the workspace root.",
      },
      gitignore: {
        type: "boolean",
        default: false,
        description: "Whether to leave out what .gitignore files ignore (default: false).",
      },
    },
    required: [],
  },
} as const;

/** Names under which models send the arguments, as they know them from other tools. */
const ALIASES = {
  ...PATH_ALIASES,
  root_path: "path",
  dir_path: "path",
  directory: "path",
  dir: "path",
  folder: "path",
  depth: "max_depth",
  level: "max_depth",
  limit: "max_entries",
  head_limit: "max_entries",
  ignore: "exclude",
  excludes: "exclude",
  exclude_patterns: "exclude",
  excludePatterns: "exclude",
  respect_gitignore: "gitignore",
} as const;

function fold(given: Record<string, unknown>): Record<string, unknown> {
  const sent = rename(unwrap(given, "input", "path"), ALIASES);
  asList(sent, "exclude");
  return withoutEmpty(sent, ["path"]);
}

const NODE = {
  name: string,
  path: string,
  depth: integer,
  kind: string,
  truncated: boolean,
  // A schema that refers to itself is more than some clients can read.
  children: array({ type: "object" }),
};

export const TREE = {
  definition,
  metadata: metadataOf(definition, false, "client"),
  title: "Show the folder tree",
  eventName: "Tree",
  fold,
  examples: { path: "src" },
  resultSchema: object({
    root: object(NODE, ["truncated", "children"]),
    limit_reached: boolean,
    scanned_entries: integer,
    total_dirs: integer,
    total_files: integer,
    total_symlinks: integer,
  }),
} as const satisfies ToolDescription<"tree">;
