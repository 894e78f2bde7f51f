// `ringfence/mcp`: the tools of a toolkit as a Model Context Protocol server, over any transport.

export type { McpRootsFollower } from "./roots.js";
export {
  createMcpServer,
  type McpServer,
  type McpServerOptions,
  type McpToolkit,
  type McpTransport,
} from "./server.js";
