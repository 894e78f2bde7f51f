// The tools that the suite expects, in their order. A new tool gets its line here.

/** The tools that need a workspace and nothing else. */
export const WORKSPACE_TOOLS = [
  "read_file",
  "read_files",
  "workspace_create_file",
  "edit_file",
  "apply_patch",
  "move_file",
  "delete_file",
  "regexp_search",
  "find_files",
  "tree",
] as const;

/** Those of them that write. */
export const WRITING_TOOLS = [
  "workspace_create_file",
  "edit_file",
  "apply_patch",
  "move_file",
  "delete_file",
] as const;

/** Those of them that a read-only workspace has. */
export const READING_TOOLS = WORKSPACE_TOOLS.filter(
  (name) => !WRITING_TOOLS.some((writing) => writing === name),
);

/** All tools. */
export const ALL_TOOLS = [
  "read_file",
  "read_files",
  "workspace_create_file",
  "edit_file",
  "apply_patch",
  "move_file",
  "delete_file",
  "workspace.read_file",
  "read",
  "regexp_search",
  "find_files",
  "tree",
] as const;
