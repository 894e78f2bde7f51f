// What models really send for arguments, read as it was meant: JSON text for objects, `"10"` for 10,
// `null` for what is absent. What cannot be meant is refused with one sentence that repairs it.

import type { JsonSchema, ToolDefinition } from "./definitions/tools.js";

/** Arguments that fit the definition, or the sentence that tells how to make them fit. */
export type ReadArguments =
  | { ok: true; args: Record<string, unknown> }
  | { ok: false; repair: string };

/** Reads what a model sent as the arguments of a tool. Unknown keys are dropped. */
export function readArguments(definition: ToolDefinition, sent: unknown): ReadArguments {
  const object = readObject(sent);
  if (object === null) {
    return refuse(definition, "the arguments must be a JSON object");
  }
  const args: Record<string, unknown> = {};
  for (const [key, schema] of Object.entries(definition.parameters.properties)) {
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
  return { ok: true, args };
}

/** An object, or the JSON text of one, which some models encode twice. */
function readObject(sent: unknown): Record<string, unknown> | null {
  let value = sent;
  for (let times = 0; typeof value === "string" && times < 2; times += 1) {
    if (value.trim() === "") return {};
    try {
      value = JSON.parse(value);
    } catch {
      return null;
    }
  }
  if (value === undefined || value === null) return {};
  return typeof value === "object" && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : null;
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

/** A key that the model may have meant: `file_path` for `path`. */
function nearKey(definition: ToolDefinition, key: string, object: Record<string, unknown>): string {
  const known = definition.parameters.properties;
  const near = Object.keys(object).find(
    (other) => !Object.hasOwn(known, other) && other.toLowerCase().includes(key.toLowerCase()),
  );
  return near !== undefined && /^\w{1,40}$/.test(near) ? `: rename ${near} to ${key}` : "";
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
