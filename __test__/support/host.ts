// A secure-tool host as docs/contract.md §1, fact 1, describes it, and as if it had never heard of ringfence:
// policy, then write scope, then a lexical sandbox for a first argument that is a string, then the handler.

import path from "node:path";

export type WriteScope = "read-only" | "workspace-write" | "unrestricted";

/** What the host hands to every tool: two keys that tools rely on, and keys of the host's own. */
export interface ToolContext {
  workspaceRoot: string;
  writeScope: WriteScope;
  policy: Policy;
  env: Record<string, string>;
}

export interface Policy {
  tools: Record<string, "allow" | "deny">;
  defaultPolicy: "allow" | "deny";
}

export type Envelope<Data> =
  | { status: "success"; data: Data }
  | { status: "denied"; reason: "policy" | "sandbox"; message: string }
  | { status: "failure"; reason: "runtime"; message: string };

export interface ToolMetadata {
  name: string;
  isWriteOp: boolean;
}

export type Handler<Args extends unknown[], Data> = (
  context: ToolContext,
  ...args: Args
) => Promise<Data> | Data;

export type SecureTool<Args extends unknown[], Data> = (
  context: ToolContext,
  ...args: Args
) => Promise<Envelope<Data>>;

/** Puts a handler behind policy, write scope and sandbox. */
export function createSecureTool<Args extends unknown[], Data>(
  { name, isWriteOp }: ToolMetadata,
  handler: Handler<Args, Data>,
): SecureTool<Args, Data> {
  return async (context, ...args) => {
    const { tools, defaultPolicy } = context.policy;
    if ((tools[name] ?? defaultPolicy) === "deny") {
      return { status: "denied", reason: "policy", message: `tool ${name} is denied by policy` };
    }
    if (isWriteOp && context.writeScope === "read-only") {
      return { status: "denied", reason: "sandbox", message: `tool ${name} may not write` };
    }
    const [first, ...rest] = args;
    let checked = args;
    if (typeof first === "string") {
      const absolute = resolveInWorkspace(context.workspaceRoot, first);
      if (absolute === null) {
        return { status: "denied", reason: "sandbox", message: "path is outside the workspace" };
      }
      checked = [absolute, ...rest] as unknown[] as Args;
    }
    try {
      return { status: "success", data: await handler(context, ...checked) };
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      return { status: "failure", reason: "runtime", message };
    }
  };
}

/** The host's whole sandbox: it compares words and never looks at the disk. */
function resolveInWorkspace(workspaceRoot: string, input: string): string | null {
  const absolute = path.resolve(workspaceRoot, input.replaceAll("\\", "/"));
  const relative = path.relative(workspaceRoot, absolute);
  const leaves = relative === ".." || relative.startsWith(`..${path.sep}`);
  return leaves || path.isAbsolute(relative) ? null : absolute;
}

/** One line of the host's catalog. */
export interface CatalogEntry<Args extends unknown[], Data> {
  metadata: ToolMetadata & { description: string };
  handler: SecureTool<Args, Data>;
}
