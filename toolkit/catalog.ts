// `ToolCatalog`: the four tools as a host registers them, each behind `createSecureTool`.

import {
  type CreateFileArguments,
  type CreateFileResult,
  createFile,
  type FileUriRoot,
  type ReadFileOptions,
  type ReadFileOutput,
  type ReadSourceContext,
  type ReadSourceResult,
  readFile,
  readFileUri,
  readSourceDocument,
  type Workspace,
  type WorkspaceContext,
} from "../index.js";
import { TOOL_METADATA, type ToolMetadata, type ToolName } from "./definitions/tools.js";
import type { ToolResult } from "./result.js";
import { createSecureTool, type SecureToolContext } from "./secure-tool.js";
import { workspaceFetch } from "./workspace-fetch.js";

/** The context of all tools; keys of a host's own are ignored. Each tool needs what it says. */
export interface ToolContext extends SecureToolContext, WorkspaceContext {
  /** Of `read_file` in an agent toolkit: whether a missing file's near misses are named. Default `true`. */
  nearMisses?: boolean | null;
  /** Of `read`: what `file:///…` is read from. */
  space?: FileUriRoot | null;
  /** Of `read`: what `file:…` is read from. */
  chat?: FileUriRoot | null;
  /** Of `read`: what reads every other scheme. */
  fetch?: ((uri: string, init?: RequestInit) => Promise<Response>) | null;
  /** Of `workspace.read_file`: where the documents are. */
  store?: ReadSourceContext["store"] | null;
  /** Of `workspace.read_file`: what the session has in context. */
  activeFiles?: ReadSourceContext["activeFiles"];
  /** Of `workspace.read_file`: told of what is answered as `INTERNAL_ERROR`. */
  onError?: ReadSourceContext["onError"];
}

/** Where a toolkit keeps the workspace that it has opened: reading through it costs less. */
export const HELD_WORKSPACE = Symbol("the open workspace");

interface HoldingContext extends ToolContext {
  [HELD_WORKSPACE]?: Workspace;
}

/** What the `read` tool answers: text, or the page that the host's fetch gave. */
export interface ReadResult {
  uri: string;
  text: string;
  /** As the response says, without parameters. */
  mimeType: string;
}

/** The result of each tool. */
export interface ToolResults {
  read_file: ReadFileOutput;
  workspace_create_file: CreateFileResult;
  "workspace.read_file": ReadSourceResult;
  read: ReadResult;
}

/** An entry of the catalog. */
export interface ToolCatalogEntry<Args extends unknown[], Data> {
  readonly metadata: ToolMetadata;
  readonly handler: (context: ToolContext, ...args: Args) => Promise<ToolResult<Data>>;
}

function readThroughHeld(
  context: ToolContext,
  path: string,
  options?: ReadFileOptions | null,
): Promise<ReadFileOutput> {
  const held = (context as HoldingContext)[HELD_WORKSPACE];
  if (held === undefined) return readFile(context, path, options);
  // A `Workspace` has no signal of its own.
  const signal = options?.signal ?? context.signal;
  return readFile(held, path, { ...options, ...(signal ? { signal } : {}) });
}

async function read(context: ToolContext, { uri }: { uri: string }): Promise<ReadResult> {
  const { space, chat, signal } = context;
  const elsewhere = context.fetch;
  const fallback = async (other: string, init?: RequestInit) => {
    if (typeof elsewhere !== "function") {
      const what =
        "only file: URIs can be read here: file:///path in the workspace, file:path in the chat";
      throw Object.assign(new Error(`NO_FETCH: ${what}`), { code: "NO_FETCH" });
    }
    return elsewhere(other, init);
  };
  const roots = { ...(space == null ? {} : { space }), ...(chat == null ? {} : { chat }) };
  const fetchAny = workspaceFetch(readFileUri, roots, fallback);
  const response = await fetchAny(uri, signal ? { signal } : {});
  if (!response.ok) {
    const code = "HTTP_ERROR";
    throw Object.assign(new Error(`${code}: the server answered with status ${response.status}`), {
      code,
    });
  }
  const type = response.headers.get("content-type") ?? "text/plain";
  return { uri, text: await response.text(), mimeType: type.split(";")[0]?.trim() ?? "text/plain" };
}

function readSource(context: ToolContext, args: unknown): Promise<ReadSourceResult> {
  // What is missing is told by the function itself.
  return readSourceDocument(args as string, context as ReadSourceContext);
}

const entry = <Name extends ToolName, Args extends unknown[]>(
  name: Name,
  handler: (context: ToolContext, ...args: Args) => Promise<ToolResults[Name]>,
): ToolCatalogEntry<Args, ToolResults[Name]> => ({
  metadata: TOOL_METADATA[name],
  handler: createSecureTool(TOOL_METADATA[name], handler),
});

/** The tools by name. Each handler takes the context, then what the function of ringfence takes. */
export const ToolCatalog = {
  read_file: entry("read_file", readThroughHeld),
  workspace_create_file: entry("workspace_create_file", (context, args: CreateFileArguments) =>
    createFile(context, args),
  ),
  "workspace.read_file": entry("workspace.read_file", readSource),
  read: entry("read", read),
} as const;
