import { Workspace } from "../../index.js";
import { type HandlerContext, heldBy } from "../context.js";
import { ownOf } from "../own.js";
import { callSignal } from "../signals.js";

interface SignalOptions {
  signal?: AbortSignal | null;
}

/**
 * Runs work with options that include the context's signal. If the context holds a `Workspace`, native functions
 * get that in place of the context, and a `Workspace` has no signal.
 */
export async function withSignalOf<Options extends SignalOptions, T>(
  context: HandlerContext,
  options: Options | null | undefined,
  work: (options: Options | null) => Promise<T>,
): Promise<T> {
  const isWrong = typeof options !== "object" && options !== undefined;
  if (isWrong || context instanceof Workspace || heldBy(context) === null)
    return work(options ?? null);
  const { signal, release } = callSignal(ownOf(context, "signal"), options?.signal);
  try {
    if (signal === null) return await work(options ?? null);
    return await work(Object.assign(Object.create(null), options, { signal }));
  } finally {
    release();
  }
}
