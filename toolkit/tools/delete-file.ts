// The tool `delete_file`: `deleteFile`, and what a person who approves it is shown.

import {
  type CallOptions,
  type DeleteFileArguments,
  type DeleteFileOutput,
  deleteFile,
} from "../../index.js";
import { type HandlerContext, rootOf } from "../context.js";
import { DELETE_FILE, type DeleteFileToolArguments } from "../definitions/delete-file.js";
import { unifiedDiff } from "../diff.js";
import { ownOf } from "../own.js";
import { hashOfFile } from "./file-hash.js";
import { readOld } from "./old-file.js";
import { withSignalOf } from "./signal.js";
import type { Proposal, Tool } from "./tool.js";

type Params = [args: DeleteFileArguments, options?: CallOptions | null];

export const DELETE_FILE_TOOL = {
  ...DELETE_FILE,
  needsWorkspace: true,
  async handler(context: HandlerContext, args: DeleteFileArguments, options?: CallOptions | null) {
    return withSignalOf(context, options, (all) => deleteFile(rootOf(context), args, all));
  },
  paramsOf(args: DeleteFileToolArguments): Params {
    return [args];
  },
  propose,
} satisfies Tool<"delete_file", DeleteFileToolArguments, DeleteFileOutput, Params>;

/**
 * The deleted text, or a sentence about the entry, and arguments that delete no other file, if its hash is known.
 * `recursive` is set only if the person was told the number of entries.
 */
async function propose(
  context: HandlerContext,
  args: DeleteFileArguments,
): Promise<Proposal<DeleteFileOutput>> {
  const signal = ownOf(context, "signal") ?? null;
  const root = rootOf(context);
  const answer = await deleteFile(root, { ...args, dry_run: true }, { signal });
  if (args.dry_run === true) return { answer };
  const { path, kind, entries } = answer;
  const paths = [args.path];
  // A folder that is filled meanwhile, or that takes a link's place, was not approved.
  const pinned = { ...args, recursive: entries > 0, expected_kind: kind };
  if (kind === "symlink") return { diff: `The link ${path} is deleted.\n`, args: pinned, paths };
  if (kind === "directory") {
    const held = entries === 0 ? "" : `, and with it all that it holds, ${entries} in number,`;
    return { diff: `The folder ${path}${held} is deleted.\n`, args: pinned, paths };
  }
  const given = args.expected_hash ?? null;
  const old = await readOld(root, path, signal);
  if (old !== null && typeof old === "object") {
    const diff = unifiedDiff(path, old.text, null);
    return { diff, args: { ...pinned, expected_hash: given ?? old.sha256 }, paths };
  }
  const expected_hash = given ?? (await hashOfFile(root, path, signal));
  const diff = `The file ${path}, which is not shown, is deleted.\n`;
  return { diff, args: { ...pinned, expected_hash }, paths };
}
