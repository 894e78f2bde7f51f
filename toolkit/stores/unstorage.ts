// Any `unstorage` Storage or driver as a store of documents. Nothing of unstorage is imported.

import type { DocumentStore } from "../../index.js";
import { untilAborted } from "../abort.js";
import { bytesWanted, copyOf, hasLoneSurrogate, utf8 } from "./request.js";

/** What is used of an `unstorage` Storage, or of a driver. */
export interface UnstorageLike {
  getItemRaw?(key: string, options?: object): unknown;
  getItem?(key: string, options?: object): unknown;
}

/**
 * A store over `unstorage`. A document is looked up at `unstorageKey(docPath)`; write it with
 * `storage.setItemRaw(unstorageKey(docPath), bytes)`. A driver is always read in full, and
 * whether it tells `A` from `a` is its own business: not on a disk that folds names.
 */
export function unstorageStore(storage: UnstorageLike): DocumentStore {
  const read = reader(storage);
  return {
    async get(docPath, options = {}) {
      options.signal?.throwIfAborted();
      const wanted = bytesWanted(options);
      if (!isKey(docPath)) return null;
      const value = await untilAborted(options.signal, () => read(unstorageKey(docPath)));
      const bytes = await bytesOf(value, docPath);
      return bytes && { bytes: copyOf(bytes, wanted), sizeBytes: bytes.length };
    },
  };
}

/**
 * The key of a document: `src/a.ts` is `src:a.ts`, which is what unstorage itself makes of it.
 *
 * unstorage cuts keys at `?`, takes `\` and `/` for `:`, drops empty segments, and keeps the
 * metadata of `a` at `a$`; drivers that put keys in URLs trip over more. Wherever that would let
 * one document answer for another, the character stands percent-encoded. So two DocPaths never
 * have one key. Segments `.` and `..`, which URL parsers resolve even when encoded, lone surrogates
 * and the empty path throw.
 */
export function unstorageKey(docPath: string): string {
  if (!isKey(docPath)) {
    const why = "is empty, or has a lone surrogate or a segment `.` or `..`";
    throw new RangeError(`${JSON.stringify(docPath)} ${why}: no document can be stored under it`);
  }
  // `/` stays a separator only between two segments that are not empty.
  return docPath
    .replace(/[%:\\?#\p{Cc}]|(?<=^|\/)\/|\/$|^ | $|\$$/gu, encodeURIComponent)
    .replaceAll("/", ":");
}

/** Whether a document can be stored under a DocPath. */
function isKey(docPath: string): boolean {
  return docPath !== "" && !hasLoneSurrogate(docPath) && !/(?:^|\/)\.\.?(?:\/|$)/.test(docPath);
}

function reader(storage: UnstorageLike): (key: string) => unknown {
  if (typeof storage?.getItemRaw === "function") {
    return (key) => storage.getItemRaw?.(key, {});
  }
  if (typeof storage?.getItem === "function") {
    return async (key) => fromBase64(await storage.getItem?.(key, {}));
  }
  throw new TypeError("storage must be a Storage or a driver of unstorage: it has no getItemRaw");
}

/** What a Storage does over a driver that keeps text only, and a driver by itself does not. */
function fromBase64(value: unknown): unknown {
  const isEncoded = typeof value === "string" && value.startsWith("base64:");
  return isEncoded ? Buffer.from(value.slice("base64:".length), "base64") : value;
}

/** Drivers answer with whatever their client has. */
async function bytesOf(value: unknown, docPath: string): Promise<Uint8Array | null> {
  if (value === null || value === undefined) return null;
  const what = `the value of ${JSON.stringify(docPath)}`;
  if (typeof value === "string") return utf8(value, what);
  if (value instanceof Uint8Array) return value;
  if (ArrayBuffer.isView(value)) {
    return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  }
  if (value instanceof ArrayBuffer) return new Uint8Array(value);
  if (value instanceof Blob) return new Uint8Array(await value.arrayBuffer());
  if (value instanceof Error) {
    // The fs drivers answer with the error instead of throwing it. A path through a file that is
    // no folder is as missing as one through a folder that is not there.
    if ((value as NodeJS.ErrnoException).code === "ENOTDIR") return null;
    throw value;
  }
  throw new TypeError(`${what} is neither text nor bytes`);
}
