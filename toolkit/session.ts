// The session behind a toolkit. Roots, scope, policy and stores are read once, when the toolkit is made; ids,
// signal and active files are read when a call begins.

import { randomUUID } from "node:crypto";
import { isAbsolute } from "node:path";
import type { AccessRules, SearchProgress, Workspace, WriteScope } from "../index.js";
import type { Approve } from "./approval.js";
import { type HandlerContext, heldBy, type ToolContext } from "./context.js";
import type { ExecutionLocation } from "./definitions/tool.js";
import type { Forward } from "./forward.js";
import { HeldRoots } from "./held-roots.js";
import { ownOf } from "./own.js";
import { readPolicy } from "./policy.js";
import { holdRealRoot, realPathOf } from "./resolve-path.js";
import { addDefault, readRules, rulesBeside } from "./rules.js";
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
  /** The root of all tools, with the default rules if the host has no `read_only` of its own. */
  readonly workspace: Workspace | null;
  /** The same root with the host's rules alone; `null` if the default is not in force. */
  readonly workspaceWithoutDefault: Workspace | null;
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
  const roots = new HeldRoots();
  try {
    return readSession(context, tools, roots);
  } catch (error) {
    roots.close();
    throw error;
  }
}

function readSession(host: HandlerContext, tools: readonly Tool[], roots: HeldRoots): Session {
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
  const hostRules = rulesOf(host);
  const { rules } = hostRules;
  const { workspace, workspaceWithoutDefault } = openWorkspace(
    host,
    hostRules,
    here,
    fixedContext,
    roots,
  );
  Object.assign(fixedContext, {
    workspace,
    writeScope: writeScopeOf(host, workspace),
    space: roots.directory("space", ownOf(host, "space"), rules),
    chat: roots.directory("chat", ownOf(host, "chat"), rules),
    store: roots.store(ownOf(host, "store"), rules),
    hiddenRoots: hiddenRootsOf(host),
  });
  return {
    fixedContext,
    workspace,
    workspaceWithoutDefault,
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

interface HostRules {
  /** The host's own rules, without the default. Those of a `Workspace` that it gives are among them. */
  readonly rules: AccessRules | null;
  /** Whether that `Workspace` has them all. */
  readonly areHeld: boolean;
}

function rulesOf(host: HandlerContext): HostRules {
  const held = heldBy(host);
  const given = held === host ? null : readRules(ownOf(host, "rules"));
  if (held === null) return { rules: given, areHeld: false };
  return { rules: rulesBeside(held.rules, given), areHeld: given === null };
}

/** A root twice: with the default rules, and without. Both are `null` if no tool that is executed here needs a root. */
type GuardedRoot = Pick<Session, "workspace" | "workspaceWithoutDefault">;

function openWorkspace(
  host: HandlerContext,
  { rules, areHeld }: HostRules,
  here: readonly Tool[],
  { fetch, forward }: HandlerContext,
  roots: HeldRoots,
): GuardedRoot {
  const given = heldBy(host);
  if (given !== null) return guarded(areHeld ? given : roots.view(given, rules), rules, roots);
  const root = ownOf(host, "workspaceRoot");
  const others = [fetch, forward, ownOf(host, "space"), ownOf(host, "chat"), ownOf(host, "store")];
  const hasOthers = others.some((other) => other != null) || here.some(isIndependent);
  const none = { workspace: null, workspaceWithoutDefault: null };
  if (root === undefined || root === null) {
    if (hasOthers) return none;
  } else if (here.every(({ needsWorkspace }) => needsWorkspace === false)) {
    return none;
  }
  const opened = roots.workspace(root as string, {
    writeScope: ownOf(host, "writeScope") ?? null,
    invalidUtf8: ownOf(host, "invalidUtf8") ?? null,
    durability: ownOf(host, "durability") ?? null,
    contentHash: ownOf(host, "contentHash") ?? null,
    maxCreateBytes: ownOf(host, "maxCreateBytes") ?? null,
    rules,
  });
  return guarded(opened, rules, roots);
}

/** Adds the default to a root with the host's rules, unless these have a `read_only`. */
function guarded(
  withoutDefault: Workspace,
  rules: AccessRules | null,
  roots: HeldRoots,
): GuardedRoot {
  holdRealRoot(withoutDefault);
  const guarding = addDefault(rules);
  if (guarding === null) return { workspace: withoutDefault, workspaceWithoutDefault: null };
  const workspace = roots.view(withoutDefault, guarding);
  holdRealRoot(workspace, withoutDefault);
  return { workspace, workspaceWithoutDefault: withoutDefault };
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
