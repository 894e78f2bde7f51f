//! The errors that the tools of docs/contract.md §9 share: a code, a sentence, the path at fault.

use std::fmt;
use std::io;

use super::error_text;
use super::read_file::{ReadFileError, ReadFileErrorCode};
use crate::argument::ArgumentError;
use crate::memory::OutOfMemory;
use crate::path::{NewFileRefusal, PathRefusal, Printable, last_name, shown_path};
use crate::sandbox::{OpenError, ReadError, RootError, Sandbox, WriteError};
use crate::text::NotText;

/// The codes, in the order in which a call is checked for them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorCode {
    /// An argument breaks its rule, or the context has no usable root.
    InvalidArgument,
    /// The host lets its tools write nothing.
    ReadOnly,
    /// A path leads out of the workspace.
    SandboxViolation,
    /// The workspace's access rules do not let the call read or change a path.
    PathDenied,
    /// Nothing stands at the path.
    NotFound,
    /// The process may not read or write there.
    PermissionDenied,
    /// A folder, FIFO, socket or device stands where a file is wanted.
    NotFile,
    /// A file or special file stands where a folder is wanted.
    NotDirectory,
    /// A file is larger than the call's limit.
    SizeLimitExceeded,
    /// A file is not text.
    BinaryNotSupported,
    /// The file is not the one that was expected.
    Stale,
    /// Something stands where nothing should.
    AlreadyExists,
    /// A folder holds entries.
    NotEmpty,
    /// Two places are on different file systems.
    CrossDevice,
    /// Other programs keep or change the file.
    Contended,
    /// The call would change nothing.
    NoChange,
    /// A text to replace does not occur.
    NoMatch,
    /// A text to replace occurs more than once.
    MultipleMatches,
    /// Two edits of a call touch each other.
    EditOverlap,
    /// A patch is malformed, or of a kind that is not applied.
    PatchInvalid,
    /// The lines of a hunk do not stand in the file.
    HunkNotFound,
    /// A hunk fits several places, or says none.
    HunkAmbiguous,
    /// Some changes of a call could not be taken back.
    Partial,
    /// A pattern does not compile.
    InvalidRegex,
    /// The call has used up its time.
    Timeout,
    /// The system failed, or this library did.
    Internal,
}

impl ErrorCode {
    /// The code as it stands in `code` and at the front of the message.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::InvalidArgument => "INVALID_ARGUMENT",
            Self::ReadOnly => "READ_ONLY",
            Self::SandboxViolation => "SANDBOX_VIOLATION",
            Self::PathDenied => "PATH_DENIED",
            Self::NotFound => "NOT_FOUND",
            Self::PermissionDenied => "PERMISSION_DENIED",
            Self::NotFile => "NOT_FILE",
            Self::NotDirectory => "NOT_DIRECTORY",
            Self::SizeLimitExceeded => "SIZE_LIMIT_EXCEEDED",
            Self::BinaryNotSupported => "BINARY_NOT_SUPPORTED",
            Self::Stale => "STALE",
            Self::AlreadyExists => "ALREADY_EXISTS",
            Self::NotEmpty => "NOT_EMPTY",
            Self::CrossDevice => "CROSS_DEVICE",
            Self::Contended => "CONTENDED",
            Self::NoChange => "NO_CHANGE",
            Self::NoMatch => "NO_MATCH",
            Self::MultipleMatches => "MULTIPLE_MATCHES",
            Self::EditOverlap => "EDIT_OVERLAP",
            Self::PatchInvalid => "PATCH_INVALID",
            Self::HunkNotFound => "HUNK_NOT_FOUND",
            Self::HunkAmbiguous => "HUNK_AMBIGUOUS",
            Self::Partial => "PARTIAL",
            Self::InvalidRegex => "INVALID_REGEX",
            Self::Timeout => "TIMEOUT",
            Self::Internal => "INTERNAL",
        }
    }
}

/// Why a call of a tool failed. Shows as `CODE: what is wrong and what to do: relative/path`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    code: ErrorCode,
    sentence: String,
    path: String,
    details: Vec<(&'static str, Detail)>,
    is_cancelled: bool,
}

/// A further property of an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Detail {
    /// A count, an offset or an index.
    Number(u64),
    /// A text.
    Text(String),
    /// Several counts.
    Numbers(Vec<u64>),
    /// Nothing where there might be something.
    Null,
    /// An object.
    Object(Vec<(&'static str, Detail)>),
    /// Several of them.
    List(Vec<Detail>),
}

impl Failure {
    /// A failure that no path is at fault for.
    #[must_use]
    pub fn new(code: ErrorCode, sentence: impl Into<String>) -> Self {
        Self {
            code,
            sentence: sentence.into(),
            path: String::new(),
            details: Vec::new(),
            is_cancelled: false,
        }
    }

    /// The failure after a panic, or where this library broke its own rules.
    #[must_use]
    pub fn bug() -> Self {
        Self::new(ErrorCode::Internal, "ringfence failed: please report it")
    }

    /// A call that its caller has cancelled. Its error is never shown: the signal's reason is.
    #[must_use]
    pub fn cancelled() -> Self {
        Self { is_cancelled: true, ..Self::new(ErrorCode::Internal, "cancelled") }
    }

    /// Whether this is [`Failure::cancelled`].
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.is_cancelled
    }

    /// The refusal of a path's spelling. `argument` is the name of the path's argument.
    #[must_use]
    pub fn of_spelling(refusal: PathRefusal, argument: &str, given: &str) -> Self {
        let code = match refusal {
            PathRefusal::Blank | PathRefusal::Nul => ErrorCode::InvalidArgument,
            _ => ErrorCode::SandboxViolation,
        };
        let sentence = refusal.to_string();
        let rest = sentence.strip_prefix("path").unwrap_or(&sentence);
        Self::new(code, format!("{argument}{rest}")).at(shown_path(given))
    }

    /// The refusal of the spelling of a path at which something is to change.
    #[must_use]
    pub fn of_entry_spelling(refusal: &NewFileRefusal, argument: &str, given: &str) -> Self {
        match refusal {
            NewFileRefusal::Path(PathRefusal::WindowsName(_)) => {}
            NewFileRefusal::Path(refusal) => return Self::of_spelling(*refusal, argument, given),
            _ => {}
        }
        let sentence = refusal.to_string();
        let rest = sentence.strip_prefix("path").unwrap_or(&sentence);
        Self::new(ErrorCode::InvalidArgument, format!("{argument}{rest}")).at(shown_path(given))
    }

    /// The failure of a call that would write, where the host lets its tools write nothing.
    #[must_use]
    pub fn read_only() -> Self {
        Self::new(ErrorCode::ReadOnly, "the workspace is read-only")
    }

    /// The same failure at a path relative to the root, `.` for the root itself.
    #[must_use]
    pub fn at(mut self, path: impl Into<String>) -> Self {
        self.path = path.into();
        self
    }

    /// The same failure with one more property on its error.
    #[must_use]
    pub fn with(mut self, name: &'static str, detail: Detail) -> Self {
        self.details.push((name, detail));
        self
    }

    /// The same failure with a sentence after its own: a repair.
    #[must_use]
    pub fn and(mut self, repair: &str) -> Self {
        self.sentence = format!("{}; {repair}", self.sentence);
        self
    }

    /// The same failure with the paths that may have been meant, if there are any.
    #[must_use]
    pub fn suggesting(self, near: &[String]) -> Self {
        if near.is_empty() {
            return self;
        }
        let names: Vec<_> = near.iter().map(|near| format!("\"{near}\"")).collect();
        self.and(&format!("did you mean {}?", names.join(" or ")))
    }

    /// Shows only the last name of a path that spells out the root.
    #[must_use]
    pub fn hiding_root_of(mut self, sandbox: &Sandbox) -> Self {
        if sandbox.is_spelled_in(&self.path) {
            self.path = last_name(&self.path);
        }
        self
    }

    /// The code, which is all that a program should branch on.
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        self.code
    }

    /// The path at fault; empty if none is.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The further properties of the error, in order.
    #[must_use]
    pub fn details(&self) -> &[(&'static str, Detail)] {
        &self.details
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code.as_str(), self.sentence)?;
        if self.path.is_empty() { Ok(()) } else { write!(f, ": {}", Printable(&self.path)) }
    }
}

impl std::error::Error for Failure {}

impl From<ArgumentError> for Failure {
    fn from(error: ArgumentError) -> Self {
        Self::new(ErrorCode::InvalidArgument, error.to_string())
    }
}

impl From<RootError> for Failure {
    fn from(error: RootError) -> Self {
        let code = match error {
            RootError::System(_) => ErrorCode::Internal,
            _ => ErrorCode::InvalidArgument,
        };
        Self::new(code, format!("workspaceRoot {error}"))
    }
}

impl From<OpenError> for Failure {
    fn from(error: OpenError) -> Self {
        let code = match error {
            OpenError::RootGone => ErrorCode::InvalidArgument,
            OpenError::Escapes | OpenError::Loops => ErrorCode::SandboxViolation,
            OpenError::NotFound | OpenError::NotFolder | OpenError::NameTooLong => {
                ErrorCode::NotFound
            }
            OpenError::Denied => ErrorCode::PathDenied,
            OpenError::PermissionDenied => ErrorCode::PermissionDenied,
            OpenError::IsDirectory | OpenError::SpecialFile => ErrorCode::NotFile,
            OpenError::Leased | OpenError::Busy => ErrorCode::Contended,
            OpenError::System(_) => ErrorCode::Internal,
        };
        Self::new(code, error_text::open_error(&error))
    }
}

impl From<ReadError> for Failure {
    fn from(error: ReadError) -> Self {
        let code = match error {
            ReadError::TooLarge(_) => ErrorCode::SizeLimitExceeded,
            ReadError::Waits => ErrorCode::NotFile,
            ReadError::Locked => ErrorCode::Contended,
            ReadError::System(_) => ErrorCode::Internal,
        };
        Self::new(code, error.to_string())
    }
}

impl From<WriteError> for Failure {
    fn from(error: WriteError) -> Self {
        let code = code_of_write(&error);
        match error {
            WriteError::Open(error) => error.into(),
            WriteError::Cancelled => Self::cancelled(),
            error => Self::new(code, error_text::write_error(&error)),
        }
    }
}

pub(super) fn code_of_write(error: &WriteError) -> ErrorCode {
    match error {
        WriteError::FileInTheWay => ErrorCode::NotDirectory,
        WriteError::NameTooLong | WriteError::DanglingLink => ErrorCode::NotFound,
        WriteError::IsDirectory | WriteError::NotRegularFile => ErrorCode::NotFile,
        WriteError::Exists => ErrorCode::AlreadyExists,
        WriteError::Changed => ErrorCode::Stale,
        WriteError::AppendOnly
        | WriteError::Unreadable
        | WriteError::AccessNotKept
        | WriteError::MountPoint => ErrorCode::PermissionDenied,
        WriteError::TooLargeToCompare => ErrorCode::SizeLimitExceeded,
        WriteError::BeingWritten | WriteError::Contended => ErrorCode::Contended,
        WriteError::Kept { because, .. } => code_of_write(because),
        WriteError::Folder(error) | WriteError::System(error) => code_of_refusal(error),
        WriteError::Open(_) | WriteError::Cancelled | WriteError::Flawed(_) => ErrorCode::Internal,
    }
}

/// The code for a change that the system refused.
pub(super) fn code_of_refusal(error: &io::Error) -> ErrorCode {
    match error.kind() {
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            ErrorCode::PermissionDenied
        }
        _ => ErrorCode::Internal,
    }
}

impl From<ReadFileError> for Failure {
    fn from(error: ReadFileError) -> Self {
        let code = match error.code() {
            ReadFileErrorCode::InvalidArgument => ErrorCode::InvalidArgument,
            ReadFileErrorCode::SandboxViolation => ErrorCode::SandboxViolation,
            ReadFileErrorCode::PathDenied => ErrorCode::PathDenied,
            ReadFileErrorCode::NotFound => ErrorCode::NotFound,
            ReadFileErrorCode::PermissionDenied => ErrorCode::PermissionDenied,
            ReadFileErrorCode::NotFile => ErrorCode::NotFile,
            ReadFileErrorCode::SizeLimitExceeded => ErrorCode::SizeLimitExceeded,
            ReadFileErrorCode::BinaryNotSupported => ErrorCode::BinaryNotSupported,
            ReadFileErrorCode::Contended => ErrorCode::Contended,
            ReadFileErrorCode::Internal => ErrorCode::Internal,
        };
        Self::new(code, error.cause().to_string()).at(error.path())
    }
}

impl From<OutOfMemory> for Failure {
    fn from(error: OutOfMemory) -> Self {
        Self::new(ErrorCode::Internal, error.to_string())
    }
}

impl From<NotText> for Failure {
    fn from(error: NotText) -> Self {
        Self::new(ErrorCode::BinaryNotSupported, error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_path_is_named_by_its_argument_and_shown_without_its_folders() {
        let failure = Failure::of_spelling(PathRefusal::Absolute, "root_path", "/etc/secrets");
        assert_eq!(failure.code().as_str(), "SANDBOX_VIOLATION");
        assert!(failure.to_string().starts_with("SANDBOX_VIOLATION: root_path is absolute"));
        assert_eq!(failure.path(), "…/secrets");
    }

    #[test]
    fn the_root_is_shown_as_a_dot() {
        let failure = Failure::from(OpenError::PermissionDenied)
            .at(crate::path::WorkspacePath::root().as_shown());
        assert_eq!(failure.to_string(), "PERMISSION_DENIED: permission denied: .");
    }
}
