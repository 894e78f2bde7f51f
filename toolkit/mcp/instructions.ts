// The server's instructions for the client's model. They name the offered tools only. Clients cut instructions at
// 2,048 characters: the text stays below that, with the important half first.

import type { ToolName } from "../definitions/tools.js";

const WORKSPACE =
  "These tools work on the files of one directory, the workspace. Paths are relative to it, with / between " +
  "names (src/main.ts); nothing outside it can be reached. If a call fails, its answer says how to repair it.";

const USAGES: { readonly [Name in ToolName]: string } = {
  read_file:
    "read_file gives a window of a text file, 200 lines unless max_lines says otherwise, 500 at most. While " +
    "next_start_line is not null the file goes on: call again with it as start_line.",
  read_files:
    "read_files gives windows of several files at once, cut to one budget that they share; each goes on at its own " +
    "next_start_line.",
  workspace_create_file:
    "workspace_create_file writes a whole file in one call, and makes the folders that it needs. Give the full " +
    "content; nothing is appended or edited in place. If the file exists the call fails and changes nothing: " +
    "read the file first, and set overwrite to true only where replacing all of it is meant. Put a new file " +
    "where others of its kind are; if several places would do, ask the user before you call.",
  edit_file:
    "edit_file replaces text in a file, exactly: copy old_string from the file without line numbers, long enough to " +
    "occur once. Several edits of one file go in one call.",
  apply_patch:
    "apply_patch changes several files by one patch, all of it or nothing; copy its context lines from the files.",
  move_file: "move_file moves or renames a file or folder; to is the new path itself.",
  delete_file: "delete_file removes a file, or with recursive a folder.",
  "workspace.read_file":
    "workspace_read_file gives a source document by its DocPath, exactly as it was shown to you: it is no path " +
    "of a file, and is not to be changed.",
  regexp_search:
    "regexp_search finds lines by a regular expression, with their numbers; literal takes the pattern as it stands. " +
    "Narrow it with root_path and include; go on with after while the answer is truncated.",
  read: "read gives the text at a URI; write the URI with its scheme.",
  find_files:
    "find_files finds paths by globs, such as src/**/*.ts; warnings count what it left out.",
  tree: "tree shows the folders beneath a folder, three levels deep unless max_depth says otherwise.",
};

/** The instructions of a server with these tools; `null` if it has none of ringfence's tools. */
export function instructionsFor(tools: readonly string[]): string | null {
  const known = (Object.keys(USAGES) as ToolName[]).filter((name) => tools.includes(name));
  if (known.length === 0) return null;
  const ofFiles = known.some((name) => name !== "read" && name !== "workspace.read_file");
  return [...(ofFiles ? [WORKSPACE] : []), ...known.map((name) => `- ${USAGES[name]}`)].join("\n");
}
