//! `edit_file` (docs/contract.md §10): exact replacements in one file, all or none of them.
//!
//! - `old_string` and `new_string` are taken literally. CRLF in them counts as LF, and so does CRLF in the
//!   file. Every byte that no edit touches stays as it is.
//! - Every edit is located in the text as it was before the call. Lists that would have another result one
//!   edit after the other are refused, so that both ways to read them agree ([`plan`]).
//! - A line end in `new_string` is written as the line ends that it replaces are
//!   ([`Document::replace`]).
//! - If the file changes between reading and writing, it is read and edited anew; with an expected hash the
//!   call fails instead.
//!
//! ```
//! use ringfence::path::EntryPath;
//! use ringfence::sandbox::Sandbox;
//! use ringfence::tools::edit_file::{Edit, EditFileRequest, edit_file};
//! use ringfence::tools::entry_change::ChangeOptions;
//!
//! let workspace = tempfile::tempdir()?;
//! std::fs::write(workspace.path().join("a.txt"), "one\r\ntwo\r\n")?;
//!
//! let sandbox = Sandbox::open(workspace.path())?;
//! let request = EditFileRequest {
//!     path: "a.txt".to_owned(),
//!     edits: vec![Edit { old: "two".to_owned(), new: "2\n3".to_owned(), replace_all: false }],
//!     is_list: false,
//!     expected: None,
//!     dry_run: false,
//! };
//! let edited = edit_file(&sandbox, &request, ChangeOptions::default(), &|| false)?;
//! assert_eq!((edited.replacements, edited.start_line, edited.end_line), (1, 2, 3));
//! assert_eq!(std::fs::read(workspace.path().join("a.txt"))?, b"one\r\n2\r\n3\r\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::borrow::Cow;

use self::closest::closest;
pub use self::plan::Edit;
use self::plan::{Misfit, Span, plan, replaced, replacements};
use super::entry_change::{self, ChangeOptions, contended, stale};
use super::failure::{Detail, ErrorCode, Failure};
use super::near_miss::near_misses;
use crate::hash::{self, Sha256Digest};
use crate::path::{EntryPath, WorkspacePath};
use crate::sandbox::{
    Callbacks, Expected, FileSize, NewContent, OpenError, OpenFile, ReadError, Sandbox, WriteError,
};
use crate::text::{Change, Document, UnifiedDiff, lines_ended};

pub mod closest;
pub(super) mod explain;
pub(super) mod fold;
mod locate;
mod plan;
pub(super) mod queue;

/// The largest file that is edited, before and after, in bytes: 10 MiB.
pub const MAX_EDIT_FILE_SIZE_BYTES: u64 = 10 << 20;

/// How many edits a call has at most.
pub const MAX_EDITS: u32 = 1000;

/// How many bytes of UTF-8 the texts of all edits have together at most: 32 MiB.
pub const MAX_EDIT_TEXT_BYTES: usize = 32 << 20;

/// How many UTF-16 units of the diff an answer has at most.
pub const MAX_DIFF_UNITS: usize = 20_000;

/// How often a file that other programs change is read and edited anew.
const MAX_ATTEMPTS: u32 = 1000;

/// What to edit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditFileRequest {
    /// The file, as it was asked for.
    pub path: String,
    /// One edit or more, no `old` of them empty.
    pub edits: Vec<Edit>,
    /// Whether the edits came as a list: then messages number them.
    pub is_list: bool,
    /// Only a file whose bytes have this SHA-256 is edited.
    pub expected: Option<Sha256Digest>,
    /// Whether nothing is written.
    pub dry_run: bool,
}

/// The answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditFileOutput {
    /// Relative to the workspace root, components separated by `/`.
    pub path: String,
    /// Whether the file was written; only a dry run writes none.
    pub applied: bool,
    /// How many places were replaced.
    pub replacements: u64,
    /// The line of the new text in which the first change begins, from 1.
    pub start_line: u64,
    /// The line of the new text in which the last change ends.
    pub end_line: u64,
    /// The change of the text that `readFile` shows.
    pub diff: UnifiedDiff,
    /// SHA-256 of the bytes before, lowercase hex.
    pub before_sha256: String,
    /// SHA-256 of the bytes now.
    pub sha256: String,
    /// How many bytes the file has now.
    pub byte_length: u64,
    /// How many lines its text has now.
    pub line_count: u64,
}

/// Parses the path, and refuses the call where the host lets its tools write nothing. No disk is looked at:
/// `inside` gives the part of an absolute path beneath the root, by its spelling.
///
/// # Errors
///
/// `INVALID_ARGUMENT`, `READ_ONLY` or `SANDBOX_VIOLATION`, in this order.
pub fn parse(
    request: &EditFileRequest,
    options: ChangeOptions,
    inside: impl FnOnce(&str) -> Option<String>,
) -> Result<EntryPath, Failure> {
    entry_change::parse("path", &request.path, options, inside)
}

/// Edits a file. `cancelled` is asked before the file is read, and before the new one becomes visible.
///
/// # Errors
///
/// [`Failure`], in the order of docs/contract.md §9. Nothing has changed on disk then, except where the
/// message says that the file was written.
pub fn edit_file(
    sandbox: &Sandbox,
    request: &EditFileRequest,
    options: ChangeOptions,
    cancelled: &dyn Fn() -> bool,
) -> Result<EditFileOutput, Failure> {
    let inside = |absolute: &str| sandbox.part_inside(absolute);
    let edited = parse(request, options, inside).and_then(|path| {
        let editing = Editing { sandbox, request, options, path: &path, cancelled };
        editing.run().map_err(|failure| failure.at(path.as_path().as_shown()))
    });
    edited.map_err(|failure| failure.hiding_root_of(sandbox))
}

/// One call.
struct Editing<'call> {
    sandbox: &'call Sandbox,
    request: &'call EditFileRequest,
    options: ChangeOptions,
    path: &'call EntryPath,
    cancelled: &'call dyn Fn() -> bool,
}

/// An attempt before its write.
struct Prepared {
    answer: EditFileOutput,
    /// The bytes that replace the file's.
    edited: Vec<u8>,
}

/// Why an attempt ended without an answer.
enum AttemptError {
    /// The file has changed since it was read.
    Changed,
    Failed(Failure),
}

impl<E: Into<Failure>> From<E> for AttemptError {
    fn from(error: E) -> Self {
        Self::Failed(error.into())
    }
}

impl Editing<'_> {
    fn shown(&self) -> &str {
        self.path.as_path().as_shown()
    }

    fn run(&self) -> Result<EditFileOutput, Failure> {
        for _ in 0..MAX_ATTEMPTS {
            match self.attempt_alone() {
                Ok(answer) => return Ok(answer),
                Err(AttemptError::Failed(failure)) => return Err(failure),
                Err(AttemptError::Changed) if self.request.expected.is_some() => {
                    return Err(self.stale_now());
                }
                Err(AttemptError::Changed) => {}
            }
        }
        Err(contended())
    }

    /// An attempt while no other edit of this process is at work on the file.
    fn attempt_alone(&self) -> Result<EditFileOutput, AttemptError> {
        let id = || self.sandbox.open_file_to_change(self.path.as_path()).ok()?.id();
        queue::alone(id, |queued| {
            let file = match self.open() {
                Ok(file) => file,
                Err(failure) => return Some(Err(failure.into())),
            };
            // An edit that was waited for has put another file there.
            (file.id() == queued).then(|| self.attempt(file))
        })
    }

    /// Opens the file (`NOT_FOUND` to `NOT_FILE`).
    fn open(&self) -> Result<OpenFile, Failure> {
        if (self.cancelled)() {
            return Err(Failure::cancelled());
        }
        let path = self.path.as_path();
        let file = self.sandbox.open_file_to_change(path);
        let file = file.map_err(|error| self.not_opened(error, path))?;
        self.sandbox.check_replaceable(self.path)?;
        Ok(file)
    }

    fn not_opened(&self, error: OpenError, path: &WorkspacePath) -> Failure {
        let is_missing = matches!(error, OpenError::NotFound | OpenError::NotFolder);
        let failure = Failure::from(error);
        if !is_missing {
            return failure;
        }
        let near = near_misses(self.sandbox, &self.request.path, path);
        if near.is_empty() && self.may_be_created() {
            return failure.and("to make a new file, create it");
        }
        failure.suggesting(&near)
    }

    /// Whether `createFile` could make a file at the path: not where a link points to nothing, where a file
    /// stands in the way, or where the path names a folder.
    fn may_be_created(&self) -> bool {
        let is_free = || {
            let found = self.sandbox.check_replaceable(self.path);
            matches!(found, Err(WriteError::Open(OpenError::NotFound)))
        };
        !self.path.as_path().must_be_directory() && is_free()
    }

    fn attempt(&self, file: OpenFile) -> Result<EditFileOutput, AttemptError> {
        let bytes = file.read_to_end(MAX_EDIT_FILE_SIZE_BYTES).map_err(not_read)?;
        let prepared = self.prepare(&bytes);
        if (self.cancelled)() {
            return Err(Failure::cancelled().into());
        }
        let Prepared { answer, edited } = prepared?;
        if !self.request.dry_run {
            self.write(&edited, &bytes)?;
        }
        Ok(answer)
    }

    /// Everything but the write.
    fn prepare(&self, bytes: &[u8]) -> Result<Prepared, Failure> {
        let document = Document::parse(bytes)?;
        let before = hash::sha256(bytes);
        if self.request.expected.is_some_and(|expected| expected != before) {
            return Err(stale(&before));
        }
        let edits = self.edits_of(&document)?;
        let spans = plan(document.view(), &edits, self.cancelled)
            .map_err(|misfit| self.misfit_failure(&document, &edits, misfit))?;
        let size = document.size_after(replacements(&spans, &edits));
        if size > MAX_EDIT_FILE_SIZE_BYTES {
            return Err(too_large_after(size));
        }
        let edited = document.replace(replacements(&spans, &edits));
        if edited == bytes {
            let sentence = "the edits match, and together they leave the file as it was";
            return Err(Failure::new(ErrorCode::NoChange, sentence));
        }
        let answer = self.answer(&document, &edits, &spans, &before, &edited);
        Ok(Prepared { answer, edited })
    }

    /// The edits as they are looked for: with LF for CRLF, and without a byte order mark that the model has
    /// copied from the file.
    fn edits_of(&self, document: &Document<'_>) -> Result<Vec<Edit>, Failure> {
        let plain = |text: &str| {
            let text = crate::text::normalise_line_ends(text);
            match text.strip_prefix('\u{FEFF}') {
                Some(rest) if document.has_byte_order_mark() => rest.to_owned(),
                _ => text.into_owned(),
            }
        };
        let edits: Vec<Edit> = self
            .request
            .edits
            .iter()
            .map(|Edit { old, new, replace_all }| Edit {
                old: plain(old),
                new: plain(new),
                replace_all: *replace_all,
            })
            .collect();
        // One after the other, since the codes come in the order of docs/contract.md §9, whichever edit has
        // the fault.
        if let Some(index) = edits.iter().position(|edit| edit.old.is_empty()) {
            let rule = "is the file's byte order mark alone, which is not part of its text";
            return Err(self.failure_of(index, ErrorCode::InvalidArgument, rule));
        }
        if let Some(index) = edits.iter().position(|edit| edit.old == edit.new) {
            let rule = "is the same as new_string, but perhaps for line ends, which the file keeps";
            return Err(self.failure_of(index, ErrorCode::NoChange, rule));
        }
        Ok(edits)
    }

    /// A failure of one edit. `rule` goes on after the name of its `old_string`.
    fn failure_of(&self, index: usize, code: ErrorCode, rule: &str) -> Failure {
        let name = self.name_of(index, "old_string");
        Failure::new(code, format!("{name} {rule}"))
            .with("edit_index", Detail::Number(index as u64))
    }

    fn name_of(&self, index: usize, key: &str) -> String {
        if self.request.is_list { format!("edits[{index}].{key}") } else { key.to_owned() }
    }

    fn misfit_failure(&self, document: &Document<'_>, edits: &[Edit], misfit: Misfit) -> Failure {
        let line_of = |offset: usize| document.position(offset).line;
        match misfit {
            Misfit::Cancelled => Failure::cancelled(),
            Misfit::TooLarge { size } => too_large_after(size),
            Misfit::NoMatch { edit } => {
                let Edit { old, new, .. } = &edits[edit];
                let closest = closest(document.view(), old, new);
                let sentence = explain::explain(document.view(), old, closest.as_ref());
                let closest = closest.map_or(Detail::Null, |closest| {
                    Detail::Object(vec![
                        ("start_line", Detail::Number(closest.start_line)),
                        ("end_line", Detail::Number(closest.end_line)),
                        ("text", Detail::Text(closest.text)),
                        ("difference", Detail::Text(closest.difference.as_str().to_owned())),
                    ])
                });
                self.failure_of(edit, ErrorCode::NoMatch, &sentence).with("closest", closest)
            }
            Misfit::MultipleMatches { edit, count, first } => {
                let lines: Vec<_> = first.into_iter().map(line_of).collect();
                let told: Vec<_> = lines.iter().map(u64::to_string).collect();
                let more = if count > lines.len() as u64 { " and others" } else { "" };
                let rule = format!(
                    "occurs {count} times, in the lines {}{more}: add lines around the one that you mean, or \
                     set replace_all to true",
                    told.join(", ")
                );
                self.failure_of(edit, ErrorCode::MultipleMatches, &rule)
                    .with("count", Detail::Number(count))
                    .with("lines", Detail::Numbers(lines))
            }
            Misfit::Overlap { edit, other } => {
                let rule = format!(
                    "is changed by {}, or that edit writes it: each edit is located in the file as it was, so \
                     make one edit of the two, or two calls",
                    self.name_of(other, "new_string")
                );
                self.failure_of(edit, ErrorCode::EditOverlap, &rule)
                    .with("other_index", Detail::Number(other as u64))
            }
        }
    }

    fn answer(
        &self,
        document: &Document<'_>,
        edits: &[Edit],
        spans: &[Span],
        before: &Sha256Digest,
        edited: &[u8],
    ) -> EditFileOutput {
        let view = document.view();
        // A CR that an edit leaves before an LF is a line end in the new view, so that is parsed anew.
        let after = Document::parse(edited);
        let after = after.as_ref().map_or_else(
            |_| Cow::Owned(replaced(view, spans, edits)),
            |after| Cow::Borrowed(after.view()),
        );
        let change = change_between(view, &after, edits, spans);
        let line_at = |offset: usize| lines_ended(&after.as_bytes()[..offset]) + 1;
        let line_count =
            line_at(after.len()) - u64::from(after.is_empty() || after.ends_with('\n'));
        let end = after.len() - change.same_end;
        let ends_in_deletion =
            spans.last().is_some_and(|span| edits[span.edit as usize].new.is_empty());
        let last = if end > change.same_start && !ends_in_deletion { end - 1 } else { end };
        let start_line = line_at(change.same_start).min(line_count.max(1));
        EditFileOutput {
            path: self.shown().to_owned(),
            applied: !self.request.dry_run,
            replacements: spans.len() as u64,
            start_line,
            end_line: line_at(last).clamp(start_line, line_count.max(1).max(start_line)),
            diff: change.unified_diff(self.shown(), MAX_DIFF_UNITS),
            before_sha256: hash::to_hex(before),
            sha256: hash::to_hex(&hash::sha256(edited)),
            byte_length: edited.len() as u64,
            line_count,
        }
    }

    fn write(&self, edited: &[u8], before: &[u8]) -> Result<(), AttemptError> {
        let content = NewContent {
            bytes: edited,
            overwrite: true,
            expected: Some(Expected::Bytes(before)),
            durable: self.options.is_durable(),
            executable: None,
        };
        let callbacks = Callbacks::without_confirm(self.cancelled);
        match self.sandbox.replace_file(self.path, &content, callbacks) {
            Ok(_) => Ok(()),
            Err(WriteError::Changed) => Err(AttemptError::Changed),
            // The edit is not made anew: no answer has a place for the file that is left beside.
            Err(WriteError::Kept { because, stray }) if matches!(*because, WriteError::Changed) => {
                let expected = self.request.expected;
                let failure = expected.map_or_else(contended, |_| self.stale_now());
                Err(failure.and(&stray.to_string()).into())
            }
            Err(error) => Err(error.into()),
        }
    }

    /// `STALE`, with the hash that the file has now.
    fn stale_now(&self) -> Failure {
        let open = self.open().and_then(|file| {
            let bytes = file.read_to_end(MAX_EDIT_FILE_SIZE_BYTES).map_err(not_read)?;
            Ok(stale(&hash::sha256(&bytes)))
        });
        open.unwrap_or_else(|failure| failure)
    }
}

/// The part of the text that the spans change, as narrow as the first and the last of them tell.
fn change_between<'text>(
    before: &'text str,
    after: &'text str,
    edits: &[Edit],
    spans: &[Span],
) -> Change<'text> {
    let (mut same_start, mut same_end) = (0, 0);
    if let ([first, ..], [.., last]) = (spans, spans) {
        let (Edit { old, new, .. }, end) =
            (&edits[first.edit as usize], &edits[last.edit as usize]);
        same_start = first.start + common_start(old, new);
        let last_end = last.start + end.old.len();
        let (old, new) = match spans.len() {
            1 => (&old[common_start(old, new)..], &new[common_start(old, new)..]),
            _ => (&*end.old, &*end.new),
        };
        same_end = before.len() - last_end + common_end(old, new);
    }
    // A CR before the change may be part of a line end now.
    if before[..same_start].ends_with('\r') {
        same_start -= 1;
    }
    same_end = same_end.min(after.len() - same_start);
    Change { before, after, same_start, same_end }
}

fn common_start(one: &str, other: &str) -> usize {
    let pairs = one.chars().zip(other.chars());
    pairs.take_while(|(one, other)| one == other).map(|(one, _)| one.len_utf8()).sum()
}

fn common_end(one: &str, other: &str) -> usize {
    let pairs = one.chars().rev().zip(other.chars().rev());
    pairs.take_while(|(one, other)| one == other).map(|(one, _)| one.len_utf8()).sum()
}

pub(super) fn not_read(error: ReadError) -> Failure {
    if let ReadError::TooLarge(size) = error {
        let sentence = format!(
            "the file has {size}, more than the limit of {MAX_EDIT_FILE_SIZE_BYTES} bytes (10 MiB)"
        );
        return Failure::new(ErrorCode::SizeLimitExceeded, sentence);
    }
    error.into()
}

pub(super) fn too_large_after(size: u64) -> Failure {
    let sentence = format!(
        "the file would have {}, more than the limit of {MAX_EDIT_FILE_SIZE_BYTES} bytes (10 MiB)",
        FileSize::Exactly(size)
    );
    Failure::new(ErrorCode::SizeLimitExceeded, sentence)
}

#[cfg(test)]
mod tests;
