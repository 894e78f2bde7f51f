//! Everything that stands beneath a folder: counting it, finding out whether it can be removed, and
//! removing it.
//!
//! Each folder is opened beneath the handle of the one before, and no link is followed. So whatever
//! another process exchanges meanwhile, only entries that stand beneath the folder are counted or removed.

use std::ffi::{OsStr, OsString};
use std::io;
use std::ops::ControlFlow;
use std::path::PathBuf;

use super::entry::{EntryKind, FolderId, Found};
use super::entry_error::EntryError;
use super::error::{Obstacle, OpenError};
use super::judge::Protection;
use super::system::{self, Directory, RemovalRights};

/// How often a folder is listed anew because other programs add entries while it is emptied.
pub(super) const MAX_LISTINGS: u32 = 16;

/// After at most this many entries `cancelled` is asked. They take some milliseconds.
const BETWEEN_QUESTIONS: usize = 1024;

/// Counts the entries beneath a folder that is open to be listed, and checks that the system lets each of
/// them be removed. `cancelled` is asked in each folder, and at least every 1,024 entries.
///
/// # Errors
///
/// [`EntryError::Refused`] for the first entry that cannot be removed, [`EntryError::Cancelled`], or the error
/// of opening a folder.
pub(super) fn survey(folder: Directory, cancelled: &dyn Fn() -> bool) -> Result<u64, EntryError> {
    let mut descent = Descent::into(folder)?;
    descent.list(cancelled)?;
    let mut entries = descent.here.pending.len() as u64;
    let mut rights = descent.rights()?;
    loop {
        let Some((name, kind)) = descent.next(cancelled)? else {
            if descent.leave()?.is_none() {
                return Ok(entries);
            }
            rights = descent.rights()?;
            continue;
        };
        match rights.obstacle(&descent.folder, &name) {
            Ok(None) => {}
            Ok(Some(obstacle)) => return Err(descent.refused(obstacle, &name)),
            // Another program has removed it.
            Err(OpenError::NotFound) => continue,
            Err(error) => return Err(error.into()),
        }
        if kind == EntryKind::Folder && descent.enter(name, cancelled)? {
            entries += descent.here.pending.len() as u64;
            rights = descent.rights()?;
        }
    }
}

/// Whether the access rules protect an entry beneath a folder that is open to be listed. `cancelled` is asked in
/// each folder, and at least every 1,024 entries.
///
/// # Errors
///
/// [`EntryError::Refused`] for a folder that may not be listed, so that its entries are not known,
/// [`EntryError::Cancelled`], or the error of opening a folder.
pub(super) fn holds_protected(
    folder: Directory,
    protection: &Protection<'_>,
    cancelled: &dyn Fn() -> bool,
) -> Result<bool, EntryError> {
    let mut descent = Descent::into(folder)?;
    descent.list(cancelled)?;
    loop {
        let Some((name, kind)) = descent.next(cancelled)? else {
            if descent.leave()?.is_none() {
                return Ok(false);
            }
            continue;
        };
        if protection.refuses(&descent.path_of(&name), kind) {
            return Ok(true);
        }
        if kind == EntryKind::Folder {
            descent.enter(name, cancelled)?;
        }
    }
}

/// Removes everything beneath a folder that is open to be listed. `removed` counts the entries. `cancelled` is
/// asked in each folder, and at least every 1,024 entries. What `protection` refuses is not removed, also if another
/// program has put it there since.
///
/// # Errors
///
/// The error that ended the removal. The remaining entries can be anywhere beneath the folder.
pub(super) fn empty(
    folder: Directory,
    removed: &mut u64,
    protection: Option<&Protection<'_>>,
    cancelled: &dyn Fn() -> bool,
) -> Result<(), EntryError> {
    let mut descent = Descent::into(folder)?;
    descent.list(cancelled)?;
    loop {
        if let Some((name, kind)) = descent.next(cancelled)? {
            if protection.is_some_and(|rules| rules.refuses(&descent.path_of(&name), kind)) {
                return Err(OpenError::Denied.into());
            }
            if kind != EntryKind::Folder || !descent.enter(name.clone(), cancelled)? {
                *removed += descent.remove(&name, kind)?;
            }
        } else if descent.here.listings < MAX_LISTINGS && descent.list_again(cancelled)? {
            // Other programs have added entries.
        } else {
            let Some(name) = descent.leave()? else { return Ok(()) };
            *removed += descent.remove(&name, EntryKind::Folder)?;
        }
    }
}

/// A way down from a folder, hand over hand.
struct Descent {
    /// The folder that is looked at now.
    folder: Directory,
    here: Level,
    /// The folders that lead here, outermost first. `None` for a handle that was let go, because a process
    /// may have only so many.
    above: Vec<(Level, Option<Directory>)>,
}

/// A folder on the way.
struct Level {
    /// Its name in the folder above; empty for the first.
    name: OsString,
    id: FolderId,
    /// The entries that are still to be looked at.
    pending: Vec<(OsString, EntryKind)>,
    /// How often the folder has been listed.
    listings: u32,
}

impl Level {
    fn of(folder: &Directory, name: OsString) -> Result<Self, OpenError> {
        let id = system::folder_id(folder).map_err(OpenError::System)?;
        Ok(Self { name, id, pending: Vec::new(), listings: 0 })
    }
}

impl Descent {
    fn into(folder: Directory) -> Result<Self, OpenError> {
        Ok(Self { here: Level::of(&folder, OsString::new())?, folder, above: Vec::new() })
    }

    /// Notes the entries of this folder.
    fn list(&mut self, cancelled: &dyn Fn() -> bool) -> Result<(), EntryError> {
        let Level { pending, listings, .. } = &mut self.here;
        *listings += 1;
        let mut is_cancelled = false;
        let listed = system::visit_entries(&mut self.folder, &mut |entry| {
            pending.push((entry.name().to_owned(), entry.kind()));
            is_cancelled = pending.len() % BETWEEN_QUESTIONS == 0 && cancelled();
            if is_cancelled { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        match listed {
            // Another program has removed the folder, which was empty then.
            Ok(()) | Err(OpenError::NotFound) => {}
            Err(error) => return Err(error.into()),
        }
        if is_cancelled { Err(EntryError::Cancelled) } else { Ok(()) }
    }

    /// The next entry of this folder; `None` if all were looked at.
    fn next(
        &mut self,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<Option<(OsString, EntryKind)>, EntryError> {
        if self.here.pending.len().is_multiple_of(BETWEEN_QUESTIONS) && cancelled() {
            return Err(EntryError::Cancelled);
        }
        Ok(self.here.pending.pop())
    }

    /// Whether the folder, from which everything has been removed, has entries again. Notes them.
    fn list_again(&mut self, cancelled: &dyn Fn() -> bool) -> Result<bool, EntryError> {
        self.list(cancelled)?;
        Ok(!self.here.pending.is_empty())
    }

    fn rights(&self) -> Result<RemovalRights, OpenError> {
        RemovalRights::of(&self.folder).map_err(OpenError::System)
    }

    /// Enters a folder that stands in this one, and lists it; `false` if it is no folder any more.
    fn enter(&mut self, name: OsString, cancelled: &dyn Fn() -> bool) -> Result<bool, EntryError> {
        let folder = match system::open_directory_to_list(&self.folder, &name) {
            Ok(Found::Opened(folder)) => folder,
            Ok(Found::Link(_)) | Err(OpenError::NotFound | OpenError::NotFolder) => {
                return Ok(false);
            }
            Err(OpenError::PermissionDenied) => {
                return Err(self.refused(Obstacle::Unlistable, &name));
            }
            Err(error) => return Err(error.into()),
        };
        let outer = std::mem::replace(&mut self.here, Level::of(&folder, name)?);
        self.above.push((outer, Some(std::mem::replace(&mut self.folder, folder))));
        if let Some((_, far)) = self.above.iter_mut().rev().nth(system::MAX_FOLDERS_HELD) {
            *far = None;
        }
        self.list(cancelled)?;
        Ok(true)
    }

    /// Goes back to the folder above. Gives the name of the folder that was left; `None` at the first one.
    fn leave(&mut self) -> Result<Option<OsString>, EntryError> {
        let Some((outer, folder)) = self.above.pop() else { return Ok(None) };
        self.folder = match folder {
            Some(folder) => folder,
            None => self.open_above(outer.id)?,
        };
        Ok(Some(std::mem::replace(&mut self.here, outer).name))
    }

    /// Opens the folder above anew. Another program may have moved this one elsewhere meanwhile, also out
    /// of the workspace, so the folder above is recognised by its number.
    fn open_above(&self, id: FolderId) -> Result<Directory, EntryError> {
        let parent = system::open_parent(&self.folder).map_err(EntryError::System)?;
        if system::folder_id(&parent).map_err(EntryError::System)? != id {
            return Err(EntryError::Contended);
        }
        Ok(parent.reopen_to_list()?)
    }

    /// Removes an entry of this folder, and gives how many were removed. If another program has put an
    /// entry of another kind there, or filled the folder again, that is seen by the next listing.
    fn remove(&self, name: &OsStr, kind: EntryKind) -> Result<u64, EntryError> {
        let error = match system::remove_name(&self.folder, name, kind == EntryKind::Folder) {
            Ok(()) => return Ok(1),
            // Another program has removed it, and may have made it anew since.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
            Err(error) => error,
        };
        let is_filled = error.kind() == io::ErrorKind::DirectoryNotEmpty;
        match system::kind_at(&self.folder, name)? {
            None => Ok(0),
            Some(now) if (now != kind || is_filled) && self.here.listings < MAX_LISTINGS => Ok(0),
            Some(_) if is_filled => Err(EntryError::Contended),
            Some(_) => Err(EntryError::System(error)),
        }
    }

    /// The error for an entry of this folder.
    fn refused(&self, obstacle: Obstacle, name: &OsStr) -> EntryError {
        let path = self.path_of(name);
        let names: Vec<_> = path.iter().map(OsStr::to_string_lossy).collect();
        EntryError::Refused { obstacle, path: names.join("/") }
    }

    /// The path of an entry of this folder, from the first folder on.
    fn path_of(&self, name: &OsStr) -> PathBuf {
        let folders = self.above.iter().map(|(outer, _)| &*outer.name).chain([&*self.here.name]);
        // The first folder has no name.
        folders.chain([name]).filter(|name| !name.is_empty()).collect()
    }
}
