//! The patterns of one `.gitignore`, of which the last one that matches decides.
//!
//! The `ignore` crate of ripgrep parses and matches them. Its matcher for one list is one set of
//! automata, and one question to it cannot be interrupted. So a list is kept in parts, and between
//! two parts a caller can look at the clock.

use std::path::Path;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::glob::Verdict;

/// How many bytes of patterns that need an automaton one part has: matching it takes microseconds,
/// whatever the patterns are.
const AUTOMATON_BYTES_PER_PART: usize = 8 << 10;

/// How many bytes of patterns one part has at the most. A part's patterns are in memory twice while
/// it is built.
const BYTES_PER_PART: usize = 256 << 10;

/// A list of patterns, ready to be asked.
#[derive(Debug, Default)]
pub(super) struct PatternList {
    parts: Vec<Gitignore>,
}

/// Why a pattern is not in the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refused {
    /// It does not parse.
    Malformed,
    /// It, or the part of the list that it completes, needs too large an automaton.
    TooLarge,
}

impl PatternList {
    /// Whether the list has no pattern.
    pub(super) fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// The verdict of the last pattern that matches a path; `None` if none matches. The path
    /// includes the folder that the list is relative to, and lies beneath it.
    ///
    /// `cancelled` is asked between steps of work. After it says yes, nothing matches.
    pub(super) fn decide(
        &self,
        path: &Path,
        is_folder: bool,
        cancelled: &dyn Fn() -> bool,
    ) -> Option<Verdict> {
        self.parts.iter().rev().take_while(|_| !cancelled()).find_map(|part| {
            match part.matched(path, is_folder) {
                Match::None => None,
                Match::Ignore(_) => Some(Verdict::Selected),
                Match::Whitelist(_) => Some(Verdict::Reincluded),
            }
        })
    }
}

/// A list of patterns in the making.
pub(super) struct PatternListBuilder<'base> {
    base: &'base Path,
    done: Vec<Gitignore>,
    part: GitignoreBuilder,
    part_bytes: usize,
    part_automaton_bytes: usize,
}

impl<'base> PatternListBuilder<'base> {
    /// A list whose patterns are relative to a folder.
    pub(super) fn new(base: &'base Path) -> Self {
        Self {
            base,
            done: Vec::new(),
            part: new_part(base),
            part_bytes: 0,
            part_automaton_bytes: 0,
        }
    }

    /// Adds a pattern to the end of the list, as the `ignore` crate reads a line.
    pub(super) fn push(&mut self, pattern: &str) -> Result<(), Refused> {
        self.part.add_line(None, pattern).map_err(|_| Refused::Malformed)?;
        self.part_bytes += pattern.len();
        self.part_automaton_bytes += automaton_bytes(pattern);
        let is_full = self.part_bytes >= BYTES_PER_PART
            || self.part_automaton_bytes >= AUTOMATON_BYTES_PER_PART;
        if is_full { self.finish_part() } else { Ok(()) }
    }

    /// The list so far, without a last part that is too large, and whether there is one.
    pub(super) fn finish(mut self) -> (PatternList, Result<(), Refused>) {
        let finished = self.finish_part();
        (PatternList { parts: self.done }, finished)
    }

    fn finish_part(&mut self) -> Result<(), Refused> {
        let part = std::mem::replace(&mut self.part, new_part(self.base));
        (self.part_bytes, self.part_automaton_bytes) = (0, 0);
        let part = part.build().map_err(|_| Refused::TooLarge)?;
        if !part.is_empty() {
            self.done.push(part);
        }
        Ok(())
    }
}

fn new_part(base: &Path) -> GitignoreBuilder {
    let mut part = GitignoreBuilder::new(base);
    // Git has a pattern with an unclosed class match nothing.
    part.allow_unclosed_class(false);
    part
}

/// How many bytes of a pattern need an automaton: all of them, unless the crate looks the pattern up
/// in a table, as it does for plain names and paths and for `*.ext`.
pub(super) fn automaton_bytes(pattern: &str) -> usize {
    let rest = pattern.strip_prefix('!').unwrap_or(pattern);
    let rest = rest.strip_prefix("**/").unwrap_or(rest);
    let is_extension = |rest: &str| !rest.contains(['.', '/']);
    let rest = rest.strip_prefix("*.").filter(|rest| is_extension(rest)).unwrap_or(rest);
    if rest.contains(['*', '?', '[', '{']) { pattern.len() } else { 0 }
}
