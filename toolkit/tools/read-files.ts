// The tool `read_files`: `readFiles`, and the hints that an agent toolkit adds for the model: the next windows, near
// misses of missing files, and what to do about paths that rules deny.

import {
  type CallOptions,
  type ReadFilesArguments,
  type ReadFilesItem,
  type ReadFilesOutput,
  readFiles,
} from "../../index.js";
import { type HandlerContext, rootOf } from "../context.js";
import { PATH_ALIASES, rename } from "../definitions/aliases.js";
import {
  READ_FILES,
  type ReadFilesToolArguments,
  type ReadFilesToolEntry,
} from "../definitions/read-files.js";
import { isDenial } from "../denied-path.js";
import { didYouMean, nearMissesOf } from "./near-misses.js";
import { withSignalOf } from "./signal.js";
import type { Tool } from "./tool.js";

type Params = [args: ReadFilesArguments, options?: CallOptions | null];

export const READ_FILES_TOOL = {
  ...READ_FILES,
  needsWorkspace: true,
  async handler(context: HandlerContext, args: ReadFilesArguments, options?: CallOptions | null) {
    return withSignalOf(context, options, (all) => readFiles(rootOf(context), args, all));
  },
  paramsOf(args: ReadFilesToolArguments): Params {
    return [{ ...args, files: entriesOf(args) }];
  },
  async finish(context, args, result) {
    if (result.status !== "success") return result;
    const { items } = result.data;
    const hints = [
      ...nextHints(items, entriesOf(args)),
      ...(await missingHints(context, items)),
      ...deniedHints(items),
    ];
    return hints.length === 0 ? result : { ...result, hint: hints.join(" ") };
  },
} satisfies Tool<"read_files", ReadFilesToolArguments, ReadFilesOutput, Params>;

const ENTRY_ALIASES = { ...PATH_ALIASES, startLine: "start_line", maxLines: "max_lines" };

/** The entries under the names of the definition. The function refuses what is no entry, in its item. */
function entriesOf({ files }: ReadFilesToolArguments): (string | ReadFilesToolEntry)[] {
  return files.map((entry) => {
    if (typeof entry !== "object" || entry === null || Array.isArray(entry)) return entry;
    const copy = Object.assign(Object.create(null), entry);
    return rename(copy, ENTRY_ALIASES) as object as ReadFilesToolEntry;
  });
}

/** How many files a hint names: a model pays for each. */
const MAX_NAMED = 10;

function nextHints(
  items: readonly ReadFilesItem[],
  entries: readonly (string | ReadFilesToolEntry)[],
): string[] {
  const further: object[] = [];
  const tooLong: object[] = [];
  for (const [index, { output }] of items.entries()) {
    if (output == null || output.next_start_line === null) continue;
    const { path, next_start_line: start_line, meta } = output;
    const entry = entries[index];
    const max_lines = typeof entry === "object" ? (entry.max_lines ?? undefined) : undefined;
    const list = meta.returned_line_count === 0 ? tooLong : further;
    list.push({ path, start_line, max_lines });
  }
  const calls = tooLong.slice(0, MAX_NAMED).map((call) => JSON.stringify(call));
  const next = JSON.stringify({ files: further.slice(0, MAX_NAMED) });
  const others = further.length > MAX_NAMED ? `, and so on for ${further.length} files` : "";
  return [
    ...(further.length === 0
      ? []
      : [`There are further lines: call read_files with ${next}${others}.`]),
    ...calls.map((call) => `The next line is larger than its share: call read_file with ${call}.`),
  ];
}

async function missingHints(
  context: HandlerContext,
  items: readonly ReadFilesItem[],
): Promise<string[]> {
  const missing = items.filter(({ error }) => error?.code === "NOT_FOUND").slice(0, MAX_NAMED);
  const hints = missing.map(async ({ path }) => {
    const near = await nearMissesOf(context, path);
    return near.length === 0 ? [] : [`${JSON.stringify(path)}: ${didYouMean(path, near)}`];
  });
  return (await Promise.all(hints)).flat();
}

function deniedHints(items: readonly ReadFilesItem[]): string[] {
  if (!items.some(({ error }) => isDenial(error))) return [];
  const what = "The host's rules protect the paths with the code PATH_DENIED";
  return [`${what}: do not try another way to them; go on without them, or ask the user.`];
}
