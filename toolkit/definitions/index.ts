// `ringfence/definitions`: what a server advertises and forwards. Loads no native code, so that a server
// which only passes calls on to its client never touches a file system.

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
export { type ResultSchema, TOOL_RESULT_SCHEMAS } from "./results.js";
export {
  isToolName,
  type JsonSchema,
  TOOL_DEFINITIONS,
  TOOL_METADATA,
  TOOL_NAMES,
  type ToolArguments,
  type ToolDefinition,
  type ToolMetadata,
  type ToolName,
} from "./tools.js";
