//! Repeating a change because another process interfered.
//!
//! A change looks first at what stands at its place, and then acts. A step that finds the place changed
//! since ends the attempt, and a new attempt begins with a new look. So no decision rests on a check that
//! may be out of date at the next call.

use std::cell::Cell;
use std::time::Duration;

use super::callbacks::Callbacks;

/// How often an attempt is repeated. Each repetition means that another process made progress.
const MAX_ATTEMPTS: u32 = 64;

/// One attempt at a change.
pub(super) type Attempt<T, E> = Result<T, AttemptError<E>>;

/// Why an attempt ended.
pub(super) enum AttemptError<E> {
    /// The place has changed since it was looked at.
    Raced,
    Failed(E),
}

impl<E> From<E> for AttemptError<E> {
    fn from(error: E) -> Self {
        Self::Failed(error)
    }
}

/// Makes attempts until one is not disturbed. `None` if all were, or one that had been confirmed was: its
/// caller has made other changes since.
pub(super) fn repeat<T, E>(
    callbacks: Callbacks<'_>,
    attempt: impl Fn(Callbacks<'_>) -> Attempt<T, E>,
) -> Option<Result<T, E>> {
    let was_asked = &Cell::new(false);
    let confirm = callbacks.confirm.map(|confirm| {
        move || {
            was_asked.set(true);
            confirm()
        }
    });
    let confirm = confirm.as_ref().map(|confirm| confirm as &dyn Fn() -> bool);
    for number in 0..MAX_ATTEMPTS {
        match attempt(Callbacks { confirm, ..callbacks }) {
            Err(AttemptError::Raced) if was_asked.get() => return None,
            Err(AttemptError::Raced) => let_others_go_on(number),
            Err(AttemptError::Failed(error)) => return Some(Err(error)),
            Ok(done) => return Some(Ok(done)),
        }
    }
    None
}

/// Waits a moment, after a few attempts. Many writers at once keep each other from finishing if none
/// of them waits.
fn let_others_go_on(attempt: u32) {
    const ATTEMPTS_WITHOUT_PAUSE: u32 = 4;
    if let Some(pauses) = attempt.checked_sub(ATTEMPTS_WITHOUT_PAUSE) {
        std::thread::sleep(Duration::from_micros(50) * pauses.min(20));
    }
}
