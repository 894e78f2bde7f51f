//! The kinds of entries of a folder, their names, and the steps of a path.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

/// How many links are followed in one path before it counts as a loop; the number is that of Linux.
pub const MAX_LINKS: u32 = 40;

/// The kind of an entry, as a listing gives it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    /// A directory.
    Folder,
    /// A regular file.
    File,
    /// A symbolic link. On Windows also a junction, and any other reparse point that stands for a
    /// name elsewhere.
    Link,
    /// A FIFO, socket or device, or an entry whose kind the system does not tell.
    Special,
}

/// An entry of a folder, while it is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Listed<'listing> {
    name: &'listing OsStr,
    kind: EntryKind,
}

/// The name of an entry: one component. It comes from a listing, or is one of the constants here, so
/// a folder that is opened by such names is never opened through a separator or `..`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct EntryName(OsString);

impl<'listing> Listed<'listing> {
    /// An entry as the system gave it. `None` for `.` and `..`, and for a name that is no single
    /// component.
    pub(super) fn new(name: &'listing OsStr, kind: EntryKind) -> Option<Self> {
        let bytes = name.as_encoded_bytes();
        let splits = |byte: &u8| matches!(byte, b'/' | b'\0') || cfg!(windows) && *byte == b'\\';
        let is_name = !matches!(bytes, b"" | b"." | b"..") && !bytes.iter().any(splits);
        is_name.then_some(Self { name, kind })
    }

    /// The name, which need not be Unicode.
    #[must_use]
    pub fn name(&self) -> &'listing OsStr {
        self.name
    }

    /// The kind of the entry.
    #[must_use]
    pub fn kind(&self) -> EntryKind {
        self.kind
    }

    /// The name, to keep and to open by.
    #[must_use]
    pub fn to_name(&self) -> EntryName {
        EntryName(self.name.to_owned())
    }
}

impl EntryName {
    /// `.gitignore`, which need not have been listed.
    #[must_use]
    pub fn gitignore() -> Self {
        Self(".gitignore".into())
    }

    /// `.git`, which need not have been listed.
    #[must_use]
    pub fn git() -> Self {
        Self(".git".into())
    }

    /// The entry of that name, as a listing gives it.
    #[must_use]
    pub fn as_listed(&self, kind: EntryKind) -> Listed<'_> {
        Listed { name: &self.0, kind }
    }

    /// The name, which need not be Unicode.
    #[must_use]
    pub fn as_os_str(&self) -> &OsStr {
        &self.0
    }
}

/// The facts of an entry itself: those of a link are not those of its target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EntryFacts {
    /// The kind of the entry now.
    pub kind: EntryKind,
    /// How many bytes a file has.
    pub size: u64,
    /// When it last changed: milliseconds since 1970, rounded down.
    pub modified_ms: i64,
}

/// The result of opening a name without following links.
pub(super) enum Found<T> {
    /// The file or directory, open.
    Opened(T),
    /// A symbolic link (on Windows, also a junction) and its target.
    Link(LinkTarget),
}

/// A link's target, as the link spells it.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum LinkTarget {
    /// Relative to the directory that holds the link.
    Relative(Vec<Step>),
    Absolute(PathBuf),
}

/// One step of a path or of a link's target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step {
    /// Into, or onto, the entry of that name.
    Into(OsString),
    /// `.`, or a trailing separator: the entry before it must be a directory.
    Stay,
    /// `..`
    Up,
}

/// A folder's device and its number there. The device is signed on some systems and unsigned on
/// others; 128 bits hold both.
pub(super) type FolderId = (i128, u64);
