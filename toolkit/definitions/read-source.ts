// The tool `workspace.read_file`, TUL-001.

import type { ReadSourceArguments } from "../../index.js";
import { boolean, integer, nullable, object, string } from "./result-schema.js";
import { metadataOf, type ToolDescription } from "./tool.js";

/** The arguments of `workspace.read_file`. */
export type ReadSourceToolArguments = ReadSourceArguments;

const definition = {
  name: "workspace.read_file",
  description:
    "Retrieves the full content of a source document from the cloud source store by its DocPath.",
  parameters: {
    type: "object",
    properties: {
      path: {
        type: "string",
        description:
          "Canonical DocPath of the document, exactly as the RAG snippet header gives it.",
      },
      maxBytes: {
        type: "integer",
        minimum: 1,
        description: "Maximum number of bytes to return; if omitted, the entire file is returned.",
      },
    },
    required: ["path"],
  },
} as const;

export const READ_SOURCE = {
  definition,
  metadata: metadataOf(definition, false, "server"),
  title: "Read a source document",
  eventName: "ReadSource",
  examples: { path: "src/main.ts" },
  resultSchema: object({
    success: boolean,
    errorCode: nullable(string),
    errors: { type: "array", items: string },
    file: nullable(
      object({ path: string, sizeBytes: integer, content: string, isTruncated: boolean }),
    ),
    sessionId: nullable(string),
    conversationId: nullable(string),
  }),
} as const satisfies ToolDescription<"workspace.read_file">;
