// Any `unstorage` Storage or driver as a store of documents. The package unstorage is not imported.

import { types } from "node:util";
import type { DocumentStore } from "../../index.js";
import { untilAborted } from "../abort.js";
import { asBytesOfBuffer } from "../bytes.js";
import { checkSize, copyOf, hasLoneSurrogate, readRequest, utf8 } from "./request.js";

/** The part of an `unstorage` Storage, or of a driver, that is used. */
export interface UnstorageLike {
  getItemRaw?(key: string, options?: object): unknown;
  getItem?(key: string, options?: object): unknown;
}

/**
 * A store over `unstorage`. A document is looked up at `unstorageKey(docPath)`; write it with
 * `storage.setItemRaw(unstorageKey(docPath), bytes)`. A document is always read in full. Whether `A` and `a` are
 * two documents depends on the driver: on a case-insensitive disk they are one.
 */
export function unstorageStore(storage: UnstorageLike): DocumentStore {
  const read = reader(storage);
  return {
    async get(docPath, request) {
      const { wanted, signal } = readRequest(request);
      if (!isKey(docPath)) return null;
      const load = async () => bytesOf(await read(unstorageKey(docPath)), docPath);
      const bytes = await untilAborted(signal, load);
      if (bytes === null) return null;
      checkSize(Math.min(wanted, bytes.length));
      return { bytes: copyOf(bytes, wanted), sizeBytes: bytes.length };
    },
  };
}

/**
 * The key of a document: `src/a.ts` becomes `src:a.ts`, as in unstorage itself.
 *
 * unstorage cuts keys at `?`, reads `\` and `/` as `:`, drops empty segments, and keeps the metadata of `a` at
 * `a$`. Drivers that put keys into URLs change more characters. Each character that could make two DocPaths share
 * a key is percent-encoded. So is the last dot of a segment that ends in two dots, because disk drivers refuse
 * it. Therefore two DocPaths never share a key. Throws for segments `.` and `..` (URL parsers resolve them even
 * if encoded), lone surrogates and the empty path.
 */
export function unstorageKey(docPath: string): string {
  if (!isKey(docPath)) {
    const why = "is empty, or has a lone surrogate or a segment `.` or `..`";
    throw new RangeError(`${JSON.stringify(docPath)} ${why}: no document can be stored under it`);
  }
  // `/` is a separator only between two non-empty segments.
  return docPath
    .replace(/[%:\\?#\p{Cc}]|(?<=^|\/)\/|\/$|^ | $|\$$/gu, encodeURIComponent)
    .replace(/(?<=\.)\.(?=\/|$)/g, "%2E")
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

/** Decodes the base64 form in which a Storage keeps bytes in a text-only driver. A driver alone does not decode. */
function fromBase64(value: unknown): unknown {
  const isEncoded = typeof value === "string" && value.startsWith("base64:");
  return isEncoded ? Buffer.from(value.slice("base64:".length), "base64") : value;
}

/** The bytes of a driver's answer, which may be text, a buffer of any realm or a Blob. */
async function bytesOf(value: unknown, docPath: string): Promise<Uint8Array | null> {
  if (value === null || value === undefined) return null;
  const what = `the value of ${JSON.stringify(docPath)}`;
  if (typeof value === "string") return utf8(value, what);
  const bytes = asBytesOfBuffer(isBlob(value) ? await value.arrayBuffer() : value);
  if (bytes !== null) return bytes;
  // The fs drivers return an error instead of throwing it.
  if (value instanceof Error || types.isNativeError(value)) {
    if (NO_DOCUMENT.has((value as NodeJS.ErrnoException).code ?? "")) return null;
    throw value;
  }
  throw new TypeError(`${what} is neither text nor bytes`);
}

/** Disk errors that mean "no such document": a file in place of a folder, and a name too long for the disk. */
const NO_DOCUMENT: ReadonlySet<string> = new Set(["ENOTDIR", "ENAMETOOLONG"]);

function isBlob(value: unknown): value is Blob {
  return typeof value === "object" && Object.prototype.toString.call(value) === "[object Blob]";
}
