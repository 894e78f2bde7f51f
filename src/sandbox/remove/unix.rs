//! Removing a file or a link from its folder, on Linux and macOS.

use std::cell::RefCell;
use std::ffi::{OsStr, OsString};

use rustix::fs::{FlockOperation, flock};

use crate::hash::Sha256Digest;
use crate::sandbox::entry::EntryKind;
use crate::sandbox::put::content::{Expected, WriteChecks};
use crate::sandbox::put::error::{PutError, Stray};
use crate::sandbox::put::unix::old::Old;
use crate::sandbox::put::unix::{check_folder, check_replaceable, keep, put_error};
use crate::sandbox::system::unix::Writers;
use crate::sandbox::system::unix::held::{Removal, remove};
use crate::sandbox::system::{Directory, Held};
use crate::sandbox::temporary::{self, Identity};

/// A file or link that is to be removed, checked as far as that is possible without a change.
pub(super) struct RemovalTarget<'call> {
    folder: &'call Directory,
    name: &'call OsStr,
    entry: &'call Held,
    /// The file, open and locked; `None` for a link.
    file: Option<Old>,
    expected: Option<Expected<'call>>,
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
        let expected = expected.map(Expected::Sha256);
        let file = if entry.kind() == EntryKind::File {
            check_replaceable(folder, name)?;
            let file = Old::take(folder, name, expected, checks.callbacks.cancelled)?;
            if file.held.id != entry.id {
                return Err(PutError::Raced);
            }
            file.check_expected(expected, checks.callbacks.cancelled)?;
            Some(file)
        } else {
            check_folder(folder)?;
            None
        };
        Ok(Self { folder, name, entry, file, expected, checks })
    }

    pub(super) fn remove(self) -> Result<(), PutError> {
        let fresh = OsString::from(temporary::new_name(self.identity(), Identity::UNKNOWN));
        // The lease lives until the file is removed.
        let lease = RefCell::new(None);
        let refusal = RefCell::new(None);
        let must_stay = || match self.check_hidden() {
            Ok(writers) => {
                *lease.borrow_mut() = writers;
                false
            }
            Err(error) => {
                *refusal.borrow_mut() = Some(error);
                true
            }
        };
        match remove(self.folder, self.name, self.entry.id, fresh, &must_stay) {
            Removal::Removed => Ok(()),
            Removal::Another if self.expected.is_some() => Err(PutError::Changed),
            Removal::Another => Err(PutError::Raced),
            Removal::Stayed => Err(refusal.take().unwrap_or(PutError::Raced)),
            Removal::Displaced(name) => {
                let because = refusal.take().unwrap_or(PutError::Raced);
                Err(because.with(Stray::Displaced(keep(self.folder, &name))))
            }
            Removal::Refused(error) => Err(put_error(error)),
        }
    }

    /// Checks, now that the entry has disappeared, that it may be removed.
    fn check_hidden(&self) -> Result<Option<Writers<'_>>, PutError> {
        if !(self.checks.is_current)(self.folder) {
            return Err(PutError::Raced);
        }
        let writers = match (&self.file, self.expected) {
            (Some(file), Some(_)) => Some(file.check_displaced(self.expected)?),
            _ => None,
        };
        self.checks.confirm()?;
        Ok(writers)
    }

    /// The identity by which a sweep recognises the entry.
    fn identity(&self) -> Identity {
        match &self.file {
            Some(file) => file.identity_for_sweeps().unwrap_or(Identity::UNKNOWN),
            None => self.entry.identity().unwrap_or(Identity::UNKNOWN),
        }
    }
}

/// Locks an open folder against sweeps. Gives the identity by which a later one recognises it; `None` if
/// another program holds the lock, or there are no locks.
pub(super) fn lock(folder: &Directory, entry: &Held) -> Option<Identity> {
    flock(folder, FlockOperation::NonBlockingLockExclusive).ok()?;
    entry.identity()
}
