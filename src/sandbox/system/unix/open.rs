//! Opening one name beneath a folder, without following links.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, openat, readlinkat, statat};
use rustix::io::Errno;

use super::super::native;
use super::error::open_error;
use super::handle::{Directory, retry_interrupted};
use super::spelling::steps;
use crate::sandbox::entry::{Found, LinkTarget, MAX_LINKS};
use crate::sandbox::error::OpenError;

/// How a file is opened for reading.
///
/// `NONBLOCK`: a FIFO without a writer, or a device, answers at once. `NOCTTY`: opening a terminal
/// must not make it the process's own. Both mean nothing to a regular file.
pub(crate) const READ: OFlags =
    OFlags::RDONLY.union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);

impl Directory {
    pub(crate) fn open_root(path: &Path) -> io::Result<Self> {
        let flags = native::DIRECTORY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        match retry_interrupted(|| openat(CWD, path, flags, Mode::empty())) {
            Ok(fd) => Ok(Self::from(fd)),
            // A loop of links leads nowhere.
            Err(Errno::LOOP) => Err(io::ErrorKind::NotFound.into()),
            Err(error) => Err(error.into()),
        }
    }

    /// Opens the same directory anew, for something else.
    pub(crate) fn reopen(&self, flags: OFlags) -> Result<Self, OpenError> {
        let flags = flags | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let opened = retry_interrupted(|| openat(self, ".", flags, Mode::empty()));
        opened.map(Self::from).map_err(open_error)
    }

    /// Opens the same directory anew, to create in. It is opened for reading, because only then can it be
    /// synced; or without that right, if the process may not read it.
    pub(crate) fn reopen_to_write_in(&self) -> Result<Self, OpenError> {
        match self.reopen(OFlags::RDONLY) {
            Err(OpenError::PermissionDenied) => self.reopen(native::DIRECTORY),
            reopened => reopened,
        }
    }

    /// Opens the same directory anew, to list it.
    pub(crate) fn reopen_to_list(&self) -> Result<Self, OpenError> {
        self.reopen(OFlags::RDONLY)
    }

    /// Whether the directory has been removed since it was opened.
    pub(crate) fn is_removed(&self) -> bool {
        self.has_no_link() || native::has_no_path(self)
    }
}

/// Opens a directory by one name, following nothing.
pub(crate) fn open_directory(
    parent: &Directory,
    name: &OsStr,
) -> Result<Found<Directory>, OpenError> {
    open_directory_for(native::DIRECTORY, parent, name)
}

/// Opens a directory by one name, to list it, following nothing.
pub(crate) fn open_directory_to_list(
    parent: &Directory,
    name: &OsStr,
) -> Result<Found<Directory>, OpenError> {
    open_directory_for(OFlags::RDONLY, parent, name)
}

/// Opens a directory by one name, to create in, following nothing. It is opened for reading, because only
/// then can it be synced; or without that right, if the process may not read it.
pub(crate) fn open_directory_to_write_in(
    parent: &Directory,
    name: &OsStr,
) -> Result<Found<Directory>, OpenError> {
    match open_directory_for(OFlags::RDONLY, parent, name) {
        Err(OpenError::PermissionDenied) => open_directory(parent, name),
        opened => opened,
    }
}

/// How many handles are held to take made folders back. A path may have two thousand components, and a
/// process a thousand handles. A folder further out is reached by `..` from the one in it, and
/// recognised by its number.
pub(crate) const MAX_FOLDERS_HELD: usize = 32;

/// Opens the directory that holds this one, wherever that is by now. It may lie outside of the
/// workspace, so the caller must recognise an entry by its number before it changes it.
pub(crate) fn open_parent(directory: &Directory) -> io::Result<Directory> {
    let flags = native::DIRECTORY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(Directory::from(retry_interrupted(|| openat(directory, "..", flags, Mode::empty()))?))
}

fn open_directory_for(
    access: OFlags,
    parent: &Directory,
    name: &OsStr,
) -> Result<Found<Directory>, OpenError> {
    let flags = access | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let entry = open_nofollow(parent, name, flags)?;
    Ok(match entry {
        Found::Opened(fd) => Found::Opened(Directory::from(fd)),
        Found::Link(target) => Found::Link(target),
    })
}

/// Opens a file by one name, following nothing. If another program keeps it for a moment, waits a
/// moment.
pub(crate) fn open_entry(folder: &Directory, name: &OsStr) -> Result<Found<File>, OpenError> {
    native::wait_for_others(&|| open_to_read(folder, name, false))
}

/// Opens a file by one name to read it, following nothing.
pub(crate) fn open_to_read(
    folder: &Directory,
    name: &OsStr,
    must_be_directory: bool,
) -> Result<Found<File>, OpenError> {
    Ok(match open_nofollow(folder, name, read_flags(must_be_directory))? {
        Found::Opened(fd) => Found::Opened(File::from(fd)),
        Found::Link(target) => Found::Link(target),
    })
}

pub(crate) fn read_flags(must_be_directory: bool) -> OFlags {
    if must_be_directory { READ | OFlags::DIRECTORY } else { READ }
}

/// Opens one name, or reads it if it is a link.
///
/// A link shows as ELOOP, or as ENOTDIR where a directory is asked for, or, with `O_PATH`, by
/// being opened itself, which no caller here asks for. Between that answer and the reading of the
/// link the name may have become something else; then it is opened again.
pub(crate) fn open_nofollow(
    parent: &Directory,
    name: &OsStr,
    flags: OFlags,
) -> Result<Found<OwnedFd>, OpenError> {
    for _ in 0..MAX_LINKS {
        let opened =
            retry_interrupted(|| openat(parent, name, flags | OFlags::NOFOLLOW, Mode::empty()));
        let error = match opened {
            Ok(fd) => return Ok(Found::Opened(fd)),
            Err(error @ (Errno::LOOP | Errno::NOTDIR)) => error,
            Err(error) => return Err(open_error(error)),
        };
        match read_link(parent, name)? {
            Some(target) => return Ok(Found::Link(target)),
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

/// Whether reading failed because another program has locked some of a file's bytes: there are no
/// such locks here.
pub(crate) fn is_locked(_error: &io::Error) -> bool {
    false
}

/// Whether a name is neither a directory nor a link.
fn is_file(parent: &Directory, name: &OsStr) -> Result<bool, OpenError> {
    let stat = statat(parent, name, AtFlags::SYMLINK_NOFOLLOW).map_err(open_error)?;
    Ok(!matches!(FileType::from_raw_mode(stat.st_mode), FileType::Directory | FileType::Symlink))
}

/// The target of a link; `None` if the name is no link.
pub(crate) fn read_link(parent: &Directory, name: &OsStr) -> Result<Option<LinkTarget>, OpenError> {
    let target = match retry_interrupted(|| readlinkat(parent, name, Vec::new())) {
        Ok(target) => OsString::from_vec(target.into_bytes()),
        Err(Errno::INVAL) => return Ok(None),
        Err(error) => return Err(open_error(error)),
    };
    if native::holds_magic_links(parent) {
        return Err(OpenError::Loops);
    }
    if !target.as_bytes().starts_with(b"/") {
        return Ok(Some(LinkTarget::Relative(steps(&target))));
    }
    Ok(Some(LinkTarget::Absolute(target.into())))
}
