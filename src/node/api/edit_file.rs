//! `editFile`.

use napi::Env;
use napi::bindgen_prelude::Unknown;
use napi_derive::napi;

use super::argument::{Argument, number};
use super::change_call::{
    Arguments, breaks_rule, open_to_change, read_args, read_expected_hash, read_flag, read_path,
    run_change,
};
use super::context::Context;
use super::failure::HasErrorName;
use crate::argument::{ArgumentError, Got};
use crate::tools::edit_file::{
    self as core, Edit, EditFileRequest, MAX_EDIT_TEXT_BYTES, MAX_EDITS,
};
use crate::tools::failure::Failure;

/// The result of `editFile`.
#[napi(object, object_from_js = false)]
pub struct EditFileOutput {
    /// The path relative to the workspace root, components separated by `/`; never absolute.
    pub path: String,
    /// Whether the file was written: `false` for a `dry_run` alone.
    pub applied: bool,
    /// How many places were replaced.
    pub replacements: f64,
    /// The line of the new text in which the first change begins, from 1. If text was only deleted, the line
    /// at that place.
    #[napi(js_name = "start_line")]
    pub start_line: f64,
    /// The line of the new text in which the last change ends.
    #[napi(js_name = "end_line")]
    pub end_line: f64,
    /// The change as a unified diff of the text that `readFile` shows, with three lines of context, at most
    /// 20,000 UTF-16 units of it.
    pub diff: String,
    /// Whether the end of the diff was cut off, at the end of a line.
    #[napi(js_name = "diff_truncated")]
    pub diff_truncated: bool,
    /// SHA-256 of the file's bytes before the call, lowercase hex.
    #[napi(js_name = "before_sha256")]
    pub before_sha256: String,
    /// SHA-256 of the file's bytes after the call, for the `expected_hash` of the next.
    pub sha256: String,
    /// How many bytes the file has after the call.
    #[napi(js_name = "byte_length")]
    pub byte_length: f64,
    /// How many lines its text has after the call.
    #[napi(js_name = "line_count")]
    pub line_count: f64,
}

/// Replaces texts in a UTF-8 file of the workspace, exactly and all or none of them.
///
/// Every text is located in the file as it was before the call, and must occur once, unless `replace_all` is
/// set. Nothing is trimmed, unescaped or guessed: where a text does not occur, the error names the closest
/// lines and how they differ. Line ends are written as the file has them, and every byte that no edit touches
/// stays as it is. The new file appears at once, as of `createFile`.
///
/// If the file changes meanwhile, it is read and edited anew, so that edits by others are kept; with
/// `expected_hash` the call fails instead. Runs on a worker thread.
///
/// Rejects with an `EditFileError`, or with `signal.reason` when a signal is aborted; never throws.
#[napi(
    ts_args_type = "context: WorkspaceContext | Workspace, args: EditFileArguments, options?: CallOptions | null",
    ts_return_type = "Promise<EditFileOutput>"
)]
pub fn edit_file<'env>(
    env: &'env Env,
    context: Unknown<'env>,
    args: Unknown<'env>,
    options: Unknown<'env>,
) -> napi::Result<Unknown<'env>> {
    let arguments = Arguments { context, args, options };
    run_change::<EditFile, _, _, EditFileOutput>(env, arguments, read_request, run)
}

struct EditFile;

impl HasErrorName for EditFile {
    const ERROR_NAME: &'static str = "EditFileError";
}

fn run(
    context: &Context,
    request: &EditFileRequest,
    cancelled: &(dyn Fn() -> bool + Sync),
) -> Result<core::EditFileOutput, Failure> {
    let (sandbox, options) = open_to_change(context, &request.path, |options| {
        core::parse(request, options, |absolute| context.part_inside(absolute))
    })?;
    core::edit_file(&sandbox, request, options, cancelled)
}

const ARGUMENTS: &str =
    "must be an object with path and edits, or with path, old_string and new_string";

fn read_request(args: Argument<'_>) -> Result<EditFileRequest, ArgumentError> {
    let args = read_args(args, ARGUMENTS)?;
    let path = read_path(args, c"path", "path", "is missing: the file to edit")?;
    let edits = args.optional(c"edits", "edits", Ok)?;
    let is_flat = [
        args.optional(c"old_string", "old_string", Ok)?.is_some(),
        args.optional(c"new_string", "new_string", Ok)?.is_some(),
        args.optional(c"replace_all", "replace_all", Ok)?.is_some(),
    ];
    let is_list = edits.is_some();
    let edits = match edits {
        Some(_) if is_flat.contains(&true) => {
            let rule = "must not stand beside old_string, new_string or replace_all: give the edits, or one \
                        edit without them";
            return Err(breaks_rule("edits", rule));
        }
        Some(edits) => read_edits(edits)?,
        None => vec![read_edit(args)?],
    };
    Ok(EditFileRequest {
        path,
        edits,
        is_list,
        expected: read_expected_hash(args)?,
        dry_run: read_flag(args, c"dry_run", "dry_run")?,
    })
}

fn read_edits(edits: Argument<'_>) -> Result<Vec<Edit>, ArgumentError> {
    if !edits.is_array() {
        return Err(edits.refuse("must be an array of objects with old_string and new_string"));
    }
    let length = edits.array_length()?;
    if !(1..=MAX_EDITS).contains(&length) {
        let rule = format!("must have 1 to {MAX_EDITS} elements");
        return Err(ArgumentError::new("edits", rule, Got::number(length.into())));
    }
    let mut read = Vec::new();
    let mut bytes = 0;
    for index in 0..length {
        let edit =
            edits.element(index)?.object().and_then(|edit| read_edit(edit.with_own_keys_only()));
        let edit = edit.map_err(|error| {
            let key =
                if error.name == "edits" { String::new() } else { format!(".{}", error.name) };
            ArgumentError { name: "edits", rule: format!("[{index}]{key} {}", error.rule), ..error }
        })?;
        bytes += edit.old.len() + edit.new.len();
        if bytes > MAX_EDIT_TEXT_BYTES {
            return Err(breaks_rule("edits", "must not have more than 32 MiB of text together"));
        }
        read.push(edit);
    }
    Ok(read)
}

fn read_edit(edit: Argument<'_>) -> Result<Edit, ArgumentError> {
    let old = edit.optional(c"old_string", "old_string", |text| read_text(text, "old_string"))?;
    let old = old.ok_or_else(|| breaks_rule("old_string", "is missing: the text to replace"))?;
    if old.is_empty() {
        let rule = "must not be empty: to insert text, quote the line beside it; to create a file, use \
                    workspace_create_file";
        return Err(breaks_rule("old_string", rule));
    }
    let new = edit.optional(c"new_string", "new_string", |text| read_text(text, "new_string"))?;
    let new = new.ok_or_else(|| breaks_rule("new_string", "is missing: the text to put there"))?;
    Ok(Edit { old, new, replace_all: read_flag(edit, c"replace_all", "replace_all")? })
}

fn read_text(text: Argument<'_>, name: &'static str) -> Result<String, ArgumentError> {
    let text = text.unicode_up_to(MAX_EDIT_TEXT_BYTES)?;
    if text.contains('\0') {
        return Err(breaks_rule(name, "must not contain a NUL character"));
    }
    Ok(text)
}

impl From<core::EditFileOutput> for EditFileOutput {
    fn from(output: core::EditFileOutput) -> Self {
        Self {
            path: output.path,
            applied: output.applied,
            replacements: number(output.replacements),
            start_line: number(output.start_line),
            end_line: number(output.end_line),
            diff: output.diff.text,
            diff_truncated: output.diff.is_truncated,
            before_sha256: output.before_sha256,
            sha256: output.sha256,
            byte_length: number(output.byte_length),
            line_count: number(output.line_count),
        }
    }
}
