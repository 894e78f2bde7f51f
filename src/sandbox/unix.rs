//! What Linux and macOS share: handles, the openings that follow no link, and reading links.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Component, Path};
use std::time::{Duration, Instant};

use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, fstat, openat, readlinkat, stat, statat};
use rustix::io::Errno;

use super::list::EntryKind;
use super::walk::{Entry, LinkTarget, Step, Walk};
use super::{MAX_LINKS, OpenError, Root, system};
use crate::path::WorkspacePath;

/// An open directory, to open beneath.
#[derive(Debug)]
pub(super) struct Directory(OwnedFd);

impl From<OwnedFd> for Directory {
    fn from(fd: OwnedFd) -> Self {
        Self(fd)
    }
}

impl AsFd for Directory {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// How a file is opened for reading.
///
/// `NONBLOCK`: a FIFO without a writer, or a device, answers at once. `NOCTTY`: opening a terminal
/// must not make it the process's own. Both mean nothing to a regular file.
pub(super) const READ: OFlags =
    OFlags::RDONLY.union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);

impl Directory {
    pub(super) fn open_root(path: &Path) -> io::Result<Self> {
        let flags = system::DIRECTORY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        match retry_interrupted(|| openat(CWD, path, flags, Mode::empty())) {
            Ok(fd) => Ok(Self(fd)),
            // A loop of links leads nowhere.
            Err(Errno::LOOP) => Err(io::ErrorKind::NotFound.into()),
            Err(error) => Err(error.into()),
        }
    }

    /// Opens the same directory anew, for something else.
    pub(super) fn reopen(&self, flags: OFlags) -> Result<Self, OpenError> {
        let flags = flags | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let opened = retry_interrupted(|| openat(self, ".", flags, Mode::empty()));
        opened.map(Self).map_err(open_error)
    }

    /// Opens the same directory anew, to create in: readable, since only then can it be synced, or as
    /// a mere place to stand if the process may not read it.
    fn reopen_to_write_in(&self) -> Result<Self, OpenError> {
        match self.reopen(OFlags::RDONLY) {
            Err(OpenError::PermissionDenied) => self.reopen(system::DIRECTORY),
            reopened => reopened,
        }
    }

    /// Opens the same directory anew, to list it.
    pub(super) fn reopen_to_list(&self) -> Result<Self, OpenError> {
        self.reopen(OFlags::RDONLY)
    }

    /// Whether the directory has been removed since it was opened: it has no name left.
    pub(super) fn is_removed(&self) -> bool {
        fstat(self).is_ok_and(|stat| stat.st_nlink == 0)
    }

    /// Whether a path, links followed, leads to this very directory.
    pub(super) fn is_at(&self, path: &Path) -> bool {
        let (Ok(there), Ok(here)) = (stat(path), fstat(self)) else { return false };
        (there.st_dev, there.st_ino) == (here.st_dev, here.st_ino)
    }
}

/// Opens a directory by one name, following nothing.
pub(super) fn open_directory(
    root: &Root,
    parent: &Directory,
    name: &OsStr,
) -> Result<Entry<Directory>, OpenError> {
    open_directory_for(system::DIRECTORY, root, parent, name)
}

/// Opens a directory by one name, to list it, following nothing.
pub(super) fn open_directory_to_list(
    root: &Root,
    parent: &Directory,
    name: &OsStr,
) -> Result<Entry<Directory>, OpenError> {
    open_directory_for(OFlags::RDONLY, root, parent, name)
}

fn open_directory_for(
    access: OFlags,
    root: &Root,
    parent: &Directory,
    name: &OsStr,
) -> Result<Entry<Directory>, OpenError> {
    let flags = access | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let entry = open_nofollow(root, parent, name, flags)?;
    Ok(match entry {
        Entry::Opened(fd) => Entry::Opened(Directory(fd)),
        Entry::Link(target) => Entry::Link(target),
    })
}

/// Opens a file by one name, following nothing.
pub(super) fn open_entry(
    root: &Root,
    folder: &Directory,
    name: &OsStr,
) -> Result<Entry<File>, OpenError> {
    Ok(match open_nofollow(root, folder, name, READ)? {
        Entry::Opened(fd) => Entry::Opened(File::from(fd)),
        Entry::Link(target) => Entry::Link(target),
    })
}

/// What a folder's entry is, of which the listing says `listed`; `None` if it is gone by now.
pub(super) fn entry_kind(folder: &Directory, name: &OsStr, listed: FileType) -> Option<EntryKind> {
    let kind = match listed {
        // Some file systems say it only when asked for each.
        FileType::Unknown => match statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => FileType::from_raw_mode(stat.st_mode),
            Err(Errno::NOENT) => return None,
            // The folder may be listed, but not entered.
            Err(_) => FileType::Unknown,
        },
        kind => kind,
    };
    Some(match kind {
        FileType::Directory => EntryKind::Folder,
        FileType::RegularFile => EntryKind::File,
        FileType::Symlink => EntryKind::Link,
        _ => EntryKind::Special,
    })
}

/// Opens what a path leads to, by the walk.
pub(super) fn open_by_walk(
    root: &Root,
    path: &WorkspacePath,
    flags: OFlags,
) -> Result<OwnedFd, OpenError> {
    Walk::new(root, path).finish(&|root, parent, name| open_nofollow(root, parent, name, flags))
}

/// Follows the links of a path to its very end, by the walk: the folder that holds what it names,
/// readable, and the name there, which was no link a moment ago.
pub(super) fn resolve_by_walk(
    root: &Root,
    path: &WorkspacePath,
) -> Result<(Directory, OsString), OpenError> {
    Walk::new(root, path).finish(&|root, parent, name| {
        Ok(match read_link(root, parent, name)? {
            Some(target) => Entry::Link(target),
            None => Entry::Opened((parent.reopen_to_write_in()?, name.to_owned())),
        })
    })
}

pub(super) fn read_flags(must_be_directory: bool) -> OFlags {
    if must_be_directory { READ | OFlags::DIRECTORY } else { READ }
}

/// Opens one name, or reads it if it is a link.
///
/// A link shows as ELOOP, or as ENOTDIR where a directory is asked for, or, with `O_PATH`, by
/// being opened itself, which no caller here asks for. Between that answer and the reading of the
/// link the name may have become something else; then it is opened again.
pub(super) fn open_nofollow(
    root: &Root,
    parent: &Directory,
    name: &OsStr,
    flags: OFlags,
) -> Result<Entry<OwnedFd>, OpenError> {
    for _ in 0..MAX_LINKS {
        let opened =
            retry_interrupted(|| openat(parent, name, flags | OFlags::NOFOLLOW, Mode::empty()));
        let error = match opened {
            Ok(fd) => return Ok(Entry::Opened(fd)),
            Err(error @ (Errno::LOOP | Errno::NOTDIR)) => error,
            Err(error) => return Err(open_error(error)),
        };
        match read_link(root, parent, name)? {
            Some(target) => return Ok(Entry::Link(target)),
            // No link, so it is a file where a directory is wanted, unless it was a link a moment
            // ago or is a directory by now.
            None if error == Errno::NOTDIR && is_file(parent, name)? => {
                return Err(OpenError::NotFolder);
            }
            None => {}
        }
    }
    Err(OpenError::Loops)
}

/// Whether a name is neither a directory nor a link.
fn is_file(parent: &Directory, name: &OsStr) -> Result<bool, OpenError> {
    let stat = statat(parent, name, AtFlags::SYMLINK_NOFOLLOW).map_err(open_error)?;
    Ok(!matches!(FileType::from_raw_mode(stat.st_mode), FileType::Directory | FileType::Symlink))
}

/// What a link points to; `None` if the name is no link.
pub(super) fn read_link(
    root: &Root,
    parent: &Directory,
    name: &OsStr,
) -> Result<Option<LinkTarget>, OpenError> {
    let target = match retry_interrupted(|| readlinkat(parent, name, Vec::new())) {
        Ok(target) => OsString::from_vec(target.into_bytes()),
        Err(Errno::INVAL) => return Ok(None),
        Err(error) => return Err(open_error(error)),
    };
    if system::holds_magic_links(parent) {
        return Err(OpenError::Loops);
    }
    if !target.as_bytes().starts_with(b"/") {
        return Ok(Some(LinkTarget::Relative(steps(&target))));
    }
    let spellings = [root.plain(), root.canonical()].into_iter().flatten();
    let mut inside = spellings.filter_map(|spelling| strip_root(spelling, target.as_bytes()));
    Ok(Some(inside.next().map_or(LinkTarget::Outside, |rest| LinkTarget::FromRoot(steps(rest)))))
}

/// The steps of a link's target. Unlike [`Path::components`] this keeps a trailing `/` or `.`,
/// which make the system refuse a file.
fn steps(target: &OsStr) -> Vec<Step> {
    let bytes = target.as_bytes();
    let mut steps: Vec<Step> = bytes
        .split(|&byte| byte == b'/')
        .filter(|component| !component.is_empty())
        .map(|component| match component {
            b"." => Step::Stay,
            b".." => Step::Up,
            name => Step::Into(OsStr::from_bytes(name).to_owned()),
        })
        .collect();
    if bytes.ends_with(b"/") || steps.is_empty() {
        steps.push(Step::Stay);
    }
    steps
}

/// The part of an absolute path beneath a root that is spelled without `..`. Component by
/// component, so that `/ws` is no prefix of `/ws-evil`; empty and `.` components vanish, and `..`
/// matches nothing before the root ends.
pub(super) fn strip_root<'path>(root: &Path, absolute: &'path [u8]) -> Option<&'path OsStr> {
    let mut rest = absolute.strip_prefix(b"/")?;
    for component in root.components() {
        let Component::Normal(expected) = component else {
            continue;
        };
        loop {
            let end = memchr::memchr(b'/', rest).unwrap_or(rest.len());
            let (name, after) = rest.split_at(end);
            rest = after.strip_prefix(b"/").unwrap_or(after);
            match name {
                b"" | b"." if !after.is_empty() => {}
                name if name == expected.as_bytes() => break,
                _ => return None,
            }
        }
    }
    Some(OsStr::from_bytes(rest))
}

/// The part of a host's absolute path that lies beneath a root, if it does.
///
/// `..` counts by its spelling, as everywhere in a path, until the root is entered; what comes
/// after that is for the caller to parse, who refuses what leaves again.
pub(super) fn part_beneath(root: &Directory, spelling: &Path, absolute: &str) -> Option<String> {
    let absolute = absolute.replace('\\', "/");
    let root_names = system::root_names(root, spelling, &absolute)?;
    let mut names = Vec::new();
    let mut rest = absolute.as_str();
    loop {
        if names == root_names {
            return Some(rest.to_owned());
        }
        let (component, after) = rest.split_once('/').unwrap_or((rest, ""));
        match component {
            "" | "." => {}
            ".." => {
                names.pop();
            }
            name => names.push(name),
        }
        if after.is_empty() && names != root_names {
            return None;
        }
        rest = after;
    }
}

/// The names of a path without `..`.
pub(super) fn names(path: &Path) -> Option<Vec<&str>> {
    path.components()
        .filter_map(|component| match component {
            Component::Normal(name) => Some(name.to_str()),
            _ => None,
        })
        .collect()
}

/// The contract's reading of what the system says.
pub(super) fn open_error(error: Errno) -> OpenError {
    match error {
        Errno::NOENT => OpenError::NotFound,
        Errno::NOTDIR => OpenError::NotFolder,
        Errno::NAMETOOLONG => OpenError::NameTooLong,
        Errno::ACCESS | Errno::PERM => OpenError::PermissionDenied,
        // Only `O_NONBLOCK` says so of a regular file, and only for the sake of a lease.
        Errno::AGAIN => OpenError::Leased,
        Errno::LOOP => OpenError::Loops,
        Errno::XDEV => OpenError::Escapes,
        // A socket, a device without a driver, or (macOS) any of the two.
        Errno::NXIO | Errno::NODEV | Errno::OPNOTSUPP => OpenError::SpecialFile,
        error => OpenError::System(error.into()),
    }
}

/// Opens a file. If another program, such as a Samba server, holds a lease on it, that program has
/// been told to give it up, and is waited for a moment.
pub(super) fn outlast_lease<T, E>(
    open: impl Fn() -> Result<T, E>,
    is_leased: impl Fn(&E) -> bool,
    cancelled: &dyn Fn() -> bool,
) -> Result<T, E> {
    const PATIENCE: Duration = Duration::from_secs(1);
    let begun = Instant::now();
    loop {
        match open() {
            Err(error) if is_leased(&error) && begun.elapsed() < PATIENCE && !cancelled() => {
                std::thread::sleep(Duration::from_millis(5));
            }
            opened => return opened,
        }
    }
}

pub(super) fn retry_interrupted<T>(
    mut call: impl FnMut() -> rustix::io::Result<T>,
) -> rustix::io::Result<T> {
    rustix::io::retry_on_intr(&mut call)
}
