//! Replacing an entry by another, if both are still those that were looked at: Linux and macOS.

use std::ffi::OsString;

use crate::sandbox::attempts::{Attempt, AttemptError};
use crate::sandbox::entry_error::EntryError;
use crate::sandbox::put::unix::keep;
use crate::sandbox::system::unix::change::exchange;
use crate::sandbox::system::unix::error::is_refused;
use crate::sandbox::system::unix::held::{Removal, remove};
use crate::sandbox::system::{self, Held, Named};
use crate::sandbox::temporary::{self, Identity};

/// Exchanges the two names in one step. If the right entries stand at them then, removes the replaced entry,
/// which has the old name now. Otherwise takes the exchange back.
///
/// If a process is killed in between, the two entries stay exchanged. If the system cannot exchange names, an
/// ordinary rename is made, and [`EntryError::MovedAnother`] tells that it moved another entry.
#[allow(clippy::needless_pass_by_value, reason = "on Windows it has to be closed first")]
pub(super) fn rename_over_exactly(
    entry: &Held,
    standing: Held,
    from: Named<'_>,
    to: Named<'_>,
    is_current: &dyn Fn() -> bool,
) -> Attempt<(), EntryError> {
    let are_right = || {
        let moved = entry.is_at(to.0, to.1).unwrap_or(false);
        moved && standing.is_at(from.0, from.1).unwrap_or(false) && is_current()
    };
    match exchange(from, to) {
        Ok(()) => {}
        Err(error) if is_refused(error) => return rename_over_and_check(entry, from, to),
        Err(error) => return Err(std::io::Error::from(error).into()),
    }
    let take_back = |error| match exchange(from, to) {
        Ok(()) => Err(error),
        Err(_) => Err(EntryError::Kept(to.1.to_owned()).into()),
    };
    if !are_right() {
        return take_back(AttemptError::Raced);
    }
    let identity = standing.identity().unwrap_or(Identity::UNKNOWN);
    let fresh = OsString::from(temporary::new_name(identity, Identity::UNKNOWN));
    match remove(from.0, from.1, standing.id, fresh, &|| false) {
        Removal::Removed | Removal::Another | Removal::Stayed => Ok(()),
        Removal::Refused(error) => take_back(std::io::Error::from(error).into()),
        Removal::Displaced(name) => Err(EntryError::Kept(keep(from.0, &name)).into()),
    }
}

/// The ordinary rename, where the system cannot exchange names.
fn rename_over_and_check(entry: &Held, from: Named<'_>, to: Named<'_>) -> Attempt<(), EntryError> {
    system::rename_over(entry, from, to)?;
    if entry.is_at(to.0, to.1).unwrap_or(false) {
        Ok(())
    } else {
        Err(EntryError::MovedAnother.into())
    }
}
