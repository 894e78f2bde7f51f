//! Keeps the event loop turning while large answers arrive.
//!
//! Making a string of 1 MiB takes the JavaScript thread some 0.1 to 0.5 ms. Where many workers
//! finish at once, engines run all their completions before the next timer, and a hundred such
//! strings starve it. So what one turn of the loop may copy is bounded, and the rest waits until
//! an errand to a worker has come back, before which timers and I/O have their turn. (A
//! `setImmediate` would do, but it is the program's to replace, and test suites do replace it.)

use std::cell::RefCell;
use std::collections::{HashMap, VecDeque};

use napi::{Env, Task};

use super::environment;

/// How many bytes of text are copied to JavaScript in one turn when more is waiting.
const BYTES_PER_TURN: usize = 4 << 20;

/// What is smaller is no burden and never waits.
const SMALL: usize = 64 << 10;

/// Settles one promise.
type Settle = Box<dyn FnOnce(&Env) -> napi::Result<()>>;

thread_local! {
    /// By environment, since a thread may host more than one.
    static TURNS: RefCell<HashMap<usize, Turn>> = RefCell::default();
}

/// What a turn of an event loop has copied, and what waits for the next.
#[derive(Default)]
struct Turn {
    copied: usize,
    waiting: VecDeque<(usize, Settle)>,
    /// Whether the errand is under way.
    ends: bool,
}

impl Turn {
    /// Takes what may be settled now, if anything is waiting and there is room for it.
    fn next(&mut self) -> Option<Settle> {
        let (bytes, _) = self.waiting.front()?;
        if self.copied > 0 && self.copied + bytes > BYTES_PER_TURN {
            return None;
        }
        let (bytes, settle) = self.waiting.pop_front()?;
        self.copied += bytes;
        Some(settle)
    }
}

/// Runs `settle`, which copies `bytes` to JavaScript, in this turn or a later one.
pub(super) fn settle_in_turn(env: &Env, bytes: usize, settle: Settle) {
    let key = if bytes < SMALL { None } else { environment::key(env).ok() };
    match key {
        Some(key) => {
            with_turn(key, |turn| turn.waiting.push_back((bytes, settle)));
            settle_what_fits(env, key);
        }
        None => run(env, settle),
    }
}

fn run(env: &Env, settle: Settle) {
    // It fails only where the environment is ending, and nobody waits any more.
    let _ = settle(env);
}

fn settle_what_fits(env: &Env, key: usize) {
    // The borrow ends before JavaScript can run, which may call back into this module.
    while let Some(settle) = with_turn(key, Turn::next) {
        run(env, settle);
    }
    let must_ask = with_turn(key, |turn| !std::mem::replace(&mut turn.ends, true));
    if must_ask && env.spawn(NextTurn { key }).is_err() {
        // Better late timers than promises that stay pending.
        let waiting = with_turn(key, |turn| std::mem::take(turn).waiting);
        for (_, settle) in waiting {
            run(env, settle);
        }
    }
}

/// An errand to a worker that does nothing there; with its return the next turn begins.
struct NextTurn {
    key: usize,
}

impl Task for NextTurn {
    type Output = ();
    type JsValue = ();

    fn compute(&mut self) -> napi::Result<()> {
        Ok(())
    }

    fn resolve(&mut self, env: Env, (): ()) -> napi::Result<()> {
        let idle = with_turn(self.key, |turn| {
            turn.copied = 0;
            turn.ends = false;
            turn.waiting.is_empty()
        });
        if !idle {
            settle_what_fits(&env, self.key);
        }
        Ok(())
    }
}

fn with_turn<T>(key: usize, use_it: impl FnOnce(&mut Turn) -> T) -> T {
    TURNS.with_borrow_mut(|turns| use_it(turns.entry(key).or_default()))
}

/// Forgets what belonged to an environment that has ended.
pub(super) fn forget(environment: usize) {
    let ended = TURNS.with_borrow_mut(|turns| turns.remove(&environment));
    drop(ended);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waiting(sizes: &[usize]) -> Turn {
        let queue = sizes.iter().map(|&bytes| (bytes, Box::new(|_: &Env| Ok(())) as Settle));
        Turn { waiting: queue.collect(), ..Turn::default() }
    }

    fn settled_in_one_turn(turn: &mut Turn) -> usize {
        std::iter::from_fn(|| turn.next()).count()
    }

    #[test]
    fn a_turn_copies_no_more_than_its_share() {
        let mut turn = waiting(&[1 << 20; 10]);
        assert_eq!(settled_in_one_turn(&mut turn), 4);
        assert_eq!(turn.waiting.len(), 6);
    }

    #[test]
    fn an_answer_larger_than_a_turns_share_is_settled_alone() {
        let mut turn = waiting(&[BYTES_PER_TURN * 2, 1 << 20]);
        assert_eq!(settled_in_one_turn(&mut turn), 1);
        turn.copied = 0;
        assert_eq!(settled_in_one_turn(&mut turn), 1);
    }
}
