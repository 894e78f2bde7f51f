// The exports of the official SDK that are used. `scripts/lib/bundle-sdk.mjs` bundles exactly these into
// dist/mcp/sdk.js. Users of ringfence therefore install no further package, and the command starts faster.

export { Server } from "@modelcontextprotocol/sdk/server/index.js";
export {
  ErrorCode,
  InitializeRequestSchema,
  JSONRPCMessageSchema,
  ResultSchema,
  RootsListChangedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";
