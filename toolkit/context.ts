// The context of tools: the keys that they read from a host's object.

import {
  type FileUriRoot,
  type ReadSourceContext,
  type SearchProgress,
  Workspace,
  type WorkspaceContext,
  type WorkspaceOptions,
} from "../index.js";
import type { Approve } from "./approval.js";
import { codedError } from "./coded-error.js";
import type { ExecutionLocation } from "./definitions/tool.js";
import type { Forward } from "./forward.js";
import { ownOf } from "./own.js";
import type { SecureToolContext } from "./secure-tool.js";

/** The context of all tools. Other keys are the host's own and ignored. A `Workspace` is a context, too. */
export interface ToolContext extends HandlerContext {
  /** Absolute path of the workspace. */
  workspaceRoot: string;
}

/** The context of one tool's handler. Which keys must be present depends on the tool. */
export interface HandlerContext extends SecureToolContext, WorkspaceOptions {
  /**
   * A workspace that is open already, in place of `workspaceRoot`. The host closes it. It has rules of its own; `rules`
   * beside it are for agent toolkits. Any other value under this key is the host's own and ignored.
   */
  workspace?: Workspace | null;
  /** For `read_file` in an agent toolkit: whether the failure names near misses. Default `true`. */
  nearMisses?: boolean | null;
  /** For `regexp_search`: called during a long search, at most every 100 ms. */
  onProgress?: ((progress: SearchProgress) => void) | null;
  /** For `read`: the root of `file:///…`. */
  space?: FileUriRoot | null;
  /** For `read`: the root of `file:…`. */
  chat?: FileUriRoot | null;
  /** For `read`: the fetch for every other scheme. */
  fetch?: ((uri: string, init?: RequestInit) => Promise<Response>) | null;
  /** For `read`: the largest file or page, in bytes: an integer >= 1. Default 1,048,576. */
  maxBytes?: number | null;
  /**
   * For `workspace.read_file`: the store of the documents. In an agent toolkit also the absolute path of a
   * directory, which is opened as a `DirectoryStore`.
   */
  store?: ReadSourceContext["store"] | string | null;
  /** For `workspace.read_file`: the documents that the session has in context already. */
  activeFiles?: ReadSourceContext["activeFiles"];
  /** For `workspace.read_file`: called with the error behind an `INTERNAL_ERROR`. */
  onError?: ReadSourceContext["onError"];
  /** For an agent toolkit: the side on which it runs. Default `"both"`: it executes every tool. */
  location?: ExecutionLocation | "both" | null;
  /** For an agent toolkit: forwards the calls of tools that the other side executes. */
  forward?: Forward | null;
  /**
   * Asked for each call of a tool whose policy is `"ask"`; by an agent toolkit whose `rules` have no `read_only` also
   * before `PATHS_THAT_RUN` are changed.
   */
  approve?: Approve | null;
  /** For an agent toolkit: the roots that messages must not show. @internal */
  hiddenRoots?: readonly string[];
}

/** The first argument for a native function: the workspace that the context holds, or the context itself. */
export function rootOf(context: HandlerContext): Workspace | WorkspaceContext {
  const held = heldBy(context);
  if (held === null) return context as WorkspaceContext;
  if (held !== context && ownOf(context, "rules") != null) {
    // Native functions get the Workspace alone, so that these rules would protect nothing.
    const what = "rules stand beside a Workspace: give them to Workspace.open, or to withRules";
    throw codedError("INVALID_ARGUMENT", what);
  }
  return held;
}

/** The workspace that the context is, or holds; `null` if there is none. */
export function heldBy(context: HandlerContext | null | undefined): Workspace | null {
  if (context instanceof Workspace) return genuine(context);
  const workspace = ownOf(context, "workspace");
  return workspace instanceof Workspace ? genuine(workspace) : null;
}

/** Throws a `TypeError` for a proxy of a workspace, or an object that only inherits from one. */
function genuine(workspace: Workspace): Workspace {
  try {
    Reflect.get(Workspace.prototype, "workspaceRoot", workspace);
  } catch {
    throw new TypeError("the Workspace is a proxy or a copy: give the Workspace itself");
  }
  return workspace;
}
