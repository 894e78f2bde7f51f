// Arguments that models send by other names than those of a tool's definition.

/**
 * Moves the values of aliases to the arguments that they stand for. An argument that is there keeps its value, and
 * its aliases stay where they are, so that the model is told that they are ignored.
 */
export function rename(
  sent: Record<string, unknown>,
  aliases: Readonly<Record<string, string>>,
): Record<string, unknown> {
  for (const [alias, name] of Object.entries(aliases)) {
    const value = sent[alias];
    if (value === undefined || value === null) continue;
    if (sent[name] !== undefined && sent[name] !== null) continue;
    sent[name] = value;
    delete sent[alias];
  }
  return sent;
}

/** Makes a list of an argument that is a single text. JSON text of an array stays: it is read as one later. */
export function asList(sent: Record<string, unknown>, name: string): Record<string, unknown> {
  const value = sent[name];
  if (typeof value === "string" && !isJsonArray(value)) sent[name] = [value];
  return sent;
}

/** Whether a text is JSON of an array. `[id].tsx` begins like one. */
function isJsonArray(text: string): boolean {
  return text.trimStart().startsWith("[") && Array.isArray(unwritten(text));
}

/** Removes arguments that are empty texts: models that may not leave a key out send those. */
export function withoutEmpty(
  sent: Record<string, unknown>,
  names: readonly string[],
): Record<string, unknown> {
  for (const name of names) if (sent[name] === "") delete sent[name];
  return sent;
}

/** The aliases of `path` that models send to tools of other toolkits. */
export const PATH_ALIASES = { file_path: "path", filePath: "path", filename: "path" } as const;

/**
 * The arguments inside of a wrapper such as `input`, an object or its JSON text, if the argument `needed` is missing
 * beside it.
 */
export function unwrap(
  sent: Record<string, unknown>,
  wrapper: string,
  needed: string,
): Record<string, unknown> {
  const { [wrapper]: wrapped, ...rest } = sent;
  if (wrapped === undefined || sent[needed] !== undefined) return sent;
  const inner = unwritten(wrapped);
  if (typeof inner !== "object" || inner === null || Array.isArray(inner)) return sent;
  return Object.assign(Object.create(null), rest, inner);
}

/** The value that JSON text stands for, or `undefined`; a value that is no text is itself. */
export function unwritten(value: unknown): unknown {
  if (typeof value !== "string") return value;
  try {
    return JSON.parse(value);
  } catch {
    return undefined;
  }
}
