// What every tool call comes to: data, or a refusal or failure that says what to do about it.

/** A tool's answer. Model-facing: nothing in it holds an absolute path. */
export type ToolResult<Data = unknown> = ToolSuccess<Data> | ToolFailure;

export interface ToolSuccess<Data = unknown> {
  status: "success";
  data: Data;
  /** What the next call could be, in a sentence, where there is an obvious one. */
  hint?: string;
}

export interface ToolFailure {
  /** `"denied"`: by policy or sandbox, before or instead of the work; `"failure"`: the work failed. */
  status: "denied" | "failure";
  reason: "policy" | "sandbox" | "runtime";
  /** What is wrong and how to repair it. */
  message: string;
  error: ToolErrorInfo;
}

export interface ToolErrorInfo {
  code: "POLICY_DENIED" | "SANDBOX_VIOLATION" | "RUNTIME_ERROR";
  message: string;
  /** Whether the same call can succeed later. */
  retriable: boolean;
  details: ToolErrorDetails;
}

export interface ToolErrorDetails {
  /** The tool's own code, such as `NOT_FOUND` or `FileExists`; `null` where the tool was not reached. */
  code: string | null;
  /** The tool's own answer, where a failure is an answer (TUL-001, TUL-004). */
  result?: unknown;
  /** Of a missing file: the paths that may have been meant, relative to the root, nearest first. */
  nearMisses?: string[];
}

export function policyDenied(name: string): ToolFailure {
  const message = `The policy does not allow the tool ${name}. Do not call it again.`;
  return failure("denied", "policy", "POLICY_DENIED", message, { code: null });
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
  return { status, reason, message, error: { code, message, retriable, details } };
}
