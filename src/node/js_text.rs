//! Text in the form that an engine takes by copying.
//!
//! From UTF-8 V8 makes a string of 1 MiB in 1 to 5 milliseconds, and it does so on the thread of
//! the event loop. From Latin-1 or UTF-16 that takes a twentieth, so a worker converts first.

use std::borrow::Cow;

/// A text, ready to become a JavaScript string.
#[derive(Debug, PartialEq, Eq)]
pub enum JsText<'text> {
    /// Every character is below U+0100: a byte each.
    Latin1(Cow<'text, [u8]>),
    /// Any text.
    Utf16(Vec<u16>),
}

impl JsText<'_> {
    /// How many bytes the engine copies.
    #[must_use]
    pub fn bytes(&self) -> usize {
        match self {
            Self::Latin1(bytes) => bytes.len(),
            Self::Utf16(units) => size_of_val(units.as_slice()),
        }
    }
}

impl<'text> From<Cow<'text, str>> for JsText<'text> {
    fn from(text: Cow<'text, str>) -> Self {
        if text.is_ascii() {
            return Self::Latin1(match text {
                Cow::Borrowed(text) => text.as_bytes().into(),
                Cow::Owned(text) => text.into_bytes().into(),
            });
        }
        let latin1: Result<Vec<u8>, _> = text.chars().map(u8::try_from).collect();
        latin1.map_or_else(
            |_| Self::Utf16(text.encode_utf16().collect()),
            |latin1| Self::Latin1(latin1.into()),
        )
    }
}

impl From<String> for JsText<'_> {
    fn from(text: String) -> Self {
        Cow::<str>::Owned(text).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_narrowest_form_is_chosen() {
        assert_eq!(JsText::from("a\n".to_owned()), JsText::Latin1(b"a\n".into()));
        assert_eq!(JsText::from("é\u{ff}".to_owned()), JsText::Latin1(vec![0xE9, 0xFF].into()));
        assert_eq!(JsText::from("aĀ".to_owned()), JsText::Utf16(vec![0x61, 0x100]));
        assert_eq!(JsText::from("😀".to_owned()), JsText::Utf16(vec![0xD83D, 0xDE00]));
    }

    proptest! {
        #[test]
        fn no_character_is_lost(text in any::<String>()) {
            let back = match JsText::from(text.clone()) {
                JsText::Latin1(bytes) => bytes.iter().copied().map(char::from).collect(),
                JsText::Utf16(units) => String::from_utf16(&units).unwrap(),
            };
            prop_assert_eq!(back, text);
        }
    }
}
