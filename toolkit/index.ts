// `ringfence/toolkit`: the tools of an agent's session, and their parts.

import { type FileUriContext, readFileUri } from "../index.js";
import { workspaceFetch } from "./workspace-fetch.js";

/**
 * A fetch for a `read` tool that has no space or chat of its own. It reads `file:` URIs from `context`, as
 * `readFileUri` does, and answers with a `Response` of `text/plain; charset=utf-8`. Every other URI goes to
 * `fallbackFetch`, with its arguments untouched.
 *
 * If reading fails, the fetch rejects with the `FileUriError`. It does not answer with status 404, because a
 * model could mistake that page for a document. An abort of `init.signal`, or of a `Request`'s signal, rejects
 * with its reason.
 *
 * Pass chat files as strings. A `URL` object has merged the two forms already: `new URL("file:a.md")` is
 * `file:///a.md`.
 */
export function createWorkspaceFetch<Args extends unknown[]>(
  context: FileUriContext,
  fallbackFetch: (...args: Args) => Promise<Response>,
): (...args: Args) => Promise<Response> {
  return workspaceFetch(readFileUri, context, fallbackFetch);
}

export {
  type WorkspaceSnapshot,
  type WorkspaceSnapshotError,
  type WorkspaceSnapshotErrorCode,
  type WorkspaceSnapshotOptions,
  workspaceSnapshot,
  workspaceSnapshotSync,
} from "../index.js";
export {
  type AgentToolkit,
  type AgentToolkitOptions,
  type BoundTool,
  createAgentToolkit,
  type InvokeOptions,
  type ToolkitContext,
} from "./agent-toolkit.js";
export type { ApprovalRequest, Approve } from "./approval.js";
export { ToolCatalog, type ToolCatalogEntry, type ToolResults } from "./catalog.js";
export type { HandlerContext, ToolContext } from "./context.js";
export * from "./definitions/index.js";
export type { ToolExecutedEvent } from "./events.js";
export type { Forward, ForwardedCall } from "./forward.js";
export {
  type PatchFileError,
  type PatchFileErrorCode,
  type PatchFileOutput,
  patchFile,
} from "./patch-file.js";
export {
  createSecureTool,
  type Permission,
  type SecureToolContext,
  type SecureToolMeta,
  type ToolPolicy,
} from "./secure-tool.js";
export type { CallContext } from "./session.js";
export { type DefinedTool, defineTool, type OwnTool } from "./tools/define.js";
export type { ReadResult } from "./tools/read.js";
