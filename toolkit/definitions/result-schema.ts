// Building blocks of result schemas.

import type { ResultSchema } from "./tool.js";

export const string = { type: "string" };
export const integer = { type: "integer" };
export const boolean = { type: "boolean" };

export const array = (items: object) => ({ type: "array", items });

/** `anyOf` and not `type: [x, "null"]`: some clients accept only a single type. */
export const nullable = (schema: object) => ({ anyOf: [schema, { type: "null" }] });

export const object = (
  properties: Record<string, object>,
  optional: readonly string[] = [],
): ResultSchema => ({
  type: "object",
  properties,
  required: Object.keys(properties).filter((key) => !optional.includes(key)),
});
