//! The text of a file that a section changes or removes.

use crate::text::NotText;
use crate::tools::apply_patch::PathedSection;
use crate::tools::apply_patch::explain::{failure_of_misfit, holds_other_lines};
use crate::tools::apply_patch::file_lines::{CarriageReturns, FileLines, Grade};
use crate::tools::apply_patch::locate::locate;
use crate::tools::apply_patch::patch::{Hunk, HunkLine, LineKind};
use crate::tools::failure::Failure;

/// The lines of a file. A patch that git has made of a file with CRLF has the CRs in its texts: then they belong to the
/// text of the file's lines, too.
pub(super) fn lines_of<'file, 'patch, L: Iterator<Item = &'patch HunkLine<'patch>>>(
    bytes: &'file [u8],
    patch: impl Fn() -> L,
) -> Result<FileLines<'file>, NotText> {
    let file = FileLines::of(bytes, CarriageReturns::EndLines)?;
    let old_texts = patch().filter(|line| line.kind != LineKind::Added).map(|line| line.text);
    let mut with_return = old_texts.filter(|text| text.ends_with('\r'));
    // A line may also end in a CR of its own, before its CRLF.
    if with_return.all(|text| !file.index(Grade::Exact).places_of(text).is_empty()) {
        return Ok(file);
    }
    FileLines::of(bytes, CarriageReturns::BelongToText)
}

/// The hunks without the byte order mark of the file, which stays as it is. A patch may have it on the file's first line,
/// and on those that replace it; on any other line U+FEFF is a character.
pub(super) fn without_marks<'text>(
    file: &FileLines<'_>,
    hunks: &[Hunk<'text>],
) -> Vec<Hunk<'text>> {
    let mut hunks = hunks.to_vec();
    if !file.has_byte_order_mark() {
        return hunks;
    }
    let Some(first) = hunks.first_mut() else { return hunks };
    let unmarked = |text: &'text str| text.strip_prefix('\u{FEFF}').unwrap_or(text);
    let is_old = |line: &HunkLine<'_>| line.kind != LineKind::Added;
    let first_old = first.lines.iter().find(|line| is_old(line));
    let is_first_line = first_old.map_or(file.count() == 0, |line| {
        file.count() > 0 && unmarked(line.text).trim() == file.line(0).trim()
    });
    if !is_first_line {
        return hunks;
    }
    let mut old = 0;
    for line in &mut first.lines {
        old += usize::from(is_old(line));
        if old > 1 {
            break;
        }
        line.text = unmarked(line.text);
    }
    hunks
}

/// Checks that a file holds what a unified diff removes, and nothing more.
pub(super) fn check_whole(
    file: &FileLines<'_>,
    content: &[HunkLine<'_>],
    section: &PathedSection<'_>,
    cancelled: &dyn Fn() -> bool,
) -> Result<(), Failure> {
    let line = content.first().map_or(section.section.line, |line| line.line);
    let hunk = Hunk {
        line,
        narrowing: Vec::new(),
        stated: None,
        lines: content.to_vec(),
        is_at_end: true,
    };
    let hunks = without_marks(file, &[hunk]);
    if file.count() == content.len() {
        if content.is_empty() {
            return Ok(());
        }
        return match locate(file, &hunks, cancelled) {
            Ok(_) => Ok(()),
            Err((index, misfit)) => Err(failure_of_misfit(file, &hunks, index, &misfit)),
        };
    }
    Err(holds_other_lines(file, &hunks[0]))
}
