// The file that a call would replace or delete, as a person who approves the call is shown it.

import {
  type ReadFileOutput,
  readFile,
  type Workspace,
  type WorkspaceContext,
} from "../../index.js";

type Root = Workspace | WorkspaceContext;

/** A file. */
export interface OldFile {
  /** Its text, as `readFile` gives it. */
  text: string;
  sha256: string;
  sizeBytes: number;
}

const MAX_LINES = 500;

/**
 * Reads a file. `"absent"` if no file stands there; `"unshown"` if it is not UTF-8 text of at most 1 MiB;
 * `null` if it cannot be read or keeps changing.
 */
export async function readOld(
  root: Root,
  path: string,
  signal: AbortSignal | null,
): Promise<OldFile | "absent" | "unshown" | null> {
  try {
    return await readWhole(root, path, signal);
  } catch (error) {
    if (signal?.aborted) throw signal.reason;
    switch ((error as { code?: unknown }).code) {
      case "NOT_FOUND":
        return "absent";
      case "BINARY_NOT_SUPPORTED":
      case "SIZE_LIMIT_EXCEEDED":
        return "unshown";
      default:
        return null;
    }
  }
}

/** Reads a file window by window; `null` if the file keeps changing meanwhile. */
async function readWhole(
  root: Root,
  path: string,
  signal: AbortSignal | null,
): Promise<OldFile | "unshown" | null> {
  for (let attempt = 0; attempt < 3; attempt += 1) {
    const windows: ReadFileOutput[] = [];
    let start_line: number | null = 1;
    while (start_line !== null) {
      const options = { start_line, max_lines: MAX_LINES, include_hash: true, signal };
      const window: ReadFileOutput = await readFile(root, path, options);
      windows.push(window);
      start_line = window.next_start_line;
    }
    const [first] = windows as [ReadFileOutput];
    const { sha256 = "", byte_length: sizeBytes, replaced_count = 0 } = first.meta;
    if (replaced_count > 0) return "unshown";
    if (windows.some(({ meta }) => meta.sha256 !== sha256)) continue;
    return { text: windows.map(({ content }) => content).join("\n"), sha256, sizeBytes };
  }
  return null;
}
