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

/// Why a file was not written as it should have been. Nothing is half written, and but for
/// [`WriteError::Flawed`] nothing was written.
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
    /// What it holds cannot be compared.
    #[error("the file may not be read, and so cannot be compared with expectedHash")]
    Unreadable,
    /// The caller called it off.
    #[error("aborted")]
    Cancelled,
    /// The world changed faster than could be followed.
    #[error("other processes keep changing the folder; try again")]
    Contended,
    /// The system failed.
    #[error("the system refused to write: {}", describe(.0))]
    System(io::Error),
    /// The file was written all the same.
    #[error("the file was written, but {0}")]
    Flawed(Flaw),
}

/// What went wrong after a file was written, and could not be undone.
#[derive(Debug, thiserror::Error)]
pub enum Flaw {
    /// It is not certain to last.
    #[error("its folder could not be synced, so that a power failure may undo it: {}", describe(.0))]
    Unsynced(io::Error),
    /// It does not stand at the path.
    #[error("its folder was moved away meanwhile, and the file could not be taken back from there")]
    Moved,
    /// It should not have taken that file's place.
    #[error(
        "should have made way again for the file that it took the place of, and it is not certain \
         that it did; unless somebody has removed it, one of the two is kept beside under a name \
         that starts with .rf-"
    )]
    NotPutBack,
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

impl From<Flaw> for PutError {
    fn from(flaw: Flaw) -> Self {
        Self::Refused(WriteError::Flawed(flaw))
    }
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

/// A folder by its device, which systems number with and without a sign, and its number there.
pub(super) type FolderId = (i128, u64);

/// Whom a system asks while it puts bytes at a name.
#[derive(Clone, Copy)]
pub(super) struct Caller<'call> {
    /// Whether the call has been called off.
    pub(super) cancelled: &'call dyn Fn() -> bool,
    /// Whether the path still leads to the folder that is written into. It may have been moved since
    /// it was opened, out of the workspace too; then what was written there has to go again.
    pub(super) leads_to: &'call dyn Fn(&Directory) -> bool,
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
    File { folder: Directory, name: OsString, facts: system::FileFacts, is_linked: bool },
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
            Target::File { folder, name, facts, is_linked } => {
                let leads_to = |folder: &Directory| self.leads_to(folder, is_linked);
                let caller = Caller { cancelled: self.cancelled, leads_to: &leads_to };
                system::replace(&folder, &name, &facts, self.content, caller)?;
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
            Standing::File(facts) => Ok(Target::File { folder, name, facts, is_linked: false }),
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
            Standing::File(facts) => Ok(Target::File { folder, name, facts, is_linked: true }),
            Standing::Directory => Err(WriteError::IsDirectory.into()),
            Standing::Nothing | Standing::Special => Err(self.not_replaceable().into()),
            Standing::Link => Err(Stop::Again),
        }
    }

    /// Whether the path, or the link at its end, still leads to a folder.
    fn leads_to(&self, folder: &Directory, is_linked: bool) -> bool {
        let (root, containment) = (self.root, self.containment);
        let now = if is_linked {
            system::resolve_target(root, containment, self.path).map(|(folder, _)| folder)
        } else {
            system::open_folder(root, containment, &self.path.first(self.depth()))
        };
        let ids = (now.map(|now| system::folder_id(&now)), system::folder_id(folder));
        matches!(ids, (Ok(Ok(now)), Ok(then)) if now == then)
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
            let leads_to = |folder: &Directory| self.leads_to(folder, false);
            let caller = Caller { cancelled: self.cancelled, leads_to: &leads_to };
            Ok(system::create(&folder, &name, self.content, caller)?)
        });
        if created.is_err() {
            self.take_back(made);
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
            if let Some(id) = system::make_folder(&folder, &name).map_err(folder_error)? {
                made.push(MadeFolder { depth, id, parent: Some(Rc::clone(&folder)) });
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

    /// Removes folders that were made, innermost first. One that somebody has put something into, or
    /// has put in the place of ours, stays, and so do those around it.
    fn take_back(&self, made: MadeFolders) {
        for MadeFolder { depth, id, parent } in made.0.into_iter().rev() {
            let parent = parent.map_or_else(
                || {
                    system::open_folder(self.root, self.containment, &self.path.first(depth))
                        .map(Rc::new)
                },
                Ok,
            );
            let Ok(parent) = parent else { return };
            if system::remove_folder(&parent, &self.name(depth), id).is_err() {
                return;
            }
        }
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

/// A folder made for a file, under the name that stands at `depth` in the path.
struct MadeFolder {
    depth: usize,
    id: FolderId,
    /// The folder that holds it, unless its handle was let go.
    parent: Option<Rc<Directory>>,
}

/// The folders made for one file, outermost first.
#[derive(Default)]
struct MadeFolders(Vec<MadeFolder>);

/// How many handles are held to take folders back by: a path may have two thousand components, and
/// a process a thousand handles. The outermost folders are found again by the path.
const MAX_HANDLES: usize = 32;

impl MadeFolders {
    fn push(&mut self, folder: MadeFolder) {
        self.0.push(folder);
        if let Some(outer) = self.0.len().checked_sub(MAX_HANDLES + 1) {
            self.0[outer].parent = None;
        }
    }
}
