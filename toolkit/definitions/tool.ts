// The description of a tool: everything about it but its handler. Each tool has a file of its own in this
// folder, which exports one `ToolDescription`. `tools.ts` and `results.ts` make their tables of these.

/** A JSON Schema, with the keywords that the argument reader and the adapters use. */
export interface JsonSchema {
  readonly type?: "object" | "string" | "number" | "integer" | "boolean" | "array" | "null";
  readonly description?: string;
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly enum?: readonly unknown[];
  readonly items?: JsonSchema;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  /** Other keywords pass through to the model. */
  readonly [keyword: string]: unknown;
}

/** The schema of a tool's arguments. */
export type ParametersSchema = JsonSchema & {
  readonly type: "object";
  readonly properties: Readonly<Record<string, JsonSchema>>;
  readonly required: readonly string[];
};

/** A tool as models see it, in a form of no provider. */
export interface ToolDefinition<Name extends string = string> {
  readonly name: Name;
  readonly description: string;
  readonly parameters: ParametersSchema;
}

/** Where a tool is executed. */
export type ExecutionLocation = "client" | "server";

/** Data about a tool for hosts. */
export interface ToolMetadata<Name extends string = string> {
  readonly name: Name;
  /** Whether it writes. A tool that writes is refused under the write scope `"read-only"`. */
  readonly isWriteOp: boolean;
  readonly description: string;
  /** TUL-004 §4.1: `"workspace"` for the tools of ringfence. */
  readonly category: string;
  /**
   * The side that executes it. A server advertises and forwards the client's tools. `"both"`: the side that is
   * called.
   */
  readonly executionLocation: ExecutionLocation | "both";
}

/** The JSON Schema of a tool's data. */
export interface ResultSchema {
  readonly type: "object";
  readonly properties: Readonly<Record<string, object>>;
  readonly required: readonly string[];
}

/** A tool's definition, metadata, and the data that events, adapters and argument checks need. */
export interface ToolDescription<Name extends string = string> {
  readonly definition: ToolDefinition<Name>;
  readonly metadata: ToolMetadata<Name>;
  /** The title for people. */
  readonly title: string;
  /** The middle of its events' names: `ReadFile` in `Tool.ReadFile.Executed`. */
  readonly eventName: string;
  /** Arguments that it understands although its definition does not list them. */
  readonly furtherParameters?: Readonly<Record<string, JsonSchema>>;
  /**
   * Puts arguments that models send under other names where the definition has them: `file_path` becomes `path`.
   * It gets a copy of the sent object and may change it. The core takes no other names.
   */
  readonly fold?: (sent: Record<string, unknown>) => Record<string, unknown>;
  /**
   * The arguments for a text that is no JSON, where models were taught to send the main argument alone; `null` if the
   * text is not it.
   */
  readonly fromText?: (text: string) => Record<string, unknown> | null;
  /** Example values for the sentence that says how to repair a call. Other required arguments show as `…`. */
  readonly examples?: Readonly<Record<string, unknown>>;
  /** The schema of its data, for protocols that announce it. */
  readonly resultSchema?: ResultSchema;
  /** Whether a call that is repeated changes nothing more. Default: yes. */
  readonly isIdempotent?: boolean;
  /** Whether it reaches beyond the host's own files, such as the internet. */
  readonly isOpenWorld?: boolean;
}

/** The metadata of a definition. */
export function metadataOf<const Definition extends ToolDefinition, IsWriteOp extends boolean>(
  definition: Definition,
  isWriteOp: IsWriteOp,
  executionLocation: ExecutionLocation,
): ToolMetadata<Definition["name"]> {
  const { name, description } = definition;
  return { name, isWriteOp, description, category: "workspace", executionLocation };
}
