// The tools by name. A new tool gets a file of its own in this folder, and its two lines here.

import { APPLY_PATCH, type ApplyPatchToolArguments } from "./apply-patch.js";
import { CREATE_FILE, type CreateFileToolArguments } from "./create-file.js";
import { DELETE_FILE, type DeleteFileToolArguments } from "./delete-file.js";
import { EDIT_FILE, type EditFileToolArguments } from "./edit-file.js";
import { FIND_FILES, type FindFilesToolArguments } from "./find-files.js";
import { MOVE_FILE, type MoveFileToolArguments } from "./move-file.js";
import { READ, type ReadToolArguments } from "./read.js";
import { READ_FILE, type ReadFileToolArguments } from "./read-file.js";
import { READ_FILES, type ReadFilesToolArguments } from "./read-files.js";
import { READ_SOURCE, type ReadSourceToolArguments } from "./read-source.js";
import { REGEXP_SEARCH, type RegexpSearchToolArguments } from "./regexp-search.js";
import type { ToolDescription, ToolMetadata } from "./tool.js";
import { TREE, type TreeToolArguments } from "./tree.js";

/** The arguments of each tool, as its definition has them. */
export interface ToolArguments {
  read_file: ReadFileToolArguments;
  read_files: ReadFilesToolArguments;
  workspace_create_file: CreateFileToolArguments;
  edit_file: EditFileToolArguments;
  apply_patch: ApplyPatchToolArguments;
  move_file: MoveFileToolArguments;
  delete_file: DeleteFileToolArguments;
  "workspace.read_file": ReadSourceToolArguments;
  read: ReadToolArguments;
  regexp_search: RegexpSearchToolArguments;
  find_files: FindFilesToolArguments;
  tree: TreeToolArguments;
}

/** The name of a tool, and its key everywhere. */
export type ToolName = keyof ToolArguments;

/** The description of each tool, in the order in which tools are listed. */
export const TOOL_DESCRIPTIONS = {
  read_file: READ_FILE,
  read_files: READ_FILES,
  workspace_create_file: CREATE_FILE,
  edit_file: EDIT_FILE,
  apply_patch: APPLY_PATCH,
  move_file: MOVE_FILE,
  delete_file: DELETE_FILE,
  "workspace.read_file": READ_SOURCE,
  read: READ,
  regexp_search: REGEXP_SEARCH,
  find_files: FIND_FILES,
  tree: TREE,
} as const satisfies { readonly [Name in ToolName]: ToolDescription<Name> };

type Descriptions = typeof TOOL_DESCRIPTIONS;

/** The names, in the order of the descriptions. */
export const TOOL_NAMES = Object.keys(TOOL_DESCRIPTIONS) as readonly ToolName[];

/** One field of every description, by the tools' names. */
export function fieldOfAll<Field extends keyof ToolDescription>(
  field: Field,
): { readonly [Name in ToolName]: Descriptions[Name] extends Record<Field, infer T> ? T : never } {
  const entries = TOOL_NAMES.map((name) => {
    const description: ToolDescription = TOOL_DESCRIPTIONS[name];
    return [name, description[field]];
  });
  return Object.fromEntries(entries);
}

/** The tools as models see them. */
export const TOOL_DEFINITIONS = fieldOfAll("definition");

/** The metadata of the tools. */
export const TOOL_METADATA: { readonly [Name in ToolName]: ToolMetadata<Name> } =
  fieldOfAll("metadata");

/** Whether a value is the name of one of ringfence's tools. */
export function isToolName(name: unknown): name is ToolName {
  return typeof name === "string" && Object.hasOwn(TOOL_DESCRIPTIONS, name);
}

/** The name of a tool for providers: without dots. */
export type ProviderName<Name extends string> = Name extends `${infer Head}.${infer Rest}`
  ? `${Head}_${ProviderName<Rest>}`
  : Name;

/** The name of a tool for providers, which allow only letters, digits, `_` and `-`. `invoke` understands both. */
export function providerName<Name extends string>(name: Name): ProviderName<Name> {
  return name.replaceAll(".", "_") as ProviderName<Name>;
}

/**
 * The tool that a name means. Dots may be written as `_`, and `functions.` may stand before the name: some models
 * write that.
 */
export function toolNamed(name: unknown): ToolName | null {
  return namedAmong(TOOL_NAMES, name);
}

/** `toolNamed` among other names. */
export function namedAmong<Name extends string>(
  names: readonly Name[],
  name: unknown,
): Name | null {
  const plain = typeof name === "string" ? name.replace(/^functions\./, "") : name;
  return (
    names.find((known) => known === plain) ??
    names.find((known) => providerName(known) === plain) ??
    null
  );
}

/** The name of a tool in its events; a host's own tools have theirs. */
export function eventNameOf(name: string): string {
  return isToolName(name) ? TOOL_DESCRIPTIONS[name].eventName : name;
}
