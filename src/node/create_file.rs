//! `createFile`, `createFileSync` and `contentHash`.

use std::sync::atomic::{AtomicBool, Ordering};

use napi::Env;
use napi::bindgen_prelude::Unknown;
use napi_derive::napi;

use super::abort::Signals;
use super::call::{Call, Converted, NotStarted, OnAbort, Outcome, guard, run_async, run_sync};
use super::context::{CONTENT_HASHES, Context, Purpose};
use super::error::{ContentHashError, or_throw};
use super::raw::to_js;
use super::value::{Argument, Text, lone_surrogate};
use crate::argument::{ArgumentError, Got};
use crate::create_file::{
    self as core, CreateFileError, CreateFileOptions, CreateFileRequest, CreatedFile,
};
use crate::hash::from_hex;
use crate::path::{NewFilePath, WorkspacePath, is_absolute_anywhere, last_name};
use crate::sandbox::WriteError;

/// What `createFile` answers (specification TUL-004 §4.3).
#[napi(object, object_from_js = false, use_nullable = true)]
pub struct CreateFileResult {
    /// Whether the file is there as it was asked for.
    pub success: bool,
    /// What happened, or what is wrong, in a sentence.
    pub message: String,
    /// The path relative to the workspace root, components separated by `/`. Of a refused path, as
    /// it was given; of one that spells out the root, its last name as `…/name`.
    pub path: String,
    /// How many bytes were written; 0 on failure.
    pub size_bytes: i64,
    /// The content's hash as 64 lowercase hex digits: SHA-256 of the bytes on disk, unless the
    /// context asks for `contentHash: "aptix"`. `""` on failure.
    pub hash: String,
    /// Whether the file did not exist before.
    pub created: bool,
    /// Whether a file was replaced.
    pub overwritten: bool,
    /// `null` on success.
    #[napi(ts_type = "CreateFileErrorCode")]
    pub error_code: Option<&'static str>,
}

/// Creates a file in the workspace, or replaces one if `args.overwrite` is true: all or nothing.
///
/// Line ends become LF and a leading byte order mark is dropped; otherwise the content is
/// written as it is. A new file appears complete and never in place of another. A replaced one is
/// the old or the new file to every reader, keeps its permission bits, and a symbolic link to it
/// stays a link; other hard links to it keep the old content. Folders on the way are made, and
/// taken back if the file then fails.
///
/// Resolves with the result, also of a failure; rejects only with `signal.reason` when the
/// context's signal is aborted, and then nothing was written.
#[napi(
    ts_args_type = "context: WorkspaceContext | Workspace, args: CreateFileArguments",
    ts_return_type = "Promise<CreateFileResult>"
)]
pub fn create_file<'env>(
    env: &'env Env,
    context: Unknown<'env>,
    args: Unknown<'env>,
) -> napi::Result<Unknown<'env>> {
    run_async(env, || prepare(env, context, args))
}

/// `createFile` on the calling thread. Returns the result, also of a failure.
#[napi(
    ts_args_type = "context: WorkspaceContext | Workspace, args: CreateFileArguments",
    ts_return_type = "CreateFileResult"
)]
pub fn create_file_sync<'env>(
    env: &'env Env,
    context: Unknown<'env>,
    args: Unknown<'env>,
) -> napi::Result<Unknown<'env>> {
    run_sync(env, || prepare(env, context, args))
}

/// The hash of a text as 64 lowercase hex digits: SHA-256 of its UTF-8, or by `"aptix"` that
/// host's canonical content hash, which makes line ends LF, cuts every line to 500 UTF-16 units,
/// ends each with LF, and takes SHA-256 of that.
///
/// Throws a `ContentHashError` with the code `INVALID_ARGUMENT`.
#[napi(ts_args_type = "text: string, algorithm?: ContentHash | null", ts_return_type = "string")]
pub fn content_hash(env: &Env, text: Unknown<'_>, algorithm: Unknown<'_>) -> napi::Result<String> {
    let text = Argument::new(env, "text", text);
    let algorithm = Argument::new(env, "algorithm", algorithm).present();
    let hash = guard(|| -> Result<String, ContentHashError> {
        let algorithm = algorithm.map(|value| value.one_of(&CONTENT_HASHES)).transpose()?;
        Ok(algorithm.unwrap_or_default().of_text(text.string()?.as_str()))
    });
    or_throw(env, hash, ContentHashError::Bug)
}

/// What a call comes to: the result, or a failure with the path to show.
struct Answer {
    result: Result<CreatedFile, CreateFileError>,
    path: String,
}

/// A call's arguments, read and checked.
struct Job {
    context: Context,
    request: CreateFileRequest,
}

impl Job {
    fn run(self, aborted: &AtomicBool) -> Answer {
        let path = self.request.path.as_path().to_string();
        let cancelled = || aborted.load(Ordering::Relaxed);
        let open = || self.context.open();
        let result = core::create_file_in(open, self.request, &self.context.create, &cancelled);
        Answer { result, path }
    }
}

fn prepare<'env>(
    env: &'env Env,
    context: Unknown<'env>,
    args: Unknown<'env>,
) -> Result<Call<'env, impl FnOnce(&AtomicBool) -> Answer + Send + 'static>, NotStarted<'env, Answer>>
{
    let context = Argument::new(env, "context", context);
    let args = Argument::new(env, "args", args);
    let signals = Signals::read(env, [Some(context), None])?;

    let given = given_path(args);
    let context = Context::read(context, Purpose::Create);
    // Where the context is wrong, that is the answer, whatever its limits.
    let limits = context.as_ref().map(|context| context.create.clone()).unwrap_or_default();
    let request = read_request(args, &given, &limits);
    let refuse = |error: CreateFileError, context: Option<&Context>| {
        let given = given.as_ref().ok().and_then(|given| given.as_ref().map(Text::as_str));
        let path = given.map_or_else(String::new, |given| shown_path(context, given));
        NotStarted::Refused(Answer { result: Err(error), path })
    };
    // The arguments come first, then the context.
    let request = request.map_err(|error| refuse(error, context.as_ref().ok()))?;
    let context = context.map_err(|error| refuse(error.into(), None))?;
    let signals = signals.map_err(|error| refuse(error.into(), Some(&context)))?;
    let request = request.sized.map_err(|error| refuse(error, Some(&context)))?;
    let job = Job { context, request };
    let work = move |aborted: &AtomicBool| job.run(aborted);
    Ok(Call { work, signals, on_abort: OnAbort::AskWork })
}

type GivenPath = Result<Option<Text>, ArgumentError>;

/// The path as it came; `None` if it is no string, or no arguments came.
fn given_path(args: Argument<'_>) -> GivenPath {
    let Ok(args) = args.object() else { return Ok(None) };
    let missing = || {
        ArgumentError::new(
            "path",
            "is missing: the arguments are path, content and, if wanted, overwrite",
            Got::Unsaid,
        )
    };
    args.property(c"path", "path")?.ok_or_else(missing)?.string().map(Some)
}

/// A request without a mistake in it, unless its content is too large to be read.
struct SoundRequest {
    sized: Result<CreateFileRequest, CreateFileError>,
}

fn read_request(
    args: Argument<'_>,
    path: &GivenPath,
    limits: &CreateFileOptions,
) -> Result<SoundRequest, CreateFileError> {
    let args = args.object().map_err(|error| {
        let rule = "must be an object with path, content and, if wanted, overwrite".to_owned();
        ArgumentError { rule, ..error }
    })?;
    let path = match path {
        Ok(Some(Text::Unicode(text))) => NewFilePath::parse(text)?,
        Ok(_) => return Err(CreateFileError::PathArgument(lone_surrogate("path"))),
        Err(error) => return Err(CreateFileError::PathArgument(error.clone())),
    };
    let content = read_content(args, limits)?;
    let overwrite = args.optional(c"overwrite", "overwrite", |value| {
        value.boolean().map_err(|error| ArgumentError {
            rule: "must be a boolean, true or false".to_owned(),
            ..error
        })
    })?;
    let expected = args.optional(c"expectedHash", "expectedHash", |value| {
        let hash = value.string()?;
        from_hex(hash.as_str()).ok_or_else(|| {
            value.refuse("must be a SHA-256 as 64 hex digits, as readFile gives it in meta.sha256")
        })
    })?;
    let overwrite = overwrite.unwrap_or_default();
    let sized = content.map(|content| CreateFileRequest { path, content, overwrite, expected });
    Ok(SoundRequest { sized })
}

/// The content; or, instead of an error that other mistakes come before, that it is too large.
fn read_content(
    args: Argument<'_>,
    limits: &CreateFileOptions,
) -> Result<Result<String, CreateFileError>, ArgumentError> {
    let content = args.property(c"content", "content")?.ok_or_else(|| {
        let rule = "must be a string: the entire text of the file";
        ArgumentError::new("content", rule, Got::Kind("nothing"))
    })?;
    match core::check_length(content.utf16_len()? as u64, limits) {
        Ok(()) => content.unicode().map(Ok),
        Err(too_large) => Ok(Err(too_large)),
    }
}

/// The path in a refused call's result: normalised where that is possible, else as given, unless
/// that would show the workspace's place.
fn shown_path(context: Option<&Context>, given: &str) -> String {
    if let Ok(path) = WorkspacePath::parse(given) {
        return path.to_string();
    }
    // The root may be spelled in two ways, and only an open one knows both. A system call here is
    // the price of a refusal alone.
    let is_secret = match context.and_then(|context| context.open().ok()) {
        Some(root) => root.is_spelled_in(given),
        None => is_absolute_anywhere(given),
    };
    if is_secret { last_name(given) } else { given.to_owned() }
}

impl Outcome for Answer {
    fn into_js(self, env: &Env) -> Converted<'_> {
        Ok(Ok(to_js(env, CreateFileResult::from(self))?))
    }

    fn bug() -> Self {
        Self { result: Err(CreateFileError::Bug), path: String::new() }
    }

    fn was_aborted(&self) -> bool {
        matches!(self.result, Err(CreateFileError::Write(WriteError::Cancelled)))
    }
}

impl From<Answer> for CreateFileResult {
    fn from(answer: Answer) -> Self {
        match answer.result {
            Ok(file) => Self {
                success: true,
                message: if file.overwritten { "File overwritten." } else { "File created." }
                    .into(),
                path: file.path,
                size_bytes: i64::try_from(file.size_bytes).unwrap_or(i64::MAX),
                hash: file.hash,
                created: !file.overwritten,
                overwritten: file.overwritten,
                error_code: None,
            },
            Err(error) => Self {
                success: false,
                message: error.to_string(),
                path: answer.path,
                size_bytes: 0,
                hash: String::new(),
                created: false,
                overwritten: false,
                error_code: Some(error.code().as_str()),
            },
        }
    }
}
