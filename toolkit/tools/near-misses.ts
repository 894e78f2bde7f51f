// The paths that a model may have meant by one at which there is no file, in words for the model.

import { nearMisses } from "../../index.js";
import { throwIfAborted } from "../abort.js";
import { type HandlerContext, rootOf } from "../context.js";
import { ownOf } from "../own.js";

/** Near misses are optional: if they cannot be found, or the context does not want them, there are none. */
export async function nearMissesOf(context: HandlerContext, path: string): Promise<string[]> {
  if (context.nearMisses === false) return [];
  const signal = ownOf(context, "signal") ?? null;
  try {
    return await nearMisses(rootOf(context), path, { signal });
  } catch {
    throwIfAborted(signal);
    return [];
  }
}

/** The question that names near misses. */
export function didYouMean(missing: string, near: readonly string[]): string {
  return `did you mean ${near.map((path) => spelledBeside(missing, path)).join(" or ")}?`;
}

/** A path as JSON. One that differs from the missing path in its Unicode form only is escaped to ASCII. */
function spelledBeside(missing: string, path: string): string {
  const json = JSON.stringify(path);
  const isTwin = path !== missing && path.normalize("NFC") === missing.normalize("NFC");
  if (!isTwin) return json;
  return json.replace(
    /[^ -~]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
