//! The errors of writing a file, and of the steps after the write.
//!
//! The sentences name no argument of any tool: each tool says which of its arguments an error is about.

use std::ffi::OsString;
use std::io;

use crate::hash::HashStop;
use crate::sandbox::error::{OpenError, describe};

/// The largest file that is compared with an expected hash, in bytes: 64 MiB.
pub const MAX_COMPARED_BYTES: u64 = 64 << 20;

/// Why a file was not written as it should have been. No file is half written. Only with
/// [`WriteError::Flawed`] was the file written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The way to the file, or the file itself, could not be reached.
    #[error(transparent)]
    Open(OpenError),
    /// A file stands where a folder is needed.
    #[error(
        "a file stands where the path needs a folder; choose another folder, or remove that file first"
    )]
    FileInTheWay,
    /// The system takes no name, or no path, of that length.
    #[error("the path, or a name in it, is longer than the system takes")]
    NameTooLong,
    /// A link on the way points to a folder that does not exist.
    #[error("a symbolic link on the way points to nothing")]
    DanglingLink,
    /// A directory stands there.
    #[error("a directory stands there")]
    IsDirectory,
    /// A FIFO, socket, device or dangling link stands there, which is not replaced.
    #[error("what stands there is not a regular file")]
    NotRegularFile,
    /// Something stands there, and must not be replaced.
    #[error("a file exists there")]
    Exists,
    /// A folder could not be made.
    #[error("a folder on the way could not be made: {}", describe(.0))]
    Folder(io::Error),
    /// The file is not the one that was expected.
    #[error("the file has changed since it was read; read it again before replacing it")]
    Changed,
    /// Entries of the folder can be made but not removed, so a temporary would stay there.
    #[error("the folder is append-only: nothing that stands in it can be replaced")]
    AppendOnly,
    /// Another program may still change the file, so it cannot be compared for certain.
    #[error(
        "another program has the file open for writing, so it may have changed since it was read; \
         try again when that program is done with it"
    )]
    BeingWritten,
    /// The process may not read it, so it cannot be compared.
    #[error("the file may not be read, and so cannot be compared with the expected one")]
    Unreadable,
    /// It has more than [`MAX_COMPARED_BYTES`].
    #[error(
        "the file is too large to be compared with the expected one: the limit is \
         {MAX_COMPARED_BYTES} bytes (64 MiB)"
    )]
    TooLargeToCompare,
    /// A new file could not have the old one's owner, group and rights, and would give other users rights
    /// that they did not have.
    #[error(
        "the file belongs to another user or group, and its access rights cannot be kept: a new file \
         would give them to others"
    )]
    AccessNotKept,
    /// It is a mount point, whose name cannot be given to another file.
    #[error(
        "the file is a mount point of its own, as of a single file that is mounted into a container, \
         and cannot be replaced; mount its folder instead"
    )]
    MountPoint,
    /// It was refused after the new file had been visible, and other programs used one of the files
    /// meanwhile, so not all could be undone.
    #[error("{because}; {stray}")]
    Kept {
        /// Why it was refused.
        because: Box<WriteError>,
        /// The file that is left.
        stray: Stray,
    },
    /// The caller has called it off.
    #[error("aborted")]
    Cancelled,
    /// Other processes changed the place in every attempt.
    #[error("other processes keep changing the folder; try again")]
    Contended,
    /// The system failed.
    #[error("the system refused to write: {}", describe(.0))]
    System(io::Error),
    /// The file was written, but something went wrong afterwards.
    #[error("the file was written, but {0}")]
    Flawed(Flaw),
}

/// What went wrong after a file was written, and could not be undone.
#[derive(Debug, thiserror::Error)]
pub enum Flaw {
    /// Its name may not survive a power failure.
    #[error("its folder could not be synced, so that a power failure may undo it: {}", describe(.0))]
    Unsynced(io::Error),
    /// It does not stand at the path, because its folder was moved.
    #[error("its folder was moved away meanwhile, and the file could not be taken back from there")]
    Moved,
    /// The file system cannot exchange names, so the rename replaced a file that was not the expected one.
    #[error(
        "another program put another file there in the very moment that it took the place of the \
         expected one, and that file is replaced"
    )]
    ReplacedAnother,
    /// Another program used one of the files meanwhile, so not all could be cleared up.
    #[error("{0}")]
    Beside(Stray),
}

/// A file that is left because another program used it: the new file, which was visible for a
/// moment, or the old one, whose place it had taken. The names are names in the file's folder.
///
/// Where something is kept beside as a result of taking a write back, the file that stood at the path stands
/// there again with [`Stray::Used`] and [`Stray::Elsewhere`], and does not with [`Stray::Displaced`] and
/// [`Stray::Standing`].
#[derive(Debug, thiserror::Error)]
pub enum Stray {
    /// Another program has written to the new file, or has it open.
    #[error(
        "in the moment that the new content showed, another program wrote to it or opened it, so the \
         file that this program has is kept beside as {}", .0.display()
    )]
    Used(OsString),
    /// The file that stood there could not be put back.
    #[error(
        "other programs moved files at the same time, so a file that should have been put back is \
         kept beside as {}, unless another program has removed it", .0.display()
    )]
    Displaced(OsString),
    /// Another program was about to write to the old file when it was too late to put it back.
    #[error(
        "another program was opening the file that stood there for writing, so that file is kept beside \
         as {}", .0.display()
    )]
    Awaited(OsString),
    /// The change could not be taken back, and stands.
    #[error(
        "the change could not be taken back, because another program changed or moved the file \
         meanwhile, or the system refused"
    )]
    Standing,
    /// The new file was moved elsewhere.
    #[error(
        "in the moment that the new content showed, another program moved it out of the folder, \
         where it still is"
    )]
    Elsewhere,
}

/// Why bytes were not put at a name.
#[derive(Debug)]
pub(crate) enum PutError {
    /// The name, or the folder itself, has changed since it was looked at.
    Raced,
    /// The file is not the one that was expected.
    Changed,
    Cancelled,
    /// For another reason.
    Refused(WriteError),
    System(io::Error),
}

impl PutError {
    /// The same error, with a file that was left behind.
    pub(crate) fn with(self, stray: Stray) -> Self {
        let because = match self {
            Self::Raced => WriteError::Contended,
            Self::Changed => WriteError::Changed,
            Self::Cancelled => WriteError::Cancelled,
            Self::Refused(error) => error,
            Self::System(error) => WriteError::System(error),
        };
        Self::Refused(WriteError::Kept { because: Box::new(because), stray })
    }
}

impl From<HashStop> for PutError {
    fn from(stop: HashStop) -> Self {
        match stop {
            HashStop::TooLong => Self::Refused(WriteError::TooLargeToCompare),
            HashStop::CalledOff => Self::Cancelled,
            HashStop::System(error) => Self::System(error),
        }
    }
}

impl From<Flaw> for PutError {
    fn from(flaw: Flaw) -> Self {
        Self::Refused(WriteError::Flawed(flaw))
    }
}
