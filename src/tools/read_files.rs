//! `read_files` (docs/contract.md §13): windows of several files in one answer, within a budget.
//!
//! The budget counts the bytes of the contents, as UTF-8. Every window has an even share of it; what
//! small windows leave goes to the larger ones. A window that is larger than its share is cut to the
//! whole lines that fit, as if `max_lines` had been smaller, so that the next call goes on at its
//! `next_start_line`.
//!
//! A file that cannot be read fails its own item and no other.
//!
//! ```
//! use ringfence::sandbox::Sandbox;
//! use ringfence::text::InvalidUtf8;
//! use ringfence::tools::read_file::ReadFileOptions;
//! use ringfence::tools::read_files::{FileRequest, read_files};
//!
//! let workspace = tempfile::tempdir()?;
//! std::fs::write(workspace.path().join("short.txt"), "one\n")?;
//! std::fs::write(workspace.path().join("long.txt"), "first\nsecond\nthird\n")?;
//!
//! let sandbox = Sandbox::open(workspace.path())?;
//! let entries = ["short.txt", "long.txt", "missing.txt"].map(|path| FileRequest {
//!     path: path.to_owned(),
//!     options: Ok(ReadFileOptions::default()),
//! });
//! let budget = 17.try_into()?;
//! let answer = read_files(&sandbox, entries.into(), budget, InvalidUtf8::Reject, &|| false)?;
//!
//! let contents: Vec<_> = answer.items.iter().map(|item| item.output()).collect();
//! assert_eq!(contents[0].unwrap().content, "one\n");
//! assert_eq!(contents[1].unwrap().content, "first\nsecond");
//! assert_eq!(contents[1].unwrap().next_start_line, Some(3));
//! assert!(contents[2].is_none() && answer.truncated);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::num::NonZeroU64;
use std::ops::RangeInclusive;
use std::time::{Duration, Instant};

use memchr::{memchr_iter, memrchr};

use super::failure::Failure;
use super::read_file::{
    Cause, ReadAtOnce, ReadFileError, ReadFileOptions, ReadFileOutput, read_file, read_file_at_once,
};
use crate::argument::positive_up_to;
use crate::sandbox::{OpenError, ReadBuffer, Sandbox};
use crate::text::InvalidUtf8;

mod budget;

use budget::Budget;

/// How many files a call may ask for; at least one.
pub const MAX_FILES: u32 = 100;

/// What `max_total_bytes` may be: up to 4 MiB.
pub const MAX_TOTAL_BYTES: RangeInclusive<NonZeroU64> = positive_up_to(4 << 20);

/// The budget without `max_total_bytes`: 256 KiB.
pub const DEFAULT_MAX_TOTAL_BYTES: NonZeroU64 = NonZeroU64::new(256 << 10).unwrap();

/// A file that a call asks for.
#[derive(Debug)]
pub struct FileRequest {
    /// The path as it was asked for; empty if none came.
    pub path: String,
    /// Which window; or why the entry is wrong.
    pub options: Result<ReadFileOptions, Cause>,
}

/// The answer.
#[derive(Debug)]
pub struct ReadFilesOutput {
    /// An item for each entry, in the order of the entries.
    pub items: Vec<Item>,
    /// Whether the budget cut a window.
    pub truncated: bool,
}

/// The result of an entry.
#[derive(Debug)]
pub enum Item {
    /// What `read_file` answers.
    Read(ReadFileOutput<'static>),
    /// The file was not read.
    Failed {
        /// The path as it was asked for; of one that spells out the root the part beneath it, or its
        /// last name.
        asked: String,
        /// What `read_file` fails with.
        error: ReadFileError,
    },
}

impl Item {
    /// The answer of `read_file`, unless the item failed.
    #[must_use]
    pub fn output(&self) -> Option<&ReadFileOutput<'static>> {
        match self {
            Self::Read(output) => Some(output),
            Self::Failed { .. } => None,
        }
    }

    fn output_mut(&mut self) -> Option<&mut ReadFileOutput<'static>> {
        match self {
            Self::Read(output) => Some(output),
            Self::Failed { .. } => None,
        }
    }
}

impl ReadFilesOutput {
    /// The bytes of all contents, as UTF-8.
    #[must_use]
    pub fn total_bytes(&self) -> u64 {
        let outputs = self.items.iter().filter_map(Item::output);
        outputs.map(|output| output.content.len() as u64).sum()
    }

    /// How many items failed.
    #[must_use]
    pub fn failed(&self) -> usize {
        self.items.iter().filter(|item| item.output().is_none()).count()
    }
}

/// Reads the windows, in order. Holds no more than the budget and one file at a time.
///
/// `cancelled` is asked before each file.
///
/// # Errors
///
/// [`Failure`], if the root has been removed or the caller has cancelled the call. A file is no
/// reason.
pub fn read_files(
    sandbox: &Sandbox,
    entries: Vec<FileRequest>,
    max_total_bytes: NonZeroU64,
    invalid_utf8: InvalidUtf8,
    cancelled: &dyn Fn() -> bool,
) -> Result<ReadFilesOutput, Failure> {
    Reading::new(entries, max_total_bytes, invalid_utf8).read_all(sandbox, cancelled)
}

/// A call of [`read_files`] under way. Its first files may be read by one thread, the rest by another.
#[derive(Debug)]
pub struct Reading {
    rest: std::vec::IntoIter<FileRequest>,
    items: Vec<Item>,
    budget: Budget,
    invalid_utf8: InvalidUtf8,
}

impl Reading {
    /// A call of which nothing has been read.
    #[must_use]
    pub fn new(
        entries: Vec<FileRequest>,
        max_total_bytes: NonZeroU64,
        invalid_utf8: InvalidUtf8,
    ) -> Self {
        let items = Vec::with_capacity(entries.len());
        let (rest, budget) = (entries.into_iter(), Budget::new(max_total_bytes));
        Self { rest, items, budget, invalid_utf8 }
    }

    /// Reads on for at most `time`, until a file needs waiting or has more than `limit` bytes. Says
    /// whether all files have been read.
    pub fn read_at_once(
        &mut self,
        sandbox: &Sandbox,
        limit: u64,
        time: Duration,
        buffer: &mut ReadBuffer,
    ) -> bool {
        let begun = Instant::now();
        while let Some(FileRequest { path, options }) = self.rest.as_slice().first() {
            let Ok(options) = options else { return false };
            let invalid = self.invalid_utf8;
            let read = read_file_at_once(sandbox, path, options, invalid, limit, buffer);
            let ReadAtOnce::Answered(output) = read else { return false };
            let output = output.into_owned();
            self.rest.next();
            self.add(Item::Read(output));
            if begun.elapsed() > time {
                break;
            }
        }
        self.rest.as_slice().is_empty()
    }

    /// Reads the files that have not been read: see [`read_files`].
    ///
    /// # Errors
    ///
    /// As [`read_files`].
    pub fn read_all(
        mut self,
        sandbox: &Sandbox,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<ReadFilesOutput, Failure> {
        if sandbox.is_gone() {
            return Err(OpenError::RootGone.into());
        }
        while let Some(entry) = self.rest.next() {
            if cancelled() {
                return Err(Failure::cancelled());
            }
            self.add(read_entry(sandbox, entry, self.invalid_utf8));
        }
        Ok(self.into_output())
    }

    /// The answer of a call whose files have all been read.
    #[must_use]
    pub fn into_output(self) -> ReadFilesOutput {
        ReadFilesOutput { truncated: self.budget.share().is_some(), items: self.items }
    }

    fn add(&mut self, item: Item) {
        if let Some(output) = item.output() {
            self.budget.add(output.content.len());
        }
        self.items.push(item);
        // Each further window makes the share smaller, so the lines that do not fit now never will.
        if let Some(share) = self.budget.share() {
            for output in self.items.iter_mut().filter_map(Item::output_mut) {
                cut(output, share);
            }
        }
    }
}

fn read_entry(sandbox: &Sandbox, entry: FileRequest, invalid_utf8: InvalidUtf8) -> Item {
    let FileRequest { path, options } = entry;
    let read = match options {
        Ok(options) => read_file(sandbox, &path, &options, invalid_utf8),
        Err(cause) => {
            let beneath = sandbox.part_inside(&path);
            let error = ReadFileError::new(cause, Some(beneath.as_deref().unwrap_or(&path)));
            Err(error.hiding(|text| sandbox.is_spelled_in(text)))
        }
    };
    match read {
        Ok(output) => Item::Read(output),
        Err(error) if sandbox.is_spelled_in(&path) => {
            Item::Failed { asked: error.path().to_owned(), error }
        }
        Err(error) => Item::Failed { asked: path, error },
    }
}

/// Cuts a window of more than `share` bytes to the whole lines that fit, as a smaller `max_lines`
/// would have done.
fn cut(output: &mut ReadFileOutput<'_>, share: usize) {
    let ReadFileOutput { content, next_start_line, meta, .. } = output;
    if content.len() <= share {
        return;
    }
    let first = next_start_line.unwrap_or(meta.line_count + 1) - meta.returned_line_count;
    // The file's final LF is part of its last line, which does not fit.
    let reaches_end = next_start_line.is_none();
    let lines = content.as_bytes();
    let lines = lines.strip_suffix(b"\n").filter(|_| reaches_end).unwrap_or(lines);
    // The LF after the last line that fits is not shown, so it may lie just beyond the share.
    let end = memrchr(b'\n', &lines[..lines.len().min(share + 1)]);
    let returned = end.map_or(0, |end| memchr_iter(b'\n', &lines[..end]).count() as u64 + 1);
    let mut kept = std::mem::take(content).into_owned();
    kept.truncate(end.unwrap_or_default());
    kept.shrink_to_fit();
    *content = kept.into();
    *next_start_line = Some(first + returned);
    output.truncated = true;
    output.meta.returned_line_count = returned;
}

#[cfg(test)]
mod tests;
