//! The meaning of the system's error numbers for opening.

use rustix::io::Errno;

use crate::sandbox::error::OpenError;

/// The meaning of an error at opening.
pub(crate) fn open_error(error: Errno) -> OpenError {
    match error {
        Errno::NOENT => OpenError::NotFound,
        Errno::NOTDIR => OpenError::NotFolder,
        Errno::NAMETOOLONG => OpenError::NameTooLong,
        Errno::ACCESS | Errno::PERM => OpenError::PermissionDenied,
        // Only `O_NONBLOCK` says so of a regular file, and only for the sake of a lease.
        Errno::AGAIN => OpenError::Leased,
        Errno::LOOP => OpenError::Loops,
        Errno::XDEV => OpenError::Escapes,
        // A socket, a device without a driver, or (macOS) any of the two.
        Errno::NXIO | Errno::NODEV | Errno::OPNOTSUPP => OpenError::SpecialFile,
        error => OpenError::System(error.into()),
    }
}

/// Whether the system says that there is no such call, or that this file system does not know it.
/// On macOS the two last are different errors.
pub(crate) fn is_unsupported(error: Errno) -> bool {
    error == Errno::NOSYS || error == Errno::OPNOTSUPP || error == Errno::NOTSUP
}

/// Whether a call may have failed because this file system, or a filter of system calls, refuses it
/// or one of its flags. If it failed for another reason, the fallback fails for that reason too.
pub(crate) fn is_refused(error: Errno) -> bool {
    is_unsupported(error) || error == Errno::INVAL || error == Errno::PERM
}
