//! Moving an entry: a file, a link, or a folder with everything in it, by one rename.

use self::step::{Rename, Standing, is_same_folder, lists};
use super::attempts::{self, Attempt, AttemptError};
use super::entry::EntryKind;
use super::entry_error::EntryError;
use super::error::{Obstacle, OpenError};
use super::folders::MadeFolders;
use super::place::{self, Located, MissingFolders, Place};
use super::put;
use super::remove::{check_kind, check_obstacle};
use super::root::Sandbox;
use super::system::{self, Directory, Held};
use crate::hash::Sha256Digest;
use crate::path::EntryPath;

mod step;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

/// The conditions of a move.
#[derive(Debug, Clone, Copy, Default)]
pub struct MoveOptions {
    /// Whether a file or link that stands at the new path may be replaced by a file or link.
    pub overwrite: bool,
    /// If given, only a file whose bytes have this SHA-256 is moved.
    pub expected: Option<Sha256Digest>,
    /// Whether the move, and the names of new folders, must have reached the disk.
    pub durable: bool,
    /// Whether everything is checked and nothing changed.
    pub dry_run: bool,
}

/// The result of a move.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MovedEntry {
    /// A file, a link or a folder.
    pub kind: EntryKind,
    /// The kind of the entry that was replaced.
    pub replaced: Option<EntryKind>,
    /// The folders that were made, outermost first. Each is relative to the root, with `/` between its
    /// names.
    pub folders: Vec<String>,
}

/// Why an entry was not moved.
#[derive(Debug, thiserror::Error)]
#[error("{error}")]
pub struct MoveError {
    /// The path that is at fault.
    pub end: MoveEnd,
    /// The error there.
    pub error: EntryError,
}

/// One of the two paths of a move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MoveEnd {
    /// The path that the entry had.
    From,
    /// The path that it was to get.
    To,
}

impl Sandbox {
    /// Moves the entry at one path to another. A link is moved itself, and its text stays.
    ///
    /// Folders on the way to the new path are made, and taken back if the move then fails. `cancelled` is
    /// asked before the first change.
    ///
    /// # Errors
    ///
    /// [`MoveError`]. Nothing has changed on disk, except with [`EntryError::Kept`],
    /// [`EntryError::MovedAnother`] and [`EntryError::Unsynced`].
    pub fn move_entry(
        &self,
        from: &EntryPath,
        to: &EntryPath,
        options: &MoveOptions,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<MovedEntry, MoveError> {
        for (end, path) in [(MoveEnd::From, from), (MoveEnd::To, to)] {
            if path.as_path().is_root() {
                return Err(MoveError { end, error: EntryError::Root });
            }
        }
        let moving = Moving { root: self, from, to, options, cancelled };
        let contended = MoveError { end: MoveEnd::From, error: EntryError::Contended };
        attempts::repeat(|| moving.attempt()).unwrap_or(Err(contended)).map_err(|error| {
            if self.is_gone() {
                return MoveError { error: OpenError::RootGone.into(), ..error };
            }
            error
        })
    }
}

/// One call.
struct Moving<'call> {
    root: &'call Sandbox,
    from: &'call EntryPath,
    to: &'call EntryPath,
    options: &'call MoveOptions,
    cancelled: &'call dyn Fn() -> bool,
}

/// The entry that is to be moved.
struct Source<'call> {
    place: Place<'call>,
    entry: Held,
}

impl Source<'_> {
    fn is_folder(&self) -> bool {
        self.entry.kind() == EntryKind::Folder
    }
}

/// The new place.
enum Target<'call> {
    /// All folders exist.
    Place(Place<'call>),
    /// Some folders are missing.
    FoldersMissing(MissingFolders),
}

impl Target<'_> {
    /// The deepest folder that exists.
    fn folder(&self) -> &Directory {
        match self {
            Self::Place(place) => &place.folder,
            Self::FoldersMissing(missing) => &missing.folder,
        }
    }
}

impl<'call> Moving<'call> {
    fn attempt(&self) -> Attempt<MovedEntry, MoveError> {
        let source = at(MoveEnd::From, self.find_source())?;
        let target = at(MoveEnd::To, self.find_target(&source))?;
        check_rights(&source, &target)?;
        // Keeps other writers of this library from the file until it is moved.
        let _compared = at(MoveEnd::From, self.compare(&source))?;
        let standing = at(MoveEnd::To, self.find_standing(&source, &target))?;
        if (self.cancelled)() {
            return Err(MoveError { end: MoveEnd::From, error: EntryError::Cancelled }.into());
        }
        let replaced = standing.replaced();
        let folders = match target {
            _ if self.options.dry_run => Vec::new(),
            Target::Place(place) => {
                self.rename(&source, &place, standing)?;
                Vec::new()
            }
            Target::FoldersMissing(missing) => self.rename_with_folders(&source, missing)?,
        };
        Ok(MovedEntry { kind: source.entry.kind(), replaced, folders })
    }

    /// Finds the entry, and checks that it is of a kind that is moved.
    fn find_source(&self) -> Attempt<Source<'call>, EntryError> {
        let path = self.from.as_path();
        let Located::Complete(place) = place::find(self.root, path)? else {
            return Err(OpenError::NotFound.into());
        };
        let entry = system::hold(&place.folder, &place.name)?;
        check_kind(entry.kind(), path.must_be_directory(), self.options.expected.is_some())?;
        Ok(Source { place, entry })
    }

    /// Finds the new place, which must not lie in the entry itself.
    fn find_target(&self, source: &Source<'_>) -> Attempt<Target<'call>, EntryError> {
        let path = self.to.as_path();
        let is_folder = source.is_folder();
        if is_folder && self.is_spelled_in_source() {
            return Err(EntryError::IntoItself.into());
        }
        let located = match place::find(self.root, path) {
            Err(OpenError::NotFolder) => Err(EntryError::FileInTheWay),
            located => located.map_err(EntryError::from),
        };
        let target = match located? {
            Located::Complete(place) => Target::Place(place),
            Located::FoldersMissing(missing) => match missing.kind_of_next(path)? {
                None => Target::FoldersMissing(missing),
                Some(EntryKind::Link) => return Err(EntryError::DanglingLink.into()),
                // Made meanwhile: a folder that was missing a moment ago.
                _ => return Err(AttemptError::Raced),
            },
        };
        if is_folder && self.lies_in_source(target.folder(), source) {
            return Err(EntryError::IntoItself.into());
        }
        Ok(target)
    }

    fn is_spelled_in_source(&self) -> bool {
        let beneath = self.to.as_path().as_str().strip_prefix(self.from.as_path().as_str());
        beneath.is_some_and(|beneath| beneath.starts_with('/'))
    }

    /// Whether a folder is the source or lies in it, by whatever links the new path leads there. Windows
    /// does not tell the folder around a folder; there the rename fails.
    fn lies_in_source(&self, folder: &Directory, source: &Source<'_>) -> bool {
        let root = system::folder_id(&self.root.directory).ok();
        let mut here = folder.reopen_to_write_in().ok();
        while let Some(folder) = here {
            if source.entry.is_folder(&folder) {
                return true;
            }
            let id = system::folder_id(&folder).ok();
            let above = system::open_parent(&folder).ok();
            // The root of the file system is its own parent.
            here = above.filter(|above| id != root && system::folder_id(above).ok() != id);
        }
        false
    }

    fn compare(&self, source: &Source<'_>) -> Attempt<Option<put::Compared>, EntryError> {
        let Some(expected) = self.options.expected else { return Ok(None) };
        let Source { place, entry, .. } = source;
        let compared = put::compare(&place.folder, &place.name, entry, expected, self.cancelled)?;
        Ok(Some(compared))
    }

    /// Finds what stands at the new place, and checks that it may be replaced.
    fn find_standing(
        &self,
        source: &Source<'_>,
        target: &Target<'_>,
    ) -> Attempt<Standing, EntryError> {
        let standing = match target {
            Target::FoldersMissing(_) => Standing::Nothing,
            Target::Place(place) => match system::hold(&place.folder, &place.name) {
                Err(OpenError::NotFound) => Standing::Nothing,
                held => self.check_standing(source, place, held?)?,
            },
        };
        if matches!(standing, Standing::Nothing) {
            self.check_final_slash(source)?;
        }
        if !system::is_same_mount(&source.place.folder, target.folder()) {
            return Err(EntryError::OtherDevice.into());
        }
        Ok(standing)
    }

    fn check_final_slash(&self, source: &Source<'_>) -> Result<(), EntryError> {
        let is_wrong = self.to.as_path().must_be_directory() && !source.is_folder();
        if is_wrong { Err(EntryError::NamesFolder) } else { Ok(()) }
    }

    fn check_standing(
        &self,
        source: &Source<'_>,
        place: &Place<'_>,
        standing: Held,
    ) -> Attempt<Standing, EntryError> {
        if standing.is_same(&source.entry) {
            let is_respelled = is_respelling(&source.place, place)?;
            return is_respelled.then_some(Standing::SameEntry).ok_or(EntryError::Same.into());
        }
        let exists = EntryError::Exists { standing: standing.kind(), moved: source.entry.kind() };
        match standing.kind() {
            EntryKind::Folder => return Err(exists.into()),
            _ => self.check_final_slash(source)?,
        }
        if !self.options.overwrite || source.is_folder() {
            return Err(exists.into());
        }
        if standing.kind() == EntryKind::Special {
            return Err(EntryError::NotReplaceable.into());
        }
        check_obstacle(place)?;
        if standing.kind() == EntryKind::File {
            put::check_replaceable(&place.folder, &place.name)?;
        }
        Ok(Standing::Replaced(standing))
    }

    /// Makes the folders that the new place needs, and moves the entry. If that fails, removes the folders
    /// again.
    fn rename_with_folders(
        &self,
        source: &Source<'_>,
        missing: MissingFolders,
    ) -> Attempt<Vec<String>, MoveError> {
        let mut folders = MadeFolders::none(self.to.as_path());
        let made = folders.make(self.root, missing, self.options.durable);
        let made = at(MoveEnd::To, made.map_err(AttemptError::from));
        match made.and_then(|place| self.rename(source, &place, Standing::Nothing)) {
            Ok(()) => Ok(folders.paths()),
            Err(error) => {
                folders.take_back();
                Err(error)
            }
        }
    }

    fn rename(
        &self,
        source: &Source<'_>,
        target: &Place<'_>,
        standing: Standing,
    ) -> Attempt<(), MoveError> {
        let Source { place, entry } = source;
        let only_this_entry = self.options.expected.is_some();
        let rename = Rename { source: place, entry, target, only_this_entry };
        at(MoveEnd::To, rename.run(standing))?;
        if self.options.durable {
            at(MoveEnd::To, sync(place, target))?;
        }
        Ok(())
    }
}

/// Checks that the system lets the entry be renamed, and that the process may change the new folder. A
/// folder that gets another parent must be writable itself, because its entry `..` changes.
fn check_rights(source: &Source<'_>, target: &Target<'_>) -> Attempt<(), MoveError> {
    at(MoveEnd::From, check_obstacle(&source.place))?;
    at(MoveEnd::To, put::check_folder(target.folder()).map_err(AttemptError::from))?;
    let stays_in_folder = matches!(target, Target::Place(place) if is_same_folder(&place.folder, &source.place.folder));
    if source.is_folder()
        && !stays_in_folder
        && !system::may_leave_its_parent(&source.place.folder, &source.place.name)
    {
        let error = Obstacle::FolderRights.into();
        return Err(MoveError { end: MoveEnd::From, error }.into());
    }
    Ok(())
}

fn sync(place: &Place<'_>, target: &Place<'_>) -> Attempt<(), EntryError> {
    system::sync_folder(&target.folder).map_err(EntryError::Unsynced)?;
    if !is_same_folder(&place.folder, &target.folder) {
        system::sync_folder(&place.folder).map_err(EntryError::Unsynced)?;
    }
    Ok(())
}

/// Whether two names of one entry differ only in their spelling: both are in one folder, and the folder does not
/// list the new one. If they are two hard links, the folder lists both.
fn is_respelling(place: &Place<'_>, other: &Place<'_>) -> Attempt<bool, EntryError> {
    if place.name == other.name || !is_same_folder(&place.folder, &other.folder) {
        return Ok(false);
    }
    Ok(!lists(&other.folder, &other.name)?)
}

/// The same, at one of the two paths.
fn at<T>(end: MoveEnd, attempt: Attempt<T, EntryError>) -> Attempt<T, MoveError> {
    attempt.map_err(|error| match error {
        AttemptError::Raced => AttemptError::Raced,
        AttemptError::Failed(error) => AttemptError::Failed(MoveError { end, error }),
    })
}

#[cfg(test)]
mod tests;
