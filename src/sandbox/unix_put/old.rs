//! The file that is to be replaced: opened, locked against other writers, compared.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Seek;
use std::os::unix::fs::MetadataExt;
use std::time::{Duration, Instant, UNIX_EPOCH};

use rustix::fs::{AtFlags, FileType, FlockOperation, Mode, OFlags, flock, fstat, openat, statat};
use rustix::io::Errno;

use super::put_error;
use crate::hash::sha256_of;
use crate::sandbox::system::Writers;
use crate::sandbox::temporary::Identity;
use crate::sandbox::unix::{Directory, outlast_lease, retry_interrupted};
use crate::sandbox::write::{NewContent, PutError, WriteError};

/// The file that is to be replaced, open.
pub(super) struct Old {
    pub(super) file: File,
    is_locked: bool,
}

impl Old {
    /// Opens it, if need be to read it, and locks it against other writers of this library.
    pub(super) fn take(
        folder: &Directory,
        name: &OsStr,
        content: &NewContent<'_>,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<Self, PutError> {
        let open = || match content.expected {
            Some(_) => open_for(OFlags::RDONLY, folder, name),
            None => open_old(folder, name),
        };
        let file = match outlast_lease(open, |error| *error == Errno::AGAIN, cancelled) {
            Ok(file) => file,
            Err(Errno::AGAIN) if cancelled() => return Err(PutError::Cancelled),
            Err(Errno::ACCESS) if content.expected.is_some() => {
                return Err(PutError::Refused(WriteError::Unreadable));
            }
            Err(error) => return Err(put_error(error)),
        };
        let is_locked = lock(&file, cancelled);
        Ok(Self { file, is_locked })
    }

    /// What a sweep may know it by when it stands at a temporary name: nothing, unless it is locked.
    /// Whoever else holds the lock may let go of it at any time, and then a sweep would take the
    /// file for one that nobody wants any more, before it is certain that nobody does.
    pub(super) fn identity_for_sweeps(&self) -> rustix::io::Result<Identity> {
        if self.is_locked { identity(&self.file) } else { Ok(Identity::UNKNOWN) }
    }

    /// Whether it has the bytes that are expected of it, and nobody is about to change them.
    ///
    /// Before the file is displaced this spares readers the sight of what is then taken back. Whoever
    /// is just done with it is waited for; and so is a process that is being started, which has for
    /// a moment what its parent had open when it began.
    pub(super) fn check_expected(&self, content: &NewContent<'_>) -> Result<(), PutError> {
        const PATIENCE: Duration = Duration::from_millis(50);
        if content.expected.is_none() {
            return Ok(());
        }
        let begun = Instant::now();
        loop {
            compare(&self.file, content)?;
            match check_writers(&Writers::of(&self.file)) {
                Err(_) if begun.elapsed() < PATIENCE => {}
                checked => return checked,
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// The same of a file that has been displaced, for good: who had it open for writing before, or
    /// has found it by its name but not opened it yet, could still change it. Until what this gives
    /// is dropped, nobody else comes to write to it.
    pub(super) fn check_displaced(
        &self,
        content: &NewContent<'_>,
    ) -> Result<Writers<'_>, PutError> {
        let writers = Writers::of(&self.file);
        compare(&self.file, content)?;
        check_writers(&writers)?;
        Ok(writers)
    }
}

/// Opens a file to lock it: it may be written, if not read, and that is enough.
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

fn check_writers(writers: &Writers<'_>) -> Result<(), PutError> {
    if writers.are_at_work() { Err(PutError::Refused(WriteError::BeingWritten)) } else { Ok(()) }
}

fn compare(mut file: &File, content: &NewContent<'_>) -> Result<(), PutError> {
    let Some(expected) = content.expected else { return Ok(()) };
    let digest = file.rewind().and_then(|()| sha256_of(file)).map_err(PutError::System)?;
    if digest == expected { Ok(()) } else { Err(PutError::Changed) }
}

pub(super) fn identity(file: &File) -> rustix::io::Result<Identity> {
    let metadata = file.metadata();
    let metadata = metadata.map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
    let born = metadata.created().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    Ok(Identity { inode: metadata.ino(), born: born.map_or(0, |born| born.as_nanos()) })
}

/// Whether an open file is a regular one, and the one of that name.
pub(super) fn stands_at(folder: &Directory, name: &OsStr, file: &File) -> rustix::io::Result<bool> {
    let there = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
    let here = fstat(file)?;
    let is_regular = FileType::from_raw_mode(here.st_mode) == FileType::RegularFile;
    Ok(is_regular && (there.st_dev, there.st_ino) == (here.st_dev, here.st_ino))
}

/// Waits until no other writer of this library is at work on the file; `false` if the lock was not
/// to be had.
///
/// Whoever holds it longer than any write takes is another program, or hangs, and is not waited for:
/// the exchange is safe without the lock, if not as discreet. NFS locks only what is open for
/// writing, which would look to [`Writers`] like somebody at work, so there nobody waits.
fn lock(file: &File, cancelled: &dyn Fn() -> bool) -> bool {
    const PATIENCE: Duration = Duration::from_secs(1);
    let begun = Instant::now();
    let mut pause = Duration::from_micros(50);
    loop {
        match flock(file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return true,
            Err(Errno::WOULDBLOCK) if begun.elapsed() <= PATIENCE && !cancelled() => {}
            Err(_) => return false,
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(2));
    }
}
