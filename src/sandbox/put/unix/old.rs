//! The file that is to be replaced: opened, locked against other writers, compared.

use std::ffi::OsStr;
use std::fs::File;
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, Mode, OFlags, fcntl_getfl, flock, openat};
use rustix::io::Errno;

use super::error::put_error;
use crate::sandbox::file::FileFacts;
use crate::sandbox::put::content::Expected;
use crate::sandbox::put::error::{PutError, WriteError};
use crate::sandbox::system::Directory;
use crate::sandbox::system::unix::Writers;
use crate::sandbox::system::unix::handle::{retry_interrupted, wait_for_lease};
use crate::sandbox::system::unix::held::{Held, identity};
use crate::sandbox::temporary::Identity;

/// The file that is to be replaced, open.
pub(in crate::sandbox) struct Old {
    pub(super) file: File,
    /// Its device and inode number.
    pub(in crate::sandbox) held: Held,
    /// Its facts when it was opened.
    facts: FileFacts,
    is_locked: bool,
}

impl Old {
    /// Opens the file and locks it against other writers of this library. If a digest is expected,
    /// the file must be readable.
    pub(in crate::sandbox) fn take(
        folder: &Directory,
        name: &OsStr,
        expected: Option<Expected<'_>>,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<Self, PutError> {
        let open = || match expected {
            Some(_) => open_for(OFlags::RDONLY, folder, name),
            None => open_old(folder, name),
        };
        let file = match wait_for_lease(open, |error| *error == Errno::AGAIN, cancelled) {
            Ok(file) => file,
            Err(Errno::AGAIN) if cancelled() => return Err(PutError::Cancelled),
            Err(Errno::ACCESS) if expected.is_some() => {
                return Err(PutError::Refused(WriteError::Unreadable));
            }
            Err(error) => return Err(put_error(error)),
        };
        let held = Held::of(&file).map_err(put_error)?;
        let facts = FileFacts::of(&file).map_err(PutError::System)?;
        let is_locked = lock(&file, cancelled);
        Ok(Self { file, held, facts, is_locked })
    }

    /// The file's facts now. The handle is still open, so they are the facts of the replaced file.
    pub(super) fn facts(&self) -> FileFacts {
        FileFacts::of(&self.file).unwrap_or(self.facts)
    }

    /// The identity by which a sweep may recognise it at a temporary name. It is unknown unless
    /// this process holds the lock. Another holder may release the lock at any time, and a sweep
    /// would then remove the file while it may still have to be put back.
    pub(in crate::sandbox) fn identity_for_sweeps(&self) -> rustix::io::Result<Identity> {
        if self.is_locked { identity(&self.file) } else { Ok(Identity::UNKNOWN) }
    }

    /// Checks that the file has the expected bytes, and that no program has it open for writing or
    /// waits to.
    ///
    /// This check comes before the file is displaced, so that readers rarely see content that is
    /// then taken back. It waits a moment for a program that is just closing the file. A process
    /// that is being started counts too, because for a moment it has its parent's files open.
    pub(in crate::sandbox) fn check_expected(
        &self,
        expected: Option<Expected<'_>>,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<(), PutError> {
        const MAX_WAIT: Duration = Duration::from_millis(50);
        if expected.is_none() {
            return Ok(());
        }
        let begun = Instant::now();
        loop {
            self.compare(expected, cancelled)?;
            match self.check_writers(&Writers::of(&self.file)) {
                Err(_) if begun.elapsed() < MAX_WAIT && !cancelled() => {}
                checked => return checked,
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// [`Old::check_expected`] for a file that has been displaced. A program that had it open for
    /// writing before, or that has found it by its name and not opened it yet, could still change
    /// it. Until the result is dropped, no other program can begin to write to it.
    pub(in crate::sandbox) fn check_displaced(
        &self,
        expected: Option<Expected<'_>>,
    ) -> Result<Writers<'_>, PutError> {
        let writers = Writers::of(&self.file);
        // It is too late to call it off: the new file is visible.
        self.compare(expected, &|| false)?;
        self.check_writers(&writers)?;
        Ok(writers)
    }

    /// An error if the process may not read the file, so that its bytes could not be written back.
    pub(super) fn check_readable(&self) -> Result<(), PutError> {
        let flags = fcntl_getfl(&self.file).map_err(put_error)?;
        if flags & OFlags::RWMODE == OFlags::WRONLY {
            return Err(PutError::Refused(WriteError::Unreadable));
        }
        Ok(())
    }

    /// An error if a program has the file open for writing, or waits to.
    #[allow(clippy::unused_self, reason = "it is this file's writers that are asked about")]
    pub(super) fn check_writers(&self, writers: &Writers<'_>) -> Result<(), PutError> {
        if writers.are_present() {
            Err(PutError::Refused(WriteError::BeingWritten))
        } else {
            Ok(())
        }
    }

    fn compare(
        &self,
        expected: Option<Expected<'_>>,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<(), PutError> {
        expected.map_or(Ok(()), |expected| expected.check(&self.file, cancelled))
    }
}

/// Opens a file to lock it. If it may not be read, write access is enough.
pub(super) fn open_old(folder: &Directory, name: &OsStr) -> rustix::io::Result<File> {
    match open_for(OFlags::RDONLY, folder, name) {
        Err(Errno::ACCESS) => open_for(OFlags::WRONLY, folder, name),
        opened => opened,
    }
}

fn open_for(access: OFlags, folder: &Directory, name: &OsStr) -> rustix::io::Result<File> {
    let flags = access | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    retry_interrupted(|| openat(folder, name, flags, Mode::empty())).map(File::from)
}

/// Waits until no other writer of this library is at work on the file; `false` if the lock could not be
/// had.
///
/// A process that holds the lock longer than any write takes is another program, or hangs. It is not
/// waited for: the exchange is safe without the lock, only readers may see refused content for a moment.
/// NFS locks only files that are open for writing, which [`Writers`] would take for a writer at work; so
/// on NFS the lock is refused at once and there is no waiting.
fn lock(file: &File, cancelled: &dyn Fn() -> bool) -> bool {
    const MAX_WAIT: Duration = Duration::from_secs(1);
    let begun = Instant::now();
    let mut pause = Duration::from_micros(50);
    loop {
        match flock(file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return true,
            Err(Errno::WOULDBLOCK) if begun.elapsed() <= MAX_WAIT && !cancelled() => {}
            Err(_) => return false,
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(2));
    }
}
