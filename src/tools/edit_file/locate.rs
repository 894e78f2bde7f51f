//! The places at which a text occurs in another.

use memchr::memmem::Finder;

/// How many of many places are told.
pub const MAX_LISTED: usize = 10;

/// The places at which a text occurs. Occurrences that overlap count, too: `aa` occurs twice in `aaa`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Places {
    /// It does not occur.
    None,
    /// It occurs once: the offset.
    One(usize),
    /// It occurs more than once.
    Many {
        /// How often.
        count: u64,
        /// The offsets of the first [`MAX_LISTED`].
        first: Vec<usize>,
    },
}

/// Finds the places of a text that is not empty. Takes time linear in both texts, and if it occurs more than
/// once, 4 bytes of memory for each of its bytes.
pub fn places_of(needle: &str, text: &str) -> Places {
    let finder = Finder::new(needle);
    let Some(first) = finder.find(text.as_bytes()) else { return Places::None };
    // The next character, since matches of UTF-8 begin at characters.
    let rest = &text.as_bytes()[first + 1..];
    if finder.find(rest).is_none() {
        return Places::One(first);
    }
    count(needle.as_bytes(), text.as_bytes(), first)
}

/// The offsets of the occurrences that do not overlap, from the left.
pub fn separate_places<'text>(
    needle: &'text str,
    text: &'text str,
) -> impl Iterator<Item = usize> + 'text {
    memchr::memmem::find_iter(text.as_bytes(), needle.as_bytes())
}

/// Counts by the algorithm of Knuth, Morris and Pratt: to search anew after each occurrence would take
/// quadratic time in `aaaa…`.
fn count(needle: &[u8], text: &[u8], from: usize) -> Places {
    let borders = borders_of(needle);
    let (mut count, mut first) = (0, Vec::new());
    let mut matched = 0;
    for (at, &byte) in text.iter().enumerate().skip(from) {
        while matched > 0 && (matched == needle.len() || needle[matched] != byte) {
            matched = borders[matched - 1] as usize;
        }
        matched += usize::from(needle[matched] == byte);
        if matched == needle.len() {
            count += 1;
            if first.len() < MAX_LISTED {
                first.push(at + 1 - needle.len());
            }
        }
    }
    Places::Many { count, first }
}

/// For each beginning of a text the length of its longest border: a shorter beginning with which it also
/// ends.
fn borders_of(needle: &[u8]) -> Vec<u32> {
    let mut borders = vec![0_u32; needle.len()];
    let mut length = 0;
    for at in 1..needle.len() {
        while length > 0 && needle[length] != needle[at] {
            length = borders[length - 1] as usize;
        }
        length += usize::from(needle[length] == needle[at]);
        // A text to edit has far less than 4 GiB.
        borders[at] = u32::try_from(length).unwrap_or(u32::MAX);
    }
    borders
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn places_are_those_of_a_search_at_each_offset(
            needle in "[aé]{1,3}",
            text in "[aéb]{0,24}",
        ) {
            let all: Vec<_> =
                (0..text.len()).filter(|&at| text.as_bytes()[at..].starts_with(needle.as_bytes())).collect();
            let expected = match &*all {
                [] => Places::None,
                [one] => Places::One(*one),
                many => Places::Many {
                    count: many.len() as u64,
                    first: many.iter().copied().take(MAX_LISTED).collect(),
                },
            };
            prop_assert_eq!(places_of(&needle, &text), expected);
        }
    }

    // Q66
    #[test]
    fn a_million_places_are_counted_and_ten_are_told() {
        let text = "a".repeat(1 << 20);
        let Places::Many { count, first } = places_of("aa", &text) else { panic!() };
        assert_eq!((count, first), ((1 << 20) - 1, (0..10).collect()));
    }
}
