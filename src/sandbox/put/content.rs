//! The input and the result of a write.

use crate::hash::Sha256Digest;
use crate::sandbox::file::FileFacts;
use crate::sandbox::system::Directory;

/// The bytes to put at a path, and the conditions for it.
#[derive(Debug, Clone, Copy)]
pub struct NewContent<'bytes> {
    /// The whole content.
    pub bytes: &'bytes [u8],
    /// Whether a file that stands there may be replaced.
    pub overwrite: bool,
    /// If given, only a file whose bytes have this SHA-256 is replaced, and none is created.
    pub expected: Option<Sha256Digest>,
    /// Whether the bytes, the name and new folders must have reached the disk.
    ///
    /// If not, and nothing is expected either, the new file is renamed over the old one. Then anything
    /// that another program puts at the name in that very moment is replaced, also a link.
    pub durable: bool,
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
    /// Whether the call has been cancelled.
    pub(crate) cancelled: &'call dyn Fn() -> bool,
    /// Whether the path still leads to the folder that is written into. Another process may have
    /// moved the folder since it was opened, also out of the workspace; then the file that was
    /// written there must be removed.
    pub(crate) is_current: &'call dyn Fn(&Directory) -> bool,
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
