//! Invisible characters, and characters that change how the text around them is seen.
//!
//! Names come from models and from disks, and both may be hostile: two names that look alike, a
//! text that is turned around, a sentence written in characters of no width. This is the one list
//! of such characters. [`NewFilePath`](super::NewFilePath) refuses them, messages show them
//! escaped, and hints leave out the names that hold them.

use std::fmt::{self, Write as _};

/// Whether a character is never seen where it stands, or changes how its neighbours are seen: Unicode's
/// `Default_Ignorable_Code_Point` (bidi controls, fillers, tags), line and paragraph separators, and a few
/// blanks that are no white space.
///
/// Variation selectors, U+200C and U+200D are not among them: behind a letter or a sign they are part of
/// how some people write. Control characters are not either: [`char::is_control`] knows them.
#[must_use]
pub fn is_invisible(character: char) -> bool {
    matches!(
        character,
        // Soft hyphen, grapheme joiner, Arabic letter mark.
        '\u{ad}' | '\u{34f}' | '\u{61c}'
            // Hangul fillers and Khmer's inherent vowels.
            | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180e}'
            // Zero width space, marks of direction.
            | '\u{200b}' | '\u{200e}' | '\u{200f}'
            // Separators of lines and paragraphs, embeddings and overrides.
            | '\u{2028}'..='\u{202e}'
            // Word joiner, invisible operators, isolates, deprecated format characters.
            | '\u{2060}'..='\u{206f}'
            // A braille pattern without dots, and fillers.
            | '\u{2800}' | '\u{3164}'
            | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
            // Shorthand and musical format controls, and a note without a head.
            | '\u{1bca0}'..='\u{1bca3}' | '\u{1d159}' | '\u{1d173}'..='\u{1d17a}'
            // Tags: whole texts can be written in them.
            | '\u{e0000}'..='\u{e00ff}' | '\u{e01f0}'..='\u{e0fff}'
    )
}

/// Whether a character is a variation selector: Mongolian, general or ideographic.
fn is_variation_selector(character: char) -> bool {
    matches!(
        character,
        '\u{180b}'..='\u{180d}' | '\u{180f}' | '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}'
    )
}

/// The characters of a text, each with whether it has to be escaped where the text is shown:
/// control characters, invisible ones, and variation selectors and joiners that belong to no
/// visible character. Whole texts can be hidden in rows of these.
pub fn marked(text: &str) -> impl Iterator<Item = (char, bool)> {
    let mut before = Before::Nothing;
    text.chars().map(move |character| {
        let (is_escaped, now) = match character {
            _ if character.is_control() || is_invisible(character) => (true, Before::Nothing),
            _ if is_variation_selector(character) => {
                let is_stray = before != Before::Visible;
                (is_stray, if is_stray { Before::Nothing } else { Before::Selector })
            }
            '\u{200c}' | '\u{200d}' => (before == Before::Nothing, Before::Nothing),
            _ => (false, Before::Visible),
        };
        before = now;
        (character, is_escaped)
    })
}

/// The kind of the character before.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    Nothing,
    Visible,
    /// The selector of a visible character.
    Selector,
}

/// Whether all characters of a text can be shown as they are.
#[must_use]
pub fn is_showable(text: &str) -> bool {
    // Nearly every name ends here.
    text.bytes().all(|byte| matches!(byte, b' '..=b'~'))
        || marked(text).all(|(_, is_escaped)| !is_escaped)
}

/// A text in a message: on one line, and nothing hidden in it. Control characters stand as `\n` or
/// `\u{1b}`, the others as `\u{202e}`.
#[derive(Debug, Clone, Copy)]
pub struct Escaped<'text>(pub &'text str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        marked(self.0).try_for_each(|(character, is_escaped)| match character {
            '\n' | '\r' | '\t' => write!(f, "{}", character.escape_default()),
            _ if is_escaped => write!(f, "{}", character.escape_unicode()),
            _ => f.write_char(character),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn escaped(text: &str) -> String {
        Escaped(text).to_string()
    }

    #[test]
    fn what_is_not_seen_is_escaped() {
        for character in [
            '\u{ad}',
            '\u{200b}',
            '\u{2028}',
            '\u{202e}',
            '\u{2061}',
            '\u{2064}',
            '\u{206a}',
            '\u{206f}',
            '\u{3164}',
            '\u{115f}',
            '\u{ffa0}',
            '\u{feff}',
            '\u{fff0}',
            '\u{fffb}',
            '\u{e0041}',
            '\u{e007f}',
            '\u{1b}',
            '\u{7f}',
            '\u{85}',
        ] {
            let shown = escaped(&format!("a{character}b"));
            assert_eq!(shown, format!("a{}b", character.escape_unicode()));
            assert!(!is_showable(&format!("a{character}b")));
        }
        assert_eq!(escaped("a\nb\tc\r"), r"a\nb\tc\r");
    }

    #[test]
    fn what_belongs_to_a_visible_character_stays() {
        for text in [
            "❤\u{fe0f}.md",
            "葛\u{e0100}城.txt",
            "👨\u{200d}👩\u{200d}👧",
            "❤\u{fe0f}\u{200d}🔥",
            "می\u{200c}خواهم",
            "1\u{fe0f}\u{20e3}",
            "a\u{a0}b\u{3000}c",
            "e\u{301}",
        ] {
            assert_eq!(escaped(text), text);
            assert!(is_showable(text));
        }
    }

    #[test]
    fn selectors_and_joiners_in_a_row_are_escaped() {
        assert_eq!(escaped("a\u{fe01}\u{fe02}"), "a\u{fe01}\\u{fe02}");
        assert_eq!(escaped("a\u{200d}\u{200c}\u{200d}"), "a\u{200d}\\u{200c}\\u{200d}");
        assert_eq!(escaped("\u{e0100}a"), "\\u{e0100}a");
    }

    proptest! {
        #[test]
        fn a_showable_text_is_shown_as_it_is(text in any::<String>()) {
            prop_assert_eq!(is_showable(&text), escaped(&text) == text);
        }
    }
}
