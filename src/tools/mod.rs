//! The tools: one file per specification, in the order of its sections.
//!
//! | module | specification |
//! | --- | --- |
//! | [`read_file`] | `read_file` (P0): one file, one window of lines |
//! | [`read_files`] | docs/contract.md §13: several windows, within a budget of bytes |
//! | [`read_bytes`] | docs/contract.md §13: a range of a file's bytes |
//! | [`create_file`] | `workspace_create_file` (TUL-004): a file, whole or not at all |
//! | [`file_uri`] | `read`: `file:` URIs of a space and a chat |
//! | [`source`] | `workspace.read_file` (TUL-001): source documents by DocPath |
//! | [`snapshot`] | the workspace snapshot of TUL-004 §7.5, for a boot prompt |
//! | [`search_files`] | `regexp_search` (docs/contract.md §13): lines by a regular expression |
//! | [`edit_file`] | `edit_file` (docs/contract.md §10): exact replacements in one file |
//! | [`apply_patch`] | `apply_patch` (docs/contract.md §11): a patch over several files, all or nothing |
//! | [`move_file`] | `move_file` (docs/contract.md §12): a new path for a file, link or folder |
//! | [`delete_file`] | `delete_file` (docs/contract.md §12): a file, link or folder removed |
//! | [`find_files`] | `find_files` (docs/contract.md §13): paths by glob |
//! | [`tree`] | `tree` (§13): the folder tree as objects |
//! | [`near_miss`] | the paths that a model may have meant by one at which nothing stands |
//! | [`resolve_path`] | the absolute path of a model's path, by its spelling alone |

pub mod apply_patch;
pub mod create_file;
pub mod delete_file;
pub mod edit_file;
pub mod entry_change;
mod error_text;
pub mod failure;
pub mod file_uri;
pub mod find_files;
pub mod move_file;
pub mod near_miss;
pub mod read_bytes;
pub mod read_file;
pub mod read_files;
pub mod resolve_path;
pub mod search_files;
pub mod snapshot;
pub mod source;
pub mod tree;
mod walk_arguments;
pub mod walk_warnings;
