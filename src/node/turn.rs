//! Keeps the event loop turning, whatever is asked for at once.
//!
//! Two kinds of work are done on the thread of the event loop: reading files that the system has in
//! its memory, which takes less time than to send for a worker; and making JavaScript's strings of
//! what workers have read, which for 1 MiB takes some 0.1 to 0.5 ms. Both would starve timers and
//! sockets: a promise that is settled when it is returned goes on as a microtask, so that a program
//! which awaits one call after another never comes back to its loop; and where many workers finish at
//! once, engines run all their completions before the next timer.
//!
//! So there is only so much time for such work, and when it is spent, the rest waits until an errand to
//! a worker has come back, before which timers and I/O have their turn. (A `setImmediate` would do,
//! but it is the program's to replace, and test suites do replace it.)

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, VecDeque};
use std::time::{Duration, Instant};

use napi::{Env, Task};

use super::environment;

/// How long this addon works in one turn of the loop before it lets the loop go on. What is begun by
/// then is ended, so that a turn can take longer by one piece of work.
const TIME_PER_TURN: Duration = Duration::from_millis(1);

thread_local! {
    /// How much of the turn's time is gone.
    static SPENT: Cell<Duration> = const { Cell::new(Duration::ZERO) };

    /// What waits for the next turn, by environment, since a thread may host more than one.
    static QUEUES: RefCell<HashMap<usize, Queue>> = RefCell::default();
}

/// Work that has to be done on the thread of the event loop.
type Piece = Box<dyn FnOnce(&Env)>;

#[derive(Default)]
struct Queue {
    waiting: VecDeque<Piece>,
    /// Whether the errand is under way.
    turning: bool,
}

/// Whether this turn has time left. Then nothing waits for the next one.
pub(super) fn has_time() -> bool {
    SPENT.get() < TIME_PER_TURN
}

/// Does work in this turn, on its time.
pub(super) fn spend<T>(work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = work();
    SPENT.set(SPENT.get() + start.elapsed());
    result
}

/// Does work in a later turn, after all that waits already.
pub(super) fn wait_for_turn(env: &Env, piece: Piece) {
    let Ok(key) = environment::key(env) else {
        // Better late timers than promises that stay pending.
        return piece(env);
    };
    with_queue(key, |queue| queue.waiting.push_back(piece));
    turn(env, key);
}

/// Sends for the next turn, if anything waits for it.
fn turn(env: &Env, key: usize) {
    let must_ask = with_queue(key, |queue| {
        !queue.waiting.is_empty() && !std::mem::replace(&mut queue.turning, true)
    });
    if must_ask && env.spawn(Errand { key }).is_err() {
        // Better late timers than promises that stay pending.
        let Queue { waiting, .. } = with_queue(key, std::mem::take);
        for piece in waiting {
            piece(env);
        }
    }
}

/// An errand to a worker that does nothing there; with its return the next turn begins.
struct Errand {
    key: usize,
}

impl Task for Errand {
    type Output = ();
    type JsValue = ();

    fn compute(&mut self) -> napi::Result<()> {
        Ok(())
    }

    fn resolve(&mut self, env: Env, (): ()) -> napi::Result<()> {
        SPENT.set(Duration::ZERO);
        with_queue(self.key, |queue| queue.turning = false);
        while let Some(piece) = next(self.key) {
            spend(|| piece(&env));
        }
        turn(&env, self.key);
        Ok(())
    }
}

/// What is to be done next, if there is time for it. The borrow of the queue ends before JavaScript can
/// run, which may call back into this module.
fn next(key: usize) -> Option<Piece> {
    with_queue(key, |queue| if has_time() { queue.waiting.pop_front() } else { None })
}

fn with_queue<T>(key: usize, use_it: impl FnOnce(&mut Queue) -> T) -> T {
    QUEUES.with_borrow_mut(|queues| use_it(queues.entry(key).or_default()))
}

/// Forgets what belonged to an environment that has ended.
pub(super) fn forget(environment: usize) {
    let ended = QUEUES.with_borrow_mut(|queues| queues.remove(&environment));
    drop(ended);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_takes_a_turns_time_leaves_none_for_what_waits() {
        let key = 1;
        for _ in 0..2 {
            with_queue(key, |queue| queue.waiting.push_back(Box::new(|_: &Env| {})));
        }
        assert!(next(key).is_some());
        spend(|| std::thread::sleep(TIME_PER_TURN));
        assert!(!has_time() && next(key).is_none());
        SPENT.set(Duration::ZERO);
        assert!(next(key).is_some());
        forget(key);
    }
}
