// Waiting for work that takes no signal.

/**
 * Runs work that cannot be aborted. If the signal aborts first, the promise rejects with the signal's
 * reason, and the work goes on unobserved.
 */
export async function untilAborted<T>(
  signal: AbortSignal | null | undefined,
  work: () => T | PromiseLike<T>,
): Promise<T> {
  if (!signal) return work();
  throwIfAborted(signal);
  let leave = () => {};
  const aborted = new Promise<never>((_resolve, reject) => {
    leave = () => reject(signal.reason);
    signal.addEventListener("abort", leave, { once: true });
  });
  try {
    return await Promise.race([work(), aborted]);
  } finally {
    signal.removeEventListener("abort", leave);
  }
}

/** Throws the signal's reason if the signal is aborted already. */
export function throwIfAborted(signal: AbortSignal | null | undefined): void {
  if (signal?.aborted === true) throw signal.reason;
}
