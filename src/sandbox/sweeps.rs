//! When folders were swept last, and how long that took.
//!
//! A sweep lists the folder, and removes the temporaries that killed processes have left there. To
//! list a large folder takes longer than to write into it, so sweeps take a fiftieth of the time at
//! most. A new folder may have the number of one that was removed a moment ago; then its first sweep
//! is put off, which harms nothing.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::entry::FolderId;

type Sweeps = HashMap<FolderId, (Instant, Duration)>;

static SWEEPS: LazyLock<Mutex<Sweeps>> = LazyLock::new(Mutex::default);

/// Sweeping may take one part in this many of the time.
const SHARE: u32 = 50;

/// How many folders are remembered. When there are more, all are forgotten.
const MAX_FOLDERS: usize = 1024;

/// Sweeps a folder, unless that was done a moment ago.
pub(super) fn when_due(folder: FolderId, sweep: impl FnOnce()) {
    let begun = Instant::now();
    let last = sweeps().get(&folder).copied();
    if last.is_some_and(|(end, cost)| begun.saturating_duration_since(end) <= cost * SHARE) {
        return;
    }
    sweep();
    let mut sweeps = sweeps();
    if sweeps.len() >= MAX_FOLDERS {
        sweeps.clear();
    }
    sweeps.insert(folder, (Instant::now(), begun.elapsed()));
}

fn sweeps() -> MutexGuard<'static, Sweeps> {
    SWEEPS.lock().unwrap_or_else(PoisonError::into_inner)
}
