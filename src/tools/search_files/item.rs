//! The items of an answer: what a model is shown of a match.

use std::ops::Range;

use memchr::{memchr, memchr_iter, memrchr};

use super::SearchOptions;
use super::lines::{MAX_MATCHES_OF_LINE, MatchedLine};

/// How many UTF-16 units the texts of one page have.
pub const MAX_UNITS: usize = 1 << 20;

/// One item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Item {
    /// A match.
    Match(Box<MatchItem>),
    /// A file that has matches.
    File(FileItem),
}

/// A match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MatchItem {
    /// The file, relative to the root.
    pub path: String,
    /// The line in which it begins, from 1.
    pub line: u64,
    /// The column at which it begins, from 1, in UTF-16 units.
    pub column: u64,
    /// The matched text, cut to `max_line_chars`.
    pub text: String,
    /// The line, or a window around the match.
    pub line_text: String,
    /// The line of its last character; only with `multiline`.
    pub end_line: Option<u64>,
    /// The lines before it; only with `context_lines`.
    pub before: Option<Vec<String>>,
    /// The lines after it; only with `context_lines`.
    pub after: Option<Vec<String>>,
    /// Where `line_text` begins in the line, in UTF-16 units; only if the line was cut.
    pub line_offset: Option<u64>,
    /// How many matches of the line are left out; only on the last one that is not.
    pub more_in_line: Option<u64>,
}

/// A file that has matches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileItem {
    /// The file, relative to the root.
    pub path: String,
    /// How many matches it has.
    pub matches: u64,
    /// How many lines have a match; only with `output: "counts"`.
    pub matching_lines: Option<u64>,
}

impl Item {
    /// The file, relative to the root.
    #[must_use]
    pub fn path(&self) -> &str {
        match self {
            Self::Match(found) => &found.path,
            Self::File(file) => &file.path,
        }
    }

    /// How many UTF-16 units the item's texts have.
    pub(super) fn units(&self) -> usize {
        let found = match self {
            Self::Match(found) => found,
            Self::File(file) => return units(&file.path),
        };
        let context = found.before.iter().chain(&found.after).flatten();
        let texts = [&found.path, &found.text, &found.line_text].into_iter().chain(context);
        texts.map(|text| units(text)).sum()
    }
}

/// The item of the match with an index of a line.
pub(super) fn item_of(
    path: &str,
    text: &str,
    line: &MatchedLine,
    index: usize,
    options: &SearchOptions,
) -> MatchItem {
    let found = line.matches[index].clone();
    let most = options.max_line_chars;
    let whole = &text[line.span.clone()];
    let start = found.start - line.span.start;
    let in_line = start..(found.end - line.span.start).min(whole.len());
    let column = units(&whole[..start]);
    let (line_text, line_offset) = window(whole, &in_line, column, most);
    let end_line = line.number + line_feeds_before_last(&text[found.clone()]);
    let context =
        |lines: Vec<&str>| lines.into_iter().map(|line| cut(line, most).to_owned()).collect();
    let lines = options.context_lines;
    let is_last = index + 1 == MAX_MATCHES_OF_LINE;
    let more = line.count - line.matches.len() as u64;
    MatchItem {
        path: path.to_owned(),
        line: line.number,
        column: column as u64 + 1,
        text: cut(&text[found.clone()], most).to_owned(),
        line_text: line_text.to_owned(),
        end_line: options.multiline.then_some(end_line),
        before: (lines > 0).then(|| context(lines_before(text, line.span.start, lines))),
        after: (lines > 0).then(|| context(lines_after(text, last_offset(text, &found), lines))),
        line_offset: line_offset.map(|offset| offset as u64),
        more_in_line: (is_last && more > 0).then_some(more),
    }
}

/// The offset of a match's last character; of the match itself if it is empty.
fn last_offset(text: &str, found: &Range<usize>) -> usize {
    let last = text[found.clone()].chars().next_back().map_or(0, char::len_utf8);
    found.end - last
}

/// How many line feeds stand before a text's last character.
fn line_feeds_before_last(text: &str) -> u64 {
    let last = text.chars().next_back().map_or(0, char::len_utf8);
    memchr_iter(b'\n', &text.as_bytes()[..text.len() - last]).count() as u64
}

/// The lines before an offset at which a line begins, at most so many.
fn lines_before(text: &str, start: usize, most: usize) -> Vec<&str> {
    let mut lines = Vec::new();
    let mut end = start;
    while lines.len() < most && end > 0 {
        let above = &text[..end - 1];
        let start = memrchr(b'\n', above.as_bytes()).map_or(0, |line_feed| line_feed + 1);
        lines.push(&above[start..]);
        end = start;
    }
    lines.reverse();
    lines
}

/// The lines after that of an offset, at most so many.
fn lines_after(text: &str, offset: usize, most: usize) -> Vec<&str> {
    let Some(line_feed) = memchr(b'\n', &text.as_bytes()[offset..]) else { return Vec::new() };
    let rest = &text[offset + line_feed + 1..];
    if rest.is_empty() {
        return Vec::new();
    }
    rest.strip_suffix('\n').unwrap_or(rest).split('\n').take(most).collect()
}

/// How many UTF-16 units a text has.
fn units(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.encode_utf16().count() }
}

/// The longest beginning of a text with at most so many UTF-16 units.
fn cut(text: &str, most: usize) -> &str {
    if text.len() <= most { text } else { &text[..byte_offset(text, most)] }
}

/// The byte offset of the last character boundary that so many UTF-16 units reach.
fn byte_offset(text: &str, units: usize) -> usize {
    let mut left = units;
    for (offset, character) in text.char_indices() {
        match left.checked_sub(character.len_utf16()) {
            Some(rest) => left = rest,
            None => return offset,
        }
    }
    text.len()
}

/// A line's text if it has at most so many UTF-16 units, else a window of it around the match, and
/// the offset of the window in UTF-16 units. `before` is the number of units before the match.
fn window<'line>(
    line: &'line str,
    found: &Range<usize>,
    before: usize,
    most: usize,
) -> (&'line str, Option<usize>) {
    if line.len() <= most || units(line) <= most {
        return (line, None);
    }
    let matched = units(&line[found.clone()]);
    let after = units(&line[found.end..]);
    // The match stands in the middle, as far as the ends of the line allow.
    let lead = (most - matched.min(most)) / 2;
    let offset = before.saturating_sub(lead).min(before + matched + after - most);
    let mut start = byte_offset(line, offset);
    let mut start_units = units(&line[..start]);
    if start_units < offset {
        // The offset lies inside of a surrogate pair.
        start += line[start..].chars().next().map_or(0, char::len_utf8);
        start_units = units(&line[..start]);
    }
    let end = start + byte_offset(&line[start..], most - (start_units - offset));
    (&line[start..end], Some(start_units))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_lines_around_are_those_of_the_text() {
        let text = "a\nb\nc\n\nd\n";
        assert_eq!(lines_before(text, 4, 5), ["a", "b"]);
        assert_eq!(lines_before(text, 4, 1), ["b"]);
        assert_eq!(lines_after(text, 4, 5), ["", "d"]);
        assert_eq!(lines_after(text, 7, 5), [""; 0]);
        assert_eq!(lines_after("a\n\n", 0, 5), [""]);
        assert_eq!(lines_after("a\n", 0, 5), [""; 0]);
        assert_eq!(lines_after("a\n\n", 2, 5), [""; 0]);
    }

    fn line() -> impl Strategy<Value = String> {
        let character = prop_oneof![Just('a'), Just('é'), Just('😀'), Just('日')];
        prop::collection::vec(character, 1..80).prop_map(|characters| characters.iter().collect())
    }

    proptest! {
        #[test]
        fn a_window_is_a_part_of_the_line_that_holds_the_beginning_of_the_match(
            line in line(), at in any::<prop::sample::Index>(), length in 0_usize..5, most in 10_usize..40,
        ) {
            let starts: Vec<usize> = line.char_indices().map(|(start, _)| start).collect();
            let start = starts[at.index(starts.len())];
            let end = line[start..].char_indices().nth(length).map_or(line.len(), |(end, _)| start + end);
            let before = units(&line[..start]);
            let (shown, offset) = window(&line, &(start..end), before, most);
            prop_assert!(units(shown) <= most);
            let Some(offset) = offset else {
                prop_assert_eq!(shown, &line);
                return Ok(());
            };
            prop_assert!(units(shown) >= most - 2, "the room is used");
            let all: Vec<u16> = line.encode_utf16().collect();
            let part: Vec<u16> = shown.encode_utf16().collect();
            prop_assert_eq!(&all[offset..offset + part.len()], &part[..]);
            prop_assert!(offset <= before);
            prop_assert!(before + units(&line[start..end]) <= offset + part.len() + 1);
        }
    }
}
