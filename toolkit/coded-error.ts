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

/** Replaces lone surrogates by U+FFFD: many JSON parsers refuse them. */
export function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, "\ufffd");
}
