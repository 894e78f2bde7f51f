//! An open file: its facts and its bytes.

use std::fs::{File, Metadata};
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::ControlFlow;
use std::time::{SystemTime, UNIX_EPOCH};

use super::buffer::ReadBuffer;
use super::entry::FolderId;
use super::error::{FileSize, OpenError, ReadError};
use super::system;

/// A regular file, open for reading. Its size, its time and its bytes come from one handle.
#[derive(Debug)]
pub struct OpenFile {
    pub(super) file: File,
    pub(super) size: u64,
    modified: Option<SystemTime>,
}

/// Tells one file of the machine from all others, as long as it exists: its device, and its number there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(FolderId);

/// The result of reading a file without waiting.
#[derive(Debug)]
pub enum CachedRead<'buffer> {
    /// The file and its whole content.
    Read(OpenFile, &'buffer [u8]),
    /// It is open; its bytes are too many, or not in memory.
    Opened(OpenFile),
    /// Not without waiting. Call [`Sandbox::open_file`](super::Sandbox::open_file) for the answer.
    WouldWait,
}

/// The most bytes that [`OpenFile::read_pieces`] reads at a time: 64 KiB.
pub const PIECE: usize = 64 << 10;

impl OpenFile {
    /// Checks that the opened file is a regular one.
    pub(super) fn examine(file: File) -> Result<Self, OpenError> {
        let metadata = file.metadata().map_err(OpenError::System)?;
        if metadata.is_dir() {
            return Err(OpenError::IsDirectory);
        }
        if !metadata.is_file() {
            return Err(OpenError::SpecialFile);
        }
        Ok(Self { file, size: metadata.len(), modified: metadata.modified().ok() })
    }

    /// When the content last changed: milliseconds since 1970, rounded down. Taken before the
    /// bytes are read, so that a change while reading shows as a change afterwards.
    #[must_use]
    pub fn modified_ms(&self) -> i64 {
        self.modified.map_or(0, floor_ms)
    }

    /// The file's size, as the system reports it.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Which file it is; `None` if the system does not say.
    #[must_use]
    pub fn id(&self) -> Option<FileId> {
        system::file_id(&self.file).ok().map(FileId)
    }

    /// Whether the file has just these bytes. Takes little memory, and reads no further than the first
    /// that differ.
    ///
    /// # Errors
    ///
    /// [`ReadError`].
    pub fn holds(&mut self, bytes: &[u8]) -> Result<bool, ReadError> {
        let mut rest = Some(bytes);
        self.read_pieces(0, &mut |piece| {
            rest = rest.and_then(|rest| rest.strip_prefix(piece));
            if rest.is_some() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })?;
        Ok(rest.is_some_and(<[u8]>::is_empty))
    }

    /// Reads the whole file, to its real end, whatever size the system reported: files in `/proc`
    /// report 0. Never holds more than `limit` + 1 bytes.
    ///
    /// # Errors
    ///
    /// [`ReadError::TooLarge`] for more than `limit` bytes.
    pub fn read_to_end(self, limit: u64) -> Result<Vec<u8>, ReadError> {
        if self.size > limit {
            return Err(ReadError::TooLarge(FileSize::Exactly(self.size)));
        }
        // One byte more than expected lets the read that finds the end fit without growing.
        let expected = self.size.saturating_add(1);
        let bytes = self.read_up_to(limit.saturating_add(1), expected)?;
        match bytes.len() as u64 {
            size if size > limit => Err(ReadError::TooLarge(FileSize::AtLeast(size))),
            _ => Ok(bytes),
        }
    }

    /// [`OpenFile::read_to_end`] into a buffer that is used again, which saves the cost of fresh
    /// memory.
    ///
    /// # Errors
    ///
    /// As [`OpenFile::read_to_end`].
    pub fn read_into(mut self, limit: u64, buffer: &mut ReadBuffer) -> Result<&[u8], ReadError> {
        if self.size > limit {
            return Err(ReadError::TooLarge(FileSize::Exactly(self.size)));
        }
        let most = usize::try_from(limit.saturating_add(1)).unwrap_or(usize::MAX);
        let expected = usize::try_from(self.size.saturating_add(1)).unwrap_or(usize::MAX);
        buffer.reserve(expected).map_err(ReadError::System)?;
        let mut filled = 0;
        while filled < most {
            if filled == buffer.bytes().len() {
                buffer.grow(most).map_err(ReadError::System)?;
            }
            let end = buffer.bytes().len().min(most);
            match self.file.read(&mut buffer.bytes()[filled..end]) {
                Ok(0) => return Ok(&buffer.bytes()[..filled]),
                Ok(read) => filled += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(read_error(error)),
            }
        }
        Err(ReadError::TooLarge(FileSize::AtLeast(filled as u64)))
    }

    /// Reads from an offset on, at most [`PIECE`] bytes at a time, until `take` breaks off or the file
    /// ends.
    ///
    /// # Errors
    ///
    /// [`ReadError`].
    pub fn read_pieces(
        &mut self,
        offset: u64,
        take: &mut dyn FnMut(&[u8]) -> ControlFlow<()>,
    ) -> Result<(), ReadError> {
        self.file.seek(SeekFrom::Start(offset)).map_err(read_error)?;
        let mut buffer = vec![0; PIECE];
        loop {
            match self.file.read(&mut buffer) {
                Ok(0) => return Ok(()),
                Ok(read) if take(&buffer[..read]).is_break() => return Ok(()),
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(read_error(error)),
            }
        }
    }

    /// Reads the file's first `most` bytes, or all if it has no more, and says how many it has.
    ///
    /// # Errors
    ///
    /// [`ReadError`].
    pub fn read_start(self, most: u64) -> Result<(Vec<u8>, u64), ReadError> {
        let size = self.size;
        let bytes = self.read_up_to(most, size.saturating_add(1).min(most))?;
        // Files in `/proc` report 0, and a file may have grown or shrunk since it was asked.
        match bytes.len() as u64 {
            read if read < most => Ok((bytes, read)),
            read => Ok((bytes, size.max(read))),
        }
    }

    fn read_up_to(mut self, most: u64, expected: u64) -> Result<Vec<u8>, ReadError> {
        let mut bytes = Vec::new();
        // A size that no memory can hold must not end the process.
        bytes
            .try_reserve_exact(usize::try_from(expected).unwrap_or(usize::MAX))
            .map_err(|_| ReadError::System(io::ErrorKind::OutOfMemory.into()))?;
        let read = (&mut self.file).take(most).read_to_end(&mut bytes);
        read.map_err(read_error)?;
        Ok(bytes)
    }
}

fn floor_ms(time: SystemTime) -> i64 {
    let milliseconds = |duration: std::time::Duration| i64::try_from(duration.as_millis());
    match time.duration_since(UNIX_EPOCH) {
        Ok(after) => milliseconds(after).unwrap_or(i64::MAX),
        Err(before) => {
            let before = before.duration();
            let whole = milliseconds(before).unwrap_or(i64::MAX);
            let part = before.subsec_nanos() % 1_000_000 != 0;
            -whole - i64::from(part)
        }
    }
}

fn read_error(error: io::Error) -> ReadError {
    match error.kind() {
        io::ErrorKind::WouldBlock => ReadError::Waits,
        _ if system::is_locked(&error) => ReadError::Locked,
        _ => ReadError::System(error),
    }
}

/// A file's size, permission bits and time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileFacts {
    /// How many bytes it has.
    pub size: u64,
    /// Its permission bits, as `chmod` takes them. Windows has none.
    pub mode: Option<u32>,
    /// When its content last changed, where the system says.
    pub modified: Option<SystemTime>,
}

impl FileFacts {
    /// The facts of an open file.
    pub(super) fn of(file: &File) -> io::Result<Self> {
        let metadata = file.metadata()?;
        let (size, modified) = (metadata.len(), metadata.modified().ok());
        Ok(Self { size, mode: mode_of(&metadata), modified })
    }
}

#[cfg(unix)]
#[allow(clippy::unnecessary_wraps, reason = "Windows has none")]
fn mode_of(metadata: &Metadata) -> Option<u32> {
    use std::os::unix::fs::PermissionsExt;
    Some(metadata.permissions().mode() & 0o7777)
}

#[cfg(not(unix))]
fn mode_of(_: &Metadata) -> Option<u32> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_before_1970_round_down() {
        let before = |nanoseconds| UNIX_EPOCH - std::time::Duration::from_nanos(nanoseconds);
        // Windows counts in steps of 100 ns.
        assert_eq!(floor_ms(before(100)), -1);
        assert_eq!(floor_ms(before(1_000_000)), -1);
        assert_eq!(floor_ms(before(1_000_100)), -2);
        assert_eq!(floor_ms(UNIX_EPOCH + std::time::Duration::from_nanos(1_999_900)), 1);
    }
}
