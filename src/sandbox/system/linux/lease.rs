//! Leases of Linux. A process that has a file open for reading learns by a lease whether another program
//! has it open for writing. `rustix` has no form for them.

#![allow(unsafe_code, reason = "one call, with its proof")]

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

use libc::{EAGAIN, F_GETLEASE, F_RDLCK, F_SETLEASE, F_UNLCK, F_WRLCK, SIGURG, c_int};

/// `F_SETSIG`, which the crate `libc` has for some C libraries alone: the kernel's number for it on
/// x64 and arm64, as on most processors.
const F_SETSIG: c_int = 10;

/// Whether another program has a file open for writing.
pub(crate) enum Writers<'file> {
    /// None has. As long as the lease lives, a program that wants to open the file so has to wait.
    Absent(Lease<'file>),
    Present,
    /// The file is another user's, or its file system has no leases.
    Unknown,
}

impl<'file> Writers<'file> {
    /// Of a file that is open for reading alone.
    pub(crate) fn of(file: &'file File) -> Self {
        Self::by_lease(file, F_RDLCK)
    }

    /// Of a file that this process has open for writing, once. Any other program that has it open counts,
    /// also one that only reads.
    pub(crate) fn and_readers_of(file: &'file File) -> Self {
        Self::by_lease(file, F_WRLCK)
    }

    fn by_lease(file: &'file File, kind: c_int) -> Self {
        // When another program waits for the lease, the system sends this process a signal. The default,
        // SIGIO, would end the process; SIGURG is ignored unless the process handles it.
        if fcntl(file, F_SETSIG, SIGURG).is_err() {
            return Self::Unknown;
        }
        match fcntl(file, F_SETLEASE, kind) {
            Ok(_) => Self::Absent(Lease { file, kind }),
            Err(error) if error.raw_os_error() == Some(EAGAIN) => Self::Present,
            Err(_) => Self::Unknown,
        }
    }

    /// Whether another program has it open for writing, or waits to, as far as is known.
    pub(crate) fn are_present(&self) -> bool {
        match self {
            Self::Absent(lease) => lease.must_stay(),
            Self::Present => true,
            Self::Unknown => false,
        }
    }
}

/// A lease on a file; given back when it is dropped.
pub(crate) struct Lease<'file> {
    file: &'file File,
    kind: c_int,
}

impl Lease<'_> {
    /// Whether another program waits to open the file in a way that the lease delays.
    fn must_stay(&self) -> bool {
        fcntl(self.file, F_GETLEASE, 0).ok() != Some(self.kind)
    }
}

impl Drop for Lease<'_> {
    fn drop(&mut self) {
        let _ = fcntl(self.file, F_SETLEASE, F_UNLCK);
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
        let Writers::Absent(lease) = Writers::of(&file) else {
            eprintln!("skipped: no leases on the file system of temporary folders");
            return;
        };
        assert!(!lease.must_stay());
        std::thread::scope(|scope| {
            let writer = scope.spawn(|| OpenOptions::new().append(true).open(&path).unwrap());
            while !lease.must_stay() {
                std::thread::yield_now();
            }
            assert!(!writer.is_finished());
            drop(lease);
            let writer = writer.join().unwrap();
            assert!(matches!(Writers::of(&file), Writers::Present));
            drop(writer);
            assert!(matches!(Writers::of(&file), Writers::Absent(_)));
        });
    }

    #[test]
    fn a_lease_of_a_writer_tells_of_all_others_who_have_the_file_open() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.txt");
        let file = OpenOptions::new().read(true).write(true).create_new(true).open(&path).unwrap();
        if matches!(Writers::and_readers_of(&file), Writers::Unknown) {
            eprintln!("skipped: no leases on the file system of temporary folders");
            return;
        }
        for open in [OpenOptions::new().read(true), OpenOptions::new().append(true)] {
            let other = open.open(&path).unwrap();
            assert!(Writers::and_readers_of(&file).are_present());
            drop(other);
            assert!(!Writers::and_readers_of(&file).are_present());
        }
    }
}
