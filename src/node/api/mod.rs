//! The exports of the addon: one file for each function or class.
//!
//! A file reads its arguments with [`argument`], puts the work into a closure, and hands both to
//! [`run`](super::call::run). Its result type becomes a JavaScript object, and its error type implements
//! [`JsError`](error::JsError).
//!
//! Numbers, strings and objects come in as `unknown` and are checked here, because Node-API's own
//! conversions coerce: see [`argument`](crate::argument).

pub mod apply_patch;
pub mod content_hash;
pub mod create_file;
pub mod delete_file;
pub mod directory_store;
mod edit_file;
pub mod file_store;
pub mod find_files;
pub mod is_error;
pub mod is_text_media_type;
pub mod move_file;
pub mod near_misses;
pub mod read_bytes;
pub mod read_file;
pub mod read_file_uri;
pub mod read_files;
pub mod read_source_document;
pub mod resolve_file_uri;
pub mod resolve_workspace_path;
pub mod search_files;
#[cfg(feature = "test-hooks")]
pub mod test_hooks;
pub mod tree;
pub mod version;
pub mod workspace;
pub mod workspace_snapshot;

pub mod access_rules;
mod active_files;
mod argument;
mod change_call;
mod context;
mod error;
mod failure;
mod options;
mod path_argument;
mod signals;
