// @ts-check

/** What the package exports, no more and no less: an export that is added gets its line here. */
export const EXPORTS = /** @type {const} */ ([
  "DirectoryStore",
  "FileStore",
  "MAX_READ_FILE_SIZE_BYTES",
  "Workspace",
  "contentHash",
  "createFile",
  "createFileSync",
  "nearMisses",
  "readFile",
  "readFileSync",
  "readFileUri",
  "readSourceDocument",
  "resolveFileUri",
  "workspaceSnapshot",
  "workspaceSnapshotSync",
]);

const DEFINITIONS = /** @type {const} */ ([
  "CREATE_FILE_CATALOG_TEXT",
  "CREATE_FILE_USAGE_GUIDANCE",
  "TOOL_CHANNEL",
  "TOOL_DEFINITIONS",
  "TOOL_METADATA",
  "TOOL_NAMES",
  "TOOL_RESULT_SCHEMAS",
  "isToolName",
  "publishForwarded",
  "publishResultReceived",
]);

/** The same of the entry points beside the root that need no dependency. */
export const SUBPATHS = /** @type {const} */ ({
  "ringfence/definitions": DEFINITIONS,
  "ringfence/toolkit": [
    ...DEFINITIONS,
    "ToolCatalog",
    "createAgentToolkit",
    "createSecureTool",
    "createWorkspaceFetch",
    "providerName",
    "toAiSdkTools",
    "toAnthropicToolResult",
    "toAnthropicTools",
    "toMcpToolResult",
    "toMcpTools",
    "toOpenAIFunctionOutput",
    "toOpenAIToolMessage",
    "toOpenAITools",
    "workspaceSnapshot",
    "workspaceSnapshotSync",
  ],
  "ringfence/mcp": ["createMcpServer"],
  "ringfence/stores": ["memoryFileStore", "memoryStore", "unstorageKey", "unstorageStore"],
});

/** The same of the one that needs `@aws-sdk/client-s3`. */
export const S3_EXPORTS = /** @type {const} */ (["s3FileStore", "s3Store"]);
