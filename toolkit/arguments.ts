// What models really send for arguments, read as it was meant: JSON text for objects, `"10"` for 10,
// `null` for what is absent. What cannot be meant is refused with one sentence that repairs it.

import { FURTHER_PARAMETERS, type JsonSchema, type ToolDefinition } from "./definitions/tools.js";

/**
 * Arguments that fit the definition, and the sentence that names what else was sent, if anything was;
 * or the sentence that tells how to make them fit.
 */
export type ReadArguments =
  | { ok: true; args: Record<string, unknown>; ignored: string | null }
  | { ok: false; repair: string };

/** Reads what a model sent as the arguments of a tool. */
export function readArguments(definition: ToolDefinition, sent: unknown): ReadArguments {
  const object = readObject(sent);
  if (typeof object === "string") return refuse(definition, object);
  const args: Record<string, unknown> = {};
  const parameters = {
    ...definition.parameters.properties,
    ...FURTHER_PARAMETERS[definition.name],
  };
  for (const [key, schema] of Object.entries(parameters)) {
    const value = Object.hasOwn(object, key) ? object[key] : undefined;
    if (value === undefined || value === null) {
      if (!definition.parameters.required.includes(key)) continue;
      return refuse(definition, `${key} is missing${nearKey(definition, key, object)}`);
    }
    const read = readValue(schema, value);
    if (read === undefined) {
      return refuse(definition, `${key} must be ${ruleOf(schema)}, not ${shown(value)}`);
    }
    args[key] = read;
  }
  return { ok: true, args, ignored: ignoredIn(definition, object, parameters) };
}

/**
 * `limit` is not `max_lines`: a model that is not told takes the answer for what it asked. Keys are
 * named only as far as they are plain words, and three of them.
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

/** What models write that is nearly JSON: fences, `None`, a comma at the end, a sentence after it. */
const NOT_JSON =
  "the arguments are not valid JSON: write one object, keys and strings in double quotes, line breaks in " +
  "them as \\n, no None, True or False, no comma before } and no code fence or text around it";

/** An object, or the JSON text of one, which some models encode twice; or what is wrong with it. */
function readObject(sent: unknown): Record<string, unknown> | string {
  let value = sent;
  for (let times = 0; typeof value === "string" && times < 2; times += 1) {
    const text = value;
    if (text.trim() === "") return {};
    try {
      value = JSON.parse(text);
    } catch {
      return text.includes("{") ? NOT_JSON : "the arguments must be a JSON object";
    }
  }
  if (value === undefined || value === null) return {};
  return typeof value === "object" && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : `the arguments must be a JSON object, not ${shown(value)}`;
}

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
    default:
      return typeof value === schema.type ? value : undefined;
  }
}

function numberIn(text: string): number | undefined {
  return /^\s*\+?\d+(?:\.\d+)?\s*$/.test(text) ? Number(text) : undefined;
}

const RULES: Readonly<Record<string, string>> = {
  string: "a string",
  number: "a number",
  integer: "an integer",
  boolean: "true or false",
};

function ruleOf(schema: JsonSchema): string {
  return RULES[schema.type] ?? `of the type ${schema.type}`;
}

/** What came, without its content, which may be long or hostile. */
function shown(value: unknown): string {
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  if (Array.isArray(value)) return "an array";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}

/** Where the model may have put what is missing: under `file_path`, or inside `arguments`. */
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

function refuse({ name, parameters }: ToolDefinition, what: string): ReadArguments {
  const example = Object.fromEntries(parameters.required.map((key) => [key, EXAMPLES[key] ?? "…"]));
  return { ok: false, repair: `${name}: ${what}; send for example ${JSON.stringify(example)}.` };
}

const EXAMPLES: Readonly<Record<string, string>> = {
  path: "src/main.ts",
  content: "…",
  uri: "file:///assets/brand.md",
};
