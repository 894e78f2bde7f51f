//! A new file on its way to its name.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::time::{Duration, Instant};

use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, FlockOperation, Mode, OFlags, flock, fstat, linkat, openat};
use rustix::io::Errno;

use super::old::Old;
use crate::sandbox::file::FileFacts;
use crate::sandbox::put::content::NewContent;
use crate::sandbox::put::error::{Flaw, PutError, Stray};
use crate::sandbox::system::Directory;
use crate::sandbox::system::unix::error::is_refused;
use crate::sandbox::system::unix::handle::retry_interrupted;
use crate::sandbox::system::unix::held::{
    self, EntryId, Held, Removal, identity, remove, rename_exclusively,
};
use crate::sandbox::system::unix::{Writers, link_unnamed, open_unnamed};
use crate::sandbox::temporary::{self, Identity};

/// A new file on its way to its name. Dropped, it leaves nothing.
pub(super) struct Draft<'folder> {
    pub(super) folder: &'folder Directory,
    pub(super) file: File,
    pub(super) id: EntryId,
    /// The temporary name, if it has one, and only as long as no other file can stand there.
    pub(super) name: Option<OsString>,
    /// Whether this file system counts a file's names. Some say 0 of every file.
    links_are_counted: bool,
}

impl<'folder> Draft<'folder> {
    /// A file without any name, which vanishes with the process; `None` where the file system has
    /// none, or a filter of system calls lets none be made.
    ///
    /// In a removed folder, ext4 answers as if the call were not permitted. The caller then tries
    /// a file with a name. That fails, too, and its error says why.
    pub(super) fn unnamed(
        folder: &'folder Directory,
        mode: Mode,
    ) -> rustix::io::Result<Option<Self>> {
        match open_unnamed(folder, mode) {
            Ok(fd) => Self::locked(folder, fd, None).map(Some),
            Err(Errno::ISDIR | Errno::ACCESS) => Ok(None),
            Err(error) if is_refused(error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// A file with a temporary name.
    pub(super) fn named(folder: &'folder Directory, mode: Mode) -> rustix::io::Result<Self> {
        loop {
            let name = OsString::from(temporary::new_name(Identity::UNKNOWN, Identity::UNKNOWN));
            match Self::at(folder, &name, mode) {
                Ok(mut draft) => {
                    draft.name = Some(name);
                    draft.rename_for(Identity::UNKNOWN)?;
                    return Ok(draft);
                }
                Err(Errno::EXIST) => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// A file at its final name, visible from the start.
    pub(super) fn at(
        folder: &'folder Directory,
        name: &OsStr,
        mode: Mode,
    ) -> rustix::io::Result<Self> {
        let flags =
            OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let fd = retry_interrupted(|| openat(folder, name, flags, mode))?;
        Self::locked(folder, fd, None)
    }

    /// The lock tells a sweep that the file's writer lives.
    fn locked(
        folder: &'folder Directory,
        fd: OwnedFd,
        name: Option<OsString>,
    ) -> rustix::io::Result<Self> {
        let file = File::from(fd);
        let id = Held::of(&file)?.id;
        // Where the file system has no locks, a sweep gets none either, and removes nothing.
        let _ = flock(&file, FlockOperation::NonBlockingLockExclusive);
        Ok(Self { folder, file, id, name, links_are_counted: false })
    }

    /// Writes the content, and lets it reach the disk.
    pub(super) fn fill(
        &mut self,
        content: &NewContent<'_>,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<(), PutError> {
        self.file.write_all(content.bytes).map_err(PutError::System)?;
        if content.durable {
            self.file.sync_all().map_err(PutError::System)?;
        }
        if cancelled() { Err(PutError::Cancelled) } else { Ok(()) }
    }

    /// The file's facts. They do not depend on its name.
    pub(super) fn facts(&self) -> Result<FileFacts, PutError> {
        FileFacts::of(&self.file).map_err(PutError::System)
    }

    /// Gives an unnamed file its name. No other file is replaced.
    pub(super) fn link_at(&self, name: &OsStr) -> rustix::io::Result<()> {
        link_unnamed(&self.file, self.folder, name)
    }

    /// Gives a named file its final name. No other file is replaced.
    pub(super) fn rename_exclusively(&mut self, name: &OsStr) -> rustix::io::Result<()> {
        let Some(temporary) = &self.name else { return Err(Errno::NOENT) };
        match rename_exclusively(self.folder, temporary, name) {
            // There is no exclusive rename here. A hard link is exclusive, too.
            Err(error) if is_refused(error) => {
                linkat(self.folder, temporary, self.folder, name, AtFlags::empty())?;
                let temporary = self.name.take().unwrap_or_default();
                self.remove(&temporary, &|| false);
                Ok(())
            }
            renamed => {
                renamed?;
                self.name = None;
                Ok(())
            }
        }
    }

    /// Gives the draft a temporary name beside the file that it is to displace. The name is made
    /// for both files, as far as a sweep may recognise them.
    pub(super) fn name_beside(&mut self, old: &Old) -> rustix::io::Result<()> {
        let displaced = old.identity_for_sweeps()?;
        if self.name.is_some() {
            return self.rename_for(displaced);
        }
        let own = identity(&self.file)?;
        loop {
            let name = OsString::from(temporary::new_name(own, displaced));
            match self.link_at(&name) {
                Ok(()) => {
                    self.name = Some(name);
                    self.links_are_counted = !self.has_no_link();
                    return Ok(());
                }
                Err(Errno::EXIST) => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Makes the temporary name one for this file and the one it will displace.
    fn rename_for(&mut self, displaced: Identity) -> rustix::io::Result<()> {
        let name = OsString::from(temporary::new_name(identity(&self.file)?, displaced));
        if let Some(before) = &self.name {
            rename_exclusively(self.folder, before, &name)?;
        }
        self.name = Some(name);
        self.links_are_counted = !self.has_no_link();
        Ok(())
    }

    /// Takes the file away from its final name because of an error, and gives the error to answer with.
    pub(super) fn take_away(
        &mut self,
        name: &OsStr,
        content: &NewContent<'_>,
        error: PutError,
    ) -> PutError {
        const MAX_TRIES: u32 = 100;
        for _ in 0..MAX_TRIES {
            let found = match held::find(self.folder, self.id, &[name.to_owned()]) {
                Ok(Some(found)) => found,
                Ok(None) if self.has_no_link() => return error,
                _ => break,
            };
            let temporary = OsString::from(temporary::new_name(self.identity(), Identity::UNKNOWN));
            if rename_exclusively(self.folder, &found, &temporary).is_err() {
                continue;
            }
            match held::id_at(self.folder, &temporary) {
                Ok(id) if id == self.id => return self.remove_taken(&temporary, content, error),
                // Another program has put a file of its own there, which goes back.
                _ if rename_exclusively(self.folder, &temporary, &found).is_ok() => {}
                _ => return error.with(Stray::Displaced(temporary)),
            }
        }
        match error {
            PutError::System(error) => Flaw::Unsynced(error).into(),
            PutError::Cancelled => error.with(Stray::Standing),
            _ => Flaw::Moved.into(),
        }
    }

    /// Removes the file, which has been taken back to a temporary name because of an error, and gives the
    /// error to answer with. The file is kept if another program has it open or has written to it.
    pub(super) fn remove_taken(
        &mut self,
        temporary: &OsStr,
        content: &NewContent<'_>,
        error: PutError,
    ) -> PutError {
        self.name = None;
        match self.users(content) {
            Some(lease) => match self.remove(temporary, &|| lease.are_present()) {
                Removal::Stayed => error.with(Stray::Used(keep(self.folder, temporary))),
                // If the system refuses, a later sweep removes it.
                Removal::Removed | Removal::Another | Removal::Refused(_) => error,
                Removal::Displaced(name) => error.with(Stray::Displaced(name)),
            },
            None => error.with(Stray::Used(keep(self.folder, temporary))),
        }
    }

    /// A lease on the file, if no other program uses it as far as is known; `None` if one does. As long as
    /// the lease lives, no other program can open the file unnoticed.
    ///
    /// A program that only reads the file is soon done with it, so this waits a moment.
    pub(super) fn users(&self, content: &NewContent<'_>) -> Option<Writers<'_>> {
        const MAX_WAIT: Duration = Duration::from_millis(100);
        let begun = Instant::now();
        let lease = loop {
            let users = Writers::and_readers_of(&self.file);
            if !users.are_present() {
                break users;
            }
            if begun.elapsed() > MAX_WAIT {
                return None;
            }
            std::thread::sleep(Duration::from_micros(200));
        };
        // If another program has linked it to a name of its own, the content is kept at that name.
        let is_linked = fstat(&self.file).is_ok_and(|stat| stat.st_nlink > 1);
        let is_unused = is_linked || self.holds_only(content.bytes) && !lease.are_present();
        is_unused.then_some(lease)
    }

    /// Whether another program has written to the file, which was visible.
    pub(super) fn is_used_by_others(&self, content: &NewContent<'_>) -> bool {
        let size = self.file.metadata().map(|metadata| metadata.len()).ok();
        size != Some(content.bytes.len() as u64) || !self.holds_only(content.bytes)
    }

    /// Whether the file holds just these bytes, or the first of them.
    fn holds_only(&self, bytes: &[u8]) -> bool {
        const STEP: usize = 64 << 10;
        let Ok(length) = self.file.metadata().map(|metadata| metadata.len()) else { return false };
        let Some(bytes) = usize::try_from(length).ok().and_then(|length| bytes.get(..length))
        else {
            return false;
        };
        let mut buffer = vec![0; bytes.len().min(STEP)];
        bytes.chunks(STEP).zip((0..).step_by(STEP)).all(|(chunk, offset)| {
            let read = &mut buffer[..chunk.len()];
            self.file.read_exact_at(read, offset).is_ok() && read == chunk
        })
    }

    /// Whether the file, which had a temporary name, certainly has no name any more.
    pub(super) fn is_gone(&self) -> bool {
        self.links_are_counted && self.has_no_link()
    }

    /// Whether the system says that the file has no name. Some file systems say so of every file.
    fn has_no_link(&self) -> bool {
        fstat(&self.file).is_ok_and(|stat| stat.st_nlink == 0)
    }

    fn identity(&self) -> Identity {
        identity(&self.file).unwrap_or(Identity::UNKNOWN)
    }

    fn remove(&self, temporary: &OsStr, must_stay: &dyn Fn() -> bool) -> Removal {
        let fresh = temporary::new_name(self.identity(), Identity::UNKNOWN);
        remove(self.folder, temporary, self.id, fresh.into(), must_stay)
    }
}

/// Keeps the file at a temporary name: renames it to a name that no sweep removes, because it is made for
/// another file. Gives the name at which the file stands then.
///
/// If the system refuses the rename, the file gets that name as a second one. A sweep then removes only
/// the first.
pub(in crate::sandbox) fn keep(folder: &Directory, temporary: &OsStr) -> OsString {
    let name = OsString::from(temporary::name_to_keep());
    let kept = rename_exclusively(folder, temporary, &name)
        .or_else(|_| linkat(folder, temporary, folder, &name, AtFlags::empty()));
    if kept.is_ok() { name } else { temporary.to_owned() }
}

impl Drop for Draft<'_> {
    fn drop(&mut self) {
        // If the system refuses, a later sweep removes the file.
        if let Some(name) = self.name.take() {
            self.remove(&name, &|| false);
        }
    }
}
