// The proposal of `workspace_create_file` for the person who approves it: the change as a diff, and arguments
// that make exactly this change.

import { type CreateFileArguments, type CreateFileResult, createFile } from "../../index.js";
import { type HandlerContext, rootOf } from "../context.js";
import { isDenialAnswer } from "../denied-path.js";
import { unifiedDiff } from "../diff.js";
import { ownOf } from "../own.js";
import { type OldFile, readOld } from "./old-file.js";
import type { Proposal } from "./tool.js";

/** A SHA-256 that no known file has. A call that expects it checks everything and writes nothing. */
const OF_NO_FILE = "0".repeat(64);

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
  // Any other code, and a refusal by rules, means that the call would fail anyway, so no person is asked.
  if (refused.errorCode !== "WriteFailed" || isDenialAnswer(refused)) return { answer: refused };

  const old = await readOld(root, path, signal);
  if (old === "unshown") return { answer: { ...refused, message: UNSHOWN } };
  if (old === null || old === "absent") {
    // An absent file has no hash to expect; an unreadable one was refused with the right message.
    if (old === null || expectedHash !== null) return { answer: refused };
    const diff = unifiedDiff(refused.path, null, writtenForm(content));
    return { diff, args: { path, content, overwrite: false, expectedHash: null }, paths: [path] };
  }
  if (expectedHash !== null && expectedHash.toLowerCase() !== old.sha256)
    return { answer: refused };
  const diff = noteOn(old) + unifiedDiff(refused.path, old.text, writtenForm(content));
  return { diff, args: { ...asGiven, expectedHash: old.sha256 }, paths: [path] };
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
