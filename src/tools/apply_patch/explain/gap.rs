//! The failure of a hunk that would fit but for lines that it leaves out, or has too many.

use super::{FirstDifference, closest_detail, failure_of, line_range, lines_at};
use crate::tools::apply_patch::file_lines::{FileLines, Grade};
use crate::tools::apply_patch::patch::HunkLine;
use crate::tools::edit_file::closest::Difference;
use crate::tools::failure::{ErrorCode, Failure};

/// Lines of the file that a hunk lacks, or has too many: all its other lines stand there.
pub(super) struct Gap {
    /// The line of the file on which the hunk's first line lies.
    start: usize,
    /// How many lines of the hunk stand before the gap.
    before: usize,
    /// How many lines of the file the hunk leaves out.
    left_out: usize,
    /// How many lines of the hunk the file does not have.
    too_many: usize,
}

impl Gap {
    /// How many places of a hunk's first line are examined.
    const MAX_PLACES: usize = 64;
    /// How many lines are left out at most, or too many.
    const MAX_LINES: usize = 64;
    /// Of a longer hunk nothing is said. Lines that are all alike are compared in each of these places, with each gap:
    /// four million comparisons at most, which take 40 ms.
    const MAX_HUNK_LINES: usize = 1000;

    pub(super) fn in_hunk(file: &FileLines<'_>, old: &[HunkLine<'_>]) -> Option<Self> {
        if old.len() > Self::MAX_HUNK_LINES {
            return None;
        }
        let places = file.index(Grade::Exact).places_of(old.first()?.text);
        places.iter().take(Self::MAX_PLACES).find_map(|&start| Self::at(file, old, start as usize))
    }

    fn at(file: &FileLines<'_>, old: &[HunkLine<'_>], start: usize) -> Option<Self> {
        let is_at =
            |line: &HunkLine<'_>, at: usize| at < file.count() && file.line(at) == line.text;
        let before = old.iter().zip(start..).take_while(|(line, at)| is_at(line, *at)).count();
        let rest = &old[before..];
        let stands = |rest: &[HunkLine<'_>], at: usize| {
            !rest.is_empty() && rest.iter().zip(at..).all(|(line, at)| is_at(line, at))
        };
        let behind = start + before;
        let left_out = (1..=Self::MAX_LINES).find(|&lines| stands(rest, behind + lines));
        let too_many =
            || (1..rest.len().min(Self::MAX_LINES)).find(|&lines| stands(&rest[lines..], behind));
        let (left_out, too_many) = match left_out {
            Some(lines) => (lines, 0),
            None => (0, too_many()?),
        };
        Some(Self { start, before, left_out, too_many })
    }

    pub(super) fn failure(
        &self,
        file: &FileLines<'_>,
        (index, patch_line): (usize, u64),
        old: &[HunkLine<'_>],
        subject: &str,
    ) -> Failure {
        let Self { start, before, left_out, too_many } = *self;
        let (first, wanted) = (start + before, &old[before]);
        let line = first as u64 + 1;
        let hint = if left_out > 0 {
            format!(
                "{} of the file {} before line {} of the patch: a hunk has every line from its first to its last",
                line_range(line, (first + left_out) as u64),
                if left_out == 1 { "is missing" } else { "are missing" },
                wanted.line
            )
        } else {
            let last = old[before + too_many - 1].line;
            format!(
                "{} of the patch {} not stand in the file at this place, before line {line}; the others do",
                line_range(wanted.line, last),
                if last == wanted.line { "does" } else { "do" }
            )
        };
        let count = old.len() + left_out - too_many;
        let found = FirstDifference { wanted, line, found: Some(file.line(first)) };
        let closest = lines_at(file, start, count, Difference::Other);
        let sentence = format!("{subject}; {hint}");
        failure_of(ErrorCode::HunkNotFound, sentence, index, patch_line)
            .with("closest", closest_detail(closest, Some(&found)))
    }
}
