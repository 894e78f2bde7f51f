// Errors of content-addressed stores, of the form that the addon's have.

import { createHash } from "node:crypto";
import type { FileStoreError, FileStoreErrorCode } from "../../index.js";

/** `message` becomes `CODE: sentence`; a cause stays out of it, for it may name hosts and keys. */
export function fileStoreError(
  code: FileStoreErrorCode,
  sentence: string,
  options?: { cause: unknown },
): FileStoreError {
  const error = new Error(`${code}: ${sentence}`, options);
  Object.defineProperty(error, "name", {
    value: "FileStoreError",
    writable: true,
    configurable: true,
  });
  return Object.assign(error, { code }) as FileStoreError;
}

/** Has anything but 64 lowercase hex digits refused. */
export function checkHash(hash: unknown): asserts hash is string {
  if (typeof hash === "string" && /^[0-9a-f]{64}$/.test(hash)) return;
  const what = typeof hash === "string" ? "other text" : `a value of type ${typeof hash}`;
  throw fileStoreError("INVALID_ARGUMENT", `hash must be 64 lowercase hex digits, not ${what}`);
}

/** Has anything but bytes refused. */
export function checkBytes(bytes: unknown): asserts bytes is Uint8Array {
  if (bytes instanceof Uint8Array) return;
  const what = bytes === null ? "null" : `a value of type ${typeof bytes}`;
  throw fileStoreError("INVALID_ARGUMENT", `bytes must be a Uint8Array, not ${what}`);
}

export function notFound(hash: string, options?: { cause: unknown }): FileStoreError {
  return fileStoreError("NOT_FOUND", `the store has no bytes with hash ${hash}`, options);
}

export function corrupt(hash: string, options?: { cause: unknown }): FileStoreError {
  return fileStoreError("CORRUPT", `the store's bytes do not have their hash ${hash}`, options);
}

export function sha256(bytes: Uint8Array): Buffer {
  return createHash("sha256").update(bytes).digest();
}
