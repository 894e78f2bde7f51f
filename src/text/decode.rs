//! Bytes as text: which files are text, and which text they hold.

use std::borrow::Cow;
use std::fmt;

use memchr::memchr;

use super::lines::lines_ended;
use crate::memory::{self, OutOfMemory};

/// How many leading bytes are searched for the NUL that marks a binary file.
pub const BINARY_CHECK_BYTES: usize = 8192;

/// The longest text, in bytes of UTF-8, that is sure to fit a string of every engine: 2^29 - 24,
/// V8's limit in UTF-16 units.
pub const MAX_STRING_BYTES: u64 = (1 << 29) - 24;

pub(super) const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// How bytes that are not UTF-8 are handled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum InvalidUtf8 {
    /// The file is refused: a silent U+FFFD, written back, destroys it.
    #[default]
    Reject,
    /// Each maximal ill-formed sequence reads as one U+FFFD, as `TextDecoder` does it, and they
    /// are counted.
    Replace,
}

/// A file's text, and how many replacement characters decoding put into it.
#[derive(Debug, PartialEq, Eq)]
pub struct Decoded<'file> {
    /// The text without a leading byte order mark, line ends as they stand in the file.
    pub text: Cow<'file, str>,
    /// `Some` under [`InvalidUtf8::Replace`] alone, where 0 means that the file is clean.
    pub replaced: Option<u64>,
}

/// Why bytes are not text. Offsets count bytes from 0, lines from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotText {
    /// NUL among the first [`BINARY_CHECK_BYTES`] bytes.
    #[error("binary file: NUL at byte {offset}")]
    Nul {
        /// Where it stands.
        offset: usize,
    },
    /// A byte order mark announces another encoding.
    #[error("not UTF-8: a byte order mark says {0}; convert the file to UTF-8 to read it")]
    ByteOrderMark(WideEncoding),
    /// The first bytes that are not UTF-8.
    #[error("not UTF-8: invalid byte 0x{value:02X} at byte {offset}, line {line}")]
    Invalid {
        /// Where the ill-formed sequence starts.
        offset: usize,
        /// The line it stands in.
        line: u64,
        /// Its first byte.
        value: u8,
    },
}

/// An encoding that is recognised by its byte order mark, to be named in a refusal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WideEncoding {
    /// `FF FE`
    Utf16LittleEndian,
    /// `FE FF`
    Utf16BigEndian,
    /// `FF FE 00 00`
    Utf32LittleEndian,
    /// `00 00 FE FF`
    Utf32BigEndian,
}

impl WideEncoding {
    pub(super) fn of(bytes: &[u8]) -> Option<Self> {
        match bytes {
            [0xFF, 0xFE, 0, 0, ..] => Some(Self::Utf32LittleEndian),
            [0, 0, 0xFE, 0xFF, ..] => Some(Self::Utf32BigEndian),
            [0xFF, 0xFE, ..] => Some(Self::Utf16LittleEndian),
            [0xFE, 0xFF, ..] => Some(Self::Utf16BigEndian),
            _ => None,
        }
    }
}

impl fmt::Display for WideEncoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Utf16LittleEndian => "UTF-16 (little-endian)",
            Self::Utf16BigEndian => "UTF-16 (big-endian)",
            Self::Utf32LittleEndian => "UTF-32 (little-endian)",
            Self::Utf32BigEndian => "UTF-32 (big-endian)",
        })
    }
}

/// Decodes a whole file as UTF-8 text, without one leading byte order mark.
///
/// # Errors
///
/// [`NotText`] for a NUL near the start and, under [`InvalidUtf8::Reject`], for the first bytes
/// that are not UTF-8.
pub fn decode(bytes: &[u8], invalid: InvalidUtf8) -> Result<Decoded<'_>, NotText> {
    let encoding = WideEncoding::of(bytes);
    if let Some(offset) = early_nul(bytes) {
        return Err(encoding.map_or(NotText::Nul { offset }, NotText::ByteOrderMark));
    }
    let body = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
    match (simdutf8::compat::from_utf8(body), invalid) {
        (Ok(text), InvalidUtf8::Reject) => Ok(Decoded { text: text.into(), replaced: None }),
        (Ok(text), InvalidUtf8::Replace) => Ok(Decoded { text: text.into(), replaced: Some(0) }),
        (Err(_), InvalidUtf8::Replace) => {
            let mut text = String::with_capacity(body.len());
            let replaced = replace_invalid(body, &mut text);
            Ok(Decoded { text: text.into(), replaced: Some(replaced) })
        }
        (Err(error), InvalidUtf8::Reject) => Err(encoding.map_or_else(
            || invalid_at(body, error.valid_up_to(), bytes.len() - body.len()),
            NotText::ByteOrderMark,
        )),
    }
}

/// Whether [`decode`] takes bytes for text, ill-formed ones being refused.
#[must_use]
pub fn is_plain_text(bytes: &[u8]) -> bool {
    early_nul(bytes).is_none() && simdutf8::basic::from_utf8(bytes).is_ok()
}

/// The NUL that marks a binary file.
fn early_nul(bytes: &[u8]) -> Option<usize> {
    memchr(0, &bytes[..bytes.len().min(BINARY_CHECK_BYTES)])
}

/// Decodes as `TextDecoder("utf-8")` does: one leading byte order mark goes, and each maximal
/// ill-formed sequence reads as one U+FFFD.
///
/// # Errors
///
/// [`OutOfMemory`]: a U+FFFD has three bytes where the file may have had one.
pub fn decode_lossy(bytes: Vec<u8>) -> Result<String, OutOfMemory> {
    let error = match String::from_utf8(without_byte_order_mark(bytes)) {
        Ok(text) => return Ok(text),
        Err(error) => error,
    };
    let body = error.as_bytes();
    let replacement = |invalid: &[u8]| if invalid.is_empty() { 0 } else { 3 };
    let len = body.utf8_chunks().map(|chunk| chunk.valid().len() + replacement(chunk.invalid()));
    let room = memory::room_for(len.sum())?;
    // An empty vector is UTF-8, so this takes its room over.
    let mut text = String::from_utf8(room).unwrap_or_default();
    replace_invalid(body, &mut text);
    Ok(text)
}

/// Drops one leading byte order mark.
#[must_use]
pub fn without_byte_order_mark(mut bytes: Vec<u8>) -> Vec<u8> {
    if bytes.starts_with(BYTE_ORDER_MARK) {
        bytes.drain(..BYTE_ORDER_MARK.len());
    }
    bytes
}

/// Where the last whole character of the beginning of a text ends. Bytes that are not UTF-8 count
/// as whole, so that they are noticed and not cut off.
#[must_use]
pub fn end_of_last_character(beginning: &[u8]) -> usize {
    // A character has 4 bytes at most, so an unfinished one starts among the last 3.
    let tail = beginning.len().saturating_sub(3);
    let starts = |byte: u8| byte & 0xC0 != 0x80;
    let Some(start) = (tail..beginning.len()).rev().find(|&at| starts(beginning[at])) else {
        return beginning.len();
    };
    match std::str::from_utf8(&beginning[start..]) {
        Err(error) if error.error_len().is_none() => start,
        _ => beginning.len(),
    }
}

fn invalid_at(body: &[u8], at: usize, before: usize) -> NotText {
    NotText::Invalid { offset: before + at, line: lines_ended(&body[..at]) + 1, value: body[at] }
}

/// Appends the text, and says how many U+FFFD were put into it.
fn replace_invalid(body: &[u8], text: &mut String) -> u64 {
    let mut replaced = 0;
    for chunk in body.utf8_chunks() {
        text.push_str(chunk.valid());
        if !chunk.invalid().is_empty() {
            text.push(char::REPLACEMENT_CHARACTER);
            replaced += 1;
        }
    }
    replaced
}
