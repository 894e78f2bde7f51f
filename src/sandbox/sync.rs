//! Syncing a file that stands at a path already: this library did not write it in the present call.

use std::fs::File;
use std::io;

use super::file::OpenFile;
use super::root::Sandbox;
use super::{open, place, system};
use crate::path::{EntryPath, WorkspacePath};

impl Sandbox {
    /// Lets a file that stands at a path reach the disk: its bytes, its name, and the names of the
    /// folders that lead to it.
    ///
    /// # Errors
    ///
    /// The system's error.
    pub fn sync_file(&self, path: &WorkspacePath, file: &OpenFile) -> io::Result<()> {
        sync_bytes(&file.file)?;
        let depth = path.names().count() - 1;
        for folders in (0..=depth).rev() {
            let folder = open::to_write_in(self, &path.first(folders), &path.after(folders));
            let folder = folder.map_err(|error| io::Error::other(error.to_string()))?;
            system::sync_folder(&folder.directory)?;
        }
        Ok(())
    }

    /// Lets the folder of a path reach the disk: the names in it.
    ///
    /// # Errors
    ///
    /// The system's error.
    pub fn sync_folder_of(&self, path: &EntryPath) -> io::Result<()> {
        let (path, depth) = (path.judged_as(), place::depth(path.as_path()));
        let folder = open::to_write_in(self, &path.first(depth), &path.after(depth));
        let folder = folder.map_err(|error| io::Error::other(error.to_string()))?;
        system::sync_folder(&folder.directory)
    }
}

fn sync_bytes(file: &File) -> io::Result<()> {
    match file.sync_all() {
        // The errors of file systems that cannot sync, or are read-only. Windows syncs no file
        // that was opened for reading; its writer has synced it before it gave the file its name.
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::InvalidInput
                    | io::ErrorKind::Unsupported
                    | io::ErrorKind::ReadOnlyFilesystem
                    | io::ErrorKind::PermissionDenied
            ) =>
        {
            Ok(())
        }
        synced => synced,
    }
}
