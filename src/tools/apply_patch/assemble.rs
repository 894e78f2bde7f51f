//! A file with the hunks of a section made in it: its new bytes, and the hunks as a unified diff prints them.

use std::ops::Range;

use super::file_lines::{FileLines, LineEnd};
use super::locate::Placed;
use super::patch::{Hunk, HunkLine, LineKind};

/// A hunk as it is printed. All its lines come from the file, or are added to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PrintedHunk {
    /// How many lines of the old text precede it.
    pub old_start: usize,
    /// How many lines of the new text precede it.
    pub new_start: usize,
    /// Its lines.
    pub lines: Vec<PrintedLine>,
}

/// A line of a printed hunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PrintedLine {
    /// What happens to it.
    pub kind: LineKind,
    /// Its text, without its end.
    pub text: String,
    /// Whether it has no end.
    pub has_no_end: bool,
}

/// The result of making hunks in a file.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Assembled {
    /// The file's new bytes.
    pub bytes: Vec<u8>,
    /// The hunks in the order of the file.
    pub hunks: Vec<PrintedHunk>,
}

/// Makes hunks in a file. They have been placed and do not overlap, except in their context.
pub fn assemble(file: &FileLines<'_>, hunks: &[Hunk<'_>], placed: &[Placed]) -> Assembled {
    let placed = std::iter::zip(hunks, placed).enumerate();
    let mut stretches: Vec<Stretch<'_>> =
        placed.map(|(index, (hunk, place))| Stretch::of(index, hunk, place.start)).collect();
    stretches.sort_by_key(|stretch| (stretch.lines.start, stretch.lines.end));
    let mut assembling = Assembling::of(file);
    let mut rest = stretches.into_iter().peekable();
    while let Some(mut stretch) = rest.next() {
        while let Some(next) = rest.next_if(|next| stretch.touches(next)) {
            stretch.join(next);
        }
        assembling.make(stretch);
    }
    assembling.keep_until(file.count());
    Assembled { bytes: assembling.bytes, hunks: assembling.printed }
}

/// Lines next to each other that are changed or shown as context: those of one hunk, or of several that share some.
struct Stretch<'call> {
    /// The lines in the file.
    lines: Range<usize>,
    /// The changes in them.
    blocks: Vec<Block<'call>>,
}

/// Lines of a hunk without context between them, and the place of the first one in the file.
struct Block<'call> {
    /// The index of the hunk.
    hunk: usize,
    start: usize,
    lines: &'call [HunkLine<'call>],
}

impl Block<'_> {
    fn added(&self) -> impl Iterator<Item = &HunkLine<'_>> {
        self.lines.iter().filter(|line| line.kind == LineKind::Added)
    }

    /// The end of its removed lines.
    fn end(&self) -> usize {
        self.start + self.lines.len() - self.added().count()
    }
}

impl<'call> Stretch<'call> {
    fn of(index: usize, hunk: &'call Hunk<'call>, start: usize) -> Self {
        let (mut at, mut blocks) = (start, Vec::new());
        for lines in hunk.lines.chunk_by(|one, other| is_context(one) == is_context(other)) {
            if is_context(&lines[0]) {
                at += lines.len();
            } else {
                let block = Block { hunk: index, start: at, lines };
                at = block.end();
                blocks.push(block);
            }
        }
        Self { lines: start..at, blocks }
    }

    /// Whether another one, which does not begin before it, has lines of it, or begins at the same line.
    fn touches(&self, other: &Self) -> bool {
        other.lines.start < self.lines.end || other.lines.start == self.lines.start
    }

    fn join(&mut self, other: Self) {
        self.lines.end = self.lines.end.max(other.lines.end);
        self.blocks.extend(other.blocks);
    }
}

fn is_context(line: &HunkLine<'_>) -> bool {
    line.kind == LineKind::Context
}

struct Assembling<'call, 'file> {
    file: &'call FileLines<'file>,
    bytes: Vec<u8>,
    printed: Vec<PrintedHunk>,
    /// How many lines of the file have been kept or removed.
    old: usize,
    /// How many lines the new text has.
    new: usize,
    /// The end that the last line gets if another line follows; `None` if it has one.
    missing_end: Option<LineEnd>,
}

impl<'call, 'file> Assembling<'call, 'file> {
    fn of(file: &'call FileLines<'file>) -> Self {
        // The byte order mark stays.
        let bytes = file.bytes()[..file.offset_of_text()].to_vec();
        Self { file, bytes, printed: Vec::new(), old: 0, new: 0, missing_end: None }
    }

    fn make(&mut self, stretch: Stretch<'_>) {
        let Stretch { lines, mut blocks } = stretch;
        self.keep_until(lines.start);
        let (old_start, new_start) = (self.old, self.new);
        self.printed.push(PrintedHunk { old_start, new_start, lines: Vec::new() });
        // Lines that are only added come before the change of the line that stands there.
        blocks.sort_by_key(|block| (block.start, block.end(), block.hunk));
        for block in blocks {
            self.keep_as_context(block.start);
            self.replace(&block);
        }
        self.keep_as_context(lines.end);
    }

    /// Keeps the lines before one, and prints them.
    fn keep_as_context(&mut self, until: usize) {
        for line in self.old..until {
            self.print_old(LineKind::Context, line);
            self.keep_until(line + 1);
        }
    }

    /// Removes and adds the lines of a block.
    fn replace(&mut self, block: &Block<'_>) {
        let removed = block.start..block.end();
        for line in removed.clone() {
            self.print_old(LineKind::Removed, line);
        }
        // The rule of docs/contract.md §10, with the removed lines as the matched text.
        let mut ends = removed.clone().map(|line| self.file.end(line));
        let ends: Vec<_> = block.added().map(|_| ends.next()).collect();
        let mut last = None;
        for (line, end) in std::iter::zip(block.added(), ends) {
            last = end.filter(|&end| end != LineEnd::Missing).or(last);
            let end = *last.get_or_insert_with(|| self.end_around(removed.end));
            self.add(line, end);
        }
        self.old = removed.end;
    }

    /// The end for lines that replace no line with an end: that of the nearest line before that has one, else of the
    /// next line that has one, else LF.
    fn end_around(&self, line: usize) -> LineEnd {
        let before = (0..line.min(self.file.count())).rev();
        let at = line..self.file.count();
        let mut ends = before.chain(at).map(|line| self.file.end(line));
        ends.find(|&end| end != LineEnd::Missing).unwrap_or(LineEnd::LineFeed)
    }

    fn add(&mut self, line: &HunkLine<'_>, end: LineEnd) {
        // A CR of the text is not doubled.
        let end = if line.text.ends_with('\r') { LineEnd::LineFeed } else { end };
        let written = if line.has_no_end { LineEnd::Missing } else { end };
        self.write(line.text.as_bytes(), written, end);
        self.print(LineKind::Added, line.text, line.has_no_end);
    }

    /// Keeps the lines before one.
    fn keep_until(&mut self, line: usize) {
        if line <= self.old {
            return;
        }
        let kept = &self.file.bytes()[self.file.offset(self.old)..self.file.offset(line)];
        self.end_last_line();
        self.bytes.extend_from_slice(kept);
        if self.file.end(line - 1) == LineEnd::Missing {
            self.missing_end = Some(self.end_around(line - 1));
        }
        self.new += line - self.old;
        self.old = line;
    }

    fn write(&mut self, text: &[u8], end: LineEnd, end_if_followed: LineEnd) {
        self.end_last_line();
        self.bytes.extend_from_slice(text);
        self.bytes.extend_from_slice(end.bytes());
        self.missing_end = (end == LineEnd::Missing).then_some(end_if_followed);
        self.new += 1;
    }

    /// Gives the last line an end, because another line follows.
    fn end_last_line(&mut self) {
        let Some(end) = self.missing_end.take() else { return };
        self.bytes.extend_from_slice(end.bytes());
        // A diff shows that as a change of the line.
        let Some(last) = self.printed.iter_mut().rfind(|hunk| !hunk.lines.is_empty()) else {
            return self.print_new_end_of(self.old - 1);
        };
        match last.lines.last_mut() {
            Some(line) if line.has_no_end && line.kind == LineKind::Context => {
                line.kind = LineKind::Removed;
                let text = line.text.clone();
                last.lines.push(PrintedLine { kind: LineKind::Added, text, has_no_end: false });
            }
            Some(line) if line.has_no_end => line.has_no_end = false,
            _ => self.print_new_end_of(self.old - 1),
        }
    }

    /// Prints the last line of the file, which is not part of the hunk, as one that gets an end.
    fn print_new_end_of(&mut self, line: usize) {
        if let Some(hunk) = self.printed.last_mut() {
            hunk.old_start -= 1;
            hunk.new_start -= 1;
        }
        let text = self.file.line(line);
        self.print(LineKind::Removed, text, true);
        self.print(LineKind::Added, text, false);
    }

    fn print_old(&mut self, kind: LineKind, line: usize) {
        let file = self.file;
        self.print(kind, file.line(line), file.end(line) == LineEnd::Missing);
    }

    fn print(&mut self, kind: LineKind, text: &str, has_no_end: bool) {
        if let Some(hunk) = self.printed.last_mut() {
            hunk.lines.push(PrintedLine { kind, text: text.to_owned(), has_no_end });
        }
    }
}

#[cfg(test)]
mod tests;
