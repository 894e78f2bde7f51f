// The tool `move_file`, docs/contract.md §12.

import type { MoveFileArguments } from "../../index.js";
import { PATH_ALIASES, rename, unwrap } from "./aliases.js";
import { boolean, object, string } from "./result-schema.js";
import { metadataOf, type ToolDescription } from "./tool.js";

/** The arguments of `move_file`. */
export type MoveFileToolArguments = MoveFileArguments;

const definition = {
  name: "move_file",
  description:
    "Moves or renames a file, a link or a folder of the workspace, and makes the folders that the new path needs. " +
    "Nothing is replaced, unless overwrite lets a file take the place of a file.",
  parameters: {
    type: "object",
    properties: {
      path: {
        type: "string",
        description: "Relative path of the file, link or folder inside the workspace.",
      },
      to: {
        type: "string",
        description: "Its new relative path, with its name: not a folder to move into.",
      },
      overwrite: {
        type: "boolean",
        default: false,
        description: "Set to true to replace a file that exists at the new path (default: false).",
      },
    },
    required: ["path", "to"],
  },
} as const;

/** Names under which models send the two paths, as they know them from other tools. */
const ALIASES = {
  ...PATH_ALIASES,
  source: "path",
  src: "path",
  from: "path",
  source_path: "path",
  sourcePath: "path",
  old_path: "path",
  oldPath: "path",
  destination: "to",
  dest: "to",
  target: "to",
  destination_path: "to",
  destinationPath: "to",
  new_path: "to",
  newPath: "to",
  expectedHash: "expected_hash",
  dryRun: "dry_run",
} as const;

export const MOVE_FILE = {
  definition,
  metadata: metadataOf(definition, true, "client"),
  title: "Move a file",
  eventName: "MoveFile",
  furtherParameters: { expected_hash: { type: "string" }, dry_run: { type: "boolean" } },
  fold: (given: Record<string, unknown>) => rename(unwrap(given, "input", "path"), ALIASES),
  examples: { path: "src/main.ts", to: "src/app/main.ts" },
  resultSchema: object({
    path: string,
    to: string,
    kind: string,
    overwritten: boolean,
  }),
} as const satisfies ToolDescription<"move_file">;
