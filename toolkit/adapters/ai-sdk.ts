// Vercel AI SDK. The package `ai` is not imported: it recognises a schema by a symbol of the global registry,
// which is the same from version 5.0 on.

import type { ToolDescription } from "../definitions/tool.js";
import {
  isToolName,
  type ProviderName,
  providerName,
  type ToolName,
} from "../definitions/tools.js";
import { ownOf } from "../own.js";
import type { ToolResult } from "../result.js";
import { assertNamed, describe, givenTools, type ToolSelection } from "./names.js";

/** A tool for `generateText({ tools })` and `streamText({ tools })`. */
export interface AiSdkTool<Input = unknown, Output = unknown> {
  description: string;
  /**
   * A schema as `jsonSchema` of `ai` makes it. Each version of `ai` declares its own type for it, with a symbol
   * that no other declaration can name. `never` is assignable to all of them.
   */
  inputSchema: never;
  /** Whether a person is asked before the call (version 6). Present only if the option was given. */
  needsApproval?: NeedsApproval<Input>;
  execute(
    input: Input,
    options?: { abortSignal?: AbortSignal | undefined },
  ): Promise<ToolResult<Output>>;
}

/** Whether a call needs a person's approval, or a function that decides it. */
export type NeedsApproval<Input = unknown> =
  | boolean
  | Bivariant<(input: Input, options: object) => boolean | PromiseLike<boolean>>;

/** The type of a function that may be replaced by one with narrower parameters, as a method may. */
type Bivariant<F extends (...args: never[]) => unknown> = {
  method(...args: Parameters<F>): ReturnType<F>;
}["method"];

/** The part of a toolkit that is used. */
export interface AiSdkToolkit {
  /** The tools by name: their types become those of the tools for the AI SDK. */
  readonly tools: object;
  getAllowedTools(): readonly string[];
  getToolDescriptions(): readonly ToolDescription[];
  invoke(
    name: string,
    args: unknown,
    options?: { signal?: AbortSignal | null } | null,
  ): Promise<ToolResult>;
}

/** Options of `toAiSdkTools`; each key of an option is the name of a tool in the toolkit. */
export interface AiSdkToolOptions<Names extends Renames = Renames>
  extends Omit<ToolSelection, "tools"> {
  /** Names of the toolkit's tools, or descriptions. Default: those that can be used. */
  tools?: readonly (ToolName | (string & {}) | ToolDescription)[] | null;
  /** New names of tools: 1 to 64 letters, digits, `_` and `-`. */
  names?: Names | null;
  /** The tools whose calls a person has to approve: all calls, or those for which a function returns `true`. */
  needsApproval?: { readonly [name: string]: NeedsApproval | undefined } | null;
}

type Renames = { readonly [name: string]: string | undefined };

/** The allowed tools, by their names for the model. */
export type AiSdkTools<Tools extends object, Names extends Renames = Record<never, never>> = {
  [Name in keyof Tools & string as NewName<Name, Names>]: Tools[Name] extends (
    args: infer Input,
    ...rest: never[]
  ) => Promise<ToolResult<infer Output>>
    ? AiSdkTool<Input, Output>
    : never;
};

type NewName<Name extends string, Names> =
  Names extends Readonly<Record<Name, infer New extends string>> ? New : ProviderName<Name>;

const SCHEMA = Symbol.for("vercel.ai.schema");
// Version 5 also looks for the symbol of a validator.
const VALIDATOR = Symbol.for("vercel.ai.validator");

/**
 * The tools of a toolkit, by their names for the model. By default these are the allowed tools.
 *
 * Throws a `TypeError` that names the unknown tool or the invalid name.
 */
export function toAiSdkTools<
  Kit extends AiSdkToolkit,
  const Names extends Renames = Record<never, never>,
>(toolkit: Kit, options?: AiSdkToolOptions<Names> | null): AiSdkTools<Kit["tools"], Names> {
  const tools = toolsOf(toolkit, options);
  const names = ownOf(options, "names") ?? {};
  const needsApproval = ownOf(options, "needsApproval") ?? {};
  for (const [option, given] of Object.entries({ names, needsApproval })) {
    for (const name of Object.keys(given)) {
      if (!isToolName(name)) assertNamed(option, name, tools);
    }
  }
  const made = new Map<string, AiSdkTool>();
  for (const { definition } of tools) {
    const name = newName(definition.name, names);
    if (made.has(name)) throw new TypeError(`names: two tools have the name ${name}`);
    made.set(name, toolOf(toolkit, definition, ownValue(needsApproval, definition.name)));
  }
  return Object.fromEntries(made) as AiSdkTools<Kit["tools"], Names>;
}

/** The selected tools. A host's own tool may be selected by its name, too. */
function toolsOf(
  toolkit: AiSdkToolkit,
  options: AiSdkToolOptions | null | undefined,
): ToolDescription[] {
  const described = new Map(
    toolkit.getToolDescriptions().map((tool) => [tool.definition.name, tool]),
  );
  const wanted = givenTools(options) ?? toolkit.getAllowedTools();
  const tools = wanted.map((tool) => {
    const own = typeof tool === "string" ? described.get(tool) : tool;
    return own ?? (tool as ToolName);
  });
  return describe({ tools, descriptions: ownOf(options, "descriptions") ?? null });
}

function newName(name: string, names: Renames): string {
  const given = ownValue(names, name) ?? providerName(name);
  if (typeof given === "string" && /^[\w-]{1,64}$/.test(given)) return given;
  throw new TypeError(`names: the name of ${name} must have 1 to 64 letters, digits, _ and -`);
}

function ownValue<T>(
  table: { readonly [name: string]: T | undefined },
  name: string,
): T | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}

function toolOf(
  toolkit: AiSdkToolkit,
  { name, description, parameters }: ToolDescription["definition"],
  needsApproval: NeedsApproval | undefined,
): AiSdkTool {
  return {
    description,
    inputSchema: schemaOf(parameters),
    ...(needsApproval === undefined ? {} : { needsApproval }),
    execute: (input, call) => toolkit.invoke(name, input, { signal: call?.abortSignal ?? null }),
  };
}

/** The schema, without `validate`: `invoke` checks the arguments, and says how to repair them. */
function schemaOf(parameters: object): never {
  return {
    [SCHEMA]: true,
    [VALIDATOR]: true,
    _type: undefined,
    jsonSchema: structuredClone(parameters),
    validate: undefined,
  } as never;
}
