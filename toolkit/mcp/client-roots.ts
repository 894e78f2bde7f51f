// A toolkit for the MCP server without `--root`: its workspace is one of the client's roots.

import type { AccessRules, WriteScope } from "../../index.js";
import { untilAborted } from "../abort.js";
import {
  type AgentToolkit,
  allowedTools,
  createAgentToolkit,
  type InvokeOptions,
} from "../agent-toolkit.js";
import { runtimeFailure } from "../result.js";
import { pathOfRootUri } from "./root-uri.js";
import type { McpToolkit } from "./server.js";

/** How a root is opened. */
export interface RootOptions {
  writeScope: WriteScope;
  rules: AccessRules;
}

/** A toolkit whose workspace follows the client's roots. */
export interface ClientRootsToolkit extends McpToolkit {
  /** Replaces the roots. The first one that can be opened becomes the workspace; there may be none. */
  follow(uris: Promise<readonly string[]>): void;
}

/**
 * A toolkit whose workspace is the first of the client's roots that can be opened. Calls wait until the roots are
 * known. A replaced workspace is closed when its last call has ended.
 *
 * @param onNone called with a sentence when there is no workspace
 */
export function createClientRootsToolkit(
  options: RootOptions,
  onNone: (why: string) => void,
): ClientRootsToolkit {
  let present: Promise<Shared | null> = Promise.resolve(null);

  async function open(uris: Promise<readonly string[]>): Promise<Shared | null> {
    let roots: readonly string[];
    try {
      roots = await uris;
    } catch {
      onNone("the client does not tell its roots: start the server with --root DIR");
      return null;
    }
    const toolkit = firstOf(roots, options);
    if (toolkit === null) onNone("none of the client's roots is a directory that can be opened");
    return toolkit;
  }

  /** Waits for the workspace. If the roots change meanwhile, waits for the new one. */
  async function newest(signal: AbortSignal | null | undefined): Promise<Shared | null> {
    const awaited = present;
    const shared = await untilAborted(signal, () => awaited);
    return awaited === present ? shared : newest(signal);
  }

  const invoke = async (name: string, args: unknown, options?: InvokeOptions | null) => {
    const shared = await newest(options?.signal);
    if (shared === null) {
      const message =
        "There is no workspace: the client has given no directory that can be opened. Ask the user to open one.";
      return runtimeFailure(message, { code: "NO_WORKSPACE" }, true);
    }
    return shared.use((toolkit) => toolkit.invoke(name, args, options));
  };
  return {
    follow(uris) {
      const former = present;
      present = open(uris);
      former.then((shared) => shared?.closeWhenUnused());
    },
    invoke,
    getAllowedTools: () => allowedTools({ workspaceRoot: "", ...options }),
  };
}

/** A toolkit with a count of its calls. It is closed after it has been replaced and its last call has ended. */
class Shared {
  readonly #toolkit: AgentToolkit;
  #users = 0;
  #isWanted = true;

  constructor(toolkit: AgentToolkit) {
    this.#toolkit = toolkit;
  }

  async use<T>(call: (toolkit: AgentToolkit) => Promise<T>): Promise<T> {
    this.#users += 1;
    try {
      return await call(this.#toolkit);
    } finally {
      this.#users -= 1;
      this.#closeIfUnused();
    }
  }

  closeWhenUnused(): void {
    this.#isWanted = false;
    this.#closeIfUnused();
  }

  #closeIfUnused(): void {
    if (!this.#isWanted && this.#users === 0) this.#toolkit.close();
  }
}

function firstOf(uris: readonly string[], options: RootOptions): Shared | null {
  for (const uri of uris) {
    const workspaceRoot = pathOfRootUri(uri);
    if (workspaceRoot === null) continue;
    try {
      return new Shared(createAgentToolkit({ workspaceRoot, ...options }));
    } catch {
      // This root cannot be opened; try the next one.
    }
  }
  return null;
}
