// The tool `read_file`: `readFile`, and the hints that an agent toolkit adds for the model: the next window,
// and near misses of a missing file.

import { type ReadFileOptions, type ReadFileOutput, readFile } from "../../index.js";
import { type HandlerContext, rootOf } from "../context.js";
import { READ_FILE, type ReadFileToolArguments } from "../definitions/read-file.js";
import { type ToolFailure, type ToolSuccess, withDetails, withMessage } from "../result.js";
import { didYouMean, nearMissesOf } from "./near-misses.js";
import { withSignalOf } from "./signal.js";
import type { Tool } from "./tool.js";

type Params = [path: string, options?: ReadFileOptions | null];

export const READ_FILE_TOOL = {
  ...READ_FILE,
  needsWorkspace: true,
  async handler(context: HandlerContext, path: string, options?: ReadFileOptions | null) {
    return withSignalOf(context, options, (all) => readFile(rootOf(context), path, all));
  },
  paramsOf({ path, ...options }: ReadFileToolArguments): Params {
    // Without a prototype, so that properties of `Object.prototype` are not taken for options.
    return [path, Object.assign(Object.create(null), options)];
  },
  async finish(context, args, result) {
    if (result.status === "success") return withNextWindow(result, args.max_lines);
    if (result.error.details.code !== "NOT_FOUND") return result;
    return withNearMisses(result, args.path, await nearMissesOf(context, args.path));
  },
} satisfies Tool<"read_file", ReadFileToolArguments, ReadFileOutput, Params>;

function withNextWindow(
  result: ToolSuccess<ReadFileOutput>,
  max_lines: number | null | undefined,
): ToolSuccess<ReadFileOutput> {
  const { path, next_start_line: start_line } = result.data;
  if (start_line === null) return result;
  const next = JSON.stringify({ path, start_line, max_lines: max_lines ?? undefined });
  return { ...result, hint: `The file goes on: call read_file with ${next}.` };
}

function withNearMisses(failure: ToolFailure, missing: string, near: string[]): ToolFailure {
  if (near.length === 0) return failure;
  const message = `${failure.message}; ${didYouMean(missing, near)}`;
  return withMessage(withDetails(failure, { nearMisses: near }), message);
}
