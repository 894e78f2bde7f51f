// A strict TypeScript consumer of the MCP server, without the SDK: compiled, never run.

import type * as mcp from "ringfence/mcp";
import { createMcpServer, type McpServer, type McpTransport } from "ringfence/mcp";
import { createAgentToolkit, type ToolContext } from "ringfence/toolkit";
import { SUBPATHS } from "./exports.mjs";

/** Every export has its declaration. */
export const inMcp: readonly (keyof typeof mcp)[] = SUBPATHS["ringfence/mcp"];

export async function serve(context: ToolContext, transport: McpTransport): Promise<McpServer> {
  const server = createMcpServer(createAgentToolkit(context), { instructions: null });
  server.onerror = (error) => console.error(error.message);
  // @ts-expect-error a context is no toolkit
  createMcpServer(context);
  await server.connect(transport);
  return server;
}
