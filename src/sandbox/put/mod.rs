//! Creating and replacing files: the order of the steps, which is the same on every system.
//!
//! `unix/` and `windows/` have the operations on one folder and one name: creating a file exclusively, and
//! exchanging it for another. This file has the order of the steps:
//!
//! 1. Find the place, and look at what stands there ([`place`]).
//! 2. If nothing stands there, make the missing folders and create the file. If the file fails, take
//!    the folders back.
//! 3. If a file stands there and may be replaced, replace it.
//!
//! A step that finds the place changed since it was looked at ends the attempt, and a new attempt
//! begins with a new look. No decision rests on a check that may be out of date at the next call.

use self::content::{Before, Created, Expected, NewContent, Visibility, WriteChecks, Written};
use self::error::{PutError, WriteError};
#[cfg(unix)]
use self::unix as system;
#[cfg(windows)]
use self::windows as system;
use super::attempts::{self, Attempt, AttemptError};
use super::callbacks::Callbacks;
use super::entry::EntryKind;
use super::error::OpenError;
use super::folders::{FolderError, MadeFolders};
use super::place::{self, Located, MissingFolders, Place};
use super::root::Sandbox;
use super::system::Directory;
use crate::path::{EntryPath, NewFilePath, WorkspacePath};

/// A file that other writers of this library keep away from as long as it is held.
#[cfg(unix)]
pub(super) type Reserved = unix::old::Old;
#[cfg(windows)]
pub(super) type Reserved = std::fs::File;

pub(super) use self::system::{check_folder, check_replaceable, compare, reserve, sweep};

pub(super) mod content;
pub(super) mod error;
#[cfg(unix)]
pub(super) mod unix;
#[cfg(windows)]
pub(super) mod windows;

impl Sandbox {
    /// Puts content at a path: in full or not at all.
    ///
    /// A new file appears complete, and never in place of another; of racing creators one wins.
    /// Folders on the way are made, and taken back if the file then fails. A file that is replaced
    /// is the old one or the new one to every reader. Its permission bits are kept, its owner and
    /// extended attributes as far as the process may, and a link that leads to it stays a link.
    /// Other hard links to it keep the old content.
    ///
    /// `cancelled` is asked before the first change, and a last time before the file becomes visible.
    ///
    /// # Errors
    ///
    /// [`WriteError`]. Nothing has changed on disk, except with [`WriteError::Flawed`] and
    /// [`WriteError::Kept`].
    pub fn write_file(
        &self,
        path: &NewFilePath,
        content: &NewContent<'_>,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<Written, WriteError> {
        self.write(path.as_path(), content, Callbacks::without_confirm(cancelled))
    }

    /// [`Sandbox::write_file`] of a file that stands there: `content` says what is expected of it.
    ///
    /// To change only whether the file may be executed, replace it by its own bytes.
    ///
    /// # Errors
    ///
    /// As [`Sandbox::write_file`]. If `confirm` says no, [`WriteError::Cancelled`]: the file that stood
    /// there stands there again, or the one by which another program has replaced the new one. Or
    /// [`WriteError::Kept`], if not all could be taken back.
    pub fn replace_file(
        &self,
        path: &EntryPath,
        content: &NewContent<'_>,
        callbacks: Callbacks<'_>,
    ) -> Result<Written, WriteError> {
        self.write(path.as_path(), content, callbacks)
    }

    /// [`Sandbox::write_file`] of a new file: nothing is ever replaced, whatever `content` says. With
    /// `confirm`, nothing is created that could not be taken back.
    ///
    /// # Errors
    ///
    /// As [`Sandbox::write_file`]. If `confirm` says no, [`WriteError::Cancelled`]: the file and the
    /// folders that were made for it are gone again. Or [`WriteError::Kept`], if not all could be taken
    /// back. A path that ends in `/`, and that of the root, is [`WriteError::IsDirectory`].
    pub fn create_new_file(
        &self,
        path: &EntryPath,
        content: &NewContent<'_>,
        callbacks: Callbacks<'_>,
    ) -> Result<Written, WriteError> {
        refuse_folder(path)?;
        let content = NewContent { overwrite: false, expected: None, ..*content };
        self.write(path.as_path(), &content, callbacks)
    }

    /// Checks that the process may create a file at a path. Changes nothing.
    ///
    /// # Errors
    ///
    /// The [`WriteError`] with which [`Sandbox::create_new_file`] would end before it begins, if it had
    /// something to `confirm`.
    pub fn check_creatable(&self, path: &EntryPath) -> Result<(), WriteError> {
        refuse_folder(path)?;
        self.check(path, false, |target| match target {
            Target::File(_) => Err(WriteError::Exists.into()),
            free => check_takes_back(&free),
        })
    }

    /// Checks that the process may replace the file at a path. Changes nothing.
    ///
    /// # Errors
    ///
    /// The [`WriteError`] with which [`Sandbox::replace_file`] would end before it begins.
    pub fn check_replaceable(&self, path: &EntryPath) -> Result<(), WriteError> {
        self.check(path, true, |target| match target {
            Target::File(place) => Ok(system::check_replaceable(&place.folder, &place.name)?),
            Target::Free(_) | Target::FoldersMissing(_) => Err(OpenError::NotFound.into()),
        })
    }

    fn check(
        &self,
        path: &EntryPath,
        overwrite: bool,
        check: fn(Target<'_>) -> Attempt<(), WriteError>,
    ) -> Result<(), WriteError> {
        let content =
            NewContent { bytes: b"", overwrite, expected: None, durable: false, executable: None };
        let callbacks = Callbacks::without_confirm(&|| false);
        let writing = Writing { root: self, path: path.as_path(), content: &content, callbacks };
        match writing.look().and_then(check) {
            // What has changed meanwhile is seen once more by the write.
            Ok(()) | Err(AttemptError::Raced) => Ok(()),
            Err(AttemptError::Failed(error)) => Err(error),
        }
    }

    fn write(
        &self,
        path: &WorkspacePath,
        content: &NewContent<'_>,
        callbacks: Callbacks<'_>,
    ) -> Result<Written, WriteError> {
        let written = attempts::repeat(callbacks, |callbacks| {
            Writing { root: self, path, content, callbacks }.attempt()
        });
        written.unwrap_or(Err(WriteError::Contended)).map_err(|error| {
            if self.is_gone() { WriteError::Open(OpenError::RootGone) } else { error }
        })
    }
}

/// A path that names a folder by its spelling.
fn refuse_folder(path: &EntryPath) -> Result<(), WriteError> {
    let path = path.as_path();
    if path.is_root() || path.must_be_directory() {
        return Err(WriteError::IsDirectory);
    }
    Ok(())
}

/// Checks that the process may take back what it makes in the deepest folder that exists.
fn check_takes_back(target: &Target<'_>) -> Attempt<(), WriteError> {
    match target {
        Target::Free(place) | Target::File(place) => Ok(system::check_folder(&place.folder)?),
        Target::FoldersMissing(missing) => {
            system::check_folder(&missing.folder).map_err(|error| match error {
                PutError::System(error) => WriteError::Folder(error).into(),
                error => error.into(),
            })
        }
    }
}

/// One call.
struct Writing<'call> {
    root: &'call Sandbox,
    path: &'call WorkspacePath,
    content: &'call NewContent<'call>,
    callbacks: Callbacks<'call>,
}

/// The result of [`Writing::look`].
enum Target<'call> {
    /// All folders exist, and nothing stands at the place.
    Free(Place<'call>),
    /// Some folders are missing.
    FoldersMissing(MissingFolders),
    /// A file stands at the place.
    File(Place<'call>),
}

impl<'call> Writing<'call> {
    fn attempt(&self) -> Attempt<Written, WriteError> {
        let target = self.look()?;
        if (self.callbacks.cancelled)() {
            return Err(WriteError::Cancelled.into());
        }
        match target {
            Target::File(_) if !self.content.overwrite => Err(WriteError::Exists.into()),
            Target::File(place) => self.replace(&place),
            _ if self.content.expected.is_some() => Err(WriteError::Changed.into()),
            free => {
                if self.callbacks.confirm.is_some() {
                    check_takes_back(&free)?;
                }
                self.create_at(free)
            }
        }
    }

    fn create_at(&self, target: Target<'_>) -> Attempt<Written, WriteError> {
        match target {
            Target::Free(place) | Target::File(place) => {
                system::sweep(&place.folder);
                Ok(created(self.create(&place)?, Vec::new()))
            }
            Target::FoldersMissing(missing) => self.create_with_folders(missing),
        }
    }

    /// Finds out what stands at the path. Changes nothing.
    fn look(&self) -> Attempt<Target<'call>, WriteError> {
        match place::find(self.root, self.path, self.path, EntryKind::File)? {
            Located::Complete(place) => match place.kind()? {
                None => Ok(Target::Free(place)),
                Some(EntryKind::File) => Ok(Target::File(place)),
                Some(EntryKind::Link) => self.look_behind_link(),
                Some(EntryKind::Folder) => {
                    place.check_rules(EntryKind::Folder)?;
                    Err(WriteError::IsDirectory.into())
                }
                Some(EntryKind::Special) => Err(self.not_replaceable().into()),
            },
            Located::FoldersMissing(missing) => match missing.kind_of_next(self.path)? {
                None => Ok(Target::FoldersMissing(missing)),
                // A link whose target is missing.
                Some(EntryKind::Link) => Err(WriteError::DanglingLink.into()),
                // Made meanwhile: a folder that was missing a moment ago.
                _ => Err(AttemptError::Raced),
            },
        }
    }

    /// The last name is a link. Only a file may stand at its end.
    fn look_behind_link(&self) -> Attempt<Target<'call>, WriteError> {
        let place = match Place::behind_link(self.root, self.path) {
            // A folder on the link's way is missing.
            Err(OpenError::NotFound | OpenError::NotFolder) => {
                return Err(self.not_replaceable().into());
            }
            found => found?,
        };
        match place.kind()? {
            Some(EntryKind::File) => Ok(Target::File(place)),
            Some(EntryKind::Folder) => Err(WriteError::IsDirectory.into()),
            None | Some(EntryKind::Special) => Err(self.not_replaceable().into()),
            Some(EntryKind::Link) => Err(AttemptError::Raced),
        }
    }

    /// The error for an entry that is neither a file nor a directory.
    fn not_replaceable(&self) -> WriteError {
        if self.content.overwrite { WriteError::NotRegularFile } else { WriteError::Exists }
    }

    /// Creates the file and the folders that it needs. If that fails, removes the folders again.
    fn create_with_folders(&self, missing: MissingFolders) -> Attempt<Written, WriteError> {
        let mut folders = MadeFolders::none(self.path);
        let place =
            folders.make(self.root, missing, self.content.durable).map_err(AttemptError::from);
        match place.and_then(|place| self.create(&place)) {
            Ok(file) => Ok(created(file, folders.paths())),
            Err(stop) => {
                folders.take_back();
                Err(stop)
            }
        }
    }

    fn create(&self, place: &Place<'_>) -> Attempt<Created, WriteError> {
        let is_current = |_: &Directory| place.is_current();
        let checks = WriteChecks { callbacks: self.callbacks, is_current: &is_current };
        Ok(system::create(&place.folder, &place.name, self.content, checks)?)
    }

    fn replace(&self, place: &Place<'_>) -> Attempt<Written, WriteError> {
        let is_current = |_: &Directory| place.is_current();
        let checks = WriteChecks { callbacks: self.callbacks, is_current: &is_current };
        let replaced = system::replace(&place.folder, &place.name, self.content, checks)?;
        let sha256 = match self.content.expected {
            Some(Expected::Sha256(digest)) => Some(digest),
            _ => None,
        };
        Ok(Written {
            before: Before::File { facts: replaced.before, sha256 },
            after: replaced.after,
            through_link: place.is_behind_link,
            folders: Vec::new(),
            visibility: Visibility::Atomic,
        })
    }
}

fn created(Created { after, visibility }: Created, folders: Vec<String>) -> Written {
    Written { before: Before::Nothing, after, through_link: false, folders, visibility }
}

impl From<OpenError> for AttemptError<WriteError> {
    fn from(error: OpenError) -> Self {
        Self::Failed(match error {
            OpenError::NotFolder => WriteError::FileInTheWay,
            OpenError::NameTooLong => WriteError::NameTooLong,
            error => WriteError::Open(error),
        })
    }
}

impl From<FolderError> for AttemptError<WriteError> {
    fn from(error: FolderError) -> Self {
        match error {
            FolderError::Raced => Self::Raced,
            FolderError::Refused(error) => Self::Failed(WriteError::Folder(error)),
            FolderError::Open(error) => error.into(),
        }
    }
}

impl From<PutError> for AttemptError<WriteError> {
    fn from(error: PutError) -> Self {
        match error {
            PutError::Raced => Self::Raced,
            PutError::Changed => Self::Failed(WriteError::Changed),
            PutError::Cancelled => Self::Failed(WriteError::Cancelled),
            PutError::Refused(error) => Self::Failed(error),
            PutError::System(error) => Self::Failed(WriteError::System(error)),
        }
    }
}

#[cfg(test)]
mod tests;
