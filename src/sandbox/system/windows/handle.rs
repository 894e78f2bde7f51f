//! An open directory.

use std::fs::OpenOptions;
use std::io;
use std::os::windows::fs::OpenOptionsExt;
use std::os::windows::io::OwnedHandle;
use std::path::{Path, PathBuf};

use windows_sys::Win32::Storage::FileSystem::{
    FILE_FLAG_BACKUP_SEMANTICS, FILE_LIST_DIRECTORY, FILE_READ_ATTRIBUTES, FILE_SHARE_DELETE,
    FILE_SHARE_READ, FILE_SHARE_WRITE, SYNCHRONIZE,
};

use super::error::open_error;
use super::sys::{self, Reparse};
use crate::sandbox::error::OpenError;

/// An open directory, to open beneath.
#[derive(Debug)]
pub(crate) struct Directory(pub(crate) OwnedHandle);

/// The rights with which a directory is opened to be walked through: to ask what it is. To open
/// something beneath it takes no right of its own, because users may pass through folders that they may
/// not list.
pub(crate) const ENTER: u32 = FILE_READ_ATTRIBUTES | SYNCHRONIZE;

/// The rights with which a directory is opened to be listed.
pub(crate) const LIST: u32 = FILE_LIST_DIRECTORY | FILE_READ_ATTRIBUTES | SYNCHRONIZE;

impl Directory {
    /// A second handle of the same directory.
    pub(crate) fn try_clone(&self) -> std::io::Result<Self> {
        Ok(Self(self.0.try_clone()?))
    }

    pub(crate) fn open_root(path: &Path) -> io::Result<Self> {
        let directory = OpenOptions::new()
            .access_mode(ENTER)
            .share_mode(FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE)
            // Without this flag Windows opens no directory.
            .custom_flags(FILE_FLAG_BACKUP_SEMANTICS)
            .open(path)?;
        if directory.metadata()?.is_dir() {
            Ok(Self(directory.into()))
        } else {
            Err(io::ErrorKind::NotADirectory.into())
        }
    }

    /// Opens the same directory anew, for something else.
    pub(crate) fn reopen(&self, access: u32) -> io::Result<Self> {
        sys::open_beneath(&self.0, &[], access, Reparse::OpenItself).map(Self)
    }

    /// Opens the same directory anew, to create in. Each operation in it asks for its own rights.
    pub(crate) fn reopen_to_write_in(&self) -> Result<Self, OpenError> {
        self.reopen(ENTER).map_err(open_error)
    }

    /// Opens the same directory anew, to list it.
    pub(crate) fn reopen_to_list(&self) -> Result<Self, OpenError> {
        self.reopen(LIST).map_err(open_error)
    }

    /// Whether the directory has been removed since it was opened.
    pub(crate) fn is_removed(&self) -> bool {
        sys::is_deleted(&self.0).unwrap_or(false)
    }

    /// Windows resolves `..` by its spelling, so the plain spelling names the same directory.
    #[allow(clippy::unused_self, reason = "on other systems it has to be looked at")]
    pub(crate) fn is_at(&self, _path: &Path) -> bool {
        true
    }

    /// The system's path of the open directory.
    pub(crate) fn canonical_path(&self, _spelled: &Path) -> Option<PathBuf> {
        sys::final_path(&self.0).ok()
    }
}
