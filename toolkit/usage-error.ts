/** A mistake in the command line. */
export class UsageError extends Error {}

export const misuse = (sentence: string) => new UsageError(`${sentence} (see ringfence --help)`);
