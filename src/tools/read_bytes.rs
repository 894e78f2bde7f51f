//! `readBytes` (docs/contract.md §13): a range of a file's bytes, for hosts.
//!
//! A file may have any size. Without the hash no more of it is read than the range and the head, by
//! which the media type is recognised. With the hash the file is read once, from beginning to end, so
//! that range and hash are of the same bytes. A file in `/proc` is read so, too, because its size is known
//! only when it has been read. The size in the answer is the one at the time of opening.
//!
//! ```
//! use ringfence::sandbox::Sandbox;
//! use ringfence::tools::read_bytes::{ReadBytesOptions, read_bytes};
//!
//! let workspace = tempfile::tempdir()?;
//! std::fs::write(workspace.path().join("photo"), b"\x89PNG\r\n\x1a\nand so on")?;
//!
//! let sandbox = Sandbox::open(workspace.path())?;
//! let options = ReadBytesOptions { offset: 1, length: 3, include_hash: false };
//! let answer = read_bytes(&sandbox, "photo", &options, &|| false)?;
//! assert_eq!((&*answer.bytes, answer.byte_length), (&b"PNG"[..], 17));
//! assert_eq!(answer.media_type, "image/png");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::ops::{ControlFlow, Range, RangeInclusive};

use super::failure::{ErrorCode, Failure};
use super::read_file::open_file;
use crate::hash::{self, Sha256Pieces};
use crate::memory::{self, OutOfMemory};
use crate::sandbox::{FileSize, OpenFile, Sandbox};
use crate::text::media_type;

/// What `length` may be: up to 16 MiB.
pub const LENGTH: RangeInclusive<u64> = 0..=16 << 20;

/// The `length` of a call that gives none: 1 MiB.
pub const DEFAULT_LENGTH: u64 = 1 << 20;

/// The largest file that is read from beginning to end: 64 MiB.
pub const MAX_WHOLE_BYTES: u64 = 64 << 20;

/// How many bytes at the beginning of a file tell its media type.
const HEAD: usize = 8192;

/// Which bytes, and whether the hash is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadBytesOptions {
    /// Where the range begins.
    pub offset: u64,
    /// How many bytes it has, if the file has as many.
    pub length: u64,
    /// Whether `sha256` is wanted.
    pub include_hash: bool,
}

impl Default for ReadBytesOptions {
    fn default() -> Self {
        Self { offset: 0, length: DEFAULT_LENGTH, include_hash: false }
    }
}

/// The answer.
#[derive(Debug, PartialEq, Eq)]
pub struct ReadBytesOutput {
    /// Relative to the workspace root, components separated by `/`.
    pub path: String,
    /// The bytes of the range; none if it begins past the end.
    pub bytes: Vec<u8>,
    /// Where the range begins.
    pub offset: u64,
    /// The size of the whole file.
    pub byte_length: u64,
    /// By the head of the file, then by its name.
    pub media_type: &'static str,
    /// When the file last changed: milliseconds since 1970, rounded down.
    pub mtime_ms: i64,
    /// SHA-256 of the whole file, lowercase hex; only where asked for.
    pub sha256: Option<String>,
}

/// Reads a range of a file. `cancelled` is asked for each 64 KiB.
///
/// # Errors
///
/// [`Failure`], in the order of docs/contract.md §4. With the hash, a file of more than
/// [`MAX_WHOLE_BYTES`] is one of them.
pub fn read_bytes(
    sandbox: &Sandbox,
    path: &str,
    options: &ReadBytesOptions,
    cancelled: &dyn Fn() -> bool,
) -> Result<ReadBytesOutput, Failure> {
    let (located, file) = open_file(sandbox, path)?;
    let mtime_ms = file.modified_ms();
    let read = Reading::of(&file, options).and_then(|reading| reading.run(file, cancelled));
    let Reading { range, head, bytes, hash, end, .. } =
        read.map_err(|failure| failure.at(located.to_string()).hiding_root_of(sandbox))?;
    let name = located.as_str().rsplit('/').next().unwrap_or_default();
    Ok(ReadBytesOutput {
        path: located.as_shown().to_owned(),
        bytes,
        offset: range.start,
        byte_length: end.unwrap_or_default(),
        media_type: media_type::of_file(&head, name),
        mtime_ms,
        sha256: hash.map(|hash| hash::to_hex(&hash.digest())),
    })
}

/// The parts of an answer, put together while the file goes by.
struct Reading {
    /// No more of it than lies in the file, as far as the system says.
    range: Range<u64>,
    head: Vec<u8>,
    bytes: Vec<u8>,
    hash: Option<Sha256Pieces>,
    /// Where the next piece of the file lies.
    at: u64,
    /// Where the file ends; `None` if only reading tells.
    end: Option<u64>,
}

impl Reading {
    fn of(file: &OpenFile, options: &ReadBytesOptions) -> Result<Self, Failure> {
        let ReadBytesOptions { offset, length, include_hash } = *options;
        // Files in `/proc` report 0.
        let end = Some(file.size()).filter(|&size| size > 0);
        if include_hash && let Some(size) = end.filter(|&size| size > MAX_WHOLE_BYTES) {
            return Err(too_large(FileSize::Exactly(size)));
        }
        let last = offset.saturating_add(length);
        let range = offset..end.map_or(last, |end| last.min(end).max(offset));
        let expected = if end.is_some() { range.end - range.start } else { 0 };
        Ok(Self {
            range,
            head: Vec::new(),
            bytes: memory::room_for(usize::try_from(expected).unwrap_or(usize::MAX))?,
            hash: include_hash.then(Sha256Pieces::default),
            at: 0,
            end,
        })
    }

    fn run(mut self, mut file: OpenFile, cancelled: &dyn Fn() -> bool) -> Result<Self, Failure> {
        self.read_on(&mut file, cancelled)?;
        let start = self.range.start;
        if self.at < start && !self.range.is_empty() && self.lies_in_file(start) {
            self.at = start;
            self.read_on(&mut file, cancelled)?;
        }
        Ok(self)
    }

    /// Reads on until the next piece is not needed, or the file has ended.
    fn read_on(
        &mut self,
        file: &mut OpenFile,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<(), Failure> {
        let mut taken = Ok(());
        file.read_pieces(self.at, &mut |piece| {
            taken = if cancelled() { Err(Failure::cancelled()) } else { self.take(piece) };
            if taken.is_ok() && self.needs_more() {
                return ControlFlow::Continue(());
            }
            ControlFlow::Break(())
        })?;
        taken?;
        if self.needs_more() {
            self.end = Some(self.at);
        }
        Ok(())
    }

    fn take(&mut self, piece: &[u8]) -> Result<(), Failure> {
        let place = |offset: u64| {
            let place = usize::try_from(offset.saturating_sub(self.at)).unwrap_or(usize::MAX);
            place.min(piece.len())
        };
        let part = &piece[place(self.range.start)..place(self.range.end)];
        // What a file that grows has beyond its size is not part of the answer.
        let piece = &piece[..self.end.map_or(piece.len(), place)];
        self.bytes.try_reserve(part.len()).map_err(|_| OutOfMemory(part.len() as u64))?;
        self.bytes.extend_from_slice(part);
        self.head.extend_from_slice(&piece[..piece.len().min(HEAD - self.head.len())]);
        if let Some(hash) = &mut self.hash {
            hash.add(piece);
        }
        self.at += piece.len() as u64;
        if self.reads_all() && self.at > MAX_WHOLE_BYTES {
            return Err(too_large(FileSize::AtLeast(self.at)));
        }
        Ok(())
    }

    /// Whether the next piece is needed.
    fn needs_more(&self) -> bool {
        let has_head = self.head.len() == HEAD;
        let is_needed = self.reads_all() || !has_head || self.range.contains(&self.at);
        is_needed && self.lies_in_file(self.at)
    }

    fn reads_all(&self) -> bool {
        self.hash.is_some() || self.end.is_none()
    }

    fn lies_in_file(&self, place: u64) -> bool {
        self.end.is_none_or(|end| place < end)
    }
}

fn too_large(size: FileSize) -> Failure {
    let limit = format!("the limit of {MAX_WHOLE_BYTES} bytes (64 MiB) for reading all of a file");
    let sentence = format!("the file has {size}, more than {limit}; leave include_hash out");
    Failure::new(ErrorCode::SizeLimitExceeded, sentence)
}

#[cfg(test)]
mod tests;
