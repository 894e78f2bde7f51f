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
}

impl<'call> Rename<'call> {
    pub(super) fn run(&self, standing: Standing) -> Attempt<(), EntryError> {
        sweep(&self.source.folder);
        sweep(&self.target.folder);
        if !self.is_current() {
            return Err(AttemptError::Raced);
        }
        let (from, to) = (self.from(), self.to());
        match standing {
            Standing::Nothing => {
                system::rename_to_free_name(self.entry, from, to)
                    .map_err(|error| self.refusal(error))?;
                self.confirm_or_take_back()
            }
            Standing::Replaced(replaced) if self.only_this_entry => {
                over::rename_over_exactly(self.entry, replaced, from, to, &|| self.is_current())
            }
            Standing::Replaced(replaced) => {
                // Not every Windows file system replaces a file that is open.
                drop(replaced);
                system::rename_over(self.entry, from, to)?;
                self.confirm_or_take_back()
            }
            Standing::SameEntry => self.respell(),
        }
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
    fn confirm_or_take_back(&self) -> Attempt<(), EntryError> {
        let (to, name) = self.to();
        let is_right = match system::hold(to, name) {
            // Another program has moved it on, or removed it.
            Err(OpenError::NotFound) => true,
            Err(_) => false,
            // An entry of its kind that was put in its place a moment before is moved as well.
            Ok(found) => {
                found.is_same(self.entry)
                    || !self.only_this_entry && found.kind() == self.entry.kind()
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
