// Refusals of the core because of rules, in all the forms in which its functions answer.

import { readableOf } from "./own.js";

/** The code of a refusal by rules. */
export const PATH_DENIED = "PATH_DENIED";

/** Whether an error says that rules deny its path, or protect it from the change. */
export function isDenial(error: unknown): boolean {
  return readableOf(error, "code") === PATH_DENIED;
}

/**
 * The same of an answer. `createFile` has the codes of TUL-004 alone, and none for rules: there the message begins with
 * this one.
 */
export function isDenialAnswer(answer: unknown): boolean {
  if (readableOf(answer, "success") !== false) return false;
  if (readableOf(answer, "errorCode") !== "WriteFailed") return false;
  const message = readableOf(answer, "message");
  return typeof message === "string" && message.startsWith(`${PATH_DENIED}:`);
}
