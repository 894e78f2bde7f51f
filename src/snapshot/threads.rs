//! Doing many small things on a few threads.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// How many threads help the caller's at the most: a snapshot is not to take the whole machine.
/// How many processors there are is not asked, since the code that finds out is large.
const MAX_HELPERS: usize = 2;

/// For how many items a further thread is worth its start.
const ITEMS_PER_THREAD: usize = 16;

/// Does `work` for every number below `count`, and hands what it comes to to `take`, one at a time
/// and in no order. After an error no further work is begun.
pub(super) fn for_each<T, E: Send>(
    count: usize,
    work: &(dyn Fn(usize) -> Result<T, E> + Sync),
    take: &mut (dyn FnMut(usize, T) + Send),
) -> Result<(), E> {
    let next = AtomicUsize::new(0);
    let taking = Mutex::new((take, Ok(())));
    let run = || {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            if index >= count {
                return;
            }
            let done = work(index);
            // Were it poisoned, the panic would be on its way to the caller.
            let mut taking = taking.lock().unwrap_or_else(PoisonError::into_inner);
            match done {
                Ok(done) => taking.0(index, done),
                Err(error) => {
                    taking.1 = Err(error);
                    next.store(count, Ordering::Relaxed);
                }
            }
        }
    };
    let helpers = (count / ITEMS_PER_THREAD).min(MAX_HELPERS);
    thread::scope(|scope| {
        for _ in 0..helpers {
            // Where the system gives no further thread, this one does it all.
            let _ = thread::Builder::new().spawn_scoped(scope, run);
        }
        run();
    });
    taking.into_inner().unwrap_or_else(PoisonError::into_inner).1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_done_once() {
        for count in [0, 1, 15, 16, 1000] {
            let mut done = Vec::new();
            let take = &mut |number, double| done.push((number, double));
            let ended: Result<(), ()> = for_each(count, &|number| Ok(2 * number), take);
            assert_eq!(ended, Ok(()));
            done.sort_unstable();
            assert!(done.into_iter().eq((0..count).map(|number| (number, 2 * number))));
        }
    }

    #[test]
    fn an_error_ends_it() {
        let begun = AtomicUsize::new(0);
        let work = |number| {
            begun.fetch_add(1, Ordering::Relaxed);
            if number == 3 { Err("three") } else { Ok(()) }
        };
        assert_eq!(for_each(100_000, &work, &mut |_, ()| {}), Err("three"));
        assert!(begun.into_inner() < 100_000);
    }

    #[test]
    fn a_panic_comes_to_the_caller() {
        let work = |number| {
            assert!(number != 50, "on purpose");
            Ok::<_, ()>(())
        };
        let caught = std::panic::catch_unwind(|| for_each(100, &work, &mut |_, ()| {}));
        assert!(caught.is_err());
    }
}
