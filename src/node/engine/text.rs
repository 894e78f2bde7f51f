//! Strings, from JavaScript and to it.
//!
//! V8 takes 1 to 5 ms to make a string of 1 MiB from UTF-8, on the thread of the event loop. From
//! Latin-1 or UTF-16 it takes a twentieth of that, so a worker converts a text to a [`JsText`] first.

use std::borrow::Cow;

use napi::JsString;
use napi::bindgen_prelude::{FromNapiValue, Unknown};

use crate::memory::{self, OutOfMemory};

/// A JavaScript string, read.
#[derive(Debug, PartialEq, Eq)]
pub enum Text {
    /// Well-formed Unicode.
    Unicode(String),
    /// It holds a lone surrogate, shown here as U+FFFD. No file name and no UTF-8 file can hold one.
    LoneSurrogate(String),
}

impl Text {
    /// The text, lone surrogates shown as U+FFFD.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Unicode(text) | Self::LoneSurrogate(text) => text,
        }
    }
}

/// Memory is checked before a string of more UTF-16 units than this is copied.
const LARGE: usize = 1 << 20;

/// The most bytes of UTF-8 that one UTF-16 unit becomes.
const MAX_UTF8_PER_UNIT: usize = 3;

/// Reads a string; `None` if the engine fails, as it does where there is no memory for the copy.
pub fn read(value: Unknown<'_>) -> Option<Text> {
    let string = JsString::from_unknown(value).ok()?;
    let units = string.utf16_len().ok()?;
    if units > LARGE {
        // napi-rs makes the copy, and ends the process if the allocation fails.
        memory::check(units.saturating_mul(MAX_UTF8_PER_UNIT)).ok()?;
    }
    let utf8 = string.into_utf8().ok()?.into_owned().ok()?;
    // Engines write U+FFFD for a lone surrogate; only the UTF-16 form tells it from a real one.
    if utf8.contains(char::REPLACEMENT_CHARACTER) {
        let utf16 = string.into_utf16().ok()?;
        if String::from_utf16(utf16.as_slice()).is_err() {
            return Some(Text::LoneSurrogate(utf8));
        }
    }
    Some(Text::Unicode(utf8))
}

/// A text in the form from which engines make a string fastest.
#[derive(Debug, PartialEq, Eq)]
pub enum JsText<'text> {
    /// Every character is below U+0100: a byte each.
    Latin1(Cow<'text, [u8]>),
    /// Any text.
    Utf16(Vec<u16>),
}

impl JsText<'_> {
    /// How many bytes the engine copies.
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

impl JsText<'static> {
    /// The narrowest form of a text that may be as large as a string can be.
    pub fn of_any_size(text: String) -> Result<Self, OutOfMemory> {
        if text.is_ascii() {
            return Ok(Self::Latin1(text.into_bytes().into()));
        }
        if text.chars().all(|character| u8::try_from(character).is_ok()) {
            let mut latin1 = memory::room_for(text.chars().count())?;
            latin1.extend(text.chars().filter_map(|character| u8::try_from(character).ok()));
            return Ok(Self::Latin1(latin1.into()));
        }
        let mut units = memory::room_for(text.encode_utf16().count())?;
        units.extend(text.encode_utf16());
        Ok(Self::Utf16(units))
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
            prop_assert_eq!(&back, &text);
            prop_assert_eq!(JsText::of_any_size(text.clone()), Ok(JsText::from(text)));
        }
    }
}
