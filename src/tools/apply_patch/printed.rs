//! The sections of a patch as a diff prints them. Given back as a patch, the diff gives the same bytes.

use super::assemble::{PrintedHunk, PrintedLine};
use super::file_lines::{FileLines, LineEnd};
use super::patch::{HunkLine, LineKind};
use super::plan::PrintedSection;
use crate::text::{DiffWriter, UnifiedDiff, quoted_path};

impl PrintedHunk {
    /// The hunk of a new file; `None` if that is empty.
    pub fn adding(lines: &[HunkLine<'_>]) -> Option<Self> {
        let line = |line: &HunkLine<'_>| PrintedLine {
            kind: LineKind::Added,
            text: line.text.to_owned(),
            has_no_end: line.has_no_end,
        };
        Self::of(lines.iter().map(line).collect())
    }

    /// The hunk of a removed file; `None` if that is empty.
    pub fn removing(file: &FileLines<'_>) -> Option<Self> {
        let line = |index| PrintedLine {
            kind: LineKind::Removed,
            text: file.line(index).to_owned(),
            has_no_end: file.end(index) == LineEnd::Missing,
        };
        Self::of((0..file.count()).map(line).collect())
    }

    /// Whether two of its lines look like `---` and `+++`. After a `diff --git` their counts are believed.
    fn looks_like_header(&self) -> bool {
        self.lines.windows(2).any(|lines| {
            let begins =
                |line: &PrintedLine, kind, text| line.kind == kind && line.text.starts_with(text);
            begins(&lines[0], LineKind::Removed, "-- ") && begins(&lines[1], LineKind::Added, "++ ")
        })
    }

    fn of(lines: Vec<PrintedLine>) -> Option<Self> {
        (!lines.is_empty()).then_some(Self { old_start: 0, new_start: 0, lines })
    }
}

/// Prints sections, at most so many UTF-16 units of them, cut at the end of a line.
pub fn print(sections: &[PrintedSection], max_units: usize) -> UnifiedDiff {
    // git takes a plain section for a part of the one with its own header before it.
    let is_of_git = sections.iter().any(PrintedSection::needs_git_header);
    let mut printer = Printer { writer: DiffWriter::with_limit(max_units) };
    for section in sections {
        if is_of_git {
            printer.print_git_header(section);
        }
        printer.print_section(section);
    }
    printer.writer.finish()
}

impl PrintedSection {
    fn is_move(&self) -> bool {
        self.from.is_some() && self.to.is_some() && self.from != self.to
    }

    /// Whether `---` and `+++` do not say all: a move, execute bits, and that an empty file is made or removed.
    fn needs_git_header(&self) -> bool {
        let is_empty = self.hunks.as_ref().is_some_and(Vec::is_empty);
        let is_made_or_removed = self.from.is_none() || self.to.is_none();
        self.is_move()
            || self.executable.is_some()
            || is_empty && is_made_or_removed
            || self.hunks.iter().flatten().any(PrintedHunk::looks_like_header)
    }
}

struct Printer {
    writer: DiffWriter,
}

impl Printer {
    fn print_section(&mut self, section: &PrintedSection) {
        let side = |prefix: char, path: &Option<String>| match path {
            Some(path) => quoted_path(&format!("{prefix}/{path}")),
            None => "/dev/null".to_owned(),
        };
        let (old, new) = (side('a', &section.from), side('b', &section.to));
        let Some(hunks) = &section.hunks else {
            return self.writer.line(&format!("Binary files {old} and {new} differ\n"));
        };
        if !hunks.is_empty() {
            self.writer.line(&format!("--- {old}\n"));
            self.writer.line(&format!("+++ {new}\n"));
        }
        for hunk in hunks {
            self.print_hunk(hunk);
        }
    }

    fn print_git_header(&mut self, section: &PrintedSection) {
        let PrintedSection { from, to, executable, .. } = section;
        let (Some(old), Some(new)) = (from.as_ref().or(to.as_ref()), to.as_ref().or(from.as_ref()))
        else {
            return;
        };
        let (quoted_old, quoted_new) =
            (quoted_name(&format!("a/{old}")), quoted_name(&format!("b/{new}")));
        self.writer.line(&format!("diff --git {quoted_old} {quoted_new}\n"));
        let mode = |is_executable: bool| if is_executable { "100755" } else { "100644" };
        match (from, to, executable) {
            (None, _, executable) => {
                self.writer.line(&format!("new file mode {}\n", mode(*executable == Some(true))));
            }
            (_, None, _) => self.writer.line("deleted file mode 100644\n"),
            (_, _, Some(executable)) => {
                self.writer.line(&format!("old mode {}\n", mode(!executable)));
                self.writer.line(&format!("new mode {}\n", mode(*executable)));
            }
            _ => {}
        }
        if section.is_move() {
            self.writer.line(&format!("rename from {}\n", quoted_name(old)));
            self.writer.line(&format!("rename to {}\n", quoted_name(new)));
        }
    }

    fn print_hunk(&mut self, hunk: &PrintedHunk) {
        let count =
            |without: LineKind| hunk.lines.iter().filter(|line| line.kind != without).count();
        let old = (hunk.old_start, count(LineKind::Added));
        let new = (hunk.new_start, count(LineKind::Removed));
        self.writer.hunk_header(old, new);
        for line in &hunk.lines {
            let sign = match line.kind {
                LineKind::Context => ' ',
                LineKind::Removed => '-',
                LineKind::Added => '+',
            };
            self.writer.hunk_line(sign, &line.text, line.has_no_end);
        }
    }
}

/// A path in a line of which it is not the end, or that takes no tab behind it.
fn quoted_name(path: &str) -> String {
    quoted_path(path).trim_end_matches('\t').to_owned()
}
