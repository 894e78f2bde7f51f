// The roots and stores that a toolkit has opened and will close.

import { type AccessRules, DirectoryStore, type FileUriRoot, Workspace } from "../index.js";
import type { HandlerContext } from "./context.js";
import { ownOf } from "./own.js";
import { readRules } from "./rules.js";

/** Opens roots, and closes them together. */
export class HeldRoots {
  /** By their paths. */
  readonly #opened = new Map<string, Workspace>();
  /** Those that no other key of the context shares. */
  readonly #others: Workspace[] = [];
  #store: DirectoryStore | null = null;
  #calls = 0;
  isClosed = false;

  workspace(root: string, options: Parameters<typeof Workspace.open>[1]): Workspace {
    const workspace = Workspace.open(root, options);
    this.#opened.set(root, workspace);
    return workspace;
  }

  /** A root that is open already, with other rules. */
  view(workspace: Workspace, rules: AccessRules | null): Workspace {
    const view = workspace.withRules(rules);
    this.#others.push(view);
    return view;
  }

  /**
   * The root of `file:` URIs. A directory is opened now, so that it stays the same one if it is renamed.
   *
   * @param rules those of a directory that has none of its own
   */
  directory(
    key: "space" | "chat",
    root: FileUriRoot | null | undefined,
    rules: AccessRules | null,
  ): FileUriRoot | null {
    if (root === undefined || root === null || root instanceof Workspace) return root ?? null;
    if (typeof root === "string") return this.#directoryAt(key, root, rules);
    if (typeof (root as { resolve?: unknown }).resolve === "function") return root;
    const context = root as { workspaceRoot?: unknown; rules?: unknown };
    const path: unknown = ownOf(context, "workspaceRoot");
    const own = readRules(ownOf(context, "rules"));
    return typeof path === "string" ? this.#directoryWith(key, path, own, rules) : root;
  }

  /** @param own the rules that the directory's context has of its own */
  #directoryWith(
    key: string,
    path: string,
    own: AccessRules | null,
    rules: AccessRules | null,
  ): Workspace {
    if (own === null) return this.#directoryAt(key, path, rules);
    const opened = readable(key, path, own);
    this.#others.push(opened);
    return opened;
  }

  #directoryAt(key: string, path: string, rules: AccessRules | null): Workspace {
    const opened = this.#opened.get(path) ?? readable(key, path, rules);
    this.#opened.set(path, opened);
    return opened;
  }

  /**
   * The store of source documents. A directory gets `rules`, unless it is an object with rules of its own.
   *
   * @param rules those of a directory that has none of its own
   */
  store(store: HandlerContext["store"], rules: AccessRules | null): HandlerContext["store"] {
    if (store === undefined || store === null || store instanceof Workspace) return store ?? null;
    if (typeof store === "string") {
      this.#store = named("store", "directory", () => DirectoryStore.open(store, { rules }));
      return this.#store;
    }
    const context = store as { workspaceRoot?: unknown; rules?: unknown };
    const path: unknown = ownOf(context, "workspaceRoot");
    // The rules of an object that is no directory are the business of that store.
    if (typeof path !== "string") return store;
    return this.#directoryWith("store", path, readRules(ownOf(context, "rules")), rules);
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
    for (const workspace of [...this.#others, ...this.#opened.values()]) workspace.close();
    this.#store?.close();
  }
}

function readable(key: string, path: string, rules: AccessRules | null): Workspace {
  const options = { writeScope: "read-only", rules } as const;
  return named(key, "workspaceRoot", () => Workspace.open(path, options));
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
