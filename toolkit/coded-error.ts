// Errors of tools written in TypeScript.

/** An error with a `code` and the message `CODE: sentence`. */
export function codedError(
  code: string,
  sentence: string,
  more: { cause?: unknown; status?: number } = {},
): Error {
  const { status, ...options } = more;
  const error = new Error(`${code}: ${wellFormed(sentence)}`, options);
  return Object.assign(error, { code }, status === undefined ? {} : { status });
}

/** Gives an error its name, as an own property that is not enumerable, and returns it. */
export function withName(error: Error, name: string): Error {
  // Without a prototype: a `get` or `set` on `Object.prototype` would make `defineProperty` throw.
  const property = { __proto__: null, value: name, writable: true, configurable: true };
  return Object.defineProperty(error, "name", property as object);
}

/** Replaces lone surrogates by U+FFFD: many JSON parsers refuse them. */
export function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, "\ufffd");
}
