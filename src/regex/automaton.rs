//! Matching by lazy automata, whose states are made while a text is read.
//!
//! Two searches share one automaton:
//!
//! - the fast one, of `regex-automata`, gives up where a pattern makes it throw its states away again
//!   and again. So it never takes long over a block;
//! - the patient one goes on byte by byte and looks at the deadline. It is used for the rest of a block
//!   that the fast one gave up on, and for lines that are longer than a block.
//!
//! A lazy automaton cannot match Unicode's `\b` beside bytes that are not ASCII. Lines with such
//! bytes are then matched by `regex-automata`'s other engines. Those cannot be stopped, so where they could take
//! long, [`simulation`] matches instead.

use std::ops::Range;

use regex_automata::hybrid::dfa::{self, Cache, DFA};
use regex_automata::hybrid::{LazyStateID, StartError, regex as lazy};
use regex_automata::nfa::thompson::{self, WhichCaptures};
use regex_automata::util::prefilter::Prefilter;
use regex_automata::util::start;
use regex_automata::{Anchored, Input, MatchErrorKind, MatchKind, meta};
use regex_syntax::hir::Hir;

use super::line_pattern::parts;
use super::simulation::{self, SimulationCache};
use super::{BLOCK_BYTES, MAX_COMPILED_BYTES, PatternFlaw};
use crate::deadline::{Deadline, Stop};
use crate::text::{line_around, line_end};

/// How many bytes of states each automaton keeps in each thread.
const CACHE_BYTES: usize = 1 << 20;

/// The longest search of the engines that cannot be stopped: how many parts the pattern has, times how many bytes
/// it reads. Measured for the worst patterns of `cost_of_a_search_that_cannot_be_stopped`: 15 ns for each, so 16 ms
/// for all.
const MAX_COST: u64 = 1 << 20;

/// How many bytes the patient search reads between two looks at the deadline. A new state of the
/// largest automaton takes some 0.1 ms.
const PATIENT_BYTES: usize = 64;

#[derive(Debug)]
pub struct Automaton {
    fast: lazy::Regex,
    patient: Patient,
    /// For the lines that lazy automata cannot match; only patterns with Unicode's `\b` have it.
    other: Option<Other>,
    is_multiline: bool,
}

/// The engines that match everything.
#[derive(Debug)]
struct Other {
    /// They are fast, but cannot be stopped.
    engines: meta::Regex,
    /// How many parts the pattern has.
    parts: u64,
}

/// The automata that never give up: one finds the ends of matches, and one finds their starts.
#[derive(Debug)]
struct Patient {
    forward: DFA,
    reverse: DFA,
}

/// The states that one thread has made.
#[derive(Debug)]
pub struct AutomatonCache {
    fast: lazy::Cache,
    patient: Option<(Cache, Cache)>,
    other: Option<meta::Cache>,
    simulation: Option<SimulationCache>,
    /// Whether the fast search has given up on this pattern.
    has_given_up: bool,
}

#[cfg(test)]
impl AutomatonCache {
    /// Has the patient search do everything from now on.
    pub fn give_up(&mut self) {
        self.has_given_up = true;
    }
}

/// Why a lazy automaton has no answer.
enum Trouble {
    /// It makes too many states.
    GaveUp,
    /// It cannot match the byte at this offset.
    Quit(usize),
    Stop(Stop),
}

impl From<Stop> for Trouble {
    fn from(stop: Stop) -> Self {
        Self::Stop(stop)
    }
}

impl Automaton {
    /// Compiles a pattern whose matches lie within lines, unless `is_multiline` says otherwise.
    pub fn compile(hir: &Hir, is_multiline: bool) -> Result<Self, PatternFlaw> {
        let prefilter = Prefilter::from_hir_prefix(MatchKind::LeftmostFirst, hir);
        let prefilter = prefilter.filter(Prefilter::is_fast);
        let has_prefilter = prefilter.is_some();
        let forward = fast_config().prefilter(prefilter).specialize_start_states(has_prefilter);
        let fast = lazy::Builder::new().build_from_dfas(
            automaton(forward, &nfa(hir, false)?)?,
            automaton(fast_config().match_kind(MatchKind::All), &nfa(hir, true)?)?,
        );
        let needs_other = hir.properties().look_set().contains_word_unicode();
        let other = needs_other.then(|| other_engines(hir)).transpose()?;
        Ok(Self { fast, patient: Patient::compile(hir)?, other, is_multiline })
    }

    pub fn cache(&self) -> AutomatonCache {
        let fast = self.fast.create_cache();
        AutomatonCache { fast, patient: None, other: None, simulation: None, has_given_up: false }
    }

    /// The first match within a span.
    pub fn find(
        &self,
        cache: &mut AutomatonCache,
        text: &str,
        span: Range<usize>,
        deadline: &Deadline<'_>,
    ) -> Result<Option<Range<usize>>, Stop> {
        let mut span = span;
        loop {
            let found = if cache.has_given_up || span.len() > BLOCK_BYTES {
                self.patient.find(&mut cache.patient, text, span.clone(), deadline)
            } else {
                self.find_fast(cache, text, span.clone())
            };
            let offset = match found {
                Ok(found) => return Ok(found),
                Err(Trouble::Stop(stop)) => return Err(stop),
                // The patient search never gives up.
                Err(Trouble::GaveUp) if cache.has_given_up => return Err(Stop::TooCostly),
                Err(Trouble::GaveUp) => {
                    cache.has_given_up = true;
                    continue;
                }
                Err(Trouble::Quit(offset)) => offset,
            };
            let part = self.part_around(text, offset, &span);
            let end = part.end;
            if let Some(found) = self.find_beside_unicode(cache, text, part, deadline)? {
                return Ok(Some(found));
            }
            if end >= span.end {
                return Ok(None);
            }
            span.start = end + 1;
        }
    }

    /// The part of a span in which a match may be that was not found because of the byte at an offset.
    fn part_around(&self, text: &str, offset: usize, span: &Range<usize>) -> Range<usize> {
        if self.is_multiline {
            return span.clone();
        }
        // An automaton reports a match one byte late, so a match may end at the end of the line before.
        let start = line_around(text, offset.saturating_sub(1)).start;
        span.start.max(start)..span.end.min(line_end(text, offset))
    }

    fn find_fast(
        &self,
        cache: &mut AutomatonCache,
        text: &str,
        span: Range<usize>,
    ) -> Result<Option<Range<usize>>, Trouble> {
        match self.fast.try_search(&mut cache.fast, &Input::new(text).span(span)) {
            Ok(found) => Ok(found.map(|found| found.range())),
            Err(error) => Err(match error.kind() {
                MatchErrorKind::Quit { offset, .. } => Trouble::Quit(*offset),
                _ => Trouble::GaveUp,
            }),
        }
    }

    fn find_beside_unicode(
        &self,
        cache: &mut AutomatonCache,
        text: &str,
        span: Range<usize>,
        deadline: &Deadline<'_>,
    ) -> Result<Option<Range<usize>>, Stop> {
        deadline.check()?;
        let Some(Other { engines, parts }) = &self.other else { return Ok(None) };
        if parts.saturating_mul(span.len() as u64) > MAX_COST {
            let nfa = self.patient.forward.get_nfa();
            let cache = cache.simulation.get_or_insert_with(|| SimulationCache::new(nfa));
            return simulation::find(nfa, cache, text, span, deadline);
        }
        let cache = cache.other.get_or_insert_with(|| engines.create_cache());
        let found = engines.search_with(cache, &Input::new(text).span(span));
        Ok(found.map(|found| found.range()))
    }
}

fn other_engines(hir: &Hir) -> Result<Other, PatternFlaw> {
    let config = meta::Config::new()
        .which_captures(WhichCaptures::Implicit)
        .onepass(false)
        .nfa_size_limit(Some(MAX_COMPILED_BYTES));
    let engines = meta::Builder::new().configure(config).build_from_hir(hir);
    let engines = engines.map_err(|_| PatternFlaw::too_large())?;
    Ok(Other { engines, parts: parts(hir) })
}

impl Patient {
    fn compile(hir: &Hir) -> Result<Self, PatternFlaw> {
        Ok(Self {
            forward: automaton(patient_config(), &nfa(hir, false)?)?,
            reverse: automaton(patient_config().match_kind(MatchKind::All), &nfa(hir, true)?)?,
        })
    }

    /// The first match within a span.
    fn find(
        &self,
        cache: &mut Option<(Cache, Cache)>,
        text: &str,
        span: Range<usize>,
        deadline: &Deadline<'_>,
    ) -> Result<Option<Range<usize>>, Trouble> {
        let Self { forward, reverse } = self;
        let new = || (forward.create_cache(), reverse.create_cache());
        let (ends, starts) = cache.get_or_insert_with(new);
        let mut from = span.start;
        loop {
            let Some(end) = last_end(forward, ends, text, from..span.end, deadline)? else {
                return Ok(None);
            };
            let start = first_start(reverse, starts, text, from..end, deadline)?.unwrap_or(end);
            // An empty match can stand inside of a character.
            if start < end || text.is_char_boundary(end) {
                return Ok(Some(start..end));
            }
            from = end + 1;
        }
    }
}

/// Where the first match within a span ends.
fn last_end(
    automaton: &DFA,
    cache: &mut Cache,
    text: &str,
    span: Range<usize>,
    deadline: &Deadline<'_>,
) -> Result<Option<usize>, Trouble> {
    let bytes = text.as_bytes();
    let mut state = start_state(automaton, cache, Anchored::No, bytes, span.start.checked_sub(1))?;
    let mut end = None;
    for at in span.clone() {
        if at % PATIENT_BYTES == 0 {
            deadline.check()?;
        }
        state = next_state(automaton, cache, state, bytes, at)?;
        // An automaton says one byte late that it matches.
        if state.is_match() {
            end = Some(at);
        } else if state.is_dead() {
            return Ok(end);
        }
    }
    let beyond = Some(span.end).filter(|&at| at < bytes.len());
    let state = end_state(automaton, cache, state, bytes, beyond)?;
    Ok(if state.is_match() { Some(span.end) } else { end })
}

/// Where the longest match that ends at the end of a span begins.
fn first_start(
    automaton: &DFA,
    cache: &mut Cache,
    text: &str,
    span: Range<usize>,
    deadline: &Deadline<'_>,
) -> Result<Option<usize>, Trouble> {
    let bytes = text.as_bytes();
    let after = Some(span.end).filter(|&at| at < bytes.len());
    let mut state = start_state(automaton, cache, Anchored::Yes, bytes, after)?;
    let mut start = None;
    for at in span.clone().rev() {
        if at % PATIENT_BYTES == 0 {
            deadline.check()?;
        }
        state = next_state(automaton, cache, state, bytes, at)?;
        if state.is_match() {
            start = Some(at + 1);
        } else if state.is_dead() {
            return Ok(start);
        }
    }
    let state = end_state(automaton, cache, state, bytes, span.start.checked_sub(1))?;
    Ok(if state.is_match() { Some(span.start) } else { start })
}

/// The state at the beginning of a search, by the byte beside it.
fn start_state(
    automaton: &DFA,
    cache: &mut Cache,
    anchored: Anchored,
    bytes: &[u8],
    beside: Option<usize>,
) -> Result<LazyStateID, Trouble> {
    let config =
        start::Config::new().anchored(anchored).look_behind(beside.map(|beside| bytes[beside]));
    automaton.start_state(cache, &config).map_err(|error| match (error, beside) {
        (StartError::Quit { .. }, Some(beside)) => Trouble::Quit(beside),
        _ => Trouble::GaveUp,
    })
}

fn next_state(
    automaton: &DFA,
    cache: &mut Cache,
    state: LazyStateID,
    bytes: &[u8],
    at: usize,
) -> Result<LazyStateID, Trouble> {
    match automaton.next_state(cache, state, bytes[at]) {
        Ok(state) if state.is_quit() => Err(Trouble::Quit(at)),
        Ok(state) => Ok(state),
        Err(_) => Err(Trouble::GaveUp),
    }
}

/// The state at the end of a search, by the byte beyond it.
fn end_state(
    automaton: &DFA,
    cache: &mut Cache,
    state: LazyStateID,
    bytes: &[u8],
    beyond: Option<usize>,
) -> Result<LazyStateID, Trouble> {
    match beyond {
        Some(at) => next_state(automaton, cache, state, bytes, at),
        None => automaton.next_eoi_state(cache, state).map_err(|_| Trouble::GaveUp),
    }
}

fn nfa(hir: &Hir, is_reverse: bool) -> Result<thompson::NFA, PatternFlaw> {
    let config = thompson::Config::new()
        .reverse(is_reverse)
        .which_captures(WhichCaptures::None)
        .nfa_size_limit(Some(MAX_COMPILED_BYTES));
    let compiled = thompson::Compiler::new().configure(config).build_from_hir(hir);
    compiled.map_err(|_| PatternFlaw::too_large())
}

fn automaton(config: dfa::Config, nfa: &thompson::NFA) -> Result<DFA, PatternFlaw> {
    dfa::Builder::new()
        .configure(config)
        .build_from_nfa(nfa.clone())
        .map_err(|error| PatternFlaw::of_whole(error.to_string()))
}

/// The fast search gives up when it has thrown its states away three times, if they served for less
/// than ten bytes each.
fn fast_config() -> dfa::Config {
    patient_config().minimum_cache_clear_count(Some(3)).minimum_bytes_per_state(Some(10))
}

fn patient_config() -> dfa::Config {
    dfa::Config::new()
        .cache_capacity(CACHE_BYTES)
        // A large pattern gets the memory that its states need.
        .skip_cache_capacity_check(true)
        .unicode_word_boundary(true)
}
