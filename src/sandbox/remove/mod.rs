//! Removing an entry: a file, a link, or a folder with everything in it.
//!
//! An entry disappears in one step: a rename gives it a random name in its own folder, which no other program
//! knows. There the entry is checked again. If it is the wrong one, it is put back; otherwise it is removed.
//! If a process is killed in between, a later sweep removes the entry, except on Windows.
//!
//! Two entries keep their names: a file or link on Windows, which is removed by its handle, and a folder that
//! cannot be renamed, which is emptied in place.

use std::ffi::{OsStr, OsString};
use std::io;
use std::ops::ControlFlow;
use std::path::Path;

#[cfg(unix)]
use self::unix as files;
#[cfg(windows)]
use self::windows as files;
use super::attempts::{self, Attempt, AttemptError};
use super::callbacks::Callbacks;
use super::entry::{EntryKind, Found};
use super::entry_error::EntryError;
use super::error::{Obstacle, OpenError};
use super::folder_tree;
use super::judge::Protection;
use super::place::{self, Located, Place};
use super::put;
use super::put::content::WriteChecks;
use super::root::Sandbox;
use super::system::{self, Directory, Held, Named, RemovalRights};
use super::temporary::{self, Identity};
use crate::hash::Sha256Digest;
use crate::path::EntryPath;

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

/// The conditions of a removal.
#[derive(Debug, Clone, Copy, Default)]
pub struct RemoveOptions {
    /// Whether a folder that is not empty is removed.
    pub recursive: bool,
    /// If given, only a file whose bytes have this SHA-256 is removed.
    pub expected: Option<Sha256Digest>,
    /// If given, only an entry of this kind is removed.
    pub expected_kind: Option<EntryKind>,
    /// Whether the removal must have reached the disk.
    pub durable: bool,
    /// Whether everything is checked and nothing removed.
    pub dry_run: bool,
}

/// The result of a removal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RemovedEntry {
    /// A file, a link or a folder.
    pub kind: EntryKind,
    /// How many entries stood beneath a folder.
    pub entries: u64,
}

impl Sandbox {
    /// Removes the entry at a path. A link is removed itself, and never its target.
    ///
    /// `cancelled` is asked before the entry disappears; after that the result says what happened.
    /// `confirm` is asked when it has disappeared. A folder is still whole then, and may fail to be
    /// emptied afterwards. One that cannot disappear in one step has not yet disappeared.
    ///
    /// # Errors
    ///
    /// [`EntryError`]. Nothing has changed on disk, except with [`EntryError::Unfinished`],
    /// [`EntryError::Kept`], [`EntryError::Unsynced`] and `WriteError::Kept`. If `confirm` says no,
    /// [`EntryError::Cancelled`]: the entry has its name again. Or `Kept`, if another program has taken
    /// that name: the entry is kept beside.
    pub fn remove_entry(
        &self,
        path: &EntryPath,
        options: &RemoveOptions,
        callbacks: Callbacks<'_>,
    ) -> Result<RemovedEntry, EntryError> {
        if path.as_path().is_root() {
            return Err(EntryError::Root);
        }
        let removed = attempts::repeat(callbacks, |callbacks| {
            Removing { root: self, path, options, callbacks }.attempt()
        });
        let removed = removed.unwrap_or(Err(EntryError::Contended));
        removed.map_err(|error| if self.is_gone() { OpenError::RootGone.into() } else { error })
    }
}

impl Sandbox {
    /// Whether a folder stands at a path that the access rules let be changed. A link is none.
    #[must_use]
    pub fn is_folder_to_change(&self, path: &EntryPath) -> bool {
        let found = place::find(self, path.as_path(), path.judged_as(), EntryKind::File);
        matches!(found, Ok(Located::Complete(place)) if place.kind().ok() == Some(Some(EntryKind::Folder)))
    }
}

/// One call.
struct Removing<'call> {
    root: &'call Sandbox,
    path: &'call EntryPath,
    options: &'call RemoveOptions,
    callbacks: Callbacks<'call>,
}

impl Removing<'_> {
    fn attempt(&self) -> Attempt<RemovedEntry, EntryError> {
        let path = self.path.as_path();
        let judged = self.path.judged_as();
        let Located::Complete(place) = place::find(self.root, path, judged, EntryKind::File)?
        else {
            return Err(OpenError::NotFound.into());
        };
        let entry = system::hold(&place.folder, &place.name)?;
        let kind = entry.kind();
        place.check_rules(kind)?;
        let RemoveOptions { expected, expected_kind, .. } = self.options;
        check_kind(kind, path.must_be_directory(), *expected_kind, expected.is_some())?;
        check_obstacle(&place)?;
        if !self.options.dry_run {
            put::sweep(&place.folder);
        }
        let entries = match kind {
            EntryKind::Folder => self.remove_folder(&place, &entry)?,
            _ => self.remove_file_or_link(&place, &entry).map(|()| 0)?,
        };
        if self.options.durable && !self.options.dry_run {
            system::sync_folder(&place.folder).map_err(EntryError::Unsynced)?;
        }
        Ok(RemovedEntry { kind, entries })
    }

    fn remove_file_or_link(&self, place: &Place<'_>, entry: &Held) -> Attempt<(), EntryError> {
        let is_current = |_: &Directory| place.is_current();
        let checks = WriteChecks { callbacks: self.callbacks, is_current: &is_current };
        let expected = self.options.expected;
        let (folder, name) = (&place.folder, &place.name);
        let file = files::RemovalTarget::take(folder, name, entry, expected, checks)?;
        if (self.callbacks.cancelled)() {
            return Err(EntryError::Cancelled.into());
        }
        if !self.options.dry_run {
            file.remove()?;
        }
        Ok(())
    }

    fn remove_folder(&self, place: &Place<'_>, entry: &Held) -> Attempt<u64, EntryError> {
        // Also if only an empty folder is removed, as `NotEmpty` would count protected entries.
        let paths = place.judged_paths().collect();
        let at = (&*place.folder, &*place.name);
        check_nothing_protected(self.root, at, entry, paths, self.callbacks.cancelled)?;
        let folder = open_folder(&place.folder, &place.name, entry)?;
        let entries = if self.options.recursive {
            folder_tree::survey(folder, self.callbacks.cancelled)?
        } else {
            refuse_entries(folder)?
        };
        if (self.callbacks.cancelled)() {
            return Err(EntryError::Cancelled.into());
        }
        if !self.options.dry_run {
            self.remove_surveyed(place, entry)?;
        }
        Ok(entries)
    }

    fn remove_surveyed(&self, place: &Place<'_>, entry: &Held) -> Attempt<(), EntryError> {
        // Keeps its lock until the folder is removed.
        let lock_handle = open_folder(&place.folder, &place.name, entry)?;
        let hidden = match Hidden::of(place, entry, &lock_handle) {
            // overlayfs renames no folder of a lower layer.
            Err(AttemptError::Failed(EntryError::OtherDevice)) => {
                return self.remove_in_place(place, entry);
            }
            hidden => hidden?,
        };
        // Another call may have put a protected entry into it since its entries were judged. It is too late to call it
        // off.
        let (at, paths) = ((&*place.folder, &*hidden.name), place.judged_paths().collect());
        if let Err(refusal) = check_nothing_protected(self.root, at, entry, paths, &|| false) {
            hidden.put_back().map_err(EntryError::Kept)?;
            return Err(refusal);
        }
        if !self.callbacks.is_confirmed() {
            hidden.put_back().map_err(EntryError::Kept)?;
            return Err(EntryError::Cancelled.into());
        }
        let mut removed = 0;
        match self.remove_at(place, &hidden.name, entry, &mut removed) {
            Ok(()) => Ok(()),
            Err(error) if self.is_filled(&error) => {
                hidden.put_back().map_err(EntryError::Kept)?;
                Err(AttemptError::Raced)
            }
            Err(error) => Err(hidden.put_back_because(error, removed).into()),
        }
    }

    /// Removes a folder that cannot disappear in one step.
    fn remove_in_place(&self, place: &Place<'_>, entry: &Held) -> Attempt<(), EntryError> {
        if !self.callbacks.is_confirmed() {
            return Err(EntryError::Cancelled.into());
        }
        let mut removed = 0;
        match self.remove_at(place, &place.name, entry, &mut removed) {
            Err(error) if self.is_filled(&error) => Err(AttemptError::Raced),
            Err(error) => Err(unfinished(error, removed, None).into()),
            Ok(()) => Ok(()),
        }
    }

    /// Removes the folder at a name, with what it holds if that is wanted. `removed` counts the entries.
    fn remove_at(
        &self,
        place: &Place<'_>,
        name: &OsStr,
        entry: &Held,
        removed: &mut u64,
    ) -> Result<(), EntryError> {
        let parent = &place.folder;
        let protection = Protection::of(self.root, place.judged_paths().collect());
        if !self.options.recursive {
            return system::remove_name(parent, name, true).map_err(EntryError::System);
        }
        // A program that holds the folder open can add an entry after the last listing.
        for _ in 0..folder_tree::MAX_LISTINGS {
            let folder = match open_folder(parent, name, entry) {
                Ok(folder) => folder,
                Err(AttemptError::Raced) => return Err(EntryError::Contended),
                Err(AttemptError::Failed(error)) => return Err(error),
            };
            // It is too late to call it off.
            folder_tree::empty(folder, removed, protection.as_ref(), &|| false)?;
            match system::remove_name(parent, name, true) {
                Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => {}
                // Another removal had listed the folder by this name.
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
                gone => return gone.map_err(EntryError::System),
            }
        }
        Err(EntryError::Contended)
    }

    /// Whether another program has put something into a folder that was to be removed empty.
    fn is_filled(&self, error: &EntryError) -> bool {
        let is_not_empty = matches!(
            error,
            EntryError::System(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty
        );
        !self.options.recursive && is_not_empty
    }
}

/// Checks that the access rules protect nothing beneath the folder at a name, which has, or is to get, these
/// paths.
pub(super) fn check_nothing_protected(
    root: &Sandbox,
    (parent, name): Named<'_>,
    entry: &Held,
    paths: Vec<&Path>,
    cancelled: &dyn Fn() -> bool,
) -> Attempt<(), EntryError> {
    let Some(protection) = Protection::of(root, paths) else { return Ok(()) };
    let folder = open_folder(parent, name, entry)?;
    if folder_tree::holds_protected(folder, &protection, cancelled)? {
        return Err(OpenError::Denied.into());
    }
    Ok(())
}

/// The error of a removal that has removed so many entries.
fn unfinished(error: EntryError, removed: u64, kept: Option<OsString>) -> EntryError {
    if removed == 0 && kept.is_none() {
        return error;
    }
    EntryError::Unfinished { removed, because: Box::new(error), kept }
}

/// Checks that the system lets the entry at a place be moved or removed, as far as it tells beforehand.
pub(super) fn check_obstacle(place: &Place<'_>) -> Attempt<(), EntryError> {
    match RemovalRights::of(&place.folder)?.obstacle(&place.folder, &place.name)? {
        Some(obstacle) => Err(EntryError::from(obstacle).into()),
        None => Ok(()),
    }
}

/// Checks that an entry of this kind can be moved or removed, is of the expected kind, and can be compared where that is
/// asked for.
pub(super) fn check_kind(
    kind: EntryKind,
    must_be_directory: bool,
    expected_kind: Option<EntryKind>,
    is_compared: bool,
) -> Result<(), EntryError> {
    match kind {
        kind if expected_kind.is_some_and(|expected| expected != kind) => {
            Err(EntryError::OtherKind)
        }
        EntryKind::Special => Err(OpenError::SpecialFile.into()),
        EntryKind::File if must_be_directory => Err(OpenError::NotFolder.into()),
        EntryKind::Folder | EntryKind::Link if is_compared => Err(EntryError::NotComparable),
        _ => Ok(()),
    }
}

/// Opens the folder at a name to list it, if it is still the entry that was looked at.
fn open_folder(folder: &Directory, name: &OsStr, entry: &Held) -> Attempt<Directory, EntryError> {
    match system::open_directory_to_list(folder, name) {
        Ok(Found::Opened(folder)) if entry.is_folder(&folder) => Ok(folder),
        Ok(_) | Err(OpenError::NotFound | OpenError::NotFolder) => Err(AttemptError::Raced),
        Err(OpenError::PermissionDenied) => Err(EntryError::from(Obstacle::Unlistable).into()),
        Err(error) => Err(error.into()),
    }
}

/// The number of entries of a folder that must be empty: 0, or the error.
fn refuse_entries(mut folder: Directory) -> Result<u64, EntryError> {
    let mut entries = 0;
    system::visit_entries(&mut folder, &mut |_| {
        entries += 1;
        ControlFlow::Continue(())
    })?;
    if entries == 0 { Ok(0) } else { Err(EntryError::NotEmpty { entries }) }
}

/// A folder that stands at a random name, to be removed.
struct Hidden<'call> {
    place: &'call Place<'call>,
    entry: &'call Held,
    name: OsString,
}

impl<'call> Hidden<'call> {
    /// Renames the folder, which is also open as `folder`. From then on no path leads to it.
    fn of(
        place: &'call Place<'call>,
        entry: &'call Held,
        folder: &Directory,
    ) -> Attempt<Self, EntryError> {
        if !place.is_current() {
            return Err(AttemptError::Raced);
        }
        let identity = files::lock(folder, entry).unwrap_or(Identity::UNKNOWN);
        let name = OsString::from(temporary::new_name(identity, Identity::UNKNOWN));
        let (stands, hides) = ((&*place.folder, &*place.name), (&*place.folder, &*name));
        system::rename_to_free_name(entry, stands, hides)?;
        let hidden = Self { place, entry, name };
        let is_right = entry.is_at(&place.folder, &hidden.name).unwrap_or(false);
        if is_right && place.is_current() {
            return Ok(hidden);
        }
        hidden.put_back().map_err(EntryError::Kept)?;
        Err(AttemptError::Raced)
    }

    /// Gives the folder its name again, and the error with what was removed until then.
    fn put_back_because(&self, error: EntryError, removed: u64) -> EntryError {
        unfinished(error, removed, self.put_back().err())
    }

    /// Gives the folder its name again. If that fails, gives the folder a name that no sweep removes, and
    /// returns this name as the error. If that fails, too, returns the random name, which a sweep may remove.
    fn put_back(&self) -> Result<(), OsString> {
        let folder = &*self.place.folder;
        let rename = |name: &OsString| {
            system::rename_to_free_name(self.entry, (folder, &self.name), (folder, name))
        };
        if rename(&self.place.name).is_ok() {
            return Ok(());
        }
        let kept = OsString::from(temporary::name_to_keep());
        Err(if rename(&kept).is_ok() { kept } else { self.name.clone() })
    }
}

#[cfg(test)]
mod tests;
