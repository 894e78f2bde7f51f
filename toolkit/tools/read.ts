// The tool `read`: `readFileUri`, and the host's fetch for every other scheme.

import { type FileUriContext, type FileUriScope, readFileUri } from "../../index.js";
import { codedError } from "../coded-error.js";
import type { HandlerContext } from "../context.js";
import { READ, type ReadToolArguments } from "../definitions/read.js";
import { type Fetch, fetchPage } from "../fetched-page.js";
import { isFileUri } from "../file-scheme.js";
import { MAX_DOCUMENT_BYTES } from "../limits.js";
import { ownOf } from "../own.js";
import { enclosureIn, repairOf } from "../uri-repair.js";
import type { Tool } from "./tool.js";

/** The data of the tool `read`: a text file, or a page that the host's fetch returned. */
export interface ReadResult {
  /** The URI as it was given. */
  uri: string;
  text: string;
  /** The media type of a page, without parameters; of a file, as `readFileUri` gives it. */
  mimeType: string;
  /** The size of the file, or of the page's decompressed body, in bytes. */
  sizeBytes: number;
  /** For a file: its scope. */
  scope?: FileUriScope;
  /** For a file: its path from the scope's root, components separated by `/`. */
  path?: string;
}

type Params = [args: ReadToolArguments];

export const READ_TOOL = {
  ...READ,
  needsWorkspace: false,
  handler: read,
  paramsOf(args: ReadToolArguments): Params {
    return [args];
  },
  isAvailable(context) {
    return (["space", "chat", "fetch"] as const).some((key) => ownOf(context, key) != null);
  },
} satisfies Tool<"read", ReadToolArguments, ReadResult, Params>;

async function read(context: HandlerContext, args: ReadToolArguments): Promise<ReadResult> {
  const uri: unknown = ownOf(args, "uri");
  if (typeof uri !== "string") throw codedError("INVALID_ARGUMENT", "uri must be a string");
  const signal = ownOf(context, "signal") ?? null;
  const enclosure = enclosureIn(uri);
  if (enclosure !== null) throw codedError("INVALID_URI", enclosure);
  if (isFileUri(uri)) return readFile(context, uri, signal);

  const fetch = ownOf(context, "fetch");
  const repair = repairOf(uri, {
    space: ownOf(context, "space") != null,
    chat: ownOf(context, "chat") != null,
    fetch: typeof fetch === "function",
  });
  if (repair !== null) throw codedError("INVALID_URI", repair);
  if (typeof fetch !== "function") {
    const what =
      "only file: URIs can be read here: file:///path in the workspace, file:path in the chat";
    throw codedError("NO_FETCH", what);
  }
  const ask: Fetch = (page, init) => fetch.call(context, page, init);
  return { uri, ...(await fetchPage(ask, uri, maxBytesOf(context), signal)) };
}

async function readFile(
  context: HandlerContext,
  uri: string,
  signal: AbortSignal | null,
): Promise<ReadResult> {
  const given: FileUriContext = Object.assign(Object.create(null), {
    space: ownOf(context, "space"),
    chat: ownOf(context, "chat"),
    maxBytes: ownOf(context, "maxBytes"),
    signal,
  });
  const { text, mimeType, sizeBytes, scope, path } = await readFileUri(uri, given);
  return { uri, text, mimeType, sizeBytes, scope, path };
}

const DEFAULT_MAX_BYTES = 1_048_576;

/** The limit of `readFileUri`, applied to pages. */
function maxBytesOf(context: HandlerContext): number {
  const maxBytes = ownOf(context, "maxBytes") ?? DEFAULT_MAX_BYTES;
  if (Number.isSafeInteger(maxBytes) && maxBytes >= 1)
    return Math.min(maxBytes, MAX_DOCUMENT_BYTES);
  throw codedError("INVALID_ARGUMENT", "maxBytes must be an integer >= 1");
}
