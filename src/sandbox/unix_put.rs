//! Putting bytes at a name beneath a folder's handle, on Linux and macOS.

use std::ffi::OsStr;
use std::io;

use rustix::fs::{
    Access, AtFlags, FileType, Mode, RenameFlags, accessat, fstat, mkdirat, renameat,
    renameat_with, statat, unlinkat,
};
use rustix::io::Errno;

use super::system::Writers;
use super::unix::{Directory, open_error, retry_interrupted};
use super::write::{Caller, Flaw, FolderId, NewContent, PutError, Standing, WriteError};
use super::{OpenError, system};

mod draft;
mod old;
mod sweep;

use draft::Draft;
use old::{Old, stands_at};
pub(super) use sweep::sweep;

/// What looking at a file finds out: no more than that it is one. What is to be kept of it is asked
/// of the file that was opened and locked, which may be another by then.
pub(super) struct FileFacts;

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

/// Makes a folder; `None` if something of that name is there already.
pub(super) fn make_folder(parent: &Directory, name: &OsStr) -> io::Result<Option<FolderId>> {
    match mkdirat(parent, name, NEW_FOLDER) {
        Ok(()) => match id_at(parent, name) {
            Ok(id) => Ok(Some(id)),
            // What cannot be looked at could not be taken back later.
            Err(error) => {
                let _ = unlinkat(parent, name, AtFlags::REMOVEDIR);
                Err(error.into())
            }
        },
        Err(Errno::EXIST) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Removes a folder if it is that one, and empty.
pub(super) fn remove_folder(parent: &Directory, name: &OsStr, id: FolderId) -> io::Result<()> {
    if id_at(parent, name)? != id {
        return Err(io::ErrorKind::NotFound.into());
    }
    Ok(unlinkat(parent, name, AtFlags::REMOVEDIR)?)
}

pub(super) fn folder_id(folder: &Directory) -> io::Result<FolderId> {
    let stat = fstat(folder)?;
    Ok((stat.st_dev.into(), stat.st_ino))
}

fn id_at(parent: &Directory, name: &OsStr) -> rustix::io::Result<FolderId> {
    let stat = statat(parent, name, AtFlags::SYMLINK_NOFOLLOW)?;
    Ok((stat.st_dev.into(), stat.st_ino))
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
    caller: Caller<'_>,
) -> Result<(), PutError> {
    if let Some(mut draft) = Draft::unnamed(folder, NEW_FILE).map_err(put_error)? {
        draft.fill(content, caller.cancelled)?;
        match draft.link_at(name) {
            // Without `/proc`, or on a file system without hard links.
            Err(Errno::OPNOTSUPP) => {}
            linked => {
                linked.map_err(put_error)?;
                return draft.make_certain(name, content, caller);
            }
        }
    }
    create_named(folder, name, content, caller)
}

fn create_named(
    folder: &Directory,
    name: &OsStr,
    content: &NewContent<'_>,
    caller: Caller<'_>,
) -> Result<(), PutError> {
    refuse_append_only(folder)?;
    let mut draft = Draft::named(folder, NEW_FILE).map_err(put_error)?;
    draft.fill(content, caller.cancelled)?;
    draft.rename_exclusively(name).map_err(put_error)?;
    draft.make_certain(name, content, caller)
}

/// Puts other content in a file's place.
///
/// The new file and the old one exchange their names, so that nothing is gone before it is known
/// to be what it was taken for; if it is not, the names are exchanged back. Writers of this library
/// also lock the file that they replace: what one of them has compared stays true until it is done,
/// so that what is refused was never seen. Against other programs the exchange remains; and where
/// the system tells who has the file open for writing, it is not replaced under that program's hands.
pub(super) fn replace(
    folder: &Directory,
    name: &OsStr,
    _facts: &FileFacts,
    content: &NewContent<'_>,
    caller: Caller<'_>,
) -> Result<(), PutError> {
    accessat(folder, name, Access::WRITE_OK, AtFlags::EACCESS).map_err(put_error)?;
    refuse_append_only(folder)?;
    sweep(folder);
    replace_from(|folder, mode| Draft::unnamed(folder, mode), folder, name, content, caller)
}

/// A temporary name would be there to stay.
fn refuse_append_only(folder: &Directory) -> Result<(), PutError> {
    if system::is_append_only(folder) {
        return Err(PutError::Refused(WriteError::AppendOnly));
    }
    Ok(())
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
    caller: Caller<'_>,
) -> Result<(), PutError> {
    let old = Old::take(folder, name, content, caller.cancelled)?;
    if !stands_at(folder, name, &old.file).map_err(put_error)? {
        return Err(PutError::Raced);
    }
    old.check_expected(content)?;

    let prepare = |draft: &mut Draft<'_>| {
        draft.take_over(&old.file).map_err(put_error)?;
        draft.fill(content, caller.cancelled)?;
        Ok::<_, PutError>(draft.name_beside(&old))
    };
    if let Some(mut draft) = begin(folder, PRIVATE).map_err(put_error)? {
        match prepare(&mut draft)? {
            // Without `/proc`, or on a file system without hard links.
            Err(Errno::OPNOTSUPP) => {}
            temporary => {
                return exchange(
                    draft,
                    &temporary.map_err(put_error)?,
                    name,
                    &old,
                    content,
                    caller,
                );
            }
        }
    }
    let mut draft = Draft::named(folder, PRIVATE).map_err(put_error)?;
    let temporary = prepare(&mut draft)?.map_err(put_error)?;
    exchange(draft, &temporary, name, &old, content, caller)
}

fn exchange(
    mut draft: Draft<'_>,
    temporary: &OsStr,
    name: &OsStr,
    old: &Old,
    content: &NewContent<'_>,
    caller: Caller<'_>,
) -> Result<(), PutError> {
    let folder = draft.folder;
    let own = draft.inode().map_err(put_error)?;
    match renameat_with(folder, temporary, folder, name, RenameFlags::EXCHANGE) {
        Ok(()) => {}
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
            return rename_over(draft, temporary, name, old, content, caller);
        }
        Err(Errno::NOENT) => return Err(PutError::Raced),
        Err(error) => return Err(put_error(error)),
    }
    let examined = match look(folder, temporary) {
        // Somebody has removed it, and where nothing was expected of it nothing has to be put back.
        Ok(Standing::Nothing) if content.expected.is_none() => Ok(None),
        Ok(Standing::File(_)) => examine(folder, temporary, old, content),
        _ => Err(PutError::Raced),
    };
    let Err(error) = examined.and_then(|_writers| settle(folder, content, caller)) else {
        return Ok(());
    };
    if draft.exchange_back(own, temporary, name) {
        return Err(error);
    }
    // Better a stray file than a lost one.
    draft.leave(temporary);
    Err(Flaw::NotPutBack.into())
}

/// Where a file system cannot exchange: what is replaced is looked at once more just before, and
/// a program that replaces it in that moment is not noticed.
fn rename_over(
    mut draft: Draft<'_>,
    temporary: &OsStr,
    name: &OsStr,
    old: &Old,
    content: &NewContent<'_>,
    caller: Caller<'_>,
) -> Result<(), PutError> {
    let folder = draft.folder;
    if !matches!(look(folder, name), Ok(Standing::File(_))) {
        return Err(PutError::Raced);
    }
    let _writers = examine(folder, name, old, content)?;
    check_place(folder, caller)?;
    renameat(folder, temporary, folder, name).map_err(put_error)?;
    draft.name = None;
    sync_if_durable(folder, content).map_err(|error| Flaw::Unsynced(error).into())
}

/// After a name has come to mean the new file: it must be where it was meant to be, and last.
fn settle(
    folder: &Directory,
    content: &NewContent<'_>,
    caller: Caller<'_>,
) -> Result<(), PutError> {
    check_place(folder, caller)?;
    sync_if_durable(folder, content).map_err(PutError::System)
}

fn check_place(folder: &Directory, caller: Caller<'_>) -> Result<(), PutError> {
    if (caller.leads_to)(folder) { Ok(()) } else { Err(PutError::Raced) }
}

fn sync_if_durable(folder: &Directory, content: &NewContent<'_>) -> io::Result<()> {
    if content.durable { sync_folder(folder) } else { Ok(()) }
}

/// Whether the file that stands at a name, or was displaced from it, is what is meant to be
/// replaced. If that is a certain content, nobody else comes to write to it until what this gives is
/// dropped.
fn examine<'old>(
    folder: &Directory,
    at: &OsStr,
    old: &'old Old,
    content: &NewContent<'_>,
) -> Result<Option<Writers<'old>>, PutError> {
    if content.expected.is_none() {
        return Ok(None);
    }
    if !stands_at(folder, at, &old.file).map_err(put_error)? {
        return Err(PutError::Changed);
    }
    old.check_displaced(content).map(Some)
}

/// The reading of an error at a name that was looked at before.
fn put_error(error: Errno) -> PutError {
    match error {
        // Somebody was faster, or took the folder away, or put a link or a FIFO there.
        Errno::EXIST | Errno::NOENT | Errno::LOOP | Errno::NXIO => PutError::Raced,
        // Only `O_NONBLOCK` says so, and only for the sake of a lease.
        Errno::AGAIN => PutError::Refused(WriteError::Way(OpenError::Leased)),
        error => PutError::System(error.into()),
    }
}

#[cfg(test)]
mod tests;
