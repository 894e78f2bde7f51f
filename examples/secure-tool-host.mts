// The smallest host that is worth the name: it checks every tool call against a policy, the write
// scope and its own idea of the workspace before it lets a handler run. Toolkits have something
// like it already, and ringfence's functions go in as handlers, unchanged.

import path from "node:path";

export interface ToolContext {
  workspaceRoot: string;
  writeScope: "read-only" | "workspace-write" | "unrestricted";
  /** Tools that may not be called. */
  denied: ReadonlySet<string>;
}

export type ToolResult<Data> =
  | { status: "success"; data: Data }
  | { status: "denied"; reason: "policy" | "sandbox"; message: string }
  | { status: "failure"; reason: "runtime"; message: string };

interface ToolMetadata {
  name: string;
  isWriteOp: boolean;
}

export function createSecureTool<Args extends unknown[], Data>(
  { name, isWriteOp }: ToolMetadata,
  handler: (context: ToolContext, ...args: Args) => Promise<Data>,
): (context: ToolContext, ...args: Args) => Promise<ToolResult<Data>> {
  return async (context, ...args) => {
    if (context.denied.has(name)) {
      return { status: "denied", reason: "policy", message: `${name} is not allowed` };
    }
    if (isWriteOp && context.writeScope === "read-only") {
      return { status: "denied", reason: "sandbox", message: `${name} writes` };
    }
    const [first, ...rest] = args;
    if (typeof first === "string") {
      const resolved = resolveInWorkspace(context.workspaceRoot, first);
      if (resolved === undefined) {
        return { status: "denied", reason: "sandbox", message: `outside the workspace: ${first}` };
      }
      args = [resolved, ...rest] as Args;
    }
    try {
      return { status: "success", data: await handler(context, ...args) };
    } catch (error) {
      // Only the message survives, which is why ringfence puts its code at the front of it.
      const message = error instanceof Error ? error.message : String(error);
      return { status: "failure", reason: "runtime", message };
    }
  };
}

/** By spelling alone, as hosts do it: a symbolic link that leads out passes this check. */
function resolveInWorkspace(workspaceRoot: string, given: string): string | undefined {
  const resolved = path.resolve(workspaceRoot, given.replaceAll("\\", "/"));
  const inside = resolved === workspaceRoot || resolved.startsWith(workspaceRoot + path.sep);
  return inside ? resolved : undefined;
}
