//! An entry that is held open to be renamed or removed. Both are done by its handle, so whatever another
//! program puts at its name meanwhile is not touched.

use std::ffi::OsStr;
use std::io;
use std::os::windows::io::OwnedHandle;

use windows_sys::Win32::Storage::FileSystem::DELETE;

use super::error::{is_not_shared, open_error};
use super::folder::{id_of, kind_of};
use super::handle::{Directory, ENTER};
use super::open::wide;
use super::sys::{self, Reparse};
use super::wait::{MAX_WAIT_FOR_OTHERS, retry_while};
use crate::sandbox::entry::{EntryKind, FolderId};
use crate::sandbox::error::OpenError;

/// A file, link or folder, open to be renamed or removed.
pub(crate) struct Held {
    pub(crate) handle: OwnedHandle,
    kind: EntryKind,
    id: FolderId,
}

impl Held {
    /// Opens the entry at a name. Links are not followed. If another program keeps it for a moment, waits
    /// a moment.
    pub(crate) fn at(folder: &Directory, name: &OsStr) -> Result<Self, OpenError> {
        let name = wide(name);
        let open = || {
            sys::open_beneath(&folder.0, &name, DELETE | ENTER, Reparse::OpenItself)
                .map_err(open_error)
        };
        let handle = retry_while(MAX_WAIT_FOR_OTHERS, is_not_shared, open)?;
        let kind = kind_of(&handle).map_err(OpenError::System)?;
        let id = id_of(&handle).map_err(OpenError::System)?;
        Ok(Self { handle, kind, id })
    }

    /// Whether it is a file, a folder, a link or something else.
    pub(crate) fn kind(&self) -> EntryKind {
        self.kind
    }

    /// Whether both are the same entry.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.id == other.id
    }

    /// Its number on its volume.
    pub(crate) fn inode(&self) -> u64 {
        self.id.1
    }

    /// Whether an open folder is this entry.
    pub(crate) fn is_folder(&self, folder: &Directory) -> bool {
        id_of(&folder.0).is_ok_and(|id| id == self.id)
    }

    /// Whether it stands at a name to which it was just renamed: by its handle, so it is no other entry.
    #[allow(clippy::unused_self, reason = "on other systems it has to be looked at")]
    pub(crate) fn is_at(&self, _folder: &Directory, _name: &OsStr) -> io::Result<bool> {
        Ok(true)
    }
}
