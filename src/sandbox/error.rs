//! The errors of opening the root or a path, and of reading a file. The errors of writing are in
//! `put/error.rs`, those of moving and removing in `entry_error.rs`.
//!
//! The sentences speak of the root, of files, folders and links. They name no argument of any tool:
//! each tool says which of its arguments an error is about.

use std::fmt;
use std::io;

/// Why a root cannot be opened. All but [`RootError::System`] are the host's mistake.
#[derive(Debug, thiserror::Error)]
pub enum RootError {
    /// Relative roots would depend on the process's working directory.
    #[error("must be an absolute path")]
    Relative,
    /// Nothing stands there.
    #[error("does not exist")]
    Gone,
    /// A file stands there.
    #[error("is not a directory")]
    NotDirectory,
    /// The process may not open it.
    #[error("cannot be opened: permission denied")]
    PermissionDenied,
    /// The system failed.
    #[error("cannot be opened: {}", describe(.0))]
    System(io::Error),
}

impl RootError {
    pub(super) fn from_system(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::InvalidFilename => Self::Gone,
            io::ErrorKind::NotADirectory | io::ErrorKind::AlreadyExists => Self::NotDirectory,
            io::ErrorKind::PermissionDenied => Self::PermissionDenied,
            _ => Self::System(error),
        }
    }
}

/// Why a path that parses cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// A link on the way, or at the end, leads out of the workspace.
    #[error("a symbolic link leads out of the workspace")]
    Escapes,
    /// Another program holds a lease on the file and did not give it up in time.
    #[error("another program holds a lease on the file; try again")]
    Leased,
    /// Windows: another program has the file open without sharing it, and did not close it in time.
    #[error("another program has the file open and does not share it for now; try again")]
    Busy,
    /// More than [`MAX_LINKS`](super::MAX_LINKS) links, or a `/proc` magic link.
    #[error("symbolic links form a loop, or one is a /proc magic link")]
    Loops,
    /// Nothing stands there.
    #[error("no such file")]
    NotFound,
    /// A file stands where the path needs a folder.
    #[error("no such file: a component before the end, or before a final slash, is not a folder")]
    NotFolder,
    /// The workspace's access rules do not let the call read or change the path, whether anything stands there or
    /// not.
    #[error(
        "the workspace's access rules do not allow this; go on without this path, or ask the user"
    )]
    Denied,
    /// The system takes no name, or no path, of that length.
    #[error("no such file: the name is too long")]
    NameTooLong,
    /// The process may not open it.
    #[error("permission denied")]
    PermissionDenied,
    /// A FIFO, socket or device, which are never waited on.
    #[error("not a regular file but a FIFO, socket or device")]
    SpecialFile,
    /// A directory where a file is wanted.
    #[error("a directory, not a file")]
    IsDirectory,
    /// The root that was opened has been removed since.
    #[error("the root does not exist any more")]
    RootGone,
    /// The system failed.
    #[error("the system failed: {}", describe(.0))]
    System(io::Error),
}

/// Why an open file could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// It holds more bytes than the caller's limit.
    #[error("{0}")]
    TooLarge(FileSize),
    /// It is a system file that looks regular and makes its reader wait.
    #[error("not a regular file but one that waits for data")]
    Waits,
    /// Windows: another program has locked some of its bytes.
    #[error("another program keeps a part of the file locked for now; try again")]
    Locked,
    /// The system failed.
    #[error("the system failed: {}", describe(.0))]
    System(io::Error),
}

/// What keeps an entry from being moved or removed, as far as the system tells without a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Obstacle {
    /// The process may not change the folder that holds it.
    #[error("the folder's rights do not let entries be moved or removed")]
    FolderRights,
    /// Nothing on the file system can be changed.
    #[error("the file system is read-only")]
    ReadOnlySystem,
    /// The process may not list a folder, and so not empty it.
    #[error("the folder may not be listed")]
    Unlistable,
    /// The folder is sticky, and the entry belongs to another user.
    #[error("the entry belongs to another user, and its folder is sticky")]
    Sticky,
    /// The entry is marked as one that cannot be changed.
    #[error("the entry is marked as immutable or append-only")]
    Immutable,
    /// Another file system, or a part of one, is mounted there.
    #[error("the entry is a mount point")]
    MountPoint,
    /// Windows: another program has the entry open and does not let it be removed.
    #[error("another program has the entry open")]
    InUse,
}

/// The size of a file, exact or at least.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileSize {
    /// The system says this size.
    Exactly(u64),
    /// This many bytes came before reading stopped; the system had said something else.
    AtLeast(u64),
}

impl fmt::Display for FileSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exactly(bytes) => write!(f, "{bytes} bytes"),
            Self::AtLeast(bytes) => write!(f, "at least {bytes} bytes"),
        }
    }
}

/// A system failure in words that name no path.
pub(super) fn describe(error: &io::Error) -> String {
    match error.raw_os_error() {
        // The standard library's text for a raw code is the system's own and holds no path.
        Some(code) => io::Error::from_raw_os_error(code).to_string(),
        None => error.kind().to_string(),
    }
}
