// A fetch that answers `file:` URIs from the space and the chat, specification `read`, and never from
// the host's disk.

import type { FileUriContext } from "../index.js";
import { untilAborted } from "./abort.js";

/** What is used of `readFileUri`. */
export type ReadFileUri = (uri: string, context: FileUriContext) => Promise<{ text: string }>;

/** `createWorkspaceFetch` over a `readFileUri`. */
export function workspaceFetch<Args extends unknown[]>(
  readFileUri: ReadFileUri,
  context: FileUriContext,
  fallbackFetch: (...args: Args) => Promise<Response>,
): (...args: Args) => Promise<Response> {
  if (typeof fallbackFetch !== "function") {
    throw new TypeError("fallbackFetch must be a function, such as fetch");
  }
  return async (...args) => {
    const [input, init] = args as unknown as [unknown, RequestInit | null | undefined];
    const request = isRequest(input) ? input : null;
    if (typeof input !== "string" && !(input instanceof URL) && request === null) {
      // A fetch makes text of whatever comes, `{"url":["file:///…"]}` too, in ways of its own.
      throw new TypeError("the first argument must be a string, a URL or a Request");
    }
    const uri = [request?.url ?? "", String(input)].find(isFileUri);
    if (uri === undefined) return fallbackFetch(...args);

    const method = String(init?.method ?? request?.method ?? "GET");
    if (method.toUpperCase() !== "GET") {
      throw new TypeError(`file: URIs can only be read, with GET, not ${method}`);
    }
    const { space, chat, maxBytes, signal: contextSignal } = context ?? {};
    const signal = init?.signal === undefined ? request?.signal : init.signal;
    const given = {
      ...(space === undefined ? {} : { space }),
      ...(chat === undefined ? {} : { chat }),
      ...(maxBytes === undefined ? {} : { maxBytes }),
      ...(signal ? { signal } : {}),
    };
    const { text } = await untilAborted(contextSignal, () => readFileUri(uri, given));
    return new Response(text, { headers: { "Content-Type": "text/plain; charset=utf-8" } });
  };
}

/**
 * Whether anything may take the text for a `file:` URI. URL parsers drop control characters and
 * spaces before it and tabs and newlines in it, hosts trim more, and Bun's fetch reads `file:` from
 * the disk. What is no such URI to `readFileUri` is refused there.
 */
function isFileUri(text: string): boolean {
  return /^file:/i.test(text.replace(/[\s\p{Cc}\p{Cf}]/gu, ""));
}

/** A Request of any realm or library. A URL has no `url`. */
function isRequest(input: unknown): input is Request {
  return typeof input === "object" && input !== null && typeof (input as Request).url === "string";
}
