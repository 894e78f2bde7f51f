//! A file, link or folder that is recognised by its device and inode number. It is removed from a
//! name only if it still stands there.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{
    AtFlags, Dir, FileType, Mode, OFlags, RenameFlags, Stat, fstat, linkat, mkdirat, openat,
    renameat, renameat_with, statat, unlinkat,
};
use rustix::io::Errno;

use super::super::native;
use super::error::is_refused;
use super::handle::{Directory, kind_of, retry_interrupted};
use crate::sandbox::entry::EntryKind;
use crate::sandbox::temporary::{self, Identity};

/// The device and the inode number of a file, link or folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EntryId(i128, u64);

impl EntryId {
    fn of(stat: &Stat) -> Self {
        Self(stat.st_dev.into(), stat.st_ino)
    }
}

/// A file, link or folder. As long as it is held open no other gets its number.
#[derive(Debug)]
pub(crate) struct Held {
    pub(crate) id: EntryId,
    kind: FileType,
    /// `None` if the caller keeps the file open.
    kept_open: Option<OwnedFd>,
}

impl Held {
    /// A file that is open already; the caller keeps it open.
    pub(crate) fn of(file: &impl AsFd) -> rustix::io::Result<Self> {
        let stat = fstat(file)?;
        let kind = FileType::from_raw_mode(stat.st_mode);
        Ok(Self { id: EntryId::of(&stat), kind, kept_open: None })
    }

    /// Opens the entry at a name, to hold it. Links are not followed.
    pub(crate) fn at(folder: &Directory, name: &OsStr) -> rustix::io::Result<Self> {
        let flags = native::HOLD | OFlags::CLOEXEC;
        let held = retry_interrupted(|| openat(folder, name, flags, Mode::empty()))?;
        let Self { id, kind, .. } = Self::of(&held)?;
        Ok(Self { id, kind, kept_open: Some(held) })
    }

    /// Whether it is a file, a folder, a link or something else.
    pub(crate) fn kind(&self) -> EntryKind {
        kind_of(self.kind)
    }

    /// Whether both are the same entry.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.id == other.id
    }

    /// Whether it stands at a name.
    pub(crate) fn is_at(&self, folder: &Directory, name: &OsStr) -> rustix::io::Result<bool> {
        Ok(id_at(folder, name)? == self.id)
    }

    /// Its identity among all entries of its file system, past ones included.
    pub(crate) fn identity(&self) -> Option<Identity> {
        let held = self.kept_open.as_ref()?.try_clone().ok()?;
        identity(&File::from(held)).ok()
    }

    /// A new temporary name, at which a sweep recognises it.
    fn fresh_name(&self) -> OsString {
        let identity = self.identity().unwrap_or(Identity::UNKNOWN);
        temporary::new_name(identity, Identity::UNKNOWN).into()
    }

    /// Whether an open folder is this entry.
    pub(crate) fn is_folder(&self, folder: &Directory) -> bool {
        fstat(folder).is_ok_and(|stat| EntryId::of(&stat) == self.id)
    }

    /// The time since it was last changed or renamed.
    pub(crate) fn age(&self) -> Option<Duration> {
        let changed = fstat(self.kept_open.as_ref()?).ok()?.st_ctime;
        let changed = UNIX_EPOCH + Duration::from_secs(u64::try_from(changed).ok()?);
        SystemTime::now().duration_since(changed).ok()
    }

    /// Whether it has no name any more.
    pub(crate) fn is_gone(&self) -> bool {
        let held = self.kept_open.as_ref();
        held.is_some_and(|held| fstat(held).is_ok_and(|stat| stat.st_nlink == 0))
    }

    pub(crate) fn is_file(&self) -> bool {
        self.kind == FileType::RegularFile
    }

    /// Whether it is a regular file, and the one of that name.
    pub(crate) fn is_file_at(&self, folder: &Directory, name: &OsStr) -> rustix::io::Result<bool> {
        Ok(self.is_file() && self.is_at(folder, name)?)
    }
}

/// The identity of an open file, folder or link.
pub(crate) fn identity(file: &File) -> rustix::io::Result<Identity> {
    let metadata = file.metadata();
    let metadata = metadata.map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
    let born = metadata.created().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    Ok(Identity { inode: metadata.ino(), born: born.map_or(0, |born| born.as_nanos()) })
}

pub(crate) fn id_at(folder: &Directory, name: &OsStr) -> rustix::io::Result<EntryId> {
    statat(folder, name, AtFlags::SYMLINK_NOFOLLOW).map(|stat| EntryId::of(&stat))
}

/// How often a call is tried that must not fail for a temporary reason.
const MAX_TRIES: u32 = 3;

fn retry_failures<T>(call: impl Fn() -> rustix::io::Result<T>) -> rustix::io::Result<T> {
    let mut answer = call();
    for _ in 1..MAX_TRIES {
        match answer {
            Ok(_) | Err(Errno::NOENT | Errno::EXIST) => break,
            Err(_) => answer = call(),
        }
    }
    answer
}

/// The result of removing a file from a name.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Removal {
    Removed,
    /// The file no longer stood there. If another file did, it stands there again.
    Another,
    /// A file could not be put back, and now stands at this name. It is another file, or the right one after
    /// `must_stay` or the system has refused its removal.
    Displaced(OsString),
    /// `must_stay` answered yes, so the file stands at its old name again.
    Stayed,
    /// The system refused. The file stands at its old name.
    Refused(Errno),
}

/// Removes a file from a name, and no other.
///
/// The file is first renamed to `fresh`, a new random name. No other program knows that name, so the
/// file that stands there still is the same when it is unlinked. `must_stay` is asked last of all.
pub(crate) fn remove(
    folder: &Directory,
    name: &OsStr,
    id: EntryId,
    fresh: OsString,
    must_stay: &dyn Fn() -> bool,
) -> Removal {
    match retry_failures(|| rename_exclusively(folder, name, &fresh)) {
        Ok(()) => {}
        Err(Errno::NOENT) => return Removal::Another,
        Err(error) => return Removal::Refused(error),
    }
    match retry_failures(|| id_at(folder, &fresh)) {
        Ok(found) if found == id => {}
        Err(Errno::NOENT) => return Removal::Another,
        _ => {
            let is_back = put_back(folder, &fresh, name);
            return if is_back { Removal::Another } else { Removal::Displaced(fresh) };
        }
    }
    let refusal = if must_stay() {
        Removal::Stayed
    } else {
        match retry_failures(|| unlinkat(folder, &fresh, AtFlags::empty())) {
            Ok(()) | Err(Errno::NOENT) => return Removal::Removed,
            Err(error) => Removal::Refused(error),
        }
    };
    if put_back(folder, &fresh, name) { refusal } else { Removal::Displaced(fresh) }
}

/// Gives a file or link its name again, if nothing stands there. Says whether it has it.
fn put_back(folder: &Directory, fresh: &OsStr, name: &OsStr) -> bool {
    match retry_failures(|| rename_exclusively(folder, fresh, name)) {
        Err(error) if is_refused(error) => {
            rename_over_placeholder((folder, fresh), (folder, name), false).is_ok()
        }
        renamed => renamed.is_ok(),
    }
}

/// Renames an entry where the system has no rename that replaces nothing.
///
/// A file or link gets the new name as a second one, which fails if the name is taken, and then loses the old
/// one. If the process is killed in between, it has both.
pub(crate) fn rename_in_two_steps(
    entry: &Held,
    from: (&Directory, &OsStr),
    to: (&Directory, &OsStr),
) -> rustix::io::Result<()> {
    if to.1.to_str().is_some_and(temporary::looks_like_one) {
        // Nothing stands at a new random name.
        return renameat(from.0, from.1, to.0, to.1);
    }
    if !link(entry, from, to)? {
        return rename_over_placeholder(from, to, entry.kind() == EntryKind::Folder);
    }
    let error = match remove(from.0, from.1, entry.id, entry.fresh_name(), &|| false) {
        Removal::Removed => return Ok(()),
        Removal::Refused(error) => error,
        // Another program has taken the old name from it.
        _ => Errno::NOENT,
    };
    remove(to.0, to.1, entry.id, entry.fresh_name(), &|| false);
    Err(error)
}

/// Gives an entry a second name, if nothing stands there. Says whether it has it: folders have no second names,
/// and on some file systems no file has, or a file is another one at each of its names.
fn link(
    entry: &Held,
    (from, name): (&Directory, &OsStr),
    (to, new_name): (&Directory, &OsStr),
) -> rustix::io::Result<bool> {
    match linkat(from, name, to, new_name, AtFlags::empty()) {
        Ok(()) => {}
        Err(error) if is_refused(error) || error == Errno::MLINK => return Ok(false),
        Err(error) => return Err(error),
    }
    let linked = id_at(to, new_name)?;
    if linked != entry.id {
        remove(to, new_name, linked, entry.fresh_name(), &|| false);
    }
    Ok(linked == entry.id)
}

/// Renames an entry to which no second name can be given. First an empty file or folder is made at the new name,
/// which fails if the name is taken. Then the rename replaces it. If another program puts a file or an empty
/// folder there in between, that entry is replaced. If the process is killed in between, the empty file or
/// folder stays.
pub(crate) fn rename_over_placeholder(
    (from, name): (&Directory, &OsStr),
    (to, new_name): (&Directory, &OsStr),
    is_folder: bool,
) -> rustix::io::Result<()> {
    if is_folder {
        mkdirat(to, new_name, Mode::RWXU)?;
    } else {
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        retry_interrupted(|| openat(to, new_name, flags, Mode::RUSR | Mode::WUSR))?;
    }
    let made = id_at(to, new_name)?;
    let renamed = renameat(from, name, to, new_name);
    if renamed.is_err() && id_at(to, new_name) == Ok(made) {
        let flags = if is_folder { AtFlags::REMOVEDIR } else { AtFlags::empty() };
        let _ = unlinkat(to, new_name, flags);
    }
    renamed
}

/// Renames a file, if nothing stands at the new name.
///
/// If this rename fails for another reason than a missing or a taken name, an ordinary rename is tried, but
/// only to a new random name, at which nothing stands.
pub(crate) fn rename_exclusively(
    folder: &Directory,
    from: &OsStr,
    to: &OsStr,
) -> rustix::io::Result<()> {
    let is_new = to.to_str().is_some_and(temporary::looks_like_one);
    match renameat_with(folder, from, folder, to, RenameFlags::NOREPLACE) {
        Err(error) if is_new && error != Errno::NOENT && error != Errno::EXIST => {
            renameat(folder, from, folder, to)
        }
        renamed => renamed,
    }
}

/// Finds a name of an entry in a folder. `guesses` are looked at first, then all names that are no temporary's.
/// `None` if the entry has no such name at the moment.
pub(crate) fn find(
    folder: &Directory,
    id: EntryId,
    guesses: &[OsString],
) -> rustix::io::Result<Option<OsString>> {
    for guess in guesses {
        match id_at(folder, guess) {
            Ok(found) if found == id => return Ok(Some(guess.clone())),
            Ok(_) | Err(Errno::NOENT) => {}
            Err(error) => return Err(error),
        }
    }
    for entry in Dir::read_from(folder)? {
        let entry = entry?;
        let name = OsStr::from_bytes(entry.file_name().to_bytes());
        let is_temporary = name.to_str().is_some_and(temporary::looks_like_one);
        if entry.ino() == id.1 && !is_temporary && id_at(folder, name) == Ok(id) {
            return Ok(Some(name.to_owned()));
        }
    }
    Ok(None)
}

/// Exchanges two names of a folder.
pub(crate) fn exchange_names(
    folder: &Directory,
    one: &OsStr,
    other: &OsStr,
) -> rustix::io::Result<()> {
    renameat_with(folder, one, folder, other, RenameFlags::EXCHANGE)
}
