//! Keeps the event loop turning, whatever is asked for at once.
//!
//! Two kinds of work are done on the thread of the event loop: reading files that the system has in
//! its memory, which takes less time than to send for a worker; and making JavaScript's strings of
//! what workers have read, which for 1 MiB takes some 0.1 to 0.5 ms. Both would starve timers and
//! sockets: a promise that is settled when it is returned goes on as a microtask, so that a program
//! which awaits one call after another never comes back to its loop; and where many workers finish at
//! once, engines run all their completions before the next timer.
//!
//! So there is only so much time for such work in one turn, and the rest waits for the next. Nothing
//! says that the loop has turned but an errand to a worker that has come back, before which timers and
//! I/O have their turn. (A `setImmediate` would do, but it is the program's to replace, and test suites
//! do replace it.)

use std::cell::RefCell;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use napi::{Env, Task};

use super::environment;

/// How long this addon works in one turn of the loop before it lets the loop go on. What is begun by
/// then is ended, so that a turn can take longer by one piece of work.
const TIME_PER_TURN: Duration = Duration::from_millis(1);

/// When it is asked whether the next turn has come: in time for the answer to be there when it is needed.
const ASK_AT: Duration = Duration::from_micros(500);

/// How long a loop may be without a turn, whoever keeps it: a program that works between one read and
/// the next would not come back to its timers for as long as it finds its files in memory.
const LONGEST_TURN: Duration = Duration::from_millis(5);

thread_local! {
    /// With their environments, since a thread may host more than one.
    static TURNS: RefCell<Vec<(usize, Turn)>> = const { RefCell::new(Vec::new()) };
}

/// Work that has to be done on the thread of the event loop.
type Piece = Box<dyn FnOnce(&Env)>;

/// What is known of the present turn of an event loop.
#[derive(Default)]
struct Turn {
    /// How much of the turn's time is gone.
    spent: Duration,
    /// When the turn's first piece of work was begun.
    began: Option<Instant>,
    /// The errand, if it is under way.
    errand: Option<Sent>,
    /// What waits for the next turn.
    waiting: VecDeque<Piece>,
}

/// An errand under way.
struct Sent {
    at: Instant,
    /// Whether it has been with the worker, and waits only for the loop to turn.
    returns: Arc<AtomicBool>,
}

impl Turn {
    fn has_time(&self, now: Instant) -> bool {
        self.spent < TIME_PER_TURN && !self.errand.as_ref().is_some_and(|sent| sent.is_late(now))
    }

    /// Whether it is to be found out if the next turn has come.
    fn must_ask(&self, now: Instant) -> bool {
        let is_long = |began| now.saturating_duration_since(began) >= LONGEST_TURN;
        self.errand.is_none()
            && (!self.waiting.is_empty() || self.spent >= ASK_AT || self.began.is_some_and(is_long))
    }
}

impl Sent {
    /// Whether it would have come back if the loop had turned.
    fn is_late(&self, now: Instant) -> bool {
        self.returns.load(Ordering::Relaxed)
            && now.saturating_duration_since(self.at) >= LONGEST_TURN
    }
}

/// Time that the present turn has left for a piece of work.
pub(super) struct TurnTime {
    key: usize,
    start: Instant,
}

/// Takes time of this turn, if it has any left; then nothing waits for the next one.
pub(super) fn take_time(env: &Env) -> Option<TurnTime> {
    let key = environment::key(env).ok()?;
    let start = Instant::now();
    with_turn(key, |turn| turn.has_time(start)).then_some(TurnTime { key, start })
}

impl TurnTime {
    /// Does the work.
    pub(super) fn spend(self, env: &Env, work: impl FnOnce()) {
        let key = self.key;
        let end = self.count(work);
        ask(env, key, end);
    }

    /// Does the work, and tells when it ended.
    fn count(self, work: impl FnOnce()) -> Instant {
        let Self { key, start } = self;
        work();
        let end = Instant::now();
        with_turn(key, |turn| {
            turn.spent += end.saturating_duration_since(start);
            turn.began.get_or_insert(start);
        });
        end
    }
}

/// Does work in a later turn, after all that waits already.
pub(super) fn wait_for_turn(env: &Env, piece: Piece) {
    let Ok(key) = environment::key(env) else {
        // Better late timers than promises that stay pending.
        return piece(env);
    };
    with_turn(key, |turn| turn.waiting.push_back(piece));
    ask(env, key, Instant::now());
}

/// Sends the errand, if it is time for it.
fn ask(env: &Env, key: usize, now: Instant) {
    let returns = with_turn(key, |turn| {
        turn.must_ask(now).then(|| {
            let returns = Arc::<AtomicBool>::default();
            turn.errand = Some(Sent { at: now, returns: Arc::clone(&returns) });
            returns
        })
    });
    let Some(returns) = returns else { return };
    if env.spawn(Errand { key, returns }).is_err() {
        // Better late timers than promises that stay pending.
        let Turn { waiting, .. } = with_turn(key, std::mem::take);
        for piece in waiting {
            piece(env);
        }
    }
}

/// An errand to a worker that does nothing there; with its return the next turn begins.
struct Errand {
    key: usize,
    returns: Arc<AtomicBool>,
}

impl Task for Errand {
    type Output = ();
    type JsValue = ();

    fn compute(&mut self) -> napi::Result<()> {
        self.returns.store(true, Ordering::Relaxed);
        Ok(())
    }

    fn resolve(&mut self, env: Env, (): ()) -> napi::Result<()> {
        if environment::is_live(self.key) {
            with_turn(self.key, |turn| {
                *turn = Turn { waiting: std::mem::take(&mut turn.waiting), ..Turn::default() };
            });
            while let Some((time, piece)) = next(self.key) {
                time.count(|| piece(&env));
            }
            ask(&env, self.key, Instant::now());
        }
        Ok(())
    }
}

/// What is to be done next, if there is time for it. The borrow of the turn ends before JavaScript can
/// run, which may call back into this module.
fn next(key: usize) -> Option<(TurnTime, Piece)> {
    let start = Instant::now();
    with_turn(key, |turn| {
        let piece = if turn.has_time(start) { turn.waiting.pop_front() } else { None };
        piece.map(|piece| (TurnTime { key, start }, piece))
    })
}

fn with_turn<T>(key: usize, use_it: impl FnOnce(&mut Turn) -> T) -> T {
    TURNS.with_borrow_mut(|turns| {
        let known = turns.iter().position(|(of, _)| *of == key);
        let at = known.unwrap_or_else(|| {
            turns.push((key, Turn::default()));
            turns.len() - 1
        });
        use_it(&mut turns[at].1)
    })
}

/// Forgets what belonged to an environment that has ended.
pub(super) fn forget(environment: usize) {
    let ended = TURNS.with_borrow_mut(|turns| {
        turns.iter().position(|(of, _)| *of == environment).map(|at| turns.swap_remove(at))
    });
    drop(ended);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn_with(spent: Duration, waiting: usize) -> Turn {
        let pieces = (0..waiting).map(|_| Box::new(|_: &Env| {}) as Piece);
        Turn { spent, waiting: pieces.collect(), ..Turn::default() }
    }

    #[test]
    fn what_takes_a_turns_time_leaves_none_for_what_waits() {
        let now = Instant::now();
        assert!(turn_with(Duration::ZERO, 1).has_time(now));
        assert!(!turn_with(TIME_PER_TURN, 1).has_time(now));
    }

    #[test]
    fn whether_the_loop_has_turned_is_asked_in_time_and_once() {
        let now = Instant::now();
        let mut turn = turn_with(Duration::ZERO, 0);
        assert!(!turn.must_ask(now));
        turn.began = Some(now);
        assert!(!turn.must_ask(now) && turn.must_ask(now + LONGEST_TURN));
        turn.spent = ASK_AT;
        assert!(turn.must_ask(now));
        turn.errand = Some(Sent { at: now, returns: Arc::default() });
        assert!(!turn.must_ask(now + LONGEST_TURN));
    }

    #[test]
    fn a_loop_that_does_not_turn_gets_its_turn_but_a_busy_worker_keeps_nothing_waiting() {
        let now = Instant::now();
        let returns = Arc::<AtomicBool>::default();
        let errand = Some(Sent { at: now, returns: Arc::clone(&returns) });
        let turn = Turn { errand, ..Turn::default() };
        assert!(turn.has_time(now + LONGEST_TURN));
        returns.store(true, Ordering::Relaxed);
        assert!(turn.has_time(now) && !turn.has_time(now + LONGEST_TURN));
    }
}
