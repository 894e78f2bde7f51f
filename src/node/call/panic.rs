//! Panics. Node-API callbacks and tasks of workers end the process when one leaves them.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs code that should not panic; `None` if it did.
pub fn guard<T>(run: impl FnOnce() -> T) -> Option<T> {
    // A panic leaves no half-changed value behind: the closure's own are dropped with it, and shared
    // ones are behind locks.
    catch_unwind(AssertUnwindSafe(run)).ok()
}
