// Fetches a page and decodes it as text. The host's fetch may return the response of any realm or library.
// The body is read up to the limit only, and a body that is no text is refused.

import { isTextMediaType } from "../index.js";
import { throwIfAborted, untilAborted } from "./abort.js";
import { readBeginning } from "./byte-stream.js";
import { asBytesOfBuffer } from "./bytes.js";
import { decode } from "./charset.js";
import { codedError } from "./coded-error.js";
import { type ContentType, parseContentType } from "./media-type.js";

export interface Page {
  text: string;
  /** Without parameters. */
  mimeType: string;
  /** The size of the body, decompressed. */
  sizeBytes: number;
}

/** The part of a `Response` that is used. */
interface Answer {
  ok?: unknown;
  status?: unknown;
  headers?: { get?(name: string): string | null } | null;
  body?: unknown;
  arrayBuffer?(): Promise<ArrayBuffer>;
  text?(): Promise<string>;
}

export type Fetch = (uri: string, init: { signal?: AbortSignal }) => Promise<unknown>;

/**
 * Fetches a page. Failures are coded errors. If the signal aborts, the promise rejects with its reason at
 * once, even if the fetch or the body ignores the signal.
 */
export async function fetchPage(
  fetch: Fetch,
  uri: string,
  maxBytes: number,
  signal: AbortSignal | null,
): Promise<Page> {
  return untilAborted(signal, async () => {
    const answer = await askFetch(fetch, uri, signal);
    try {
      throwIfAborted(signal);
      const type = checkedType(answer);
      const bytes = await bytesOf(answer, maxBytes, signal);
      return pageOf(bytes, type);
    } catch (error) {
      discard(answer.body);
      throw error;
    }
  });
}

async function askFetch(fetch: Fetch, uri: string, signal: AbortSignal | null): Promise<Answer> {
  let answer: unknown;
  try {
    answer = await fetch(uri, signal === null ? {} : { signal });
  } catch (error) {
    throw fetchFailed("the request failed", error);
  }
  if (typeof answer === "object" && answer !== null && "status" in answer) return answer;
  throw codedError("FETCH_FAILED", "the host's fetch answered something else than a Response");
}

/** The type of the answer. Throws if the status is no success or the type is not one of text. */
function checkedType({ ok, status, headers }: Answer): ContentType {
  if (ok !== true) {
    const shown = typeof status === "number" ? status : 0;
    throw codedError("HTTP_ERROR", `the server answered with status ${shown}`, { status: shown });
  }
  const header = headers?.get?.("content-type");
  const type = parseContentType(typeof header === "string" ? header : null);
  if (isTextMediaType(type.essence)) return type;
  const shown = /^[\w.+-]+\/[\w.+-]+$/.test(type.essence) ? type.essence : "not one of text";
  throw codedError("NOT_TEXT", `the page is not text: its type is ${shown.slice(0, 100)}`);
}

async function bytesOf(
  answer: Answer,
  maxBytes: number,
  signal: AbortSignal | null,
): Promise<Uint8Array> {
  let bytes: Uint8Array;
  try {
    bytes = await firstBytesOf(answer, maxBytes, signal);
  } catch (error) {
    throw fetchFailed("the answer broke off", error);
  }
  if (bytes.length <= maxBytes) return bytes;
  const limit = `more than the limit of ${maxBytes} bytes`;
  throw codedError("TOO_LARGE", `the page is too large: it has ${limit}`);
}

/** All bytes of the body, or `maxBytes + 1` of a larger one. */
async function firstBytesOf(
  answer: Answer,
  maxBytes: number,
  signal: AbortSignal | null,
): Promise<Uint8Array> {
  const { body } = answer;
  if (body === null) return new Uint8Array();
  if (isStream(body)) {
    return (await readBeginning(body, maxBytes + 1, maxBytes + 1, signal)).bytes;
  }
  // A response that a host has made by hand may have only `arrayBuffer` or `text`.
  if (typeof answer.arrayBuffer === "function") {
    const bytes = asBytesOfBuffer(await answer.arrayBuffer());
    if (bytes !== null) return bytes;
  }
  if (typeof answer.text === "function") return new TextEncoder().encode(await answer.text());
  throw new TypeError("the answer has no body");
}

function isStream(body: unknown): boolean {
  if (typeof body !== "object" || body === null) return false;
  return "getReader" in body || Symbol.asyncIterator in body;
}

function discard(body: unknown): void {
  // Closing a body that is read already, or being read, rejects.
  if (isStream(body)) readBeginning(body, 0, 0).catch(() => {});
}

/** How many bytes of a body without a type are searched for NUL; `readFile` searches as many. */
const SNIFFED = 8192;

function pageOf(bytes: Uint8Array, type: ContentType): Page {
  if (type.essence === "" && bytes.subarray(0, SNIFFED).includes(0)) {
    throw codedError("NOT_TEXT", "the page is not text: it has no type, and NUL bytes");
  }
  const decoded = decode(bytes, type);
  if ("refusal" in decoded) {
    throw codedError("NOT_TEXT", `the page is not text: ${decoded.refusal}`);
  }
  return { text: decoded.text, mimeType: type.essence || "text/plain", sizeBytes: bytes.length };
}

/** The message of the failure may help the model. The error itself becomes the `cause`, for the host only. */
function fetchFailed(what: string, cause: unknown): Error {
  const { message } = Object(cause) as { message?: unknown };
  const said = typeof cause === "string" ? cause : message;
  const why = typeof said === "string" && said !== "" ? `: ${said.slice(0, 500)}` : "";
  return codedError("FETCH_FAILED", `${what}${why}`, { cause });
}
