//! Moving an entry: a file, a link, or a folder with everything in it, by one rename.

use std::iter;
use std::path::{Path, PathBuf};

use self::step::{Rename, Standing, is_same_folder, lists};
use super::attempts::{self, Attempt, AttemptError};
use super::callbacks::Callbacks;
use super::entry::EntryKind;
use super::entry_error::EntryError;
use super::error::{Obstacle, OpenError};
use super::folders::MadeFolders;
use super::place::{self, Located, MissingFolders, Place};
use super::put;
use super::remove::{check_kind, check_nothing_protected, check_obstacle};
use super::root::Sandbox;
use super::system::{self, Directory, Held};
use super::temporary;
use crate::access::Access;
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
    /// If given, only an entry of this kind is moved.
    pub expected_kind: Option<EntryKind>,
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
    /// asked before the first change. `confirm` is asked after the rename, but before a rename that
    /// replaces an entry.
    ///
    /// # Errors
    ///
    /// [`MoveError`]. Nothing has changed on disk, except with [`EntryError::Kept`],
    /// [`EntryError::MovedAnother`] and [`EntryError::Unsynced`]. If `confirm` says no,
    /// [`EntryError::Cancelled`]: the entry has its old path again. Or [`EntryError::Kept`], if it still
    /// stands at its new path, or another program has moved it from there.
    pub fn move_entry(
        &self,
        from: &EntryPath,
        to: &EntryPath,
        options: &MoveOptions,
        callbacks: Callbacks<'_>,
    ) -> Result<MovedEntry, MoveError> {
        for (end, path) in [(MoveEnd::From, from), (MoveEnd::To, to)] {
            if path.as_path().is_root() {
                return Err(MoveError { end, error: EntryError::Root });
            }
        }
        // Both paths before the disk is looked at: an error at the old path must not come first.
        for (end, path) in [(MoveEnd::From, from), (MoveEnd::To, to)] {
            let judged = self.check_access(path.judged_as(), Access::Change);
            judged.map_err(|error| MoveError { end, error: error.into() })?;
        }
        let moved = attempts::repeat(callbacks, |callbacks| {
            Moving { root: self, from, to, options, callbacks }.attempt()
        });
        let contended = MoveError { end: MoveEnd::From, error: EntryError::Contended };
        moved.unwrap_or(Err(contended)).map_err(|error| {
            if self.is_gone() {
                return MoveError { error: OpenError::RootGone.into(), ..error };
            }
            error
        })
    }
}

impl Sandbox {
    /// A path in the folder of another, with a random name that no other program knows and no sweep removes.
    #[must_use]
    pub fn spare_path_beside(&self, path: &EntryPath) -> EntryPath {
        let folder = path.as_path().first(place::depth(path.as_path()));
        let separator = if folder.is_root() { "" } else { "/" };
        let spare = format!("{}{separator}{}", folder.as_str(), temporary::name_to_keep());
        // A path that is too long for the system is refused by the move.
        EntryPath::parse(&spare, |_| None)
            .map_or_else(|_| path.clone(), |spare| spare.standing_for(path))
    }
}

/// One call.
struct Moving<'call> {
    root: &'call Sandbox,
    from: &'call EntryPath,
    to: &'call EntryPath,
    options: &'call MoveOptions,
    callbacks: Callbacks<'call>,
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
        let new_paths = self.new_paths(&target);
        self.check_protected(&source, &new_paths)?;
        check_rights(&source, &target)?;
        // Keep other writers of this library from the files until the move is made.
        let _source = at(MoveEnd::From, self.reserve_source(&source))?;
        let standing = at(MoveEnd::To, self.find_standing(&source, &target))?;
        let _standing = at(MoveEnd::To, self.reserve_standing(&target, &standing))?;
        if (self.callbacks.cancelled)() {
            return Err(MoveError { end: MoveEnd::From, error: EntryError::Cancelled }.into());
        }
        let replaced = standing.replaced();
        let folders = match target {
            _ if self.options.dry_run => Vec::new(),
            Target::Place(place) => {
                self.rename(&source, &place, &new_paths, standing)?;
                Vec::new()
            }
            Target::FoldersMissing(missing) => {
                self.rename_with_folders(&source, missing, &new_paths)?
            }
        };
        Ok(MovedEntry { kind: source.entry.kind(), replaced, folders })
    }

    /// Finds the entry, and checks that it is of a kind that is moved.
    fn find_source(&self) -> Attempt<Source<'call>, EntryError> {
        let path = self.from.as_path();
        let judged = self.from.judged_as();
        let Located::Complete(place) = place::find(self.root, path, judged, EntryKind::File)?
        else {
            return Err(OpenError::NotFound.into());
        };
        let entry = system::hold(&place.folder, &place.name)?;
        place.check_rules(entry.kind())?;
        let MoveOptions { expected, expected_kind, .. } = self.options;
        check_kind(entry.kind(), path.must_be_directory(), *expected_kind, expected.is_some())?;
        Ok(Source { place, entry })
    }

    /// Finds the new place, which must not lie in the entry itself.
    fn find_target(&self, source: &Source<'_>) -> Attempt<Target<'call>, EntryError> {
        let path = self.to.as_path();
        let is_folder = source.is_folder();
        if is_folder && self.is_spelled_in_source() {
            return Err(EntryError::IntoItself.into());
        }
        let located = match place::find(self.root, path, self.to.judged_as(), source.entry.kind()) {
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

    /// Checks that the access rules protect nothing in a folder that is moved, at its old path or at its new one.
    fn check_protected(
        &self,
        source: &Source<'_>,
        new_paths: &[PathBuf],
    ) -> Attempt<(), MoveError> {
        if !source.is_folder() {
            return Ok(());
        }
        let Source { place, entry } = source;
        let check = |paths| {
            let at = (&*place.folder, &*place.name);
            check_nothing_protected(self.root, at, entry, paths, self.callbacks.cancelled)
        };
        at(MoveEnd::From, check(place.judged_paths().collect()))?;
        at(MoveEnd::To, check(new_paths.iter().map(PathBuf::as_path).collect()))
    }

    /// The paths of the new place for which the access rules hold.
    fn new_paths(&self, target: &Target<'_>) -> Vec<PathBuf> {
        match target {
            Target::Place(place) => place.judged_paths().map(Path::to_owned).collect(),
            Target::FoldersMissing(missing) => {
                let asked = PathBuf::from(self.to.judged_as().as_str());
                iter::once(asked).chain(missing.other_paths().iter().cloned()).collect()
            }
        }
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

    fn reserve_source(&self, source: &Source<'_>) -> Attempt<Option<put::Reserved>, EntryError> {
        let Source { place, entry } = source;
        let Some(expected) = self.options.expected else { return self.reserve(place, entry) };
        let compared =
            put::compare(&place.folder, &place.name, entry, expected, self.callbacks.cancelled)?;
        Ok(Some(compared))
    }

    fn reserve_standing(
        &self,
        target: &Target<'_>,
        standing: &Standing,
    ) -> Attempt<Option<put::Reserved>, EntryError> {
        match (target, standing) {
            (Target::Place(place), Standing::Replaced(entry)) => self.reserve(place, entry),
            _ => Ok(None),
        }
    }

    /// Waits for writers that are about to replace a file. Where names cannot be exchanged, a writer would not see
    /// that the file was moved or replaced after its last look, and would put its own one there.
    ///
    /// One of several changes does not wait, because a change around it may have locked the file.
    fn reserve(
        &self,
        place: &Place<'_>,
        entry: &Held,
    ) -> Attempt<Option<put::Reserved>, EntryError> {
        let is_one_of_several = self.callbacks.confirm.is_some();
        if self.options.dry_run || is_one_of_several || entry.kind() != EntryKind::File {
            return Ok(None);
        }
        Ok(put::reserve(&place.folder, &place.name, entry, self.callbacks.cancelled)?)
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
        new_paths: &[PathBuf],
    ) -> Attempt<Vec<String>, MoveError> {
        let mut folders = MadeFolders::none(self.to.as_path());
        let made = folders.make(self.root, missing, self.options.durable);
        let made = at(MoveEnd::To, made.map_err(AttemptError::from));
        match made.and_then(|place| self.rename(source, &place, new_paths, Standing::Nothing)) {
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
        new_paths: &[PathBuf],
        standing: Standing,
    ) -> Attempt<(), MoveError> {
        let Source { place, entry } = source;
        // Access rules have judged the entries of this folder, and of no other.
        let is_judged = self.root.rules().is_some() && source.is_folder();
        let MoveOptions { expected, expected_kind, .. } = self.options;
        let only_this_entry = expected.is_some() || expected_kind.is_some() || is_judged;
        let check_entries = || {
            if !is_judged {
                return Ok(());
            }
            let new_paths = new_paths.iter().map(PathBuf::as_path);
            let paths = place.judged_paths().chain(new_paths).collect();
            // It is too late to call it off.
            let at = (&*target.folder, &*target.name);
            check_nothing_protected(self.root, at, entry, paths, &|| false)
        };
        let rename = Rename {
            source: place,
            entry,
            target,
            only_this_entry,
            check_entries: &check_entries,
            confirm: self.callbacks.confirm,
        };
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
