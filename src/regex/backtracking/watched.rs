//! A line that looks at the deadline while the engine reads it.

use std::any::Any;
use std::cell::Cell;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use fancy_regex::{Input, Regex, RegexInput};

use super::cost::Steps;
use crate::deadline::{Deadline, Stop};

/// The longest line whose search has to end within 50 ms.
const SHORT_LINE: usize = 64 << 10;

/// The highest cost of a step in such a line. Measured for the worst patterns of
/// `cost_of_a_search_that_cannot_be_stopped`: 15 ns for each part and byte, so 31 ms.
const MAX_COST_IN_SHORT_LINE: u64 = 1 << 21;

/// The highest cost of a step in a longer line. It takes 1 s, and the search has to end within 2 s.
const MAX_COST: u64 = 1 << 26;

/// If a step can cost more than this, which takes 15 µs, the deadline is checked at every read.
const HIGH_COST: u64 = 1 << 10;

/// If no step can cost more than [`HIGH_COST`], the deadline is checked once for this many reads.
const READS: u32 = 64;

/// How many bytes the engine may keep for one position. It keeps something whenever a repetition begins anew,
/// which is at most once for each read.
const MAX_KEPT_BYTES: u64 = 32 << 20;

/// A line that counts its reads. The engine reads the line in each step, and offers no other way to stop a
/// search. To stop it, a read unwinds the stack by `resume_unwind`, which calls no panic hook.
pub struct Watched<'search> {
    line: &'search str,
    deadline: &'search Deadline<'search>,
    /// How many reads are allowed until the next look.
    rest: Cell<u32>,
    reads_per_look: u32,
    looks: Cell<u64>,
    max_looks: u64,
}

/// What unwinds.
struct Unwound(Stop);

impl<'search> Watched<'search> {
    pub fn new(
        line: &'search str,
        steps: &Steps,
        deadline: &'search Deadline<'search>,
    ) -> Result<Self, Stop> {
        let cost = steps.cost(line.len());
        if cost > if line.len() > SHORT_LINE { MAX_COST } else { MAX_COST_IN_SHORT_LINE } {
            return Err(Stop::TooCostly);
        }
        let reads_per_look = if cost > HIGH_COST { 1 } else { READS };
        let max_reads = MAX_KEPT_BYTES / (32 + 16 * steps.kept);
        let max_looks = max_reads / u64::from(reads_per_look);
        let rest = Cell::new(reads_per_look);
        Ok(Self { line, deadline, rest, reads_per_look, looks: Cell::new(0), max_looks })
    }

    /// The match that begins at an offset.
    pub fn find_at(&self, regex: &Regex, at: usize) -> Result<Option<Range<usize>>, Stop> {
        self.deadline.check()?;
        self.looks.set(0);
        let input = RegexInput::new(self).from_pos(at).anchored(true);
        // Each search resets the engine's state, so a search that was unwound harms no later one.
        match catch_unwind(AssertUnwindSafe(|| regex.find_input(input))) {
            Ok(Ok(found)) => Ok(found),
            // The engine has gone back too often, so "no match" could be wrong.
            Ok(Err(_)) => Err(Stop::TooCostly),
            Err(thrown) => Err(stop_of(thrown)),
        }
    }

    fn count_read(&self) {
        let rest = self.rest.get();
        if rest > 1 {
            self.rest.set(rest - 1);
        } else {
            self.look();
        }
    }

    #[cold]
    fn look(&self) {
        self.rest.set(self.reads_per_look);
        self.looks.set(self.looks.get() + 1);
        let is_costly = self.looks.get() > self.max_looks;
        let stop = if is_costly { Err(Stop::TooCostly) } else { self.deadline.check() };
        if let Err(stop) = stop {
            resume_unwind(Box::new(Unwound(stop)));
        }
    }
}

/// What a search was stopped by. A panic goes on.
fn stop_of(thrown: Box<dyn Any + Send>) -> Stop {
    match thrown.downcast::<Unwound>() {
        Ok(unwound) => unwound.0,
        Err(panic) => resume_unwind(panic),
    }
}

impl Input for Watched<'_> {
    type Match<'line>
        = Range<usize>
    where
        Self: 'line;

    fn len(&self) -> usize {
        self.line.len()
    }

    fn as_bytes(&self) -> &[u8] {
        self.count_read();
        self.line.as_bytes()
    }

    fn is_char_boundary(&self, at: usize) -> bool {
        self.line.is_char_boundary(at)
    }

    fn is_ascii(&self) -> bool {
        self.line.is_ascii()
    }

    fn prev_codepoint_ix(&self, at: usize) -> usize {
        self.line.prev_codepoint_ix(at)
    }

    fn make_match(&self, start: usize, end: usize) -> Range<usize> {
        start..end
    }

    fn advance_position(&self, at: usize) -> usize {
        self.line.advance_position(at)
    }
}
