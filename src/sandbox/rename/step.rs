//! The rename itself, and the checks right after it.

use std::ffi::{OsStr, OsString};
use std::ops::ControlFlow;

#[cfg(unix)]
use super::unix as over;
#[cfg(windows)]
use super::windows as over;
use crate::sandbox::attempts::{Attempt, AttemptError};
use crate::sandbox::entry::EntryKind;
use crate::sandbox::entry_error::EntryError;
use crate::sandbox::error::OpenError;
use crate::sandbox::place::Place;
use crate::sandbox::put::sweep;
use crate::sandbox::system::{self, Directory, Held, Named};
use crate::sandbox::temporary;

/// What stands at the new name.
pub(super) enum Standing {
    /// Nothing.
    Nothing,
    /// An entry, which is replaced.
    Replaced(Held),
    /// The moved entry itself, because the file system does not tell the two spellings apart.
    SameEntry,
}

impl Standing {
    /// The kind of the entry that is replaced.
    pub(super) fn replaced(&self) -> Option<EntryKind> {
        if let Self::Replaced(entry) = self { Some(entry.kind()) } else { None }
    }
}

/// A rename from one place to another.
pub(super) struct Rename<'call> {
    pub(super) source: &'call Place<'call>,
    pub(super) entry: &'call Held,
    pub(super) target: &'call Place<'call>,
    /// Whether only this very entry may be moved, and no other that another program puts in its place.
    pub(super) only_this_entry: bool,
    /// Checks the entries of a folder at its new place.
    pub(super) check_entries: &'call dyn Fn() -> Attempt<(), EntryError>,
    /// Asked whether the rename may stay, if given.
    pub(super) confirm: Option<&'call dyn Fn() -> bool>,
}

impl<'call> Rename<'call> {
    pub(super) fn run(&self, standing: Standing) -> Attempt<(), EntryError> {
        sweep(&self.source.folder);
        sweep(&self.target.folder);
        if !self.is_current() {
            return Err(AttemptError::Raced);
        }
        match standing {
            Standing::Nothing => {
                system::rename_to_free_name(self.entry, self.from(), self.to())
                    .map_err(|error| self.refusal(error))?;
                self.certify()?;
                self.check_entries_or(Self::take_back)?;
                self.confirm_or(Self::take_back)
            }
            Standing::Replaced(replaced) => {
                // The rename cannot be taken back.
                self.confirm_or(|_| Ok(()))?;
                self.replace(replaced)
            }
            Standing::SameEntry => {
                self.respell()?;
                self.check_entries_or(Self::respell_back)?;
                self.confirm_or(Self::respell_back)
            }
        }
    }

    fn replace(&self, replaced: Held) -> Attempt<(), EntryError> {
        let (from, to) = (self.from(), self.to());
        if self.only_this_entry {
            let is_current = || self.is_current();
            return over::rename_over_exactly(self.entry, replaced, from, to, &is_current);
        }
        // Not every Windows file system replaces a file that is open.
        drop(replaced);
        system::rename_over(self.entry, from, to)?;
        self.certify()
    }

    /// Checks the entries of the folder that was renamed, and undoes the rename if they may not stand there. Another call
    /// may have made one after the first check. One that makes it after this check finds that its path leads elsewhere, and
    /// takes it away again.
    fn check_entries_or(
        &self,
        undo: fn(&Self) -> Result<(), EntryError>,
    ) -> Attempt<(), EntryError> {
        match (self.check_entries)() {
            // Another program has moved the folder on.
            Ok(()) | Err(AttemptError::Raced) => Ok(()),
            Err(refusal) => {
                undo(self)?;
                Err(refusal)
            }
        }
    }

    /// Asks whether the rename may stay, and otherwise undoes it.
    fn confirm_or(&self, undo: fn(&Self) -> Result<(), EntryError>) -> Attempt<(), EntryError> {
        if self.confirm.is_none_or(|confirm| confirm()) {
            return Ok(());
        }
        undo(self)?;
        Err(EntryError::Cancelled.into())
    }

    /// Gives the entry its old name again, if it still stands at the new one.
    fn take_back(&self) -> Result<(), EntryError> {
        let (to, name) = self.to();
        if self.entry.is_at(to, name).unwrap_or(false)
            && system::rename_to_free_name(self.entry, self.to(), self.from()).is_ok()
        {
            return Ok(());
        }
        Err(EntryError::Kept(name.to_owned()))
    }

    fn respell_back(&self) -> Result<(), EntryError> {
        let back = Self { source: self.target, target: self.source, ..*self };
        back.respell().map_err(|_| EntryError::Kept(self.target.name.clone()))
    }

    fn from(&self) -> Named<'call> {
        (&self.source.folder, &self.source.name)
    }

    fn to(&self) -> Named<'call> {
        (&self.target.folder, &self.target.name)
    }

    fn is_current(&self) -> bool {
        self.source.is_current() && self.target.is_current()
    }

    fn refusal(&self, error: std::io::Error) -> AttemptError<EntryError> {
        if self.entry.kind() == EntryKind::Folder && system::is_into_itself(&error) {
            return EntryError::IntoItself.into();
        }
        error.into()
    }

    /// Checks that the right entry stands at the new place, and that both paths still lead to the folders
    /// in which the rename was made; otherwise takes the rename back.
    fn certify(&self) -> Attempt<(), EntryError> {
        let (to, name) = self.to();
        let only_this_entry = self.only_this_entry || self.confirm.is_some();
        let is_right = match system::hold(to, name) {
            // Another program has moved it on, or removed it.
            Err(OpenError::NotFound) => true,
            Err(_) => false,
            // An entry of its kind that was put in its place a moment before is moved as well.
            Ok(found) => {
                found.is_same(self.entry) || !only_this_entry && found.kind() == self.entry.kind()
            }
        };
        if is_right && self.is_current() {
            return Ok(());
        }
        match system::rename_to_free_name(self.entry, self.to(), self.from()) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(EntryError::Kept(name.to_owned()).into())
            }
            _ => Err(AttemptError::Raced),
        }
    }

    /// Changes the spelling of a name. Some systems take the two names for one, and rename nothing; then the
    /// entry gets a random name in between.
    fn respell(&self) -> Attempt<(), EntryError> {
        let (from, to) = (self.from(), self.to());
        system::rename_over(self.entry, from, to)?;
        if lists(to.0, to.1)? {
            return Ok(());
        }
        let between = OsString::from(temporary::name_to_keep());
        let between = (from.0, &*between);
        system::rename_to_free_name(self.entry, from, between)?;
        if let Err(error) = system::rename_to_free_name(self.entry, between, to) {
            return match system::rename_to_free_name(self.entry, between, from) {
                Ok(()) => Err(error.into()),
                Err(_) => Err(EntryError::Kept(between.1.to_owned()).into()),
            };
        }
        Ok(())
    }
}

/// Whether a folder lists an entry of just this name.
pub(super) fn lists(folder: &Directory, name: &OsStr) -> Result<bool, OpenError> {
    let mut is_listed = false;
    system::visit_entries(&mut folder.reopen_to_list()?, &mut |entry| {
        is_listed |= entry.name() == name;
        if is_listed { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    Ok(is_listed)
}

pub(super) fn is_same_folder(one: &Directory, other: &Directory) -> bool {
    matches!((system::folder_id(one), system::folder_id(other)), (Ok(one), Ok(other)) if one == other)
}
