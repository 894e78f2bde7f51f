//! The meaning of the system's error numbers for a write.

use rustix::io::Errno;

use crate::sandbox::error::OpenError;
use crate::sandbox::put::error::{PutError, WriteError};

/// The meaning of an error at a name that was looked at before.
pub(in crate::sandbox) fn put_error(error: Errno) -> PutError {
    match error {
        // Another process was faster, or took the folder away, or put a link or a FIFO there.
        Errno::EXIST | Errno::NOENT | Errno::LOOP | Errno::NXIO => PutError::Raced,
        // Only `O_NONBLOCK` says so, and only for the sake of a lease.
        Errno::AGAIN => PutError::Refused(WriteError::Open(OpenError::Leased)),
        // The name of a mount point cannot be given to another file.
        Errno::BUSY => PutError::Refused(WriteError::MountPoint),
        error => PutError::System(error.into()),
    }
}
