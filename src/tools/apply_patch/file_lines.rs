//! The lines of a file that is patched, and an index of them.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::HashMap;
use std::ops::Range;

use crate::text::{InvalidUtf8, NotText, decode};
use crate::tools::edit_file::fold::plain_lookalikes;

/// How the lines of a patch are compared with those of the file. Each grade also ignores the differences that the ones
/// before it ignore.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Grade {
    /// Every character counts.
    Exact,
    /// Spaces, tabs and CRs at the end of a line do not.
    TrailingWhitespace,
    /// Typographic look-alikes are the same, and invisible characters do not count.
    Lookalike,
}

impl Grade {
    /// All grades, in the order in which they are tried.
    pub const ALL: [Self; 3] = [Self::Exact, Self::TrailingWhitespace, Self::Lookalike];

    /// The name in answers.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::TrailingWhitespace => "trailing_whitespace",
            Self::Lookalike => "lookalike",
        }
    }

    fn fold(self, line: &str) -> Cow<'_, str> {
        let trimmed = || line.trim_end_matches([' ', '\t', '\r']);
        match self {
            Self::Exact => line.into(),
            Self::TrailingWhitespace => trimmed().into(),
            Self::Lookalike if line.is_ascii() => trimmed().into(),
            // A line may end in a no-break space, which is a blank only after folding.
            Self::Lookalike => {
                let folded = plain_lookalikes(line);
                folded.trim_end_matches([' ', '\t', '\r']).to_owned().into()
            }
        }
    }
}

/// How a line ends in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineEnd {
    /// LF.
    LineFeed,
    /// CRLF.
    CrLf,
    /// The last line of a file that does not end in a line end.
    Missing,
}

impl LineEnd {
    /// Its bytes.
    #[must_use]
    pub fn bytes(self) -> &'static [u8] {
        match self {
            Self::LineFeed => b"\n",
            Self::CrLf => b"\r\n",
            Self::Missing => b"",
        }
    }
}

/// One line: its place in the file without the byte order mark, and its end. Files have at most 10 MiB.
#[derive(Debug, Clone, Copy)]
struct Line {
    start: u32,
    length: u32,
    end: LineEnd,
}

/// A file's lines.
pub struct FileLines<'file> {
    bytes: &'file [u8],
    /// Without the byte order mark.
    text: Cow<'file, str>,
    lines: Vec<Line>,
    by_grade: [OnceCell<LineIndex>; 3],
    trimmed: OnceCell<LineIndex>,
}

/// Whether the CR of a CRLF belongs to the text of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CarriageReturns {
    /// It belongs to the line end, as `readFile` shows it.
    EndLines,
    /// It belongs to the text, as in a diff that git makes of a file with CRLF.
    BelongToText,
}

impl<'file> FileLines<'file> {
    /// Splits a file into lines.
    ///
    /// # Errors
    ///
    /// [`NotText`].
    pub fn of(bytes: &'file [u8], returns: CarriageReturns) -> Result<Self, NotText> {
        let text = decode(bytes, InvalidUtf8::Reject)?.text;
        let mut lines = Vec::new();
        let mut start = 0;
        for line_feed in memchr::memchr_iter(b'\n', text.as_bytes()) {
            let has_return = line_feed > start && text.as_bytes()[line_feed - 1] == b'\r';
            let (stop, end) = if has_return && returns == CarriageReturns::EndLines {
                (line_feed - 1, LineEnd::CrLf)
            } else {
                (line_feed, LineEnd::LineFeed)
            };
            lines.push(Line { start: to_u32(start), length: to_u32(stop - start), end });
            start = line_feed + 1;
        }
        if start < text.len() {
            let length = to_u32(text.len() - start);
            lines.push(Line { start: to_u32(start), length, end: LineEnd::Missing });
        }
        Ok(Self { bytes, text, lines, by_grade: Default::default(), trimmed: OnceCell::new() })
    }

    /// How many lines there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.lines.len()
    }

    /// Whether the file begins with a byte order mark.
    #[must_use]
    pub fn has_byte_order_mark(&self) -> bool {
        self.offset_of_text() > 0
    }

    /// Where the text begins in the file: after the byte order mark.
    #[must_use]
    pub fn offset_of_text(&self) -> usize {
        self.bytes.len() - self.text.len()
    }

    /// The text of a line, from 0.
    #[must_use]
    pub fn line(&self, index: usize) -> &str {
        let Line { start, length, .. } = self.lines[index];
        &self.text[start as usize..(start + length) as usize]
    }

    /// The end of a line.
    #[must_use]
    pub fn end(&self, index: usize) -> LineEnd {
        self.lines[index].end
    }

    /// The offset in the file at which a line starts; the file's length for the line after the last.
    #[must_use]
    pub fn offset(&self, index: usize) -> usize {
        let line = self.lines.get(index);
        line.map_or(self.bytes.len(), |line| self.offset_of_text() + line.start as usize)
    }

    /// The file's bytes.
    #[must_use]
    pub fn bytes(&self) -> &'file [u8] {
        self.bytes
    }

    /// Some of the lines, as a file of their own.
    #[must_use]
    pub fn part(&self, lines: Range<usize>) -> FileLines<'_> {
        let [start, end] = [lines.start, lines.end].map(|line| self.offset(line));
        let text = &self.text[start - self.offset_of_text()..end - self.offset_of_text()];
        let first = self.lines.get(lines.start).map_or(0, |line| line.start);
        let lines = &self.lines[lines];
        FileLines {
            bytes: text.as_bytes(),
            text: text.into(),
            lines: lines.iter().map(|line| Line { start: line.start - first, ..*line }).collect(),
            by_grade: Default::default(),
            trimmed: OnceCell::new(),
        }
    }

    /// The lines, joined by LF, with one at the end if the file ends in a line end.
    #[must_use]
    pub fn view(&self) -> String {
        let mut view = String::with_capacity(self.text.len());
        for index in 0..self.count() {
            view.push_str(self.line(index));
            if self.end(index) != LineEnd::Missing {
                view.push('\n');
            }
        }
        view
    }

    /// The index of the lines as a grade compares them.
    pub fn index(&self, grade: Grade) -> &LineIndex {
        self.by_grade[grade as usize].get_or_init(|| self.index_of(|line| grade.fold(line)))
    }

    /// The index of the lines without the blanks around them.
    pub fn trimmed_index(&self) -> &LineIndex {
        self.trimmed.get_or_init(|| self.index_of(|line| line.trim().into()))
    }

    fn index_of(&self, fold: impl Fn(&str) -> Cow<'_, str>) -> LineIndex {
        LineIndex::of((0..self.count()).map(|index| fold(self.line(index))))
    }
}

/// A number of a line or a byte of a file, which has at most 10 MiB.
fn to_u32(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// Where each line of a file occurs. Making one takes time linear in the file.
pub struct LineIndex {
    /// The number of each different line.
    numbers: HashMap<String, u32>,
    /// The number of each line of the file.
    lines: Vec<u32>,
    /// The lines of the file, ordered by their numbers; those of number `n` from `starts[n]` on.
    places: Vec<u32>,
    starts: Vec<u32>,
    /// The hash of the lines before each line, and of all. They compare a run of lines in one step, so that the search
    /// stays linear in a file that repeats few lines.
    hashes: Vec<u64>,
}

/// The base of the hashes: an odd number without a pattern in its bits.
const HASH_BASE: u64 = 0x9E37_79B9_7F4A_7C15;

fn hash_with(hash: u64, number: u32) -> u64 {
    hash.wrapping_mul(HASH_BASE).wrapping_add(u64::from(number) + 1)
}

impl LineIndex {
    fn of<'text>(texts: impl Iterator<Item = Cow<'text, str>>) -> Self {
        let mut numbers: HashMap<String, u32> = HashMap::new();
        let mut counts = Vec::new();
        let mut lines = Vec::new();
        for text in texts {
            let next = to_u32(numbers.len());
            let number = match numbers.get(&*text) {
                Some(&number) => number,
                None => *numbers.entry(text.into_owned()).or_insert(next),
            };
            if number == next {
                counts.push(0);
            }
            counts[number as usize] += 1;
            lines.push(number);
        }
        let mut starts = Vec::with_capacity(counts.len() + 1);
        let mut total = 0;
        for count in counts {
            starts.push(total);
            total += count;
        }
        starts.push(total);
        let mut next = starts.clone();
        let mut places = vec![0; lines.len()];
        for (place, &number) in lines.iter().enumerate() {
            let slot = &mut next[number as usize];
            places[*slot as usize] = to_u32(place);
            *slot += 1;
        }
        let mut hashes = Vec::with_capacity(lines.len() + 1);
        hashes.push(0);
        hashes.extend(lines.iter().scan(0, |hash, &number| {
            *hash = hash_with(*hash, number);
            Some(*hash)
        }));
        Self { numbers, lines, places, starts, hashes }
    }

    /// The lines of the file that equal a text as the index compares them, ascending.
    pub fn places_of(&self, folded: &str) -> &[u32] {
        self.numbers.get(folded).map_or(&[], |&number| self.places_of_number(number))
    }

    fn places_of_number(&self, number: u32) -> &[u32] {
        let number = number as usize;
        &self.places[self.starts[number] as usize..self.starts[number + 1] as usize]
    }
}

/// Lines to be found next to each other, as one grade compares them.
pub struct Pattern<'index> {
    index: &'index LineIndex,
    numbers: Vec<u32>,
    /// The line of the pattern that occurs least often in the file.
    rarest: usize,
    hash: u64,
    /// [`HASH_BASE`] to the power of the pattern's length, which takes the lines before out of a hash.
    power: u64,
}

impl<'index> Pattern<'index> {
    /// `None` if one of the lines does not occur at all. There must be a line.
    pub fn of<'text>(
        file: &'index FileLines<'_>,
        grade: Grade,
        lines: impl Iterator<Item = &'text str>,
    ) -> Option<Self> {
        let index = file.index(grade);
        let mut numbers = Vec::new();
        for line in lines {
            numbers.push(*index.numbers.get(&*grade.fold(line))?);
        }
        let occurrences = |number: u32| index.places_of_number(number).len();
        let rarest = (0..numbers.len()).min_by_key(|&at| occurrences(numbers[at]))?;
        let hash = numbers.iter().fold(0, |hash, &number| hash_with(hash, number));
        let power = numbers.iter().fold(1_u64, |power, _| power.wrapping_mul(HASH_BASE));
        Some(Self { index, numbers, rarest, hash, power })
    }

    /// Whether the lines stand at a place.
    pub fn is_at(&self, start: usize) -> bool {
        let end = start.saturating_add(self.numbers.len());
        let Some(lines) = self.index.lines.get(start..end) else { return false };
        let hashes = &self.index.hashes;
        let hash = hashes[end].wrapping_sub(hashes[start].wrapping_mul(self.power));
        hash == self.hash && lines == self.numbers
    }

    /// The places from a line on at which the pattern may stand, ascending: those of its rarest line.
    pub fn candidates(&self, from: usize) -> impl Iterator<Item = usize> {
        let places = self.index.places_of_number(self.numbers[self.rarest]);
        let first = places.partition_point(|&place| (place as usize) < from + self.rarest);
        places[first..].iter().map(|&place| place as usize - self.rarest)
    }
}
