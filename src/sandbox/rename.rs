//! Moving an entry: a file, a link, or a folder with everything in it, by one rename.

use std::ffi::OsStr;
use std::ops::ControlFlow;

use super::attempts::{self, Attempt, AttemptError};
use super::entry::EntryKind;
use super::entry_error::{EntryError, Obstacle};
use super::error::OpenError;
use super::folders::MadeFolders;
use super::place::{self, Located, MissingFolders, Place};
use super::put;
use super::remove::check_kind;
use super::root::Sandbox;
use super::system::{self, Directory, Held, RemovalRights};
use crate::hash::Sha256Digest;
use crate::path::EntryPath;

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
    /// [`MoveError`]. Nothing has changed on disk, except with [`EntryError::Kept`] and
    /// [`EntryError::Unsynced`].
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
    kind: EntryKind,
    /// Keeps other writers of this library from the file until it is moved.
    _compared: Option<put::Compared>,
}

/// How the entry gets its new name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    /// Nothing stands there.
    Free,
    /// An entry of this kind is replaced.
    Over(EntryKind),
    /// The same entry stands there, because the file system does not tell the two spellings apart.
    Respelled,
}

impl<'call> Moving<'call> {
    fn attempt(&self) -> Attempt<MovedEntry, MoveError> {
        let source = at(MoveEnd::From, self.find_source())?;
        let target = at(MoveEnd::To, self.find_target(&source))?;
        if (self.cancelled)() {
            return Err(MoveError { end: MoveEnd::From, error: EntryError::Cancelled }.into());
        }
        match target {
            Target::Place(place, way) => {
                at(MoveEnd::To, check_folders(&source, &place.folder))?;
                self.rename(&source, &place, way)?;
                Ok(moved(&source, way, Vec::new()))
            }
            Target::FoldersMissing(missing) => {
                at(MoveEnd::To, check_folders(&source, &missing.folder))?;
                self.rename_with_folders(&source, missing)
            }
        }
    }

    /// Finds the entry, and checks that it may be moved.
    fn find_source(&self) -> Attempt<Source<'call>, EntryError> {
        let path = self.from.as_path();
        let Located::Complete(place) = place::find(self.root, path)? else {
            return Err(OpenError::NotFound.into());
        };
        let entry = system::hold(&place.folder, &place.name)?;
        let kind = entry.kind();
        check_kind(kind, path.must_be_directory(), self.options.expected.is_some())?;
        let rights = RemovalRights::of(&place.folder)?;
        if let Some(obstacle) = rights.obstacle(&place.folder, &place.name)? {
            return Err(EntryError::Refused { obstacle, path: String::new() }.into());
        }
        let compared = match self.options.expected {
            Some(expected) => {
                Some(put::compare(&place.folder, &place.name, expected, self.cancelled)?)
            }
            None => None,
        };
        Ok(Source { place, entry, kind, _compared: compared })
    }

    /// Finds the new place, and checks what stands there.
    fn find_target(&self, source: &Source<'_>) -> Attempt<Target<'call>, EntryError> {
        let path = self.to.as_path();
        let is_beneath = |names: &mut dyn Iterator<Item = &str>| {
            self.from.as_path().names().all(|name| names.next() == Some(name))
        };
        if source.kind == EntryKind::Folder
            && path.as_str() != self.from.as_path().as_str()
            && is_beneath(&mut path.names())
        {
            return Err(EntryError::IntoItself.into());
        }
        let located = match place::find(self.root, path) {
            Err(OpenError::NotFolder) => Err(EntryError::FileInTheWay),
            located => located.map_err(EntryError::from),
        };
        let target = match located? {
            Located::Complete(place) => {
                let way = self.way_to(source, &place)?;
                Target::Place(place, way)
            }
            Located::FoldersMissing(missing) => match missing.kind_of_next(path)? {
                None => Target::FoldersMissing(missing),
                Some(EntryKind::Link) => return Err(EntryError::DanglingLink.into()),
                // Made meanwhile: a folder that was missing a moment ago.
                _ => return Err(AttemptError::Raced),
            },
        };
        if path.must_be_directory() && source.kind != EntryKind::Folder {
            return Err(EntryError::NamesFolder.into());
        }
        Ok(target)
    }

    fn way_to(&self, source: &Source<'_>, place: &Place<'_>) -> Attempt<Way, EntryError> {
        let standing = match system::hold(&place.folder, &place.name) {
            Err(OpenError::NotFound) => return Ok(Way::Free),
            held => held?,
        };
        if standing.is_same(&source.entry) {
            if is_respelling(&source.place, place)? {
                return Ok(Way::Respelled);
            }
            return Err(EntryError::Same.into());
        }
        match standing.kind() {
            kind @ (EntryKind::File | EntryKind::Link)
                if self.options.overwrite && source.kind != EntryKind::Folder =>
            {
                if kind == EntryKind::File {
                    put::check_replaceable(&place.folder, &place.name)?;
                }
                Ok(Way::Over(kind))
            }
            EntryKind::Special if self.options.overwrite => Err(EntryError::NotReplaceable.into()),
            kind => Err(EntryError::Exists(kind).into()),
        }
    }

    /// Makes the folders that the new place needs, and moves the entry. If that fails, removes the folders
    /// again.
    fn rename_with_folders(
        &self,
        source: &Source<'_>,
        missing: MissingFolders,
    ) -> Attempt<MovedEntry, MoveError> {
        if self.options.dry_run {
            return Ok(moved(source, Way::Free, Vec::new()));
        }
        let mut folders = MadeFolders::none(self.to.as_path());
        let made = folders.make(self.root, missing, self.options.durable);
        let made = at(MoveEnd::To, made.map_err(AttemptError::from));
        match made.and_then(|place| self.rename(source, &place, Way::Free)) {
            Ok(()) => Ok(moved(source, Way::Free, folders.paths())),
            Err(error) => {
                folders.take_back();
                Err(error)
            }
        }
    }

    fn rename(&self, source: &Source<'_>, target: &Place<'_>, way: Way) -> Attempt<(), MoveError> {
        if self.options.dry_run {
            return Ok(());
        }
        let Source { place, entry, kind, .. } = source;
        if !place.is_current() || !target.is_current() {
            return Err(AttemptError::Raced);
        }
        let (from, to) = (named(place), named(target));
        let renamed = match way {
            Way::Free => system::rename_to_free_name(entry, from, to),
            Way::Over(_) | Way::Respelled => system::rename_over(entry, from, to),
        };
        let renamed = match renamed {
            Err(error) if *kind == EntryKind::Folder && system::is_into_itself(&error) => {
                Err(EntryError::IntoItself.into())
            }
            renamed => renamed.map_err(AttemptError::from),
        };
        at(MoveEnd::To, renamed)?;
        let is_right = entry.is_at(&target.folder, &target.name).unwrap_or(false);
        if way == Way::Free && !(is_right && place.is_current() && target.is_current()) {
            at(MoveEnd::From, put_back(entry, to, from))?;
            return Err(AttemptError::Raced);
        }
        at(MoveEnd::To, self.sync(place, target))
    }

    fn sync(&self, place: &Place<'_>, target: &Place<'_>) -> Attempt<(), EntryError> {
        if self.options.durable {
            system::sync_folder(&target.folder).map_err(EntryError::Unsynced)?;
            if !is_same_folder(&place.folder, &target.folder) {
                system::sync_folder(&place.folder).map_err(EntryError::Unsynced)?;
            }
        }
        Ok(())
    }
}

/// The new place.
enum Target<'call> {
    /// All folders exist.
    Place(Place<'call>, Way),
    /// Some folders are missing.
    FoldersMissing(MissingFolders),
}

fn moved(source: &Source<'_>, way: Way, folders: Vec<String>) -> MovedEntry {
    let replaced = if let Way::Over(kind) = way { Some(kind) } else { None };
    MovedEntry { kind: source.kind, replaced, folders }
}

fn named<'place>(place: &'place Place<'_>) -> system::Named<'place> {
    (&place.folder, &place.name)
}

/// Checks that the new folder lies on the same file system, and that the process may make entries in it.
fn check_folders(source: &Source<'_>, folder: &Directory) -> Attempt<(), EntryError> {
    let from = system::folder_id(&source.place.folder)?;
    let to = system::folder_id(folder)?;
    if from.0 != to.0 {
        return Err(EntryError::OtherDevice.into());
    }
    put::check_folder(folder)?;
    if source.kind == EntryKind::Folder
        && from != to
        && !system::may_leave_its_parent(&source.place.folder, &source.place.name)
    {
        let (obstacle, path) = (Obstacle::FolderRights, String::new());
        return Err(EntryError::Refused { obstacle, path }.into());
    }
    Ok(())
}

/// Whether two places are one entry of one folder that the file system finds under both names.
fn is_respelling(place: &Place<'_>, other: &Place<'_>) -> Attempt<bool, EntryError> {
    if place.name == other.name || !is_same_folder(&place.folder, &other.folder) {
        return Ok(false);
    }
    Ok(!lists(&other.folder, &other.name)?)
}

/// Whether a folder lists an entry of just this name. A file system that finds names without regard to
/// case lists an entry under one of them.
fn lists(folder: &Directory, name: &OsStr) -> Result<bool, OpenError> {
    let mut is_listed = false;
    system::visit_entries(&mut folder.reopen_to_list()?, &mut |entry| {
        is_listed |= entry.name() == name;
        if is_listed { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    Ok(is_listed)
}

fn is_same_folder(one: &Directory, other: &Directory) -> bool {
    matches!((system::folder_id(one), system::folder_id(other)), (Ok(one), Ok(other)) if one == other)
}

/// Takes a move back, because another program has put another entry at the old name or moved a folder away
/// in that very moment.
fn put_back(
    entry: &Held,
    to: system::Named<'_>,
    from: system::Named<'_>,
) -> Attempt<(), EntryError> {
    match system::rename_to_free_name(entry, to, from) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(_) => Err(EntryError::Kept(to.1.to_owned()).into()),
    }
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
