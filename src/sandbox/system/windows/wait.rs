//! Waiting a moment for other programs that have a file open.

use std::time::{Duration, Instant};

/// How long to wait for other programs, such as virus scanners, that have a file open in a way that
/// keeps this process from it.
pub(crate) const MAX_WAIT_FOR_OTHERS: Duration = Duration::from_secs(1);

/// Repeats an attempt as long as its error is worth waiting for, and max_wait lasts.
pub(crate) fn retry_while<T, E>(
    max_wait: Duration,
    is_worth_waiting: impl Fn(&E) -> bool,
    attempt: impl Fn() -> Result<T, E>,
) -> Result<T, E> {
    let mut pauses = Pauses::new(max_wait);
    loop {
        match attempt() {
            Err(error) if is_worth_waiting(&error) && pauses.pause() => {}
            answer => return answer,
        }
    }
}

/// Pauses that grow, until max_wait ends.
pub(crate) struct Pauses {
    end: Instant,
    next: Duration,
}

impl Pauses {
    pub(crate) fn new(max_wait: Duration) -> Self {
        Self { end: Instant::now() + max_wait, next: Duration::from_micros(50) }
    }

    /// Pauses; `false` if no max_wait is left.
    pub(crate) fn pause(&mut self) -> bool {
        const LONGEST: Duration = Duration::from_millis(2);
        if Instant::now() >= self.end {
            return false;
        }
        std::thread::sleep(self.next);
        self.next = (self.next * 2).min(LONGEST);
        true
    }
}
