//! Edits of one file by this process wait for each other, whatever path leads to the file.
//!
//! The compare-and-swap of a write keeps edits from being lost, also those of other processes. The queue
//! only spares edits of one process from being made anew, over and over.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

use crate::sandbox::FileId;

/// The files that are edited now or waited for.
static FILES: LazyLock<Mutex<HashMap<FileId, Arc<Mutex<()>>>>> = LazyLock::new(Mutex::default);

/// Does `work` while no other edit of the file is at work. `work` gives `None` if the path leads to another
/// file by now: then the next `id` is asked for.
pub fn alone<T>(
    mut id: impl FnMut() -> Option<FileId>,
    mut work: impl FnMut(Option<FileId>) -> Option<T>,
) -> T {
    loop {
        let id = id();
        let turn = id.map(Turn::of);
        let held = turn.as_ref().map(Turn::wait);
        let done = work(id);
        drop(held);
        if let Some(done) = done {
            return done;
        }
    }
}

/// Does `work` while no other edit of any of these files is at work. `work` is told whether it had to wait: then other
/// files may stand there by now.
pub fn all_alone<T>(mut ids: Vec<FileId>, work: impl FnOnce(bool) -> T) -> T {
    // All take their turns in one order, so that no two wait for each other.
    ids.sort_unstable();
    ids.dedup();
    let turns: Vec<_> = ids.into_iter().map(Turn::of).collect();
    let mut has_waited = false;
    let held: Vec<_> = turns
        .iter()
        .map(|turn| {
            turn.lock.try_lock().unwrap_or_else(|_| {
                has_waited = true;
                turn.wait()
            })
        })
        .collect();
    let done = work(has_waited);
    drop(held);
    done
}

/// A place in the queue of one file.
struct Turn {
    id: FileId,
    lock: Arc<Mutex<()>>,
}

impl Turn {
    fn of(id: FileId) -> Self {
        let lock = Arc::clone(files().entry(id).or_default());
        Self { id, lock }
    }

    fn wait(&self) -> MutexGuard<'_, ()> {
        self.lock.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let mut files = files();
        // The map's own, and this one.
        if Arc::strong_count(&self.lock) == 2 {
            files.remove(&self.id);
        }
    }
}

fn files() -> MutexGuard<'static, HashMap<FileId, Arc<Mutex<()>>>> {
    FILES.lock().unwrap_or_else(PoisonError::into_inner)
}
