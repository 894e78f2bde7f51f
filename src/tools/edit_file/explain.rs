//! The sentence for an `old_string` that does not occur.

use std::fmt::Write;

use super::closest::{Closest, Difference};
use super::common_start;
use super::fold::Folding;

/// Lines with more bytes are not compared with a text that begins inside of them.
const MAX_LINE_BYTES: usize = 4096;

/// What is wrong, where the closest lines are, and what to do.
pub fn explain(text: &str, old: &str, closest: Option<&Closest>) -> String {
    let Some(closest) = closest else {
        return "does not occur in the file, and no lines are like it: read the file, and copy the text from \
                there"
            .to_owned();
    };
    let (lines, are, match_) = match (closest.start_line, closest.end_line) {
        (first, last) if first == last => (format!("line {first}"), "is", "matches"),
        (first, last) => (format!("lines {first} to {last}"), "are", "match"),
    };
    let hint = match closest.difference {
        Difference::AlreadyApplied => format!(
            "new_string stands already at {lines}, so this edit may have been made before: read these lines"
        ),
        Difference::LineNumbers => format!(
            "its lines begin with line numbers, which are not in the file: leave them out, and {lines} {match_}"
        ),
        Difference::Escapes => format!(
            "{lines} {match_} if \\n, \\t, \\\" and \\\\ stand for the characters: send the characters as the \
             file has them, each backslash as one backslash"
        ),
        Difference::FinalNewline => format!(
            "the file's last line, line {}, has no line end: leave out the line end after it in old_string",
            closest.end_line
        ),
        difference => {
            let place = first_difference(text, old, closest);
            let place = place.map_or_else(String::new, |place| format!(": {place}"));
            if difference == Difference::Other {
                format!("{lines} {are} the closest{place}")
            } else {
                let (reason, way_out) = (in_words(difference), way_out_of(difference));
                format!("{lines} {match_} but for {reason}{place}{way_out}")
            }
        }
    };
    format!("does not occur in the file; {hint}")
}

/// What else to do about a difference. Some models cannot write such a character, however often they are told.
pub fn way_out_of(difference: Difference) -> &'static str {
    match difference {
        Difference::Lookalike | Difference::UnicodeForm => {
            "; send that character, or quote a part of the text without it"
        }
        _ => "",
    }
}

/// A difference that a folding explains.
pub fn in_words(difference: Difference) -> &'static str {
    match difference {
        Difference::TrailingWhitespace => "spaces or tabs at the end of a line",
        Difference::Indentation => "the indentation",
        Difference::Whitespace => "spaces and tabs",
        Difference::Lookalike => "characters that look alike or are invisible",
        Difference::UnicodeForm => "the Unicode form of a character",
        Difference::Case => "capital and small letters",
        _ => "something else",
    }
}

/// The first difference between the closest lines and a text: where, and what stands there in both.
fn first_difference(text: &str, old: &str, closest: &Closest) -> Option<String> {
    let first = usize::try_from(closest.start_line - 1).ok()?;
    let mut lines = text.split('\n').skip(first);
    let mut wanted = old.split('\n').enumerate().peekable();
    while let Some((index, wanted_line)) = wanted.next() {
        let is_last = wanted.peek().is_none();
        let Some(line) = lines.next() else {
            return Some(format!("the file ends before line {} of old_string", index + 1));
        };
        let start = if index == 0 { start_in(line, wanted_line, is_last) } else { 0 };
        let found = &line[start..];
        let same = common_start(found, wanted_line);
        let (here, there) = (&found[same..], &wanted_line[same..]);
        if there.is_empty() && (here.is_empty() || is_last) {
            continue;
        }
        let number = closest.start_line + index as u64;
        return Some(difference_at(number, line, start + same, there, "old_string"));
    }
    None
}

/// Where in a line of the file the first line of a text begins, which need not begin a line.
fn start_in(line: &str, wanted: &str, is_only: bool) -> usize {
    let is_blank = |character: char| matches!(character, ' ' | '\t');
    if wanted.trim_matches(is_blank).is_empty() {
        return if is_only { 0 } else { line.trim_end_matches(is_blank).len() };
    }
    if line.len() > MAX_LINE_BYTES || wanted.len() > MAX_LINE_BYTES {
        return 0;
    }
    let folded = Folding::Case.of_part(wanted);
    let begins_here = |at: &usize| {
        let rest = Folding::Case.of_part(&line[*at..]);
        if is_only { rest.starts_with(&*folded) } else { rest == folded }
    };
    let mut starts = line.char_indices().rev().map(|(at, _)| at);
    let at = starts.find(begins_here).unwrap_or(0);
    // The blanks before it belong to the text, too.
    if wanted.starts_with(is_blank) { line[..at].trim_end_matches(is_blank).len() } else { at }
}

/// A difference in a line of the file, from the offset `at` on. `there` is what was sent in its place, and `sent` the
/// name of that text.
pub fn difference_at(number: u64, line: &str, at: usize, there: &str, sent: &str) -> String {
    let is_blank = |character: char| matches!(character, ' ' | '\t');
    let here = &line[at..];
    // Of a run of blanks the whole is told.
    let before = line[..at].len() - line[..at].trim_end_matches(is_blank).len();
    let run = |text: &str| text.len() - text.trim_start_matches(is_blank).len();
    let blanks = &line[at - before..at];
    // A no-break space in place of a blank is told by its number.
    let is_of_ascii = |text: &str| text.bytes().next().is_none_or(|byte| byte.is_ascii());
    let is_about_blanks = (here.starts_with(is_blank) || there.starts_with(is_blank))
        && is_of_ascii(here)
        && is_of_ascii(there);
    let (start, found, wanted) = if is_about_blanks {
        let found = format!("{blanks}{}", &here[..run(here)]);
        let wanted = format!("{blanks}{}", &there[..run(there)]);
        (at - before, blanks_in_words(&found), blanks_in_words(&wanted))
    } else {
        (at, character_in_words(here), character_in_words(there))
    };
    let column = line[..start].encode_utf16().count() + 1;
    format!("in line {number}, column {column}, the file has {found} where {sent} has {wanted}")
}

fn blanks_in_words(blanks: &str) -> String {
    let mut words = String::new();
    let mut rest = blanks;
    while let Some(first) = rest.chars().next() {
        let after = rest.trim_start_matches(first);
        let (count, name) = (rest.len() - after.len(), if first == '\t' { "tab" } else { "space" });
        let comma = if words.is_empty() { "" } else { ", " };
        let plural = if count == 1 { "" } else { "s" };
        // Writing to a String cannot fail.
        let _ = write!(words, "{comma}{count} {name}{plural}");
        rest = after;
    }
    if words.is_empty() { "no space or tab".to_owned() } else { words }
}

fn character_in_words(text: &str) -> String {
    match text.chars().next() {
        None => "the end of the line".to_owned(),
        Some(' ') => "a space".to_owned(),
        Some('\t') => "a tab".to_owned(),
        Some(character) if character.is_ascii_graphic() => format!("`{character}`"),
        Some(character) if character.is_alphanumeric() => {
            format!("`{character}` (U+{:04X})", u32::from(character))
        }
        Some(character) => format!("U+{:04X}", u32::from(character)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::edit_file::closest::closest;

    fn explained(text: &str, old: &str) -> String {
        let closest = closest(text, old, "something new");
        explain(text, old, closest.as_ref())
    }

    fn ends(text: &str, old: &str, end: &str) {
        let sentence = explained(text, old);
        assert!(sentence.ends_with(end), "{sentence}");
    }

    const WAY_OUT: &str = "; send that character, or quote a part of the text without it";

    // Q46, Q47
    #[test]
    fn blanks_are_counted_and_named() {
        let end = "in line 2, column 1, the file has 1 tab where old_string has 4 spaces";
        ends("a\n\tb\n", "a\n    b\n", end);
        ends("f(a,  b)", "f(a, b)", "column 5, the file has 2 spaces where old_string has 1 space");
        ends(
            "a  \nb",
            "a\nb",
            "column 2, the file has 2 spaces where old_string has no space or tab",
        );
    }

    // Q39, Q41, Q42
    #[test]
    fn characters_that_look_alike_are_told_by_their_numbers() {
        for (text, old, end) in [
            ("say “Hi”", "say \"Hi\"", "column 5, the file has U+201C where old_string has `\"`"),
            ("it’s", "it's", "column 3, the file has U+2019 where old_string has `'`"),
            ("a\u{a0}b", "a b", "column 2, the file has U+00A0 where old_string has a space"),
            ("a\u{202f}b", "a b", "column 2, the file has U+202F where old_string has a space"),
            ("a\u{3000}b", "a b", "column 2, the file has U+3000 where old_string has a space"),
            ("a\u{2009}b", "a b", "column 2, the file has U+2009 where old_string has a space"),
            ("a\u{200b}b", "ab", "column 2, the file has U+200B where old_string has `b`"),
            ("a – b", "a - b", "column 3, the file has U+2013 where old_string has `-`"),
            ("a — b", "a - b", "column 3, the file has U+2014 where old_string has `-`"),
            ("a − b", "a - b", "column 3, the file has U+2212 where old_string has `-`"),
            (
                "and so on…",
                "and so on...",
                "column 10, the file has U+2026 where old_string has `.`",
            ),
        ] {
            let closest = closest(text, old, "something new").unwrap();
            assert_eq!(closest.difference, Difference::Lookalike, "{text}");
            ends(text, old, &format!("{end}{WAY_OUT}"));
        }
    }

    #[test]
    fn a_capital_letter_is_told() {
        ends("x = Hello", "hello", "column 5, the file has `H` where old_string has `h`");
    }

    #[test]
    fn a_text_that_begins_inside_of_a_line_is_compared_there() {
        let end = "in line 2, column 4, the file has 1 space where old_string has 2 spaces";
        ends("foo\nbar baz\n", "\nbar  baz", end);
        ends("foo(a, b)\n", " B)", "column 8, the file has `b` where old_string has `B`");
    }

    // Q44
    #[test]
    fn another_alphabet_is_told_by_its_numbers() {
        let end = "column 5, the file has `а` (U+0430) where old_string has `a`";
        ends("let а_value = compute(1);", "let a_value = compute(1);", end);
        let end = "column 6, the file has `ο` (U+03BF) where old_string has `o`";
        ends("let cοlour = mix(red);", "let colour = mix(red);", end);
    }

    // Q49
    #[test]
    fn another_number_of_blank_lines_is_told_where_they_begin_to_differ() {
        let end = "lines 1 to 3 are the closest: in line 3, column 1, the file has the end of the line \
                   where old_string has `s`";
        ends("first();\n\n\nsecond();\n", "first();\n\nsecond();", end);
    }
}
