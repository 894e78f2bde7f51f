//! The Windows system calls that the standard library has no safe form for; with
//! `node/raw.rs` the only `unsafe` code of this crate.

#![allow(unsafe_code, reason = "each block has its proof")]

use std::ffi::OsString;
use std::io;
use std::os::windows::ffi::OsStringExt;
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
use std::path::PathBuf;
use std::ptr;

use windows_sys::Wdk::Foundation::OBJECT_ATTRIBUTES;
use windows_sys::Wdk::Storage::FileSystem::{
    FILE_OPEN, FILE_OPEN_REPARSE_POINT, FILE_SYNCHRONOUS_IO_NONALERT, NtCreateFile,
};
use windows_sys::Win32::Foundation::{
    HANDLE, OBJ_CASE_INSENSITIVE, RtlNtStatusToDosError, UNICODE_STRING,
};
use windows_sys::Win32::Storage::FileSystem::{
    FILE_ATTRIBUTE_TAG_INFO, FILE_SHARE_DELETE, FILE_SHARE_READ, FILE_SHARE_WRITE,
    FILE_STANDARD_INFO, FileAttributeTagInfo, FileStandardInfo, GetFileInformationByHandleEx,
    GetFinalPathNameByHandleW, MAXIMUM_REPARSE_DATA_BUFFER_SIZE,
};
use windows_sys::Win32::System::IO::{DeviceIoControl, IO_STATUS_BLOCK};
use windows_sys::Win32::System::Ioctl::FSCTL_GET_REPARSE_POINT;

/// Whether the system follows a reparse point that stands at the name.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Reparse {
    /// The reparse point itself is opened.
    OpenItself,
    /// The file system's filters do what the point asks for.
    Follow,
}

/// Opens one name beneath a directory handle; an empty name opens the handle's own file anew.
///
/// The name must be one component: the caller has split it, and the system takes it as it is,
/// without Win32's drives, devices, trailing dots and `..`.
pub(super) fn open_beneath(
    parent: &impl AsRawHandle,
    name: &[u16],
    access: u32,
    reparse: Reparse,
) -> io::Result<OwnedHandle> {
    let bytes = u16::try_from(size_of_val(name))
        .map_err(|_| io::Error::from(io::ErrorKind::InvalidFilename))?;
    let name = UNICODE_STRING {
        Length: bytes,
        MaximumLength: bytes,
        // Windows takes the name as input alone.
        Buffer: name.as_ptr().cast_mut(),
    };
    let attributes = OBJECT_ATTRIBUTES {
        Length: size_of_u32::<OBJECT_ATTRIBUTES>(),
        RootDirectory: parent.as_raw_handle(),
        ObjectName: &raw const name,
        Attributes: OBJ_CASE_INSENSITIVE,
        SecurityDescriptor: ptr::null(),
        SecurityQualityOfService: ptr::null(),
    };
    let options = FILE_SYNCHRONOUS_IO_NONALERT
        | if reparse == Reparse::OpenItself { FILE_OPEN_REPARSE_POINT } else { 0 };
    let mut handle: HANDLE = ptr::null_mut();
    let mut status_block = IO_STATUS_BLOCK::default();
    // SAFETY: every pointer is to a local that outlives the call, or null where null is allowed;
    // `name` spans as many bytes as it says; `parent` is an open handle.
    let status = unsafe {
        NtCreateFile(
            &raw mut handle,
            access,
            &raw const attributes,
            &raw mut status_block,
            ptr::null(),
            0,
            FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
            FILE_OPEN,
            options,
            ptr::null(),
            0,
        )
    };
    if status < 0 {
        // SAFETY: a pure function of its argument.
        let code = unsafe { RtlNtStatusToDosError(status) };
        return Err(io::Error::from_raw_os_error(code.cast_signed()));
    }
    // SAFETY: the call succeeded, so the handle is open and nobody else's.
    Ok(unsafe { OwnedHandle::from_raw_handle(handle) })
}

/// Whether an open file has been deleted, so that it vanishes with its last handle.
pub(super) fn is_deleted(handle: &OwnedHandle) -> io::Result<bool> {
    let mut info = FILE_STANDARD_INFO::default();
    // SAFETY: the buffer is a local of the very type that this class of information fills, and
    // its size is given.
    let done = unsafe {
        GetFileInformationByHandleEx(
            handle.as_raw_handle(),
            FileStandardInfo,
            (&raw mut info).cast(),
            size_of_u32::<FILE_STANDARD_INFO>(),
        )
    };
    if done == 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(info.DeletePending || info.NumberOfLinks == 0)
}

/// A file's attributes, and its reparse tag if it is a reparse point.
pub(super) fn attributes_and_tag(handle: &OwnedHandle) -> io::Result<(u32, u32)> {
    let mut info = FILE_ATTRIBUTE_TAG_INFO::default();
    // SAFETY: the buffer is a local of the very type that this class of information fills, and
    // its size is given.
    let done = unsafe {
        GetFileInformationByHandleEx(
            handle.as_raw_handle(),
            FileAttributeTagInfo,
            (&raw mut info).cast(),
            size_of_u32::<FILE_ATTRIBUTE_TAG_INFO>(),
        )
    };
    if done == 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok((info.FileAttributes, info.ReparseTag))
    }
}

/// A reparse point's data: `REPARSE_DATA_BUFFER` as bytes.
pub(super) fn reparse_data(handle: &OwnedHandle) -> io::Result<Vec<u8>> {
    let mut data = vec![0; MAXIMUM_REPARSE_DATA_BUFFER_SIZE as usize];
    let mut filled = 0;
    // SAFETY: the buffer is as long as is said, `filled` is a local, there is no input, and the
    // handle was opened for synchronous use, so no OVERLAPPED is needed.
    let done = unsafe {
        DeviceIoControl(
            handle.as_raw_handle(),
            FSCTL_GET_REPARSE_POINT,
            ptr::null(),
            0,
            data.as_mut_ptr().cast(),
            MAXIMUM_REPARSE_DATA_BUFFER_SIZE,
            &raw mut filled,
            ptr::null_mut(),
        )
    };
    if done == 0 {
        return Err(io::Error::last_os_error());
    }
    data.truncate(filled as usize);
    Ok(data)
}

/// What the system calls an open file, as `\\?\C:\…` or `\\?\UNC\…`.
pub(super) fn final_path(handle: &impl AsRawHandle) -> io::Result<PathBuf> {
    let mut path = vec![0_u16; 512];
    loop {
        let room = u32::try_from(path.len()).unwrap_or(u32::MAX);
        // SAFETY: the buffer is as long as is said, and the handle is open.
        let length = unsafe {
            GetFinalPathNameByHandleW(handle.as_raw_handle(), path.as_mut_ptr(), room, 0)
        } as usize;
        match length {
            0 => return Err(io::Error::last_os_error()),
            length if length < path.len() => {
                path.truncate(length);
                return Ok(OsString::from_wide(&path).into());
            }
            // Too short: the length that is needed came instead.
            length => path.resize(length + 1, 0),
        }
    }
}

/// The size of a structure, as Windows counts.
const fn size_of_u32<T>() -> u32 {
    assert!(size_of::<T>() < 4096);
    #[allow(clippy::cast_possible_truncation, reason = "asserted above")]
    let size = size_of::<T>() as u32;
    size
}
