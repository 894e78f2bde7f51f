//! The input and the result of a write.

use std::fs::File;
use std::io::{self, Read, Seek};

use super::error::{MAX_COMPARED_BYTES, PutError, WriteError};
use crate::hash::{Sha256Digest, sha256_of};
use crate::sandbox::callbacks::Callbacks;
use crate::sandbox::file::{FileFacts, PIECE};
use crate::sandbox::system::Directory;

/// The bytes to put at a path, and the conditions for it.
#[derive(Debug, Clone, Copy)]
pub struct NewContent<'bytes> {
    /// The whole content.
    pub bytes: &'bytes [u8],
    /// Whether a file that stands there may be replaced.
    pub overwrite: bool,
    /// If given, only a file that has this content is replaced, and none is created.
    pub expected: Option<Expected<'bytes>>,
    /// Whether the bytes, the name and new folders must have reached the disk.
    ///
    /// If not, and nothing is expected and nobody asked to confirm either, the new file is renamed over
    /// the old one. Then anything that another program puts at the name in that very moment is
    /// replaced, also a link.
    pub durable: bool,
    /// If given, whether the file may be executed. Yes: by everyone who may read it, less the umask for
    /// a new file. No: by nobody. Windows has no such bits.
    pub executable: Option<bool>,
}

/// The content that a file must have.
#[derive(Debug, Clone, Copy)]
pub enum Expected<'bytes> {
    /// Bytes with this SHA-256. Only a file of at most [`MAX_COMPARED_BYTES`] is compared.
    Sha256(Sha256Digest),
    /// These bytes. To compare 100 KiB with bytes takes a fifth of the time of hashing them.
    Bytes(&'bytes [u8]),
}

impl Expected<'_> {
    /// Checks the content of an open file. `cancelled` is asked every 64 KiB.
    pub(crate) fn check(self, file: &File, cancelled: &dyn Fn() -> bool) -> Result<(), PutError> {
        let size = file.metadata().map_err(PutError::System)?.len();
        let mut file = file;
        file.rewind().map_err(PutError::System)?;
        let is_met = match self {
            Self::Sha256(_) if size > MAX_COMPARED_BYTES => {
                return Err(PutError::Refused(WriteError::TooLargeToCompare));
            }
            Self::Sha256(digest) => sha256_of(file, MAX_COMPARED_BYTES, cancelled)? == digest,
            Self::Bytes(bytes) => size == bytes.len() as u64 && holds(file, bytes, cancelled)?,
        };
        if is_met { Ok(()) } else { Err(PutError::Changed) }
    }
}

/// Whether a reader has just these bytes. Reads no further than the first that differ.
fn holds(
    mut reader: impl Read,
    bytes: &[u8],
    cancelled: &dyn Fn() -> bool,
) -> Result<bool, PutError> {
    // One byte more shows that the file is longer.
    let mut buffer = vec![0; PIECE.min(bytes.len() + 1)];
    let mut rest = bytes;
    loop {
        if cancelled() {
            return Err(PutError::Cancelled);
        }
        match reader.read(&mut buffer) {
            Ok(0) => return Ok(rest.is_empty()),
            Ok(read) => match rest.strip_prefix(&buffer[..read]) {
                Some(after) => rest = after,
                None => return Ok(false),
            },
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(PutError::System(error)),
        }
    }
}

/// The result of a write: everything that an undo needs, except the old bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// The entry that stood there before.
    pub before: Before,
    /// The new file. Its digest is that of [`NewContent::bytes`], which the caller has.
    pub after: FileFacts,
    /// Whether the path's last name is a link. The link stays as it is; the file at its end was
    /// written.
    pub through_link: bool,
    /// The folders that were made for the file, outermost first. Each is relative to the root, with `/`
    /// between its names.
    pub folders: Vec<String>,
    /// How the file became visible.
    pub visibility: Visibility,
}

/// The entry at a path before it was written to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Before {
    /// Nothing.
    Nothing,
    /// A file.
    File {
        /// Its facts when it was replaced.
        facts: FileFacts,
        /// The SHA-256 of its bytes, if it was compared with an expected one.
        sha256: Option<Sha256Digest>,
    },
}

/// How a new file became visible.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Visibility {
    /// Complete, in one step.
    Atomic,
    /// Empty at first, then longer with each write: the file system offers no other exclusive way.
    Gradual,
}

/// What is asked again before a step that cannot be undone.
#[derive(Clone, Copy)]
pub(crate) struct WriteChecks<'call> {
    /// The questions to the caller.
    pub(crate) callbacks: Callbacks<'call>,
    /// Whether the path still leads to the folder that is written into. Another process may have
    /// moved the folder since it was opened, also out of the workspace; then the file that was
    /// written there must be removed.
    pub(crate) is_current: &'call dyn Fn(&Directory) -> bool,
}

impl WriteChecks<'_> {
    /// Asks the caller, last of all, whether the change may stay.
    pub(crate) fn confirm(self) -> Result<(), PutError> {
        if self.callbacks.is_confirmed() { Ok(()) } else { Err(PutError::Cancelled) }
    }
}

/// The result of creating a file.
#[derive(Debug)]
pub(crate) struct Created {
    pub(crate) after: FileFacts,
    pub(crate) visibility: Visibility,
}

/// The result of replacing a file.
#[derive(Debug)]
pub(crate) struct Replaced {
    pub(crate) before: FileFacts,
    pub(crate) after: FileFacts,
}
