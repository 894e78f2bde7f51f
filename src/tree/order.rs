//! The order of paths: by the UTF-16 code units of the whole path, as JavaScript compares strings.
//!
//! In that order, the contents of the folder `a` come after `a.txt` and before `a0`, because `/`
//! stands between `.` and `0`. So a folder has two keys in the order: one for the folder itself, and one
//! for its contents.

use std::cmp::Ordering;

/// Where something stands among the entries of one folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SortKey<'name> {
    /// The bytes of an entry's name.
    pub(super) name: &'name [u8],
    /// Whether this is the place of the entry's contents: its name and a `/`.
    pub(super) is_contents: bool,
}

impl SortKey<'_> {
    fn byte(&self, at: usize) -> Option<u8> {
        let slash = (at == self.name.len() && self.is_contents).then_some(b'/');
        self.name.get(at).copied().or(slash)
    }
}

/// Compares two places as the UTF-16 code units of their paths compare.
pub(super) fn by_path(one: &SortKey<'_>, other: &SortKey<'_>) -> Ordering {
    let pairs = one.name.iter().zip(other.name);
    let equal = pairs.take_while(|(one, other)| one == other).count();
    match (one.byte(equal), other.byte(equal)) {
        (Some(one), Some(other)) => by_utf16(one, other),
        (one, other) => one.cmp(&other),
    }
}

/// Compares two paths as JavaScript compares strings.
#[must_use]
pub fn compare_paths(one: &str, other: &str) -> Ordering {
    compare_bytes(one.as_bytes(), other.as_bytes())
}

/// Compares the bytes of two paths so.
pub(super) fn compare_bytes(one: &[u8], other: &[u8]) -> Ordering {
    fn key(name: &[u8]) -> SortKey<'_> {
        SortKey { name, is_contents: false }
    }
    by_path(&key(one), &key(other))
}

/// Compares the first bytes in which two texts differ. Bytes of UTF-8 compare as code points. In UTF-16
/// the code points beyond U+FFFF, which begin with 0xF0 to 0xF4, are surrogates, and those come before
/// U+E000 to U+FFFF, which begin with 0xEE and 0xEF.
fn by_utf16(one: u8, other: u8) -> Ordering {
    let is_after_surrogates = |byte: u8| matches!(byte, 0xEE | 0xEF);
    match (is_after_surrogates(one), is_after_surrogates(other)) {
        (true, false) if other >= 0xF0 => Ordering::Greater,
        (false, true) if one >= 0xF0 => Ordering::Less,
        _ => one.cmp(&other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn name() -> impl Strategy<Value = String> {
        let character = prop_oneof![
            Just('a'),
            Just('-'),
            Just('0'),
            Just('\u{7f}'),
            Just('é'),
            Just('\u{d7ff}'),
            Just('\u{e000}'),
            Just('\u{ffee}'),
            Just('😀'),
            Just('\u{10ffff}'),
        ];
        prop::collection::vec(character, 1..4).prop_map(|characters| characters.iter().collect())
    }

    proptest! {
        #[test]
        fn places_compare_as_javascript_compares_their_paths(
            one in (name(), any::<bool>()),
            other in (name(), any::<bool>()),
        ) {
            let place = |place: &'_ (String, bool)| -> Vec<u16> {
                let slash = if place.1 { "/" } else { "" };
                format!("{}{slash}", place.0).encode_utf16().collect()
            };
            let expected = place(&one).cmp(&place(&other));
            let one = SortKey { name: one.0.as_bytes(), is_contents: one.1 };
            let other = SortKey { name: other.0.as_bytes(), is_contents: other.1 };
            prop_assert_eq!(by_path(&one, &other), expected);
        }
    }
}
