//! Leases of Linux: how one who has a file open for reading learns whether anybody has it open for
//! writing. `rustix` has no form for them.

#![allow(unsafe_code, reason = "one call, with its proof")]

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

use libc::{EAGAIN, F_GETLEASE, F_RDLCK, F_SETLEASE, F_UNLCK, SIGURG, c_int};

/// `F_SETSIG`, which the crate `libc` has for some C libraries alone: the kernel's number for it on
/// x64 and arm64, as on most processors.
const F_SETSIG: c_int = 10;

/// Who has a file open for writing.
pub(super) enum Writers<'file> {
    /// Nobody, and as long as the lease lives whoever wants to has to wait.
    Nobody(Lease<'file>),
    Somebody,
    /// The file is another user's, or its file system has no leases.
    Unknown,
}

impl<'file> Writers<'file> {
    /// Of a file that is open for reading alone.
    pub(super) fn of(file: &'file File) -> Self {
        // Who wants the lease given back has the system send this process a signal. The one it
        // sends by itself, SIGIO, would end the process; SIGURG is ignored where nobody handles it.
        if fcntl(file, F_SETSIG, SIGURG).is_err() {
            return Self::Unknown;
        }
        match fcntl(file, F_SETLEASE, F_RDLCK) {
            Ok(_) => Self::Nobody(Lease(file)),
            Err(error) if error.raw_os_error() == Some(EAGAIN) => Self::Somebody,
            Err(_) => Self::Unknown,
        }
    }

    /// Whether somebody has it open for writing, or waits to, as far as is known.
    pub(super) fn are_at_work(&self) -> bool {
        match self {
            Self::Nobody(lease) => lease.is_wanted(),
            Self::Somebody => true,
            Self::Unknown => false,
        }
    }
}

/// A lease on a file; given back when it is dropped.
pub(super) struct Lease<'file>(&'file File);

impl Lease<'_> {
    /// Whether somebody waits to open the file for writing, or to cut it.
    fn is_wanted(&self) -> bool {
        !matches!(fcntl(self.0, F_GETLEASE, 0), Ok(F_RDLCK))
    }
}

impl Drop for Lease<'_> {
    fn drop(&mut self) {
        let _ = fcntl(self.0, F_SETLEASE, F_UNLCK);
    }
}

fn fcntl(file: &File, command: c_int, argument: c_int) -> io::Result<c_int> {
    // SAFETY: the descriptor is open, as `file` lives, and each command used here takes an integer,
    // or ignores it; none touches memory of this process.
    let answer = unsafe { libc::fcntl(file.as_raw_fd(), command, argument) };
    if answer < 0 { Err(io::Error::last_os_error()) } else { Ok(answer) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{self, OpenOptions};

    #[test]
    fn a_lease_tells_of_those_who_write_and_of_those_who_want_to() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.txt");
        fs::write(&path, "a").unwrap();
        let file = File::open(&path).unwrap();
        let Writers::Nobody(lease) = Writers::of(&file) else {
            eprintln!("skipped: no leases on the file system of temporary folders");
            return;
        };
        assert!(!lease.is_wanted());
        std::thread::scope(|scope| {
            let writer = scope.spawn(|| OpenOptions::new().append(true).open(&path).unwrap());
            while !lease.is_wanted() {
                std::thread::yield_now();
            }
            assert!(!writer.is_finished());
            drop(lease);
            let writer = writer.join().unwrap();
            assert!(matches!(Writers::of(&file), Writers::Somebody));
            drop(writer);
            assert!(matches!(Writers::of(&file), Writers::Nobody(_)));
        });
    }
}
