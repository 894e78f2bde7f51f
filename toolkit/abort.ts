/**
 * Work that cannot be aborted, left alone when the signal is: the promise then rejects with the
 * signal's reason.
 */
export async function untilAborted<T>(
  signal: AbortSignal | null | undefined,
  work: () => T | PromiseLike<T>,
): Promise<T> {
  if (!signal) return work();
  signal.throwIfAborted();
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

/** Throws the reason of a signal that is aborted, so that nothing is begun. */
export function throwIfAborted(signal: AbortSignal | null | undefined): void {
  if (signal?.aborted === true) throw signal.reason;
}
