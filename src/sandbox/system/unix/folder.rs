//! One name in a folder: looking at it, making and removing folders, and syncing.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::AsFd;

use rustix::fs::{AtFlags, FileType, Mode, fstat, mkdirat, statat, unlinkat};
use rustix::io::Errno;

use super::super::native;
use super::error::{is_unsupported, open_error};
use super::handle::{Directory, kind_of, retry_interrupted};
use crate::sandbox::entry::{EntryFacts, EntryKind, FolderId};
use crate::sandbox::error::OpenError;

/// Everything for everyone, less the umask.
const NEW_FOLDER: Mode = Mode::from_raw_mode(0o777);

/// The kind of the entry at a name. Links are not followed.
pub(crate) fn kind_at(folder: &Directory, name: &OsStr) -> Result<Option<EntryKind>, OpenError> {
    let stat = match statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => stat,
        Err(Errno::NOENT) => return Ok(None),
        Err(error) => return Err(open_error(error)),
    };
    Ok(match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => Some(EntryKind::File),
        FileType::Directory => Some(EntryKind::Folder),
        FileType::Symlink => Some(EntryKind::Link),
        _ => Some(EntryKind::Special),
    })
}

/// Whether a name is a second one, which the folder does not list. Only Windows gives such names.
#[allow(clippy::unnecessary_wraps, reason = "on Windows the system is asked")]
pub(crate) fn is_short_name(_: &Directory, _: &OsStr) -> Result<bool, OpenError> {
    Ok(false)
}

/// The facts of an entry, links not followed.
pub(crate) fn entry_facts(folder: &Directory, name: &OsStr) -> Result<EntryFacts, OpenError> {
    let stat = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW).map_err(open_error)?;
    let part = i64::try_from(stat.st_mtime_nsec).unwrap_or(0) / 1_000_000;
    Ok(EntryFacts {
        kind: kind_of(FileType::from_raw_mode(stat.st_mode)),
        size: u64::try_from(stat.st_size).unwrap_or(0),
        // The part is never negative, so the sum is rounded down, before 1970 too.
        modified_ms: stat.st_mtime.saturating_mul(1000).saturating_add(part),
    })
}

/// Makes a folder; `None` if something of that name is there already.
pub(crate) fn make_folder(parent: &Directory, name: &OsStr) -> io::Result<Option<FolderId>> {
    match mkdirat(parent, name, NEW_FOLDER) {
        Ok(()) => match id_at(parent, name) {
            Ok(id) => Ok(Some(id)),
            // A folder whose id is unknown could not be taken back later.
            Err(error) => {
                let _ = unlinkat(parent, name, AtFlags::REMOVEDIR);
                Err(error.into())
            }
        },
        Err(Errno::EXIST) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Removes a folder if it is that one, and empty.
pub(crate) fn remove_folder(parent: &Directory, name: &OsStr, id: FolderId) -> io::Result<()> {
    if id_at(parent, name)? != id {
        return Err(io::ErrorKind::NotFound.into());
    }
    Ok(unlinkat(parent, name, AtFlags::REMOVEDIR)?)
}

pub(crate) fn folder_id(folder: &Directory) -> io::Result<FolderId> {
    id_of(folder)
}

/// A file's device and its number there.
pub(crate) fn file_id(file: &File) -> io::Result<FolderId> {
    id_of(file)
}

fn id_of(entry: impl AsFd) -> io::Result<FolderId> {
    let stat = fstat(entry)?;
    Ok((stat.st_dev.into(), stat.st_ino))
}

fn id_at(parent: &Directory, name: &OsStr) -> rustix::io::Result<FolderId> {
    let stat = statat(parent, name, AtFlags::SYMLINK_NOFOLLOW)?;
    Ok((stat.st_dev.into(), stat.st_ino))
}

/// Lets a folder's entries reach the disk.
pub(crate) fn sync_folder(folder: &Directory) -> io::Result<()> {
    match retry_interrupted(|| native::sync_entries(folder)) {
        // File systems that cannot sync a folder say so in one of these ways. EBADF means that the
        // folder may be written but not read, so it was opened with `O_PATH`.
        Err(error) if is_unsupported(error) || matches!(error, Errno::INVAL | Errno::BADF) => {
            Ok(())
        }
        synced => Ok(synced?),
    }
}
