// The result of a tool call: data, or a refusal or failure that says how to repair the call.

import { visible } from "./visible.js";

/** A tool's result. A model sees it, so no part of it holds an absolute path. */
export type ToolResult<Data = unknown> = ToolSuccess<Data> | ToolFailure;

export interface ToolSuccess<Data = unknown> {
  status: "success";
  data: Data;
  /** A sentence that suggests the next call, or names ignored arguments. */
  hint?: string;
}

export interface ToolFailure {
  /** `"denied"`: policy or sandbox refused the call. `"failure"`: the call could not be made or failed. */
  status: "denied" | "failure";
  reason: "policy" | "sandbox" | "runtime";
  /** What is wrong and how to repair it. */
  message: string;
  error: ToolErrorInfo;
}

export interface ToolErrorInfo {
  code: "POLICY_DENIED" | "SANDBOX_VIOLATION" | "RUNTIME_ERROR";
  /** Equal to the result's `message`. JSON of the result leaves this copy out. */
  message: string;
  /** Whether the same call can succeed later. */
  retriable: boolean;
  details: ToolErrorDetails;
}

export interface ToolErrorDetails {
  /** The tool's own code, such as `NOT_FOUND` or `FileExists`; `null` if the tool was not reached. */
  code: string | null;
  /** The tool's own payload, for tools whose failures are answers (TUL-001, TUL-004). */
  result?: unknown;
  /** What the tool's error tells beside its code, such as the closest lines of a text that does not occur. */
  facts?: Readonly<Record<string, unknown>>;
  /** For a missing file: paths that may have been meant, relative to the root, nearest first. */
  nearMisses?: string[];
}

export function policyDenied(name: string): ToolFailure {
  const message = `The policy does not allow the tool ${name}. Do not call it again.`;
  return failure("denied", "policy", "POLICY_DENIED", message, { code: null });
}

/** The refusal of a call that a person did not approve. */
export function notApproved(name: string): ToolFailure {
  const message = `The call of ${name} was not approved. Do not repeat it; ask the user what to do instead.`;
  return failure("denied", "policy", "POLICY_DENIED", message, { code: null });
}

/**
 * The refusal of a path that the host's rules deny, or protect from the change. The sentence does not say how to turn a
 * rule off, because a model reads it.
 */
export function pathDenied(path: string | null, details: ToolErrorDetails): ToolFailure {
  const which = path ? visible(JSON.stringify(path)) : "this path";
  const message = `The host's rules protect ${which}: do not try another way to it; go on without it, or ask the user.`;
  return failure("denied", "policy", "POLICY_DENIED", message, details);
}

export function sandboxDenied(message: string, details: ToolErrorDetails): ToolFailure {
  return failure("denied", "sandbox", "SANDBOX_VIOLATION", message, details);
}

export function runtimeFailure(
  message: string,
  details: ToolErrorDetails = { code: null },
  retriable = false,
): ToolFailure {
  return failure("failure", "runtime", "RUNTIME_ERROR", message, details, retriable);
}

function failure(
  status: ToolFailure["status"],
  reason: ToolFailure["reason"],
  code: ToolErrorInfo["code"],
  message: string,
  details: ToolErrorDetails,
  retriable = false,
): ToolFailure {
  return failureWith({ status, reason, message, code, retriable, details });
}

type Parts = Omit<ToolFailure, "error"> & Omit<ToolErrorInfo, "message">;

function failureWith({ status, reason, message, code, retriable, details }: Parts): ToolFailure {
  const error: ToolErrorInfo = { code, message, retriable, details };
  // Models get results as JSON, and pay for each token: the sentence is there once, as `message`.
  const toJSON = () => ({ code, retriable, details });
  const made: ToolFailure = {
    status,
    reason,
    message,
    // Without a prototype: a `get` or `set` on `Object.prototype` would make `defineProperty` throw.
    error: Object.defineProperty(error, "toJSON", { __proto__: null, value: toJSON } as object),
  };
  MADE_HERE.add(made);
  return made;
}

/** The failures that `failureWith` has made: their properties are plain. */
const MADE_HERE = new WeakSet<object>();

/** The same failure with more in its details. */
export function withDetails(failed: ToolFailure, more: Partial<ToolErrorDetails>): ToolFailure {
  const { error, ...envelope } = failed;
  return failureWith({
    ...envelope,
    ...error,
    details: { ...error.details, ...more },
    message: failed.message,
  });
}

/** The same failure with another message. */
export function withMessage(failed: ToolFailure, message: string): ToolFailure {
  const { error, ...envelope } = failed;
  return failureWith({ ...envelope, ...error, message });
}

/**
 * Returns the value if it has the form of a `ToolResult`, else `null`. The form decides, because results
 * are copied, sent as JSON and passed on.
 */
export function toolResultOf(value: unknown): ToolResult | null {
  if (typeof value !== "object" || value === null) return null;
  const { status } = value as Partial<ToolResult>;
  if (status === "success") {
    const isSuccess = Object.hasOwn(value, "data") && hasOnly(value, ["status", "data", "hint"]);
    return isSuccess ? (value as ToolSuccess) : null;
  }
  if (status !== "denied" && status !== "failure") return null;
  if (MADE_HERE.has(value)) return value as ToolFailure;
  const { reason, message, error } = value as Partial<ToolFailure>;
  if (typeof reason !== "string" || typeof message !== "string") return null;
  if (isErrorInfo(error)) {
    const { code, retriable, details } = error;
    return failureWith({ status, reason, message, code, retriable, details: { ...details } });
  }
  // A host's own wrapper may answer a failure without `error`.
  const isBare = error === undefined && hasOnly(value, ["status", "reason", "message", "error"]);
  return isBare ? failure(status, reason, codeFor(reason), message, { code: null }) : null;
}

function codeFor(reason: ToolFailure["reason"]): ToolErrorInfo["code"] {
  if (reason === "policy") return "POLICY_DENIED";
  return reason === "sandbox" ? "SANDBOX_VIOLATION" : "RUNTIME_ERROR";
}

function hasOnly(value: object, keys: readonly string[]): boolean {
  return Object.keys(value).every((key) => keys.includes(key));
}

function isErrorInfo(value: unknown): value is ToolErrorInfo {
  if (typeof value !== "object" || value === null) return false;
  const { code, retriable, details } = value as Partial<ToolErrorInfo>;
  return (
    typeof code === "string" &&
    typeof retriable === "boolean" &&
    typeof details === "object" &&
    details !== null
  );
}
