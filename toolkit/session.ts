// The session behind a toolkit. Roots, scope, policy and stores are read once, when the toolkit is made; ids,
// signal and active files are read when a call begins.

import { randomUUID } from "node:crypto";
import { isAbsolute } from "node:path";
import {
  DirectoryStore,
  type FileUriRoot,
  type SearchProgress,
  Workspace,
  type WriteScope,
} from "../index.js";
import type { Approve } from "./approval.js";
import { type HandlerContext, heldBy, type ToolContext } from "./context.js";
import type { ExecutionLocation } from "./definitions/tool.js";
import type { Forward } from "./forward.js";
import { ownOf } from "./own.js";
import { readPolicy } from "./policy.js";
import { holdRealRoot, realPathOf } from "./resolve-path.js";
import type { ToolPolicy } from "./secure-tool.js";
import { callSignal } from "./signals.js";
import type { Tool } from "./tools/tool.js";

/** The ids of a call, and the signal that aborts it alone. */
export interface CallOptions {
  /** Aborts the call, which then rejects with `signal.reason`; beside the context's own. */
  signal?: AbortSignal | null;
  /** The id that the model's API gave the call. Default: a random one. */
  callId?: string | null;
  /** Used in place of the context's own ids. */
  sessionId?: string | null;
  conversationId?: string | null;
  turnId?: string | null;
  /** Called while the call goes on, if it takes long and can tell how far it has come. */
  onProgress?: ((progress: SearchProgress) => void) | null;
}

/** The context of one call. It is fixed when the call begins; later changes by the host do not affect it. */
export interface CallContext extends HandlerContext {
  /** The one root that the toolkit holds. */
  readonly workspace: Workspace | null;
  readonly workspaceRoot?: never;
  readonly callId: string;
  readonly sessionId: string | null;
  readonly conversationId: string | null;
  readonly turnId: string | null;
  readonly signal: AbortSignal | null;
}

/** The state of a toolkit. */
export interface Session {
  /** The context as it was read when the toolkit was made. */
  readonly fixedContext: Readonly<HandlerContext>;
  readonly workspace: Workspace | null;
  readonly location: ExecutionLocation | "both";
  readonly forward: Forward | null;
  readonly approve: Approve | null;
  /** Reads ids, signal and active files. An error of a host's getter passes through. */
  begin(options: CallOptions | null | undefined): { context: CallContext; release(): void };
  /** Closes the roots and stores that the toolkit opened. */
  close(): void;
  isClosed(): boolean;
}

/**
 * Opens the roots that a context names. Throws if a root cannot be opened or a key has a value that it cannot
 * have; nothing stays open then.
 */
export function openSession(context: HandlerContext, tools: readonly Tool[]): Session {
  if (typeof context !== "object" || context === null) {
    throw new TypeError("the context must be an object, or a Workspace");
  }
  heldBy(context); // refuses a proxy of a Workspace before its getters throw
  const roots = new Roots();
  try {
    return readSession(context, tools, roots);
  } catch (error) {
    roots.close();
    throw error;
  }
}

function readSession(host: HandlerContext, tools: readonly Tool[], roots: Roots): Session {
  const location = readLocation(ownOf(host, "location"));
  const here = tools.filter((tool) => isExecutedAt(tool, location));
  const fixedContext: HandlerContext = Object.assign(Object.create(null), {
    policy: readPolicy(
      ownOf(host, "policy"),
      tools.map(({ definition }) => definition.name),
    ),
    approve: functionOf(host, "approve"),
    forward: functionOf(host, "forward"),
    fetch: functionOf(host, "fetch"),
    onError: functionOf(host, "onError"),
    nearMisses: ownOf(host, "nearMisses"),
    maxBytes: readMaxBytes(ownOf(host, "maxBytes")),
    location,
  });
  needApproval(fixedContext);
  const workspace = openWorkspace(host, here, fixedContext, roots);
  if (workspace !== null) holdRealRoot(workspace);
  Object.assign(fixedContext, {
    workspace,
    writeScope: writeScopeOf(host, workspace),
    space: roots.directory("space", ownOf(host, "space")),
    chat: roots.directory("chat", ownOf(host, "chat")),
    store: roots.store(ownOf(host, "store")),
    hiddenRoots: hiddenRootsOf(host),
  });
  return {
    fixedContext,
    workspace,
    location,
    forward: fixedContext.forward ?? null,
    approve: fixedContext.approve ?? null,
    begin: (options) => {
      const { context, release } = beginCall(host, fixedContext, options);
      const leave = roots.enter();
      return {
        context,
        release() {
          release();
          leave();
        },
      };
    },
    close: () => roots.close(),
    isClosed: () => roots.isClosed,
  };
}

/**
 * The roots that no message may show, opened or not: as the host spells them, and their real paths. A link may
 * lead elsewhere when a message comes, so its target is looked up now.
 */
function hiddenRootsOf(host: HandlerContext): string[] {
  const keys = ["workspaceRoot", "space", "chat", "store"] as const;
  const values: unknown[] = keys.map((key) => ownOf(host as ToolContext, key));
  const roots = [heldBy(host), ...values].flatMap((value) => {
    const isObject = typeof value === "object" && value !== null;
    const root = isObject ? ownOf(value as ToolContext, "workspaceRoot") : value;
    return typeof root === "string" ? [root] : [];
  });
  return [
    ...new Set(roots.flatMap((root) => (isAbsolute(root) ? [root, realPathOf(root)] : [root]))),
  ];
}

/** Whether a tool is executed on this side. */
export function isExecutedAt({ metadata }: Tool, location: ExecutionLocation | "both"): boolean {
  const { executionLocation } = metadata;
  return location === "both" || executionLocation === "both" || executionLocation === location;
}

function readLocation(value: unknown): ExecutionLocation | "both" {
  if (value === undefined || value === null) return "both";
  if (value === "client" || value === "server" || value === "both") return value;
  throw new TypeError('location must be "client", "server" or "both"');
}

function readMaxBytes(value: unknown): number | null {
  if (value === undefined || value === null) return null;
  if (Number.isSafeInteger(value) && (value as number) >= 1) return value as number;
  throw new TypeError("maxBytes must be an integer >= 1");
}

type FunctionKey = "approve" | "forward" | "fetch" | "onError";

/** A function of the host, bound to the context. */
function functionOf<Key extends FunctionKey>(
  host: HandlerContext,
  key: Key,
): HandlerContext[Key] | null {
  const value: unknown = ownOf(host, key);
  if (value === undefined || value === null) return null;
  if (typeof value !== "function") throw new TypeError(`${key} must be a function`);
  return value.bind(host);
}

function needApproval({ policy, approve }: HandlerContext): void {
  if (approve || !policy) return;
  const { tools, defaultPolicy } = policy as ToolPolicy;
  if (defaultPolicy !== "ask" && !Object.values(tools ?? {}).includes("ask")) return;
  throw new TypeError('the policy has "ask", and the context no function approve to be asked');
}

/** Opens the workspace; `null` if no tool that is executed here needs one. */
function openWorkspace(
  host: HandlerContext,
  here: readonly Tool[],
  { fetch, forward }: HandlerContext,
  roots: Roots,
): Workspace | null {
  const given = heldBy(host);
  if (given !== null) return given;
  const root = ownOf(host, "workspaceRoot");
  const others = [fetch, forward, ownOf(host, "space"), ownOf(host, "chat"), ownOf(host, "store")];
  const hasOthers = others.some((other) => other != null) || here.some(isIndependent);
  if (root === undefined || root === null) {
    if (hasOthers) return null;
  } else if (here.every(({ needsWorkspace }) => needsWorkspace === false)) {
    return null;
  }
  return roots.workspace(root as string, {
    writeScope: ownOf(host, "writeScope") ?? null,
    invalidUtf8: ownOf(host, "invalidUtf8") ?? null,
    durability: ownOf(host, "durability") ?? null,
    contentHash: ownOf(host, "contentHash") ?? null,
    maxCreateBytes: ownOf(host, "maxCreateBytes") ?? null,
  });
}

/** Whether a tool needs nothing of the context. */
function isIndependent({ needsWorkspace, isAvailable }: Tool): boolean {
  return needsWorkspace !== true && isAvailable === undefined;
}

const WRITE_SCOPES: readonly WriteScope[] = ["read-only", "workspace-write", "unrestricted"];

/** The narrower of two scopes: the context's, and that of the given workspace. */
function writeScopeOf(host: HandlerContext, workspace: Workspace | null): WriteScope {
  const asked = ownOf(host, "writeScope") ?? null;
  if (asked !== null && !WRITE_SCOPES.includes(asked)) {
    throw new TypeError(`writeScope must be one of ${WRITE_SCOPES.join(", ")}`);
  }
  if (asked === "read-only" || workspace?.writeScope === "read-only") return "read-only";
  return workspace?.writeScope ?? "workspace-write";
}

function beginCall(
  host: HandlerContext,
  fixedContext: HandlerContext,
  options: CallOptions | null | undefined,
): { context: CallContext; release(): void } {
  const idOf = (key: "callId" | "sessionId" | "conversationId" | "turnId") => {
    const value: unknown = ownOf(options, key) ?? ownOf(host, key);
    return typeof value === "string" ? value : null;
  };
  const { signal, release } = callSignal(ownOf(host, "signal"), ownOf(options, "signal"));
  const context: CallContext = Object.assign(Object.create(null), fixedContext, {
    activeFiles: ownOf(host, "activeFiles"),
    onProgress: ownOf(options, "onProgress") ?? ownOf(host, "onProgress"),
    callId: idOf("callId") ?? randomUUID(),
    sessionId: idOf("sessionId"),
    conversationId: idOf("conversationId"),
    turnId: idOf("turnId"),
    signal,
  });
  return { context, release };
}

/** The roots that a toolkit has opened and will close. */
class Roots {
  readonly #opened = new Map<string, Workspace>();
  #store: DirectoryStore | null = null;
  #calls = 0;
  isClosed = false;

  workspace(root: string, options: Parameters<typeof Workspace.open>[1]): Workspace {
    const workspace = Workspace.open(root, options);
    this.#opened.set(root, workspace);
    return workspace;
  }

  /** The root of `file:` URIs. A directory is opened now, so that it stays the same one if it is renamed. */
  directory(key: "space" | "chat", root: FileUriRoot | null | undefined): FileUriRoot | null {
    if (root === undefined || root === null || root instanceof Workspace) return root ?? null;
    if (typeof root === "string") return this.#directoryAt(key, root);
    if (typeof (root as { resolve?: unknown }).resolve === "function") return root;
    const path: unknown = ownOf(root as { workspaceRoot?: unknown }, "workspaceRoot");
    return typeof path === "string" ? this.#directoryAt(key, path) : root;
  }

  #directoryAt(key: string, path: string): Workspace {
    const open = () => this.workspace(path, { writeScope: "read-only" });
    return this.#opened.get(path) ?? named(key, "workspaceRoot", open);
  }

  store(store: HandlerContext["store"]): HandlerContext["store"] {
    if (typeof store !== "string") return store ?? null;
    this.#store = named("store", "directory", () => DirectoryStore.open(store));
    return this.#store;
  }

  /** Keeps the roots open for a call. The returned function is called when the call has ended. */
  enter(): () => void {
    this.#calls += 1;
    return () => {
      this.#calls -= 1;
      if (this.isClosed) this.close();
    };
  }

  close(): void {
    this.isClosed = true;
    if (this.#calls > 0) return;
    for (const workspace of this.#opened.values()) workspace.close();
    this.#store?.close();
  }
}

/** Opens a root; an error names the context's key in place of the opener's own argument name. */
function named<T>(key: string, otherwise: string, open: () => T): T {
  try {
    return open();
  } catch (error) {
    if (error instanceof Error) {
      const { message } = error;
      error.message = message.replace(otherwise, key);
      error.stack = error.stack?.replace(message, error.message) ?? error.message;
    }
    throw error;
  }
}
