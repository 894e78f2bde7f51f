// Stores in this process's memory.

import type { ContentAddressedStore, DocumentStore } from "../../index.js";
import { checkBytes, checkHash, notFound, sha256 } from "./errors.js";
import { bytesWanted, copyOf, utf8 } from "./request.js";

/** Documents by their DocPath: a Map, an object, or pairs. Text is kept as UTF-8. */
export type MemoryDocuments =
  | Iterable<readonly [docPath: string, document: string | Uint8Array]>
  | Readonly<Record<string, string | Uint8Array>>;

/**
 * A store of the documents that are given to it, as they are now: it keeps copies, and gives
 * copies. DocPaths are exact; of an object only its own keys count.
 */
export function memoryStore(documents: MemoryDocuments): DocumentStore {
  const pairs = isIterable(documents) ? documents : Object.entries(documents);
  const kept = new Map<string, Uint8Array>();
  for (const [docPath, document] of pairs) kept.set(docPath, bytesOf(docPath, document));
  return {
    async get(docPath, options = {}) {
      options.signal?.throwIfAborted();
      const wanted = bytesWanted(options);
      const bytes = kept.get(docPath);
      return bytes === undefined ? null : { bytes: copyOf(bytes, wanted), sizeBytes: bytes.length };
    },
  };
}

/** A content-addressed store that forgets everything when it is dropped. */
export function memoryFileStore(): ContentAddressedStore {
  const kept = new Map<string, Uint8Array>();
  return {
    async putBytes(bytes, options) {
      options?.signal?.throwIfAborted();
      checkBytes(bytes);
      const copy = copyOf(bytes);
      const hash = sha256(copy).toString("hex");
      if (!kept.has(hash)) kept.set(hash, copy);
      return { hash, size: copy.length };
    },
    async getBytes(hash, options) {
      options?.signal?.throwIfAborted();
      checkHash(hash);
      const bytes = kept.get(hash);
      if (bytes === undefined) throw notFound(hash);
      return copyOf(bytes);
    },
    async exists(hash, options) {
      options?.signal?.throwIfAborted();
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
  if (document instanceof Uint8Array) return copyOf(document);
  throw new TypeError(`${what} is neither text nor a Uint8Array`);
}
