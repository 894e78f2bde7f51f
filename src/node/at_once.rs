//! How much is answered at once, on the thread of the event loop, before the loop gets its turn.
//!
//! A promise that is settled when it is returned goes on as a microtask: a program that awaits one
//! call after another would never come back to its timers and sockets. So each thread has an
//! allowance, and what goes beyond it is sent to a worker, whose answer comes with a later turn of the
//! loop and renews the allowance.

use std::cell::Cell;

use super::call::Outcome;

/// How many bytes a file may have to be answered at once; copying and checking them takes some 20
/// microseconds.
pub(super) const LIMIT: u64 = 64 << 10;

/// How many bytes are answered at once before a worker is asked: some 1 to 2 milliseconds of work.
const ALLOWANCE: usize = 2 << 20;

/// What a call counts for beside its bytes.
const CALL: usize = 16 << 10;

thread_local! {
    static SPENT: Cell<usize> = const { Cell::new(0) };
}

/// The answer, if the allowance permits to look for it and there is one.
pub(super) fn try_answer<T: Outcome>(answer: impl FnOnce() -> Option<T>) -> Option<T> {
    let spent = SPENT.get();
    if spent >= ALLOWANCE {
        return None;
    }
    let answer = answer();
    SPENT.set(spent + CALL + answer.as_ref().map_or(0, Outcome::bytes));
    answer
}

/// Renews the allowance.
pub(super) fn the_loop_has_turned() {
    SPENT.set(0);
}
