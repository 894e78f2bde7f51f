//! Repeating a change because another process interfered.
//!
//! A change looks first at what stands at its place, and then acts. A step that finds the place changed
//! since ends the attempt, and a new attempt begins with a new look. So no decision rests on a check that
//! may be out of date at the next call.

use std::time::Duration;

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

/// Makes attempts until one is not disturbed. `None` if all were.
pub(super) fn repeat<T, E>(attempt: impl Fn() -> Attempt<T, E>) -> Option<Result<T, E>> {
    for number in 0..MAX_ATTEMPTS {
        match attempt() {
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
