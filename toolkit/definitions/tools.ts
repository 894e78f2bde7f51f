// The four tools as models see them. `read_file` is that of its specification §4.4, to the letter.

import type { CreateFileArguments, ReadSourceArguments } from "../../index.js";

/** As much of JSON Schema as the tools need. */
export interface JsonSchema {
  readonly type: "object" | "string" | "number" | "integer" | "boolean" | "array" | "null";
  readonly description?: string;
  readonly default?: string | number | boolean;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
}

/** A tool as models see it, in no provider's form. */
export interface ToolDefinition {
  readonly name: ToolName;
  readonly description: string;
  readonly parameters: JsonSchema & {
    readonly type: "object";
    readonly properties: Readonly<Record<string, JsonSchema>>;
    readonly required: readonly string[];
  };
}

/** The arguments of each tool, as its definition has them. */
export interface ToolArguments {
  read_file: {
    /** Relative to the workspace root. */
    path: string;
    /** First line of the window, an integer >= 1. Default 1. */
    start_line?: number | null;
    /** Most lines that come, an integer from 1 to 500. Default 200. */
    max_lines?: number | null;
    /** Whether `meta.sha256` is wanted, which `expectedHash` takes. Default `false`. */
    include_hash?: boolean | null;
  };
  workspace_create_file: CreateFileArguments;
  "workspace.read_file": ReadSourceArguments;
  read: {
    /** A `file:` URI, or any that the host's fetch reads. */
    uri: string;
  };
}

/** The name of a tool, and its key everywhere. */
export type ToolName = keyof ToolArguments;

const READ_FILE_DEFINITION = {
  name: "read_file",
  description:
    "Reads a UTF-8 text file in the workspace and returns a line-limited content window.",
  parameters: {
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
        description: "Maximum number of lines to return (default: 200).",
      },
    },
    required: ["path"],
  },
} as const;

const CREATE_FILE_DEFINITION = {
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

const READ_SOURCE_DEFINITION = {
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

const READ_DEFINITION = {
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

/** The tools by name. */
export const TOOL_DEFINITIONS = {
  read_file: READ_FILE_DEFINITION,
  workspace_create_file: CREATE_FILE_DEFINITION,
  "workspace.read_file": READ_SOURCE_DEFINITION,
  read: READ_DEFINITION,
} as const satisfies { readonly [Name in ToolName]: ToolDefinition & { readonly name: Name } };

/**
 * Arguments that a tool takes though its specification's definition does not tell models of them: a
 * host, or a model that was told by its prompt, replaces by them only the file that was read.
 */
export const FURTHER_PARAMETERS: {
  readonly [Name in ToolName]?: Readonly<Record<string, JsonSchema>>;
} = {
  read_file: { include_hash: { type: "boolean" } },
  workspace_create_file: { expectedHash: { type: "string" } },
};

/** What a host knows of a tool beside what models see. */
export interface ToolMetadata {
  readonly name: ToolName;
  /** Whether it writes, and so is refused under the write scope `"read-only"`. */
  readonly isWriteOp: boolean;
  readonly description: string;
  /** TUL-004 §4.1. */
  readonly category: "workspace";
  /** Where it is executed; a server advertises and forwards what belongs to the client. */
  readonly executionLocation: "client" | "server";
}

const metadata = <Name extends ToolName>(
  name: Name,
  isWriteOp: boolean,
  executionLocation: "client" | "server",
) => {
  const { description } = TOOL_DEFINITIONS[name];
  return { name, isWriteOp, description, category: "workspace", executionLocation } as const;
};

/** The metadata of the tools by name. */
export const TOOL_METADATA = {
  read_file: metadata("read_file", false, "client"),
  workspace_create_file: metadata("workspace_create_file", true, "client"),
  "workspace.read_file": metadata("workspace.read_file", false, "server"),
  read: metadata("read", false, "client"),
} as const satisfies { readonly [Name in ToolName]: ToolMetadata };

/** The names, in the order of the definitions. */
export const TOOL_NAMES = Object.keys(TOOL_DEFINITIONS) as readonly ToolName[];

/** Whether a text is the name of a tool; what an object inherits is none. */
export function isToolName(name: unknown): name is ToolName {
  return typeof name === "string" && Object.hasOwn(TOOL_DEFINITIONS, name);
}

/** Providers take letters, digits, `_` and `-` alone; `invoke` understands the name either way. */
export function providerName(name: ToolName): string {
  return name.replaceAll(".", "_");
}
