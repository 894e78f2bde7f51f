//! How long the thread of the event loop answers calls itself in one turn of the loop.
//!
//! A promise that is settled when it is returned continues in a microtask, so a program that awaits
//! one such call after another never comes back to its timers and sockets. A turn therefore has
//! 1 ms of measured time for such answers; calls beyond that go to a worker.
//!
//! A completion from a worker renews the time: it shows that the loop has turned. So does the
//! clock, 5 ms after the turn's first answer: the pool may be blocked, or the program may give it
//! no jobs. The clock alone would be wrong where a program computes for a while after each answer
//! and never returns to the loop. So the clock also sends an empty job, the probe: once a worker
//! has done the probe and its completion does not arrive, the loop is not turning, and there is no
//! new time.

use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How long this thread answers in one turn. An answer that has begun in time may take longer.
const TIME_PER_TURN: Duration = Duration::from_millis(1);

/// How long after a turn's first answer the clock renews the time.
const LONGEST_TURN: Duration = Duration::from_millis(5);

/// The present turn of an environment's event loop.
#[derive(Default)]
pub struct Turn {
    /// When its first answer began.
    began: Cell<Option<Instant>>,
    spent: Cell<Duration>,
    /// The probe that is under way.
    probe: RefCell<Option<Probe>>,
}

/// An empty job. It is set when a worker does it.
#[derive(Default, Clone)]
pub struct Probe(Arc<AtomicBool>);

impl Probe {
    /// Does the job.
    pub fn run(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    fn has_run(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl Turn {
    /// Whether the turn has time left. If the clock has to renew the time, this does it, and sends
    /// the probe unless one is under way.
    pub fn admit(&self, now: Instant, send: impl FnOnce(Probe)) -> bool {
        let Some(began) = self.began.get() else {
            self.began.set(Some(now));
            return true;
        };
        if now.saturating_duration_since(began) < LONGEST_TURN {
            return self.spent.get() < TIME_PER_TURN;
        }
        if self.probe.borrow().as_ref().is_some_and(Probe::has_run) {
            return false;
        }
        self.began.set(Some(now));
        self.spent.set(Duration::ZERO);
        let is_first = self.probe.borrow().is_none();
        if is_first {
            let probe = Probe::default();
            *self.probe.borrow_mut() = Some(probe.clone());
            send(probe);
        }
        true
    }

    /// Counts the time since `start` as spent.
    pub fn spend(&self, start: Instant) {
        self.spent.set(self.spent.get() + start.elapsed());
    }

    /// A completion has come from a worker: a new turn has begun.
    pub fn renew(&self) {
        self.began.set(None);
        self.spent.set(Duration::ZERO);
        *self.probe.borrow_mut() = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn no_probe(_: Probe) {
        panic!("a probe was sent");
    }

    #[test]
    fn a_turn_without_time_gets_new_time_by_a_completion() {
        let (now, turn) = (Instant::now(), Turn::default());
        assert!(turn.admit(now, no_probe));
        turn.spent.set(TIME_PER_TURN);
        assert!(!turn.admit(now, no_probe));
        turn.renew();
        assert!(turn.admit(now, no_probe));
    }

    #[test]
    fn the_clock_gives_new_time_and_sends_one_probe() {
        let (now, turn) = (Instant::now(), Turn::default());
        assert!(turn.admit(now, no_probe));
        turn.spent.set(TIME_PER_TURN);
        assert!(!turn.admit(now + LONGEST_TURN / 2, no_probe));
        let mut sent = 0;
        assert!(turn.admit(now + LONGEST_TURN, |_| sent += 1));
        turn.spent.set(TIME_PER_TURN);
        assert!(!turn.admit(now + LONGEST_TURN, no_probe));
        assert!(turn.admit(now + LONGEST_TURN * 2, no_probe), "no worker has run the probe");
        assert_eq!(sent, 1);
    }

    #[test]
    fn the_clock_gives_no_time_while_the_loop_does_not_turn() {
        let (now, turn) = (Instant::now(), Turn::default());
        let mut probe = None;
        assert!(turn.admit(now, no_probe));
        assert!(turn.admit(now + LONGEST_TURN, |sent| probe = Some(sent)));
        probe.expect("a probe was sent").run();
        assert!(!turn.admit(now + LONGEST_TURN * 2, no_probe));
        turn.renew();
        assert!(turn.admit(now + LONGEST_TURN * 2, no_probe));
    }
}
