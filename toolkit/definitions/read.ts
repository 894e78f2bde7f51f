// The tool `read`: `file:` URIs, and whatever the host's fetch reads.

import { integer, object, string } from "./result-schema.js";
import { metadataOf, type ToolDescription } from "./tool.js";

/** The arguments of `read`. */
export interface ReadToolArguments {
  /** A `file:` URI, or any that the host's fetch reads. */
  uri: string;
}

const definition = {
  name: "read",
  description:
    "Reads a text file of the workspace (file:///path) or of the current chat (file:path), or a remote URL.",
  parameters: {
    type: "object",
    properties: {
      uri: {
        type: "string",
        description:
          'URI to read (e.g., "file:///assets/brand.md", "file:notes.md", "https://example.com/").',
      },
    },
    required: ["uri"],
  },
} as const;

export const READ = {
  definition,
  metadata: metadataOf(definition, false, "client"),
  title: "Read a URI",
  eventName: "Read",
  examples: { uri: "file:///assets/brand.md" },
  resultSchema: object(
    {
      uri: string,
      text: string,
      mimeType: string,
      sizeBytes: integer,
      scope: string,
      path: string,
    },
    ["scope", "path"],
  ),
  // It reaches whatever the host's fetch reaches.
  isOpenWorld: true,
} as const satisfies ToolDescription<"read">;
