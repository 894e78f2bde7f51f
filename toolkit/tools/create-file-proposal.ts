// The proposal of `workspace_create_file` for the person who approves it: the change as a diff, and arguments
// that make exactly this change.

import {
  type CreateFileArguments,
  type CreateFileResult,
  createFile,
  type ReadFileOutput,
  readFile,
  type Workspace,
  type WorkspaceContext,
} from "../../index.js";
import { type HandlerContext, rootOf } from "../context.js";
import { unifiedDiff } from "../diff.js";
import { ownOf } from "../own.js";
import type { Proposal } from "./tool.js";

type Root = Workspace | WorkspaceContext;

/** A SHA-256 that no known file has. A call that expects it checks everything and writes nothing. */
const OF_NO_FILE = "0".repeat(64);

/** The file that would be replaced. */
interface OldFile {
  /** Its text, as `readFile` gives it. */
  text: string;
  sha256: string;
  sizeBytes: number;
}

export async function proposeCreation(
  context: HandlerContext,
  args: CreateFileArguments,
): Promise<Proposal<CreateFileResult>> {
  const root = rootOf(context);
  const signal = ownOf(context, "signal") ?? null;
  const { path, content, overwrite = false, expectedHash = null } = args;
  const asGiven = { path, content, overwrite };
  // A malformed `expectedHash` is passed on, so that `createFile` refuses it.
  const isHash = expectedHash === null || /^[0-9a-f]{64}$/i.test(expectedHash);
  const tried = { ...asGiven, expectedHash: isHash ? OF_NO_FILE : expectedHash };
  const refused = await createFile(root, tried, { signal });
  // Any other code means that the call would fail anyway, so no person is asked.
  if (refused.errorCode !== "WriteFailed") return { answer: refused };

  const old = await readOld(root, path, signal);
  if (old === "unshown") return { answer: { ...refused, message: UNSHOWN } };
  if (old === null || old === "absent") {
    // An absent file has no hash to expect; an unreadable one was refused with the right message.
    if (old === null || expectedHash !== null) return { answer: refused };
    const diff = unifiedDiff(refused.path, null, writtenForm(content));
    return { diff, args: { path, content, overwrite: false, expectedHash: null } };
  }
  if (expectedHash !== null && expectedHash.toLowerCase() !== old.sha256)
    return { answer: refused };
  const diff = noteOn(old) + unifiedDiff(refused.path, old.text, writtenForm(content));
  return { diff, args: { ...asGiven, expectedHash: old.sha256 } };
}

const UNSHOWN =
  "the file that would be replaced cannot be shown for approval: it is not UTF-8 text of at most 1 MiB";

/** The text that `createFile` writes for a content. */
function writtenForm(content: string): string {
  return content.replace(/^\ufeff/, "").replace(/\r\n?/g, "\n");
}

/** A note on changes that the diff cannot show: byte order mark and line ends. */
function noteOn({ text, sizeBytes }: OldFile): string {
  const isExact = Buffer.byteLength(text) === sizeBytes;
  return isExact ? "" : "The byte order mark is dropped, and line ends become LF.\n";
}

const MAX_LINES = 500;

async function readOld(
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
