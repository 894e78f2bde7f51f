//! Replacing an entry by another on Windows: the entry is renamed by its handle, so it is no other one.

use crate::sandbox::attempts::{Attempt, AttemptError};
use crate::sandbox::entry_error::EntryError;
use crate::sandbox::system::{self, Held, Named};

pub(super) fn rename_over_exactly(
    entry: &Held,
    standing: Held,
    from: Named<'_>,
    to: Named<'_>,
    is_current: &dyn Fn() -> bool,
) -> Attempt<(), EntryError> {
    // Not every file system replaces a file that is open.
    drop(standing);
    if !is_current() {
        return Err(AttemptError::Raced);
    }
    Ok(system::rename_over(entry, from, to)?)
}
