//! The Windows system calls that the standard library has no safe form for. All `unsafe` code for
//! Windows is here.

#![allow(unsafe_code, reason = "each block has its proof")]

use std::ffi::{OsStr, OsString};
use std::io;
use std::mem::offset_of;
use std::ops::ControlFlow;
use std::os::windows::ffi::OsStringExt;
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
use std::path::PathBuf;
use std::ptr;

use windows_sys::Wdk::Foundation::OBJECT_ATTRIBUTES;
use windows_sys::Wdk::Storage::FileSystem::{
    FILE_DISPOSITION_DELETE, FILE_DISPOSITION_IGNORE_READONLY_ATTRIBUTE,
    FILE_DISPOSITION_POSIX_SEMANTICS, FILE_FULL_DIR_INFORMATION, FILE_INFORMATION_CLASS,
    FILE_NAMES_INFORMATION, FILE_OPEN, FILE_OPEN_REPARSE_POINT, FILE_RENAME_INFORMATION,
    FILE_RENAME_POSIX_SEMANTICS, FILE_RENAME_REPLACE_IF_EXISTS, FILE_SYNCHRONOUS_IO_NONALERT,
    FileBasicInformation, FileDispositionInformation, FileDispositionInformationEx,
    FileFullDirectoryInformation, FileNamesInformation, FileRenameInformation,
    FileRenameInformationEx, NtCreateFile, NtQueryDirectoryFile, NtSetInformationFile,
};
use windows_sys::Win32::Foundation::{
    ERROR_DELETE_PENDING, ERROR_INVALID_FUNCTION, ERROR_INVALID_PARAMETER, ERROR_NOT_SUPPORTED,
    HANDLE, NTSTATUS, OBJ_CASE_INSENSITIVE, RtlNtStatusToDosError, STATUS_DELETE_PENDING,
    STATUS_NO_MORE_FILES, STATUS_NO_SUCH_FILE, UNICODE_STRING,
};
use windows_sys::Win32::Security::{
    DACL_SECURITY_INFORMATION, GetKernelObjectSecurity, SE_DACL_AUTO_INHERIT_REQ,
    SE_DACL_AUTO_INHERITED, SetKernelObjectSecurity,
};
use windows_sys::Win32::Storage::FileSystem::{
    BY_HANDLE_FILE_INFORMATION, FILE_ATTRIBUTE_NORMAL, FILE_ATTRIBUTE_TAG_INFO, FILE_BASIC_INFO,
    FILE_SHARE_DELETE, FILE_SHARE_READ, FILE_SHARE_WRITE, FILE_STANDARD_INFO,
    FILE_WRITE_ATTRIBUTES, FileAttributeTagInfo, FileStandardInfo, GetFileInformationByHandle,
    GetFileInformationByHandleEx, GetFinalPathNameByHandleW, MAXIMUM_REPARSE_DATA_BUFFER_SIZE,
    SYNCHRONIZE,
};
use windows_sys::Win32::System::IO::{DeviceIoControl, IO_STATUS_BLOCK};
use windows_sys::Win32::System::Ioctl::FSCTL_GET_REPARSE_POINT;

/// Whether the system follows a reparse point that stands at the name.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reparse {
    /// The reparse point itself is opened.
    OpenItself,
    /// The file system's filters do what the point asks for.
    Follow,
}

/// How one name is opened, or made: the arguments of `NtCreateFile` that differ from call to call.
#[derive(Clone, Copy)]
pub(crate) struct Opening {
    pub(crate) access: u32,
    pub(crate) share: u32,
    pub(crate) disposition: u32,
    pub(crate) options: u32,
}

/// Sharing that keeps other programs from nothing.
pub(crate) const SHARE_ALL: u32 = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;

/// Opens one name beneath a directory handle; an empty name opens the handle's own file anew.
pub(crate) fn open_beneath(
    parent: &impl AsRawHandle,
    name: &[u16],
    access: u32,
    reparse: Reparse,
) -> io::Result<OwnedHandle> {
    let options = if reparse == Reparse::OpenItself { FILE_OPEN_REPARSE_POINT } else { 0 };
    let opening = Opening { access, share: SHARE_ALL, disposition: FILE_OPEN, options };
    open(parent, name, opening)
}

/// Opens or makes one name beneath a directory handle.
///
/// The name must be one component: the caller has split it, and the system takes it as it is,
/// without Win32's drives, devices, trailing dots and `..`.
pub(crate) fn open(
    parent: &impl AsRawHandle,
    name: &[u16],
    opening: Opening,
) -> io::Result<OwnedHandle> {
    let name = unicode_string(name)?;
    let attributes = OBJECT_ATTRIBUTES {
        Length: size_of_u32::<OBJECT_ATTRIBUTES>(),
        RootDirectory: parent.as_raw_handle(),
        ObjectName: &raw const name,
        Attributes: OBJ_CASE_INSENSITIVE,
        SecurityDescriptor: ptr::null(),
        SecurityQualityOfService: ptr::null(),
    };
    let mut handle: HANDLE = ptr::null_mut();
    let mut status_block = IO_STATUS_BLOCK::default();
    // SAFETY: every pointer is to a local that outlives the call, or null where null is allowed;
    // `name` borrows as many bytes as it says; `parent` is an open handle.
    let status = unsafe {
        NtCreateFile(
            &raw mut handle,
            opening.access | SYNCHRONIZE,
            &raw const attributes,
            &raw mut status_block,
            ptr::null(),
            0,
            opening.share,
            opening.disposition,
            opening.options | FILE_SYNCHRONOUS_IO_NONALERT,
            ptr::null(),
            0,
        )
    };
    check(status)?;
    // SAFETY: the call succeeded, so the handle is open and owned by this function alone.
    Ok(unsafe { OwnedHandle::from_raw_handle(handle) })
}

/// A string as the system takes it, which borrows the characters: it must not outlive them.
fn unicode_string(text: &[u16]) -> io::Result<UNICODE_STRING> {
    let bytes = u16::try_from(size_of_val(text))
        .map_err(|_| io::Error::from(io::ErrorKind::InvalidFilename))?;
    // Windows takes it as input alone.
    Ok(UNICODE_STRING { Length: bytes, MaximumLength: bytes, Buffer: text.as_ptr().cast_mut() })
}

/// The system's answer as an error of Win32, where it is one.
fn check(status: NTSTATUS) -> io::Result<()> {
    if status >= 0 {
        return Ok(());
    }
    let code = match status {
        // To Win32 this is one more way to be denied access; here it makes a difference.
        STATUS_DELETE_PENDING => ERROR_DELETE_PENDING,
        // SAFETY: a pure function of its argument.
        status => unsafe { RtlNtStatusToDosError(status) },
    };
    Err(io::Error::from_raw_os_error(code.cast_signed()))
}

/// Renames an open file to a name beneath a directory handle, which must be one component.
pub(crate) fn rename(
    file: &impl AsRawHandle,
    folder: &impl AsRawHandle,
    name: &[u16],
    replacing: Replacing,
) -> io::Result<()> {
    let (class, flags) = match replacing {
        Replacing::Nothing => (FileRenameInformation, 0),
        Replacing::Closed => (FileRenameInformation, FILE_RENAME_REPLACE_IF_EXISTS),
        Replacing::Open => {
            let flags = FILE_RENAME_REPLACE_IF_EXISTS | FILE_RENAME_POSIX_SEMANTICS;
            (FileRenameInformationEx, flags)
        }
    };
    let length = u32::try_from(size_of_val(name))
        .map_err(|_| io::Error::from(io::ErrorKind::InvalidFilename))?;
    let root = folder.as_raw_handle().expose_provenance();
    // The older class has one BOOLEAN, `ReplaceIfExists`, where the newer one has its flags: in
    // the first byte.
    let mut info = vec![0; offset_of!(FILE_RENAME_INFORMATION, FileName)];
    put(&mut info, 0, &flags.to_ne_bytes());
    put(&mut info, offset_of!(FILE_RENAME_INFORMATION, RootDirectory), &root.to_ne_bytes());
    put(&mut info, offset_of!(FILE_RENAME_INFORMATION, FileNameLength), &length.to_ne_bytes());
    info.extend(name.iter().flat_map(|unit| unit.to_ne_bytes()));
    // Shorter than the structure is refused, however short the name.
    info.resize(info.len().max(size_of::<FILE_RENAME_INFORMATION>()), 0);
    set_information(file, class, &info)
}

/// What a rename may replace.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Replacing {
    Nothing,
    /// A file that no program has open.
    Closed,
    /// A file that others may have open, if they share it for deletion. They keep the old file.
    Open,
}

/// Marks a file for deletion when its handle is closed, or takes the mark away. No other program can open
/// a file that is marked; if the process ends, the system removes it.
pub(crate) fn mark_for_deletion(file: &impl AsRawHandle, doomed: bool) -> io::Result<()> {
    set_information(file, FileDispositionInformation, &[u8::from(doomed)])
}

/// Removes the name of an open file, or of an empty folder, at once if the file system can do that
/// and else when the last handle is closed.
pub(crate) fn delete(file: &impl AsRawHandle) -> io::Result<()> {
    let flags = FILE_DISPOSITION_DELETE | FILE_DISPOSITION_POSIX_SEMANTICS;
    match set_information(file, FileDispositionInformationEx, &flags.to_ne_bytes()) {
        Err(error) if is_unsupported(&error) => mark_for_deletion(file, true),
        deleted => deleted,
    }
}

/// [`delete`], also of a file that is marked as read-only.
pub(crate) fn delete_even_if_read_only(file: &OwnedHandle) -> io::Result<()> {
    let flags = FILE_DISPOSITION_DELETE
        | FILE_DISPOSITION_POSIX_SEMANTICS
        | FILE_DISPOSITION_IGNORE_READONLY_ATTRIBUTE;
    match set_information(file, FileDispositionInformationEx, &flags.to_ne_bytes()) {
        Err(error) if is_unsupported(&error) => {
            // Older file systems only look at the attribute.
            let changed = open_beneath(file, &[], FILE_WRITE_ATTRIBUTES, Reparse::OpenItself);
            if let Ok(changed) = changed {
                let _ = set_basics(&changed, 0, FILE_ATTRIBUTE_NORMAL);
            }
            delete(file)
        }
        deleted => deleted,
    }
}

/// Sets a file's attributes, and when it was created, in Windows' count; its other times stay.
pub(crate) fn set_basics(file: &impl AsRawHandle, created: i64, attributes: u32) -> io::Result<()> {
    let mut info = vec![0; size_of::<FILE_BASIC_INFO>()];
    put(&mut info, offset_of!(FILE_BASIC_INFO, CreationTime), &created.to_ne_bytes());
    put(&mut info, offset_of!(FILE_BASIC_INFO, FileAttributes), &attributes.to_ne_bytes());
    set_information(file, FileBasicInformation, &info)
}

fn put(info: &mut [u8], at: usize, bytes: &[u8]) {
    info[at..at + bytes.len()].copy_from_slice(bytes);
}

fn set_information(
    file: &impl AsRawHandle,
    class: FILE_INFORMATION_CLASS,
    info: &[u8],
) -> io::Result<()> {
    // Words, since the structures hold numbers of eight bytes and must be aligned for them.
    let words: Vec<u64> = info
        .chunks(size_of::<u64>())
        .map(|chunk| {
            let mut word = [0; size_of::<u64>()];
            word[..chunk.len()].copy_from_slice(chunk);
            u64::from_ne_bytes(word)
        })
        .collect();
    let length = u32::try_from(info.len()).unwrap_or(u32::MAX);
    let mut status_block = IO_STATUS_BLOCK::default();
    // SAFETY: of this buffer the system reads `length` bytes, which are there, and checks them by
    // the class; it writes to nothing but `status_block`. The handle is open, and opened for
    // synchronous use, so that nothing is written after the call.
    let status = unsafe {
        NtSetInformationFile(
            file.as_raw_handle(),
            &raw mut status_block,
            words.as_ptr().cast(),
            length,
            class,
        )
    };
    check(status)
}

/// Whether the file system does not know the operation.
pub(crate) fn is_unsupported(error: &io::Error) -> bool {
    let code = error.raw_os_error().map(i32::cast_unsigned);
    matches!(code, Some(ERROR_INVALID_FUNCTION | ERROR_NOT_SUPPORTED | ERROR_INVALID_PARAMETER))
}

/// What the system tells of an open file.
pub(crate) fn information(file: &impl AsRawHandle) -> io::Result<BY_HANDLE_FILE_INFORMATION> {
    let mut info = BY_HANDLE_FILE_INFORMATION::default();
    // SAFETY: the handle is open, and the buffer is a local of the type that the call fills.
    let done = unsafe { GetFileInformationByHandle(file.as_raw_handle(), &raw mut info) };
    if done == 0 { Err(io::Error::last_os_error()) } else { Ok(info) }
}

/// A file's access list: a self-relative security descriptor that the system has written.
pub(crate) struct AccessList(Vec<u64>);

impl AccessList {
    /// The list of a file that was opened with `READ_CONTROL`.
    pub(crate) fn of(file: &impl AsRawHandle) -> io::Result<Self> {
        let mut list = vec![0_u64; 64];
        loop {
            let room = u32::try_from(size_of_val(&list[..])).unwrap_or(u32::MAX);
            let mut needed = 0;
            // SAFETY: the buffer is as long as is said and aligned, and the handle is open.
            let done = unsafe {
                GetKernelObjectSecurity(
                    file.as_raw_handle(),
                    DACL_SECURITY_INFORMATION,
                    list.as_mut_ptr().cast(),
                    room,
                    &raw mut needed,
                )
            };
            if done != 0 {
                // Unless that is asked for, a list that was inherited counts as one that was not.
                // The control bits are the second half of the descriptor's first 32.
                if list[0] & (u64::from(SE_DACL_AUTO_INHERITED) << 16) != 0 {
                    list[0] |= u64::from(SE_DACL_AUTO_INHERIT_REQ) << 16;
                }
                return Ok(Self(list));
            }
            let error = io::Error::last_os_error();
            if needed <= room {
                return Err(error);
            }
            list.resize((needed as usize).div_ceil(size_of::<u64>()), 0);
        }
    }

    /// Gives the list to a file that was opened with `WRITE_DAC`.
    pub(crate) fn give_to(&self, file: &impl AsRawHandle) -> io::Result<()> {
        // SAFETY: the handle is open, and the descriptor is one that the system wrote, whole;
        // of its control bits one was set that says nothing about its layout.
        let done = unsafe {
            SetKernelObjectSecurity(
                file.as_raw_handle(),
                DACL_SECURITY_INFORMATION,
                self.0.as_ptr().cast_mut().cast(),
            )
        };
        if done == 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }
}

/// The names in a folder that fit a pattern of `*` and `?`. The handle must have been opened with
/// `FILE_LIST_DIRECTORY`.
pub(crate) fn names_like(folder: &impl AsRawHandle, pattern: &str) -> io::Result<Vec<OsString>> {
    let mut names = Vec::new();
    query(folder, FileNamesInformation, pattern, &mut |filled| {
        names.extend(parse_names(filled));
        ControlFlow::Continue(())
    })?;
    Ok(names)
}

/// Hands the entries of a folder to `visit`: name, attributes, and the reparse tag of a reparse
/// point. The handle must have been opened with `FILE_LIST_DIRECTORY`.
pub(crate) fn visit_entries(
    folder: &impl AsRawHandle,
    visit: &mut dyn FnMut(&OsStr, u32, u32) -> ControlFlow<()>,
) -> io::Result<()> {
    query(folder, FileFullDirectoryInformation, "*", &mut |filled| {
        parse_entries(filled)
            .into_iter()
            .try_for_each(|(name, attributes, tag)| visit(&name, attributes, tag))
    })
}

/// Asks for a folder's entries that fit a pattern, and hands over the system's answers, each a
/// chain of structures.
fn query(
    folder: &impl AsRawHandle,
    class: FILE_INFORMATION_CLASS,
    pattern: &str,
    take: &mut dyn FnMut(&[u8]) -> ControlFlow<()>,
) -> io::Result<()> {
    let pattern: Vec<u16> = pattern.encode_utf16().collect();
    let pattern = unicode_string(&pattern)?;
    let mut buffer = vec![0_u64; 8192];
    let mut from_the_start = true;
    let room = u32::try_from(size_of_val(&buffer[..])).unwrap_or(u32::MAX);
    loop {
        let mut status_block = IO_STATUS_BLOCK::default();
        // SAFETY: the buffer is as long as is said and aligned for any class; the pattern and its
        // characters outlive the call; the handle is open, and opened for synchronous use, so that
        // the system is done with the buffer when it answers.
        let status = unsafe {
            NtQueryDirectoryFile(
                folder.as_raw_handle(),
                ptr::null_mut(),
                None,
                ptr::null(),
                &raw mut status_block,
                buffer.as_mut_ptr().cast(),
                room,
                class,
                false,
                &raw const pattern,
                from_the_start,
            )
        };
        from_the_start = false;
        if matches!(status, STATUS_NO_MORE_FILES | STATUS_NO_SUCH_FILE) {
            return Ok(());
        }
        check(status)?;
        let filled: Vec<u8> = buffer.iter().flat_map(|word| word.to_ne_bytes()).collect();
        if take(filled.get(..status_block.Information).unwrap_or(&filled)).is_break() {
            return Ok(());
        }
    }
}

/// Parses a chain of `FILE_NAMES_INFORMATION`: three numbers of 32 bits, the distance to the next
/// one first and the length of the name last, then the name.
pub(crate) fn parse_names(chain: &[u8]) -> Vec<OsString> {
    let length = offset_of!(FILE_NAMES_INFORMATION, FileNameLength);
    let name = offset_of!(FILE_NAMES_INFORMATION, FileName);
    parse_chain(chain, length, name).into_iter().map(|(_, name)| name).collect()
}

/// Parses a chain of `FILE_FULL_DIR_INFORMATION` into names, attributes and, where the attributes
/// say that it is a reparse point, its tag, which stands in the place of `EaSize` (MS-FSCC
/// 2.4.14).
pub(crate) fn parse_entries(chain: &[u8]) -> Vec<(OsString, u32, u32)> {
    let length = offset_of!(FILE_FULL_DIR_INFORMATION, FileNameLength);
    let name = offset_of!(FILE_FULL_DIR_INFORMATION, FileName);
    parse_chain(chain, length, name)
        .into_iter()
        .map(|(head, name)| {
            let attributes = number(head, offset_of!(FILE_FULL_DIR_INFORMATION, FileAttributes));
            let tag = number(head, offset_of!(FILE_FULL_DIR_INFORMATION, EaSize));
            (name, attributes, tag)
        })
        .collect()
}

/// Parses a chain of structures that begin with the distance to the next one, 32 bits, and end in
/// a name: what stands before each name, and the name.
fn parse_chain(mut chain: &[u8], length_at: usize, name_at: usize) -> Vec<(&[u8], OsString)> {
    let mut parsed = Vec::new();
    while let Some((head, _)) = chain.split_at_checked(name_at) {
        let length = number(head, length_at) as usize;
        let Some(name) = chain.get(name_at..name_at + length) else { break };
        let name: Vec<u16> =
            name.chunks_exact(2).map(|unit| u16::from_ne_bytes([unit[0], unit[1]])).collect();
        parsed.push((head, OsString::from_wide(&name)));
        let next = number(head, 0) as usize;
        match (next, chain.get(next..)) {
            (1.., Some(rest)) => chain = rest,
            _ => break,
        }
    }
    parsed
}

fn number(bytes: &[u8], at: usize) -> u32 {
    u32::from_ne_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

/// Whether an open file has been deleted, so that it vanishes with its last handle.
pub(crate) fn is_deleted(handle: &OwnedHandle) -> io::Result<bool> {
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
pub(crate) fn attributes_and_tag(handle: &OwnedHandle) -> io::Result<(u32, u32)> {
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
pub(crate) fn reparse_data(handle: &OwnedHandle) -> io::Result<Vec<u8>> {
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
pub(crate) fn final_path(handle: &impl AsRawHandle) -> io::Result<PathBuf> {
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
