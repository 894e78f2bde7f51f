// The lines of a file that are closest to a text that does not occur in it, for a model to copy.

import type { ClosestLines } from "../../index.js";
import { type ToolResult, withMessage } from "../result.js";

/** Adds the closest lines to the message of a failure that has them among its facts. */
export function withClosestLines<Data>(result: ToolResult<Data>): ToolResult<Data> {
  if (result.status === "success") return result;
  const closest = result.error.details.facts?.closest as ClosestLines | null | undefined;
  return closest ? withMessage(result, `${result.message}\n${shownLines(closest)}`) : result;
}

/** Tells where the lines stand, then quotes them. */
export function shownLines({ start_line, end_line, text }: ClosestLines): string {
  const lines = text.split("\n");
  const cut = end_line - start_line + 1 > lines.length ? ", the first of them" : "";
  const which = start_line === end_line ? `Line ${start_line}` : `Lines ${start_line}-${end_line}`;
  return `${which} of the file${cut}:\n${text}`;
}
