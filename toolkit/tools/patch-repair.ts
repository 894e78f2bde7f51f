// What a model needs to repair a patch that was refused, beside the sentence of the error.

import type { ClosestLines } from "../../index.js";
import { shownLines } from "./closest-lines.js";

/** What an `ApplyPatchError` may tell beside its code. */
export interface PatchFacts {
  closest?: ClosestLines | null;
}

/** Sentences for the model; `null` if there is nothing to add. */
export function repairOf({ closest }: PatchFacts): string | null {
  return closest ? shownLines(closest) : null;
}
