//! `createFile` and `createFileSync`.

use std::sync::atomic::{AtomicBool, Ordering};

use napi::Env;
use napi::bindgen_prelude::Unknown;
use napi_derive::napi;

use super::argument::{Argument, lone_surrogate};
use super::context::{Context, Purpose};
use super::signals::read_signals;
use crate::argument::{ArgumentError, Got};
use crate::hash::from_hex;
use crate::node::call::abort::Signals;
use crate::node::call::outcome::{JsResult, Outcome};
use crate::node::call::pending::OnAbort;
use crate::node::call::run::{Call, NotStarted, Prepared, run_async, run_sync};
use crate::node::engine::raw::to_js;
use crate::node::engine::text::Text;
use crate::path::misspelling::Misspelling;
use crate::path::{NewFilePath, WorkspacePath, is_absolute_anywhere, last_name};
use crate::sandbox::{Visibility, WriteError};
use crate::tools::create_file::{
    self as core, CreateFileError, CreateFileOptions, CreateFileRequest, CreatedFile,
};

/// The result of `createFile` (specification TUL-004 §4.3).
#[napi(object, object_from_js = false, use_nullable = true)]
pub struct CreateFileResult {
    /// Whether the file was written.
    pub success: bool,
    /// What happened, or what is wrong, in a sentence.
    pub message: String,
    /// The path relative to the workspace root, components separated by `/`. A refused path is shown as
    /// it was given; one that spells out the root is shown as `…/name`.
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
/// Line ends become LF and a leading byte order mark is dropped; otherwise the content is written as it
/// is. A new file appears complete and never replaces another. A replaced file is the old or the new one
/// to every reader and keeps its permission bits. A symbolic link to it stays a link; other hard links to
/// it keep the old content. Missing folders are made, and removed again if the file then fails.
///
/// Both `options.signal` and the context's signal abort the call. Options that are no object are ignored,
/// because a host may pass arguments of its own.
///
/// A failure is a result, too: the promise rejects only with `signal.reason`, when one of the signals is
/// aborted. Nothing was written then.
#[napi(
    ts_args_type = "context: WorkspaceContext | Workspace, args: CreateFileArguments, options?: CallOptions | null",
    ts_return_type = "Promise<CreateFileResult>"
)]
pub fn create_file<'env>(
    env: &'env Env,
    context: Unknown<'env>,
    args: Unknown<'env>,
    options: Unknown<'env>,
) -> napi::Result<Unknown<'env>> {
    run_async(env, || prepare(env, context, args, options))
}

/// `createFile` on the calling thread. A failure is a result, too: it throws only the `reason` of a signal
/// that is aborted already.
#[napi(
    ts_args_type = "context: WorkspaceContext | Workspace, args: CreateFileArguments, options?: CallOptions | null",
    ts_return_type = "CreateFileResult"
)]
pub fn create_file_sync<'env>(
    env: &'env Env,
    context: Unknown<'env>,
    args: Unknown<'env>,
    options: Unknown<'env>,
) -> napi::Result<Unknown<'env>> {
    run_sync(env, || prepare(env, context, args, options))
}

/// The outcome of a call: the created file, or an error and the path to show with it.
struct CreateFileOutcome {
    result: Result<CreatedFile, CreateFileError>,
    path: String,
}

/// The work of a call whose arguments have been read.
enum CreateFileJob {
    Create {
        context: Context,
        request: CreateFileRequest,
    },
    /// The call is refused. Only an open root tells whether the path spells it out, because a root may
    /// have two spellings; and opening it may wait.
    Refuse {
        context: Context,
        error: CreateFileError,
        given: String,
    },
}

impl CreateFileJob {
    fn run(self, aborted: &AtomicBool) -> CreateFileOutcome {
        match self {
            Self::Create { context, request } => {
                let path = request.path.as_path().to_string();
                let cancelled = || aborted.load(Ordering::Relaxed);
                let open = || context.open();
                let result = core::create_file_in(open, request, &context.create, &cancelled);
                CreateFileOutcome { result, path }
            }
            Self::Refuse { context, error, given } => {
                let is_secret = match context.open() {
                    Ok(root) => root.is_spelled_in(&given),
                    Err(_) => is_absolute_anywhere(&given),
                };
                CreateFileOutcome::refusal(error, given, is_secret)
            }
        }
    }
}

impl CreateFileOutcome {
    fn refusal(error: CreateFileError, given: String, is_secret: bool) -> Self {
        let path = if is_secret { last_name(&given) } else { given };
        Self { result: Err(error), path }
    }
}

fn prepare<'env>(
    env: &'env Env,
    context: Unknown<'env>,
    args: Unknown<'env>,
    options: Unknown<'env>,
) -> Prepared<'env, impl FnOnce(&AtomicBool) -> CreateFileOutcome + Send + 'static, CreateFileOutcome>
{
    let context = Argument::new(env, "context", context);
    let args = Argument::new(env, "args", args);
    let options = Argument::new(env, "options", options);
    let signals = read_signals(env, [Some(options), Some(context)])?;

    let given = given_path(args);
    let context = Context::read(context, Purpose::Create);
    // A wrong context is the error itself, so its limits do not matter.
    let limits = context.as_ref().map(|context| context.create.clone()).unwrap_or_default();
    let request = read_request(args, &given, &limits);
    // The arguments come first, then the context.
    let checked = match (request, context) {
        (Err(error), context) => Err((error, context.ok())),
        (Ok(_), Err(error)) => Err((error.into(), None)),
        (Ok(request), Ok(context)) => match (&signals, request) {
            (Err(error), _) => Err((error.clone().into(), Some(context))),
            (Ok(_), Err(error)) => Err((error, Some(context))),
            (Ok(_), Ok(request)) => Ok(CreateFileJob::Create { context, request }),
        },
    };
    let job = match checked {
        Ok(job) => job,
        Err((error, context)) => {
            let given = given.ok().flatten();
            let given = given.as_ref().map_or("", Text::as_str);
            refuse(error, context, given).map_err(NotStarted::Refused)?
        }
    };
    let work = move |aborted: &AtomicBool| job.run(aborted);
    Ok(Call { work, signals: signals.unwrap_or(Signals::NONE), on_abort: OnAbort::AskWork })
}

/// Refuses a call at once, or leaves that to a worker. The result shows the path normalised if it parses,
/// else as it was given, and only its last name if it spells out the root.
fn refuse(
    error: CreateFileError,
    context: Option<Context>,
    given: &str,
) -> Result<CreateFileJob, CreateFileOutcome> {
    let given = match WorkspacePath::parse(given) {
        // Of the paths that parse, only a misspelt one may spell out the root.
        Ok(path) if Misspelling::of(given).is_none() => {
            return Err(CreateFileOutcome { result: Err(error), path: path.to_string() });
        }
        Ok(path) => path.to_string(),
        Err(_) => given.to_owned(),
    };
    let is_secret = match context {
        Some(context) if !context.is_held() => {
            return Ok(CreateFileJob::Refuse { context, error, given });
        }
        Some(context) => context.is_spelled_in(&given),
        None => is_absolute_anywhere(&given),
    };
    Err(CreateFileOutcome::refusal(error, given, is_secret))
}

type GivenPath = Result<Option<Text>, ArgumentError>;

/// The path as it was given; `None` if it is no string or the arguments are no object.
fn given_path(args: Argument<'_>) -> GivenPath {
    let Ok(args) = args.object().map(Argument::with_own_keys_only) else { return Ok(None) };
    let missing = || {
        ArgumentError::new(
            "path",
            "is missing: the arguments are path, content and, if wanted, overwrite",
            Got::Unsaid,
        )
    };
    args.property(c"path", "path")?.ok_or_else(missing)?.string().map(Some)
}

/// Reads the arguments. The inner error is a content that is too large: mistakes in other arguments, and
/// in the context, come before it.
fn read_request(
    args: Argument<'_>,
    path: &GivenPath,
    limits: &CreateFileOptions,
) -> Result<Result<CreateFileRequest, CreateFileError>, CreateFileError> {
    let args = args.object().map(Argument::with_own_keys_only).map_err(|error| {
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
    Ok(content.map(|content| CreateFileRequest { path, content, overwrite, expected }))
}

/// Reads the content; the inner error is one that is too large.
fn read_content(
    args: Argument<'_>,
    limits: &CreateFileOptions,
) -> Result<Result<String, CreateFileError>, ArgumentError> {
    let content = args.property(c"content", "content")?.ok_or_else(|| {
        let rule = "must be a string: the entire text of the file";
        ArgumentError::new("content", rule, Got::Kind("nothing"))
    })?;
    match core::check_length(content.utf16_len()? as u64, limits) {
        Ok(()) => content.unicode_up_to(usize::MAX).map(Ok),
        Err(too_large) => Ok(Err(too_large)),
    }
}

impl Outcome for CreateFileOutcome {
    fn into_js(self, env: &Env) -> JsResult<'_> {
        Ok(Ok(to_js(env, CreateFileResult::from(self))?))
    }

    fn bug() -> Self {
        Self { result: Err(CreateFileError::Bug), path: String::new() }
    }

    fn was_aborted(&self) -> bool {
        matches!(self.result, Err(CreateFileError::Write(WriteError::Cancelled)))
    }
}

fn success_message(file: &CreatedFile) -> &'static str {
    match (file.overwritten, file.visibility) {
        (true, _) => "File overwritten.",
        (false, Visibility::Atomic) => "File created.",
        (false, Visibility::Gradual) => {
            "File created. On this file system it showed before it was complete: another program may \
             have read a part of it."
        }
    }
}

impl From<CreateFileOutcome> for CreateFileResult {
    fn from(outcome: CreateFileOutcome) -> Self {
        match outcome.result {
            Ok(file) => Self {
                success: true,
                message: success_message(&file).into(),
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
                path: outcome.path,
                size_bytes: 0,
                hash: String::new(),
                created: false,
                overwritten: false,
                error_code: Some(error.code().as_str()),
            },
        }
    }
}
