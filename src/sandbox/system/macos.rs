//! macOS, as far as it differs from Linux. Most of its volumes compare names without case.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::marker::PhantomData;
use std::ops::ControlFlow;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use rustix::fd::OwnedFd;
use rustix::fs::{
    AtFlags, Dir, Mode, OFlags, fcntl_fullfsync, fstat, fsync, getpath, stat, statat,
};
use rustix::io::Errno;

use super::unix::change::{Marks, device_of};
use super::unix::error::open_error;
use super::unix::handle::{Directory, entry_kind};
use super::unix::spelling::names;
use crate::sandbox::entry::Listed;
use crate::sandbox::error::OpenError;

/// macOS has no `O_PATH`; a directory must be readable to be walked through.
pub(crate) const DIRECTORY: OFlags = OFlags::RDONLY;

/// The flags that hold an entry open, so that it can be recognised later. They open a link itself,
/// and need no right to read.
pub(crate) const HOLD: OFlags = OFlags::SYMLINK.union(O_EVTONLY);
/// `O_EVTONLY` of `sys/fcntl.h`, for which `rustix` has no name.
const O_EVTONLY: OFlags = OFlags::from_bits_retain(0x8000);

/// macOS has its own limit on a path, and says so itself.
pub(crate) const PATH_MAX: usize = usize::MAX;

pub(crate) fn offers_openat2(_root: &Directory) -> bool {
    false
}

pub(crate) fn is_known_to_offer_openat2() -> Option<bool> {
    Some(false)
}

/// Opens a file. macOS has no leases to wait for.
pub(crate) fn wait_for_others<T>(open: &dyn Fn() -> Result<T, OpenError>) -> Result<T, OpenError> {
    open()
}

/// Hands the entries of a folder, which is open to be listed, to `visit`.
pub(crate) fn visit_entries(
    folder: &mut Directory,
    visit: &mut dyn FnMut(Listed<'_>) -> ControlFlow<()>,
) -> Result<(), OpenError> {
    for entry in Dir::read_from(&*folder).map_err(open_error)? {
        let entry = entry.map_err(open_error)?;
        let name = OsStr::from_bytes(entry.file_name().to_bytes());
        let Some(kind) = entry_kind(folder, name, entry.file_type()) else { continue };
        if Listed::new(name, kind).is_some_and(|listed| visit(listed).is_break()) {
            break;
        }
    }
    Ok(())
}

/// Whether an open folder has been removed although its link count is not 0. Some file systems of
/// macOS count wrong, so the system is asked for the folder's path, and whether anything stands
/// there.
pub(crate) fn has_no_path(folder: &Directory) -> bool {
    match getpath(folder) {
        Ok(path) => {
            let path = PathBuf::from(OsString::from_vec(path.into_bytes()));
            matches!(stat(&path), Err(Errno::NOENT | Errno::NOTDIR))
        }
        Err(error) => error == Errno::NOENT,
    }
}

/// Lets a folder's entries reach the disk. `fsync` alone would leave them in the memory of the drive.
pub(crate) fn sync_entries(folder: &Directory) -> rustix::io::Result<()> {
    match fcntl_fullfsync(folder) {
        // File systems that cannot do it, such as network drives, say so in one of these ways.
        Err(Errno::NOTSUP | Errno::OPNOTSUPP | Errno::INVAL | Errno::NOTTY) => fsync(folder),
        synced => synced,
    }
}

/// macOS has no files without a name.
pub(crate) fn open_unnamed(_folder: &Directory, _mode: Mode) -> rustix::io::Result<OwnedFd> {
    Err(Errno::OPNOTSUPP)
}

/// Always fails, because macOS has no files without a name.
pub(crate) fn link_unnamed(
    _file: &File,
    _folder: &Directory,
    _name: &OsStr,
) -> rustix::io::Result<()> {
    Err(Errno::OPNOTSUPP)
}

/// Who has a file open for writing: macOS does not tell.
pub(crate) struct Writers<'file>(PhantomData<&'file File>);

impl<'file> Writers<'file> {
    pub(crate) fn of(_file: &'file File) -> Self {
        Self(PhantomData)
    }

    pub(crate) fn and_readers_of(file: &'file File) -> Self {
        Self::of(file)
    }

    #[allow(clippy::unused_self, reason = "on Linux it is known")]
    pub(crate) fn are_present(&self) -> bool {
        false
    }
}

/// Whether entries of this folder can be made, but neither renamed nor removed: `UF_APPEND` or
/// `SF_APPEND` of `sys/stat.h`.
pub(crate) fn is_append_only(folder: &Directory) -> bool {
    const APPEND: u32 = 0x0000_0004 | 0x0004_0000;
    fstat(folder).is_ok_and(|entry| entry.st_flags & APPEND != 0)
}

/// What the system tells about an entry that is to be renamed or removed, in a folder on this device. Flags
/// of `sys/stat.h`: `UF_IMMUTABLE`, `UF_APPEND`, `SF_IMMUTABLE`, `SF_APPEND`.
pub(crate) fn marks(folder: &Directory, name: &OsStr, device: i128) -> rustix::io::Result<Marks> {
    const IMMUTABLE: u32 = 0x0000_0002 | 0x0000_0004 | 0x0002_0000 | 0x0004_0000;
    let stat = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
    let is_mount = device_of(&stat) != device;
    let is_immutable = stat.st_flags & IMMUTABLE != 0;
    Ok(Marks { is_mount, is_immutable, owner: stat.st_uid })
}

/// The mount on which a folder lies: macOS has no number for it beside the device.
pub(crate) fn mount_of(_folder: &Directory) -> Option<u64> {
    None
}

/// macOS has no magic links.
pub(crate) fn holds_magic_links(_directory: &Directory) -> bool {
    false
}

impl Directory {
    /// The system's path of the open directory.
    pub(crate) fn canonical_path(&self, _spelled: &Path) -> Option<PathBuf> {
        let path = getpath(self).ok()?.into_bytes();
        Some(PathBuf::from(OsString::from_vec(path)))
    }
}

/// The first names of `absolute` that name the root. A path lies inside the root if it is spelled so. A
/// path that differs in case lies inside if its beginning leads to the root: the volume decides whether
/// case counts, so it is asked. This is about names alone: files are opened beneath the handle in either
/// case.
pub(crate) fn root_names<'path>(
    root: &Directory,
    spelling: &'path Path,
    absolute: &'path str,
) -> Option<Vec<&'path str>> {
    let as_spelled = names(spelling)?;
    let as_given: Vec<_> = names(Path::new(absolute))?.into_iter().take(as_spelled.len()).collect();
    let start: PathBuf = std::iter::once("/").chain(as_given.iter().copied()).collect();
    let is_root = as_given.len() == as_spelled.len() && root.is_at(&start);
    Some(if is_root { as_given } else { as_spelled })
}
