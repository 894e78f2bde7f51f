//! `applyPatch`.

use napi::Env;
use napi::bindgen_prelude::{Either, Null, Unknown};
use napi_derive::napi;

use super::argument::{Argument, number};
use super::change_call::{
    Arguments, breaks_rule, open_to_change, read_args, read_flag, run_change,
};
use super::context::Context;
use super::failure::HasErrorName;
use crate::argument::ArgumentError;
use crate::hash::{from_lowercase_hex, to_hex};
use crate::node::engine::raw::List;
use crate::tools::apply_patch::{
    self as core, ApplyPatchRequest, ExpectedFile, MAX_PATCH_BYTES, MAX_PATCH_FILES,
};
use crate::tools::failure::Failure;

/// The result of `applyPatch`.
#[napi(object, object_from_js = false)]
pub struct ApplyPatchOutput {
    /// The format of the patch.
    #[napi(ts_type = "'v4a' | 'unified'")]
    pub format: &'static str,
    /// Whether the files were written: `false` for a `dry_run` alone.
    pub applied: bool,
    /// One entry for each section of the patch, in its order.
    #[napi(ts_type = "Array<PatchedFile>")]
    pub files: List<PatchedFile>,
    /// The sections as they were applied, as a unified diff of the text that `readFile` shows, at most 20,000
    /// UTF-16 units of it. Given back as a patch, the diff of a `dry_run` makes the same bytes, unless it deletes a link
    /// or a file that is not text.
    pub diff: String,
    /// Whether the end of the diff was cut off, at the end of a line.
    #[napi(js_name = "diff_truncated")]
    pub diff_truncated: bool,
}

/// What `applyPatch` did for a section of the patch.
#[napi(object, object_from_js = false)]
pub struct PatchedFile {
    /// The path after the section, relative to the workspace root, components separated by `/`; never absolute.
    pub path: String,
    /// What the section does. A link that is deleted or moved is deleted or moved itself.
    #[napi(ts_type = "'add' | 'update' | 'delete' | 'move'")]
    pub action: &'static str,
    /// The path before a move; `null` for everything else.
    #[napi(js_name = "from_path", ts_type = "string | null")]
    pub from_path: Either<String, Null>,
    /// Where the hunks were applied, in the order of the patch; empty for a file that is added or deleted.
    #[napi(ts_type = "Array<AppliedHunk>")]
    pub hunks: List<AppliedHunk>,
    /// How many lines were added.
    #[napi(js_name = "lines_added")]
    pub lines_added: f64,
    /// How many lines were removed.
    #[napi(js_name = "lines_removed")]
    pub lines_removed: f64,
    /// SHA-256 of the file's bytes before the section, lowercase hex; `null` if there was none, and for a link.
    #[napi(js_name = "before_sha256", ts_type = "string | null")]
    pub before_sha256: Either<String, Null>,
    /// SHA-256 of the file's bytes after the section; `null` if there is none, and for a link.
    #[napi(ts_type = "string | null")]
    pub sha256: Either<String, Null>,
}

/// Where `applyPatch` has applied a hunk.
#[napi(object, object_from_js = false)]
pub struct AppliedHunk {
    /// The first of its lines in the text before the section, from 1. If it only adds lines: the line before which
    /// they were added.
    #[napi(js_name = "start_line")]
    pub start_line: f64,
    /// How far that is from the line that a unified diff states; `0` for V4A.
    pub offset: f64,
    /// How its lines were compared with those of the file. `exact` ignores nothing, `trailing_whitespace` ignores
    /// spaces, tabs and CRs at the ends of lines, `lookalike` also typographic variants and invisible characters.
    #[napi(js_name = "match", ts_type = "'exact' | 'trailing_whitespace' | 'lookalike'")]
    pub match_: &'static str,
}

/// Applies a V4A patch or a unified diff to files of the workspace: all of it or nothing.
///
/// Each hunk must match its file, and its place must be certain; line numbers are hints. Lines that the patch does
/// not touch keep their bytes, and added lines get the line ends of the file. All files are read and checked before
/// the first is written. If a write fails, the files that were written are put back; only if another program has
/// changed one of them meanwhile does the call fail with `PARTIAL`, and says what stands.
///
/// If a file changes meanwhile, it is read and patched anew, so that edits by others are kept; with a hash in
/// `expected_hashes` the call fails instead. Runs on a worker thread.
///
/// Rejects with an `ApplyPatchError`, or with `signal.reason` when a signal is aborted; never throws.
#[napi(
    ts_args_type = "context: WorkspaceContext | Workspace, args: ApplyPatchArguments, options?: CallOptions | null",
    ts_return_type = "Promise<ApplyPatchOutput>"
)]
pub fn apply_patch<'env>(
    env: &'env Env,
    context: Unknown<'env>,
    args: Unknown<'env>,
    options: Unknown<'env>,
) -> napi::Result<Unknown<'env>> {
    let arguments = Arguments { context, args, options };
    run_change::<ApplyPatch, _, _, ApplyPatchOutput>(env, arguments, read, run)
}

struct ApplyPatch;

impl HasErrorName for ApplyPatch {
    const ERROR_NAME: &'static str = "ApplyPatchError";
}

fn read(args: Argument<'_>) -> Result<ApplyPatchRequest, ArgumentError> {
    let args = read_args(args, "must be an object with patch")?;
    let patch = args.optional(c"patch", "patch", |patch| patch.unicode_up_to(MAX_PATCH_BYTES))?;
    let patch = patch.ok_or_else(|| {
        breaks_rule(
            "patch",
            "is missing: the text from *** Begin Patch to *** End Patch, or a unified diff",
        )
    })?;
    if patch.contains('\0') {
        return Err(breaks_rule("patch", "must not contain a NUL character"));
    }
    let expected = args.optional(c"expected_hashes", "expected_hashes", read_expected_hashes)?;
    Ok(ApplyPatchRequest {
        patch,
        expected: expected.unwrap_or_default(),
        dry_run: read_flag(args, c"dry_run", "dry_run")?,
    })
}

fn read_expected_hashes(
    hashes: Argument<'_>,
) -> Result<Vec<(String, ExpectedFile)>, ArgumentError> {
    // A file has six spellings at most in a diff, and no list needs two of them.
    let most = u32::try_from(2 * MAX_PATCH_FILES).unwrap_or(u32::MAX);
    // A `Map` has no keys, and would check nothing.
    if !hashes.object()?.is_plain_object() {
        return Err(hashes.refuse("must be a plain object"));
    }
    let entries = hashes.entries(most)?.into_iter().filter(|(_, hash)| !hash.is_undefined());
    let entries = entries.map(|(path, hash)| {
        let Some(hash) = hash.present() else { return Ok((path, ExpectedFile::Absent)) };
        let digest = hash.string().ok().and_then(|hash| from_lowercase_hex(hash.as_str()));
        let digest = digest.ok_or_else(|| {
            let rule =
                "must have SHA-256 hashes of 64 lowercase hex digits, or null, as its values";
            breaks_rule("expected_hashes", rule)
        })?;
        Ok((path, ExpectedFile::Hash(digest)))
    });
    entries.collect()
}

fn run(
    context: &Context,
    request: &ApplyPatchRequest,
    cancelled: &(dyn Fn() -> bool + Sync),
) -> Result<core::ApplyPatchOutput, Failure> {
    // This refuses a call before the root is opened; `apply_patch` parses again.
    let (sandbox, options) = open_to_change(context, "", |options| {
        core::parse(request, options, |absolute| context.part_inside(absolute))
    })?;
    core::apply_patch(&sandbox, request, options, cancelled)
}

impl From<core::ApplyPatchOutput> for ApplyPatchOutput {
    fn from(output: core::ApplyPatchOutput) -> Self {
        Self {
            format: output.format.as_str(),
            applied: output.applied,
            files: output.files.into_iter().map(PatchedFile::from).collect(),
            diff: output.diff.text,
            diff_truncated: output.diff.is_truncated,
        }
    }
}

impl From<core::PatchedFile> for PatchedFile {
    fn from(file: core::PatchedFile) -> Self {
        Self {
            path: file.path,
            action: file.action.as_str(),
            from_path: or_null(file.from_path),
            hunks: file.hunks.iter().map(AppliedHunk::from).collect(),
            lines_added: number(file.lines_added),
            lines_removed: number(file.lines_removed),
            before_sha256: or_null(file.before.map(|digest| to_hex(&digest))),
            sha256: or_null(file.after.map(|digest| to_hex(&digest))),
        }
    }
}

impl From<&core::AppliedHunk> for AppliedHunk {
    #[allow(clippy::cast_precision_loss, reason = "a number of lines")]
    fn from(hunk: &core::AppliedHunk) -> Self {
        Self {
            start_line: number(hunk.start_line),
            offset: hunk.offset as f64,
            match_: hunk.grade.as_str(),
        }
    }
}

fn or_null(text: Option<String>) -> Either<String, Null> {
    text.map_or(Either::B(Null), Either::A)
}
