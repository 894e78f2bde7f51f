// Decides whether the same call can succeed later: by codes and statuses, never by wording. A code that is
// not in these tables is not retriable.

import { ownOf } from "./own.js";

/** Codes of errors and answers. */
const CODES: ReadonlySet<string> = new Set([
  // ringfence's codes: the system, the host's store or another program prevented the call.
  "CONTENDED",
  "FETCH_FAILED",
  "INTERNAL",
  "INTERNAL_ERROR",
  // Codes of the system and of networks.
  "EAGAIN",
  "EAI_AGAIN",
  "EBUSY",
  "ECONNABORTED",
  "ECONNREFUSED",
  "ECONNRESET",
  "EHOSTUNREACH",
  "ENETDOWN",
  "ENETUNREACH",
  "EPIPE",
  "ETIMEDOUT",
]);

/** HTTP statuses: too many requests, and servers that are unavailable at the moment. */
const STATUSES: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/** Codes behind an `INTERNAL_ERROR` that would come again: the document or the permission is at fault. */
const LASTING_CAUSES: ReadonlySet<string> = new Set([
  "INVALID_ARGUMENT",
  "INVALID_DOCUMENT",
  "NOT_UTF8",
  "PERMISSION_DENIED",
  "SANDBOX_VIOLATION",
  "TOO_LARGE",
]);

/** Whether a call that failed with a code, and with an HTTP status where there was one, can succeed later. */
export function isRetriable(code: string | null, status?: number | null): boolean {
  if (status !== undefined && status !== null) return STATUSES.has(status);
  return code !== null && CODES.has(code);
}

/** Whether a call that threw can succeed later. */
export function isRetriableError(error: unknown): boolean {
  const { code, status } = read(error, "code", "status");
  const isHttp = code === "HTTP_ERROR" && typeof status === "number";
  return isRetriable(typeof code === "string" ? code : null, isHttp ? status : null);
}

/** The error behind each answer with `INTERNAL_ERROR`. */
const causes = new WeakMap<object, unknown>();

/** Notes the error behind an answer. The answer itself does not show it. */
export function noteCause(answer: object, cause: unknown): void {
  causes.set(answer, cause);
}

/** Whether a call whose answer is a failure can succeed later. */
export function isRetriableAnswer(answer: { errorCode: string }): boolean {
  if (!isRetriable(answer.errorCode)) return false;
  const { code, $metadata } = read(causes.get(answer), "code", "$metadata");
  if (typeof code === "string" && LASTING_CAUSES.has(code)) return false;
  // Errors of the AWS SDK have `$metadata`. A server that refused with 4xx will refuse again.
  const { httpStatusCode: status } = read($metadata, "httpStatusCode");
  const isRefused = typeof status === "number" && status >= 400 && status < 500;
  return !isRefused || STATUSES.has(status);
}

function read<Key extends string>(value: unknown, ...keys: Key[]): { [K in Key]?: unknown } {
  const found: { [K in Key]?: unknown } = {};
  if (typeof value !== "object" || value === null) return found;
  try {
    for (const key of keys) found[key] = ownOf(value as { [K in Key]?: unknown }, key);
  } catch {
    // A property whose getter throws counts as absent.
  }
  return found;
}
