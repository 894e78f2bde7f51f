// Forwards the calls of tools that the other side executes: TUL-004 §3 and §6.1. `calls.ts` decides which calls
// these are.

import { untilAborted } from "./abort.js";
import { publishForwarded, publishResultReceived } from "./definitions/forwarding.js";
import type { ExecutionLocation } from "./definitions/tool.js";
import { eventNameOf } from "./definitions/tools.js";
import { toolResultOf } from "./result.js";
import type { CallContext } from "./session.js";
import type { Tool } from "./tools/tool.js";

/** A call for the other side. */
export interface ForwardedCall {
  /** The tool's name. */
  readonly name: string;
  /** The arguments, read; their types are checked, their values are not. */
  readonly arguments: Readonly<Record<string, unknown>>;
  /** The side that executes it. */
  readonly executionLocation: ExecutionLocation;
  readonly callId: string;
  readonly sessionId: string | null;
  readonly conversationId: string | null;
  readonly turnId: string | null;
  /** Aborted when the call is. */
  readonly signal: AbortSignal | null;
}

/**
 * Passes a call to the other side. Resolves with the answer of `invoke` there, or with the tool's own payload;
 * either may be JSON text.
 */
export type Forward = (call: ForwardedCall) => unknown;

/** Forwards a call, and publishes its two events. */
export async function forwardCall(
  forward: Forward,
  tool: Tool,
  context: CallContext,
  args: Readonly<Record<string, unknown>>,
): Promise<unknown> {
  const { name, executionLocation } = tool.metadata;
  const eventName = eventNameOf(name);
  const { callId, sessionId, conversationId, turnId, signal } = context;
  const ids = { callId, sessionId, conversationId, turnId };
  const told = { ...ids, toolName: name, path: args.path ?? args.uri, overwrite: args.overwrite };
  publishForwarded(told, eventName);
  const call = {
    name,
    arguments: structuredClone({ ...args }),
    executionLocation: executionLocation as ExecutionLocation,
    ...ids,
    signal,
  };
  let sent: unknown;
  try {
    sent = await untilAborted(signal, () => forward(call));
  } catch (error) {
    if (!signal?.aborted) publishResultReceived(told, null, eventName);
    throw error;
  }
  const answer = plain(sent);
  publishResultReceived(told, answer, eventName);
  const side = `The ${executionLocation}`;
  if (typeof answer !== "object" || answer === null) {
    throw new Error(`${side} has answered the call of ${name} with no object.`);
  }
  if (isRefusal(answer) && toolResultOf(answer) === null) {
    throw new Error(`${side} has refused the call of ${name} and does not say why.`);
  }
  if (tool.refusal !== undefined) checkPayload(answer, `${side} has answered the call of ${name}`);
  return answer;
}

/** TUL-001 and TUL-004 say in each payload whether the call has succeeded, and with which code it failed. */
function checkPayload(answer: object, who: string): void {
  const result = toolResultOf(answer);
  if (result !== null && result.status !== "success") return;
  const payload = Object(result === null ? answer : result.data);
  const { success, errorCode, message } = payload as Record<string, unknown>;
  if (typeof success !== "boolean") throw new Error(`${who} without saying whether it succeeded.`);
  if (!success && typeof errorCode !== "string") {
    throw new Error(
      typeof message === "string" ? message : `${who} with a failure without a code.`,
    );
  }
}

/** Whether an answer has the status of a refusal. Such an answer must never count as a success. */
function isRefusal(answer: object): boolean {
  const { status } = answer as { status?: unknown };
  return status === "denied" || status === "failure";
}

/** The answer as plain JSON data; `null` if JSON cannot hold it. */
function plain(answer: unknown): unknown {
  try {
    return JSON.parse(typeof answer === "string" ? answer : JSON.stringify(answer));
  } catch {
    return null;
  }
}
