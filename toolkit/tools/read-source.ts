// The tool `workspace.read_file`: `readSourceDocument`, and TUL-001's payload for calls that are refused
// before it runs.

import {
  type ReadSourceArguments,
  type ReadSourceContext,
  type ReadSourceErrorCode,
  type ReadSourceResult,
  readSourceDocument,
} from "../../index.js";
import type { HandlerContext } from "../context.js";
import { READ_SOURCE } from "../definitions/read-source.js";
import { ownOf, readableOf } from "../own.js";
import { noteCause } from "../retriable.js";
import type { Tool } from "./tool.js";

type Params = [args: ReadSourceArguments | string | null | undefined];

export const READ_SOURCE_TOOL = {
  ...READ_SOURCE,
  needsWorkspace: false,
  /** The arguments as an object, or as the JSON text of one. */
  async handler(context: HandlerContext, args: ReadSourceArguments | string | null | undefined) {
    const onError = ownOf(context, "onError");
    let cause: unknown;
    const given = Object.assign(Object.create(null), {
      activeFiles: ownOf(context, "activeFiles"),
      store: ownOf(context, "store"),
      sessionId: ownOf(context, "sessionId"),
      conversationId: ownOf(context, "conversationId"),
      signal: ownOf(context, "signal"),
      onError:
        onError == null || typeof onError === "function"
          ? (error: unknown) => {
              cause = error;
              return onError?.call(context, error);
            }
          : onError,
    });
    // The function itself reports a missing key of the context.
    const answer = await readSourceDocument(args, given as ReadSourceContext);
    noteCause(answer, cause);
    return answer;
  },
  paramsOf(args: ReadSourceArguments): Params {
    return [args];
  },
  isAvailable(context) {
    return ownOf(context, "store") != null;
  },
  refusal(context, _args, { by, message }) {
    const code: ReadSourceErrorCode = by === "arguments" ? "INVALID_ARGUMENT" : "INTERNAL_ERROR";
    const result: ReadSourceResult = {
      success: false,
      errorCode: code,
      errors: [message],
      file: null,
      sessionId: textOf(context, "sessionId"),
      conversationId: textOf(context, "conversationId"),
    };
    return { code, result };
  },
} satisfies Tool<"workspace.read_file", ReadSourceArguments, ReadSourceResult, Params>;

function textOf(context: HandlerContext, key: "sessionId" | "conversationId"): string | null {
  const value = readableOf(context, key);
  return typeof value === "string" ? value : null;
}
