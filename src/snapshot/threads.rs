//! Doing many small things on a few threads.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread;

/// How many threads work at the most: a snapshot is not to take the whole machine.
const MAX_THREADS: usize = 4;

/// For how many items a further thread is worth its start.
const ITEMS_PER_THREAD: usize = 16;

/// Does `work` for every number below `count`, and hands what it comes to to `take`, one at a time
/// and in no order. After an error no further work is begun.
pub(super) fn for_each<T, E: Send>(
    count: usize,
    work: impl Fn(usize) -> Result<T, E> + Sync,
    take: impl FnMut(usize, T) + Send,
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
    let helpers = (count / ITEMS_PER_THREAD).min(processors() - 1);
    thread::scope(|scope| {
        for _ in 0..helpers {
            // Where the system gives no further thread, this one does it all.
            let _ = thread::Builder::new().spawn_scoped(scope, run);
        }
        run();
    });
    taking.into_inner().unwrap_or_else(PoisonError::into_inner).1
}

/// How many threads may work at once.
fn processors() -> usize {
    static PROCESSORS: OnceLock<usize> = OnceLock::new();
    *PROCESSORS.get_or_init(|| {
        thread::available_parallelism().map_or(1, |number| number.get().min(MAX_THREADS))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_done_once() {
        for count in [0, 1, 15, 16, 1000] {
            let mut done = Vec::new();
            let ended: Result<(), ()> = for_each(
                count,
                |number| Ok(2 * number),
                |number, double| done.push((number, double)),
            );
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
        assert_eq!(for_each(100_000, work, |_, ()| {}), Err("three"));
        assert!(begun.into_inner() < 100_000);
    }

    #[test]
    fn a_panic_comes_to_the_caller() {
        let caught = std::panic::catch_unwind(|| {
            for_each(
                100,
                |number| if number == 50 { panic!("on purpose") } else { Ok::<_, ()>(()) },
                |_, ()| {},
            )
        });
        assert!(caught.is_err());
    }
}
