// The tool `apply_patch`: `applyPatch`, the diff for a person who approves it, and what a model needs to repair a
// patch that was refused.

import {
  type ApplyPatchArguments,
  type ApplyPatchOutput,
  applyPatch,
  type CallOptions,
} from "../../index.js";
import { type HandlerContext, rootOf } from "../context.js";
import { APPLY_PATCH, type ApplyPatchToolArguments } from "../definitions/apply-patch.js";
import { ownOf } from "../own.js";
import { withClosestLines } from "./closest-lines.js";
import { withSignalOf } from "./signal.js";
import type { Proposal, Tool } from "./tool.js";

type Params = [args: ApplyPatchArguments, options?: CallOptions | null];

export const APPLY_PATCH_TOOL = {
  ...APPLY_PATCH,
  needsWorkspace: true,
  async handler(context: HandlerContext, args: ApplyPatchArguments, options?: CallOptions | null) {
    return withSignalOf(context, options, (all) => applyPatch(rootOf(context), args, all));
  },
  paramsOf(args: ApplyPatchToolArguments): Params {
    return [args];
  },
  propose,
  finish(_context, _args, result) {
    return withClosestLines(result);
  },
} satisfies Tool<"apply_patch", ApplyPatchToolArguments, ApplyPatchOutput, Params>;

/** The change of a dry run, and arguments that patch no other bytes. */
async function propose(
  context: HandlerContext,
  args: ApplyPatchArguments,
): Promise<Proposal<ApplyPatchOutput>> {
  const signal = ownOf(context, "signal") ?? null;
  const answer = await applyPatch(rootOf(context), { ...args, dry_run: true }, { signal });
  if (args.dry_run === true) return { answer };
  const { diff, diff_truncated } = answer;
  // A person approves nothing unseen.
  const rest = diff_truncated
    ? `The diff is cut here. The whole patch, as it came:\n${args.patch}\n`
    : "";
  // The dry run has checked the hashes that were given. Those of the same files take their place.
  const paths = answer.files.flatMap(({ path, from_path }) => [path, from_path ?? path]);
  return { diff: diff + rest, args: { ...args, expected_hashes: hashesOf(answer) }, paths };
}

/** For each path of a patch the hash of the file that stands there before it, `null` for none. */
function hashesOf({ files }: ApplyPatchOutput): Record<string, string | null> {
  const hashes = new Map<string, string | null | undefined>();
  // Of several sections for one path the first saw the file as it is.
  const pin = (path: string, hash: string | null | undefined) => {
    if (!hashes.has(path)) hashes.set(path, hash);
  };
  for (const { path, from_path, action, before_sha256 } of files) {
    const known = before_sha256 ?? undefined;
    if (from_path !== null) pin(from_path, known);
    pin(path, action === "add" || action === "move" ? null : known);
  }
  // What has no hash, such as a link, is not pinned.
  return Object.fromEntries(
    [...hashes].flatMap(([path, hash]) => (hash === undefined ? [] : [[path, hash]])),
  );
}
