//! Matching by following all paths through an automaton at once, byte by byte. It is slower than the other
//! ways by far, but matches everything, in linear time and in fixed memory, and can be stopped.

use std::ops::Range;

use regex_automata::nfa::thompson::{NFA, State};
use regex_automata::util::look::LookMatcher;
use regex_automata::util::primitives::StateID;

use crate::deadline::{Deadline, Stop};

/// How many states are visited between two looks at the deadline. A visit takes some 10 ns.
const VISITS: usize = 1 << 12;

/// What a search needs memory for.
#[derive(Debug)]
pub struct SimulationCache {
    now: Paths,
    next: Paths,
    /// The states that are still to be entered at the present byte.
    waiting: Vec<StateID>,
}

/// The paths that are alive between two bytes, in the order in which they are preferred.
#[derive(Debug)]
struct Paths {
    /// The state of each path, and where its match began.
    alive: Vec<(StateID, usize)>,
    /// For each state its index in `alive`. An index may be stale: [`Paths::insert`] checks it, so no index is
    /// reset.
    places: Vec<usize>,
}

impl Paths {
    fn new(states: usize) -> Self {
        Self { alive: Vec::with_capacity(states), places: vec![0; states] }
    }

    /// Adds a path that ends in a state, unless a better one does.
    fn insert(&mut self, state: StateID, start: usize) -> bool {
        let place = &mut self.places[state.as_usize()];
        if self.alive.get(*place).is_some_and(|&(other, _)| other == state) {
            return false;
        }
        *place = self.alive.len();
        self.alive.push((state, start));
        true
    }
}

impl SimulationCache {
    pub fn new(nfa: &NFA) -> Self {
        let states = nfa.states().len();
        Self { now: Paths::new(states), next: Paths::new(states), waiting: Vec::new() }
    }
}

/// The first match within a span of a text.
pub fn find(
    nfa: &NFA,
    cache: &mut SimulationCache,
    text: &str,
    span: Range<usize>,
    deadline: &Deadline<'_>,
) -> Result<Option<Range<usize>>, Stop> {
    let SimulationCache { now, next, waiting } = cache;
    let bytes = text.as_bytes();
    let (mut found, mut visits) = (None, 0);
    now.alive.clear();
    for at in span.start..=span.end {
        if found.is_none() && text.is_char_boundary(at) {
            visits += enter(nfa, now, waiting, nfa.start_anchored(), at, bytes, at);
        }
        if found.is_some() && now.alive.is_empty() {
            break;
        }
        let byte = bytes[..span.end].get(at).copied();
        next.alive.clear();
        for &(state, start) in &now.alive {
            let target = match (nfa.state(state), byte) {
                (State::Match { .. }, _) => {
                    // Those behind it are worse.
                    found = Some(start..at);
                    break;
                }
                (State::ByteRange { trans }, Some(byte)) => {
                    trans.matches_byte(byte).then_some(trans.next)
                }
                (State::Sparse(transitions), Some(byte)) => transitions.matches_byte(byte),
                (State::Dense(transitions), Some(byte)) => transitions.matches_byte(byte),
                _ => None,
            };
            visits += 1;
            if let Some(target) = target {
                visits += enter(nfa, next, waiting, target, start, bytes, at + 1);
            }
        }
        visits += 1;
        if visits >= VISITS {
            deadline.check()?;
            visits = 0;
        }
        std::mem::swap(now, next);
    }
    Ok(found)
}

/// Adds a path at a state, and at every state that follows without a byte. Returns the number of visits.
fn enter(
    nfa: &NFA,
    paths: &mut Paths,
    waiting: &mut Vec<StateID>,
    state: StateID,
    start: usize,
    bytes: &[u8],
    at: usize,
) -> usize {
    let mut visits = 0;
    waiting.push(state);
    while let Some(state) = waiting.pop() {
        visits += 1;
        if !paths.insert(state, start) {
            continue;
        }
        match nfa.state(state) {
            State::Look { look, next } if LookMatcher::new().matches(*look, bytes, at) => {
                waiting.push(*next);
            }
            // The best is entered first.
            State::Union { alternates } => waiting.extend(alternates.iter().rev()),
            State::BinaryUnion { alt1, alt2 } => waiting.extend([*alt2, *alt1]),
            State::Capture { next, .. } => waiting.push(*next),
            _ => {}
        }
    }
    visits
}
