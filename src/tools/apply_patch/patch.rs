//! A patch, parsed: the sections of its files, and their hunks. Both formats are parsed to this form.

use super::peel::{Format, Lines, find_patch};
use super::{unified, v4a};

/// A parsed patch. Its texts are parts of the text that was parsed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Patch<'text> {
    /// The format in which it was written.
    pub format: Format,
    /// The sections, in the order of the patch; at least one.
    pub sections: Vec<Section<'text>>,
}

/// The changes of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section<'text> {
    /// The line of the patch on which the section begins, from 1.
    pub line: u64,
    /// The spellings of the path, the preferred one first and each once. The first that exists is meant; if none
    /// does, the first. V4A has one spelling; a unified diff has further ones, such as `a/x` for `x`.
    pub paths: Vec<String>,
    /// What happens to the file.
    pub change: FileChange<'text>,
}

/// What a section does with its file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileChange<'text> {
    /// Makes a new file.
    Add {
        /// Its lines, all of them [`LineKind::Added`].
        lines: Vec<HunkLine<'text>>,
        /// Whether it may be executed.
        is_executable: bool,
    },
    /// Removes the file.
    Delete {
        /// What the file holds, as a unified diff says it: all its lines are [`LineKind::Removed`]. `None` if the
        /// patch does not say.
        content: Option<Vec<HunkLine<'text>>>,
    },
    /// Changes lines of the file, its path, or its execute bits.
    Update {
        /// The hunks, in the order of the patch.
        hunks: Vec<Hunk<'text>>,
        /// The new path of a file that is moved.
        to: Option<String>,
        /// Whether the file is to be executable; `None` if that stays as it is.
        executable: Option<bool>,
    },
}

/// Lines that stand next to each other in the file, and what happens to them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hunk<'text> {
    /// The line of the patch with the hunk's first `@@`, or with its first line if it has no `@@`.
    pub line: u64,
    /// The texts of its `@@` lines, which narrow the search one after the other. Only V4A has them.
    pub narrowing: Vec<Narrowing<'text>>,
    /// The numbers of its `@@` line. Only unified diffs have them.
    pub stated: Option<Stated>,
    /// Its lines; at least one of them is added or removed.
    pub lines: Vec<HunkLine<'text>>,
    /// Whether its last line must be the last of the file (`*** End of File`).
    pub is_at_end: bool,
}

/// The text of an `@@` line: the hunk stands after the line of the file that equals it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Narrowing<'text> {
    /// The line of the patch, from 1.
    pub line: u64,
    /// The text behind `@@ `.
    pub text: &'text str,
}

/// The numbers of a unified hunk's header: `@@ -old_start,old_count +new_start,… @@`. All of them are hints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stated {
    /// The first of its old lines, from 1. If `old_count` is 0, the line before, and 0 for none.
    pub old_start: u64,
    /// How many old lines it has; 1 if the header does not say.
    pub old_count: u64,
    /// The first of its new lines, likewise.
    pub new_start: u64,
}

/// One line of a hunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HunkLine<'text> {
    /// The line of the patch, from 1.
    pub line: u64,
    /// What happens to the line.
    pub kind: LineKind,
    /// The text without its sign and its line feed. It ends in a CR only if that belongs to the text.
    pub text: &'text str,
    /// Whether the patch says that the line has no end (`\ No newline at end of file`).
    pub has_no_end: bool,
}

/// What happens to a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineKind {
    /// It stays.
    Context,
    /// It goes.
    Removed,
    /// It is new.
    Added,
}

/// Why a patch does not parse.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line} of the patch: {reason}")]
pub struct PatchError {
    /// The line of the patch at which the parser gave up, from 1.
    pub line: u64,
    /// What is wrong there, and what to do.
    pub reason: String,
}

impl PatchError {
    /// An error on a line.
    pub fn new(line: u64, reason: impl Into<String>) -> Self {
        Self { line, reason: reason.into() }
    }
}

impl<'text> Patch<'text> {
    /// Parses a patch of either format.
    ///
    /// # Errors
    ///
    /// [`PatchError`]. It never panics, and takes time linear in the text.
    pub fn parse(text: &'text str) -> Result<Self, PatchError> {
        let (format, lines): (Format, Lines<'text>) = find_patch(text)?;
        let sections = match format {
            Format::V4a => v4a::parse(lines)?,
            Format::Unified => unified::parse(lines)?,
        };
        Ok(Self { format, sections })
    }
}
