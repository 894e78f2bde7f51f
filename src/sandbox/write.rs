//! Creating and replacing files: the order of things, the same on every system.
//!
//! What a system can do with one handle and one name (make a folder, look at a name, put bytes
//! there exclusively, exchange them for others) is in its own file; here stands what follows from
//! it. Every attempt starts by looking, and every step that finds the world changed since says so
//! and starts a new attempt: nothing is decided by a check that the next call could outlive.

use std::ffi::OsString;
use std::io;
use std::rc::Rc;

use super::system::{self, Directory};
use super::{Containment, OpenError, Root, describe};
use crate::hash::Sha256Digest;
use crate::path::{NewFilePath, WorkspacePath};

/// The bytes to put at a path, and on what conditions.
#[derive(Debug, Clone, Copy)]
pub struct NewContent<'bytes> {
    /// All of them.
    pub bytes: &'bytes [u8],
    /// Whether a file that stands there may be replaced.
    pub overwrite: bool,
    /// If given, only a file whose bytes have this SHA-256 is replaced, and none is created.
    pub expected: Option<Sha256Digest>,
    /// Whether the bytes, the name and new folders must have reached the disk.
    pub durable: bool,
}

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Written {
    /// Nothing stood there.
    Created,
    /// A file was replaced.
    Replaced,
}

/// Why nothing was written. Whatever it is, nothing is half written and no folder was left.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The way to the file, or the file itself, could not be reached.
    #[error(transparent)]
    Way(OpenError),
    /// A link on the way points to a folder that does not exist.
    #[error("a symbolic link on the way points to nothing")]
    DanglingWay,
    /// A directory stands there.
    #[error("a directory stands there")]
    IsDirectory,
    /// A FIFO, socket, device or dangling link stands there, which is not replaced.
    #[error("what stands there is not a regular file")]
    NotRegularFile,
    /// Something stands there, and must not be replaced.
    #[error("a file exists there; set overwrite to true to replace it")]
    Exists,
    /// A folder could not be made.
    #[error("a folder on the way could not be made: {}", describe(.0))]
    Folder(io::Error),
    /// The file is not the one that was expected.
    #[error("the file has changed since it was read; read it again before replacing it")]
    Changed,
    /// What stands in the folder stays, and so would a temporary.
    #[error("the folder is append-only: nothing that stands in it can be replaced")]
    AppendOnly,
    /// The file may be another than was expected by the time that somebody is done with it.
    #[error(
        "another program has the file open for writing, so it may have changed since it was read; \
         try again when that program is done with it"
    )]
    BeingWritten,
    /// The caller called it off.
    #[error("aborted")]
    Cancelled,
    /// The world changed faster than could be followed.
    #[error("other processes keep changing the folder; try again")]
    Contended,
    /// The system failed.
    #[error("the system refused to write: {}", describe(.0))]
    System(io::Error),
}

/// Why bytes were not put at a name.
#[derive(Debug)]
pub(super) enum PutError {
    /// What stands at the name, or the folder itself, has changed since it was looked at.
    Raced,
    /// The file is not the one that was expected.
    Changed,
    Cancelled,
    /// For another reason.
    Refused(WriteError),
    System(io::Error),
}

/// What stands at a name, links not followed.
pub(super) enum Standing {
    Nothing,
    File(system::FileFacts),
    Directory,
    Link,
    /// A FIFO, socket or device.
    Special,
}

/// How often an attempt is repeated because another process interfered. Each repetition means
/// that somebody else got something done.
const MAX_ATTEMPTS: u32 = 64;

/// Puts content at a path.
pub(super) fn write_file(
    root: &Root,
    containment: Containment,
    path: &NewFilePath,
    content: &NewContent<'_>,
    cancelled: &dyn Fn() -> bool,
) -> Result<Written, WriteError> {
    let writing = Writing { root, containment, path: path.as_path(), content, cancelled };
    for _ in 0..MAX_ATTEMPTS {
        match writing.attempt() {
            Err(Stop::Again) => {}
            Err(Stop::For(error)) => return Err(error),
            Ok(written) => return Ok(written),
        }
    }
    Err(WriteError::Contended)
}

/// Why an attempt ended.
enum Stop {
    Again,
    For(WriteError),
}

impl From<WriteError> for Stop {
    fn from(error: WriteError) -> Self {
        Self::For(error)
    }
}

impl From<OpenError> for Stop {
    fn from(error: OpenError) -> Self {
        Self::For(WriteError::Way(error))
    }
}

impl From<PutError> for Stop {
    fn from(error: PutError) -> Self {
        match error {
            PutError::Raced => Self::Again,
            PutError::Changed => Self::For(WriteError::Changed),
            PutError::Cancelled => Self::For(WriteError::Cancelled),
            PutError::Refused(error) => Self::For(error),
            PutError::System(error) => Self::For(WriteError::System(error)),
        }
    }
}

struct Writing<'call> {
    root: &'call Root,
    containment: Containment,
    path: &'call WorkspacePath,
    content: &'call NewContent<'call>,
    cancelled: &'call dyn Fn() -> bool,
}

/// Where the file is to stand, once looked at.
enum Target {
    /// Nothing is there. The folders after the first `existing` names are missing.
    Absent { folder: Directory, existing: usize },
    /// A file is there, at the end of whatever links lead to it.
    File { folder: Directory, name: OsString, facts: system::FileFacts },
}

impl Writing<'_> {
    fn attempt(&self) -> Result<Written, Stop> {
        let target = self.look()?;
        if (self.cancelled)() {
            return Err(WriteError::Cancelled.into());
        }
        match target {
            Target::Absent { .. } if self.content.expected.is_some() => {
                Err(WriteError::Changed.into())
            }
            Target::Absent { folder, existing } => {
                self.create(folder, existing)?;
                Ok(Written::Created)
            }
            Target::File { .. } if !self.content.overwrite => Err(WriteError::Exists.into()),
            Target::File { folder, name, facts } => {
                system::replace(&folder, &name, &facts, self.content, self.cancelled)?;
                Ok(Written::Replaced)
            }
        }
    }

    /// Finds out what stands at the path, without touching anything.
    fn look(&self) -> Result<Target, Stop> {
        let depth = self.depth();
        let (folder, existing) = self.deepest_folder()?;
        let name = self.name(existing);
        match system::look(&folder, &name)? {
            Standing::Nothing => Ok(Target::Absent { folder, existing }),
            Standing::Link if existing == depth => self.look_behind_link(),
            // A link that its folder's opening called missing.
            Standing::Link => Err(WriteError::DanglingWay.into()),
            // Made meanwhile: a folder that was missing a moment ago.
            _ if existing < depth => Err(Stop::Again),
            Standing::File(facts) => Ok(Target::File { folder, name, facts }),
            Standing::Directory => Err(WriteError::IsDirectory.into()),
            Standing::Special => Err(self.not_replaceable().into()),
        }
    }

    /// The last name is a link: what counts is what it leads to, and only a file may be there.
    fn look_behind_link(&self) -> Result<Target, Stop> {
        let found = system::resolve_target(self.root, self.containment, self.path);
        let (folder, name) = match found {
            // A folder on the link's way is missing.
            Err(OpenError::NotFound | OpenError::NotFolder) => {
                return Err(self.not_replaceable().into());
            }
            found => found?,
        };
        match system::look(&folder, &name)? {
            Standing::File(facts) => Ok(Target::File { folder, name, facts }),
            Standing::Directory => Err(WriteError::IsDirectory.into()),
            Standing::Nothing | Standing::Special => Err(self.not_replaceable().into()),
            Standing::Link => Err(Stop::Again),
        }
    }

    /// Something is there that is neither a file nor a directory.
    fn not_replaceable(&self) -> WriteError {
        if self.content.overwrite { WriteError::NotRegularFile } else { WriteError::Exists }
    }

    /// The deepest folder on the way that exists, and how many names lead to it.
    fn deepest_folder(&self) -> Result<(Directory, usize), OpenError> {
        let mut existing = self.depth();
        loop {
            match system::open_folder(self.root, self.containment, &self.path.first(existing)) {
                Err(OpenError::NotFound) if existing > 0 => existing -= 1,
                opened => return Ok((opened?, existing)),
            }
        }
    }

    /// Creates the file, and the folders that it needs. If that fails the folders go again.
    fn create(&self, folder: Directory, existing: usize) -> Result<(), Stop> {
        let mut made = MadeFolders::default();
        let created = self.make_folders(folder, existing, &mut made).and_then(|folder| {
            let name = self.name(self.depth());
            Ok(system::create(&folder, &name, self.content, self.cancelled)?)
        });
        if created.is_err() {
            made.take_back();
        }
        created
    }

    fn make_folders(
        &self,
        folder: Directory,
        existing: usize,
        made: &mut MadeFolders,
    ) -> Result<Rc<Directory>, Stop> {
        let mut folder = Rc::new(folder);
        for depth in existing..self.depth() {
            let name = self.name(depth);
            if system::make_folder(&folder, &name).map_err(folder_error)? {
                made.0.push((Rc::clone(&folder), name));
                if self.content.durable {
                    system::sync_folder(&folder).map_err(folder_error)?;
                }
            }
            let path = self.path.first(depth + 1);
            let below = system::open_folder(self.root, self.containment, &path);
            folder = Rc::new(below.map_err(|error| match error {
                // Taken away between making and opening.
                OpenError::NotFound => Stop::Again,
                error => error.into(),
            })?);
        }
        Ok(folder)
    }

    /// How many folders lead to the file.
    fn depth(&self) -> usize {
        self.path.names().count() - 1
    }

    fn name(&self, index: usize) -> OsString {
        self.path.names().nth(index).unwrap_or_default().into()
    }
}

fn folder_error(error: io::Error) -> Stop {
    match error.kind() {
        // The folder that was to hold it is gone.
        io::ErrorKind::NotFound => Stop::Again,
        _ => WriteError::Folder(error).into(),
    }
}

/// The folders made for one file, outermost first, each with the folder that holds it.
#[derive(Default)]
struct MadeFolders(Vec<(Rc<Directory>, OsString)>);

impl MadeFolders {
    /// Removes them again, innermost first. One that somebody has put something into stays.
    fn take_back(self) {
        for (parent, name) in self.0.into_iter().rev() {
            if system::remove_folder(&parent, &name).is_err() {
                return;
            }
        }
    }
}
