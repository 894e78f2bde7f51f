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

/// Exchanges the two names in one step. If the right entries stand at them then, the one that is replaced,
/// which is at the old name now, is removed; otherwise the exchange is taken back.
///
/// A process that is killed in between leaves the two entries exchanged.
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
        Err(error) if is_refused(error) => {
            system::rename_over(entry, from, to)?;
            return if entry.is_at(to.0, to.1).unwrap_or(false) {
                Ok(())
            } else {
                Err(EntryError::MovedAnother.into())
            };
        }
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
        Removal::Removed | Removal::Another | Removal::Wanted => Ok(()),
        Removal::Refused(error) => take_back(std::io::Error::from(error).into()),
        Removal::Displaced(name) => Err(EntryError::Kept(keep(from.0, &name)).into()),
    }
}
