// `createSecureTool`: policy, then write scope, then the sandbox by spelling, then the work. What the
// core finds on the disk comes after, and is answered alike.

import { realpathSync } from "node:fs";
import path from "node:path";
import type { WriteScope } from "../index.js";
import { throwIfAborted } from "./abort.js";
import { publishExecuted } from "./events.js";
import {
  policyDenied,
  runtimeFailure,
  sandboxDenied,
  type ToolFailure,
  type ToolResult,
} from "./result.js";

/** Which tools a host lets its model use. */
export interface ToolPolicy {
  tools?: Readonly<Record<string, "allow" | "deny">> | null;
  /** For tools that `tools` does not name. Default `"deny"`: a policy that forgets a tool is no permission. */
  defaultPolicy?: "allow" | "deny" | null;
}

/** What a secure tool looks at; a host's context has more. */
export interface SecureToolContext {
  workspaceRoot: string;
  writeScope?: WriteScope | null;
  /** Without a policy all tools are allowed. */
  policy?: ToolPolicy | null;
  signal?: AbortSignal | null;
  sessionId?: string | null;
  conversationId?: string | null;
  turnId?: string | null;
}

/** What a secure tool is told of its handler. */
export interface SecureToolMeta {
  name: string;
  isWriteOp: boolean;
}

/** Whether the policy of a context allows a tool. */
export function isAllowed(context: SecureToolContext, name: string): boolean {
  const { policy } = context;
  if (policy === undefined || policy === null) return true;
  const { tools, defaultPolicy } = policy;
  const own = tools && Object.hasOwn(tools, name) ? tools[name] : undefined;
  return (own ?? defaultPolicy) === "allow";
}

/** Whether the write scope of a context allows a tool. */
export function isWithinScope(context: SecureToolContext, meta: SecureToolMeta): boolean {
  return !(meta.isWriteOp && context.writeScope === "read-only");
}

/** Whether policy and write scope let a tool run at all, whatever its arguments are. */
export function isPermitted(context: SecureToolContext, meta: SecureToolMeta): boolean {
  return isAllowed(context, meta.name) && isWithinScope(context, meta);
}

/**
 * Wraps a handler. If its first argument is a string, it is taken for a path: `\` becomes `/`, and it
 * is resolved to an absolute path in the workspace before the handler sees it.
 *
 * Resolves with a `ToolResult` whatever happens; rejects only with the reason of an aborted signal.
 * The workspace root is taken out of the message of what the handler throws.
 */
export function createSecureTool<Context extends SecureToolContext, Args extends unknown[], Data>(
  meta: SecureToolMeta,
  handler: (context: Context, ...args: Args) => Promise<Data> | Data,
): (context: Context, ...args: Args) => Promise<ToolResult<Data>> {
  return async (context, ...args) => {
    const result = await run(meta, handler, context, args);
    publishExecuted(meta.name, context, args, result);
    return result;
  };
}

async function run<Context extends SecureToolContext, Args extends unknown[], Data>(
  meta: SecureToolMeta,
  handler: (context: Context, ...args: Args) => Promise<Data> | Data,
  context: Context,
  args: Args,
): Promise<ToolResult<Data>> {
  throwIfAborted(context.signal);
  if (!isAllowed(context, meta.name)) return policyDenied(meta.name);
  if (!isWithinScope(context, meta)) {
    const message = `The workspace is read-only: ${meta.name} cannot write to it.`;
    return sandboxDenied(message, { code: null });
  }
  const [first, ...rest] = args as unknown[];
  if (typeof first === "string") {
    const resolved = resolveInside(context.workspaceRoot, first);
    if (resolved === null) {
      const message = "The path leaves the workspace. Give a path relative to the workspace root.";
      return sandboxDenied(message, { code: null });
    }
    args = [resolved, ...rest] as unknown[] as Args;
  }
  try {
    const data = await handler(context, ...args);
    return domainFailure(data) ?? { status: "success", data };
  } catch (error) {
    rethrowIfAborted(error, context, args);
    return thrownFailure(error, context.workspaceRoot);
  }
}

/** By spelling alone; what links lead to is the core's business, and so is a blank path. */
function resolveInside(root: string, given: string): string | null {
  if (given.trim() === "") return given;
  const slashed = given.replaceAll("\\", "/");
  // A final slash asks for a folder, which `resolve` forgets.
  const end = /\/\.?$/.test(slashed) ? "/" : "";
  const resolved = path.resolve(root, slashed);
  if (isBeneath(root, resolved)) return resolved + end;
  // A root that is reached through a link has two spellings, and both are inside.
  const otherSpelling = path.isAbsolute(slashed) && isBeneath(realRoot(root), resolved);
  return otherSpelling ? resolved + end : null;
}

function isBeneath(root: string, absolute: string): boolean {
  const relative = path.relative(root, absolute);
  const leaves = relative === ".." || relative.startsWith(`..${path.sep}`);
  return !leaves && !path.isAbsolute(relative);
}

/** The root without links on its way; as it was given where there is none such. */
function realRoot(root: string): string {
  try {
    return realpathSync.native(root);
  } catch {
    return root;
  }
}

/** An aborted call rejects with the signal's reason, also where failures are answers. */
function rethrowIfAborted(error: unknown, context: SecureToolContext, args: unknown[]): void {
  const holders = [context, ...args] as { signal?: AbortSignal | null }[];
  for (const holder of holders) {
    const signal = typeof holder === "object" && holder !== null ? holder.signal : null;
    if (!signal?.aborted) continue;
    const { reason } = signal;
    // What merely looks like a signal may be a model's arguments: these decide nothing alone.
    if (reason === error || signal instanceof AbortSignal) throw reason;
  }
}

function thrownFailure(error: unknown, root: unknown): ToolFailure {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  const domain = typeof code === "string" ? code : null;
  const said = typeof message === "string" && message !== "" ? message : "The tool failed.";
  const text = withoutRoots(said, root);
  if (domain === "SANDBOX_VIOLATION") return sandboxDenied(text, { code: domain });
  return runtimeFailure(text, { code: domain }, domain === "INTERNAL");
}

/** Errors of `node:fs` and the like name the absolute path that a handler was given. */
function withoutRoots(text: string, root: unknown): string {
  if (typeof root !== "string") return text;
  return withoutRoot(withoutRoot(text, root), realRoot(root));
}

function withoutRoot(text: string, root: string): string {
  const absolute = path.resolve(root);
  if (absolute === path.parse(absolute).root) return text;
  const spelled = absolute
    .split(path.sep)
    .map((part) => part.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&"))
    .join("[\\\\/]");
  // Not the end of a longer path (`/mnt/ws` for `/ws`), nor the start of a longer name (`/ws2`).
  const before = "(?<![\\p{L}\\p{N}_.\\-][\\\\/]?)";
  const after = "(?:[\\\\/]+(?=[^\\s'\"`])|(?![\\p{L}\\p{N}_\\-]|\\.[\\p{L}\\p{N}]))";
  const found = new RegExp(`${before}${spelled}${after}`, "gu");
  return text.replaceAll(found, (match) => (/[\\/]$/.test(match) ? "" : "."));
}

/** Tools whose failures are answers say so themselves: TUL-001 and TUL-004. */
interface DomainFailure {
  success: false;
  errorCode: string;
  message?: string;
  errors?: string[];
}

function domainFailure(data: unknown): ToolFailure | null {
  if (!isDomainFailure(data)) return null;
  const details = { code: data.errorCode, result: data };
  const message = data.message ?? data.errors?.join(" ") ?? data.errorCode;
  // What TUL-004 calls an invalid path is one that leaves the workspace, or names nothing in it.
  if (data.errorCode === "InvalidPath") return sandboxDenied(message, details);
  const retriable = data.errorCode === "INTERNAL_ERROR" || /try again/.test(message);
  return runtimeFailure(message, details, retriable);
}

function isDomainFailure(data: unknown): data is DomainFailure {
  if (typeof data !== "object" || data === null) return false;
  const { success, errorCode } = data as Partial<DomainFailure>;
  return success === false && typeof errorCode === "string";
}
