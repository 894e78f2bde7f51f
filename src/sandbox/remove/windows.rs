//! Removing a file or a link from its folder, on Windows: by its handle, so that no other entry is removed
//! in its place.

use std::ffi::OsStr;
use std::io;

use crate::hash::Sha256Digest;
use crate::sandbox::entry::EntryKind;
use crate::sandbox::put::content::WriteChecks;
use crate::sandbox::put::error::{PutError, Stray};
use crate::sandbox::put::windows::{check_replaceable, compare, put_error};
use crate::sandbox::system::windows::sys;
use crate::sandbox::system::{Directory, Held};
use crate::sandbox::temporary::Identity;

/// A file or link that is to be removed, checked as far as that is possible without a change.
pub(super) struct RemovalTarget<'call> {
    folder: &'call Directory,
    entry: &'call Held,
    /// As long as the compared file is open, no other program can write to it.
    _compared: Option<std::fs::File>,
    checks: WriteChecks<'call>,
}

impl<'call> RemovalTarget<'call> {
    pub(super) fn take(
        folder: &'call Directory,
        name: &'call OsStr,
        entry: &'call Held,
        expected: Option<Sha256Digest>,
        checks: WriteChecks<'call>,
    ) -> Result<Self, PutError> {
        if entry.kind() == EntryKind::File {
            check_replaceable(folder, name)?;
        }
        let compared = match expected {
            Some(expected) => {
                Some(compare(folder, name, entry, expected, checks.callbacks.cancelled)?)
            }
            None => None,
        };
        Ok(Self { folder, entry, _compared: compared, checks })
    }

    pub(super) fn remove(self) -> Result<(), PutError> {
        if !(self.checks.is_current)(self.folder) {
            return Err(PutError::Raced);
        }
        if self.checks.callbacks.confirm.is_none() {
            return sys::delete(&self.entry.handle).map_err(put_error);
        }
        self.mark(true).map_err(put_error)?;
        match self.checks.confirm() {
            Ok(()) => {
                // So that it goes at once. If that fails, it goes when the handle is closed.
                let _ = sys::delete(&self.entry.handle);
                Ok(())
            }
            Err(error) if self.mark(false).is_ok() => Err(error),
            Err(error) => Err(error.with(Stray::Standing)),
        }
    }

    /// No other program can open an entry that is marked, and the system removes it if the process ends.
    fn mark(&self, doomed: bool) -> io::Result<()> {
        sys::mark_for_deletion(&self.entry.handle, doomed)
    }
}

/// A folder that is to be removed needs no lock: sweeps remove only files.
pub(super) fn lock(_folder: &Directory, _entry: &Held) -> Option<Identity> {
    None
}
