//! One name in a folder: looking at it, making and removing folders, and syncing.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::ops::ControlFlow;
use std::os::windows::io::{AsRawHandle, OwnedHandle};

use windows_sys::Wdk::Storage::FileSystem::{
    FILE_CREATE, FILE_DIRECTORY_FILE, FILE_OPEN, FILE_OPEN_REPARSE_POINT,
};
use windows_sys::Win32::Foundation::{ERROR_ACCESS_DENIED, ERROR_INVALID_HANDLE, FILETIME};
use windows_sys::Win32::Storage::FileSystem::{
    BY_HANDLE_FILE_INFORMATION, DELETE, FILE_ADD_FILE, FILE_ATTRIBUTE_DEVICE,
    FILE_ATTRIBUTE_DIRECTORY, FILE_ATTRIBUTE_REPARSE_POINT,
};

use super::error::{is, is_going, open_error};
use super::handle::{Directory, ENTER};
use super::list::{entry_kind, visit_entries};
use super::open::wide;
use super::reparse::{is_link, is_name_surrogate};
use super::sys::{self, Opening, Reparse, SHARE_ALL};
use super::wait::{MAX_WAIT_FOR_OTHERS, retry_while};
use crate::sandbox::entry::{EntryFacts, EntryKind, FolderId};
use crate::sandbox::error::OpenError;
use crate::sandbox::temporary::Identity;

/// The kind of the entry at a name. Links are not followed.
pub(crate) fn kind_at(folder: &Directory, name: &OsStr) -> Result<Option<EntryKind>, OpenError> {
    let opened = sys::open_beneath(&folder.0, &wide(name), ENTER, Reparse::OpenItself);
    let handle = match opened.map_err(open_error) {
        Ok(handle) => handle,
        Err(OpenError::NotFound) => return Ok(None),
        Err(error) => return Err(error),
    };
    kind_of(&handle).map(Some).map_err(OpenError::System)
}

/// Whether a name is a second one, which the folder does not list. Windows gives long names a short one beside, such
/// as `GIT~1` for `.git`.
pub(crate) fn is_short_name(folder: &Directory, name: &OsStr) -> Result<bool, OpenError> {
    if !name.as_encoded_bytes().contains(&b'~') || kind_at(folder, name)?.is_none() {
        return Ok(false);
    }
    let mut is_listed = false;
    visit_entries(&mut folder.reopen_to_list()?, &mut |entry| {
        is_listed |= entry.name().eq_ignore_ascii_case(name);
        if is_listed { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    Ok(!is_listed)
}

/// The kind of an entry that was opened itself.
pub(crate) fn kind_of(handle: &OwnedHandle) -> io::Result<EntryKind> {
    let (attributes, tag) = sys::attributes_and_tag(handle)?;
    let is_reparse_point = attributes & FILE_ATTRIBUTE_REPARSE_POINT != 0;
    if is_link(attributes, tag) {
        return Ok(EntryKind::Link);
    }
    if attributes & FILE_ATTRIBUTE_DEVICE != 0 || is_reparse_point && is_name_surrogate(tag) {
        return Ok(EntryKind::Special);
    }
    if attributes & FILE_ATTRIBUTE_DIRECTORY != 0 {
        return Ok(EntryKind::Folder);
    }
    // A socket, or what Linux programs have made here, is a reparse point that nothing opens.
    if is_reparse_point && sys::open_beneath(handle, &[], ENTER, Reparse::Follow).is_err() {
        return Ok(EntryKind::Special);
    }
    Ok(EntryKind::File)
}

/// The facts of an entry, links not followed.
pub(crate) fn entry_facts(folder: &Directory, name: &OsStr) -> Result<EntryFacts, OpenError> {
    let opened = sys::open_beneath(&folder.0, &wide(name), ENTER, Reparse::OpenItself);
    let entry = opened.map_err(open_error)?;
    let (attributes, tag) = sys::attributes_and_tag(&entry).map_err(OpenError::System)?;
    let information = sys::information(&entry).map_err(OpenError::System)?;
    Ok(EntryFacts {
        kind: entry_kind(attributes, tag),
        size: both_halves(information.nFileSizeHigh, information.nFileSizeLow),
        modified_ms: (ticks(information.ftLastWriteTime) - UNIX_EPOCH).div_euclid(10_000),
    })
}

/// When a file was created, in steps of 100 ns since 1601.
pub(crate) fn created(information: &BY_HANDLE_FILE_INFORMATION) -> i64 {
    ticks(information.ftCreationTime)
}

/// A time in steps of 100 ns since 1601.
fn ticks(FILETIME { dwLowDateTime, dwHighDateTime }: FILETIME) -> i64 {
    both_halves(dwHighDateTime, dwLowDateTime).cast_signed()
}

/// From 1601 to 1970, in steps of 100 ns.
const UNIX_EPOCH: i64 = 116_444_736_000_000_000;

pub(crate) fn identity(information: &BY_HANDLE_FILE_INFORMATION) -> Identity {
    let born = u128::try_from(created(information) - UNIX_EPOCH).unwrap_or(0) * 100;
    Identity { inode: both_halves(information.nFileIndexHigh, information.nFileIndexLow), born }
}

pub(crate) fn both_halves(high: u32, low: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

/// Makes a folder; `None` if something of that name is there already.
pub(crate) fn make_folder(parent: &Directory, name: &OsStr) -> io::Result<Option<FolderId>> {
    let options = FILE_DIRECTORY_FILE;
    let opening = Opening { access: ENTER, share: SHARE_ALL, disposition: FILE_CREATE, options };
    let made =
        retry_while(MAX_WAIT_FOR_OTHERS, is_going, || sys::open(&parent.0, &wide(name), opening));
    match made {
        Ok(folder) => id_of(&folder).map(Some),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(None),
        // The folder of that name, or the one that was to hold it, goes as soon as others let go.
        Err(error) if is_going(&error) => Err(io::ErrorKind::NotFound.into()),
        Err(error) => Err(error),
    }
}

/// Removes a folder if it is that one, and empty.
pub(crate) fn remove_folder(parent: &Directory, name: &OsStr, id: FolderId) -> io::Result<()> {
    let options = FILE_DIRECTORY_FILE | FILE_OPEN_REPARSE_POINT;
    let access = DELETE | ENTER;
    let opening = Opening { access, share: SHARE_ALL, disposition: FILE_OPEN, options };
    let folder = sys::open(&parent.0, &wide(name), opening)?;
    let (attributes, _) = sys::attributes_and_tag(&folder)?;
    if attributes & FILE_ATTRIBUTE_REPARSE_POINT != 0 || id_of(&folder)? != id {
        // Another program has put a junction, or another folder, in its place.
        return Err(io::ErrorKind::NotADirectory.into());
    }
    sys::delete(&folder)
}

pub(crate) fn folder_id(folder: &Directory) -> io::Result<FolderId> {
    id_of(&folder.0)
}

/// A file's volume and its number there.
pub(crate) fn file_id(file: &File) -> io::Result<FolderId> {
    id_of(file)
}

pub(crate) fn id_of(folder: &impl AsRawHandle) -> io::Result<FolderId> {
    let information = sys::information(folder)?;
    Ok((information.dwVolumeSerialNumber.into(), identity(&information).inode))
}

/// Lets a folder's entries reach the disk, where the file system does that at all and the process
/// may ask for it.
pub(crate) fn sync_folder(folder: &Directory) -> io::Result<()> {
    let flushed =
        folder.reopen(FILE_ADD_FILE | ENTER).and_then(|folder| File::from(folder.0).sync_all());
    match flushed {
        Err(error)
            if sys::is_unsupported(&error)
                || is(&error, &[ERROR_ACCESS_DENIED, ERROR_INVALID_HANDLE]) =>
        {
            Ok(())
        }
        flushed => flushed,
    }
}
