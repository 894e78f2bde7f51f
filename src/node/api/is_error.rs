//! `isReadFileError` and the like: whether an error is one of this library.

use napi::bindgen_prelude::{Object, Unknown};
use napi::{Env, JsValue, ValueType};
use napi_derive::napi;

use super::argument::Argument;
use crate::node::engine::object::is_of;
use crate::node::engine::raw;

/// Whether a value is an error object with that name and a code. Errors of another realm and of another
/// copy of this library are; a `Proxy` of one is not.
fn is_error(env: &Env, value: Unknown<'_>, name: &str) -> bool {
    if !is_of(value, ValueType::Object)
        || !Object::from_raw(env.raw(), value.raw()).is_error().unwrap_or(false)
    {
        return false;
    }
    let text = |key| {
        let value = raw::get_property(env, value, key)?;
        Argument::new(env, "error", value).unicode().ok()
    };
    text(c"name").as_deref() == Some(name) && text(c"code").is_some()
}

/// Whether a value is an error of `readFile` and `nearMisses`.
#[napi(ts_args_type = "value: unknown", ts_return_type = "value is ReadFileError")]
#[must_use]
pub fn is_read_file_error(env: &Env, value: Unknown<'_>) -> bool {
    is_error(env, value, "ReadFileError")
}

/// Whether a value is an error of `readFiles`.
#[napi(ts_args_type = "value: unknown", ts_return_type = "value is ReadFilesError")]
#[must_use]
pub fn is_read_files_error(env: &Env, value: Unknown<'_>) -> bool {
    is_error(env, value, "ReadFilesError")
}

/// Whether a value is an error of `readBytes`.
#[napi(ts_args_type = "value: unknown", ts_return_type = "value is ReadBytesError")]
#[must_use]
pub fn is_read_bytes_error(env: &Env, value: Unknown<'_>) -> bool {
    is_error(env, value, "ReadBytesError")
}

/// Whether a value is an error of `Workspace.open`.
#[napi(ts_args_type = "value: unknown", ts_return_type = "value is WorkspaceError")]
#[must_use]
pub fn is_workspace_error(env: &Env, value: Unknown<'_>) -> bool {
    is_error(env, value, "WorkspaceError")
}

/// Whether a value is an error of `workspaceSnapshot`.
#[napi(ts_args_type = "value: unknown", ts_return_type = "value is WorkspaceSnapshotError")]
#[must_use]
pub fn is_workspace_snapshot_error(env: &Env, value: Unknown<'_>) -> bool {
    is_error(env, value, "WorkspaceSnapshotError")
}

/// Whether a value is an error of `findFiles`.
#[napi(ts_args_type = "value: unknown", ts_return_type = "value is FindFilesError")]
#[must_use]
pub fn is_find_files_error(env: &Env, value: Unknown<'_>) -> bool {
    is_error(env, value, "FindFilesError")
}

/// Whether a value is an error of `editFile`.
#[napi(ts_args_type = "value: unknown", ts_return_type = "value is EditFileError")]
#[must_use]
pub fn is_edit_file_error(env: &Env, value: Unknown<'_>) -> bool {
    is_error(env, value, "EditFileError")
}

/// Whether a value is an error of `applyPatch`.
#[napi(ts_args_type = "value: unknown", ts_return_type = "value is ApplyPatchError")]
#[must_use]
pub fn is_apply_patch_error(env: &Env, value: Unknown<'_>) -> bool {
    is_error(env, value, "ApplyPatchError")
}

/// Whether a value is an error of `moveFile`.
#[napi(ts_args_type = "value: unknown", ts_return_type = "value is MoveFileError")]
#[must_use]
pub fn is_move_file_error(env: &Env, value: Unknown<'_>) -> bool {
    is_error(env, value, "MoveFileError")
}

/// Whether a value is an error of `deleteFile`.
#[napi(ts_args_type = "value: unknown", ts_return_type = "value is DeleteFileError")]
#[must_use]
pub fn is_delete_file_error(env: &Env, value: Unknown<'_>) -> bool {
    is_error(env, value, "DeleteFileError")
}

/// Whether a value is an error of `tree`.
#[napi(ts_args_type = "value: unknown", ts_return_type = "value is TreeError")]
#[must_use]
pub fn is_tree_error(env: &Env, value: Unknown<'_>) -> bool {
    is_error(env, value, "TreeError")
}

/// Whether a value is an error of `contentHash`.
#[napi(ts_args_type = "value: unknown", ts_return_type = "value is ContentHashError")]
#[must_use]
pub fn is_content_hash_error(env: &Env, value: Unknown<'_>) -> bool {
    is_error(env, value, "ContentHashError")
}

/// Whether a value is an error of `resolveFileUri` and `readFileUri`.
#[napi(ts_args_type = "value: unknown", ts_return_type = "value is FileUriError")]
#[must_use]
pub fn is_file_uri_error(env: &Env, value: Unknown<'_>) -> bool {
    is_error(env, value, "FileUriError")
}

/// Whether a value is an error of a `FileStore`.
#[napi(ts_args_type = "value: unknown", ts_return_type = "value is FileStoreError")]
#[must_use]
pub fn is_file_store_error(env: &Env, value: Unknown<'_>) -> bool {
    is_error(env, value, "FileStoreError")
}

/// Whether a value is an error of a `DirectoryStore`.
#[napi(ts_args_type = "value: unknown", ts_return_type = "value is DocumentStoreError")]
#[must_use]
pub fn is_document_store_error(env: &Env, value: Unknown<'_>) -> bool {
    is_error(env, value, "DocumentStoreError")
}

/// Whether a value is an error of `searchFiles`.
#[napi(ts_args_type = "value: unknown", ts_return_type = "value is SearchFilesError")]
#[must_use]
pub fn is_search_files_error(env: &Env, value: Unknown<'_>) -> bool {
    is_error(env, value, "SearchFilesError")
}
