//! Linux, as far as it differs from macOS.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::ops::ControlFlow;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use rustix::fd::{AsFd, AsRawFd, OwnedFd};
use rustix::fs::{
    AtFlags, CWD, FileType, Mode, OFlags, PROC_SUPER_MAGIC, RawDir, SeekFrom, StatxAttributes,
    StatxFlags, fstat, fstatfs, linkat, openat, readlinkat, seek, statat, statx,
};
use rustix::io::Errno;

pub(crate) use self::lease::Writers;
use super::unix::change::{Marks, device_of};
use super::unix::error::open_error;
use super::unix::handle::{Directory, entry_kind, retry_interrupted, wait_for_lease};
use super::unix::spelling::names;
use crate::sandbox::entry::Listed;
use crate::sandbox::error::OpenError;

mod lease;
pub(crate) mod openat2;

/// `O_PATH` needs no right to list, so a path may lead through a directory that may only be
/// entered.
pub(crate) const DIRECTORY: OFlags = OFlags::PATH;

/// A path that Linux takes in one call is shorter than this many bytes.
pub(crate) const PATH_MAX: usize = 4096;

/// The flags that hold an entry open, so that it can be recognised later. They work for links and
/// special files, and need no right to read.
pub(crate) const HOLD: OFlags = OFlags::PATH.union(OFlags::NOFOLLOW);

/// Opens a file; if another program holds a lease on it, waits for it a moment.
pub(crate) fn wait_for_others<T>(open: &dyn Fn() -> Result<T, OpenError>) -> Result<T, OpenError> {
    wait_for_lease(open, |error| matches!(error, OpenError::Leased), &|| false)
}

/// Hands the entries of a folder, which is open to be listed, to `visit`.
pub(crate) fn visit_entries(
    folder: &mut Directory,
    visit: &mut dyn FnMut(Listed<'_>) -> ControlFlow<()>,
) -> Result<(), OpenError> {
    const BUFFER: usize = 32 * 1024;
    seek(&*folder, SeekFrom::Start(0)).map_err(open_error)?;
    let mut buffer: Vec<u8> = Vec::with_capacity(BUFFER);
    let mut entries = RawDir::new(&*folder, buffer.spare_capacity_mut());
    while let Some(entry) = entries.next() {
        let entry = match entry {
            Ok(entry) => entry,
            Err(Errno::INTR) => continue,
            Err(error) => return Err(open_error(error)),
        };
        let name = OsStr::from_bytes(entry.file_name().to_bytes());
        let Some(kind) = entry_kind(folder, name, entry.file_type()) else { continue };
        if Listed::new(name, kind).is_some_and(|listed| visit(listed).is_break()) {
            break;
        }
    }
    Ok(())
}

/// Whether an open folder has been removed although its link count is not 0. Linux counts right.
pub(crate) fn has_no_path(_folder: &Directory) -> bool {
    false
}

/// Lets a folder's entries reach the disk.
pub(crate) fn sync_entries(folder: &Directory) -> rustix::io::Result<()> {
    rustix::fs::fsync(folder)
}

/// A new file without a name, in the folder's file system.
pub(crate) fn open_unnamed(folder: &Directory, mode: Mode) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    retry_interrupted(|| openat(folder, ".", flags, mode))
}

/// Gives a file that [`open_unnamed`] opened its name. No other file is replaced.
pub(crate) fn link_unnamed(
    file: &File,
    folder: &Directory,
    name: &OsStr,
) -> rustix::io::Result<()> {
    match linkat(file, "", folder, name, AtFlags::EMPTY_PATH) {
        // Before Linux 6.10, a process needs CAP_DAC_READ_SEARCH for this call. A filter of system
        // calls may refuse it, too, and allow the older way.
        Err(Errno::NOENT | Errno::PERM | Errno::NOSYS | Errno::INVAL) => {}
        linked => return linked,
    }
    let by_proc = format!("/proc/self/fd/{}", file.as_raw_fd());
    match linkat(CWD, by_proc, folder, name, AtFlags::SYMLINK_FOLLOW) {
        Err(Errno::NOENT) if !folder.has_no_link() => Err(Errno::OPNOTSUPP),
        // A file system without hard links, or a filter.
        Err(Errno::PERM | Errno::NOSYS | Errno::INVAL) => Err(Errno::OPNOTSUPP),
        linked => linked,
    }
}

/// Whether entries of this folder can be made, but neither renamed nor removed.
pub(crate) fn is_append_only(folder: &Directory) -> bool {
    let flags = AtFlags::EMPTY_PATH;
    statx(folder, "", flags, StatxFlags::empty())
        .is_ok_and(|entry| entry.stx_attributes.contains(StatxAttributes::APPEND))
}

/// What the system tells about an entry that is to be renamed or removed, in a folder on this device.
///
/// Linux tells a mount since 5.8. The device does not tell all: not a mount of the same file system, as of a
/// folder of the host in a container; and overlayfs gives files the devices of its layers, so before 5.8
/// only folders are compared.
pub(crate) fn marks(folder: &Directory, name: &OsStr, device: i128) -> rustix::io::Result<Marks> {
    let flags = AtFlags::SYMLINK_NOFOLLOW;
    let stat = statat(folder, name, flags)?;
    let is_folder = FileType::from_raw_mode(stat.st_mode) == FileType::Directory;
    let is_elsewhere = is_folder && device_of(&stat) != device;
    let (is_mount, is_immutable) = match statx(folder, name, flags, StatxFlags::empty()) {
        Ok(entry) => {
            let immutable = StatxAttributes::IMMUTABLE | StatxAttributes::APPEND;
            let tells = entry.stx_attributes_mask.contains(StatxAttributes::MOUNT_ROOT);
            let is_mount = entry.stx_attributes.contains(StatxAttributes::MOUNT_ROOT);
            let is_immutable = entry.stx_attributes.intersects(immutable);
            (if tells { is_mount } else { is_elsewhere }, is_immutable)
        }
        // A filter of system calls refuses it.
        Err(Errno::NOSYS | Errno::PERM) => (is_elsewhere, false),
        Err(error) => return Err(error),
    };
    Ok(Marks { is_mount, is_immutable, owner: stat.st_uid })
}

/// The mount on which a folder lies; `None` before Linux 5.8.
pub(crate) fn mount_of(folder: &Directory) -> Option<u64> {
    let facts = statx(folder, "", AtFlags::EMPTY_PATH, StatxFlags::MNT_ID).ok()?;
    let is_known = StatxFlags::from_bits_retain(facts.stx_mask).contains(StatxFlags::MNT_ID);
    is_known.then_some(facts.stx_mnt_id)
}

/// Whether links in this directory may be magic: in `/proc`, everywhere but at its top.
///
/// `RESOLVE_NO_MAGICLINKS` tells `/proc/self` (a plain link) from `/proc/self/root` (a magic one).
/// `readlink` shows no difference between the two. But the plain ones are those of the top
/// directory, whose inode is `PROC_ROOT_INO`, 1.
pub(crate) fn holds_magic_links(directory: &Directory) -> bool {
    const PROC_ROOT_INO: u64 = 1;
    let in_proc = fstatfs(directory).is_ok_and(|system| system.f_type == PROC_SUPER_MAGIC);
    in_proc && fstat(directory).is_ok_and(|entry| entry.st_ino != PROC_ROOT_INO)
}

impl Directory {
    /// The kernel's path of the open directory. Without `/proc` it is the spelled path without
    /// links, if that still leads to the same directory.
    pub(crate) fn canonical_path(&self, spelled: &Path) -> Option<PathBuf> {
        let path = self.path_by_proc().or_else(|| std::fs::canonicalize(spelled).ok())?;
        self.is_at(&path).then_some(path)
    }

    fn path_by_proc(&self) -> Option<PathBuf> {
        let link = format!("/proc/self/fd/{}", self.as_fd().as_raw_fd());
        let path = readlinkat(CWD, link, Vec::new()).ok()?.into_bytes();
        Some(PathBuf::from(OsString::from_vec(path)))
    }
}

/// Names are bytes on Linux: a path lies inside the root if it is spelled so.
pub(crate) fn root_names<'root>(
    _root: &Directory,
    spelling: &'root Path,
    _absolute: &str,
) -> Option<Vec<&'root str>> {
    names(spelling)
}
