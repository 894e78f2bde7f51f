//! `readFiles`.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use napi::Env;
use napi::bindgen_prelude::Unknown;
use napi_derive::napi;

use super::argument::{Argument, number};
use super::context::{Context, Purpose};
use super::error;
use super::failure::{FailureOf, HasErrorName};
use super::path_argument::read_path;
use super::read_file::{
    BUFFER, OutputParts, ReadFileAnswer, ReadFileOutput, SMALL_FILE, read_window,
};
use super::signals::read_signals;
use crate::argument::{ArgumentError, Got};
use crate::node::call::outcome::{JsResult, Outcome};
use crate::node::call::run::{Call, NotStarted, Prepared, run_at_once_or_async};
use crate::node::engine::object_literal::ObjectLiteral;
use crate::node::engine::raw::to_js;
use crate::node::engine::text::{JsText, Text};
use crate::sandbox::OpenError;
use crate::text::InvalidUtf8;
use crate::tools::failure::Failure;
use crate::tools::read_file::{ReadFileError, ReadFileOptions};
use crate::tools::read_files::{
    self as core, DEFAULT_MAX_TOTAL_BYTES, FileRequest, MAX_FILES, MAX_TOTAL_BYTES, Reading,
};

/// The result of `readFiles`.
#[napi(object, object_from_js = false, object_to_js = false)]
#[allow(dead_code, reason = "the TypeScript type of what `ReadFilesOutcome` becomes")]
pub struct ReadFilesOutput {
    /// An item for each entry of `files`, in the same order.
    pub items: Vec<ReadFilesItem>,
    /// How many bytes of UTF-8 all contents have together.
    #[napi(js_name = "total_bytes")]
    pub total_bytes: f64,
    /// Whether the budget has cut a window.
    pub truncated: bool,
    /// How many items failed.
    pub failed: f64,
}

/// What became of one entry.
#[napi(object, object_from_js = false, object_to_js = false, use_nullable = true)]
#[allow(dead_code, reason = "as above")]
pub struct ReadFilesItem {
    /// The path as `readFile` shows it; of a failed item as it was asked for. One that spells out the root
    /// is shown as the part beneath the root, or as `…/name`.
    pub path: String,
    /// What `readFile` answers; `null` if the item failed.
    pub output: Option<ReadFileOutput>,
    /// What `readFile` rejects with; `null` if the file was read.
    pub error: Option<ReadFilesFault>,
}

/// Why one entry has no output.
#[napi(object, object_from_js = false, object_to_js = false)]
#[allow(dead_code, reason = "as above")]
pub struct ReadFilesFault {
    /// The code of `readFile`'s error.
    #[napi(ts_type = "ReadFileErrorCode")]
    pub code: String,
    /// The message of `readFile`'s error.
    pub message: String,
}

/// Reads windows of several UTF-8 text files of the workspace in one call, within a budget.
///
/// `max_total_bytes` limits the bytes of all contents together, as UTF-8. It is shared evenly; what small
/// windows leave goes to the larger ones. A window over its share is cut to the whole lines that fit, and
/// its `truncated`, `next_start_line` and `returned_line_count` say so; it has no line if the first does
/// not fit. The answer's own `truncated` tells whether the budget has cut anything.
///
/// A file that cannot be read, or an entry that is wrong, fails its own item. The files are read one after
/// the other, each from a handle of its own: what changes meanwhile may show in one item and not in another.
/// They are read on a worker thread, but for small ones that `readFile` would read at once.
///
/// Rejects with a `ReadFilesError` if the list itself, another argument or the context is wrong, or with
/// `signal.reason` when a signal is aborted; never throws.
#[napi(
    ts_args_type = "context: WorkspaceContext | Workspace, args: ReadFilesArguments, options?: CallOptions | null",
    ts_return_type = "Promise<ReadFilesOutput>"
)]
pub fn read_files<'env>(
    env: &'env Env,
    context: Unknown<'env>,
    args: Unknown<'env>,
    options: Unknown<'env>,
) -> napi::Result<Unknown<'env>> {
    let prepare = || prepare(env, context, args, options);
    run_at_once_or_async(env, prepare, Request::attempt, Request::run)
}

struct ReadFiles;

impl HasErrorName for ReadFiles {
    const ERROR_NAME: &'static str = "ReadFilesError";
}

/// A call whose arguments have been read.
struct Request {
    context: Context,
    reading: Reading,
}

fn prepare<'env>(
    env: &'env Env,
    context: Unknown<'env>,
    args: Unknown<'env>,
    options: Unknown<'env>,
) -> Prepared<'env, Request, ReadFilesOutcome> {
    let context = Argument::new(env, "context", context);
    let args = Argument::new(env, "args", args);
    let options = Argument::new(env, "options", options).present();
    let signals = read_signals(env, [options, Some(context)])?;
    let context = Context::read(context, Purpose::Read)?;
    let reading = read_args(args, context.invalid_utf8)?;
    options.map(Argument::object).transpose()?;
    Ok(Call::new(signals?, Request { context, reading }))
}

fn read_args(args: Argument<'_>, invalid_utf8: InvalidUtf8) -> Result<Reading, ArgumentError> {
    let args = args.object()?.with_own_keys_only();
    let missing = || ArgumentError::new("files", FILES_RULE, Got::Kind("nothing"));
    let files = args.property(c"files", "files")?.ok_or_else(missing)?;
    let include_hash = args.optional(c"include_hash", "include_hash", Argument::boolean)?;
    let budget = |value: Argument<'_>| value.integer(&MAX_TOTAL_BYTES);
    let budget = args.optional(c"max_total_bytes", "max_total_bytes", budget)?;
    let entries = read_entries(files, include_hash.unwrap_or_default())?;
    Ok(Reading::new(entries, budget.unwrap_or(DEFAULT_MAX_TOTAL_BYTES), invalid_utf8))
}

/// How long a call reads on the thread of the event loop, before a worker goes on.
const TIME_AT_ONCE: Duration = Duration::from_millis(1);

impl Request {
    /// The answer on the thread of the event loop, for small files that need no waiting; else the
    /// request with what has been read.
    fn attempt(env: &Env, mut request: Self) -> Result<JsResult<'_>, Self> {
        let Some(sandbox) = request.context.open_without_waiting() else { return Err(request) };
        let has_all = BUFFER.with_borrow_mut(|buffer| {
            request.reading.read_at_once(&sandbox, SMALL_FILE, TIME_AT_ONCE, buffer)
        });
        if !has_all {
            return Err(request);
        }
        Ok(Answer::from(request.reading.into_output()).into_js(env))
    }

    fn run(self, aborted: &AtomicBool) -> ReadFilesOutcome {
        let Self { context, reading } = self;
        let cancelled = || aborted.load(Ordering::Relaxed);
        let read = || -> Result<core::ReadFilesOutput, Failure> {
            reading.read_all(&*context.open()?, &cancelled)
        };
        ReadFilesOutcome(read().map(Into::into).map_err(Into::into))
    }
}

const FILES_RULE: &str = "must be an array of paths, or of objects with a path";

fn read_entries(
    files: Argument<'_>,
    include_hash: bool,
) -> Result<Vec<FileRequest>, ArgumentError> {
    if !files.is_array() {
        return Err(files.refuse(FILES_RULE));
    }
    let length = files.array_length()?;
    if !(1..=MAX_FILES).contains(&length) {
        let rule = format!("must have 1 to {MAX_FILES} entries");
        return Err(ArgumentError::new("files", rule, Got::number(length.into())));
    }
    Ok((0..length).map(|index| read_entry(files, index, include_hash)).collect())
}

/// A wrong entry fails its own item, when it is its turn.
fn read_entry(files: Argument<'_>, index: u32, include_hash: bool) -> FileRequest {
    let entry = match files.element(index) {
        Ok(entry) => entry,
        Err(error) => return FileRequest { path: String::new(), options: Err(error.into()) },
    };
    if entry.is_string() {
        let options = ReadFileOptions { include_hash, ..ReadFileOptions::default() };
        return with_path(entry.named("path"), Ok(options));
    }
    let Ok(entry) = entry.object().map(Argument::with_own_keys_only) else {
        let error = entry.refuse(format!("[{index}] must be a path, or an object with a path"));
        return FileRequest { path: String::new(), options: Err(error.into()) };
    };
    let options = read_window(entry).map(|window| ReadFileOptions { window, include_hash });
    match entry.property(c"path", "path") {
        Ok(Some(path)) => with_path(path, options),
        Ok(None) => {
            let error = ArgumentError::new("path", "must be a string", Got::Kind("nothing"));
            FileRequest { path: String::new(), options: Err(error.into()) }
        }
        Err(error) => FileRequest { path: String::new(), options: Err(error.into()) },
    }
}

/// An entry whose path comes before its other mistakes.
fn with_path(path: Argument<'_>, options: Result<ReadFileOptions, ArgumentError>) -> FileRequest {
    match read_path(path) {
        Ok(Ok(path)) => FileRequest { path, options: options.map_err(Into::into) },
        Ok(Err(error)) => {
            let shown = path.string().ok();
            let path = shown.as_ref().map(Text::as_str).unwrap_or_default().to_owned();
            FileRequest { path, options: Err(error.into()) }
        }
        Err(_) => FileRequest { path: String::new(), options: Err(OpenError::NameTooLong.into()) },
    }
}

/// The outcome of a call, with its texts in the form that engines take fastest.
struct ReadFilesOutcome(Result<Answer, FailureOf<ReadFiles>>);

struct Answer {
    items: Vec<Item>,
    total_bytes: u64,
    truncated: bool,
    failed: usize,
}

enum Item {
    Read(ReadFileAnswer<'static>),
    Failed { asked: String, error: ReadFileError },
}

impl From<core::ReadFilesOutput> for Answer {
    fn from(output: core::ReadFilesOutput) -> Self {
        let (total_bytes, failed) = (output.total_bytes(), output.failed());
        let core::ReadFilesOutput { items, truncated } = output;
        let items = items.into_iter().map(|item| match item {
            core::Item::Read(output) => Item::Read(output.into()),
            core::Item::Failed { asked, error } => Item::Failed { asked, error },
        });
        Self { items: items.collect(), total_bytes, truncated, failed }
    }
}

impl Outcome for ReadFilesOutcome {
    fn into_js(self, env: &Env) -> JsResult<'_> {
        match self.0 {
            Ok(answer) => answer.into_js(env),
            Err(error) => Ok(Err(error::into_js(env, error)?)),
        }
    }

    fn bug() -> Self {
        Self(Err(Failure::bug().into()))
    }

    fn was_aborted(&self) -> bool {
        self.0.as_ref().is_err_and(error::JsError::was_aborted)
    }
}

impl From<ArgumentError> for NotStarted<'_, ReadFilesOutcome> {
    fn from(error: ArgumentError) -> Self {
        Self::Refused(ReadFilesOutcome(Err(error.into())))
    }
}

const OUTPUT: ObjectLiteral = ObjectLiteral::new(
    "(total_bytes, truncated, failed, ...items) => ({ items, total_bytes, truncated, failed })",
);

/// Takes the parameters of `readFile`'s answer.
const READ: ObjectLiteral = ObjectLiteral::new(
    "(path, content, truncated, next_start_line, \
      byte_length, line_count, returned_line_count, mtime_ms) => ({
        path,
        output: {
            path, content, truncated, next_start_line,
            meta: { byte_length, line_count, returned_line_count, mtime_ms },
        },
        error: null,
    })",
);

const FAILED: ObjectLiteral = ObjectLiteral::new(
    "(path, code, message) => ({ path, output: null, error: { code, message } })",
);

impl Answer {
    fn into_js(self, env: &Env) -> JsResult<'_> {
        let Self { items, total_bytes, truncated, failed } = self;
        let mut values = vec![
            to_js(env, number(total_bytes))?,
            to_js(env, truncated)?,
            to_js(env, number(failed as u64))?,
        ];
        for item in items {
            match item.into_js(env)? {
                Ok(item) => values.push(item),
                Err(thrown) => return Ok(Err(thrown)),
            }
        }
        OUTPUT.make(env, &values)
    }
}

impl Item {
    fn into_js(self, env: &Env) -> JsResult<'_> {
        match self {
            Self::Read(output) => {
                OutputParts::new(env, output)?.make(env, &READ, &[c"output", c"meta"])
            }
            Self::Failed { asked, error } => {
                let path = to_js(env, JsText::from(asked))?;
                let code = to_js(env, error.code().as_str())?;
                let message = to_js(env, JsText::from(error.to_string()))?;
                FAILED.make(env, &[path, code, message])
            }
        }
    }
}
