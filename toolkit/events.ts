// The execution event of TUL-004 §6.2. Every tool publishes it on the channel `ringfence:tool`.

import { channel } from "node:diagnostics_channel";
import { TOOL_CHANNEL } from "./definitions/forwarding.js";
import { eventNameOf } from "./definitions/tools.js";
import { PATH_DENIED } from "./denied-path.js";
import { readableOf } from "./own.js";
import type { ToolResult } from "./result.js";

/** The event of a call that has ended with success or failure. An aborted call has no event. */
export interface ToolExecutedEvent {
  /** Such as `Tool.CreateFile.Executed`; `Tool.<name>.Executed` for tools of a host. */
  event: string;
  SessionId: string | null;
  ConversationId: string | null;
  TurnId: string | null;
  /** The path or URI as it was given; `null` if none came. */
  Path: string | null;
  Overwrite: boolean;
  Success: boolean;
  /** The tool's own code, or the code of the refusal; `null` on success. */
  ErrorCode: string | null;
  /**
   * For a path that rules have refused: `"rules"`, or `"PATHS_THAT_RUN"` where nothing but this default of the toolkit
   * refuses it, which `rules.read_only` of the context turns off. Absent for every other answer.
   */
  DeniedBy?: "rules" | "PATHS_THAT_RUN";
  /** The size of the file; 0 if the answer does not have it. */
  SizeBytes: number;
  /** The hash of the file; `""` if the answer does not have it. */
  Hash: string;
  /** The id of the call; `null` if it had none. */
  CallId: string | null;
  /** How long the call took, in milliseconds. */
  DurationMs: number;
}

interface Ids {
  callId?: string | null;
  sessionId?: string | null;
  conversationId?: string | null;
  turnId?: string | null;
}

const tools = channel(TOOL_CHANNEL);

/** The results whose event was published, each with the name of the tool in that event. */
const published = new WeakMap<ToolResult, string>();

/** Whether an event of this tool was published for the result. */
export function wasPublished(result: ToolResult, name: string): boolean {
  return published.get(result) === name;
}

/**
 * Notes the ids and the start time of a call. The returned function publishes the event when the call has
 * ended. Does nothing but that bookkeeping while the channel has no subscriber.
 */
export function beginEvent(
  name: string,
  context: Ids,
): (args: unknown, result: ToolResult, isByDefault?: boolean) => void {
  if (!tools.hasSubscribers) return (_args, result) => void published.set(result, name);
  const id = (key: keyof Ids) => stringOf(readableOf(context, key));
  const ids = {
    SessionId: id("sessionId"),
    ConversationId: id("conversationId"),
    TurnId: id("turnId"),
  };
  const callId = id("callId");
  const began = performance.now();
  return (args, result, isByDefault = false) => {
    published.set(result, name);
    const given = (key: string) => readableOf(args, key);
    const answer = (key: string) => inAnswer(result, key);
    const message: ToolExecutedEvent = {
      event: `Tool.${eventNameOf(name)}.Executed`,
      ...ids,
      Path:
        stringOf(args) ??
        stringOf(given("path")) ??
        stringOf(given("uri")) ??
        stringOf(given("root_path")),
      Overwrite: given("overwrite") === true,
      Success: result.status === "success",
      ErrorCode: errorCodeIn(result),
      ...deniedBy(result, isByDefault),
      SizeBytes: numberOf(answer("sizeBytes")) ?? numberOf(answer("byte_length")) ?? 0,
      Hash: stringOf(answer("hash")) ?? stringOf(answer("sha256")) ?? "",
      CallId: callId,
      DurationMs: Math.round((performance.now() - began) * 1000) / 1000,
    };
    tools.publish(message);
  };
}

/** The code of a tool's own payload comes first: TUL-004 has the codes of its own alone. */
function errorCodeIn(result: ToolResult): string | null {
  if (result.status === "success") return null;
  const { code, details } = result.error;
  return stringOf(readableOf(details.result, "errorCode")) ?? details.code ?? code;
}

function deniedBy(result: ToolResult, isByDefault: boolean): Pick<ToolExecutedEvent, "DeniedBy"> {
  if (result.status === "success" || result.error.details.code !== PATH_DENIED) return {};
  return { DeniedBy: isByDefault ? "PATHS_THAT_RUN" : "rules" };
}

/** Tools put size and hash at the top of their data, in its `file`, or in its `meta`. */
function inAnswer(result: ToolResult, key: string): unknown {
  if (result.status !== "success") return undefined;
  const { data } = result;
  return (
    readableOf(data, key) ??
    readableOf(readableOf(data, "file"), key) ??
    readableOf(readableOf(data, "meta"), key)
  );
}

function stringOf(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

function numberOf(value: unknown): number | null {
  return typeof value === "number" ? value : null;
}
