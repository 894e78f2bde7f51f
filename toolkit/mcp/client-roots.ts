// The tools over a root that is not the operator's choice but the client's.

import { fileURLToPath } from "node:url";
import type { WriteScope } from "../../index.js";
import { untilAborted } from "../abort.js";
import { type AgentToolkit, allowedTools, createAgentToolkit } from "../agent-toolkit.js";
import { runtimeFailure } from "../result.js";
import type { McpToolkit } from "./server.js";

/** A toolkit over the roots that it is told of. */
export interface ClientRootsToolkit extends McpToolkit {
  /** From now on the first of the roots that can be opened is the workspace, or there is none. */
  follow(uris: Promise<readonly string[]>): void;
}

/**
 * A toolkit whose workspace is the first of the client's roots that can be opened. Calls wait until it is
 * known which one that is.
 *
 * @param onNone told why there is no workspace, in a sentence
 */
export function createClientRootsToolkit(
  writeScope: WriteScope,
  onNone: (why: string) => void,
): ClientRootsToolkit {
  let opened: Promise<AgentToolkit | null> = Promise.resolve(null);

  async function open(uris: Promise<readonly string[]>): Promise<AgentToolkit | null> {
    let roots: readonly string[];
    try {
      roots = await uris;
    } catch {
      onNone("the client does not tell its roots: start the server with --root DIR");
      return null;
    }
    const toolkit = firstOf(roots, writeScope);
    if (toolkit === null) onNone("none of the client's roots is a directory that can be opened");
    return toolkit;
  }

  const invoke = async (name: string, args: unknown, options?: { signal?: AbortSignal | null }) => {
    const toolkit = await untilAborted(options?.signal, () => opened);
    if (toolkit === null) {
      const message =
        "There is no workspace: the client has given no directory that can be opened. Ask the user to open one.";
      return runtimeFailure(message, { code: "NO_WORKSPACE" }, true);
    }
    return toolkit.invoke(name, args, options);
  };
  return {
    follow(uris) {
      opened = open(uris);
    },
    invoke: invoke as AgentToolkit["invoke"],
    getAllowedTools: () => allowedTools({ workspaceRoot: "", writeScope }),
  };
}

function firstOf(uris: readonly string[], writeScope: WriteScope): AgentToolkit | null {
  for (const uri of uris) {
    try {
      return createAgentToolkit({ workspaceRoot: fileURLToPath(uri), writeScope });
    } catch {
      // Not a file: URI, or nothing that can be opened: the next one may be.
    }
  }
  return null;
}
