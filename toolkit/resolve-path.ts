// Resolves a model's path by its spelling to an absolute path in the workspace.

import { realpathSync } from "node:fs";
import { realpath } from "node:fs/promises";
import path from "node:path";
import { resolveWorkspacePath, Workspace } from "../index.js";

/** The real paths of the roots that toolkits hold. */
const realRoots = new WeakMap<Workspace, string>();

/**
 * Keeps the real path of a root that a toolkit has opened. The root's own path may be a link, and lead elsewhere
 * later.
 *
 * @param same another `Workspace` on the same root, whose real path is kept already
 */
export function holdRealRoot(workspace: Workspace, same?: Workspace): void {
  if (realRoots.has(workspace)) return;
  const kept = same === undefined ? undefined : realRoots.get(same);
  realRoots.set(workspace, kept ?? realPathOf(workspace.workspaceRoot));
}

/** The real path of a root; the path as it is if it leads nowhere. */
export function realPathOf(root: string): string {
  try {
    return realpathSync(root);
  } catch {
    return root;
  }
}

/**
 * The absolute path in the workspace. If `readFile` would refuse the spelling, rejects with its
 * `ReadFileError`, before anything is resolved.
 */
export async function resolveInWorkspace(
  workspace: Workspace | string,
  given: string,
): Promise<string> {
  const isOpen = workspace instanceof Workspace;
  const root = isOpen ? workspace.workspaceRoot : workspace;
  const held = isOpen ? realRoots.get(workspace) : undefined;
  try {
    return resolveWorkspacePath(root, given);
  } catch (error) {
    if (!path.isAbsolute(given)) throw error;
    // A root that is reached through a link has two spellings, and both count as inside.
    const real = held ?? (await realpath(root).catch(() => root));
    if (real === root) throw error;
    try {
      return resolveWorkspacePath(real, given);
    } catch {
      throw error;
    }
  }
}
