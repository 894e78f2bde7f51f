//! Patterns with brackets that are meant to the letter: `app/[id].tsx` is the name of a file in several
//! frameworks, and as a glob matches `app/i.tsx` and `app/d.tsx`.

use crate::sandbox::EntryKind;
use crate::tools::failure::Failure;
use crate::tree::{Globs, WalkEntry};

/// A pattern with brackets, which may be meant to the letter.
pub struct BracketPattern {
    /// Its place in the list.
    pub index: usize,
    /// The pattern alone.
    pub glob: Globs,
    /// Why the pattern is no glob. Then only the letters count.
    pub refusal: Option<Failure>,
}

/// Which of some bracket patterns have matched something.
#[derive(Debug, Clone)]
pub struct Matched(Vec<bool>);

impl Matched {
    pub fn none_of(bracket_patterns: &[BracketPattern]) -> Self {
        Self(vec![false; bracket_patterns.len()])
    }

    /// Notes those that match an entry.
    pub fn note(&mut self, bracket_patterns: &[BracketPattern], entry: &WalkEntry<'_>) {
        let is_folder = entry.kind == EntryKind::Folder;
        for (bracket_pattern, matched) in bracket_patterns.iter().zip(&mut self.0) {
            let matches = || bracket_pattern.glob.decide(entry.path.as_ref(), is_folder).is_some();
            *matched = *matched || matches();
        }
    }

    /// Notes those that have matched elsewhere.
    pub fn and(&mut self, elsewhere: &Self) {
        for (matched, other) in self.0.iter_mut().zip(&elsewhere.0) {
            *matched |= other;
        }
    }

    /// The bracket patterns that have matched nothing.
    pub fn others<'bracket_patterns>(
        &self,
        bracket_patterns: &'bracket_patterns [BracketPattern],
    ) -> Vec<&'bracket_patterns BracketPattern> {
        let pairs = bracket_patterns.iter().zip(&self.0);
        pairs
            .filter(|(_, matched)| !**matched)
            .map(|(bracket_pattern, _)| bracket_pattern)
            .collect()
    }
}

/// Whether a pattern has a bracket that begins a class. One that takes back is always a glob.
pub fn has_brackets(pattern: &str) -> bool {
    !pattern.starts_with('!') && characters(pattern).any(|(_, character)| character == '[')
}

/// The pattern with its brackets to the letter. Other wildcards stay what they are.
pub fn with_literal_brackets(pattern: &str) -> String {
    let mut letters = String::with_capacity(pattern.len() + 8);
    let mut end = 0;
    for (index, character) in characters(pattern) {
        if matches!(character, '[' | ']') {
            letters.push_str(&pattern[end..index]);
            letters.extend(['[', character, ']']);
            end = index + 1;
        }
    }
    letters + &pattern[end..]
}

/// The characters that stand for themselves or are wildcards: those after a `\` are left out.
fn characters(pattern: &str) -> impl Iterator<Item = (usize, char)> {
    let mut is_escaped = false;
    pattern.char_indices().filter(move |(_, character)| {
        let is_plain = !is_escaped;
        // On Windows `\` separates.
        is_escaped = is_plain && *character == '\\' && !cfg!(windows);
        is_plain
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_become_classes_of_themselves() {
        for (pattern, letters) in [
            ("app/[id].tsx", "app/[[]id[]].tsx"),
            ("[[...slug]]/*.ts", "[[][[]...slug[]][]]/*.ts"),
            ("a]", "a[]]"),
            ("{a,b}?*", "{a,b}?*"),
        ] {
            assert_eq!(with_literal_brackets(pattern), letters);
        }
    }

    #[test]
    #[cfg(not(windows))]
    fn an_escaped_bracket_is_none() {
        assert!(!has_brackets(r"a\[b"));
        assert!(has_brackets(r"a\\[b"));
        assert_eq!(with_literal_brackets(r"\[[a]"), r"\[[[]a[]]");
    }

    #[test]
    fn only_patterns_that_select_are_suspects() {
        assert!(has_brackets("[a]"));
        assert!(!has_brackets("![a]"));
        assert!(!has_brackets("a]"));
    }
}
