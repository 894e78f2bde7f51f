// The hash of the file that a person has approved, so that the call changes no other.

import { readBytes, type Workspace, type WorkspaceContext } from "../../index.js";

/** SHA-256 of a file's bytes; `null` if there is none: the file is too large, or may not be read. */
export async function hashOfFile(
  root: Workspace | WorkspaceContext,
  path: string,
  signal: AbortSignal | null,
): Promise<string | null> {
  try {
    const { sha256 } = await readBytes(root, path, { length: 0, include_hash: true, signal });
    return sha256 ?? null;
  } catch {
    if (signal?.aborted) throw signal.reason;
    return null;
  }
}
