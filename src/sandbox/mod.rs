//! The only folder that touches a file system.
//!
//! A [`Sandbox`] holds the workspace root open as a handle, and everything is opened beneath that
//! handle; no path is ever checked first and opened afterwards. Two ways lead in:
//!
//! - **kernel**: Linux' `openat2(RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS)`, where the kernel
//!   refuses, during the walk itself, to step outside;
//! - **walk**: everywhere else, a hand-over-hand [`walk`] that opens one component at a time
//!   beneath the handle of the one before, follows no link that it has not read itself, and
//!   steps back only to handles that it came through.
//!
//! Both give the same answers. [`Sandbox::containment`] says which one is in force.
//!
//! Imports run one way: `mod` → one file per system → [`walk`] (and `unix`, which Linux and macOS
//! share).

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};
use std::sync::OnceLock;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::path::{NewFilePath, PathRefusal, WorkspacePath, spells};

pub use buffer::ReadBuffer;
pub use list::{EntryKind, EntryName, Listed, ListedFolder};
pub use write::{Flaw, NewContent, WriteError, Written};

mod buffer;
#[cfg_attr(not(target_os = "linux"), path = "uncached.rs")]
mod cached;
#[cfg(target_os = "linux")]
mod lease;
mod list;
mod sweeps;
mod temporary;
mod walk;
mod write;

#[cfg(unix)]
mod unix;
#[cfg(unix)]
mod unix_put;

#[cfg_attr(target_os = "linux", path = "linux.rs")]
#[cfg_attr(target_os = "macos", path = "macos.rs")]
#[cfg_attr(windows, path = "windows/mod.rs")]
mod system;

/// Who keeps a path inside the workspace while it is opened. A directory that another process moves
/// out of the workspace while it is open stays open, whoever opened it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Containment {
    /// The kernel, in one system call that cannot be raced.
    Kernel,
    /// The hand-over-hand walk. It cannot be led out either.
    Walk,
}

/// A workspace root, held open.
///
/// A rename or removal of the root's path does not turn the handle elsewhere. Opening costs one
/// system call; everything else that is known about the root is found out when first needed.
#[derive(Debug)]
pub struct Sandbox {
    root: Root,
    containment: Containment,
}

/// The root handle and the names it goes by.
#[derive(Debug)]
struct Root {
    directory: system::Directory,
    /// As the host spelled it: absolute, possibly through symbolic links.
    spelled: PathBuf,
    /// The same without `..`, as hosts make it that resolve paths by their spelling; `None` where
    /// that names another directory, because the `..` followed a link.
    plain: OnceLock<Option<PathBuf>>,
    /// As the system calls it, without links; `None` where the system does not say.
    canonical: OnceLock<Option<PathBuf>>,
    /// Whether opening a file asks nobody but the kernel's memory once its name is known there.
    #[cfg(target_os = "linux")]
    opens_in_memory: OnceLock<bool>,
}

/// Why a root cannot be opened. All but [`RootError::System`] are the host's mistake.
#[derive(Debug, thiserror::Error)]
pub enum RootError {
    /// Relative roots would depend on the process's working directory.
    #[error("must be an absolute path")]
    Relative,
    /// Nothing stands there.
    #[error("does not exist")]
    Gone,
    /// A file stands there.
    #[error("is not a directory")]
    NotDirectory,
    /// The process may not open it.
    #[error("cannot be opened: permission denied")]
    PermissionDenied,
    /// The system failed.
    #[error("cannot be opened: {}", describe(.0))]
    System(io::Error),
}

impl RootError {
    fn from_system(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::InvalidFilename => Self::Gone,
            io::ErrorKind::NotADirectory | io::ErrorKind::AlreadyExists => Self::NotDirectory,
            io::ErrorKind::PermissionDenied => Self::PermissionDenied,
            _ => Self::System(error),
        }
    }
}

/// Why a path that parses cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// A link on the way, or at the end, leads out of the workspace.
    #[error("a symbolic link leads out of the workspace")]
    Escapes,
    /// Another program holds a lease on the file and did not give it up in time.
    #[error("another program holds a lease on the file; try again")]
    Leased,
    /// More than [`MAX_LINKS`] links, or a `/proc` magic link.
    #[error("symbolic links form a loop, or one is a /proc magic link")]
    Loops,
    /// Nothing stands there.
    #[error("no such file")]
    NotFound,
    /// A file stands where the path needs a folder.
    #[error("no such file: a component before the end, or before a final slash, is not a folder")]
    NotFolder,
    /// The system takes no name, or no path, of that length.
    #[error("no such file: the name is too long")]
    NameTooLong,
    /// The process may not open it.
    #[error("permission denied")]
    PermissionDenied,
    /// A FIFO, socket or device, which are never waited on.
    #[error("not a regular file but a FIFO, socket or device")]
    SpecialFile,
    /// A directory where a file is wanted.
    #[error("a directory, not a file")]
    IsDirectory,
    /// The root that was opened has been removed since.
    #[error("workspaceRoot does not exist any more")]
    RootGone,
    /// The system failed.
    #[error("the system failed: {}", describe(.0))]
    System(io::Error),
}

/// A system failure in words that name no path.
fn describe(error: &io::Error) -> String {
    match error.raw_os_error() {
        // The standard library's text for a raw code is the system's own and holds no path.
        Some(code) => io::Error::from_raw_os_error(code).to_string(),
        None => error.kind().to_string(),
    }
}

/// How many links are followed in one path before it counts as a loop; what Linux allows.
pub const MAX_LINKS: u32 = 40;

impl Sandbox {
    /// Opens a workspace root by its absolute path, which may lead through symbolic links: the
    /// host chose it.
    ///
    /// # Errors
    ///
    /// [`RootError`]: relative, gone, not a directory, not permitted.
    pub fn open(root: &Path) -> Result<Self, RootError> {
        let directory = Self::open_root(root)?;
        let containment = system::containment(&directory);
        Ok(Self::new(root, directory, containment))
    }

    /// [`Sandbox::open`] on the walking tier, whatever the system offers: what a system without
    /// `openat2` does can be had, and tested, anywhere.
    ///
    /// # Errors
    ///
    /// As [`Sandbox::open`].
    pub fn open_walking(root: &Path) -> Result<Self, RootError> {
        let directory = Self::open_root(root)?;
        Ok(Self::new(root, directory, Containment::Walk))
    }

    /// [`Sandbox::open`] of a directory of the host's own, which is made if it is missing.
    ///
    /// # Errors
    ///
    /// As [`Sandbox::open`].
    pub fn open_or_make(root: &Path) -> Result<Self, RootError> {
        match Self::open(root) {
            Err(RootError::Gone) => {
                std::fs::create_dir_all(root).map_err(RootError::from_system)?;
                Self::open(root)
            }
            opened => opened,
        }
    }

    /// [`Sandbox::open`], if the system can do it without waiting for anything. `None` says nothing
    /// else: whoever may wait finds out what there is.
    #[must_use]
    pub fn open_without_waiting(root: &Path) -> Option<Self> {
        let directory = cached::open_root(root)?;
        let containment = system::containment(&directory);
        let sandbox = Self::new(root, directory, containment);
        cached::recall(&sandbox.root);
        Some(sandbox)
    }

    fn open_root(root: &Path) -> Result<system::Directory, RootError> {
        if !root.is_absolute() {
            return Err(RootError::Relative);
        }
        system::Directory::open_root(root).map_err(RootError::from_system)
    }

    fn new(spelled: &Path, directory: system::Directory, containment: Containment) -> Self {
        let root = Root {
            directory,
            spelled: spelled.to_owned(),
            plain: OnceLock::new(),
            canonical: OnceLock::new(),
            #[cfg(target_os = "linux")]
            opens_in_memory: OnceLock::new(),
        };
        Self { root, containment }
    }

    /// Who keeps paths inside: the kernel, or the walk.
    #[must_use]
    pub fn containment(&self) -> Containment {
        self.containment
    }

    /// Parses a path that may be absolute if it lies inside the root, by either spelling of it.
    ///
    /// # Errors
    ///
    /// [`PathRefusal`] where the spelling alone refuses it.
    pub fn locate(&self, path: &str) -> Result<WorkspacePath, PathRefusal> {
        WorkspacePath::parse_allowing_absolute(path, |absolute| self.root.part_inside(absolute))
    }

    /// Whether a text holds the root's absolute path, which nobody is to be shown.
    #[must_use]
    pub fn is_spelled_in(&self, text: &str) -> bool {
        let spellings = [Some(&*self.root.spelled), self.root.plain(), self.root.canonical()];
        spellings.into_iter().flatten().filter_map(Path::to_str).any(|root| spells(text, root))
    }

    /// Whether the root has been removed since it was opened.
    #[must_use]
    pub fn is_gone(&self) -> bool {
        self.root.directory.is_removed()
    }

    /// Opens a regular file for reading, without ever waiting for it.
    ///
    /// # Errors
    ///
    /// [`OpenError`] says what stands in the way; a directory or special file is an error too.
    pub fn open_file(&self, path: &WorkspacePath) -> Result<OpenFile, OpenError> {
        let opened = system::open_for_reading(&self.root, self.containment, path);
        let opened = opened.and_then(OpenFile::examine);
        opened.map_err(|error| if self.is_gone() { OpenError::RootGone } else { error })
    }

    /// Reads a whole regular file of at most `limit` bytes, if the system has all of it in its memory
    /// and can answer without waiting for anything. `None` says nothing else: whoever may wait finds
    /// out what there is.
    #[must_use]
    pub fn read_without_waiting<'buffer>(
        &self,
        path: &WorkspacePath,
        limit: u64,
        buffer: &'buffer mut ReadBuffer,
    ) -> Option<WholeFile<'buffer>> {
        match self.containment {
            Containment::Kernel => cached::read(&self.root, path, limit, buffer),
            Containment::Walk => None,
        }
    }

    /// Puts content at a path: in full or not at all.
    ///
    /// A new file appears complete, and never in place of another; of racing creators one wins.
    /// Folders on the way are made, and taken back if the file then fails. A file that is replaced
    /// is the old one or the new one to every reader; its permission bits are kept, its owner and
    /// extended attributes as far as the process may, and a link that leads to it stays a link.
    /// Other hard links to it keep the old content.
    ///
    /// `cancelled` is asked before the first change, and a last time before the file shows.
    ///
    /// # Errors
    ///
    /// [`WriteError`]; but for [`WriteError::Flawed`] nothing has changed then.
    pub fn write_file(
        &self,
        path: &NewFilePath,
        content: &NewContent<'_>,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<Written, WriteError> {
        write::write_file(&self.root, self.containment, path, content, cancelled).map_err(|error| {
            if self.is_gone() { WriteError::Way(OpenError::RootGone) } else { error }
        })
    }

    /// Removes what killed processes have left of their work in the root directory.
    pub fn sweep(&self) {
        if let Ok(root) = system::open_folder(&self.root, self.containment, &WorkspacePath::root())
        {
            system::sweep(&root);
        }
    }
}

impl Root {
    fn plain(&self) -> Option<&Path> {
        let plain = self.plain.get_or_init(|| {
            let plain = without_dots(&self.spelled);
            let climbs = self.spelled.components().any(|part| part == Component::ParentDir);
            (!climbs || self.directory.is_at(&plain)).then_some(plain)
        });
        plain.as_deref()
    }

    fn canonical(&self) -> Option<&Path> {
        self.canonical.get_or_init(|| self.directory.canonical_path(&self.spelled)).as_deref()
    }

    /// What of an absolute path lies beneath the root, by either of the root's spellings.
    fn part_inside(&self, absolute: &str) -> Option<String> {
        // The spelled root answers nearly always, and asking for the other costs a system call.
        let part = |root| system::part_beneath(&self.directory, root, absolute);
        self.plain().and_then(part).or_else(|| self.canonical().and_then(part))
    }
}

/// A path without its `.` and `..` components, by spelling alone.
fn without_dots(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            component => plain.push(component),
        }
    }
    plain
}

/// A regular file, open for reading: what it says of itself and its bytes come from one handle.
#[derive(Debug)]
pub struct OpenFile {
    file: File,
    size: u64,
    modified: Option<SystemTime>,
}

/// A whole file, in the buffer that it was read into.
#[derive(Debug)]
pub struct WholeFile<'buffer> {
    /// As [`OpenFile::modified_ms`].
    pub modified_ms: i64,
    /// All of the file's bytes.
    pub bytes: &'buffer [u8],
}

/// Why an open file's bytes were not had.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// It holds more bytes than the caller's limit.
    #[error("{0}")]
    TooLarge(FileSize),
    /// It is one of those system files that look regular and make their reader wait.
    #[error("not a regular file but one that waits for data")]
    Waits,
    /// The system failed.
    #[error("the system failed: {}", describe(.0))]
    System(io::Error),
}

impl ReadError {
    fn from_system(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::WouldBlock => Self::Waits,
            _ => Self::System(error),
        }
    }
}

/// How large a file is, as far as is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileSize {
    /// The system says so.
    Exactly(u64),
    /// It said something else, and so many bytes came before reading stopped.
    AtLeast(u64),
}

impl fmt::Display for FileSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exactly(bytes) => write!(f, "{bytes} bytes"),
            Self::AtLeast(bytes) => write!(f, "at least {bytes} bytes"),
        }
    }
}

impl OpenFile {
    fn examine(file: File) -> Result<Self, OpenError> {
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

    /// [`OpenFile::read_to_end`] into a buffer that has been read into before, which saves what fresh
    /// memory costs.
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
                Err(error) => return Err(ReadError::from_system(error)),
            }
        }
        Err(ReadError::TooLarge(FileSize::AtLeast(filled as u64)))
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
        read.map_err(ReadError::from_system)?;
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

#[cfg(test)]
mod tests;
