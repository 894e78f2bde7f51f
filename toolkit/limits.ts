/** The longest text that can be answered, in bytes: the longest string that every engine can hold. */
export const MAX_DOCUMENT_BYTES = 2 ** 29 - 24;
