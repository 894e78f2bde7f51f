//! Help for an `old_string` that does not occur: the lines that it may have meant, and how they differ.
//!
//! Nothing here is ever applied. Each difference is tried in the order of docs/contract.md §10, and the first
//! that explains the mismatch is told. Everything takes time linear in the file and the edit.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::ops::Range;

use super::fold::{Folding, unescaped, without_line_numbers};
use super::locate::{Places, places_of};
use crate::text::lines_ended;

/// How many lines of the file are shown at most.
pub const MAX_LINES: usize = 20;

/// How many UTF-16 units of them are shown at most.
pub const MAX_UNITS: usize = 20_000;

/// The lines of a file that are closest to a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Closest {
    /// The first line, from 1.
    pub start_line: u64,
    /// The last line.
    pub end_line: u64,
    /// The lines themselves, cut to [`MAX_LINES`] and [`MAX_UNITS`].
    pub text: String,
    /// How they differ.
    pub difference: Difference,
}

/// How a text differs from the lines of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Difference {
    /// The new text stands there already.
    AlreadyApplied,
    /// The lines of the text begin with line numbers.
    LineNumbers,
    /// One has an escape where the other has the character.
    Escapes,
    /// The text ends in a line end that the file does not have.
    FinalNewline,
    /// Spaces and tabs at the ends of lines.
    TrailingWhitespace,
    /// Spaces and tabs at the beginnings of lines.
    Indentation,
    /// Spaces and tabs anywhere.
    Whitespace,
    /// Characters that look alike, or that cannot be seen.
    Lookalike,
    /// The same characters, stored in another way.
    UnicodeForm,
    /// Capital and small letters.
    Case,
    /// Anything else.
    Other,
}

impl Difference {
    /// The name in the `difference` of an error.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::AlreadyApplied => "already_applied",
            Self::LineNumbers => "line_numbers",
            Self::Escapes => "escapes",
            Self::FinalNewline => "final_newline",
            Self::TrailingWhitespace => "trailing_whitespace",
            Self::Indentation => "indentation",
            Self::Whitespace => "whitespace",
            Self::Lookalike => "lookalike",
            Self::UnicodeForm => "unicode_form",
            Self::Case => "case",
            Self::Other => "other",
        }
    }
}

/// The foldings of whole lines that are tried, each with the difference that it explains. Each also ignores what
/// the ones before it ignore.
pub const LINE_FOLDINGS: [(Folding, Difference); 6] = [
    (Folding::TrailingBlanks, Difference::TrailingWhitespace),
    (Folding::Indentation, Difference::Indentation),
    (Folding::Blanks, Difference::Whitespace),
    (Folding::Lookalikes, Difference::Lookalike),
    (Folding::UnicodeForm, Difference::UnicodeForm),
    (Folding::Case, Difference::Case),
];

/// The lines of a file that `old` may have meant, which does not occur in it. `None` if none is near.
#[must_use]
pub fn closest(text: &str, old: &str, new: &str) -> Option<Closest> {
    if !new.is_empty()
        && let Places::One(start) = places_of(new, text)
    {
        return Some(at(text, start..start + new.len(), Difference::AlreadyApplied));
    }
    if let Some(span) = without_numbers(text, old) {
        return Some(at(text, span, Difference::LineNumbers));
    }
    if let Some(span) = escaped(text, old) {
        return Some(at(text, span, Difference::Escapes));
    }
    let final_newline = (Folding::FinalNewline, Difference::FinalNewline);
    for (folding, difference) in [final_newline].into_iter().chain(LINE_FOLDINGS) {
        if !folding.can_differ(text, old) {
            continue;
        }
        let (folded, wanted) = (folding.of_file(text), folding.of_part(old));
        if wanted.trim_matches('\n').is_empty() {
            continue;
        }
        if let Some(start) = memchr::memmem::find(folded.as_bytes(), wanted.as_bytes()) {
            // A folding keeps every line feed, so lines are counted in the folded text.
            let lines = lines_of(&folded, start..start + wanted.len());
            return Some(of_lines(text, lines, difference));
        }
    }
    most_alike(text, old).map(|lines| of_lines(text, lines, Difference::Other))
}

fn without_numbers(text: &str, old: &str) -> Option<Range<usize>> {
    without_line_numbers(old).find_map(|old| {
        let old = old.strip_suffix('\n').filter(|old| !old.is_empty()).unwrap_or(&old);
        // Of a text of numbers nothing is left.
        if old.trim().is_empty() {
            return None;
        }
        let start = memchr::memmem::find(text.as_bytes(), old.as_bytes())?;
        Some(start..start + old.len())
    })
}

/// The only place at which `old` occurs if escapes are undone, in `old` alone or in the file, too.
fn escaped(text: &str, old: &str) -> Option<Range<usize>> {
    let plain = unescaped(old);
    if !plain.text.is_empty()
        && plain.text != old
        && let Places::One(start) = places_of(&plain.text, text)
    {
        return Some(start..start + plain.text.len());
    }
    let file = unescaped(text);
    if file.text == text || plain.text.is_empty() {
        return None;
    }
    let Places::One(start) = places_of(&plain.text, &file.text) else { return None };
    Some(file.original(start)..file.original(start + plain.text.len()))
}

/// The lines that share most with a text: at least a third of its telling lines, or half of the words of its
/// longest one. Lines count from 0.
#[must_use]
pub fn most_alike(text: &str, old: &str) -> Option<Range<usize>> {
    let first = by_lines(text, old).or_else(|| by_words(text, old))?;
    let height = isize::try_from(old.lines().count()).unwrap_or(isize::MAX);
    let end = usize::try_from(first.saturating_add(height)).unwrap_or(0);
    let first = usize::try_from(first).unwrap_or(0);
    Some(first..end.min(text.lines().count()).max(first + 1))
}

/// Whether a line tells one place from others: `}` does not.
fn is_telling(line: &str) -> bool {
    line.chars().filter(|character| character.is_alphanumeric()).nth(2).is_some()
}

/// How many of the places with the most votes are compared line by line.
const MAX_COMPARED: usize = 4;

/// The line of the file on which the first line of `old` lies if as many as possible of its telling lines
/// lie on their like.
fn by_lines(text: &str, old: &str) -> Option<isize> {
    let mut wanted: HashMap<&str, isize> = HashMap::new();
    for (index, line) in (0..).zip(old.lines().map(str::trim)) {
        if is_telling(line) {
            wanted.entry(line).or_insert(index);
        }
    }
    let mut votes: HashMap<isize, usize> = HashMap::new();
    for (index, line) in (0..).zip(text.lines().map(str::trim)) {
        if let Some(wanted) = wanted.get(line) {
            *votes.entry(index - wanted).or_default() += 1;
        }
    }
    let mut votes: Vec<_> = votes.into_iter().collect();
    votes.sort_unstable_by_key(|&(first, votes)| (Reverse(votes), first));
    let (_, most) = *votes.first()?;
    let best = votes.iter().take(MAX_COMPARED).map(|&(first, _)| first);
    let best = best.max_by_key(|&first| (equal_lines(text, old, first), Reverse(first)))?;
    (most * 3 >= wanted.len()).then_some(best)
}

/// How many lines of `old` are those of the file if its first one lies on the line `first`: without the blanks around them,
/// and exactly.
fn equal_lines(text: &str, old: &str, first: isize) -> [usize; 2] {
    let lines = text.lines().skip(usize::try_from(first).unwrap_or(0));
    let pairs = lines.zip(old.lines().skip(usize::try_from(-first).unwrap_or(0)));
    let alike = pairs.filter(|(line, old)| line.trim() == old.trim());
    alike.fold([0; 2], |[alike, equal], (line, old)| [alike + 1, equal + usize::from(line == old)])
}

/// The same by the longest line of `old`: it lies on the line that shares most of its words.
fn by_words(text: &str, old: &str) -> Option<isize> {
    let longest = (0..).zip(old.lines()).filter(|(_, line)| is_telling(line));
    let (index, longest) = longest.max_by_key(|(index, line)| (line.len(), -index))?;
    let mut numbers = HashMap::new();
    for word in words_of(longest) {
        let number = numbers.len();
        numbers.entry(word).or_insert(number);
    }
    let mut last_seen = vec![usize::MAX; numbers.len()];
    let (mut best, mut best_line) = ((0, 1), 0);
    for (at, line) in text.lines().enumerate() {
        let (mut shared, mut all) = (0, 0);
        for word in words_of(line) {
            all += 1;
            if let Some(&number) = numbers.get(word)
                && last_seen[number] != at
            {
                last_seen[number] = at;
                shared += 1;
            }
        }
        let most = all.max(numbers.len()).max(1);
        if shared * best.1 > best.0 * most {
            (best, best_line) = ((shared, most), at);
        }
    }
    let is_near = best.0 * 2 >= best.1;
    is_near.then(|| isize::try_from(best_line).unwrap_or(isize::MAX).saturating_sub(index))
}

fn words_of(line: &str) -> impl Iterator<Item = &str> {
    let separates = |character: char| !character.is_alphanumeric() && character != '_';
    line.split(separates).filter(|word| !word.is_empty())
}

/// The lines of a span, from 0.
fn lines_of(text: &str, span: Range<usize>) -> Range<usize> {
    let line_feeds =
        |end: usize| usize::try_from(lines_ended(&text.as_bytes()[..end])).unwrap_or(usize::MAX);
    let last = span.end.max(span.start + 1) - 1;
    line_feeds(span.start)..line_feeds(last) + 1
}

fn at(text: &str, span: Range<usize>, difference: Difference) -> Closest {
    of_lines(text, lines_of(text, span), difference)
}

/// Lines of a text, from 0, cut to [`MAX_LINES`] and [`MAX_UNITS`].
#[must_use]
pub fn of_lines(text: &str, lines: Range<usize>, difference: Difference) -> Closest {
    let shown = text.split_inclusive('\n').skip(lines.start).take(lines.len().min(MAX_LINES));
    let mut units = 0;
    let shown: String = shown
        .flat_map(str::chars)
        .take_while(|character| {
            units += character.len_utf16();
            units <= MAX_UNITS
        })
        .collect();
    let shown = shown.strip_suffix('\n').unwrap_or(&shown).to_owned();
    let (start_line, end_line) = (lines.start as u64 + 1, lines.end as u64);
    Closest { start_line, end_line, text: shown, difference }
}

#[cfg(test)]
mod tests;
