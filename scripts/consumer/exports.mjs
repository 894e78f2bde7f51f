// @ts-check

/** What the package exports, no more and no less: an export that is added gets its line here. */
export const EXPORTS = /** @type {const} */ ([
  "MAX_READ_FILE_SIZE_BYTES",
  "Workspace",
  "contentHash",
  "createFile",
  "createFileSync",
  "readFile",
  "readFileSync",
]);
