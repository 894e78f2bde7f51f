//! Opening one name beneath a folder, without following links.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::windows::ffi::OsStrExt;
use std::os::windows::io::OwnedHandle;

use windows_sys::Win32::Storage::FileSystem::{
    FILE_ATTRIBUTE_DIRECTORY, FILE_ATTRIBUTE_REPARSE_POINT, FILE_GENERIC_READ,
};

use super::error::{is_not_shared, open_error};
use super::handle::{Directory, ENTER, LIST};
use super::reparse::{is_link, is_name_surrogate, target_of};
use super::spelling::strip_root;
use super::sys::{self, Reparse};
use super::wait::{MAX_WAIT_FOR_OTHERS, retry_while};
use crate::sandbox::entry::{Found, LinkTarget};
use crate::sandbox::error::OpenError;

/// Windows has its own limit on a path, and says so itself.
pub(crate) const PATH_MAX: usize = usize::MAX;

pub(crate) fn offers_openat2(_root: &Directory) -> bool {
    false
}

pub(crate) fn is_known_to_offer_openat2() -> Option<bool> {
    Some(false)
}

/// Opens a file; if another program does not share it for now, waits a moment.
pub(crate) fn wait_for_others<T>(open: &dyn Fn() -> Result<T, OpenError>) -> Result<T, OpenError> {
    retry_while(MAX_WAIT_FOR_OTHERS, is_not_shared, open)
}

/// Opens a file by one name to read it, following nothing.
pub(crate) fn open_to_read(
    folder: &Directory,
    name: &OsStr,
    must_be_directory: bool,
) -> Result<Found<File>, OpenError> {
    Ok(match open_nofollow(folder, name, FILE_GENERIC_READ)? {
        Found::Link(target) => Found::Link(target),
        Found::Opened((_, attributes))
            if must_be_directory && attributes & FILE_ATTRIBUTE_DIRECTORY == 0 =>
        {
            return Err(OpenError::NotFolder);
        }
        Found::Opened((handle, _)) => Found::Opened(File::from(handle)),
    })
}

/// Opens a file by one name, following nothing. If another program keeps it for a moment, waits a
/// moment.
pub(crate) fn open_entry(folder: &Directory, name: &OsStr) -> Result<Found<File>, OpenError> {
    wait_for_others(&|| open_to_read(folder, name, false))
}

/// The target of a link; `None` if the name is no link.
pub(crate) fn read_link(parent: &Directory, name: &OsStr) -> Result<Option<LinkTarget>, OpenError> {
    let handle = sys::open_beneath(&parent.0, &wide(name), ENTER, Reparse::OpenItself)
        .map_err(open_error)?;
    let (attributes, tag) = sys::attributes_and_tag(&handle).map_err(OpenError::System)?;
    if is_link(attributes, tag) { target_of(&handle).map(Some) } else { Ok(None) }
}

/// Opens a directory by one name, following nothing.
pub(crate) fn open_directory(
    parent: &Directory,
    name: &OsStr,
) -> Result<Found<Directory>, OpenError> {
    open_directory_for(ENTER, parent, name)
}

/// Opens a directory by one name, to list it, following nothing.
pub(crate) fn open_directory_to_list(
    parent: &Directory,
    name: &OsStr,
) -> Result<Found<Directory>, OpenError> {
    open_directory_for(LIST, parent, name)
}

/// Opens a directory by one name, to create in, following nothing.
pub(crate) fn open_directory_to_write_in(
    parent: &Directory,
    name: &OsStr,
) -> Result<Found<Directory>, OpenError> {
    open_directory(parent, name)
}

/// How many handles are held to take made folders back. A process may have millions.
pub(crate) const MAX_FOLDERS_HELD: usize = usize::MAX;

/// Windows opens no `..` beneath a handle. It is not needed: no handle of a made folder is let go.
pub(crate) fn open_parent(_directory: &Directory) -> io::Result<Directory> {
    Err(io::ErrorKind::Unsupported.into())
}

fn open_directory_for(
    access: u32,
    parent: &Directory,
    name: &OsStr,
) -> Result<Found<Directory>, OpenError> {
    Ok(match open_nofollow(parent, name, access)? {
        Found::Link(target) => Found::Link(target),
        Found::Opened((handle, attributes)) if attributes & FILE_ATTRIBUTE_DIRECTORY != 0 => {
            Found::Opened(Directory(handle))
        }
        Found::Opened(_) => return Err(OpenError::NotFolder),
    })
}

/// Opens one name, or reads it if it is a link or a junction.
fn open_nofollow(
    parent: &Directory,
    name: &OsStr,
    access: u32,
) -> Result<Found<(OwnedHandle, u32)>, OpenError> {
    let handle = sys::open_beneath(&parent.0, &wide(name), access, Reparse::OpenItself)
        .map_err(open_error)?;
    let (attributes, tag) = sys::attributes_and_tag(&handle).map_err(OpenError::System)?;
    if attributes & FILE_ATTRIBUTE_REPARSE_POINT == 0 {
        return Ok(Found::Opened((handle, attributes)));
    }
    if is_link(attributes, tag) {
        return Ok(Found::Link(target_of(&handle)?));
    }
    if is_name_surrogate(tag) {
        // It stands for a name elsewhere, and only its own driver knows for which.
        return Err(OpenError::Escapes);
    }
    // Deduplicated, compressed, or kept in a cloud: the file system's own way to store a file.
    let handle = sys::open_beneath(&handle, &[], access, Reparse::Follow).map_err(open_error)?;
    // Following the point must have ended in the same folder.
    let path = sys::final_path(&handle).map_err(OpenError::System)?;
    let folder = sys::final_path(&parent.0).map_err(OpenError::System)?;
    let is_inside = strip_root(&folder, &path).is_some();
    if is_inside { Ok(Found::Opened((handle, attributes))) } else { Err(OpenError::Escapes) }
}

/// A name as the system takes it. The system calls the directory itself by the empty name; only Win32
/// knows `.`.
pub(crate) fn wide(name: &OsStr) -> Vec<u16> {
    if name == "." { Vec::new() } else { name.encode_wide().collect() }
}
