//! The errors of moving and removing entries.
//!
//! The sentences name no argument of any tool: each tool says which of its arguments an error is about.

use std::ffi::OsString;
use std::io;

use super::attempts::AttemptError;
use super::entry::EntryKind;
use super::error::{Obstacle, OpenError, describe};
use super::folders::FolderError;
use super::put::error::{PutError, WriteError};

/// Why an entry was not moved or removed. Nothing has changed on disk, except with [`EntryError::Unfinished`],
/// [`EntryError::Kept`], [`EntryError::MovedAnother`], [`EntryError::Unsynced`] and [`WriteError::Kept`].
#[derive(Debug, thiserror::Error)]
pub enum EntryError {
    /// The way to the entry, or the entry itself, could not be reached.
    #[error(transparent)]
    Open(OpenError),
    /// The path is the root's own.
    #[error("the workspace root itself cannot be moved or removed")]
    Root,
    /// A file stands where the new path needs a folder.
    #[error("a file stands where the path needs a folder; choose another folder")]
    FileInTheWay,
    /// A link on the way to the new path points to a folder that does not exist.
    #[error("a symbolic link on the way points to nothing")]
    DanglingLink,
    /// A folder or a link stands where bytes are to be compared.
    #[error("only a regular file has bytes that can be compared")]
    NotComparable,
    /// The entry is of another kind than the caller expects.
    #[error("the entry that stands there is of another kind than the one that was seen")]
    OtherKind,
    /// A FIFO, socket or device stands in the way, which is not replaced.
    #[error("what stands there is not a regular file")]
    NotReplaceable,
    /// The new path ends in `/`, but the moved entry is not a folder.
    #[error("the path ends in `/`, but what is moved is not a folder")]
    NamesFolder,
    /// The folder holds entries, and they were not to be removed.
    #[error("the folder is not empty")]
    NotEmpty {
        /// How many entries stand directly in the folder.
        entries: u64,
    },
    /// Something stands at the new path.
    #[error("something exists there")]
    Exists {
        /// The kind of the entry that stands there.
        standing: EntryKind,
        /// The kind of the entry that was to be moved.
        moved: EntryKind,
    },
    /// Both paths lead to the same entry.
    #[error("both paths are the same entry, or two names of one file")]
    Same,
    /// A folder was to be moved into itself.
    #[error("a folder cannot be moved into itself")]
    IntoItself,
    /// The new path is on another file system.
    #[error(
        "the two places are on different file systems, or this file system cannot move the folder in one \
         step; create the files anew there and delete the old ones"
    )]
    OtherDevice,
    /// The system tells beforehand that an entry cannot be moved or removed.
    #[error("{obstacle}{}", beneath(.path))]
    Refused {
        /// The reason.
        obstacle: Obstacle,
        /// The entry beneath the folder that is to be removed; empty for the folder itself.
        path: String,
    },
    /// Comparing the file or making a folder failed.
    #[error(transparent)]
    Write(WriteError),
    /// The system refused the change.
    #[error("the system refused: {}", describe(.0))]
    System(io::Error),
    /// A folder was removed in part only. The entries that are left stand at its path again, unless `kept`
    /// names the folder beside it where they are.
    #[error("only a part of the folder could be removed: {because}{}", kept_at(.kept.as_ref()))]
    Unfinished {
        /// How many entries were removed.
        removed: u64,
        /// The error that ended the removal.
        because: Box<EntryError>,
        /// The name, in the same parent, of the folder that holds the entries that are left.
        kept: Option<OsString>,
    },
    /// Other programs moved entries at the same time, so an entry that should have been put back is kept.
    #[error(
        "other programs moved entries at the same time, so one that should have been put back is kept as {}",
        .0.display()
    )]
    Kept(OsString),
    /// The file system cannot exchange names, so the rename moved another file than the expected one.
    #[error(
        "another program put another file at the old path in that very moment, and that one was moved in its \
         place"
    )]
    MovedAnother,
    /// The change is made, but may not survive a power failure.
    #[error(
        "it is done, but a folder could not be synced, so that a power failure may undo it: {}", describe(.0)
    )]
    Unsynced(io::Error),
    /// The caller has called it off.
    #[error("aborted")]
    Cancelled,
    /// Other processes changed the place in every attempt.
    #[error("other processes keep changing the place; try again")]
    Contended,
}

fn beneath(path: &str) -> String {
    if path.is_empty() { String::new() } else { format!(" ({})", crate::path::Printable(path)) }
}

fn kept_at(kept: Option<&OsString>) -> String {
    kept.map_or_else(String::new, |name| {
        format!(
            "; another program has taken its name, so the rest is kept beside as {}",
            name.display()
        )
    })
}

impl From<OpenError> for EntryError {
    fn from(error: OpenError) -> Self {
        Self::Open(error)
    }
}

impl From<WriteError> for EntryError {
    fn from(error: WriteError) -> Self {
        match error {
            WriteError::Cancelled => Self::Cancelled,
            WriteError::System(error) => Self::System(error),
            error => Self::Write(error),
        }
    }
}

/// What keeps the entry itself from being moved or removed, and not an entry beneath it.
impl From<Obstacle> for EntryError {
    fn from(obstacle: Obstacle) -> Self {
        Self::Refused { obstacle, path: String::new() }
    }
}

impl From<OpenError> for AttemptError<EntryError> {
    fn from(error: OpenError) -> Self {
        Self::Failed(error.into())
    }
}

impl From<PutError> for AttemptError<EntryError> {
    fn from(error: PutError) -> Self {
        Self::Failed(match error {
            PutError::Raced => return Self::Raced,
            PutError::Changed => WriteError::Changed.into(),
            PutError::Cancelled => EntryError::Cancelled,
            PutError::Refused(error) => error.into(),
            PutError::System(error) => return error.into(),
        })
    }
}

impl From<FolderError> for AttemptError<EntryError> {
    fn from(error: FolderError) -> Self {
        Self::Failed(match error {
            FolderError::Raced => return Self::Raced,
            FolderError::Refused(error) => EntryError::Write(WriteError::Folder(error)),
            FolderError::Open(OpenError::NotFolder) => EntryError::FileInTheWay,
            FolderError::Open(error) => error.into(),
        })
    }
}

/// The error of a rename or of removing a name that was looked at before.
impl From<io::Error> for AttemptError<EntryError> {
    fn from(error: io::Error) -> Self {
        Self::Failed(match error.kind() {
            // Another process was faster.
            io::ErrorKind::NotFound | io::ErrorKind::AlreadyExists => return Self::Raced,
            io::ErrorKind::CrossesDevices => EntryError::OtherDevice,
            io::ErrorKind::ResourceBusy => Obstacle::MountPoint.into(),
            _ => EntryError::System(error),
        })
    }
}
