// Reads the arguments that models really send: JSON text in place of an object, `"10"` in place of 10,
// `null` in place of an absent key. Arguments that cannot be read so are refused with one sentence that
// says how to repair them.

import type { JsonSchema, ToolDefinition, ToolDescription } from "./definitions/tool.js";

/**
 * Arguments that fit the definition, and a sentence that names ignored keys, if there are any; or a
 * sentence that says how to repair the arguments.
 */
export type ReadArguments =
  | { ok: true; args: Record<string, unknown>; ignored: string | null }
  | {
      ok: false;
      repair: string;
      /** The arguments that could be read. */
      args: Record<string, unknown>;
      /** The argument that could not be read; `null` if none could. */
      argument: string | null;
    };

/** Reads the arguments of a tool. `sent` returns them as they came, and may throw. */
export function readArguments(tool: ToolDescription, sent: () => unknown): ReadArguments {
  try {
    return readSent(tool, sent());
  } catch {
    // A host may pass an object whose getters or proxy traps throw.
    return refuse(tool, "the arguments cannot be read: reading them has thrown");
  }
}

function readSent(tool: ToolDescription, sent: unknown): ReadArguments {
  const { definition, furtherParameters } = tool;
  const object = folded(tool, readObject(sent, tool.fromText));
  if (typeof object === "string") return refuse(tool, object);
  // Without a prototype, so that properties of `Object.prototype` are not taken for arguments.
  const args: Record<string, unknown> = Object.create(null);
  const parameters = { ...definition.parameters.properties, ...furtherParameters };
  let refusal: ReadArguments | null = null;
  for (const [key, schema] of Object.entries(parameters)) {
    const value = Object.hasOwn(object, key) ? object[key] : undefined;
    if (value === undefined || value === null) {
      if (!definition.parameters.required.includes(key)) continue;
      const what = `${key} is missing${nearKey(definition, key, object)}`;
      refusal ??= refuse(tool, what, key, args);
      continue;
    }
    const read = readValue(schema, value);
    if (read === undefined) {
      const what = `${key} must be ${ruleOf(schema)}, not ${shown(value)}`;
      refusal ??= refuse(tool, what, key, args);
    } else {
      args[key] = read;
    }
  }
  return refusal ?? { ok: true, args, ignored: ignoredIn(definition, object, parameters) };
}

/** The arguments under the names of the definition. */
function folded(
  { fold }: ToolDescription,
  object: Record<string, unknown> | string,
): Record<string, unknown> | string {
  if (fold === undefined || typeof object === "string") return object;
  return fold(Object.assign(Object.create(null), object));
}

/**
 * The sentence about keys that the tool does not have. Without it a model that sends `limit` for
 * `max_lines` would believe that the answer obeys its limit. At most three keys are named, and only
 * plain words.
 */
function ignoredIn(
  { name, parameters: { properties } }: ToolDefinition,
  object: Record<string, unknown>,
  known: Readonly<Record<string, JsonSchema>>,
): string | null {
  const unknown = Object.keys(object).filter((key) => !Object.hasOwn(known, key));
  if (unknown.length === 0) return null;
  const named = unknown.filter(isPlain).slice(0, 3);
  const others = unknown.length - named.length;
  if (others > 0) named.push(others === 1 ? "another key" : `${others} other keys`);
  return `${name} takes ${Object.keys(properties).join(", ")}; ignored: ${named.join(", ")}.`;
}

function isPlain(key: string): boolean {
  return /^\w{1,40}$/.test(key);
}

/** Names the usual mistakes in almost-JSON: code fences, `None`, a trailing comma, text after the object. */
const NOT_JSON =
  "the arguments are not valid JSON: write one object, keys and strings in double quotes, line breaks in " +
  "them as \\n, no None, True or False, no comma before } and no code fence or text around it";

/** The longest JSON text that is parsed, in UTF-16 units. `JSON.parse` blocks the event loop. */
const MAX_JSON_LENGTH = 16 * 1024 * 1024;

/** Returns the arguments as an object, or a sentence about the mistake. Some models encode JSON twice. */
function readObject(
  sent: unknown,
  fromText?: ToolDescription["fromText"],
): Record<string, unknown> | string {
  let value = sent;
  for (let times = 0; typeof value === "string" && times < 2; times += 1) {
    if (value.length > MAX_JSON_LENGTH) {
      return `the arguments have more than ${MAX_JSON_LENGTH} characters of JSON`;
    }
    const text = withoutFence(value);
    if (text.trim() === "") return {};
    try {
      value = JSON.parse(text);
    } catch {
      const args = fromText?.(text);
      if (args) return args;
      return text.includes("{") ? NOT_JSON : "the arguments must be a JSON object";
    }
  }
  if (value === undefined || value === null) return {};
  return typeof value === "object" && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : `the arguments must be a JSON object, not ${shown(value)}`;
}

/** The text without a code fence around the whole of it. */
function withoutFence(text: string): string {
  return /^\s*```(?:json)?\s*(\{[\s\S]*\})\s*```\s*$/i.exec(text)?.[1] ?? text;
}

/** A copy, so that the tool gets what a person approved. Throws if the value is no data. */
function readValue(schema: JsonSchema, value: unknown): unknown {
  switch (schema.type) {
    case "number":
    case "integer": {
      const number = typeof value === "string" ? numberIn(value) : value;
      return typeof number === "number" && Number.isFinite(number) ? number : undefined;
    }
    case "boolean": {
      if (typeof value === "string" && /^\s*(?:true|false)\s*$/i.test(value)) {
        return value.trim().toLowerCase() === "true";
      }
      return typeof value === "boolean" ? value : undefined;
    }
    case "array":
      return withElements(schema, structuredClone(arrayIn(value)));
    case "object":
      return withProperties(schema, structuredClone(objectIn(value)));
    case undefined:
    case "null":
      return structuredClone(value);
    default:
      return typeof value === schema.type ? value : undefined;
  }
}

/** Reads the elements that can be read. The tool refuses the others, and names them. */
function withElements({ items }: JsonSchema, array: unknown[] | undefined): unknown {
  return items ? array?.map((element) => readValue(items, element) ?? element) : array;
}

/** The same for the properties of an object. */
function withProperties({ properties = {} }: JsonSchema, object: object | undefined): unknown {
  const fields = object as Record<string, unknown> | undefined;
  if (fields === undefined) return undefined;
  for (const [key, schema] of Object.entries(properties)) {
    if (Object.hasOwn(fields, key)) fields[key] = readValue(schema, fields[key]) ?? fields[key];
  }
  return fields;
}

/** Some models write nested arrays and objects as JSON text. */
function arrayIn(value: unknown): unknown[] | undefined {
  const array = typeof value === "string" ? jsonIn(value) : value;
  return Array.isArray(array) ? array : undefined;
}

function objectIn(value: unknown): object | undefined {
  const object = typeof value === "string" ? jsonIn(value) : value;
  return typeof object === "object" && object !== null && !Array.isArray(object)
    ? object
    : undefined;
}

function jsonIn(text: string): unknown {
  if (text.length > MAX_JSON_LENGTH) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function numberIn(text: string): number | undefined {
  return /^\s*[+-]?\d+(?:\.\d+)?(?:e\d+)?\s*$/i.test(text) ? Number(text) : undefined;
}

const RULES: Readonly<Record<string, string>> = {
  string: "a string",
  number: "a number",
  integer: "an integer",
  boolean: "true or false",
  array: "an array",
  object: "an object",
};

function ruleOf(schema: JsonSchema): string {
  return RULES[schema.type ?? ""] ?? `of the type ${schema.type}`;
}

/** Describes a value by its type, without its content, which may be long or hostile. */
function shown(value: unknown): string {
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  if (Array.isArray(value)) return "an array";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}

/** Names the key under which the model may have sent the missing one: `file_path`, or inside `arguments`. */
function nearKey(definition: ToolDefinition, key: string, object: Record<string, unknown>): string {
  const known = definition.parameters.properties;
  const others = Object.keys(object).filter(
    (other) => !Object.hasOwn(known, other) && isPlain(other),
  );
  const near = others.find((other) => other.toLowerCase().includes(key.toLowerCase()));
  if (near !== undefined) return `: rename ${near} to ${key}`;
  const wrapper = others.find((other) => holds(object[other], key));
  if (wrapper !== undefined) return `: send what is in ${wrapper} without ${wrapper} around it`;
  return others.length === 0 ? "" : `, and there is no key ${others.slice(0, 3).join(", ")}`;
}

function holds(value: unknown, key: string): boolean {
  const inner = typeof value === "string" && value.startsWith("{") ? readObject(value) : value;
  return typeof inner === "object" && inner !== null && Object.hasOwn(inner, key);
}

function refuse(
  { definition: { name, parameters }, examples }: ToolDescription,
  what: string,
  argument: string | null = null,
  args: Record<string, unknown> = Object.create(null),
): ReadArguments {
  const example = Object.fromEntries(
    parameters.required.map((key) => [key, examples?.[key] ?? "…"]),
  );
  const repair = `${name}: ${what}; send for example ${JSON.stringify(example)}.`;
  return { ok: false, repair, args, argument };
}
