//! `readFile` and `readFileSync`.

use std::cell::RefCell;
use std::ffi::CStr;
use std::num::NonZeroU64;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use napi::bindgen_prelude::{Either, Null, Object, Unknown};
use napi::{Env, JsValue};
use napi_derive::napi;

use super::argument::{Argument, number};
use super::error::{self, JsError};
use super::path_argument::PathInContext;
use super::signals::read_signals;
use crate::argument::ArgumentError;
use crate::node::call::outcome::{JsResult, Outcome};
use crate::node::call::run::{
    Call, NotStarted, Prepared, run_at_once_or_async, run_at_once_or_sync,
};
use crate::node::engine::error_object;
use crate::node::engine::object::define;
use crate::node::engine::object_literal::ObjectLiteral;
use crate::node::engine::raw::{self, to_js};
use crate::node::engine::text::JsText;
use crate::path::WorkspacePath;
use crate::sandbox::{OpenFile, ReadBuffer, Sandbox};
use crate::text::LineWindow;
use crate::tools::read_file::{
    self as core, Cause, DEFAULT_MAX_LINES, MAX_LINES, ReadAtOnce, ReadFileError, ReadFileOptions,
    START_LINE,
};

/// The largest file that `readFile` reads, in bytes: 1 MiB. Larger ones are
/// `SIZE_LIMIT_EXCEEDED`.
#[napi(js_name = "MAX_READ_FILE_SIZE_BYTES")]
pub const MAX_READ_FILE_SIZE_BYTES: u32 = {
    assert!(core::MAX_READ_FILE_SIZE_BYTES == 1_048_576);
    1_048_576
};

/// The result of `readFile` (specification `read_file` §4.2).
#[napi(object, object_from_js = false, object_to_js = false, use_nullable = true)]
#[allow(dead_code, reason = "the TypeScript type of what `ReadFileAnswer` becomes")]
pub struct ReadFileOutput {
    /// The path relative to the workspace root, components separated by `/`; never absolute.
    pub path: String,
    /// The window's lines joined by `\n`; CRLF becomes `\n`. The last window of a file also has the
    /// file's final `\n`, so the windows of a file joined by `\n` are its whole text.
    pub content: String,
    /// Whether the file has lines after this window.
    pub truncated: bool,
    /// The `start_line` of the next window, or `null` when this one reaches the end.
    #[napi(js_name = "next_start_line")]
    pub next_start_line: Option<f64>,
    /// About the file as a whole.
    pub meta: ReadFileMeta,
}

/// About a file as a whole. Everything in it comes from the same open file handle as the content.
#[napi(object, object_from_js = false, object_to_js = false)]
#[allow(dead_code, reason = "as above")]
pub struct ReadFileMeta {
    /// The file's size in bytes, a byte order mark included.
    #[napi(js_name = "byte_length")]
    pub byte_length: f64,
    /// How many lines the file has: its line feeds, plus one if it does not end in one.
    #[napi(js_name = "line_count")]
    pub line_count: f64,
    /// How many lines `content` has.
    #[napi(js_name = "returned_line_count")]
    pub returned_line_count: f64,
    /// When the file last changed: whole milliseconds since 1970, rounded down.
    #[napi(js_name = "mtime_ms")]
    pub mtime_ms: i64,
    /// How many ill-formed sequences of the whole file became U+FFFD. Only there when the workspace has
    /// `invalidUtf8: "replace"`.
    #[napi(js_name = "replaced_count")]
    pub replaced_count: Option<f64>,
    /// SHA-256 of the file's bytes, lowercase hex: what `sha256sum` prints. Only there when the
    /// options ask for it with `include_hash: true`.
    pub sha256: Option<String>,
}

/// Reads a window of lines of one UTF-8 text file in the workspace.
///
/// `path` is relative to the workspace root. An absolute path inside the workspace is accepted, too, so a
/// secure-tool wrapper can use this function as its handler. Files up to `MAX_READ_FILE_SIZE_BYTES` are
/// read on a worker thread. On Linux a file of at most 64 KiB that the system has in memory is read at
/// once, unless there is a signal, for at most 1 ms in each turn of the event loop.
///
/// Rejects with a `ReadFileError`, or with `signal.reason` when `options.signal` is aborted;
/// never throws.
#[napi(
    ts_args_type = "context: WorkspaceContext | Workspace, path: string, options?: ReadFileOptions | null",
    ts_return_type = "Promise<ReadFileOutput>"
)]
pub fn read_file<'env>(
    env: &'env Env,
    context: Unknown<'env>,
    path: Unknown<'env>,
    options: Unknown<'env>,
) -> napi::Result<Unknown<'env>> {
    let prepare = || prepare(env, context, path, options);
    let run = |request: ReadFileRequest, _: &AtomicBool| request.run();
    run_at_once_or_async(env, prepare, ReadFileRequest::attempt_small, run)
}

/// `readFile` on the calling thread: returns the answer, or throws the `ReadFileError`.
#[napi(
    ts_args_type = "context: WorkspaceContext | Workspace, path: string, options?: ReadFileOptions | null",
    ts_return_type = "ReadFileOutput"
)]
pub fn read_file_sync<'env>(
    env: &'env Env,
    context: Unknown<'env>,
    path: Unknown<'env>,
    options: Unknown<'env>,
) -> napi::Result<Unknown<'env>> {
    // A file that is in memory takes fewer system calls by the attempt.
    let prepare = || prepare(env, context, path, options);
    run_at_once_or_sync(env, prepare, ReadFileRequest::attempt, ReadFileRequest::run)
}

/// The largest file, in bytes, that is read on the thread of the event loop.
pub const SMALL_FILE: u64 = 64 << 10;

/// How many files that this thread has opened may wait for a worker: a process has only so many file
/// descriptors. Beyond that the workers open their files themselves.
const MAX_WAITING_FILES: usize = 16;

thread_local! {
    /// Each file that waits holds a reference, and so does the thread.
    static WAITING_FILES: Arc<()> = Arc::default();

    /// At-once answers are made from this buffer, which grows to 1 MiB at most.
    pub static BUFFER: RefCell<ReadBuffer> = const { RefCell::new(ReadBuffer::new()) };
}

/// A call whose arguments have been read.
struct ReadFileRequest {
    file: PathInContext,
    options: ReadFileOptions,
    /// The file, if the attempt has opened it already.
    opened: Option<OpenedFile>,
}

struct OpenedFile {
    sandbox: Arc<Sandbox>,
    path: WorkspacePath,
    file: OpenFile,
    _waiting: Arc<()>,
}

fn prepare<'env>(
    env: &'env Env,
    context: Unknown<'env>,
    path: Unknown<'env>,
    options: Unknown<'env>,
) -> Prepared<'env, ReadFileRequest, ReadFileOutcome> {
    let context = Argument::new(env, "context", context);
    let path = Argument::new(env, "path", path);
    let options = Argument::new(env, "options", options).present();
    let signals = read_signals(env, [options, Some(context)])?;
    let others = || Ok((read_options(options)?, signals?));
    let (file, (options, signals)) = PathInContext::read(context, path, others)
        .map_err(|error| NotStarted::Refused(ReadFileOutcome(Err(error))))?;
    Ok(Call::new(signals, ReadFileRequest { file, options, opened: None }))
}

/// Reads the options. `nearMisses` has the same ones.
pub fn read_options(options: Option<Argument<'_>>) -> Result<ReadFileOptions, ArgumentError> {
    let Some(options) = options.map(Argument::object).transpose()? else {
        return Ok(ReadFileOptions::default());
    };
    let window = read_window(options)?;
    let include_hash = options.optional(c"include_hash", "include_hash", Argument::boolean)?;
    Ok(ReadFileOptions { window, include_hash: include_hash.unwrap_or_default() })
}

/// Reads which lines an object asks for.
pub fn read_window(object: Argument<'_>) -> Result<LineWindow, ArgumentError> {
    let integer = |range| move |value: Argument<'_>| value.integer(range);
    let start = object.optional(c"start_line", "start_line", integer(&START_LINE))?;
    let max_lines = object.optional(c"max_lines", "max_lines", integer(&MAX_LINES))?;
    Ok(LineWindow::new(start.unwrap_or(NonZeroU64::MIN), max_lines.unwrap_or(DEFAULT_MAX_LINES)))
}

impl ReadFileRequest {
    /// The answer on the thread of the event loop: for a small file, and without waiting.
    fn attempt_small(env: &Env, request: Self) -> Result<JsResult<'_>, Self> {
        let waiting = WAITING_FILES.with(Arc::clone);
        if Arc::strong_count(&waiting) > MAX_WAITING_FILES {
            return Err(request);
        }
        request.answer_at_once(env, SMALL_FILE, waiting)
    }

    /// The answer of `readFileSync`, if nothing has to be waited for.
    fn attempt(env: &Env, request: Self) -> Result<JsResult<'_>, Self> {
        request.answer_at_once(env, core::MAX_READ_FILE_SIZE_BYTES, Arc::default())
    }

    /// The answer, if it needs no waiting and the file has at most `limit` bytes; else the request, with
    /// the file if it could be opened.
    fn answer_at_once(self, env: &Env, limit: u64, waiting: Arc<()>) -> Result<JsResult<'_>, Self> {
        let Self { file: PathInContext { context, path }, options, .. } = &self;
        let Some(sandbox) = context.open_without_waiting() else { return Err(self) };
        let invalid = context.invalid_utf8;
        let parts = BUFFER.with_borrow_mut(|buffer| {
            match core::read_file_at_once(&sandbox, path, options, invalid, limit, buffer) {
                // The string is made from the buffer's bytes, without a copy in between.
                ReadAtOnce::Answered(output) => Ok(OutputParts::new(env, output.into())),
                ReadAtOnce::Opened(path, file) => Err(Some((path, file))),
                ReadAtOnce::WouldWait => Err(None),
            }
        });
        match parts {
            Ok(parts) => Ok(parts.and_then(|parts| parts.into_object(env))),
            Err(opened) => {
                let opened = opened.map(|(path, file)| OpenedFile {
                    sandbox,
                    path,
                    file,
                    _waiting: waiting,
                });
                Err(Self { opened, ..self })
            }
        }
    }

    /// The outcome, however long it takes.
    fn run(mut self) -> ReadFileOutcome {
        ReadFileOutcome(self.read().map(Into::into))
    }

    fn read(&mut self) -> Result<core::ReadFileOutput<'static>, ReadFileError> {
        let PathInContext { context, path } = &self.file;
        let invalid = context.invalid_utf8;
        if let Some(OpenedFile { sandbox, path, file, .. }) = self.opened.take() {
            return core::read_opened_file(&sandbox, &path, file, &self.options, invalid);
        }
        core::read_file(&*self.file.open()?, path, &self.options, invalid)
    }
}

/// The result of the core, with its text in the form that engines take fastest.
pub struct ReadFileAnswer<'buffer> {
    /// The rest; its own `content` is empty.
    output: core::ReadFileOutput<'buffer>,
    content: JsText<'buffer>,
}

impl<'buffer> From<core::ReadFileOutput<'buffer>> for ReadFileAnswer<'buffer> {
    fn from(mut output: core::ReadFileOutput<'buffer>) -> Self {
        let content = std::mem::take(&mut output.content).into();
        Self { output, content }
    }
}

/// The outcome of a call.
struct ReadFileOutcome(Result<ReadFileAnswer<'static>, ReadFileError>);

impl Outcome for ReadFileOutcome {
    fn into_js(self, env: &Env) -> JsResult<'_> {
        match self.0 {
            Ok(answer) => OutputParts::new(env, answer)?.into_object(env),
            Err(error) => Ok(Err(error::into_js(env, error)?)),
        }
    }

    fn bug() -> Self {
        Self(Err(ReadFileError::bug()))
    }
}

/// Makes a [`ReadFileOutput`] without the optional keys of `meta`.
const OUTPUT: ObjectLiteral = ObjectLiteral::new(
    "(path, content, truncated, next_start_line, \
      byte_length, line_count, returned_line_count, mtime_ms) => ({
        path, content, truncated, next_start_line,
        meta: { byte_length, line_count, returned_line_count, mtime_ms },
    })",
);

/// The values of a [`ReadFileOutput`].
pub struct OutputParts<'env> {
    /// In the order of the parameters of [`OUTPUT`].
    values: [Unknown<'env>; 8],
    /// The keys that `meta` has only if they were asked for.
    optional_meta: Vec<(&'static str, Unknown<'env>)>,
}

impl<'env> OutputParts<'env> {
    pub fn new(env: &'env Env, answer: ReadFileAnswer<'_>) -> napi::Result<Self> {
        let ReadFileAnswer { output, content } = answer;
        let core::ReadFileOutput { path, truncated, next_start_line, meta, .. } = output;
        let values = [
            to_js(env, JsText::from(path))?,
            to_js(env, content)?,
            to_js(env, truncated)?,
            to_js(env, next_start_line.map_or(Either::B(Null), |line| Either::A(number(line))))?,
            to_js(env, number(meta.byte_length))?,
            to_js(env, number(meta.line_count))?,
            to_js(env, number(meta.returned_line_count))?,
            to_js(env, meta.mtime_ms)?,
        ];
        let mut optional_meta = Vec::new();
        if let Some(count) = meta.replaced_count {
            optional_meta.push(("replaced_count", to_js(env, number(count))?));
        }
        if let Some(sha256) = meta.sha256 {
            optional_meta.push(("sha256", to_js(env, sha256)?));
        }
        Ok(Self { values, optional_meta })
    }

    fn into_object(self, env: &'env Env) -> JsResult<'env> {
        self.make(env, &OUTPUT, &[c"meta"])
    }

    /// Makes an object by a literal that takes the parameters of [`OUTPUT`]. `to_meta` has the keys that
    /// lead to the object's `meta`.
    pub fn make(
        self,
        env: &'env Env,
        literal: &ObjectLiteral,
        to_meta: &[&CStr],
    ) -> JsResult<'env> {
        let object = match literal.make(env, &self.values)? {
            Ok(object) => object,
            Err(thrown) => return Ok(Err(thrown)),
        };
        if self.optional_meta.is_empty() {
            return Ok(Ok(object));
        }
        let meta =
            to_meta.iter().try_fold(object, |object, key| raw::get_property(env, object, key));
        if let Some(meta) = meta {
            let mut meta = Object::from_raw(env.raw(), meta.raw());
            define(&mut meta, &self.optional_meta)?;
        }
        Ok(Ok(object))
    }
}

impl JsError for ReadFileError {
    const NAME: &'static str = "ReadFileError";

    fn bug() -> Self {
        Self::new(Cause::Bug, None)
    }

    fn code(&self) -> &str {
        ReadFileError::code(self).as_str()
    }

    fn message(&self) -> String {
        self.to_string()
    }

    fn details(&self) -> Vec<(&'static str, error_object::Property)> {
        vec![("path", self.path().to_owned().into())]
    }
}
