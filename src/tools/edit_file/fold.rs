//! Texts with their differences taken out, to find what a model may have meant.

use std::borrow::Cow;

use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

use crate::path::invisible::is_invisible;

/// What is taken out of a text. Each takes out all that the ones before it do, and none takes out a line
/// feed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Folding {
    /// The last line of a file has an end.
    FinalNewline,
    /// No line ends in spaces or tabs.
    TrailingBlanks,
    /// No line begins with them.
    Indentation,
    /// There are none.
    Blanks,
    /// Characters that look alike are one, and invisible ones are gone.
    Lookalikes,
    /// Characters are stored in one way: NFC.
    UnicodeForm,
    /// Letters are small.
    Case,
}

impl Folding {
    /// Whether the folding may find what the one before it did not.
    pub fn can_differ(self, file: &str, part: &str) -> bool {
        let is_normal = |text: &str| is_nfc_quick(text.chars()) == IsNormalized::Yes;
        match self {
            Self::FinalNewline => !file.ends_with('\n') && part.ends_with('\n'),
            Self::TrailingBlanks | Self::Indentation | Self::Blanks | Self::Case => true,
            Self::Lookalikes => !(file.is_ascii() && part.is_ascii()),
            Self::UnicodeForm => !(is_normal(file) && is_normal(part)),
        }
    }

    /// A file's text, with a line feed at its end.
    pub fn of_file(self, text: &str) -> String {
        let mut folded = self.of_part(text).into_owned();
        if !folded.ends_with('\n') {
            folded.push('\n');
        }
        folded
    }

    /// A part of a text.
    pub fn of_part(self, text: &str) -> Cow<'_, str> {
        let is_blank = |character: char| matches!(character, ' ' | '\t');
        match self {
            Self::FinalNewline => text.into(),
            Self::TrailingBlanks => by_line(text, |line| line.trim_end_matches(is_blank)).into(),
            Self::Indentation => by_line(text, |line| line.trim_matches(is_blank)).into(),
            Self::Blanks => text.split(is_blank).collect::<String>().into(),
            Self::Lookalikes | Self::UnicodeForm if text.is_ascii() => Self::Blanks.of_part(text),
            Self::Lookalikes => lookalikes_folded(text).into(),
            Self::UnicodeForm => lookalikes_folded(text).nfc().collect::<String>().into(),
            Self::Case => small(&Self::UnicodeForm.of_part(text)).into(),
        }
    }
}

/// The text in small letters. `str::to_lowercase` would make one of two letters of a sigma, depending on what
/// stands around it; here all three sigmas are one letter.
fn small(text: &str) -> String {
    let letters = text.chars().flat_map(char::to_lowercase);
    letters.map(|letter| if letter == 'ς' { 'σ' } else { letter }).collect()
}

fn by_line<'text>(text: &'text str, trim: impl Fn(&'text str) -> &'text str) -> String {
    let mut folded = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let (line, end) = line.strip_suffix('\n').map_or((line, ""), |line| (line, "\n"));
        folded.push_str(trim(line));
        folded.push_str(end);
    }
    folded
}

fn lookalikes_folded(text: &str) -> String {
    fold_lookalikes(text, "")
}

/// The text with typographic quotes, dashes, ellipses and blanks as the ASCII characters that they look like, and
/// without invisible characters.
pub fn plain_lookalikes(text: &str) -> String {
    fold_lookalikes(text, " ")
}

/// `blank` takes the place of each space other than a line or paragraph separator; of a plain space or a tab
/// only if it is empty.
fn fold_lookalikes(text: &str, blank: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' => folded.push('\n'),
            '\u{2018}'..='\u{201B}' | '\u{2032}' | '\u{00B4}' => folded.push('\''),
            '\u{201C}'..='\u{201F}' | '\u{2033}' | '\u{00AB}' | '\u{00BB}' => folded.push('"'),
            '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{FE58}' | '\u{FE63}' | '\u{FF0D}' => {
                folded.push('-');
            }
            '\u{2026}' => folded.push_str("..."),
            '\r' | '\u{000B}' | '\u{000C}' | '\u{0085}' | '\u{2028}' | '\u{2029}' => {
                folded.push(character);
            }
            ' ' | '\t' if !blank.is_empty() => folded.push(character),
            space if space.is_whitespace() => folded.push_str(blank),
            // Zero width non-joiner and joiner.
            '\u{200C}' | '\u{200D}' => {}
            hidden if is_invisible(hidden) => {}
            other => folded.push(other),
        }
    }
    folded
}

/// A text with `\n`, `\t`, `\"` and `\\` undone.
pub struct Unescaped<'text> {
    /// The text.
    pub text: Cow<'text, str>,
    /// The offsets in it of the characters that were escaped, ascending.
    undone: Vec<usize>,
}

impl Unescaped<'_> {
    /// The offset in the original of an offset in the text.
    pub fn original(&self, offset: usize) -> usize {
        offset + self.undone.partition_point(|&undone| undone < offset)
    }
}

/// Undoes escapes, from the left.
pub fn unescaped(text: &str) -> Unescaped<'_> {
    let mut plain = String::new();
    let mut undone = Vec::new();
    let mut copied = 0;
    let mut from = 0;
    while let Some(found) = memchr::memchr(b'\\', &text.as_bytes()[from..]) {
        let backslash = from + found;
        let character = match text.as_bytes().get(backslash + 1) {
            Some(b'n') => '\n',
            Some(b't') => '\t',
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            _ => {
                from = backslash + 1;
                continue;
            }
        };
        plain.push_str(&text[copied..backslash]);
        undone.push(plain.len());
        plain.push(character);
        (copied, from) = (backslash + 2, backslash + 2);
    }
    if undone.is_empty() {
        return Unescaped { text: text.into(), undone };
    }
    plain.push_str(&text[copied..]);
    Unescaped { text: plain.into(), undone }
}

/// What tools print between a line's number and the line. `grep -n` has one for matches and another for the
/// lines around them.
const SEPARATORS: [&[&str]; 9] =
    [&["\t"], &["→"], &[" | "], &["|"], &["│"], &[": "], &[":", "-"], &["  "], &[" "]];

/// The text without the line numbers with which all its lines begin, for each tool's separators if they fit.
/// The last of the lines may be empty. An empty line may lack the blanks at the end of its separator.
pub fn without_line_numbers(text: &str) -> impl Iterator<Item = String> {
    SEPARATORS.into_iter().filter_map(move |separators| {
        let mut plain = String::with_capacity(text.len());
        for line in text.split_inclusive('\n') {
            let (line, end) = line.strip_suffix('\n').map_or((line, ""), |line| (line, "\n"));
            let after = after_number(line)?;
            plain.push_str(separators.iter().find_map(|separator| {
                let is_empty_line = after == separator.trim_end();
                after.strip_prefix(separator).or_else(|| is_empty_line.then_some(""))
            })?);
            plain.push_str(end);
        }
        Some(plain)
    })
}

/// The rest of a line after a number such as ` 7`, or `L7` before a colon.
fn after_number(line: &str) -> Option<&str> {
    let line = line.trim_start_matches(' ');
    let number = line.strip_prefix('L').unwrap_or(line);
    let after = number.trim_start_matches(|character: char| character.is_ascii_digit());
    let is_number = after.len() < number.len();
    // `L1 cache` is a text.
    let is_labelled_by_tool = line.len() == number.len() || after.starts_with(':');
    (is_number && is_labelled_by_tool).then_some(after)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_offset_of_a_text_without_escapes_leads_back() {
        let plain = unescaped(r#"a\n\\b\q"c""#);
        assert_eq!(plain.text, "a\n\\b\\q\"c\"");
        for (offset, original) in [(0, 0), (1, 1), (2, 3), (3, 5), (4, 6), (5, 7)] {
            assert_eq!(plain.original(offset), original, "{offset}");
        }
    }

    #[test]
    fn line_numbers_are_taken_off_all_lines_or_none() {
        let first = |text: &str| without_line_numbers(text).next();
        assert_eq!(first("  1\ta\n 10\t\tb\n 11\n").as_deref(), Some("a\n\tb\n\n"));
        assert_eq!(first("1→a").as_deref(), Some("a"));
        assert_eq!(first("7: a\n8: b").as_deref(), Some("a\nb"));
        assert_eq!(first("7: a\nb"), None);
        assert_eq!(first("L7: a"), Some("a".to_owned()));
        assert_eq!(first("La: a"), None);
        assert_eq!(first("L1 cache"), None);
        assert_eq!(first(""), Some(String::new()));
    }

    #[test]
    fn each_folding_keeps_every_line_feed() {
        let text = " \u{2028}a\u{00A0}\u{200B}\n\n\t\u{201C}É…\u{0301}\u{0085} \n \n";
        for folding in [
            Folding::FinalNewline,
            Folding::TrailingBlanks,
            Folding::Indentation,
            Folding::Blanks,
            Folding::Lookalikes,
            Folding::UnicodeForm,
            Folding::Case,
        ] {
            assert_eq!(folding.of_part(text).matches('\n').count(), 4, "{folding:?}");
        }
    }
}
