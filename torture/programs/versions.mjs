// The versions of the file in the check for torn reads.

export const VERSIONS = ["A".repeat(60_000), "B".repeat(90_000), "C".repeat(30_000)];
