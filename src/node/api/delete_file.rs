//! `deleteFile`.

use napi::Env;
use napi::bindgen_prelude::Unknown;
use napi_derive::napi;

use super::argument::{Argument, number};
use super::change_call::{
    Arguments, open_to_change, read_args, read_expected_hash, read_expected_kind, read_flag,
    read_path, run_change,
};
use super::context::Context;
use super::failure::HasErrorName;
use crate::argument::ArgumentError;
use crate::tools::delete_file::{self as core, DeleteFileRequest};
use crate::tools::failure::Failure;

/// The result of `deleteFile`.
#[napi(object, object_from_js = false)]
pub struct DeleteFileOutput {
    /// The path relative to the workspace root, components separated by `/`; never absolute.
    pub path: String,
    /// What was deleted. A `symlink` was deleted itself; its target is untouched.
    #[napi(ts_type = "'file' | 'directory' | 'symlink'")]
    pub kind: &'static str,
    /// How many entries lay beneath a folder; `0` for a file or link.
    pub entries: f64,
}

/// Deletes a file, a link, or a folder of the workspace.
///
/// A link is deleted itself, and never its target. A folder that is not empty needs `recursive`: the whole
/// of it is checked first, disappears in one step, and is then removed without following a link. Where
/// removing fails all the same, what is left stands at the path again, and the error has `removed`.
/// Runs on a worker thread.
///
/// Rejects with a `DeleteFileError`, or with `signal.reason` when a signal is aborted before anything is
/// deleted; never throws.
#[napi(
    ts_args_type = "context: WorkspaceContext | Workspace, args: DeleteFileArguments, options?: CallOptions | null",
    ts_return_type = "Promise<DeleteFileOutput>"
)]
pub fn delete_file<'env>(
    env: &'env Env,
    context: Unknown<'env>,
    args: Unknown<'env>,
    options: Unknown<'env>,
) -> napi::Result<Unknown<'env>> {
    let arguments = Arguments { context, args, options };
    run_change::<DeleteFile, _, _, DeleteFileOutput>(env, arguments, read, run)
}

struct DeleteFile;

impl HasErrorName for DeleteFile {
    const ERROR_NAME: &'static str = "DeleteFileError";
}

fn read(args: Argument<'_>) -> Result<DeleteFileRequest, ArgumentError> {
    let args = read_args(args, "must be an object with path")?;
    Ok(DeleteFileRequest {
        path: read_path(args, c"path", "path", "is missing: the file, link or folder to delete")?,
        recursive: read_flag(args, c"recursive", "recursive")?,
        expected: read_expected_hash(args)?,
        expected_kind: read_expected_kind(args)?,
        dry_run: read_flag(args, c"dry_run", "dry_run")?,
    })
}

fn run(
    context: &Context,
    request: &DeleteFileRequest,
    cancelled: &(dyn Fn() -> bool + Sync),
) -> Result<core::DeleteFileOutput, Failure> {
    let (sandbox, options) = open_to_change(context, &request.path, |options| {
        core::parse(request, options, |absolute| context.part_inside(absolute))
    })?;
    core::delete_file(&sandbox, request, options, cancelled)
}

impl From<core::DeleteFileOutput> for DeleteFileOutput {
    fn from(output: core::DeleteFileOutput) -> Self {
        Self { path: output.path, kind: output.kind, entries: number(output.entries) }
    }
}
