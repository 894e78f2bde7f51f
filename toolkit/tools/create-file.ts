// The tool `workspace_create_file`: `createFile`, and TUL-004's payload for calls that are refused before it
// runs.

import {
  type CallOptions,
  type CreateFileArguments,
  type CreateFileErrorCode,
  type CreateFileResult,
  createFile,
  createFileSync,
} from "../../index.js";
import { type HandlerContext, rootOf } from "../context.js";
import { CREATE_FILE } from "../definitions/create-file.js";
import { proposeCreation } from "./create-file-proposal.js";
import { withSignalOf } from "./signal.js";
import type { Refusal, Tool } from "./tool.js";

type Params = [args: CreateFileArguments, options?: CallOptions | null];

export const CREATE_FILE_TOOL = {
  ...CREATE_FILE,
  needsWorkspace: true,
  async handler(context: HandlerContext, args: CreateFileArguments, options?: CallOptions | null) {
    return withSignalOf(context, options, (all) => createFile(rootOf(context), args, all));
  },
  paramsOf(args: CreateFileArguments): Params {
    return [args];
  },
  propose: proposeCreation,
  refusal(context, args, refusal) {
    const code = codeOf(refusal);
    const result: CreateFileResult = {
      success: false,
      message: refusal.message,
      path: shownPath(context, args.path),
      sizeBytes: 0,
      hash: "",
      created: false,
      overwritten: false,
      errorCode: code,
    };
    return { code, result };
  },
} satisfies Tool<"workspace_create_file", CreateFileArguments, CreateFileResult, Params>;

function codeOf({ by, argument }: Refusal): CreateFileErrorCode {
  if (by === "policy" || by === "scope") return "WriteFailed";
  if (by === "sandbox" || argument === "path") return "InvalidPath";
  return "UnhandledException";
}

/**
 * The path as results show it. A call of `createFile` without content is refused before it touches a disk, and
 * its result has the path, normalised where that is possible.
 */
function shownPath(context: HandlerContext, path: unknown): string {
  if (typeof path !== "string") return "";
  try {
    return createFileSync(rootOf(context), { path } as CreateFileArguments).path;
  } catch {
    return ""; // a getter of the host's context has thrown
  }
}
