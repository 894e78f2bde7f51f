//! `workspace_create_file` (TUL-004): a new file, or the full replacement of one, all or nothing.
//!
//! The file reads like its specification: §4.2 the request, §4.3 the result, §5.3 the error codes,
//! and [`create_file`] the steps of §5.1. A domain error is a result, not an exception. Where the
//! specification leaves room:
//!
//! - the limit is 1 MiB of final bytes unless the host says otherwise, so that `read_file` can
//!   read every created file;
//! - `hash` is SHA-256 of the bytes on disk, or the host's canonical hash where it asks for it;
//! - a replaced file keeps its permission bits, and a link that leads to it stays a link;
//! - a call with a read-only write scope gets `WriteFailed`;
//! - if the length alone shows that content is too large, nothing else of it is checked.
//!
//! ```
//! use ringfence::tools::create_file::{CreateFileOptions, CreateFileRequest, create_file};
//! use ringfence::path::NewFilePath;
//! use ringfence::sandbox::Sandbox;
//!
//! let workspace = tempfile::tempdir()?;
//! let sandbox = Sandbox::open(workspace.path())?;
//! let request = CreateFileRequest {
//!     path: NewFilePath::parse("src/new.rs")?,
//!     content: "fn main() {}\r\n".to_owned(),
//!     overwrite: false,
//!     expected: None,
//! };
//!
//! let options = CreateFileOptions::default();
//! let created = create_file(&sandbox, request.clone(), &options, &|| false)?;
//! assert_eq!((created.size_bytes, created.overwritten), (13, false));
//!
//! let again = create_file(&sandbox, request, &options, &|| false).unwrap_err();
//! assert_eq!(again.code().as_str(), "FileExists");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::ops::Deref;

use super::error_text;
use crate::argument::ArgumentError;
use crate::hash::{ContentHash, Sha256Digest};
use crate::path::{NewFilePath, NewFileRefusal};
use crate::sandbox::{
    Before, Expected, FileSize, NewContent, OpenError, RootError, Sandbox, Visibility, WriteError,
};
use crate::text;

// §5.3: the limit.

/// The largest file that is created unless the host says otherwise, in bytes: 1 MiB.
pub const DEFAULT_MAX_CREATE_BYTES: u64 = 1_048_576;

/// §4.2: the request, its path and hash parsed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreateFileRequest {
    /// The path of the file.
    pub path: NewFilePath,
    /// The entire text, as the model sent it.
    pub content: String,
    /// Whether a file that stands there may be replaced.
    pub overwrite: bool,
    /// Beyond the specification: replace only a file whose bytes still have this SHA-256.
    pub expected: Option<Sha256Digest>,
}

/// The options of the host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreateFileOptions {
    /// How far tools may write.
    pub write_scope: WriteScope,
    /// Whether success means that the file has reached the disk.
    pub durability: Durability,
    /// The algorithm of the result's hash.
    pub content_hash: ContentHash,
    /// The largest file that is created, in bytes.
    pub max_create_bytes: u64,
}

impl Default for CreateFileOptions {
    fn default() -> Self {
        Self {
            write_scope: WriteScope::default(),
            durability: Durability::default(),
            content_hash: ContentHash::default(),
            max_create_bytes: DEFAULT_MAX_CREATE_BYTES,
        }
    }
}

/// How far a host lets its tools write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WriteScope {
    /// They may not write.
    ReadOnly,
    /// They may write in the workspace.
    #[default]
    WorkspaceWrite,
    /// They may write wherever the host allows. This library still writes in the workspace only.
    Unrestricted,
}

/// Whether a created file survives a power failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Durability {
    /// File and directory are synced before the call succeeds.
    #[default]
    Full,
    /// Nothing is synced. After a crash the file may be old or missing.
    None,
}

/// §4.3: the result of a success.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreatedFile {
    /// Relative to the workspace root, components separated by `/`.
    pub path: String,
    /// How many bytes were written.
    pub size_bytes: u64,
    /// 64 lowercase hex digits.
    pub hash: String,
    /// Whether a file was replaced; otherwise it is new.
    pub overwritten: bool,
    /// How the file became visible.
    pub visibility: Visibility,
}

/// §5.3: the canonical error codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CreateFileErrorCode {
    /// Something exists there, and `overwrite` is false.
    FileExists,
    /// The spelling of the path is refused, or the entry at it: empty, absolute, leading out, a
    /// directory.
    InvalidPath,
    /// A folder on the way could not be made, or is a file.
    DirectoryCreateFailed,
    /// Not permitted, not the expected file, or the disk failed.
    WriteFailed,
    /// More bytes than the limit.
    TooLarge,
    /// Part of the specification; hashing in memory does not fail.
    HashFailed,
    /// A wrong argument or context, or a fault of this library.
    UnhandledException,
}

impl CreateFileErrorCode {
    /// The code as the specification spells it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::FileExists => "FileExists",
            Self::InvalidPath => "InvalidPath",
            Self::DirectoryCreateFailed => "DirectoryCreateFailed",
            Self::WriteFailed => "WriteFailed",
            Self::TooLarge => "TooLarge",
            Self::HashFailed => "HashFailed",
            Self::UnhandledException => "UnhandledException",
        }
    }
}

/// Why no file was created. Shows as the sentence of the result's `message`, which names no path:
/// the result has it.
#[derive(Debug, thiserror::Error)]
pub enum CreateFileError {
    /// The path is no string, or reading it failed.
    #[error("{0}")]
    PathArgument(ArgumentError),
    /// The path's spelling.
    #[error(transparent)]
    Path(#[from] NewFileRefusal),
    /// Another argument, or the context.
    #[error("{0}")]
    Argument(#[from] ArgumentError),
    /// The host's root.
    #[error("workspaceRoot {0}")]
    Root(#[from] RootError),
    /// More bytes than the limit.
    #[error("content has {size}, more than the limit of {limit} bytes")]
    TooLarge {
        /// The content's final size.
        size: FileSize,
        /// The limit in bytes.
        limit: u64,
    },
    /// The write scope is read-only.
    #[error("the workspace is read-only")]
    ReadOnly,
    /// The sandbox's error.
    #[error("{}", error_text::write_error(.0))]
    Write(#[from] WriteError),
    /// The file is not the expected one. Or the expected hash is the host's own hash, in place of
    /// a SHA-256.
    #[error(
        "the file has changed since it was read, or expectedHash is not a SHA-256: give the \
         meta.sha256 that readFile gives for include_hash, not the hash of this tool's results"
    )]
    ChangedOrOtherHash,
    /// This library broke its own rules.
    #[error("ringfence failed: please report it")]
    Bug,
}

impl CreateFileError {
    /// The code of §5.3.
    #[must_use]
    #[allow(clippy::match_same_arms, reason = "a table, layer by layer")]
    pub fn code(&self) -> CreateFileErrorCode {
        use CreateFileErrorCode as Code;
        match self {
            Self::PathArgument(_) | Self::Path(_) => Code::InvalidPath,
            Self::Root(RootError::System(_)) => Code::WriteFailed,
            Self::Argument(_) | Self::Root(_) => Code::UnhandledException,
            Self::TooLarge { .. } => Code::TooLarge,
            Self::ReadOnly | Self::ChangedOrOtherHash => Code::WriteFailed,
            Self::Write(error) => match error {
                WriteError::Open(OpenError::Escapes | OpenError::Loops) => Code::InvalidPath,
                WriteError::NameTooLong => Code::InvalidPath,
                WriteError::FileInTheWay => Code::DirectoryCreateFailed,
                WriteError::Open(OpenError::RootGone) => Code::UnhandledException,
                WriteError::Open(_) => Code::WriteFailed,
                WriteError::DanglingLink => Code::InvalidPath,
                WriteError::IsDirectory | WriteError::NotRegularFile => Code::InvalidPath,
                WriteError::Exists => Code::FileExists,
                WriteError::Folder(_) => Code::DirectoryCreateFailed,
                WriteError::Changed | WriteError::Contended => Code::WriteFailed,
                WriteError::AppendOnly | WriteError::BeingWritten => Code::WriteFailed,
                WriteError::Unreadable | WriteError::TooLargeToCompare => Code::WriteFailed,
                WriteError::AccessNotKept | WriteError::MountPoint => Code::WriteFailed,
                WriteError::Kept { .. } => Code::WriteFailed,
                WriteError::Cancelled | WriteError::System(_) => Code::WriteFailed,
                WriteError::Flawed(_) => Code::WriteFailed,
            },
            Self::Bug => Code::UnhandledException,
        }
    }
}

/// Creates a file, or replaces one, by the steps of §5.1; validation and normalisation of the path
/// (steps 1 and 2) lie behind a [`NewFilePath`].
///
/// `cancelled` is asked before the first folder is made and once more before the file becomes
/// visible; after that the result says what happened.
///
/// # Errors
///
/// [`CreateFileError`]. Nothing has changed on disk, except with [`WriteError::Flawed`] and
/// [`WriteError::Kept`]. If `cancelled` said yes, the error is `WriteError::Cancelled`.
pub fn create_file(
    sandbox: &Sandbox,
    request: CreateFileRequest,
    options: &CreateFileOptions,
    cancelled: &dyn Fn() -> bool,
) -> Result<CreatedFile, CreateFileError> {
    create_file_in(|| Ok(sandbox), request, options, cancelled)
}

/// [`create_file`] in a sandbox that `open` opens. Everything that needs no disk is checked first.
/// So the answer does not depend on whether a host holds its workspace open.
///
/// # Errors
///
/// As [`create_file`], and the errors of `open`.
pub fn create_file_in<S: Deref<Target = Sandbox>>(
    open: impl FnOnce() -> Result<S, RootError>,
    request: CreateFileRequest,
    options: &CreateFileOptions,
    cancelled: &dyn Fn() -> bool,
) -> Result<CreatedFile, CreateFileError> {
    let text = text::to_written_form(request.content);
    check_size(FileSize::Exactly(text.len() as u64), options)?;
    if options.write_scope == WriteScope::ReadOnly {
        return Err(CreateFileError::ReadOnly);
    }
    let sandbox = open()?;
    // 3. Check for existing file, 4. ensure parent directories exist, 5. write file.
    let content = NewContent {
        bytes: text.as_bytes(),
        overwrite: request.overwrite,
        expected: request.expected.map(Expected::Sha256),
        durable: options.durability == Durability::Full,
        executable: None,
    };
    let written = sandbox.write_file(&request.path, &content, cancelled).map_err(|error| {
        let takes_other = options.content_hash != ContentHash::Sha256;
        if takes_other && matches!(error, WriteError::Changed) {
            return CreateFileError::ChangedOrOtherHash;
        }
        CreateFileError::Write(error)
    })?;
    // 6. Compute hash, 7. populate result.
    Ok(CreatedFile {
        path: request.path.as_path().to_string(),
        size_bytes: text.len() as u64,
        hash: options.content_hash.of_text(&text),
        overwritten: matches!(written.before, Before::File { .. }),
        visibility: written.visibility,
    })
}

/// Refuses a content by its length as a string, if that leaves no doubt. So a content that is far
/// too large is never copied. Each UTF-16 unit becomes a byte or more. Two are exceptions: a
/// leading byte order mark, which is dropped, and CRLF, which becomes one byte.
///
/// # Errors
///
/// [`CreateFileError::TooLarge`].
pub fn check_length(utf16_units: u64, options: &CreateFileOptions) -> Result<(), CreateFileError> {
    check_size(FileSize::AtLeast(utf16_units.saturating_sub(1).div_ceil(2)), options)
}

fn check_size(size: FileSize, options: &CreateFileOptions) -> Result<(), CreateFileError> {
    let (FileSize::Exactly(bytes) | FileSize::AtLeast(bytes)) = size;
    let limit = options.max_create_bytes;
    if bytes > limit { Err(CreateFileError::TooLarge { size, limit }) } else { Ok(()) }
}

#[cfg(test)]
mod tests;
