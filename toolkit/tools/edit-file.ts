// The tool `edit_file`: `editFile`, the diff for a person who approves it, and the closest lines for a model whose
// text does not occur.

import {
  type CallOptions,
  type EditFileArguments,
  type EditFileOutput,
  editFile,
} from "../../index.js";
import { type HandlerContext, rootOf } from "../context.js";
import { EDIT_FILE, type EditFileToolArguments } from "../definitions/edit-file.js";
import { ownOf } from "../own.js";
import { withClosestLines } from "./closest-lines.js";
import { withSignalOf } from "./signal.js";
import type { Proposal, Tool } from "./tool.js";

type Params = [args: EditFileArguments, options?: CallOptions | null];

export const EDIT_FILE_TOOL = {
  ...EDIT_FILE,
  needsWorkspace: true,
  async handler(context: HandlerContext, args: EditFileArguments, options?: CallOptions | null) {
    return withSignalOf(context, options, (all) => editFile(rootOf(context), args, all));
  },
  paramsOf(args: EditFileToolArguments): Params {
    return [args];
  },
  propose,
  finish(_context, _args, result) {
    return withClosestLines(result);
  },
} satisfies Tool<"edit_file", EditFileToolArguments, EditFileOutput, Params>;

/** The change of a dry run, and arguments that edit no other bytes. */
async function propose(
  context: HandlerContext,
  args: EditFileArguments,
): Promise<Proposal<EditFileOutput>> {
  const signal = ownOf(context, "signal") ?? null;
  const tried = { ...args, dry_run: true } as EditFileArguments;
  const answer = await editFile(rootOf(context), tried, { signal });
  if (args.dry_run === true) return { answer };
  const { diff, before_sha256 } = answer;
  return { diff, args: { ...args, expected_hash: before_sha256 }, paths: [args.path] };
}
