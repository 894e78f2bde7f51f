//! Decoding, newlines and line windows: pure functions over bytes.
//!
//! On its way from the disk to the window a file is not copied, unless it holds bytes that are not
//! UTF-8, or the window CRLF. Fresh memory costs more than the work done in it.
//!
//! A line ends at LF; CRLF counts as LF; a lone CR, FF, VT, NEL, U+2028 and U+2029 are ordinary
//! characters. The windows of a text, joined by LF, are the whole text with its line ends
//! normalised, to the byte.
//!
//! ```
//! use ringfence::text::{LineWindow, decode, InvalidUtf8};
//!
//! let decoded = decode(b"\xEF\xBB\xBFone\r\ntwo\r\nthree", InvalidUtf8::Reject)?;
//! let window = LineWindow::new(1.try_into()?, 2.try_into()?).cut(&decoded.text);
//! assert_eq!((&*window.content, window.next_start_line), ("one\ntwo", Some(3)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::borrow::Cow;
use std::fmt;
use std::num::NonZeroU64;

use memchr::{memchr, memchr_iter, memmem};

/// How many leading bytes are searched for the NUL that marks a binary file.
pub const BINARY_CHECK_BYTES: usize = 8192;

/// The longest text, in bytes of UTF-8, that is sure to fit a string of every engine: 2^29 - 24,
/// V8's limit in UTF-16 units.
pub const MAX_STRING_BYTES: u64 = (1 << 29) - 24;

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// What becomes of bytes that are not UTF-8.
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
    fn of(bytes: &[u8]) -> Option<Self> {
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
            let (text, replaced) = replace_invalid(body);
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
#[must_use]
pub fn decode_lossy(bytes: Vec<u8>) -> String {
    match String::from_utf8(without_byte_order_mark(bytes)) {
        Ok(text) => text,
        Err(error) => replace_invalid(error.as_bytes()).0,
    }
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
    NotText::Invalid { offset: before + at, line: count(&body[..at], b'\n') + 1, value: body[at] }
}

/// The text, and how many U+FFFD were put into it.
fn replace_invalid(body: &[u8]) -> (String, u64) {
    let mut text = String::with_capacity(body.len());
    let mut replaced = 0;
    for chunk in body.utf8_chunks() {
        text.push_str(chunk.valid());
        if !chunk.invalid().is_empty() {
            text.push(char::REPLACEMENT_CHARACTER);
            replaced += 1;
        }
    }
    (text, replaced)
}

fn count(bytes: &[u8], byte: u8) -> u64 {
    bytecount::count(bytes, byte) as u64
}

/// A run of whole lines: where it starts, from 1, and how many lines it holds at the most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineWindow {
    start: NonZeroU64,
    max_lines: NonZeroU64,
}

/// What a [`LineWindow`] shows of a text.
#[derive(Debug, PartialEq, Eq)]
pub struct WindowText<'text> {
    /// The window's lines joined by LF; a final LF of the text is kept by the window that reaches
    /// the text's end.
    pub content: Cow<'text, str>,
    /// How many lines the whole text has.
    pub line_count: u64,
    /// How many lines are in `content`.
    pub returned_line_count: u64,
    /// The line after this window, if the text has one.
    pub next_start_line: Option<u64>,
}

impl WindowText<'_> {
    /// The same, independent of the text.
    #[must_use]
    pub fn into_owned(self) -> WindowText<'static> {
        WindowText { content: self.content.into_owned().into(), ..self }
    }
}

impl LineWindow {
    /// A window of at most `max_lines` lines from line `start` on.
    #[must_use]
    pub const fn new(start: NonZeroU64, max_lines: NonZeroU64) -> Self {
        Self { start, max_lines }
    }

    /// Cuts the window out of a text. A window past the end is empty.
    ///
    /// Reads the whole text once, to count its lines; where the window stands makes no difference to
    /// what it costs.
    #[must_use]
    pub fn cut<'text>(&self, text: &'text str) -> WindowText<'text> {
        let lines = Lines::of(text);
        let line_count = lines.count();
        let skipped = self.start.get() - 1;
        let returned_line_count = self.max_lines.get().min(line_count.saturating_sub(skipped));
        if returned_line_count == 0 {
            let content = Cow::default();
            return WindowText { content, line_count, returned_line_count, next_start_line: None };
        }
        let end = skipped + returned_line_count;
        let reaches_end = end == line_count;
        let from = lines.start_of(skipped);
        let window = if reaches_end {
            &text[from..]
        } else {
            without_line_end(&text[from..lines.start_of(end)])
        };
        WindowText {
            content: normalise_line_ends(window),
            line_count,
            returned_line_count,
            next_start_line: (!reaches_end).then_some(end + 1),
        }
    }
}

/// The line ends of a text, counted block by block: the end of any line is then found by a search in
/// one block.
struct Lines<'text> {
    text: &'text str,
    /// How many LFs there are before the end of each block.
    ends: Vec<u64>,
}

impl<'text> Lines<'text> {
    const BLOCK: usize = 2048;

    fn of(text: &'text str) -> Self {
        let mut total = 0;
        let blocks = text.as_bytes().chunks(Self::BLOCK);
        let ends = blocks.map(|block| {
            total += count(block, b'\n');
            total
        });
        Self { text, ends: ends.collect() }
    }

    /// How many lines there are: the LFs, and one more if the text is not empty and does not end in LF.
    fn count(&self) -> u64 {
        let unfinished = !self.text.is_empty() && !self.text.ends_with('\n');
        self.ends.last().copied().unwrap_or_default() + u64::from(unfinished)
    }

    /// Where the line after the first `lines` lines starts; the text's length if there is none.
    fn start_of(&self, lines: u64) -> usize {
        if lines == 0 {
            return 0;
        }
        let block = self.ends.partition_point(|&ends| ends < lines);
        let before = block.checked_sub(1).map_or(0, |block| self.ends[block]);
        let from = (block * Self::BLOCK).min(self.text.len());
        let line_feed = nth_line_feed(&self.text.as_bytes()[from..], lines - before - 1);
        line_feed.map_or(self.text.len(), |line_feed| from + line_feed + 1)
    }
}

/// Where the LF stands that so many others stand before.
fn nth_line_feed(bytes: &[u8], mut before: u64) -> Option<usize> {
    // To find each costs ten times what it costs to count them, so only the last few are looked for.
    const STEP: usize = 256;
    let mut from = 0;
    for step in bytes.chunks(STEP) {
        let line_feeds = count(step, b'\n');
        if line_feeds > before {
            let nth = usize::try_from(before).unwrap_or(usize::MAX);
            return memchr_iter(b'\n', step).nth(nth).map(|line_feed| from + line_feed);
        }
        before -= line_feeds;
        from += step.len();
    }
    None
}

fn without_line_end(window: &str) -> &str {
    let window = window.strip_suffix('\n').unwrap_or(window);
    window.strip_suffix('\r').unwrap_or(window)
}

/// A text in the form in which it is written: every CRLF and every lone CR an LF, one leading
/// U+FEFF dropped, nothing else touched.
#[must_use]
pub fn to_written_form(text: String) -> String {
    let text = match text.strip_prefix('\u{feff}') {
        Some(rest) => rest.to_owned(),
        None => text,
    };
    if memchr(b'\r', text.as_bytes()).is_none() {
        return text;
    }
    normalise_line_ends(&text).replace('\r', "\n")
}

/// Turns every CRLF into LF; a CR that no LF follows stays.
#[must_use]
pub fn normalise_line_ends(text: &str) -> Cow<'_, str> {
    // To look for one byte costs a fraction of what looking for two does, and most files have none.
    if memchr(b'\r', text.as_bytes()).is_none() {
        return text.into();
    }
    let mut pairs = memmem::find_iter(text.as_bytes(), b"\r\n").peekable();
    if pairs.peek().is_none() {
        return text.into();
    }
    let mut normalised = String::with_capacity(text.len());
    let mut copied = 0;
    for carriage_return in pairs {
        normalised.push_str(&text[copied..carriage_return]);
        copied = carriage_return + 1;
    }
    normalised.push_str(&text[copied..]);
    normalised.into()
}

#[cfg(test)]
mod tests;
