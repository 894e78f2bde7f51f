// Approval by a person (TUL-004 §7.6): the host's function `approve` is asked about each call of a tool whose policy is
// `"ask"`, and in a toolkit about each change that only its default rules refuse.

import { untilAborted } from "./abort.js";
import { notApproved, runtimeFailure, type ToolFailure } from "./result.js";

/** A call that waits for approval. */
export interface ApprovalRequest {
  /** The tool's name. */
  readonly name: string;
  /** A copy of the arguments that the tool will get. */
  readonly arguments: unknown;
  /** The path or URI among the arguments; `null` if there is none. */
  readonly path: string | null;
  /** The proposed change as a unified diff; `null` if the tool proposes none. */
  readonly diff: string | null;
  /**
   * `"rules"`: the call would change one of `PATHS_THAT_RUN`, at `path`, at another path among the arguments, or where a
   * link on them leads. Absent: the tool's policy is `"ask"`, and it is no such change.
   */
  readonly reason?: "rules";
  readonly callId: string | null;
  readonly sessionId: string | null;
  readonly conversationId: string | null;
  readonly turnId: string | null;
  /** Aborted when the call is, so that a dialogue can be closed. */
  readonly signal: AbortSignal | null;
}

/** Whether a call may run. */
export type Approval = "allow" | "deny";

/**
 * Decides whether a call runs: returns `"allow"` or `"deny"`, or a promise of it. The promise's type is
 * `string` because TypeScript infers `Promise<string>` for `async () => "allow"`.
 */
export type Approve = (call: ApprovalRequest) => Approval | PromiseLike<string>;

/**
 * Asks `approve`, and returns `null` only if it answers `"allow"`. Any other answer, and an `approve` that
 * throws, is a refusal. Rejects with the signal's reason if the call is aborted meanwhile.
 */
export async function refusalOf(
  approve: Approve,
  call: ApprovalRequest,
): Promise<ToolFailure | null> {
  let answer: unknown;
  try {
    answer = await untilAborted(call.signal, () => approve(call));
  } catch {
    if (call.signal?.aborted) throw call.signal.reason;
    return runtimeFailure(`The call of ${call.name} could not be approved: asking has failed.`);
  }
  if (answer === "allow") return null;
  if (answer === "deny") return notApproved(call.name);
  return runtimeFailure(
    `The call of ${call.name} could not be approved: approve answered neither "allow" nor "deny".`,
  );
}
