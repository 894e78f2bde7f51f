// Limits of a message, and of all messages under way. An ordinary client does not reach them: the largest file
// that can be created has 1 MiB, which is at most 6 MiB of JSON.

/** The most bytes of one message or batch. */
export const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;

/** The most bytes of one line. A longer line ends the server; a message between the two limits is refused. */
export const MAX_LINE_BYTES = 128 * 1024 * 1024;

/** The deepest nesting of arrays and objects in one message. */
export const MAX_DEPTH = 64;

/** The most keys and elements of one message. */
export const MAX_VALUES = 100_000;

/** The most messages of one batch. */
export const MAX_BATCH = 1_000;

/** The most characters of a request's id. */
export const MAX_ID_LENGTH = 1_000;

/** The most tool calls that run or have an unread answer. */
export const MAX_RUNNING = 8;

/** The most waiting requests. While there are so many, nothing is read from the client. */
export const MAX_WAITING = 1_000;

/**
 * The most bytes of waiting requests and unread answers together. While there are so many, nothing is read from
 * the client.
 */
export const MAX_WAITING_BYTES = 32 * 1024 * 1024;

/** The most bytes of unread answers. While there are more, no request begins. */
export const MAX_UNREAD_BYTES = 1024 * 1024;
