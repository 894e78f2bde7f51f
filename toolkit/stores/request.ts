// What every store does with a request.

import type { DocumentRequest } from "../../index.js";

/** How many bytes of a document suffice: `Infinity` if nothing is said. */
export function bytesWanted({ maxBytes }: DocumentRequest): number {
  if (maxBytes === undefined || maxBytes === null) return Number.POSITIVE_INFINITY;
  if (!Number.isSafeInteger(maxBytes) || maxBytes < 1) {
    throw new RangeError(`maxBytes must be an integer >= 1, not ${String(maxBytes)}`);
  }
  return maxBytes;
}

/** A copy of the first `count` bytes, in memory of its own: `slice` of a Buffer is a view. */
export function copyOf(bytes: Uint8Array, count = Number.POSITIVE_INFINITY): Uint8Array {
  return new Uint8Array(bytes.subarray(0, Math.min(count, bytes.length)));
}

/** Whether text has no UTF-8: encoders make U+FFFD of a lone surrogate, or throw. */
export function hasLoneSurrogate(text: string): boolean {
  return /\p{Surrogate}/u.test(text);
}

export function utf8(text: string, what: string): Uint8Array {
  if (hasLoneSurrogate(text)) throw new TypeError(`${what} has a lone surrogate: it is no text`);
  return new TextEncoder().encode(text);
}
