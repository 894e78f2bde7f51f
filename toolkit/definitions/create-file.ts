// The tool `workspace_create_file`, TUL-004.

import type { CreateFileArguments, CreateFileErrorCode } from "../../index.js";
import { boolean, integer, nullable, object, string } from "./result-schema.js";
import { metadataOf, type ToolDescription } from "./tool.js";

/** The arguments of `workspace_create_file`. */
export type CreateFileToolArguments = CreateFileArguments;

/**
 * The options of a workspace or context for a host of TUL-004: `hash` is then the canonical content hash of
 * §5.1 step 6.
 */
export const TUL_004_OPTIONS = { contentHash: "aptix" } as const;

/** The canonical error codes of TUL-004 §5.3. */
export const CREATE_FILE_ERROR_CODES = [
  "FileExists",
  "InvalidPath",
  "DirectoryCreateFailed",
  "WriteFailed",
  "TooLarge",
  "HashFailed",
  "UnhandledException",
] as const satisfies readonly CreateFileErrorCode[];

const definition = {
  name: "workspace_create_file",
  description:
    "Create a new file in the user’s workspace or fully replace an existing file when explicitly allowed.",
  parameters: {
    type: "object",
    properties: {
      path: {
        type: "string",
        description: "Relative file path inside the workspace.",
      },
      content: {
        type: "string",
        description:
          "Full text content of the file (UTF-8, no BOM, `\\n` line endings recommended).",
      },
      overwrite: {
        type: "boolean",
        default: false,
        description:
          "Set to true if the file already exists and you intend to replace it (default: false).",
      },
    },
    required: ["path", "content"],
  },
} as const;

export const CREATE_FILE = {
  definition,
  metadata: metadataOf(definition, true, "client"),
  title: "Create a file",
  eventName: "CreateFile",
  // Hosts use it to replace only the file that was read; a prompt may tell a model to do so.
  furtherParameters: { expectedHash: { type: "string" } },
  examples: { path: "src/main.ts" },
  resultSchema: object({
    success: boolean,
    message: string,
    path: string,
    sizeBytes: integer,
    hash: string,
    created: boolean,
    overwritten: boolean,
    errorCode: nullable(string),
  }),
} as const satisfies ToolDescription<"workspace_create_file">;
