//! What a change asks its caller while it is under way.

use std::fmt;

/// The questions that a change asks its caller.
///
/// # All or nothing over several changes
///
/// A change that is asked to `confirm` is visible then, and can still be taken back. So several
/// changes are made all or nothing by making the second one in the first one's `confirm`, the third
/// one in the second one's, and so on. If one fails, the `confirm` of the one around it says no, and that
/// one takes itself back; so does each one further out.
///
/// - Each change holds its folders, files and locks open until its `confirm` returns: two to seven
///   handles. If the process runs out of handles, the innermost change fails, and the others are taken back.
/// - A file that a change holds is locked. A nested change that replaces, or compares, that very file
///   waits a second for the lock in vain, and then goes on without it. A nested rename of a file
///   that a change around it has replaced needs no lock.
/// - Only where the system can exchange names does a file that is replaced and then taken back stay
///   the same file; elsewhere its bytes are written anew.
///   So a file that is to be changed and moved is changed first, and moved by a nested change.
/// - On Windows, a file that was created can be neither changed nor moved, and no folder around it
///   renamed, until `confirm` has returned; and the name of a file that is removed is taken until then.
#[derive(Clone, Copy)]
pub struct Callbacks<'call> {
    /// Whether the call has been called off. Asked before the first change and a last time before
    /// the change is visible.
    pub cancelled: &'call dyn Fn() -> bool,
    /// Whether the change may stay, if the caller wants to be asked. Asked once, last of all: the
    /// change is visible and every other check has passed. If the answer is no, the change is taken
    /// back, and the call ends as if it had been called off. Once this was asked, the change is not
    /// attempted anew.
    pub confirm: Option<&'call dyn Fn() -> bool>,
}

impl<'call> Callbacks<'call> {
    /// For a change that stays once it is made.
    #[must_use]
    pub const fn without_confirm(cancelled: &'call dyn Fn() -> bool) -> Self {
        Self { cancelled, confirm: None }
    }

    /// Asks whether the change may stay.
    pub(super) fn is_confirmed(self) -> bool {
        self.confirm.is_none_or(|confirm| confirm())
    }
}

impl fmt::Debug for Callbacks<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Callbacks").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
