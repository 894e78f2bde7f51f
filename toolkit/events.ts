// The execution event of TUL-004 §6.2, for every tool, on the channel `ringfence:tool`.

import { channel } from "node:diagnostics_channel";
import { TOOL_CHANNEL } from "./definitions/forwarding.js";
import type { ToolResult } from "./result.js";

/** What is published once a tool call has ended, however it did; an aborted one has no event. */
export interface ToolExecutedEvent {
  /** `Tool.CreateFile.Executed`; `Tool.<name>.Executed` of tools that have no specified one. */
  event: string;
  SessionId: string | null;
  ConversationId: string | null;
  TurnId: string | null;
  /** The path or URI as it was given; `null` if none came. */
  Path: string | null;
  Overwrite: boolean;
  Success: boolean;
  /** The tool's own code, or that of the refusal; `null` on success. */
  ErrorCode: string | null;
  /** Of the file, as far as the answer tells; otherwise 0. */
  SizeBytes: number;
  /** Of the file, as far as the answer tells; otherwise `""`. */
  Hash: string;
}

interface Ids {
  sessionId?: string | null;
  conversationId?: string | null;
  turnId?: string | null;
}

const tools = channel(TOOL_CHANNEL);

const EVENTS: Readonly<Record<string, string>> = {
  read_file: "Tool.ReadFile.Executed",
  workspace_create_file: "Tool.CreateFile.Executed",
  "workspace.read_file": "Tool.ReadSource.Executed",
  read: "Tool.Read.Executed",
};

/** Publishes the event; free when nobody listens. */
export function publishExecuted(
  name: string,
  ids: Ids,
  args: readonly unknown[],
  result: ToolResult,
): void {
  if (!tools.hasSubscribers) return;
  const given = argumentsOf(args[0]);
  const answer = answerOf(result);
  const message: ToolExecutedEvent = {
    event: (Object.hasOwn(EVENTS, name) ? EVENTS[name] : undefined) ?? `Tool.${name}.Executed`,
    SessionId: ids.sessionId ?? null,
    ConversationId: ids.conversationId ?? null,
    TurnId: ids.turnId ?? null,
    Path: stringOf(given.path) ?? stringOf(given.uri),
    Overwrite: given.overwrite === true,
    Success: result.status === "success",
    ErrorCode:
      result.status === "success" ? null : (result.error.details.code ?? result.error.code),
    SizeBytes: numberOf(answer.sizeBytes) ?? numberOf(answer.byte_length) ?? 0,
    Hash: stringOf(answer.hash) ?? stringOf(answer.sha256) ?? "",
  };
  tools.publish(message);
}

type Fields = Readonly<Record<string, unknown>>;

function argumentsOf(first: unknown): Fields {
  if (typeof first === "string") return { path: first };
  return fieldsOf(first);
}

/** Where each tool's answer has its size and hash. */
function answerOf(result: ToolResult): Fields {
  if (result.status !== "success") return {};
  const data = fieldsOf(result.data);
  return { ...fieldsOf(data.meta), ...fieldsOf(data.file), ...data };
}

function fieldsOf(value: unknown): Fields {
  return typeof value === "object" && value !== null ? (value as Fields) : {};
}

function stringOf(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

function numberOf(value: unknown): number | null {
  return typeof value === "number" ? value : null;
}
