// Errors of content-addressed stores, in the form of the addon's errors.

import { createHash } from "node:crypto";
import type { FileStoreError, FileStoreErrorCode } from "../../index.js";
import { asBytes } from "../bytes.js";
import { withName } from "../coded-error.js";

/** An error with the message `CODE: sentence`. The cause is not in the message: it may name hosts and keys. */
export function fileStoreError(
  code: FileStoreErrorCode,
  sentence: string,
  options?: { cause: unknown },
): FileStoreError {
  const error = withName(new Error(`${code}: ${sentence}`, options), "FileStoreError");
  return Object.assign(error, { code }) as FileStoreError;
}

/** Throws unless the value is 64 lowercase hex digits. */
export function checkHash(hash: unknown): asserts hash is string {
  if (typeof hash === "string" && /^[0-9a-f]{64}$/.test(hash)) return;
  const what = typeof hash === "string" ? "other text" : `a value of type ${typeof hash}`;
  throw fileStoreError("INVALID_ARGUMENT", `hash must be 64 lowercase hex digits, not ${what}`);
}

/** The bytes of a `Uint8Array` of any realm. Throws for any other value. */
export function checkedBytes(bytes: unknown): Uint8Array {
  const checked = asBytes(bytes);
  if (checked !== null) return checked;
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
