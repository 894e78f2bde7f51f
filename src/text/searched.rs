//! A file's text as searching tools see it.

use std::borrow::Cow;

use super::decode::{InvalidUtf8, NotText, WideEncoding, decode, decode_lossy};
use super::line_ends::normalise_line_ends;

/// The largest text that is made of a file in another encoding, in bytes of UTF-8: 64 MiB.
pub const MAX_DECODED_BYTES: usize = 64 << 20;

/// Why a file has no text to search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotSearched {
    /// It is binary.
    Binary,
    /// Its text would have more than [`MAX_DECODED_BYTES`]: an ill-formed byte becomes three.
    TooLarge,
}

/// The text of a file as `readFile` shows it, with U+FFFD in place of bytes that are not UTF-8. A file in
/// UTF-16 has a text, too, if it has a byte order mark.
///
/// # Errors
///
/// [`NotSearched`].
pub fn searched_text(bytes: &[u8]) -> Result<Cow<'_, str>, NotSearched> {
    match WideEncoding::of(bytes) {
        Some(WideEncoding::Utf16LittleEndian) => utf16(&bytes[2..], u16::from_le_bytes),
        Some(WideEncoding::Utf16BigEndian) => utf16(&bytes[2..], u16::from_be_bytes),
        Some(_) => Err(NotSearched::Binary),
        None => match decode(bytes, InvalidUtf8::Reject) {
            Ok(decoded) => Ok(with_plain_line_ends(decoded.text)),
            Err(NotText::Invalid { .. }) => lossy(bytes),
            Err(_) => Err(NotSearched::Binary),
        },
    }
}

fn lossy(bytes: &[u8]) -> Result<Cow<'_, str>, NotSearched> {
    let replaced = |invalid: &[u8]| if invalid.is_empty() { 0 } else { 3 };
    let len = bytes.utf8_chunks().map(|chunk| chunk.valid().len() + replaced(chunk.invalid()));
    if len.sum::<usize>() > MAX_DECODED_BYTES {
        return Err(NotSearched::TooLarge);
    }
    let text = decode_lossy(bytes.to_vec()).map_err(|_| NotSearched::TooLarge)?;
    Ok(with_plain_line_ends(text.into()))
}

/// Decodes UTF-16. A lone surrogate, and half a unit at the end, read as U+FFFD.
fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Result<Cow<'static, str>, NotSearched> {
    let (pairs, rest) = bytes.as_chunks::<2>();
    let characters = || {
        let whole = char::decode_utf16(pairs.iter().map(|&pair| unit(pair)));
        let whole = whole.map(|character| character.unwrap_or(char::REPLACEMENT_CHARACTER));
        whole.chain((!rest.is_empty()).then_some(char::REPLACEMENT_CHARACTER))
    };
    let len = characters().map(char::len_utf8).sum();
    if len > MAX_DECODED_BYTES {
        return Err(NotSearched::TooLarge);
    }
    let mut text = String::with_capacity(len);
    text.extend(characters());
    Ok(with_plain_line_ends(text.into()))
}

fn with_plain_line_ends(text: Cow<'_, str>) -> Cow<'_, str> {
    match text {
        Cow::Borrowed(text) => normalise_line_ends(text),
        Cow::Owned(text) => match normalise_line_ends(&text) {
            Cow::Borrowed(_) => text.into(),
            Cow::Owned(normalised) => normalised.into(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn utf16_with_a_byte_order_mark_is_text() {
        let units: Vec<u16> = "a\r\n😀é".encode_utf16().collect();
        let little: Vec<u8> = units.iter().flat_map(|unit| unit.to_le_bytes()).collect();
        let big: Vec<u8> = units.iter().flat_map(|unit| unit.to_be_bytes()).collect();
        assert_eq!(searched_text(&[b"\xFF\xFE", &little[..]].concat()).unwrap(), "a\n😀é");
        assert_eq!(searched_text(&[b"\xFE\xFF", &big[..]].concat()).unwrap(), "a\n😀é");
        assert_eq!(searched_text(b"\xFF\xFEa\0\xD8\xD8b").unwrap(), "a\u{FFFD}\u{FFFD}");
        assert_eq!(searched_text(b"\xFF\xFE\0\0a\0\0\0"), Err(NotSearched::Binary));
    }

    #[test]
    fn ill_formed_bytes_are_replaced_and_nul_marks_a_binary_file() {
        assert_eq!(searched_text(b"\xEF\xBB\xBFa\xFFb\r\nc\rd").unwrap(), "a\u{FFFD}b\nc\rd");
        assert_eq!(searched_text(b"a\0b"), Err(NotSearched::Binary));
        let late = [vec![b'x'; 8192], vec![0]].concat();
        assert!(searched_text(&late).is_ok());
        let ill_formed = vec![0xFF; MAX_DECODED_BYTES / 3 + 1];
        assert_eq!(searched_text(&ill_formed), Err(NotSearched::TooLarge));
    }
}
