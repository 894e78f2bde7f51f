//! The meaning of the system's error codes for opening.

use std::io;

use windows_sys::Win32::Foundation::{
    ERROR_CANT_ACCESS_FILE, ERROR_DELETE_PENDING, ERROR_DIRECTORY, ERROR_FILENAME_EXCED_RANGE,
    ERROR_INVALID_NAME, ERROR_LOCK_VIOLATION, ERROR_SHARING_VIOLATION,
};

use crate::sandbox::error::OpenError;

/// The meaning of an error at opening.
pub(crate) fn open_error(error: io::Error) -> OpenError {
    match error.raw_os_error().map(i32::cast_unsigned) {
        Some(ERROR_DIRECTORY) => return OpenError::NotFolder,
        // It has been removed, but another program still has it open.
        Some(ERROR_DELETE_PENDING) => return OpenError::NotFound,
        Some(ERROR_FILENAME_EXCED_RANGE) => return OpenError::NameTooLong,
        // NTFS answers this, among others, for a name of more than 255 characters.
        Some(ERROR_INVALID_NAME) => return OpenError::NotFound,
        // Another program has it open without sharing it.
        Some(ERROR_SHARING_VIOLATION | ERROR_LOCK_VIOLATION) => return OpenError::Busy,
        // A socket's file is a reparse point that nothing opens.
        Some(ERROR_CANT_ACCESS_FILE) => return OpenError::SpecialFile,
        _ => {}
    }
    match error.kind() {
        io::ErrorKind::NotFound => OpenError::NotFound,
        io::ErrorKind::NotADirectory => OpenError::NotFolder,
        io::ErrorKind::InvalidFilename => OpenError::NameTooLong,
        io::ErrorKind::PermissionDenied => OpenError::PermissionDenied,
        _ => OpenError::System(error),
    }
}

/// Whether reading failed because another program has locked some of a file's bytes.
pub(crate) fn is_locked(error: &io::Error) -> bool {
    error.raw_os_error().is_some_and(|code| code.cast_unsigned() == ERROR_LOCK_VIOLATION)
}

/// Whether a file could not be opened because another program does not share it for now.
pub(crate) fn is_not_shared(error: &OpenError) -> bool {
    matches!(error, OpenError::Busy)
}

pub(crate) fn is(error: &io::Error, codes: &[u32]) -> bool {
    error.raw_os_error().is_some_and(|code| codes.contains(&code.cast_unsigned()))
}

/// Whether it has been removed and only waits for its last handle to be closed.
pub(crate) fn is_going(error: &io::Error) -> bool {
    is(error, &[ERROR_DELETE_PENDING])
}

/// Whether others have it open in a way that keeps this process from it.
pub(crate) fn is_busy(error: &io::Error) -> bool {
    is(error, &[ERROR_SHARING_VIOLATION, ERROR_DELETE_PENDING])
}
