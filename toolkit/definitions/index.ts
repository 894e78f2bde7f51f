// `ringfence/definitions`: definitions, metadata and texts of the tools. It loads no native code, so that a
// server that only forwards calls never touches a file system. It imports no module of Node, so that it can be
// bundled for an edge runtime or a browser.

export {
  type AiSdkTool,
  type AiSdkToolkit,
  type AiSdkToolOptions,
  type AiSdkTools,
  type NeedsApproval,
  toAiSdkTools,
} from "../adapters/ai-sdk.js";
export {
  type AnthropicTool,
  toAnthropicToolResult,
  toAnthropicTools,
} from "../adapters/anthropic.js";
export { type McpTool, type McpToolResult, toMcpToolResult, toMcpTools } from "../adapters/mcp.js";
export type { ToolSelection } from "../adapters/names.js";
export {
  type OpenAIChatTool,
  type OpenAIResponsesTool,
  type OpenAIToolOptions,
  toOpenAIFunctionOutput,
  toOpenAIToolMessage,
  toOpenAITools,
} from "../adapters/openai.js";
export type {
  ToolErrorDetails,
  ToolErrorInfo,
  ToolFailure,
  ToolResult,
  ToolSuccess,
} from "../result.js";
export { type ReadArguments, readArguments } from "./check-arguments.js";
export { TUL_004_OPTIONS } from "./create-file.js";
export {
  CREATE_FILE_CATALOG_TEXT,
  CREATE_FILE_USAGE_GUIDANCE,
} from "./create-file-guidance.js";
export {
  type Forwarded,
  type ForwardedEvent,
  type ForwardedResult,
  publishForwarded,
  publishResultReceived,
  type ResultReceivedEvent,
  TOOL_CHANNEL,
} from "./forwarding.js";
export { PATHS_THAT_RUN, SECRET_PATHS } from "./path-presets.js";
export { TOOL_RESULT_SCHEMAS } from "./results.js";
export { type SplitCalls, splitCallsByLocation } from "./split-calls.js";
export type {
  ExecutionLocation,
  JsonSchema,
  ParametersSchema,
  ResultSchema,
  ToolDefinition,
  ToolDescription,
  ToolMetadata,
} from "./tool.js";
export {
  isToolName,
  type ProviderName,
  providerName,
  TOOL_DEFINITIONS,
  TOOL_DESCRIPTIONS,
  TOOL_METADATA,
  TOOL_NAMES,
  type ToolArguments,
  type ToolName,
  toolNamed,
} from "./tools.js";
export { READ_SOURCE_USAGE_GUIDANCE, READ_USAGE_GUIDANCE } from "./usage-guidance.js";
