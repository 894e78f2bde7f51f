// Makes one signal for a call out of the context's signal and the call's own.

/** The signal of one call. `release` removes its listeners when the call has ended. */
export interface CallSignal {
  readonly signal: AbortSignal | null;
  release(): void;
}

/**
 * One signal for a call. Throws a `TypeError` if one of the values is no signal.
 *
 * `AbortSignal.any` is not used: it refuses signals of other realms and polyfills, and it keeps some memory of
 * every call as long as the session's signal lives.
 */
export function callSignal(ofContext: unknown, ofCall: unknown): CallSignal {
  const signals = [readSignal(ofContext), readSignal(ofCall)].filter((signal) => signal !== null);
  const [first = null, second] = signals;
  if (first === null || second === undefined || first === second) {
    return { signal: first, release() {} };
  }
  const controller = new AbortController();
  const abort = () => controller.abort(signals.find((signal) => signal.aborted)?.reason);
  for (const signal of signals) signal.addEventListener("abort", abort, { once: true });
  if (signals.some((signal) => signal.aborted)) abort();
  return {
    signal: controller.signal,
    release() {
      for (const signal of signals) signal.removeEventListener("abort", abort);
    },
  };
}

/** Checks that a value is a signal or a polyfill of one, by the rule of the native functions. */
function readSignal(value: unknown): AbortSignal | null {
  if (value === undefined || value === null) return null;
  const { aborted, addEventListener, removeEventListener } = Object(value) as Partial<AbortSignal>;
  const isSignal =
    typeof aborted === "boolean" &&
    typeof addEventListener === "function" &&
    typeof removeEventListener === "function";
  if (!isSignal) throw new TypeError("signal must be an AbortSignal");
  return value as AbortSignal;
}
