//! Keeps the event loop turning while large answers arrive.
//!
//! Making a string of 1 MiB takes the JavaScript thread some 0.1 to 0.5 ms. Where many workers
//! finish at once, engines run all their completions before the next timer, and a hundred such
//! strings starve it. So what one turn of the loop may copy is bounded, and the rest waits for
//! `setImmediate`, behind which timers and I/O have their turn.

use std::cell::RefCell;
use std::collections::{HashMap, VecDeque};

use napi::Env;
use napi::bindgen_prelude::{Function, JsObjectValue, Unknown};

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
    /// Whether `setImmediate` has been asked for the next turn.
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
pub(super) fn settle_in_turn(env: &Env, bytes: usize, settle: Settle) -> napi::Result<()> {
    if bytes < SMALL {
        return settle(env);
    }
    with_turn(env, |turn| turn.waiting.push_back((bytes, settle)));
    settle_what_fits(env)
}

fn settle_what_fits(env: &Env) -> napi::Result<()> {
    // The borrow ends before JavaScript can run, which may call back into this module.
    while let Some(settle) = with_turn(env, Turn::next) {
        settle(env)?;
    }
    let must_ask = with_turn(env, |turn| !std::mem::replace(&mut turn.ends, true));
    if must_ask && ask_for_next_turn(env).is_err() {
        // A host without `setImmediate`: better late timers than promises that stay pending.
        while let Some((_, settle)) = with_turn(env, |turn| turn.waiting.pop_front()) {
            settle(env)?;
        }
    }
    Ok(())
}

fn ask_for_next_turn(env: &Env) -> napi::Result<()> {
    let set_immediate: Function<'_, Function<'_, (), ()>, Unknown<'_>> =
        env.get_global()?.get_named_property("setImmediate")?;
    let next_turn = env.create_function_from_closure("nextTurn", |call| {
        let idle = with_turn(call.env, |turn| {
            turn.copied = 0;
            turn.ends = false;
            turn.waiting.is_empty()
        });
        if idle { Ok(()) } else { settle_what_fits(call.env) }
    })?;
    set_immediate.call(next_turn).map(drop)
}

fn with_turn<T>(env: &Env, use_it: impl FnOnce(&mut Turn) -> T) -> T {
    TURNS.with_borrow_mut(|turns| use_it(turns.entry(env.raw() as usize).or_default()))
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
