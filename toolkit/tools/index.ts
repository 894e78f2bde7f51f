// The tools of ringfence. A new one gets a file of its own in this folder, and its line here.

import { APPLY_PATCH_TOOL } from "./apply-patch.js";
import { CREATE_FILE_TOOL } from "./create-file.js";
import { DELETE_FILE_TOOL } from "./delete-file.js";
import { EDIT_FILE_TOOL } from "./edit-file.js";
import { FIND_FILES_TOOL } from "./find-files.js";
import { MOVE_FILE_TOOL } from "./move-file.js";
import { READ_TOOL } from "./read.js";
import { READ_FILE_TOOL } from "./read-file.js";
import { READ_FILES_TOOL } from "./read-files.js";
import { READ_SOURCE_TOOL } from "./read-source.js";
import { REGEXP_SEARCH_TOOL } from "./regexp-search.js";
import { TREE_TOOL } from "./tree.js";

/** The tools by name, in the order of `TOOL_NAMES`. */
export const TOOLS = {
  read_file: READ_FILE_TOOL,
  read_files: READ_FILES_TOOL,
  workspace_create_file: CREATE_FILE_TOOL,
  edit_file: EDIT_FILE_TOOL,
  apply_patch: APPLY_PATCH_TOOL,
  move_file: MOVE_FILE_TOOL,
  delete_file: DELETE_FILE_TOOL,
  "workspace.read_file": READ_SOURCE_TOOL,
  read: READ_TOOL,
  regexp_search: REGEXP_SEARCH_TOOL,
  find_files: FIND_FILES_TOOL,
  tree: TREE_TOOL,
} as const;
