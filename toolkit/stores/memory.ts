// Stores in this process's memory.

import type { ContentAddressedStore, DocumentStore } from "../../index.js";
import { asBytes } from "../bytes.js";
import { checkedBytes, checkHash, notFound, sha256 } from "./errors.js";
import { checkSize, copyOf, readRequest, signalOf, utf8 } from "./request.js";

/** Documents by their DocPath: a Map, an object, or pairs. Text is kept as UTF-8. */
export type MemoryDocuments =
  | Iterable<readonly [docPath: string, document: string | Uint8Array]>
  | Readonly<Record<string, string | Uint8Array>>;

/**
 * A store of the given documents. It copies them now, and returns copies. DocPaths are exact. If an object is
 * given, only its own keys count.
 */
export function memoryStore(documents: MemoryDocuments): DocumentStore {
  const pairs = isIterable(documents) ? documents : Object.entries(documents);
  const kept = new Map<string, Uint8Array>();
  for (const [docPath, document] of pairs) kept.set(docPath, bytesOf(docPath, document));
  return {
    async get(docPath, request) {
      const { wanted } = readRequest(request);
      const bytes = kept.get(docPath);
      if (bytes === undefined) return null;
      checkSize(Math.min(wanted, bytes.length));
      return { bytes: copyOf(bytes, wanted), sizeBytes: bytes.length };
    },
  };
}

/** A content-addressed store in memory. */
export function memoryFileStore(): ContentAddressedStore {
  const kept = new Map<string, Uint8Array>();
  return {
    async putBytes(bytes, options) {
      signalOf(options);
      const copy = copyOf(checkedBytes(bytes));
      const hash = sha256(copy).toString("hex");
      if (!kept.has(hash)) kept.set(hash, copy);
      return { hash, size: copy.length };
    },
    async getBytes(hash, options) {
      signalOf(options);
      checkHash(hash);
      const bytes = kept.get(hash);
      if (bytes === undefined) throw notFound(hash);
      return copyOf(bytes);
    },
    async exists(hash, options) {
      signalOf(options);
      checkHash(hash);
      return kept.has(hash);
    },
  };
}

function isIterable(
  documents: MemoryDocuments,
): documents is Extract<MemoryDocuments, Iterable<unknown>> {
  return Symbol.iterator in documents;
}

function bytesOf(docPath: string, document: unknown): Uint8Array {
  const what = `the document ${JSON.stringify(docPath)}`;
  if (typeof document === "string") return utf8(document, what);
  const bytes = asBytes(document);
  if (bytes !== null) return copyOf(bytes);
  throw new TypeError(`${what} is neither text nor a Uint8Array`);
}
