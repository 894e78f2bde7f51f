// What is used of the official SDK. `scripts/lib/bundle-sdk.mjs` makes dist/mcp/sdk.js of exactly these
// exports, so that whoever installs ringfence installs nothing else, and starting takes no half second.

export { Server } from "@modelcontextprotocol/sdk/server/index.js";
export {
  ErrorCode,
  JSONRPCMessageSchema,
  ResultSchema,
  RootsListChangedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";
