//! A file's bytes beside its view, so that an edit of the view keeps every byte that it does not touch.
//!
//! The view is the text as `readFile` shows it: one leading byte order mark is dropped, and CRLF is
//! LF. So two kinds of bytes are in the file and not in the view: the byte order mark, and the CR of
//! each CRLF. The place of each such CR is kept; everything else follows from that.

use std::borrow::Cow;
use std::ops::Range;

use memchr::{memchr, memchr_iter, memmem, memrchr};

use super::decode::{InvalidUtf8, NotText, decode};
use super::lines::Lines;

/// A text file, opened for editing.
///
/// Making one takes time and memory linear in the file: 8 bytes for each CRLF, and a copy of the text
/// if there is one.
///
/// ```
/// use ringfence::text::Document;
///
/// let document = Document::parse(b"\xEF\xBB\xBFone\r\ntwo\r\n")?;
/// assert_eq!(document.view(), "one\ntwo\n");
/// assert_eq!(document.replace([(4..7, "2\n3")]), b"\xEF\xBB\xBFone\r\n2\r\n3\r\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Document<'file> {
    bytes: &'file [u8],
    /// How many bytes the byte order mark has: 3, or 0 where there is none.
    mark: usize,
    view: Cow<'file, str>,
    /// The offsets in the view of those LFs that are CRLF in the file, ascending.
    crlf: Vec<usize>,
    lines: Lines,
}

/// Spans of a view, each with the text that replaces it.
pub trait Replacements<'text>: IntoIterator<Item = (Range<usize>, &'text str)> + Clone {}

impl<'text, I: IntoIterator<Item = (Range<usize>, &'text str)> + Clone> Replacements<'text> for I {}

/// A place in a view, as people and models count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// The line, from 1.
    pub line: u64,
    /// The column, from 1, in UTF-16 code units.
    pub column: u64,
}

impl<'file> Document<'file> {
    /// Parses a file.
    ///
    /// # Errors
    ///
    /// [`NotText`], as for `readFile` where bytes that are not UTF-8 are refused: an edit must not
    /// write a U+FFFD in place of bytes that it could not read.
    pub fn parse(bytes: &'file [u8]) -> Result<Self, NotText> {
        let text = decode(bytes, InvalidUtf8::Reject)?.text;
        let mark = bytes.len() - text.len();
        let (view, crlf) = without_returns(text);
        let lines = Lines::of(&view);
        Ok(Self { bytes, mark, view, crlf, lines })
    }

    /// The text that a model sees.
    #[must_use]
    pub fn view(&self) -> &str {
        &self.view
    }

    /// The file's bytes.
    #[must_use]
    pub fn bytes(&self) -> &'file [u8] {
        self.bytes
    }

    /// Whether the file begins with a byte order mark.
    #[must_use]
    pub fn has_byte_order_mark(&self) -> bool {
        self.mark > 0
    }

    /// The offset in the file of an offset in the view. The LF of a CRLF begins at its CR.
    #[must_use]
    pub fn byte_offset(&self, offset: usize) -> usize {
        self.mark + offset + self.crlf.partition_point(|&line_feed| line_feed < offset)
    }

    /// The offset in the view of an offset in the file. Both bytes of a CRLF are its LF, and a byte
    /// order mark is the view's start.
    #[must_use]
    pub fn view_offset(&self, byte_offset: usize) -> usize {
        let offset = byte_offset.saturating_sub(self.mark);
        offset - self.returns_before(offset)
    }

    /// How many CRs of CRLFs stand before an offset in the file without its byte order mark.
    fn returns_before(&self, offset: usize) -> usize {
        // The CR of the CRLF with the index i stands i bytes after the place of its LF in the view.
        let (mut low, mut high) = (0, self.crlf.len());
        while low < high {
            let middle = low.midpoint(high);
            if self.crlf[middle] + middle < offset {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    /// How many lines the view has, as `readFile` counts them.
    #[must_use]
    pub fn line_count(&self) -> u64 {
        self.lines.count(&self.view)
    }

    /// The line and column of an offset in the view, which must lie at the edge of a character. Takes
    /// time by the length of the line.
    #[must_use]
    pub fn position(&self, offset: usize) -> Position {
        let before = self.lines.ended_before(&self.view, offset);
        let start = self.lines.start_of(&self.view, before);
        let column = self.view[start..offset].encode_utf16().count() as u64 + 1;
        Position { line: before + 1, column }
    }

    /// The offset at which a line starts in the view. Lines count from 1. For a line after the
    /// last one, the view's length.
    #[must_use]
    pub fn line_start(&self, line: u64) -> usize {
        self.lines.start_of(&self.view, line.saturating_sub(1))
    }

    /// The file's bytes with spans of the view replaced. The spans stand in ascending order, do not
    /// overlap, and have their ends at the edges of characters. A line end in a replacement is LF.
    ///
    /// Every byte outside the spans stays. Each LF of a replacement becomes a line end of the file:
    /// the i-th is written as the i-th line end of the replaced span; further ones as the span's last
    /// line end; if the span has none, as the end of the line in which it ends; if that line has none
    /// either, as the end of the line before; else as LF.
    ///
    /// Takes time linear in the file and the replacements, however many there are.
    #[must_use]
    pub fn replace<'text>(&self, replacements: impl Replacements<'text>) -> Vec<u8> {
        let size = usize::try_from(self.size_after(replacements.clone())).unwrap_or(usize::MAX);
        let mut edited = Vec::with_capacity(size);
        self.write_replaced(replacements, &mut |bytes| edited.extend_from_slice(bytes));
        edited
    }

    /// How many bytes [`Document::replace`] gives, without the memory for them: a caller with a limit
    /// asks first.
    #[must_use]
    pub fn size_after<'text>(&self, replacements: impl Replacements<'text>) -> u64 {
        let mut size = 0;
        self.write_replaced(replacements, &mut |bytes| size += bytes.len() as u64);
        size
    }

    fn write_replaced<'text>(
        &self,
        replacements: impl Replacements<'text>,
        write: &mut dyn FnMut(&[u8]),
    ) {
        let mut line_ends = LineEnds::of(self.view.as_bytes());
        let mut copied = 0;
        for (span, text) in replacements {
            write(&self.bytes[copied..self.byte_offset(span.start)]);
            self.write_text(text, &span, &mut line_ends, write);
            copied = self.byte_offset(span.end);
        }
        write(&self.bytes[copied..]);
    }

    /// Writes a replacement with the line ends of the span that it replaces.
    fn write_text(
        &self,
        text: &str,
        span: &Range<usize>,
        line_ends: &mut LineEnds<'_>,
        write: &mut dyn FnMut(&[u8]),
    ) {
        let mut ends = memchr_iter(b'\n', &self.view.as_bytes()[span.clone()])
            .map(|line_feed| self.line_end_at(span.start + line_feed));
        let mut last = None;
        let mut rest = text;
        while let Some((line, after)) = rest.split_once('\n') {
            write(line.as_bytes());
            last = ends.next().or(last);
            let end = *last.get_or_insert_with(|| self.line_end_around(span.end, line_ends));
            write(end);
            rest = after;
        }
        write(rest.as_bytes());
    }

    /// The line end that stands in the file for an LF of the view.
    fn line_end_at(&self, line_feed: usize) -> &'static [u8] {
        if self.crlf.binary_search(&line_feed).is_ok() { b"\r\n" } else { b"\n" }
    }

    /// The end of the line that an offset lies in; if that line has none, of the line before; else LF.
    fn line_end_around(&self, offset: usize, line_ends: &mut LineEnds<'_>) -> &'static [u8] {
        // Where no LF follows, the last one of all ends the line before.
        let line_feed = line_ends.next(offset).or(line_ends.last);
        line_feed.map_or(b"\n", |line_feed| self.line_end_at(line_feed))
    }
}

/// Searches for LFs from ascending offsets. The last LF that was found is kept, so that many
/// offsets on one long line cost one search.
struct LineEnds<'view> {
    view: &'view [u8],
    last: Option<usize>,
    /// The offset that was asked for, and the next LF.
    known: Option<(usize, Option<usize>)>,
}

impl<'view> LineEnds<'view> {
    fn of(view: &'view [u8]) -> Self {
        Self { view, last: memrchr(b'\n', view), known: None }
    }

    /// The first LF at or after an offset.
    fn next(&mut self, offset: usize) -> Option<usize> {
        if let Some((from, found)) = self.known
            && from <= offset
            && found.is_none_or(|found| offset <= found)
        {
            return found;
        }
        let found = memchr(b'\n', &self.view[offset..]).map(|line_feed| offset + line_feed);
        self.known = Some((offset, found));
        found
    }
}

/// A text with LF for each CRLF, and the offsets of those LFs in it.
fn without_returns(text: Cow<'_, str>) -> (Cow<'_, str>, Vec<usize>) {
    let crlf: Vec<usize> = memmem::find_iter(text.as_bytes(), b"\r\n")
        .enumerate()
        .map(|(before, carriage_return)| carriage_return - before)
        .collect();
    if crlf.is_empty() {
        return (text, crlf);
    }
    let mut view = String::with_capacity(text.len() - crlf.len());
    let mut copied = 0;
    for (before, line_feed) in crlf.iter().enumerate() {
        let carriage_return = line_feed + before;
        view.push_str(&text[copied..carriage_return]);
        copied = carriage_return + 1;
    }
    view.push_str(&text[copied..]);
    (view.into(), crlf)
}

#[cfg(test)]
mod tests;
