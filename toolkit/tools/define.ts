// `defineTool` makes a host's own tool into an object of the same type as ringfence's tools.

import type { HandlerContext } from "../context.js";
import { isToolName } from "../definitions/index.js";
import type {
  ExecutionLocation,
  JsonSchema,
  ParametersSchema,
  ResultSchema,
} from "../definitions/tool.js";
import type { CallContext } from "../session.js";
import type { Tool } from "./tool.js";

/** A host's description of its own tool. */
export interface OwnTool<Name extends string, Args extends object, Data> {
  /** The name for models: up to 64 letters, digits, `_`, `-` and `.`. */
  name: Name;
  /** The description for models. */
  description: string;
  /** The JSON Schema of its arguments. */
  parameters: {
    readonly type: "object";
    readonly properties: ParametersSchema["properties"];
    readonly required?: readonly string[];
  };
  /** Whether it writes. A tool that writes is refused under the write scope `"read-only"`. */
  isWriteOp: boolean;
  /** Does the work: returns or resolves with the data, throws or rejects with an error. */
  handler(context: CallContext, args: Args): Promise<Data> | Data;
  /** The title for people. Default: the name. */
  title?: string;
  /** Default `"host"`. */
  category?: string;
  /** Where it is executed. Default `"both"`: wherever it is called. */
  executionLocation?: ExecutionLocation | "both";
  /** Whether it needs a workspace. If so, a toolkit without one does not offer it. */
  needsWorkspace?: boolean;
  /** The schema of its data, for protocols that announce it. */
  resultSchema?: ResultSchema;
  /** Example values for the sentence that says how to repair a call. */
  examples?: Readonly<Record<string, unknown>>;
  /** Whether it reaches beyond the host's own files, such as the internet. */
  isOpenWorld?: boolean;
}

/** A tool that `defineTool` has made. */
export interface DefinedTool<
  Name extends string = string,
  Args extends object = never,
  Data = unknown,
> extends Tool<Name, Args, Data> {
  handler(context: HandlerContext, args: Args): Promise<Data> | Data;
}

/**
 * Makes a tool of a host's own for `createAgentToolkit(context, { tools: […] })`: policy, write scope,
 * approval, argument reading, events and adapters are the same as for ringfence's tools.
 *
 * The handler gets the context of its call: `context.workspace` is the one held root, or `null`.
 *
 * Throws a `TypeError` that names the wrong property.
 */
export function defineTool<const Name extends string, Args extends object, Data>(
  own: OwnTool<Name, Args, Data>,
): DefinedTool<Name, Args, Data> {
  check(own);
  const { name, description, isWriteOp, handler } = own;
  const { needsWorkspace, resultSchema, examples, isOpenWorld } = own;
  const executionLocation = own.executionLocation ?? "both";
  const { properties, required = [] } = own.parameters;
  return {
    definition: { name, description, parameters: { ...own.parameters, properties, required } },
    metadata: {
      name,
      isWriteOp,
      description,
      category: own.category ?? "host",
      executionLocation,
    },
    title: own.title ?? name,
    eventName: name,
    handler: (context: HandlerContext, args: Args) =>
      handler.call(own, context as CallContext, args),
    paramsOf: (args) => [args] as never[],
    ...(needsWorkspace == null ? {} : { needsWorkspace }),
    ...(resultSchema == null ? {} : { resultSchema }),
    ...(examples == null ? {} : { examples }),
    ...(isOpenWorld == null ? {} : { isOpenWorld }),
  };
}

type Must = (holds: boolean, rule: string) => void;

function check(own: OwnTool<string, never, unknown>): void {
  if (typeof own !== "object" || own === null) throw new TypeError("a tool must be an object");
  const { name, description, parameters, isWriteOp, handler } = own;
  if (typeof name !== "string" || !/^[\w.-]{1,64}$/.test(name)) {
    throw new TypeError("name must have 1 to 64 letters, digits, _, - and .");
  }
  const must: Must = (holds, rule) => {
    if (!holds) throw new TypeError(`${name}: ${rule}`);
  };
  must(!isToolName(name), "this is the name of a tool of ringfence");
  must(typeof description === "string", "description must be a string");
  checkObjectSchema("parameters", parameters, must);
  checkTypes(parameters, must);
  must(typeof isWriteOp === "boolean", "isWriteOp must be true or false");
  must(typeof handler === "function", "handler must be a function");
  checkOptional(own, must);
}

const LOCATIONS: readonly unknown[] = ["client", "server", "both"];

/** The properties that may be absent. `null` means absent, too. */
function checkOptional(own: OwnTool<string, never, unknown>, must: Must): void {
  for (const key of ["title", "category"] as const) {
    must(own[key] == null || typeof own[key] === "string", `${key} must be a string`);
  }
  for (const key of ["needsWorkspace", "isOpenWorld"] as const) {
    must(own[key] == null || typeof own[key] === "boolean", `${key} must be true or false`);
  }
  const { executionLocation, examples, resultSchema } = own;
  must(
    executionLocation == null || LOCATIONS.includes(executionLocation),
    'executionLocation must be "client", "server" or "both"',
  );
  must(examples == null || isObject(examples), "examples must be an object");
  if (resultSchema != null) checkObjectSchema("resultSchema", resultSchema, must);
}

/** Checks a schema as far as the argument reader and the adapters rely on its form. */
function checkObjectSchema(where: string, schema: unknown, must: Must): void {
  must(
    isObject(schema) && (schema as JsonSchema).type === "object",
    `${where} must be a schema of type "object"`,
  );
  const { properties, required } = schema as JsonSchema;
  must(isObject(properties), `${where}.properties must be an object`);
  for (const [key, value] of Object.entries(properties ?? {})) {
    must(isObject(value), `${where}.properties.${key} must be an object, a JSON Schema`);
  }
  must(
    required === undefined ||
      (Array.isArray(required) && required.every((key) => typeof key === "string")),
    `${where}.required must be an array of strings`,
  );
  must(isJson(schema), `${where} must be JSON, without functions and circles`);
}

const TYPES: readonly unknown[] = "object array string number integer boolean null".split(" ");

/** Checks the types of arguments. The argument reader knows no lists of types. */
function checkTypes(
  { properties }: OwnTool<string, never, unknown>["parameters"],
  must: Must,
): void {
  for (const [key, { type }] of Object.entries(properties)) {
    must(
      type === undefined || TYPES.includes(type),
      `parameters.properties.${key}.type must be one of ${TYPES.join(", ")}`,
    );
  }
}

/** Whether the adapters can copy a value, and write it as JSON. */
function isJson(value: unknown): boolean {
  try {
    JSON.stringify(structuredClone(value));
    return true;
  } catch {
    return false;
  }
}

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
