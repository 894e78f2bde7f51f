// The server's events of TUL-004 §6.1: it executes nothing, and tells that it passed a call on.

import { channel } from "node:diagnostics_channel";

/** The name of the one channel that all events of tools are published on. */
export const TOOL_CHANNEL = "ringfence:tool";

/** Ids of the call's session; `null` where there is none. */
interface Ids {
  SessionId: string | null;
  ConversationId: string | null;
  TurnId: string | null;
}

/** A call that a server passes on to its client. */
export interface Forwarded {
  toolName: string;
  path: string;
  overwrite?: boolean | null;
  sessionId?: string | null;
  conversationId?: string | null;
  turnId?: string | null;
}

/** What the client sent back for it, as `createFile` answers. */
export interface ForwardedResult {
  success: boolean;
  errorCode: string | null;
  sizeBytes: number;
  hash: string;
}

export interface ForwardedEvent extends Ids {
  event: "Tool.CreateFile.Forwarded";
  ToolName: string;
  Path: string;
  Overwrite: boolean;
}

export interface ResultReceivedEvent extends Omit<ForwardedEvent, "event"> {
  event: "Tool.CreateFile.ResultReceived";
  Success: boolean;
  ErrorCode: string | null;
  SizeBytes: number;
  Hash: string;
}

const tools = channel(TOOL_CHANNEL);

/** Publishes `Tool.CreateFile.Forwarded`; free when nobody listens. */
export function publishForwarded(call: Forwarded): void {
  if (!tools.hasSubscribers) return;
  const message: ForwardedEvent = { event: "Tool.CreateFile.Forwarded", ...fieldsOf(call) };
  tools.publish(message);
}

/** Publishes `Tool.CreateFile.ResultReceived`; free when nobody listens. */
export function publishResultReceived(call: Forwarded, result: ForwardedResult): void {
  if (!tools.hasSubscribers) return;
  const message: ResultReceivedEvent = {
    event: "Tool.CreateFile.ResultReceived",
    ...fieldsOf(call),
    Success: result.success,
    ErrorCode: result.errorCode,
    SizeBytes: result.sizeBytes,
    Hash: result.hash,
  };
  tools.publish(message);
}

function fieldsOf(call: Forwarded): Omit<ForwardedEvent, "event"> {
  return {
    SessionId: call.sessionId ?? null,
    ConversationId: call.conversationId ?? null,
    TurnId: call.turnId ?? null,
    ToolName: call.toolName,
    Path: call.path,
    Overwrite: call.overwrite ?? false,
  };
}
