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
/// and on the one that becomes its first; on any other line U+FEFF is a character.
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
    let first_old = first.lines.iter().position(|line| line.kind != LineKind::Added);
    let is_first_line = first_old.is_none_or(|at| {
        let found = if file.count() == 0 { "" } else { file.line(0) };
        unmarked(first.lines[at].text).trim() == found.trim()
    });
    if !is_first_line || first_old.is_none() && file.count() > 0 {
        return hunks;
    }
    let first_new = first.lines.iter().position(|line| line.kind != LineKind::Removed);
    for at in [first_old, first_new].into_iter().flatten() {
        first.lines[at].text = unmarked(first.lines[at].text);
    }
    // A file of nothing but the mark has no line, but git shows one.
    if let Some(at) = first_old.filter(|_| file.count() == 0) {
        first.lines.remove(at);
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
    let old_count = hunks[0].lines.len();
    if file.count() == old_count {
        if old_count == 0 {
            return Ok(());
        }
        return match locate(file, &hunks, cancelled) {
            Ok(_) => Ok(()),
            Err((index, misfit)) => Err(failure_of_misfit(file, &hunks, index, &misfit)),
        };
    }
    Err(holds_other_lines(file, &hunks[0]))
}
