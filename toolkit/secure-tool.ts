// `createSecureTool` checks the policy, then the write scope, then the path by its spelling, then runs the
// handler. A sandbox violation that the core finds on disk gives the same kind of result.

import {
  isApplyPatchError,
  isDeleteFileError,
  isEditFileError,
  isMoveFileError,
  type WriteScope,
} from "../index.js";
import { throwIfAborted } from "./abort.js";
import { type Approve, refusalOf } from "./approval.js";
import { type HandlerContext, heldBy } from "./context.js";
import { isDenialAnswer, PATH_DENIED } from "./denied-path.js";
import { beginEvent, wasPublished } from "./events.js";
import { withoutRoots } from "./hidden-root.js";
import { ownOf, readableOf } from "./own.js";
import { isRecord, permissionIn } from "./policy.js";
import { resolveInWorkspace } from "./resolve-path.js";
import {
  pathDenied,
  policyDenied,
  runtimeFailure,
  sandboxDenied,
  type ToolFailure,
  type ToolResult,
  toolResultOf,
  withMessage,
} from "./result.js";
import { isRetriableAnswer, isRetriableError } from "./retriable.js";
import { completeRefusal } from "./tools/refusal.js";

/** `"ask"`: the context's `approve` decides about each call. */
export type Permission = "allow" | "deny" | "ask";

/** Which tools a host lets its model use. */
export interface ToolPolicy<Name extends string = string> {
  tools?: { readonly [Tool in Name]?: Permission } | null;
  /** The permission of tools that `tools` does not name. Default `"deny"`. */
  defaultPolicy?: Permission | null;
}

/** The keys of a context that a secure tool reads. A host's context has more. */
export interface SecureToolContext {
  /** Absolute path of the workspace. A path as first argument is resolved against it. */
  workspaceRoot?: string | null;
  writeScope?: WriteScope | null;
  /** Without a policy all tools are allowed. */
  policy?: ToolPolicy | null;
  signal?: AbortSignal | null;
  sessionId?: string | null;
  conversationId?: string | null;
  turnId?: string | null;
  callId?: string | null;
  /** Asked for each call of a tool whose policy is `"ask"`. */
  approve?: Approve | null;
}

/** The name of a handler, and whether it writes. */
export interface SecureToolMeta {
  name: string;
  isWriteOp: boolean;
}

/** The permission that the policy of a context gives a tool. */
export function permissionOf(context: SecureToolContext, name: string): Permission {
  const policy = ownOf(context, "policy");
  if (policy === undefined || policy === null) return "allow";
  const tools: unknown = ownOf(policy, "tools") ?? {};
  // The entries of a Map or a list are not its keys. A tool that it denies would get the default permission.
  if (!isRecord(tools)) return "deny";
  const permission = permissionIn(tools, name) ?? ownOf(policy, "defaultPolicy");
  return permission === "allow" || permission === "ask" ? permission : "deny";
}

/** Whether the write scope of a context allows a tool. */
export function isWithinScope(context: SecureToolContext, meta: SecureToolMeta): boolean {
  return !(meta.isWriteOp && ownOf(context, "writeScope") === "read-only");
}

/** Whether policy and write scope allow a tool, before any arguments are known. */
export function isPermitted(context: SecureToolContext, meta: SecureToolMeta): boolean {
  return refusedByRule(context, meta) === null;
}

/** The refusal by policy or write scope; `null` if there is none. */
export function refusedByRule(
  context: SecureToolContext,
  meta: SecureToolMeta,
): ToolFailure | null {
  if (permissionOf(context, meta.name) === "deny") return policyDenied(meta.name);
  if (isWithinScope(context, meta)) return null;
  const message = `The workspace is read-only: ${meta.name} cannot write to it.`;
  return sandboxDenied(message, { code: null });
}

/**
 * Wraps a handler. A string as first argument is taken for a path: `\` becomes `/`, and the handler gets it
 * resolved to an absolute path in the workspace.
 *
 * Failures are results; the promise rejects only with the reason of an aborted signal. If the handler throws,
 * the workspace root is removed from the message. If the handler returns a `ToolResult`, as a secure tool does,
 * that is the result.
 */
export function createSecureTool<Context extends SecureToolContext, Args extends unknown[], Data>(
  meta: SecureToolMeta,
  handler: (context: Context, ...args: Args) => Promise<Data> | Data,
): (context: Context, ...args: Args) => Promise<ToolResult<Data>> {
  return async (context, ...args) => {
    const publish = beginEvent(meta.name, context);
    const answer = await runSecured(meta, handler, context, args);
    if (wasPublished(answer, meta.name)) return answer;
    const result = completeRefusal(meta.name, context as HandlerContext, args[0], answer);
    publish(args[0], result);
    return result as ToolResult<Data>;
  };
}

/** A secure tool's call, without its event. */
export async function runSecured<Context extends SecureToolContext, Args extends unknown[], Data>(
  meta: SecureToolMeta,
  handler: (context: Context, ...args: Args) => Promise<Data> | Data,
  context: Context,
  args: Args,
): Promise<ToolResult<Data>> {
  const [first, ...rest] = args as unknown[];
  try {
    throwIfAborted(ownOf(context, "signal"));
    const refused = refusedByRule(context, meta);
    if (refused !== null) return refused;
    if (typeof first === "string") {
      const held = heldBy(context as HandlerContext);
      const resolved = await resolveInWorkspace(held ?? rootPathOf(context), first);
      args = [resolved, ...rest] as unknown[] as Args;
    }
    if (permissionOf(context, meta.name) === "ask") {
      // The handler gets what was approved, whatever the caller does with its object meanwhile.
      if (typeof first !== "string") args = [copyOf(first), ...rest] as unknown[] as Args;
      const shown = typeof first === "string" ? first : copyOf(args[0]);
      const refusal = await refusalByPerson(meta, context, shown);
      if (refusal !== null) return refusal;
    }
    const data = await handler(context, ...args);
    return (await resultOf(data, context)) as ToolResult<Data>;
  } catch (error) {
    rethrowIfAborted(error, context, args);
    return await thrownFailure(error, hiddenRootsOf(context));
  }
}

/** The result for a handler's answer: the answer itself if it is a `ToolResult`, else one that holds it. */
async function resultOf(answer: unknown, context: SecureToolContext): Promise<ToolResult> {
  const result: ToolResult = toolResultOf(answer) ?? { status: "success", data: answer };
  if (result.status !== "success") {
    const message = await withoutAny(hiddenRootsOf(context), result.message);
    return message === result.message ? result : withMessage(result, message);
  }
  return (await domainFailure(result.data, context)) ?? result;
}

function copyOf(value: unknown): unknown {
  try {
    return structuredClone(value);
  } catch {
    throw new TypeError("The arguments cannot be shown for approval: they are not plain data.");
  }
}

async function withoutAny(roots: unknown[], text: string): Promise<string> {
  let cleaned = text;
  for (const root of roots) cleaned = await withoutRoots(cleaned, root);
  return cleaned;
}

interface Given {
  path?: unknown;
  uri?: unknown;
}

async function refusalByPerson(
  { name }: SecureToolMeta,
  context: SecureToolContext,
  first: unknown,
): Promise<ToolFailure | null> {
  const approve = ownOf(context, "approve");
  if (typeof approve !== "function") {
    return runtimeFailure(`The policy of ${name} is "ask", and the context has no approve.`);
  }
  const given: Given = typeof first === "string" ? { path: first } : Object(first);
  const [path, uri] = [ownOf(given, "path"), ownOf(given, "uri")];
  const id = (key: "callId" | "sessionId" | "conversationId" | "turnId") =>
    ownOf(context, key) ?? null;
  return refusalOf((call) => approve.call(context, call), {
    name,
    arguments: first,
    path: typeof path === "string" ? path : typeof uri === "string" ? uri : null,
    diff: null,
    callId: id("callId"),
    sessionId: id("sessionId"),
    conversationId: id("conversationId"),
    turnId: id("turnId"),
    signal: ownOf(context, "signal") ?? null,
  });
}

/** The root's path: that of the held workspace, or the context's `workspaceRoot`. */
function rootPathOf(context: SecureToolContext): string {
  const held = heldBy(context as HandlerContext);
  return (held?.workspaceRoot ?? ownOf(context, "workspaceRoot")) as string;
}

/** The spellings of roots that no message may show. */
function hiddenRootsOf(context: SecureToolContext): unknown[] {
  try {
    const others: unknown = ownOf(context as HandlerContext, "hiddenRoots");
    return [rootPathOf(context), ...(Array.isArray(others) ? others : [])];
  } catch {
    return [];
  }
}

/** An aborted call rejects with the signal's reason; other failures are results. */
function rethrowIfAborted(error: unknown, context: SecureToolContext, args: unknown[]): void {
  const holders = [context, ...args] as { signal?: AbortSignal | null }[];
  for (const holder of holders) {
    const signal = typeof holder === "object" && holder !== null ? signalIn(holder) : null;
    if (!signal?.aborted) continue;
    const { reason } = signal;
    // A model's arguments may look like an aborted signal. They count only if their reason was thrown.
    if (reason === error || signal instanceof AbortSignal) throw reason;
  }
}

function signalIn(holder: { signal?: AbortSignal | null }): AbortSignal | null {
  try {
    return ownOf(holder, "signal") ?? null;
  } catch {
    return null;
  }
}

/** The failure for any value that a handler threw. Its properties are read once each; getters may throw. */
async function thrownFailure(error: unknown, roots: unknown[]): Promise<ToolFailure> {
  const thrownCode = stringIn(error, "code");
  const code = thrownCode === null ? null : await withoutAny(roots, thrownCode);
  const message = stringIn(error, "message") ?? textOf(error);
  const text = await withoutAny(roots, message?.trim() ? message : "The tool failed.");
  if (code === "SANDBOX_VIOLATION") return sandboxDenied(text, { code });
  if (code === PATH_DENIED) {
    return pathDenied(await withoutAny(roots, stringIn(error, "path") ?? ""), { code });
  }
  const facts = factsOf(error);
  return runtimeFailure(text, facts === null ? { code } : { code, facts }, isRetriable(error));
}

/** The properties by which errors of the core tell a model more than their code. */
const FACTS = [
  "edit_index",
  "other_index",
  "hunk",
  "patch_line",
  "count",
  "lines",
  "closest",
  "sha256",
  "entries",
  "removed",
  "applied",
] as const;

/** The errors that have such properties. */
const HAS_FACTS = [isEditFileError, isApplyPatchError, isMoveFileError, isDeleteFileError] as const;

/** What an error of the core tells a model beside its code; `null` if that is nothing. */
function factsOf(error: unknown): Record<string, unknown> | null {
  if (!HAS_FACTS.some((isOne) => isOne(error))) return null;
  const told = FACTS.map((name) => [name, (error as unknown as Record<string, unknown>)[name]]);
  const facts = Object.fromEntries(told.filter(([, value]) => value !== undefined));
  return Object.keys(facts).length === 0 ? null : facts;
}

/** `isRetriableError` for values whose getters may throw. */
function isRetriable(thrown: unknown): boolean {
  try {
    return isRetriableError(thrown);
  } catch {
    return false;
  }
}

function stringIn(thrown: unknown, key: "code" | "message" | "path"): string | null {
  if (typeof thrown !== "object" || thrown === null) return null;
  try {
    const value = ownOf(thrown as { [Key in typeof key]?: unknown }, key);
    return typeof value === "string" ? value : null;
  } catch {
    return null;
  }
}

/** The text of a thrown primitive value. */
function textOf(thrown: unknown): string | null {
  switch (typeof thrown) {
    case "string":
    case "number":
    case "bigint":
    case "boolean":
      return String(thrown);
    default:
      return null;
  }
}

/** The failure that an answer of TUL-001 or TUL-004 tells of; `null` if it tells of none. */
async function domainFailure(
  data: unknown,
  context: SecureToolContext,
): Promise<ToolFailure | null> {
  if (readableOf(data, "success") !== false) return null;
  const code = readableOf(data, "errorCode");
  if (typeof code !== "string") return null;
  const result = await withoutRootsIn(data as object, hiddenRootsOf(context));
  const message = sentenceOf(result) ?? code;
  if (isDenialAnswer(data)) {
    const path = readableOf(result, "path");
    return pathDenied(typeof path === "string" ? path : null, { code: PATH_DENIED, result });
  }
  const details = { code, result };
  // TUL-004's `InvalidPath` covers paths that leave the workspace.
  if (code === "InvalidPath") return sandboxDenied(message, details);
  return runtimeFailure(message, details, isRetriableAnswer(data as { errorCode: string }));
}

/** The same answer, or a copy of it if its sentences name a root. */
async function withoutRootsIn(answer: object, roots: unknown[]): Promise<object> {
  const clean: { message?: string; errors?: unknown[] } = {};
  const { message, errors } = { message: "", errors: [] as unknown, ...answer };
  if (typeof message === "string") clean.message = await withoutAny(roots, message);
  if (Array.isArray(errors)) {
    const texts = errors.map((text) => (typeof text === "string" ? withoutAny(roots, text) : text));
    clean.errors = await Promise.all(texts);
  }
  const isClean =
    (clean.message ?? "") === message &&
    (clean.errors ?? []).every((text, index) => text === (errors as unknown[])[index]);
  return isClean ? answer : { ...answer, ...clean };
}

function sentenceOf(answer: object): string | null {
  const message = readableOf(answer, "message");
  if (typeof message === "string" && message !== "") return message;
  const errors = readableOf(answer, "errors");
  const texts = Array.isArray(errors) ? errors.filter((text) => typeof text === "string") : [];
  return texts.length === 0 ? null : texts.join(" ");
}
