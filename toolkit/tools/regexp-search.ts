// The tool `regexp_search`: `searchFiles`, and the hint that leads to the next page.

import {
  type SearchFilesArguments,
  type SearchFilesOptions,
  type SearchFilesOutput,
  type SearchOutput,
  searchFiles,
} from "../../index.js";
import { type HandlerContext, rootOf } from "../context.js";
import { REGEXP_SEARCH, type RegexpSearchToolArguments } from "../definitions/regexp-search.js";
import { ownOf } from "../own.js";
import { withSignalOf } from "./signal.js";
import type { Tool } from "./tool.js";

type Params = [args: SearchFilesArguments, options?: SearchFilesOptions | null];

type Data = SearchFilesOutput<SearchOutput>;

export const REGEXP_SEARCH_TOOL = {
  ...REGEXP_SEARCH,
  needsWorkspace: true,
  handler(
    context: HandlerContext,
    args: SearchFilesArguments,
    options?: SearchFilesOptions | null,
  ): Promise<Data> {
    const onProgress = ownOf(context, "onProgress");
    const given =
      onProgress == null ? options : Object.assign(Object.create(null), { onProgress }, options);
    return withSignalOf(context, given, (all) => searchFiles(rootOf(context), args, all));
  },
  paramsOf(args: RegexpSearchToolArguments): Params {
    return [args];
  },
  finish(_context, args, result) {
    if (result.status !== "success" || result.data.next === undefined) return result;
    const next = JSON.stringify({ ...args, after: result.data.next });
    return { ...result, hint: `There are more: call regexp_search with ${next}.` };
  },
} satisfies Tool<"regexp_search", RegexpSearchToolArguments, Data, Params>;
