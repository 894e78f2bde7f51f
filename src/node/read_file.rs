//! `readFile` and `readFileSync`.

use std::cell::RefCell;
use std::num::NonZeroU64;
use std::sync::Arc;

use napi::Env;
use napi::bindgen_prelude::{Either, Null, Unknown};
use napi_derive::napi;

use super::abort::Signals;
use super::call::{
    AtOnce, Call, Converted, NotStarted, OnAbort, Outcome, run_at_once_or_async,
    run_at_once_or_sync,
};
use super::context::{Context, Purpose};
use super::error;
use super::js_text::JsText;
use super::object_literal::ObjectLiteral;
use super::raw::to_js;
use super::value::{Argument, Text, number};
use crate::argument::ArgumentError;
use crate::read_file::{
    self as core, Cause, DEFAULT_MAX_LINES, MAX_LINES, ReadFileError, ReadFileOptions, START_LINE,
};
use crate::sandbox::{ReadBuffer, Sandbox};
use crate::text::LineWindow;

/// The largest file that `readFile` reads, in bytes: 1 MiB. Larger ones are
/// `SIZE_LIMIT_EXCEEDED`.
#[napi(js_name = "MAX_READ_FILE_SIZE_BYTES")]
pub const MAX_READ_FILE_SIZE_BYTES: u32 = {
    assert!(core::MAX_READ_FILE_SIZE_BYTES == 1_048_576);
    1_048_576
};

/// What `readFile` answers (specification `read_file` §4.2).
#[napi(object, object_from_js = false, object_to_js = false, use_nullable = true)]
#[allow(dead_code, reason = "the TypeScript type of what `Read` makes")]
pub struct ReadFileOutput {
    /// The path relative to the workspace root, components separated by `/`; never absolute.
    pub path: String,
    /// The window's lines joined by `\n`. CRLF reads as `\n`; a final `\n` of the file is kept by
    /// the window that reaches the end of the file, so that the windows of a file joined by `\n`
    /// are its whole text.
    pub content: String,
    /// Whether the file has lines after this window.
    pub truncated: bool,
    /// The `start_line` to go on with, or `null` when the window reaches the end.
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
    /// How many U+FFFD were put into the whole file in place of bytes that are not UTF-8; 0 when
    /// it is clean. Only there when the workspace has `invalidUtf8: "replace"`.
    #[napi(js_name = "replaced_count")]
    pub replaced_count: Option<f64>,
    /// SHA-256 of the file's bytes, lowercase hex: what `sha256sum` prints. Only there when the
    /// options ask for it with `include_hash: true`.
    pub sha256: Option<String>,
}

/// Reads a window of lines of one UTF-8 text file in the workspace.
///
/// `path` is relative to the workspace root; an absolute path that lies inside it is accepted, so
/// that a secure-tool wrapper can take this function as its handler. Files up to
/// `MAX_READ_FILE_SIZE_BYTES` are read: on Linux at once if the system has them in its memory, for
/// 1 ms at the most in each turn of the event loop, and otherwise on a worker thread, as with a signal.
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
    let how = AtOnce {
        answer: Request::answer_at_once,
        small_answer: Request::answer_small_at_once,
        work: Request::run,
    };
    run_at_once_or_async(env, || prepare(env, context, path, options), how)
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
    // What is in memory takes fewer system calls that way.
    run_at_once_or_sync(
        env,
        || prepare(env, context, path, options),
        |env, request: &Request| {
            request.answer_in_memory(env, core::MAX_READ_FILE_SIZE_BYTES, usize::MAX)
        },
        Request::run,
    )
}

/// How many bytes a file may have to be read at once together with many others.
const SMALL_FILE: u64 = 64 << 10;

/// How many bytes a window may have to become a JavaScript string on the thread of the event loop:
/// 1 MiB of Japanese takes a millisecond.
const LONGEST_AT_ONCE: usize = 256 << 10;

pub(super) type Answer = Result<Read<'static>, ReadFileError>;

/// What was read, its text in the form that the engine takes.
pub(super) struct Read<'buffer> {
    /// The rest; its own content is empty.
    output: core::ReadFileOutput<'buffer>,
    content: JsText<'buffer>,
}

impl<'buffer> From<core::ReadFileOutput<'buffer>> for Read<'buffer> {
    fn from(mut output: core::ReadFileOutput<'buffer>) -> Self {
        let content = std::mem::take(&mut output.content).into();
        Self { output, content }
    }
}

thread_local! {
    /// Up to 1 MiB, of each thread that has an event loop.
    static BUFFER: RefCell<ReadBuffer> = const { RefCell::new(ReadBuffer::new()) };
}

/// A call's arguments, read and checked.
pub(super) struct Request {
    context: Context,
    pub(super) path: String,
    options: ReadFileOptions,
}

impl Request {
    /// An answer for which the thread of the event loop can be kept.
    fn answer_at_once<'env>(env: &'env Env, request: &Self) -> Option<Converted<'env>> {
        if request.options.include_hash {
            // To hash 1 MiB takes some milliseconds where the CPU has no instructions for it.
            return Self::answer_small_at_once(env, request);
        }
        request.answer_in_memory(env, core::MAX_READ_FILE_SIZE_BYTES, LONGEST_AT_ONCE)
    }

    fn answer_small_at_once<'env>(env: &'env Env, request: &Self) -> Option<Converted<'env>> {
        request.answer_in_memory(env, SMALL_FILE, LONGEST_AT_ONCE)
    }

    /// The answer, if the system has the file in its memory and neither the file nor the window has
    /// more bytes than that.
    fn answer_in_memory<'env>(
        &self,
        env: &'env Env,
        largest: u64,
        longest: usize,
    ) -> Option<Converted<'env>> {
        let sandbox = self.context.open_without_waiting()?;
        let Self { context, path, options } = self;
        let invalid = context.invalid_utf8;
        let values = BUFFER.with_borrow_mut(|buffer| {
            let output =
                core::read_file_without_waiting(&sandbox, path, options, invalid, largest, buffer)?;
            // The string is made of the buffer's own bytes.
            (output.content.len() <= longest).then(|| Read::from(output).into_values(env))
        })?;
        Some(values.and_then(|values| values.into_object(env)))
    }

    fn run(self) -> Answer {
        let sandbox = self.open()?;
        let Self { context, path, options } = self;
        core::read_file(&sandbox, &path, &options, context.invalid_utf8).map(Into::into)
    }

    pub(super) fn open(&self) -> Result<Arc<Sandbox>, ReadFileError> {
        self.context.open().map_err(|error| {
            let error = ReadFileError::new(error, Some(&self.path));
            error.hiding(|text| self.context.is_spelled_in(text))
        })
    }
}

pub(super) fn prepare<'env, T>(
    env: &'env Env,
    context: Unknown<'env>,
    path: Unknown<'env>,
    options: Unknown<'env>,
) -> Result<Call<'env, Request>, NotStarted<'env, Result<T, ReadFileError>>> {
    let context = Argument::new(env, "context", context);
    let path = Argument::new(env, "path", path);
    let options = Argument::new(env, "options", options).present();

    let signals = Signals::read(env, [options, Some(context)])?;
    let refuse = |error: ArgumentError, context: Option<&Context>| {
        let given = path.string().ok();
        let given = given.as_ref().map(Text::as_str);
        // A secure-tool host has made an absolute path of the model's.
        let beneath = given.zip(context).and_then(|(given, context)| context.part_inside(given));
        let error = ReadFileError::new(error, beneath.as_deref().or(given));
        let is_secret = |text: &str| context.is_some_and(|context| context.is_spelled_in(text));
        NotStarted::Refused(Err(error.hiding(is_secret)))
    };
    let context = Context::read(context, Purpose::Read).map_err(|error| refuse(error, None))?;
    let checked = path.unicode().and_then(|path| Ok((path, read_options(options)?, signals?)));
    match checked {
        Ok((path, options, signals)) => {
            let request = Request { context, path, options };
            Ok(Call { work: request, signals, on_abort: OnAbort::Reject })
        }
        Err(error) => Err(refuse(error, Some(&context))),
    }
}

fn read_options(options: Option<Argument<'_>>) -> Result<ReadFileOptions, ArgumentError> {
    let Some(options) = options.map(Argument::object).transpose()? else {
        return Ok(ReadFileOptions::default());
    };
    let integer = |range| move |value: Argument<'_>| value.integer(range);
    let start = options.optional(c"start_line", "start_line", integer(&START_LINE))?;
    let max_lines = options.optional(c"max_lines", "max_lines", integer(&MAX_LINES))?;
    let include_hash = options.optional(c"include_hash", "include_hash", Argument::boolean)?;
    Ok(ReadFileOptions {
        window: LineWindow::new(
            start.unwrap_or(NonZeroU64::MIN),
            max_lines.unwrap_or(DEFAULT_MAX_LINES),
        ),
        include_hash: include_hash.unwrap_or_default(),
    })
}

/// What is answered where a failure is a [`ReadFileError`].
pub(super) trait Answered: 'static {
    /// As [`Outcome::into_js`].
    fn into_js(self, env: &Env) -> Converted<'_>;

    /// As [`Outcome::bytes`].
    fn bytes(&self) -> usize {
        0
    }
}

/// [`ReadFileOutput`] of its fields and those of its `meta`, in order.
const OUTPUT: ObjectLiteral = ObjectLiteral::new(
    "(path, content, truncated, next_start_line, \
      byte_length, line_count, returned_line_count, mtime_ms) => ({
        path, content, truncated, next_start_line,
        meta: { byte_length, line_count, returned_line_count, mtime_ms },
    })",
);

/// The same with those keys of `meta` that have to be asked for; a value that is not there is `undefined`.
const OUTPUT_WITH_MORE: ObjectLiteral = ObjectLiteral::new(
    "(path, content, truncated, next_start_line, \
      byte_length, line_count, returned_line_count, mtime_ms, replaced_count, sha256) => ({
        path, content, truncated, next_start_line,
        meta: {
            byte_length, line_count, returned_line_count, mtime_ms,
            ...(replaced_count === undefined ? null : { replaced_count }),
            ...(sha256 === undefined ? null : { sha256 }),
        },
    })",
);

/// What an answer is made of.
struct Values<'env> {
    always: [Unknown<'env>; 8],
    more: Option<[Unknown<'env>; 2]>,
}

impl<'env> Values<'env> {
    fn into_object(self, env: &'env Env) -> Converted<'env> {
        match self.more {
            None => OUTPUT.make(env, &self.always),
            Some(more) => OUTPUT_WITH_MORE.make(env, &[&self.always[..], &more].concat()),
        }
    }
}

impl Read<'_> {
    fn into_values(self, env: &Env) -> napi::Result<Values<'_>> {
        let Self { output, content } = self;
        let core::ReadFileOutput { path, truncated, next_start_line, meta, .. } = output;
        let always = [
            to_js(env, JsText::from(path))?,
            to_js(env, content)?,
            to_js(env, truncated)?,
            to_js(env, next_start_line.map_or(Either::B(Null), |line| Either::A(number(line))))?,
            to_js(env, number(meta.byte_length))?,
            to_js(env, number(meta.line_count))?,
            to_js(env, number(meta.returned_line_count))?,
            to_js(env, meta.mtime_ms)?,
        ];
        let more = match (meta.replaced_count, meta.sha256) {
            (None, None) => None,
            (replaced_count, sha256) => Some([
                to_js(env, replaced_count.map_or(Either::B(()), |n| Either::A(number(n))))?,
                to_js(env, sha256.map_or(Either::B(()), Either::A))?,
            ]),
        };
        Ok(Values { always, more })
    }
}

impl Answered for Read<'static> {
    fn into_js(self, env: &Env) -> Converted<'_> {
        self.into_values(env)?.into_object(env)
    }

    fn bytes(&self) -> usize {
        self.content.bytes()
    }
}

impl<T: Answered> Outcome for Result<T, ReadFileError> {
    fn into_js(self, env: &Env) -> Converted<'_> {
        match self {
            Ok(output) => output.into_js(env),
            Err(error) => Ok(Err(error::into_js(env, &error)?)),
        }
    }

    fn bug() -> Self {
        Err(ReadFileError::new(Cause::Bug, None))
    }

    fn bytes(&self) -> usize {
        self.as_ref().map_or(0, Answered::bytes)
    }
}
