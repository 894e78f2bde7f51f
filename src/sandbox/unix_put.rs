//! Putting bytes at a name beneath a folder's handle, on Linux and macOS.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Seek, Write};
use std::os::unix::fs::MetadataExt;
use std::time::{Duration, Instant, UNIX_EPOCH};

use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{
    Access, AtFlags, Dir, FileType, FlockOperation, Gid, Mode, OFlags, RenameFlags, Uid,
    XattrFlags, accessat, fchmod, fchown, fgetxattr, flistxattr, flock, fremovexattr, fsetxattr,
    fstat, linkat, mkdirat, openat, renameat, renameat_with, statat, unlinkat,
};
use rustix::io::Errno;

use super::temporary::{self, Identity};
use super::unix::{Directory, open_error, retry_interrupted};
use super::write::{NewContent, PutError, Standing};
use super::{OpenError, sweeps, system};
use crate::hash::sha256_of;

/// What looking at a file finds out: no more than that it is one. What is to be kept of it is asked
/// of the file that was opened and locked, which may be another by then.
pub(super) struct FileFacts;

/// What may be kept of a replaced file's mode. The set-user-ID and set-group-ID bits go, as they
/// do when a user writes to a file: new content has not earned them.
const KEPT_MODE: Mode = Mode::RWXU.union(Mode::RWXG).union(Mode::RWXO).union(Mode::SVTX);

/// Read and write for everyone, less the umask.
const NEW_FILE: Mode = Mode::from_raw_mode(0o666);
const NEW_FOLDER: Mode = Mode::from_raw_mode(0o777);
/// A temporary that has a name must not show what its target would hide.
const PRIVATE: Mode = Mode::from_raw_mode(0o600);

pub(super) fn look(folder: &Directory, name: &OsStr) -> Result<Standing, OpenError> {
    let stat = match statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => stat,
        Err(Errno::NOENT) => return Ok(Standing::Nothing),
        Err(error) => return Err(open_error(error)),
    };
    Ok(match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => Standing::File(FileFacts),
        FileType::Directory => Standing::Directory,
        FileType::Symlink => Standing::Link,
        _ => Standing::Special,
    })
}

/// Makes a folder; `false` if something of that name is there already.
pub(super) fn make_folder(parent: &Directory, name: &OsStr) -> io::Result<bool> {
    match mkdirat(parent, name, NEW_FOLDER) {
        Ok(()) => Ok(true),
        Err(Errno::EXIST) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Removes a folder if it is empty.
pub(super) fn remove_folder(parent: &Directory, name: &OsStr) -> io::Result<()> {
    Ok(unlinkat(parent, name, AtFlags::REMOVEDIR)?)
}

/// Lets a folder's entries reach the disk.
pub(super) fn sync_folder(folder: &Directory) -> io::Result<()> {
    match retry_interrupted(|| rustix::fs::fsync(folder)) {
        // File systems that have no such thing say so in one of these ways; EBADF means that the
        // folder may be written but not read, and could only be opened as a place to stand.
        Ok(()) | Err(Errno::INVAL | Errno::NOTSUP | Errno::BADF) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Puts a new file at a name where nothing stands.
pub(super) fn create(
    folder: &Directory,
    name: &OsStr,
    content: &NewContent<'_>,
    cancelled: &dyn Fn() -> bool,
) -> Result<(), PutError> {
    if let Some(mut draft) = Draft::unnamed(folder, NEW_FILE).map_err(put_error)? {
        draft.fill(content, cancelled)?;
        match draft.link_at(name) {
            // Without `/proc`, or on a file system without hard links.
            Err(Errno::OPNOTSUPP) => {}
            linked => {
                linked.map_err(put_error)?;
                return draft.make_certain(name, content);
            }
        }
    }
    create_named(folder, name, content, cancelled)
}

fn create_named(
    folder: &Directory,
    name: &OsStr,
    content: &NewContent<'_>,
    cancelled: &dyn Fn() -> bool,
) -> Result<(), PutError> {
    let mut draft = Draft::named(folder, NEW_FILE).map_err(put_error)?;
    draft.fill(content, cancelled)?;
    draft.rename_exclusively(name).map_err(put_error)?;
    draft.make_certain(name, content)
}

/// Puts other content in a file's place.
///
/// The new file and the old one exchange their names, so that nothing is gone before it is known
/// to be what it was taken for; if it is not, the names are exchanged back. Writers of this library
/// also lock the file that they replace: what one of them has compared stays true until it is done,
/// so that what is refused was never seen. Against other programs the exchange remains.
pub(super) fn replace(
    folder: &Directory,
    name: &OsStr,
    _facts: &FileFacts,
    content: &NewContent<'_>,
    cancelled: &dyn Fn() -> bool,
) -> Result<(), PutError> {
    accessat(folder, name, Access::WRITE_OK, AtFlags::EACCESS).map_err(put_error)?;
    sweep(folder);
    replace_from(|folder, mode| Draft::unnamed(folder, mode), folder, name, content, cancelled)
}

/// Begins a draft without a name, if that can be.
type Begin =
    for<'folder> fn(&'folder Directory, Mode) -> rustix::io::Result<Option<Draft<'folder>>>;

/// Replaces a file by what `begin` begins, or else by a draft that has a name.
fn replace_from(
    begin: Begin,
    folder: &Directory,
    name: &OsStr,
    content: &NewContent<'_>,
    cancelled: &dyn Fn() -> bool,
) -> Result<(), PutError> {
    let mut old = open_old(folder, name).map_err(put_error)?;
    lock(&old, cancelled);
    if !stands_at(folder, name, &old).map_err(put_error)? {
        return Err(PutError::Raced);
    }
    check_expected(&mut old, content)?;

    let prepare = |draft: &mut Draft<'_>| {
        draft.take_over(&old).map_err(put_error)?;
        draft.fill(content, cancelled)?;
        Ok(draft.name_beside(&old))
    };
    if let Some(mut draft) = begin(folder, PRIVATE).map_err(put_error)? {
        match prepare(&mut draft)? {
            // Without `/proc`, or on a file system without hard links.
            Err(Errno::OPNOTSUPP) => {}
            temporary => {
                return exchange(draft, &temporary.map_err(put_error)?, name, old, content);
            }
        }
    }
    let mut draft = Draft::named(folder, PRIVATE).map_err(put_error)?;
    let temporary = prepare(&mut draft)?.map_err(put_error)?;
    exchange(draft, &temporary, name, old, content)
}

fn exchange(
    mut draft: Draft<'_>,
    temporary: &OsStr,
    name: &OsStr,
    mut old: File,
    content: &NewContent<'_>,
) -> Result<(), PutError> {
    let folder = draft.folder;
    match renameat_with(folder, temporary, folder, name, RenameFlags::EXCHANGE) {
        Ok(()) => {}
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
            return rename_over(draft, temporary, name, old, content);
        }
        Err(Errno::NOENT) => return Err(PutError::Raced),
        Err(error) => return Err(put_error(error)),
    }
    let examined = examine(folder, temporary, &mut old, content);
    let verdict = examined.and_then(|()| sync_if_durable(folder, content));
    if verdict.is_err() && !draft.exchange_back(temporary, name) {
        // Better a stray file than a lost one.
        draft.leave(temporary);
    }
    verdict
}

/// Where a file system cannot exchange: what is replaced is looked at once more just before, and
/// a program that replaces it in that moment is not noticed.
fn rename_over(
    mut draft: Draft<'_>,
    temporary: &OsStr,
    name: &OsStr,
    mut old: File,
    content: &NewContent<'_>,
) -> Result<(), PutError> {
    let folder = draft.folder;
    examine(folder, name, &mut old, content)?;
    renameat(folder, temporary, folder, name).map_err(put_error)?;
    draft.name = None;
    sync_if_durable(folder, content)
}

fn sync_if_durable(folder: &Directory, content: &NewContent<'_>) -> Result<(), PutError> {
    if content.durable { sync_folder(folder).map_err(PutError::System) } else { Ok(()) }
}

/// Whether what stands at a name, or was displaced from it, is what is meant to be replaced.
fn examine(
    folder: &Directory,
    at: &OsStr,
    old: &mut File,
    content: &NewContent<'_>,
) -> Result<(), PutError> {
    if !matches!(look(folder, at), Ok(Standing::File(_))) {
        return Err(PutError::Raced);
    }
    if content.expected.is_some() {
        if !stands_at(folder, at, old).map_err(put_error)? {
            return Err(PutError::Changed);
        }
        // Somebody may have written into it after it was compared.
        check_expected(old, content)?;
    }
    Ok(())
}

fn open_old(folder: &Directory, name: &OsStr) -> rustix::io::Result<File> {
    let open = |access| {
        let flags = access | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        retry_interrupted(|| openat(folder, name, flags, Mode::empty())).map(File::from)
    };
    match open(OFlags::RDONLY) {
        // It may be written, if not read; that is enough to lock it.
        Err(Errno::ACCESS) => open(OFlags::WRONLY),
        opened => opened,
    }
}

fn check_expected(file: &mut File, content: &NewContent<'_>) -> Result<(), PutError> {
    let Some(expected) = content.expected else { return Ok(()) };
    let digest = file.rewind().and_then(|()| sha256_of(file)).map_err(PutError::System)?;
    if digest == expected { Ok(()) } else { Err(PutError::Changed) }
}

fn identity(file: &File) -> rustix::io::Result<Identity> {
    let metadata = file.metadata();
    let metadata = metadata.map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
    let born = metadata.created().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    Ok(Identity { inode: metadata.ino(), born: born.map_or(0, |born| born.as_nanos()) })
}

/// Whether an open file is a regular one, and the one of that name.
fn stands_at(folder: &Directory, name: &OsStr, file: &File) -> rustix::io::Result<bool> {
    let there = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
    let here = fstat(file)?;
    let is_regular = FileType::from_raw_mode(here.st_mode) == FileType::RegularFile;
    Ok(is_regular && (there.st_dev, there.st_ino) == (here.st_dev, here.st_ino))
}

fn inode_of(file: impl AsFd) -> rustix::io::Result<u64> {
    fstat(file).map(|stat| stat.st_ino)
}

fn inode_at(folder: &Directory, name: &OsStr) -> rustix::io::Result<u64> {
    statat(folder, name, AtFlags::SYMLINK_NOFOLLOW).map(|stat| stat.st_ino)
}

/// Waits until no other writer of this library is at work on the file.
///
/// Whoever holds the lock longer than any write takes is another program, or hangs, and is not
/// waited for: the exchange is safe without the lock, if not as discreet.
fn lock(file: &File, cancelled: &dyn Fn() -> bool) {
    const PATIENCE: Duration = Duration::from_secs(1);
    let begun = Instant::now();
    let mut pause = Duration::from_micros(50);
    while flock(file, FlockOperation::NonBlockingLockExclusive) == Err(Errno::WOULDBLOCK) {
        if begun.elapsed() > PATIENCE || cancelled() {
            return;
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(2));
    }
}

/// A new file on its way to its name. Dropped, it leaves nothing.
struct Draft<'folder> {
    folder: &'folder Directory,
    file: File,
    /// The temporary name, where it has one.
    name: Option<OsString>,
}

impl<'folder> Draft<'folder> {
    /// A file without any name, which vanishes with the process; `None` where the file system has
    /// none.
    fn unnamed(folder: &'folder Directory, mode: Mode) -> rustix::io::Result<Option<Self>> {
        match system::open_unnamed(folder, mode) {
            Ok(fd) => Ok(Some(Self::locked(folder, fd, None))),
            Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::INVAL) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// A file with a temporary name.
    fn named(folder: &'folder Directory, mode: Mode) -> rustix::io::Result<Self> {
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
    fn locked(folder: &'folder Directory, fd: OwnedFd, name: Option<OsString>) -> Self {
        let draft = Self { folder, file: File::from(fd), name };
        // File systems without locks have sweeps without locks, which touch nothing.
        let _ = flock(&draft.file, FlockOperation::NonBlockingLockExclusive);
        draft
    }

    /// Writes the content, and lets it reach the disk.
    fn fill(
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
    fn take_over(&self, old: &File) -> rustix::io::Result<()> {
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
    fn link_at(&self, name: &OsStr) -> rustix::io::Result<()> {
        system::link_unnamed(&self.file, self.folder, name)
    }

    /// Gives a named file its final name; nobody else's is replaced.
    fn rename_exclusively(&mut self, name: &OsStr) -> rustix::io::Result<()> {
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

    /// A temporary name beside the file that this one is to displace, made for both of them.
    fn name_beside(&mut self, old: &File) -> rustix::io::Result<OsString> {
        let displaced = identity(old)?;
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
    fn rename_for(&mut self, displaced: Identity) -> rustix::io::Result<OsString> {
        let name = OsString::from(temporary::new_name(identity(&self.file)?, displaced));
        if let Some(before) = &self.name {
            renameat(self.folder, before, self.folder, &name)?;
        }
        self.name = Some(name.clone());
        Ok(name)
    }

    /// After the new name showed: it must reach the disk, or go again.
    fn make_certain(&self, name: &OsStr, content: &NewContent<'_>) -> Result<(), PutError> {
        sync_if_durable(self.folder, content).inspect_err(|_| {
            if stands_at(self.folder, name, &self.file) == Ok(true) {
                let _ = unlinkat(self.folder, name, AtFlags::empty());
            }
        })
    }

    /// Undoes an exchange, so that the name has again what was displaced from it.
    ///
    /// If somebody has put another file over this one meanwhile, that one is the newest: it comes
    /// to light when the names are exchanged, and is put back in its turn. `false` if the system
    /// would not.
    fn exchange_back(&mut self, temporary: &OsStr, name: &OsStr) -> bool {
        const MAX_EXCHANGES: u32 = 1000;
        // What was last put at the name, which is this file at first.
        let mut shown = inode_of(&self.file);
        for _ in 0..MAX_EXCHANGES {
            let hidden = inode_at(self.folder, temporary);
            match renameat_with(self.folder, temporary, self.folder, name, RenameFlags::EXCHANGE) {
                Ok(()) if inode_at(self.folder, temporary) == shown => return true,
                Ok(()) => shown = hidden,
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

    /// Leaves what stands at the temporary name, under one that no sweep takes for a leftover.
    fn leave(&mut self, temporary: &OsStr) {
        let name = temporary::new_name(Identity::UNKNOWN, Identity::UNKNOWN);
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

fn attribute_names(file: &File) -> Vec<Vec<u8>> {
    let mut names = vec![0; MAX_ATTRIBUTE_BYTES];
    let length = flistxattr(file, &mut names[..]).unwrap_or(0);
    let names = names[..length].split(|&byte| byte == 0);
    names.filter(|name| !name.is_empty()).map(<[u8]>::to_vec).collect()
}

/// The reading of an error at a name that was looked at before.
fn put_error(error: Errno) -> PutError {
    match error {
        // Somebody was faster, or took the folder away, or put a link or a FIFO there.
        Errno::EXIST | Errno::NOENT | Errno::LOOP | Errno::NXIO => PutError::Raced,
        error => PutError::System(error.into()),
    }
}

/// Removes what killed processes have left in a folder: files whose temporary name was made for
/// them, and whose writer does not hold their lock any more.
pub(super) fn sweep(folder: &Directory) {
    let Ok(stat) = fstat(folder) else { return };
    sweeps::when_due((stat.st_dev.into(), stat.st_ino), || sweep_now(folder));
}

fn sweep_now(folder: &Directory) {
    let Ok(entries) = Dir::read_from(folder) else { return };
    for entry in entries.filter_map(Result::ok) {
        let Ok(name) = entry.file_name().to_str() else { continue };
        if temporary::looks_like_one(name) {
            sweep_one(folder, name);
        }
    }
}

fn sweep_one(folder: &Directory, name: &str) {
    let name = OsStr::new(name);
    if !matches!(look(folder, name), Ok(Standing::File(_))) {
        return;
    }
    let Ok(file) = open_old(folder, name) else { return };
    let (Ok(identity), Ok(metadata)) = (identity(&file), file.metadata()) else { return };
    let is_ours =
        name.to_str().is_some_and(|name| temporary::is_leftover(name, identity, metadata.len()));
    // A writer that lives holds the lock.
    if is_ours
        && flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok()
        && stands_at(folder, name, &file) == Ok(true)
    {
        let _ = unlinkat(folder, name, AtFlags::empty());
    }
}

#[cfg(test)]
mod tests;
