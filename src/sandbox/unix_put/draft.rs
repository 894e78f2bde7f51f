//! A new file on its way to its name.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Write;

use rustix::fd::OwnedFd;
use rustix::fs::{
    AtFlags, FlockOperation, Gid, Mode, OFlags, RenameFlags, Uid, XattrFlags, fchmod, fchown,
    fgetxattr, flistxattr, flock, fremovexattr, fsetxattr, fstat, linkat, openat, renameat,
    renameat_with, statat, unlinkat,
};
use rustix::io::Errno;

use super::old::{Old, identity, stands_at};
use super::settle;
use crate::sandbox::system;
use crate::sandbox::temporary::{self, Identity};
use crate::sandbox::unix::{Directory, retry_interrupted};
use crate::sandbox::write::{Caller, Flaw, NewContent, PutError};

/// What may be kept of a replaced file's mode. The set-user-ID and set-group-ID bits go, as they
/// do when a user writes to a file: new content has not earned them.
const KEPT_MODE: Mode = Mode::RWXU.union(Mode::RWXG).union(Mode::RWXO).union(Mode::SVTX);

/// A new file on its way to its name. Dropped, it leaves nothing.
pub(super) struct Draft<'folder> {
    pub(super) folder: &'folder Directory,
    pub(super) file: File,
    /// The temporary name, where it has one.
    pub(super) name: Option<OsString>,
}

impl<'folder> Draft<'folder> {
    /// A file without any name, which vanishes with the process; `None` where the file system has
    /// none.
    pub(super) fn unnamed(
        folder: &'folder Directory,
        mode: Mode,
    ) -> rustix::io::Result<Option<Self>> {
        match system::open_unnamed(folder, mode) {
            Ok(fd) => Ok(Some(Self::locked(folder, fd, None))),
            Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::INVAL) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// A file with a temporary name.
    pub(super) fn named(folder: &'folder Directory, mode: Mode) -> rustix::io::Result<Self> {
        let flags =
            OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        loop {
            let name = OsString::from(temporary::new_name(Identity::UNKNOWN, Identity::UNKNOWN));
            match retry_interrupted(|| openat(folder, &name, flags, mode)) {
                Ok(fd) => {
                    let mut draft = Self::locked(folder, fd, Some(name));
                    draft.rename_for(Identity::UNKNOWN)?;
                    return Ok(draft);
                }
                Err(Errno::EXIST) => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// The lock tells a sweep that the file's writer lives.
    pub(super) fn locked(folder: &'folder Directory, fd: OwnedFd, name: Option<OsString>) -> Self {
        let draft = Self { folder, file: File::from(fd), name };
        // File systems without locks have sweeps without locks, which touch nothing.
        let _ = flock(&draft.file, FlockOperation::NonBlockingLockExclusive);
        draft
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

    /// Takes over a file's owner and extended attributes, as far as the process may, and its
    /// permission bits.
    pub(super) fn take_over(&self, old: &File) -> rustix::io::Result<()> {
        let (own, old_stat) = (fstat(&self.file)?, fstat(old)?);
        let owner = (old_stat.st_uid, old_stat.st_gid);
        let (uid, gid) = (Uid::from_raw(owner.0), Gid::from_raw(owner.1));
        if (own.st_uid, own.st_gid) != owner && fchown(&self.file, Some(uid), Some(gid)).is_err() {
            // A user may not give files away, but may give them to another of his groups.
            let _ = fchown(&self.file, None, Some(gid));
        }
        copy_attributes(old, &self.file);
        fchmod(&self.file, Mode::from_raw_mode(old_stat.st_mode) & KEPT_MODE)
    }

    /// Gives an unnamed file its name; nobody else's is replaced.
    pub(super) fn link_at(&self, name: &OsStr) -> rustix::io::Result<()> {
        system::link_unnamed(&self.file, self.folder, name)
    }

    /// Gives a named file its final name; nobody else's is replaced.
    pub(super) fn rename_exclusively(&mut self, name: &OsStr) -> rustix::io::Result<()> {
        let Some(temporary) = &self.name else { return Err(Errno::NOENT) };
        match renameat_with(self.folder, temporary, self.folder, name, RenameFlags::NOREPLACE) {
            Ok(()) => {
                self.name = None;
                Ok(())
            }
            // A file system that cannot say no: a second link is exclusive too, and the first
            // goes with the draft.
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
                linkat(self.folder, temporary, self.folder, name, AtFlags::empty())
            }
            Err(error) => Err(error),
        }
    }

    /// A temporary name beside the file that this one is to displace, made for both of them as far as
    /// a sweep may know them.
    pub(super) fn name_beside(&mut self, old: &Old) -> rustix::io::Result<OsString> {
        let displaced = old.identity_for_sweeps()?;
        if self.name.is_some() {
            return self.rename_for(displaced);
        }
        let own = identity(&self.file)?;
        loop {
            let name = OsString::from(temporary::new_name(own, displaced));
            match self.link_at(&name) {
                Ok(()) => {
                    self.name = Some(name.clone());
                    return Ok(name);
                }
                Err(Errno::EXIST) => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Makes the temporary name one for this file and the one it will displace.
    pub(super) fn rename_for(&mut self, displaced: Identity) -> rustix::io::Result<OsString> {
        let name = OsString::from(temporary::new_name(identity(&self.file)?, displaced));
        if let Some(before) = &self.name {
            renameat(self.folder, before, self.folder, &name)?;
        }
        self.name = Some(name.clone());
        Ok(name)
    }

    /// After the new name showed: it must be where it was meant to be, and reach the disk, or go
    /// again.
    pub(super) fn make_certain(
        &self,
        name: &OsStr,
        content: &NewContent<'_>,
        caller: Caller<'_>,
    ) -> Result<(), PutError> {
        let Err(error) = settle(self.folder, content, caller) else { return Ok(()) };
        if self.take_away(name).is_ok() {
            return Err(error);
        }
        Err(match error {
            PutError::System(error) => Flaw::Unsynced(error).into(),
            _ => Flaw::Moved.into(),
        })
    }

    /// Takes the file away from its name, unless another has come to stand there.
    fn take_away(&self, name: &OsStr) -> rustix::io::Result<()> {
        match stands_at(self.folder, name, &self.file) {
            Ok(true) => unlinkat(self.folder, name, AtFlags::empty()),
            Ok(false) | Err(Errno::NOENT) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// The number of the file, which tells it from those that may take its place.
    pub(super) fn inode(&self) -> rustix::io::Result<u64> {
        fstat(&self.file).map(|stat| stat.st_ino)
    }

    /// Undoes an exchange of the file with this number, so that the name has again what was
    /// displaced from it.
    ///
    /// If somebody has put another file over this one meanwhile, that one is the newest: it comes
    /// to light when the names are exchanged, and is put back in its turn. `false` if the system
    /// would not, or does not say which file stands where: another exchange could undo this one.
    pub(super) fn exchange_back(&mut self, own: u64, temporary: &OsStr, name: &OsStr) -> bool {
        const MAX_EXCHANGES: u32 = 1000;
        // What was last put at the name, which is this file at first.
        let mut shown = own;
        for _ in 0..MAX_EXCHANGES {
            let hidden = inode_at(self.folder, temporary);
            match renameat_with(self.folder, temporary, self.folder, name, RenameFlags::EXCHANGE) {
                Ok(()) => match (inode_at(self.folder, temporary), hidden) {
                    (Ok(found), _) if found == shown => return true,
                    // Somebody has removed it from there, and with it whatever it was.
                    (Err(Errno::NOENT), _) => return true,
                    (Ok(_), Ok(hidden)) => shown = hidden,
                    _ => return false,
                },
                // Somebody has taken the file away, and the place is free.
                Err(Errno::NOENT) => {
                    let flags = RenameFlags::NOREPLACE;
                    if renameat_with(self.folder, temporary, self.folder, name, flags).is_ok() {
                        self.name = None;
                        return true;
                    }
                }
                Err(_) => return false,
            }
        }
        false
    }

    /// Leaves what stands at the temporary name, under one that no sweep takes for a leftover: made
    /// for a file that does not stand there.
    pub(super) fn leave(&mut self, temporary: &OsStr) {
        let own = identity(&self.file).unwrap_or(Identity { inode: u64::MAX, born: 0 });
        let name = temporary::new_name(own, Identity::UNKNOWN);
        let flags = RenameFlags::NOREPLACE;
        let _ = renameat_with(self.folder, temporary, self.folder, name, flags);
        self.name = None;
    }
}

impl Drop for Draft<'_> {
    fn drop(&mut self) {
        const TRIES: u32 = 3;
        let Some(name) = &self.name else { return };
        // If the system will not let go of it, a later sweep does.
        for _ in 0..TRIES {
            if matches!(unlinkat(self.folder, name, AtFlags::empty()), Ok(()) | Err(Errno::NOENT)) {
                return;
            }
        }
    }
}

/// Makes the extended attributes of one file those of another, as far as that can be done.
///
/// What the file has and the other has not goes: a folder's default access list would let people
/// in whom the old file kept out. File capabilities stay behind, since like the set-user-ID bit
/// they were given to the old content, and so do signatures of it.
fn copy_attributes(from: &File, to: &File) {
    const OF_THE_CONTENT: [&[u8]; 3] = [b"security.capability", b"security.ima", b"security.evm"];
    let wanted = attribute_names(from);
    for name in attribute_names(to) {
        if !wanted.contains(&name) {
            let _ = fremovexattr(to, &name[..]);
        }
    }
    let mut value = vec![0; MAX_ATTRIBUTE_BYTES];
    for name in wanted.iter().filter(|name| !OF_THE_CONTENT.contains(&&name[..])) {
        if let Ok(length) = fgetxattr(from, &name[..], &mut value[..]) {
            let _ = fsetxattr(to, &name[..], &value[..length], XattrFlags::empty());
        }
    }
}

/// What Linux allows for the names, and for a value, of a file's attributes.
const MAX_ATTRIBUTE_BYTES: usize = 64 << 10;

pub(super) fn attribute_names(file: &File) -> Vec<Vec<u8>> {
    let mut names = vec![0; MAX_ATTRIBUTE_BYTES];
    let length = flistxattr(file, &mut names[..]).unwrap_or(0);
    let names = names[..length].split(|&byte| byte == 0);
    names.filter(|name| !name.is_empty()).map(<[u8]>::to_vec).collect()
}

fn inode_at(folder: &Directory, name: &OsStr) -> rustix::io::Result<u64> {
    statat(folder, name, AtFlags::SYMLINK_NOFOLLOW).map(|stat| stat.st_ino)
}
