// The tool `move_file`: `moveFile`, and what a person who approves it is shown.

import {
  type CallOptions,
  type MoveFileArguments,
  type MoveFileOutput,
  moveFile,
} from "../../index.js";
import { type HandlerContext, rootOf } from "../context.js";
import { MOVE_FILE, type MoveFileToolArguments } from "../definitions/move-file.js";
import { ownOf } from "../own.js";
import { hashOfFile } from "./file-hash.js";
import { withSignalOf } from "./signal.js";
import type { Proposal, Tool } from "./tool.js";

type Params = [args: MoveFileArguments, options?: CallOptions | null];

export const MOVE_FILE_TOOL = {
  ...MOVE_FILE,
  needsWorkspace: true,
  async handler(context: HandlerContext, args: MoveFileArguments, options?: CallOptions | null) {
    return withSignalOf(context, options, (all) => moveFile(rootOf(context), args, all));
  },
  paramsOf(args: MoveFileToolArguments): Params {
    return [args];
  },
  propose,
} satisfies Tool<"move_file", MoveFileToolArguments, MoveFileOutput, Params>;

/**
 * The move as git shows it, and arguments that move no other file, if its hash is known. They replace an entry
 * only if the person was told so; the replaced entry itself is not compared.
 */
async function propose(
  context: HandlerContext,
  args: MoveFileArguments,
): Promise<Proposal<MoveFileOutput>> {
  const signal = ownOf(context, "signal") ?? null;
  const root = rootOf(context);
  const answer = await moveFile(root, { ...args, dry_run: true }, { signal });
  if (args.dry_run === true) return { answer };
  const { path, to, kind, overwritten } = answer;
  const replaced = overwritten ? `The file or link at ${to} is replaced.\n` : "";
  const diff = `${replaced}diff --git a/${path} b/${to}\nrename from ${path}\nrename to ${to}\n`;
  const given = args.expected_hash ?? null;
  const expected_hash = given ?? (kind === "file" ? await hashOfFile(root, path, signal) : null);
  // What appears at the new path meanwhile was not approved.
  return {
    diff,
    args: { ...args, overwrite: overwritten, expected_hash, expected_kind: kind },
    paths: [args.path, args.to],
  };
}
