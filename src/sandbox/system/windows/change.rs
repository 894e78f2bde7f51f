//! Renaming and removing one name, and the rights to do so.

use std::ffi::OsStr;
use std::io;

use windows_sys::Win32::Foundation::ERROR_ACCESS_DENIED;
use windows_sys::Win32::Storage::FileSystem::{DELETE, FILE_ADD_FILE};

use super::error::{is, is_busy, open_error};
use super::folder::folder_id;
use super::handle::{Directory, ENTER};
use super::held::Held;
use super::open::wide;
use super::sys::{self, Reparse, Replacing};
use super::wait::{MAX_WAIT_FOR_OTHERS, retry_while};
use crate::sandbox::error::{Obstacle, OpenError};

/// A name in a folder.
pub(crate) type Named<'a> = (&'a Directory, &'a OsStr);

/// Holds the entry at a name open. Links are not followed.
pub(crate) fn hold(folder: &Directory, name: &OsStr) -> Result<Held, OpenError> {
    Held::at(folder, name)
}

/// Renames an entry, if nothing stands at the new name.
pub(crate) fn rename_to_free_name(
    entry: &Held,
    _from: Named<'_>,
    (to, new_name): Named<'_>,
) -> io::Result<()> {
    rename(entry, to, new_name, Replacing::Nothing)
}

/// Renames an entry. A file or link that stands at the new name is replaced.
pub(crate) fn rename_over(
    entry: &Held,
    _from: Named<'_>,
    (to, new_name): Named<'_>,
) -> io::Result<()> {
    match rename(entry, to, new_name, Replacing::Open) {
        Err(error) if sys::is_unsupported(&error) => rename(entry, to, new_name, Replacing::Closed),
        renamed => renamed,
    }
}

/// A folder is not renamed while another program has something beneath it open, which the system reports
/// as denied access.
fn rename(entry: &Held, to: &Directory, new_name: &OsStr, replacing: Replacing) -> io::Result<()> {
    let name = wide(new_name);
    retry_while(MAX_WAIT_FOR_OTHERS, is_busy, || {
        sys::rename(&entry.handle, &to.0, &name, replacing)
    })
}

/// Whether a rename failed because a folder was to be moved into itself. Windows says no more than that
/// access is denied.
pub(crate) fn is_into_itself(_error: &io::Error) -> bool {
    false
}

/// Removes a name: that of an empty folder, or that of anything else. Links are not followed. A file's
/// attribute that marks it as read-only does not count beneath a folder that is removed.
pub(crate) fn remove_name(folder: &Directory, name: &OsStr, _is_folder: bool) -> io::Result<()> {
    let name = wide(name);
    let open = || sys::open_beneath(&folder.0, &name, DELETE | ENTER, Reparse::OpenItself);
    let entry = retry_while(MAX_WAIT_FOR_OTHERS, is_busy, open)?;
    sys::delete_even_if_read_only(&entry)
}

/// Whether a folder may be moved to another parent. The handle by which it is renamed has the right.
pub(crate) fn may_leave_its_parent(_parent: &Directory, _name: &OsStr) -> bool {
    true
}

/// Whether entries of one folder can be renamed into the other.
pub(crate) fn is_same_mount(one: &Directory, other: &Directory) -> bool {
    matches!((folder_id(one), folder_id(other)), (Ok(one), Ok(other)) if one.0 == other.0)
}

/// Checks that the process may make entries in a folder.
pub(crate) fn check_may_change(folder: &Directory) -> io::Result<()> {
    folder.reopen(FILE_ADD_FILE | ENTER).map(drop)
}

/// The rights to remove entries of one folder. Windows asks each entry.
pub(crate) struct RemovalRights;

impl RemovalRights {
    pub(crate) fn of(_folder: &Directory) -> io::Result<Self> {
        Ok(Self)
    }

    /// What keeps an entry of the folder from being renamed or removed. `Ok(None)`: nothing that the system
    /// tells.
    #[allow(clippy::unused_self, reason = "on other systems the folder is asked")]
    pub(crate) fn obstacle(
        &self,
        folder: &Directory,
        name: &OsStr,
    ) -> Result<Option<Obstacle>, OpenError> {
        match sys::open_beneath(&folder.0, &wide(name), DELETE | ENTER, Reparse::OpenItself) {
            Ok(_) => Ok(None),
            Err(error) if is(&error, &[ERROR_ACCESS_DENIED]) => Ok(Some(Obstacle::FolderRights)),
            Err(error) => match open_error(error) {
                OpenError::Busy => Ok(Some(Obstacle::InUse)),
                error => Err(error),
            },
        }
    }
}
