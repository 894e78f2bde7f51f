//! An open directory.

use std::path::Path;
use std::time::{Duration, Instant};

use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{AtFlags, FileType, fstat, stat, statat};
use rustix::io::Errno;

use crate::sandbox::entry::EntryKind;
use std::ffi::OsStr;

/// An open directory, to open beneath.
#[derive(Debug)]
pub(crate) struct Directory(OwnedFd);

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

impl Directory {
    /// A second handle of the same directory.
    pub(crate) fn try_clone(&self) -> std::io::Result<Self> {
        Ok(Self(self.0.try_clone()?))
    }

    /// Whether the directory has no name left.
    pub(crate) fn has_no_link(&self) -> bool {
        fstat(self).is_ok_and(|stat| stat.st_nlink == 0)
    }

    /// Whether a path, links followed, leads to this very directory.
    pub(crate) fn is_at(&self, path: &Path) -> bool {
        let (Ok(there), Ok(here)) = (stat(path), fstat(self)) else { return false };
        (there.st_dev, there.st_ino) == (here.st_dev, here.st_ino)
    }
}

/// The kind of a folder's entry. `listed` is the kind that the listing gave. `None` if the entry
/// is gone by now.
pub(crate) fn entry_kind(folder: &Directory, name: &OsStr, listed: FileType) -> Option<EntryKind> {
    let kind = match listed {
        // Some file systems tell the kind only when they are asked for each entry.
        FileType::Unknown => match statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => FileType::from_raw_mode(stat.st_mode),
            Err(Errno::NOENT) => return None,
            // The folder may be listed, but not entered.
            Err(_) => FileType::Unknown,
        },
        kind => kind,
    };
    Some(kind_of(kind))
}

/// The kind of an entry by the system's type.
pub(crate) fn kind_of(file_type: FileType) -> EntryKind {
    match file_type {
        FileType::Directory => EntryKind::Folder,
        FileType::RegularFile => EntryKind::File,
        FileType::Symlink => EntryKind::Link,
        _ => EntryKind::Special,
    }
}

/// Opens a file on which another program, such as a Samba server, may hold a lease. The opening has
/// the system ask that program to give the lease back; this waits for it a moment.
pub(crate) fn wait_for_lease<T, E>(
    open: impl Fn() -> Result<T, E>,
    is_leased: impl Fn(&E) -> bool,
    cancelled: &dyn Fn() -> bool,
) -> Result<T, E> {
    const MAX_WAIT: Duration = Duration::from_secs(1);
    let begun = Instant::now();
    loop {
        match open() {
            Err(error) if is_leased(&error) && begun.elapsed() < MAX_WAIT && !cancelled() => {
                std::thread::sleep(Duration::from_millis(5));
            }
            opened => return opened,
        }
    }
}

pub(crate) fn retry_interrupted<T>(
    mut call: impl FnMut() -> rustix::io::Result<T>,
) -> rustix::io::Result<T> {
    rustix::io::retry_on_intr(&mut call)
}
