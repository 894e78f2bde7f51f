//! `read_file` (P0): 単一ファイルを安全かつ再現可能に読む — one file, one window of lines.
//!
//! The file reads like its specification: input and defaults, output, errors, then the fixed order
//! of steps `stat → 種別検証 → サイズ検証 → バイナリ判定 → text 読み取り → メタ生成` (kind, size,
//! binary, text, metadata). Where the specification is silent the answers are:
//!
//! - a line ends at LF, CRLF counts as LF, nothing else ends a line (see [`text`](crate::text));
//! - one byte order mark is dropped from the content and counted in `byte_length`;
//! - bytes that are not UTF-8 are `BINARY_NOT_SUPPORTED`, unless the workspace replaces them.
//!
//! ```
//! use ringfence::tools::read_file::{ReadFileOptions, read_file};
//! use ringfence::sandbox::Sandbox;
//! use ringfence::text::InvalidUtf8;
//!
//! let workspace = tempfile::tempdir()?;
//! std::fs::write(workspace.path().join("a.txt"), "one\r\ntwo\n")?;
//!
//! let sandbox = Sandbox::open(workspace.path())?;
//! let file = read_file(&sandbox, "a.txt", &ReadFileOptions::default(), InvalidUtf8::Reject)?;
//! assert_eq!(file.content, "one\ntwo\n");
//! assert_eq!((file.meta.byte_length, file.meta.line_count), (9, 2));
//!
//! let refused = read_file(&sandbox, "../b", &ReadFileOptions::default(), InvalidUtf8::Reject);
//! assert!(refused.unwrap_err().to_string().starts_with("SANDBOX_VIOLATION: "));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::borrow::Cow;
use std::cell::RefCell;
use std::fmt;
use std::num::NonZeroU64;
use std::ops::RangeInclusive;

use super::error_text;
use crate::argument::{ArgumentError, SAFE_INTEGERS, positive_up_to};
use crate::hash;
use crate::path::misspelling::Misspelling;
use crate::path::{
    PathRefusal, Printable, WorkspacePath, is_absolute_anywhere, last_name, shown_path,
};
use crate::sandbox::{
    CachedRead, FileSize, OpenError, OpenFile, ReadBuffer, ReadError, RootError, Sandbox,
};
use crate::text::{self, Decoded, InvalidUtf8, LineWindow, NotText, WindowText};

// §3.2, §4.1: limits and defaults.

/// The largest file that is read, in bytes: 1 MiB. Larger ones are refused whole; there is no
/// partial reading.
pub const MAX_READ_FILE_SIZE_BYTES: u64 = 1_048_576;

/// What `start_line` may be; the default is 1.
pub const START_LINE: RangeInclusive<NonZeroU64> = SAFE_INTEGERS;

/// What `max_lines` may be; the default is [`DEFAULT_MAX_LINES`].
pub const MAX_LINES: RangeInclusive<NonZeroU64> = positive_up_to(500);

/// How many lines come without `max_lines`.
pub const DEFAULT_MAX_LINES: NonZeroU64 = NonZeroU64::new(200).unwrap();

/// §4.1: the arguments beside the path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadFileOptions {
    /// Which lines.
    pub window: LineWindow,
    /// Whether `meta.sha256` is wanted.
    pub include_hash: bool,
}

impl Default for ReadFileOptions {
    fn default() -> Self {
        Self { window: LineWindow::new(NonZeroU64::MIN, DEFAULT_MAX_LINES), include_hash: false }
    }
}

/// §4.2: the answer.
#[derive(Debug, PartialEq, Eq)]
pub struct ReadFileOutput<'buffer> {
    /// Relative to the workspace root, components separated by `/`.
    pub path: String,
    /// The window's lines joined by LF; a final LF is kept by the window that reaches the end.
    pub content: Cow<'buffer, str>,
    /// Whether lines follow this window.
    pub truncated: bool,
    /// The first of them.
    pub next_start_line: Option<u64>,
    /// The file as a whole.
    pub meta: ReadFileMeta,
}

impl ReadFileOutput<'_> {
    /// The same, independent of the buffer that the file was read into.
    #[must_use]
    pub fn into_owned(self) -> ReadFileOutput<'static> {
        ReadFileOutput { content: self.content.into_owned().into(), ..self }
    }
}

/// §4.2: the file as a whole.
#[derive(Debug, PartialEq, Eq)]
pub struct ReadFileMeta {
    /// The file's size in bytes, a byte order mark included.
    pub byte_length: u64,
    /// How many lines the file has.
    pub line_count: u64,
    /// How many lines the content has.
    pub returned_line_count: u64,
    /// When the file last changed: milliseconds since 1970, rounded down.
    pub mtime_ms: i64,
    /// How many U+FFFD decoding put into the whole file; only where a workspace replaces.
    pub replaced_count: Option<u64>,
    /// SHA-256 of the file's bytes, lowercase hex; only where asked for.
    pub sha256: Option<String>,
}

/// §4.3 and docs/contract.md §4: the error codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadFileErrorCode {
    /// `path` is not a string, empty, blank or holds NUL; an option breaks its range; the context
    /// has no usable root.
    InvalidArgument,
    /// The path, or a link on it, leads out of the workspace.
    SandboxViolation,
    /// The workspace's access rules do not let it be read.
    PathDenied,
    /// Nothing stands there.
    NotFound,
    /// The process may not read it.
    PermissionDenied,
    /// A directory, FIFO, socket or device.
    NotFile,
    /// More than [`MAX_READ_FILE_SIZE_BYTES`].
    SizeLimitExceeded,
    /// NUL near the start, or not UTF-8.
    BinaryNotSupported,
    /// Another program keeps the file for a moment.
    Contended,
    /// The system failed, or this library did.
    Internal,
}

impl ReadFileErrorCode {
    /// The code as it stands in `code` and at the front of the message.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::InvalidArgument => "INVALID_ARGUMENT",
            Self::SandboxViolation => "SANDBOX_VIOLATION",
            Self::PathDenied => "PATH_DENIED",
            Self::NotFound => "NOT_FOUND",
            Self::PermissionDenied => "PERMISSION_DENIED",
            Self::NotFile => "NOT_FILE",
            Self::SizeLimitExceeded => "SIZE_LIMIT_EXCEEDED",
            Self::BinaryNotSupported => "BINARY_NOT_SUPPORTED",
            Self::Contended => "CONTENDED",
            Self::Internal => "INTERNAL",
        }
    }
}

/// Why a file was not read. Shows as `CODE: what is wrong: relative/path`.
#[derive(Debug)]
pub struct ReadFileError {
    cause: Cause,
    path: String,
}

/// What went wrong, by the layer that found it.
#[derive(Debug, thiserror::Error)]
pub enum Cause {
    /// An argument other than the path's spelling.
    #[error(transparent)]
    Argument(#[from] ArgumentError),
    /// The host's root.
    #[error("workspaceRoot {0}")]
    Root(#[from] RootError),
    /// The path's spelling.
    #[error(transparent)]
    Path(#[from] PathRefusal),
    /// What stands at the path.
    #[error("{}", error_text::open_error(.0))]
    Open(#[from] OpenError),
    /// Nothing stands at the path, and another one was meant.
    #[error("no such file; {0}")]
    Misspelt(Misspelling),
    /// More bytes than the limit. Paging would not help, so the message does not suggest it.
    #[error("the file has {0}, more than the limit of {MAX_READ_FILE_SIZE_BYTES} bytes")]
    TooLarge(FileSize),
    /// Reading failed.
    #[error(transparent)]
    Read(ReadError),
    /// The bytes are not text.
    #[error(transparent)]
    NotText(#[from] NotText),
    /// This library broke its own rules.
    #[error("ringfence failed: please report it")]
    Bug,
}

impl From<ReadError> for Cause {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::TooLarge(size) => Self::TooLarge(size),
            error => Self::Read(error),
        }
    }
}

impl ReadFileError {
    /// An error about a path as the caller gave it; `None` where no path came.
    #[must_use]
    pub fn new(cause: impl Into<Cause>, given_path: Option<&str>) -> Self {
        Self { cause: cause.into(), path: given_path.map(shown_path).unwrap_or_default() }
    }

    fn at(path: &WorkspacePath, cause: impl Into<Cause>) -> Self {
        Self { cause: cause.into(), path: path.to_string() }
    }

    /// Shows only the last name of a path that spells out the root, such as
    /// `file:///root/of/the/workspace/a.txt`.
    #[must_use]
    pub fn hiding(mut self, is_secret: impl FnOnce(&str) -> bool) -> Self {
        if is_secret(&self.path) {
            self.path = last_name(&self.path);
        }
        self
    }

    /// What went wrong.
    #[must_use]
    pub fn cause(&self) -> &Cause {
        &self.cause
    }

    /// The code, which is all that a program should branch on.
    #[must_use]
    #[allow(clippy::match_same_arms, reason = "a table, layer by layer")]
    pub fn code(&self) -> ReadFileErrorCode {
        use ReadFileErrorCode as Code;
        match &self.cause {
            Cause::Argument(_) => Code::InvalidArgument,
            Cause::Root(RootError::System(_)) => Code::Internal,
            Cause::Root(_) => Code::InvalidArgument,
            Cause::Path(PathRefusal::Blank | PathRefusal::Nul) => Code::InvalidArgument,
            Cause::Path(_) => Code::SandboxViolation,
            Cause::Open(error) => match error {
                OpenError::RootGone => Code::InvalidArgument,
                OpenError::Escapes | OpenError::Loops => Code::SandboxViolation,
                OpenError::NotFound | OpenError::NotFolder | OpenError::NameTooLong => {
                    Code::NotFound
                }
                OpenError::Denied => Code::PathDenied,
                OpenError::PermissionDenied => Code::PermissionDenied,
                OpenError::IsDirectory | OpenError::SpecialFile => Code::NotFile,
                OpenError::Leased | OpenError::Busy => Code::Contended,
                OpenError::System(_) => Code::Internal,
            },
            Cause::Misspelt(_) => Code::NotFound,
            Cause::TooLarge(_) => Code::SizeLimitExceeded,
            Cause::Read(ReadError::Waits) => Code::NotFile,
            Cause::Read(ReadError::Locked) => Code::Contended,
            Cause::NotText(_) => Code::BinaryNotSupported,
            Cause::Read(_) | Cause::Bug => Code::Internal,
        }
    }

    /// The path relative to the workspace, or as it was given if that was relative; of an absolute
    /// path elsewhere no more than its last name, as `…/name`; empty if no string came.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }
}

impl fmt::Display for ReadFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code().as_str(), self.cause)?;
        if self.path.is_empty() {
            return Ok(());
        }
        write!(f, ": {}", Printable(&self.path))
    }
}

impl std::error::Error for ReadFileError {}

/// Reads one window of one file.
///
/// The path may be absolute if it lies inside the workspace, as secure-tool hosts pass it. The
/// whole file is read, so the cost grows with its size, up to [`MAX_READ_FILE_SIZE_BYTES`], and
/// not with the window.
///
/// # Errors
///
/// [`ReadFileError`], in the order of docs/contract.md §4: argument, sandbox, not found,
/// permission, not a file, size, binary.
pub fn read_file(
    sandbox: &Sandbox,
    path: &str,
    options: &ReadFileOptions,
    invalid_utf8: InvalidUtf8,
) -> Result<ReadFileOutput<'static>, ReadFileError> {
    let (located, file) = open_file(sandbox, path)?;
    read_opened_file(sandbox, &located, file, options, invalid_utf8)
}

/// Opens the file of a model's path (`stat → 種別検証`).
pub(super) fn open_file(
    sandbox: &Sandbox,
    path: &str,
) -> Result<(WorkspacePath, OpenFile), ReadFileError> {
    let located = sandbox.locate(path).map_err(|refusal| {
        // The host's mistake comes before the model's.
        let cause: Cause =
            if sandbox.is_gone() { OpenError::RootGone.into() } else { refusal.into() };
        ReadFileError::new(cause, Some(path))
    });
    let opened = located.and_then(|located| match sandbox.open_file(&located) {
        Ok(file) => Ok((located, file)),
        Err(error) => {
            let cause = with_repair(error.into(), path, &located);
            Err(ReadFileError::at(&located, cause))
        }
    });
    opened.map_err(|error| error.hiding(|path| sandbox.is_spelled_in(path)))
}

/// The result of [`read_file_at_once`].
#[derive(Debug)]
pub enum ReadAtOnce<'buffer> {
    /// The answer; its content is lent from the buffer, where it can be.
    Answered(ReadFileOutput<'buffer>),
    /// The file, for [`read_opened_file`].
    Opened(WorkspacePath, OpenFile),
    /// No answer without waiting. Call [`read_file`] for it.
    WouldWait,
}

/// [`read_file`], if the answer needs no waiting: for a text file of at most `limit` bytes that
/// the system has in its memory.
#[must_use]
pub fn read_file_at_once<'buffer>(
    sandbox: &Sandbox,
    path: &str,
    options: &ReadFileOptions,
    invalid_utf8: InvalidUtf8,
    limit: u64,
    buffer: &'buffer mut ReadBuffer,
) -> ReadAtOnce<'buffer> {
    let Some(located) = sandbox.locate_at_once(path) else { return ReadAtOnce::WouldWait };
    match sandbox.read_at_once(&located, limit, buffer) {
        CachedRead::WouldWait => ReadAtOnce::WouldWait,
        CachedRead::Opened(file) => ReadAtOnce::Opened(located, file),
        CachedRead::Read(file, bytes) => {
            match answer(&located, file.modified_ms(), bytes, options, invalid_utf8) {
                Ok(output) => ReadAtOnce::Answered(output),
                // Making the error may wait: it checks whether the path spells out the root.
                Err(_) => ReadAtOnce::Opened(located, file),
            }
        }
    }
}

/// [`read_file`] of a file that is open already.
///
/// # Errors
///
/// As [`read_file`].
pub fn read_opened_file(
    sandbox: &Sandbox,
    path: &WorkspacePath,
    file: OpenFile,
    options: &ReadFileOptions,
    invalid_utf8: InvalidUtf8,
) -> Result<ReadFileOutput<'static>, ReadFileError> {
    read_opened(path, file, options, invalid_utf8)
        .map_err(|cause| ReadFileError::at(path, cause).hiding(|path| sandbox.is_spelled_in(path)))
}

/// The cause. If the file is missing and its path is misspelt, that is the misspelling.
fn with_repair(cause: Cause, given: &str, located: &WorkspacePath) -> Cause {
    if !matches!(cause, Cause::Open(OpenError::NotFound | OpenError::NotFolder)) {
        return cause;
    }
    // Of an absolute path only the part beneath the root is the model's.
    let written = if is_absolute_anywhere(given) { located.as_str() } else { given };
    Misspelling::of(written).map_or(cause, Cause::Misspelt)
}

thread_local! {
    /// Each thread that reads keeps up to 1 MiB.
    static BUFFER: RefCell<ReadBuffer> = const { RefCell::new(ReadBuffer::new()) };
}

fn read_opened(
    path: &WorkspacePath,
    file: OpenFile,
    options: &ReadFileOptions,
    invalid_utf8: InvalidUtf8,
) -> Result<ReadFileOutput<'static>, Cause> {
    let modified_ms = file.modified_ms();
    // サイズ検証
    BUFFER.with_borrow_mut(|buffer| {
        let bytes = file.read_into(MAX_READ_FILE_SIZE_BYTES, buffer)?;
        Ok(answer(path, modified_ms, bytes, options, invalid_utf8)?.into_owned())
    })
}

fn answer<'buffer>(
    path: &WorkspacePath,
    mtime_ms: i64,
    bytes: &'buffer [u8],
    options: &ReadFileOptions,
    invalid_utf8: InvalidUtf8,
) -> Result<ReadFileOutput<'buffer>, NotText> {
    let byte_length = bytes.len() as u64;
    let sha256 = options.include_hash.then(|| hash::to_hex(&hash::sha256(bytes)));
    // バイナリ判定 → text 読み取り
    let Decoded { text, replaced: replaced_count } = text::decode(bytes, invalid_utf8)?;
    let WindowText { content, line_count, returned_line_count, next_start_line } = match text {
        Cow::Borrowed(text) => options.window.cut(text),
        Cow::Owned(text) => options.window.cut(&text).into_owned(),
    };
    // メタ生成
    Ok(ReadFileOutput {
        path: path.as_shown().to_owned(),
        content,
        truncated: next_start_line.is_some(),
        next_start_line,
        meta: ReadFileMeta {
            byte_length,
            line_count,
            returned_line_count,
            mtime_ms,
            replaced_count,
            sha256,
        },
    })
}

#[cfg(test)]
mod tests;
