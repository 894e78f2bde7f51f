// Interprets errors of the S3 client.

import type { FileStoreError } from "../../index.js";
import { corrupt, fileStoreError, notFound } from "./errors.js";

/** Whether the object does not exist. The answer to a HEAD has no body, so its code is `NotFound`. */
export function isMissing(error: unknown): boolean {
  return ["NoSuchKey", "NotFound"].includes(codeOf(error)) && statusOf(error) === 404;
}

/**
 * The error codes for a key that no object on the server can have. Other errors with status 400 are about the
 * request, not about the key.
 */
const IMPOSSIBLE_KEY: ReadonlySet<string> = new Set([
  // Amazon S3
  "InvalidURI",
  "KeyTooLongError",
  // Google Cloud Storage, Alibaba Cloud OSS, Cloudflare R2, Ceph
  "InvalidObjectName",
  // MinIO
  "XMinioInvalidObjectName",
  "XMinioInvalidResourceName",
  "XMinioObjectExistsAsDirectory",
  "XMinioParentIsObject",
]);

/** Whether the server says that no object can have the key. */
export function isImpossibleKey(error: unknown): boolean {
  const status = statusOf(error) ?? 0;
  return IMPOSSIBLE_KEY.has(codeOf(error)) && status >= 400 && status < 500;
}

/** Whether the server refused the range because it lies beyond the object's end. */
export function isRangeRefused(error: unknown): boolean {
  return statusOf(error) === 416;
}

/** Whether the server refused the range because the object is empty. */
export function saysEmpty(error: unknown): boolean {
  const { ActualObjectSize: size, $response } = error as {
    ActualObjectSize?: unknown;
    $response?: { headers?: Record<string, string | undefined> };
  };
  const range = $response?.headers?.["content-range"];
  return range === undefined ? String(size) === "0" : /^bytes \*\/0$/.test(range);
}

/** The store's error for an error of the client. */
export function storeErrorOf(error: unknown, deed: string, hash: string): FileStoreError {
  if (error instanceof Error && error.name === "FileStoreError") return error as FileStoreError;
  const cause = { cause: error };
  if (isMissing(error)) return notFound(hash, cause);
  if (isChecksumMismatch(error)) return corrupt(hash, cause);
  const what = `the bytes with hash ${hash} could not ${deed}`;
  if (statusOf(error) === 403) {
    return fileStoreError("PERMISSION_DENIED", `${what}: the server refused`, cause);
  }
  return fileStoreError("INTERNAL", `${what}${reasonOf(error)}`, cause);
}

/** The code of an error, if it is a plain word. The message is not shown: it may name hosts and keys. */
function reasonOf(error: unknown): string {
  const code = codeOf(error);
  return /^[A-Za-z0-9_]{1,64}$/.test(code) ? ` (${code})` : "";
}

/** Whether the client itself found that a body does not have the checksum that the server keeps. */
function isChecksumMismatch(error: unknown): boolean {
  const { message } = error as { message?: unknown };
  return typeof message === "string" && message.startsWith("Checksum mismatch");
}

function codeOf(error: unknown): string {
  const { name, code } = error as { name?: unknown; code?: unknown };
  const shown = name === "Error" ? code : name;
  return typeof shown === "string" ? shown : "";
}

export function statusOf(error: unknown): number | undefined {
  return (error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode;
}
