// Reads one JSON-RPC message: removes keys that are null, checks the form, and makes the error answer to a
// malformed request.

import { MAX_ID_LENGTH } from "./limits.js";
import { ErrorCode, InitializeRequestSchema, JSONRPCMessageSchema } from "./sdk.js";

/** An error answer of JSON-RPC. The id is `null` if the request's id is unknown. */
export interface ErrorAnswer {
  jsonrpc: "2.0";
  id: string | number | null;
  error: { code: number; message: string };
}

/** A message for the server; or the error, and the answer to the sender if it expects one. */
export type ReadMessage =
  | { message: object }
  | { message: null; error: Error; answer: ErrorAnswer | null };

type Fields = Readonly<Record<string, unknown>>;

/** A message exceeds a limit. The error's text may be shown: it has no part of the message. */
export class SizeError extends Error {}

/** A message does not have the protocol's form. */
export class FormError extends Error {}

/** Reads the parsed JSON of a line, or of an element of a batch. */
export function readMessage(given: unknown): ReadMessage {
  if (!isObject(given)) return malformed(null);
  const message = withoutNulls(given);
  if (message.jsonrpc !== "2.0") return malformed(refusal(message));
  if (message.method !== undefined && message.id !== undefined && !isId(message.id)) {
    return malformed(refusal(message));
  }
  // Checked first because the validator is slow for objects that are no message at all.
  const isAny = ["method", "result", "error"].some((key) => message[key] !== undefined);
  if (!isAny) return malformed(null);
  const { success, data } = JSONRPCMessageSchema.safeParse(message);
  // To a malformed "initialize" the SDK's server would answer with an internal error and its validator's text.
  const begins = message.method === "initialize" && message.id !== undefined;
  if (success && (!begins || InitializeRequestSchema.safeParse(data).success)) {
    return { message: data };
  }
  return malformed(refusal(message));
}

/** The answer to a message that exceeds a limit; `null` if the sender expects none. */
export function answerToExcess(excess: string, outline: string | null): ErrorAnswer | null {
  const text = `The message has ${excess}: send less at once.`;
  const top = outline === null ? null : parsed(outline);
  if (!isObject(top)) return answerOf(null, ErrorCode.InvalidRequest, text);
  const { id, method } = withoutNulls(top);
  // Notifications and answers get no answer.
  if (id === undefined || method === undefined) return null;
  return answerOf(isId(id) ? id : null, ErrorCode.InvalidRequest, text);
}

/**
 * A message, or a part of one, without the keys that are null: many clients send null for an absent key. A tool's
 * arguments are left unchanged; the tool decides about null there.
 */
export function withoutNulls(fields: Fields): Fields {
  const entries = Object.entries(fields)
    .filter(([, value]) => value !== null)
    .map(([key, value]) => [
      key,
      isObject(value) && key !== "arguments" ? withoutNulls(value) : value,
    ]);
  return Object.fromEntries(entries);
}

/** The answer to a malformed message; `null` if it is no request. */
function refusal({ jsonrpc, id, method }: Fields): ErrorAnswer | null {
  if (method === undefined || (typeof id !== "string" && typeof id !== "number")) return null;
  return jsonrpc === "2.0" && typeof method === "string" && isId(id)
    ? answerOf(id, ErrorCode.InvalidParams, "Invalid params")
    : answerOf(isEchoed(id) ? id : null, ErrorCode.InvalidRequest, "Invalid Request");
}

function malformed(answer: ErrorAnswer | null): ReadMessage {
  return { message: null, error: new FormError("no message of the protocol"), answer };
}

function answerOf(id: ErrorAnswer["id"], code: number, message: string): ErrorAnswer {
  return { jsonrpc: "2.0", id, error: { code, message } };
}

/** Whether an id is valid. A number beyond the safe integers was rounded by the JSON parser. */
function isId(id: unknown): id is string | number {
  return typeof id === "number" ? Number.isSafeInteger(id) : isEchoed(id);
}

/** Whether an id can be returned to the sender unchanged. */
function isEchoed(id: unknown): id is string | number {
  if (typeof id === "string") return id.length <= MAX_ID_LENGTH;
  return typeof id === "number" && Math.abs(id) <= Number.MAX_SAFE_INTEGER;
}

function isObject(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return null;
  }
}
