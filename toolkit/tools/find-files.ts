// The tool `find_files`: `findFiles`, and the hints that an agent toolkit adds for the model: the next page, and
// why nothing was found.

import {
  type CallOptions,
  type FindFilesArguments,
  type FindFilesResult,
  findFiles,
} from "../../index.js";
import { type HandlerContext, rootOf } from "../context.js";
import { FIND_FILES, type FindFilesToolArguments } from "../definitions/find-files.js";
import { withSignalOf } from "./signal.js";
import type { Tool } from "./tool.js";

type Params = [args: FindFilesArguments, options?: CallOptions | null];

export const FIND_FILES_TOOL = {
  ...FIND_FILES,
  needsWorkspace: true,
  async handler(context: HandlerContext, args: FindFilesArguments, options?: CallOptions | null) {
    return withSignalOf(context, options, (all) => findFiles(rootOf(context), args, all));
  },
  paramsOf(args: FindFilesToolArguments): Params {
    return [args];
  },
  finish(_context, args, result) {
    if (result.status !== "success") return result;
    const hint = nextPage(args, result.data) ?? whyNothing(args, result.data);
    return hint === null ? result : { ...result, hint };
  },
} satisfies Tool<"find_files", FindFilesToolArguments, FindFilesResult, Params>;

function nextPage(args: FindFilesToolArguments, { next }: FindFilesResult): string | null {
  if (next === undefined) return null;
  return `There are more: call find_files with ${JSON.stringify({ ...args, after: next })}.`;
}

/** The likely mistakes behind an answer without items. */
function whyNothing(args: FindFilesToolArguments, data: FindFilesResult): string | null {
  if (data.items.length > 0) return null;
  const said: string[] = [];
  const plain = data.patterns.filter((pattern) => !pattern.startsWith("!"));
  if ((args.kind ?? "file") === "file" && plain.some((pattern) => pattern.endsWith("/"))) {
    said.push('A pattern that ends in "/" matches folders: set kind to "directory".');
  }
  if (plain.some((pattern) => pattern.replace(/^\.?\//, "").startsWith(`${data.root_path}/`))) {
    said.push(`Patterns are relative to root_path: leave ${data.root_path}/ out of them.`);
  }
  const optionOf = (warning: string) => OPTIONS[warning.split("=")[0] ?? ""];
  const options = data.warnings.map(optionOf).filter((option) => option !== undefined);
  if (options.length > 0) {
    said.push(`Something was left out: to look there, too, set ${options.join(" and ")}.`);
  }
  return said.length === 0 ? null : said.join(" ");
}

/** The arguments that bring back what a warning has counted. */
const OPTIONS: Readonly<Record<string, string | undefined>> = {
  skipped_default_excludes: "default_excludes to false",
  skipped_ignored_entries: "gitignore to false",
  skipped_hidden_entries: "include_hidden to true",
};
