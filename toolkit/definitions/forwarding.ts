// The events of TUL-004 §6.1, which a server publishes for the calls that it forwards.

import { CREATE_FILE_ERROR_CODES } from "./create-file.js";
import { channel } from "./diagnostics.js";
import { eventNameOf, isToolName } from "./tools.js";

/** The name of the one channel that all events of tools are published on. */
export const TOOL_CHANNEL = "ringfence:tool";

/** A call that a server forwards to its client. A field of another type counts as absent. */
export interface Forwarded {
  toolName: string;
  path?: unknown;
  overwrite?: unknown;
  callId?: string | null;
  sessionId?: string | null;
  conversationId?: string | null;
  turnId?: string | null;
}

/** The fields of `createFile`'s answer that the event has. */
export interface ForwardedResult {
  success: boolean;
  errorCode: string | null;
  sizeBytes: number;
  hash: string;
}

export interface ForwardedEvent {
  /** Other tools have their own name in place of `CreateFile`. */
  event: "Tool.CreateFile.Forwarded" | `Tool.${string}.Forwarded`;
  SessionId: string | null;
  ConversationId: string | null;
  TurnId: string | null;
  ToolName: string;
  Path: string;
  Overwrite: boolean;
  /** Present only if the call has an id. */
  CallId?: string;
}

export interface ResultReceivedEvent extends Omit<ForwardedEvent, "event"> {
  /** Other tools have their own name in place of `CreateFile`. */
  event: "Tool.CreateFile.ResultReceived" | `Tool.${string}.ResultReceived`;
  Success: boolean;
  ErrorCode: string | null;
  SizeBytes: number;
  Hash: string;
}

const tools = channel(TOOL_CHANNEL);

/**
 * Publishes `Tool.CreateFile.Forwarded`, if the channel has a subscriber. Never throws.
 *
 * @param eventName the name in place of `CreateFile`; by default that of the tool, if ringfence has it
 */
export function publishForwarded(call: Forwarded, eventName?: string): void {
  if (!tools.hasSubscribers) return;
  const fields = fieldsOf(call);
  const message: ForwardedEvent = {
    event: `Tool.${eventName ?? forwardedEventName(fields.ToolName)}.Forwarded`,
    ...fields,
  };
  tools.publish(message);
}

/**
 * Publishes `Tool.CreateFile.ResultReceived`, if the channel has a subscriber. Never throws.
 *
 * @param result the tool's own payload, or the client's result of `invoke`; either may be JSON text. Any other
 * value is reported as `UnhandledException`
 * @param eventName the name in place of `CreateFile`; by default that of the tool, if ringfence has it
 */
export function publishResultReceived(call: Forwarded, result: unknown, eventName?: string): void {
  if (!tools.hasSubscribers) return;
  const fields = fieldsOf(call);
  const event = eventName ?? forwardedEventName(fields.ToolName);
  const { success, errorCode, sizeBytes, hash } = orElse(() => resultOf(event, result), UNREADABLE);
  const message: ResultReceivedEvent = {
    event: `Tool.${event}.ResultReceived`,
    ...fields,
    Success: success,
    ErrorCode: errorCode,
    SizeBytes: sizeBytes,
    Hash: hash,
  };
  tools.publish(message);
}

function forwardedEventName(toolName: string): string {
  // Unknown names get TUL-004's event: hosts that use another name for that tool rely on it.
  return isToolName(toolName) ? eventNameOf(toolName) : "CreateFile";
}

type Fields = Record<string, unknown>;

function fieldsOf(call: Forwarded): Omit<ForwardedEvent, "event"> {
  const text = (key: keyof Forwarded) =>
    orElse(() => textOf((call as object as Fields)[key]), null);
  const callId = text("callId");
  return {
    SessionId: text("sessionId"),
    ConversationId: text("conversationId"),
    TurnId: text("turnId"),
    ToolName: text("toolName") ?? "",
    Path: text("path") ?? "",
    Overwrite: orElse(() => call.overwrite === true, false),
    ...(callId === null ? {} : { CallId: callId }),
  };
}

const UNREADABLE: ForwardedResult = {
  success: false,
  errorCode: "UnhandledException",
  sizeBytes: 0,
  hash: "",
};

const SUCCESS = { success: true, errorCode: null } as const;

function resultOf(event: string, sent: unknown): ForwardedResult {
  // Only TUL-004 has a closed list of codes.
  const codes = event === "CreateFile" ? CREATE_FILE_ERROR_CODES : null;
  const result = objectOf(typeof sent === "string" ? JSON.parse(sent) : sent);
  if (result === null) return UNREADABLE;
  if (result.status === "denied" || result.status === "failure") return failureOf(result, codes);
  const payload = result.status === "success" ? objectOf(result.data) : result;
  if (typeof payload?.success === "boolean") return payloadOf(payload, codes);
  const isSuccess = codes === null && result.status === "success";
  return isSuccess ? { ...SUCCESS, ...sizeAndHash(payload ?? {}) } : UNREADABLE;
}

type Codes = readonly string[] | null;

/** The fields for a failed result of `invoke`. */
function failureOf({ error }: Fields, codes: Codes): ForwardedResult {
  const details = objectOf(objectOf(error)?.details);
  const payload = objectOf(details?.result);
  if (payload?.success === false) return payloadOf(payload, codes);
  const isDenied = objectOf(error)?.code === "POLICY_DENIED";
  const code = codes !== null && isDenied ? "WriteFailed" : codeOf(details?.code, codes);
  return { ...UNREADABLE, errorCode: code };
}

function payloadOf(payload: Fields, codes: Codes): ForwardedResult {
  if (payload.success === true) return { ...SUCCESS, ...sizeAndHash(payload) };
  return { ...UNREADABLE, errorCode: codeOf(payload.errorCode, codes) };
}

/** The size and the hash: of the payload itself, of its `file`, or of its `meta`. */
function sizeAndHash(payload: Fields): Pick<ForwardedResult, "sizeBytes" | "hash"> {
  const holders = [payload, objectOf(payload.file) ?? {}, objectOf(payload.meta) ?? {}];
  const sizes = holders.flatMap(({ sizeBytes, byte_length }) => [sizeBytes, byte_length]);
  const hashes = holders.flatMap(({ hash, sha256 }) => [hash, sha256]);
  const isSize = (size: unknown) => Number.isSafeInteger(size) && (size as number) >= 0;
  return {
    sizeBytes: (sizes.find(isSize) as number | undefined) ?? 0,
    hash: hashes.map(textOf).find((hash) => hash !== null) ?? "",
  };
}

function codeOf(code: unknown, codes: Codes): string {
  return typeof code === "string" && (codes?.includes(code) ?? true) ? code : "UnhandledException";
}

function objectOf(value: unknown): Fields | null {
  return typeof value === "object" && value !== null ? (value as Fields) : null;
}

function textOf(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

/** Reads a value, or returns the default if a getter or proxy trap throws: publishing never throws. */
function orElse<T>(read: () => T, otherwise: T): T {
  try {
    return read();
  } catch {
    return otherwise;
  }
}
