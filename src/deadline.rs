//! The moment at which a call has to stop: its caller cancels it, or its time is used up.

use std::time::{Duration, Instant};

/// When a call has to stop.
#[derive(Clone, Copy)]
pub struct Deadline<'call> {
    cancelled: &'call (dyn Fn() -> bool + Sync),
    end: Option<Instant>,
}

/// Why a call has to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// The caller has cancelled it.
    Cancelled,
    /// Its time is used up.
    TimedOut,
    /// The work at one place has reached a bound of its own, so more time would not help.
    TooCostly,
}

impl<'call> Deadline<'call> {
    /// A call that begins now, may take so long, and can be cancelled.
    #[must_use]
    pub fn after(time: Duration, cancelled: &'call (dyn Fn() -> bool + Sync)) -> Self {
        Self { cancelled, end: Instant::now().checked_add(time) }
    }

    /// Whether the call may go on. Asking takes some 30 ns.
    ///
    /// # Errors
    ///
    /// [`Stop`] if it may not.
    pub fn check(&self) -> Result<(), Stop> {
        if (self.cancelled)() {
            return Err(Stop::Cancelled);
        }
        if self.end.is_some_and(|end| Instant::now() >= end) { Err(Stop::TimedOut) } else { Ok(()) }
    }
}
