//! `moveFile`.

use napi::Env;
use napi::bindgen_prelude::Unknown;
use napi_derive::napi;

use super::argument::Argument;
use super::change_call::{
    Arguments, open_to_change, read_args, read_expected_hash, read_expected_kind, read_flag,
    read_path, run_change,
};
use super::context::Context;
use super::failure::HasErrorName;
use crate::argument::ArgumentError;
use crate::tools::failure::Failure;
use crate::tools::move_file::{self as core, MoveFileRequest};

/// The result of `moveFile`.
#[napi(object, object_from_js = false)]
pub struct MoveFileOutput {
    /// The path before, relative to the workspace root, components separated by `/`; never absolute.
    pub path: String,
    /// The path now, likewise.
    pub to: String,
    /// What was moved. A `symlink` was moved itself, and its text is as it was.
    #[napi(ts_type = "'file' | 'directory' | 'symlink'")]
    pub kind: &'static str,
    /// Whether a file or link was replaced.
    pub overwritten: bool,
}

/// Moves a file, a link, or a folder to another path of the workspace, by one rename.
///
/// `to` is the new path itself, and never a folder to move into. Folders on the way are made, and taken back
/// if the move then fails. Nothing is replaced, unless `overwrite` lets a file or link take the place of
/// another. A link is moved itself. Runs on a worker thread.
///
/// Rejects with a `MoveFileError`, or with `signal.reason` when a signal is aborted before anything is
/// moved; never throws.
#[napi(
    ts_args_type = "context: WorkspaceContext | Workspace, args: MoveFileArguments, options?: CallOptions | null",
    ts_return_type = "Promise<MoveFileOutput>"
)]
pub fn move_file<'env>(
    env: &'env Env,
    context: Unknown<'env>,
    args: Unknown<'env>,
    options: Unknown<'env>,
) -> napi::Result<Unknown<'env>> {
    let arguments = Arguments { context, args, options };
    run_change::<MoveFile, _, _, MoveFileOutput>(env, arguments, read, run)
}

struct MoveFile;

impl HasErrorName for MoveFile {
    const ERROR_NAME: &'static str = "MoveFileError";
}

fn read(args: Argument<'_>) -> Result<MoveFileRequest, ArgumentError> {
    let args = read_args(args, "must be an object with path and to")?;
    Ok(MoveFileRequest {
        path: read_path(args, c"path", "path", "is missing: the file, link or folder to move")?,
        to: read_path(args, c"to", "to", "is missing: the new path itself")?,
        overwrite: read_flag(args, c"overwrite", "overwrite")?,
        expected: read_expected_hash(args)?,
        expected_kind: read_expected_kind(args)?,
        dry_run: read_flag(args, c"dry_run", "dry_run")?,
    })
}

fn run(
    context: &Context,
    request: &MoveFileRequest,
    cancelled: &(dyn Fn() -> bool + Sync),
) -> Result<core::MoveFileOutput, Failure> {
    let (sandbox, options) = open_to_change(context, &request.path, |options| {
        core::parse(request, options, |absolute| context.part_inside(absolute))
    })?;
    core::move_file(&sandbox, request, options, cancelled)
}

impl From<core::MoveFileOutput> for MoveFileOutput {
    fn from(output: core::MoveFileOutput) -> Self {
        let core::MoveFileOutput { path, to, kind, overwritten } = output;
        Self { path, to, kind, overwritten }
    }
}
