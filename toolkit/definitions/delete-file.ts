// The tool `delete_file`, docs/contract.md §12.

import type { DeleteFileArguments } from "../../index.js";
import { PATH_ALIASES, rename, unwrap } from "./aliases.js";
import { integer, object, string } from "./result-schema.js";
import { metadataOf, type ToolDescription } from "./tool.js";

/** The arguments of `delete_file`. */
export type DeleteFileToolArguments = DeleteFileArguments;

const definition = {
  name: "delete_file",
  description:
    "Deletes a file, a link or a folder of the workspace. Of a link only the link itself goes. A folder that is " +
    "not empty goes only with recursive.",
  parameters: {
    type: "object",
    properties: {
      path: {
        type: "string",
        description: "Relative path of the file, link or folder inside the workspace.",
      },
      recursive: {
        type: "boolean",
        default: false,
        description: "Set to true to delete a folder with all that it holds (default: false).",
      },
    },
    required: ["path"],
  },
} as const;

const ALIASES = {
  ...PATH_ALIASES,
  target: "path",
  expectedHash: "expected_hash",
  dryRun: "dry_run",
} as const;

export const DELETE_FILE = {
  definition,
  metadata: metadataOf(definition, true, "client"),
  title: "Delete a file",
  eventName: "DeleteFile",
  furtherParameters: { expected_hash: { type: "string" }, dry_run: { type: "boolean" } },
  fold: (given: Record<string, unknown>) => rename(unwrap(given, "input", "path"), ALIASES),
  examples: { path: "src/old.ts" },
  resultSchema: object({
    path: string,
    kind: string,
    entries: integer,
  }),
} as const satisfies ToolDescription<"delete_file">;
