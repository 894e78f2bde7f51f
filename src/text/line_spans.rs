//! Where the lines of a text begin and end.

use std::ops::Range;

use memchr::{memchr, memrchr};

/// The end of the line that an offset lies in, without its line feed.
#[must_use]
pub fn line_end(text: &str, offset: usize) -> usize {
    memchr(b'\n', &text.as_bytes()[offset..]).map_or(text.len(), |length| offset + length)
}

/// The line that an offset lies in, without its line feed.
#[must_use]
pub fn line_around(text: &str, offset: usize) -> Range<usize> {
    let start = memrchr(b'\n', &text.as_bytes()[..offset]).map_or(0, |line_feed| line_feed + 1);
    start..line_end(text, offset)
}

/// The end of the last line that lies whole within so many bytes; of the first line, if that is longer.
#[must_use]
pub fn block_end(text: &str, start: usize, bytes: usize) -> usize {
    let limit = start.saturating_add(bytes);
    if limit >= text.len() {
        return text.len();
    }
    match memrchr(b'\n', &text.as_bytes()[start..limit]) {
        Some(length) => start + length,
        None => line_end(text, limit),
    }
}
