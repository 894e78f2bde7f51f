// `ringfence/toolkit`: what stands between an agent toolkit and the addon.

import { type FileUriContext, readFileUri } from "../index.js";
import { workspaceFetch } from "./workspace-fetch.js";

/**
 * A fetch for a `read` tool that knows nothing of spaces and chats: `file:` URIs are answered from
 * `context`, as `readFileUri` reads them, with a `Response` of `text/plain; charset=utf-8`;
 * everything else goes to `fallbackFetch`, its arguments untouched.
 *
 * Rejects with the `FileUriError` where reading fails: there is no page of status 404 that a model
 * could mistake for a document. `init.signal`, or that of a `Request`, ends the reading with its
 * reason.
 *
 * A `URL` object has merged the two scopes before it comes here (`new URL("file:a.md")` is
 * `file:///a.md`): pass chat files as strings.
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
export { type AiSdkTool, toAiSdkTools } from "./adapters/ai-sdk.js";
export {
  type AnthropicTool,
  toAnthropicToolResult,
  toAnthropicTools,
} from "./adapters/anthropic.js";
export { type McpTool, type McpToolResult, toMcpToolResult, toMcpTools } from "./adapters/mcp.js";
export type { ToolSelection } from "./adapters/names.js";
export {
  type OpenAIChatTool,
  type OpenAIResponsesTool,
  type OpenAIToolOptions,
  toOpenAIFunctionOutput,
  toOpenAIToolMessage,
  toOpenAITools,
} from "./adapters/openai.js";
export {
  type AgentToolkit,
  type BoundTool,
  createAgentToolkit,
  type InvokeOptions,
} from "./agent-toolkit.js";
export {
  type ReadResult,
  ToolCatalog,
  type ToolCatalogEntry,
  type ToolContext,
  type ToolResults,
} from "./catalog.js";
export * from "./definitions/index.js";
export { providerName } from "./definitions/tools.js";
export type { ToolExecutedEvent } from "./events.js";
export type {
  ToolErrorDetails,
  ToolErrorInfo,
  ToolFailure,
  ToolResult,
  ToolSuccess,
} from "./result.js";
export {
  createSecureTool,
  type SecureToolContext,
  type SecureToolMeta,
  type ToolPolicy,
} from "./secure-tool.js";
