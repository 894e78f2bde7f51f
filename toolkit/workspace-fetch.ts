// A fetch that reads `file:` URIs from the space and the chat (specification `read`), never from elsewhere
// on the host's disk.

import type { FileUriContext } from "../index.js";
import { untilAborted } from "./abort.js";
import { isFileUri } from "./file-scheme.js";

/** The part of `readFileUri` that is used. */
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
      // A fetch converts other values to text in ways of its own, `{"url":["file:///…"]}` for example.
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

/** A Request of any realm or library. A URL has no `url`. */
function isRequest(input: unknown): input is Request {
  return typeof input === "object" && input !== null && typeof (input as Request).url === "string";
}
