// Reads the request options of `get`, `putBytes`, `getBytes` and `exists`, for all stores.

import type { DocumentRequest } from "../../index.js";
import { throwIfAborted } from "../abort.js";
import { MAX_DOCUMENT_BYTES } from "../limits.js";
import { ownOf } from "../own.js";

/** A request, read and checked. */
export interface ReadRequest {
  /** How many bytes of the document are wanted; `Infinity` without `maxBytes`. */
  wanted: number;
  signal: AbortSignal | null;
}

/** Reads the second argument of `get`. Throws the reason of an aborted signal. */
export function readRequest(request: DocumentRequest | null | undefined): ReadRequest {
  const signal = signalOf(request);
  const maxBytes = ownOf(request, "maxBytes");
  if (maxBytes === undefined || maxBytes === null) {
    return { wanted: Number.POSITIVE_INFINITY, signal };
  }
  if (!Number.isSafeInteger(maxBytes) || maxBytes < 1) {
    throw new RangeError(`maxBytes must be an integer >= 1, not ${shown(maxBytes)}`);
  }
  return { wanted: maxBytes, signal };
}

/** The signal of options; throws its reason if it is aborted. */
export function signalOf(
  options: { signal?: AbortSignal | null } | null | undefined,
): AbortSignal | null {
  const signal = ownOf(options, "signal") ?? null;
  throwIfAborted(signal);
  return signal;
}

function shown(value: unknown): string {
  return typeof value === "number" ? String(value) : `a value of type ${typeof value}`;
}

/** The largest buffer that all supported engines can make, in bytes: 4 GiB (Node 20). */
export const MAX_BUFFER_BYTES = 2 ** 32;

/** Throws if more bytes than the limit would be loaded. */
export function checkSize(count: number, limit = MAX_DOCUMENT_BYTES): void {
  if (count <= limit) return;
  const message = `${count} bytes are more than the ${limit} that can be loaded at once`;
  throw Object.assign(new RangeError(message), { code: "TOO_LARGE" });
}

/** A copy of the first `count` bytes. (`slice` of a Buffer would be a view of the same memory.) */
export function copyOf(bytes: Uint8Array, count = Number.POSITIVE_INFINITY): Uint8Array {
  return new Uint8Array(bytes.subarray(0, Math.min(count, bytes.length)));
}

/** Whether a text has a lone surrogate. UTF-8 cannot encode one: encoders write U+FFFD or throw. */
export function hasLoneSurrogate(text: string): boolean {
  return /\p{Surrogate}/u.test(text);
}

export function utf8(text: string, what: string): Uint8Array {
  if (hasLoneSurrogate(text)) throw new TypeError(`${what} has a lone surrogate: it is no text`);
  return new TextEncoder().encode(text);
}
