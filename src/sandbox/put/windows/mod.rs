//! Putting bytes at a name beneath a folder's handle, on Windows.
//!
//! The new file, called the draft, is written under a temporary name and then renamed. While it is
//! written it is marked for deletion, so that the system removes it if the process ends. The mark is
//! taken away when the draft is complete. So a killed process can leave at most a complete file under a
//! temporary name, which a sweep recognises.
//!
//! Windows cannot exchange two names, so the file that a rename replaces is gone before it can be
//! examined again. Three things keep the comparison true until the rename:
//!
//! - Writers of this library take turns. Each holds open a file that only one process can have open. Its
//!   name is made for the file that is to be replaced, and it is gone when its process ends. So writers
//!   of this library, in however many processes, lose no update and never show refused content.
//! - The file is opened for comparing in a way that keeps other programs from writing to it. Where
//!   files can be replaced while they are open (NTFS since Windows 10), it stays open until it is
//!   replaced. Elsewhere (FAT, some network drives) it has to be closed just before; bytes that
//!   another program writes in that moment are lost.
//! - If another program itself renames a file to that name between comparing and replacing, some
//!   microseconds, its file is replaced. This is not noticed.
//!
//! A replacement cannot be undone either. If the folder cannot be synced, the error says that the file is
//! replaced all the same. Only if the caller wants to confirm the replacement, the old bytes are kept in
//! memory, and where needed they replace the new ones in the same way. A file that was created can be
//! removed by its handle; as long as that is open, no folder around the file can be renamed.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::os::windows::io::OwnedHandle;
use std::time::Duration;

use windows_sys::Wdk::Storage::FileSystem::{
    FILE_CREATE, FILE_NON_DIRECTORY_FILE, FILE_OPEN, FILE_OPEN_IF, FILE_OPEN_REPARSE_POINT,
    FILE_WRITE_THROUGH,
};
use windows_sys::Win32::Foundation::{ERROR_ACCESS_DENIED, ERROR_SHARING_VIOLATION};
use windows_sys::Win32::Storage::FileSystem::{
    BY_HANDLE_FILE_INFORMATION, DELETE, FILE_ATTRIBUTE_ARCHIVE, FILE_ATTRIBUTE_HIDDEN,
    FILE_ATTRIBUTE_NORMAL, FILE_ATTRIBUTE_NOT_CONTENT_INDEXED, FILE_ATTRIBUTE_READONLY,
    FILE_ATTRIBUTE_REPARSE_POINT, FILE_ATTRIBUTE_SYSTEM, FILE_GENERIC_READ, FILE_GENERIC_WRITE,
    FILE_LIST_DIRECTORY, FILE_SHARE_DELETE, FILE_SHARE_READ, FILE_WRITE_DATA, READ_CONTROL,
    WRITE_DAC,
};

use super::content::{Created, Expected, NewContent, Replaced, Visibility, WriteChecks};
use super::error::{Flaw, PutError, Stray, WriteError};
use crate::hash::Sha256Digest;
use crate::sandbox::callbacks::Callbacks;
use crate::sandbox::entry::EntryKind;
use crate::sandbox::error::OpenError;
use crate::sandbox::file::FileFacts;
use crate::sandbox::sweeps;
use crate::sandbox::system::windows::change::check_may_change;
use crate::sandbox::system::windows::error::{is, is_busy, is_going};
use crate::sandbox::system::windows::folder::{both_halves, created, identity};
use crate::sandbox::system::windows::handle::ENTER;
use crate::sandbox::system::windows::open::wide;
use crate::sandbox::system::windows::sys::{
    self, AccessList, Opening, Reparse, Replacing, SHARE_ALL,
};
use crate::sandbox::system::windows::wait::{MAX_WAIT_FOR_OTHERS, Pauses, retry_while};
use crate::sandbox::system::{Directory, Held, folder_id, kind_at, sync_folder};
use crate::sandbox::temporary::{self, Identity};

/// The facts of the file that is to be replaced.
struct Looked {
    attributes: u32,
    created: i64,
    identity: Identity,
}

impl Looked {
    /// Looks at a file by its name.
    fn at(folder: &Directory, name: &OsStr) -> Result<Self, PutError> {
        match kind_at(folder, name) {
            Ok(Some(EntryKind::File)) => {}
            // It was a file a moment ago.
            Ok(_) => return Err(PutError::Raced),
            Err(error) => return Err(PutError::Refused(WriteError::Open(error))),
        }
        let opened = sys::open_beneath(&folder.0, &wide(name), ENTER, Reparse::OpenItself);
        let handle = opened.map_err(put_error)?;
        let information = sys::information(&handle).map_err(PutError::System)?;
        Ok(Self {
            attributes: information.dwFileAttributes,
            created: created(&information),
            identity: identity(&information),
        })
    }
}

/// The attributes that a new file takes over. Compression and encryption are the folder's matter.
const KEPT_ATTRIBUTES: u32 = FILE_ATTRIBUTE_HIDDEN
    | FILE_ATTRIBUTE_SYSTEM
    | FILE_ATTRIBUTE_ARCHIVE
    | FILE_ATTRIBUTE_NOT_CONTENT_INDEXED;

/// How long to wait for other writers of this library. None takes longer unless it hangs.
const MAX_WAIT_FOR_WRITERS: Duration = Duration::from_secs(5);

/// Puts a new file at a name where nothing stands.
pub(super) fn create(
    folder: &Directory,
    name: &OsStr,
    content: &NewContent<'_>,
    checks: WriteChecks<'_>,
) -> Result<Created, PutError> {
    let mut draft = Draft::new(folder, content)?;
    draft.name_for_itself()?;
    draft.fill(content, checks.callbacks.cancelled)?;
    retry_while(MAX_WAIT_FOR_OTHERS, is_busy, || draft.rename(name, Replacing::Nothing))
        .map_err(put_error)?;
    check_place(folder, checks)?;
    if content.durable {
        sync_folder(folder).map_err(PutError::System)?;
    }
    let after = draft.facts()?;
    match checks.confirm() {
        Ok(()) => {
            draft.keep();
            Ok(Created { after, visibility: Visibility::Atomic })
        }
        Err(error) => Err(draft.take_away(error)),
    }
}

/// Checks that a file may be replaced, as far as the system tells without a change.
pub(in crate::sandbox) fn check_replaceable(
    folder: &Directory,
    name: &OsStr,
) -> Result<(), PutError> {
    if Looked::at(folder, name)?.attributes & FILE_ATTRIBUTE_READONLY != 0 {
        return Err(PutError::System(io::ErrorKind::PermissionDenied.into()));
    }
    check_writable(folder, name)
}

/// Checks that entries may be made in a folder.
pub(in crate::sandbox) fn check_folder(folder: &Directory) -> Result<(), PutError> {
    check_may_change(folder).map_err(PutError::System)
}

/// Opens the file that is held as `entry`, if it has the expected bytes. As long as it is open, no other program can write to it.
pub(in crate::sandbox) fn compare(
    folder: &Directory,
    name: &OsStr,
    entry: &Held,
    expected: Sha256Digest,
    cancelled: &dyn Fn() -> bool,
) -> Result<File, PutError> {
    let looked = Looked::at(folder, name)?;
    if entry.inode() != looked.identity.inode {
        return Err(PutError::Raced);
    }
    let old = open_old(folder, name, &looked, true)?;
    Expected::Sha256(expected).check(&old, cancelled)?;
    Ok(old)
}

/// Reserves nothing: on Windows a move waits for no writer.
#[allow(clippy::unnecessary_wraps, reason = "on other systems it may fail")]
pub(in crate::sandbox) fn reserve(
    _folder: &Directory,
    _name: &OsStr,
    _entry: &Held,
    _cancelled: &dyn Fn() -> bool,
) -> Result<Option<File>, PutError> {
    Ok(None)
}

/// Replaces a file.
pub(super) fn replace(
    folder: &Directory,
    name: &OsStr,
    content: &NewContent<'_>,
    checks: WriteChecks<'_>,
) -> Result<Replaced, PutError> {
    replace_looked(folder, name, &Looked::at(folder, name)?, content, checks)
}

fn replace_looked(
    folder: &Directory,
    name: &OsStr,
    looked: &Looked,
    content: &NewContent<'_>,
    checks: WriteChecks<'_>,
) -> Result<Replaced, PutError> {
    if looked.attributes & FILE_ATTRIBUTE_READONLY != 0 {
        return Err(PutError::System(io::ErrorKind::PermissionDenied.into()));
    }
    sweep(folder);
    let lock = WriterLock::take(folder, looked)?;
    let must_last = checks.callbacks.confirm.is_none();
    let open_old = || {
        let old = open_old(folder, name, looked, content.expected.is_some() || !must_last)?;
        match content.expected {
            Some(expected) => expected.check(&old, checks.callbacks.cancelled).map(|()| old),
            None => Ok(old),
        }
    };
    let old = open_old()?;
    check_writable(folder, name)?;
    let mut draft = Draft::new(folder, content)?;
    draft.take_over(&old, looked);
    draft.name_for_itself()?;
    draft.fill(content, checks.callbacks.cancelled)?;
    check_place(folder, checks)?;
    let (before, after) = (FileFacts::of(&old).map_err(PutError::System)?, draft.facts()?);
    let old_bytes = if must_last { Cow::default() } else { bytes_of(&old, content.expected)? };
    draft.displace(name, old, &open_old)?;
    drop(lock);
    let synced = if content.durable { sync_folder(folder) } else { Ok(()) };
    match synced {
        Err(error) if must_last => Err(Flaw::Unsynced(error).into()),
        synced => synced
            .map_err(PutError::System)
            .and_then(|()| checks.confirm())
            .map(|()| Replaced { before, after })
            .map_err(|error| write_back(folder, name, content, &old_bytes, error)),
    }
}

/// The bytes of the old file, which has the expected ones.
fn bytes_of<'bytes>(
    old: &File,
    expected: Option<Expected<'bytes>>,
) -> Result<Cow<'bytes, [u8]>, PutError> {
    if let Some(Expected::Bytes(bytes)) = expected {
        return Ok(bytes.into());
    }
    let (mut old, mut bytes) = (old, Vec::new());
    old.rewind().and_then(|()| old.read_to_end(&mut bytes)).map_err(PutError::System)?;
    Ok(bytes.into())
}

/// Puts the old bytes in the place of the new ones because of an error, and gives the error to answer with.
/// What another program has written there meanwhile stays.
fn write_back(
    folder: &Directory,
    name: &OsStr,
    content: &NewContent<'_>,
    old: &[u8],
    error: PutError,
) -> PutError {
    let expected = Some(Expected::Bytes(content.bytes));
    let back = NewContent { bytes: old, expected, ..*content };
    let callbacks = Callbacks::without_confirm(&|| false);
    match replace(folder, name, &back, WriteChecks { callbacks, is_current: &|_| true }) {
        Ok(_) | Err(PutError::Refused(WriteError::Flawed(_))) => error,
        Err(_) => error.with(Stray::Standing),
    }
}

/// Whether the folder is still where it was found. While a file in it is open, as a draft is,
/// Windows moves neither the folder nor those around it; other file systems may.
fn check_place(folder: &Directory, checks: WriteChecks<'_>) -> Result<(), PutError> {
    if (checks.is_current)(folder) { Ok(()) } else { Err(PutError::Raced) }
}

/// One writer's lock to replace a file. As long as this value lives, no other writer of this library
/// replaces that file. The lock is a file of its own, which the system removes when it is closed.
struct WriterLock {
    _handle: OwnedHandle,
}

impl WriterLock {
    fn take(folder: &Directory, looked: &Looked) -> Result<Self, PutError> {
        let name = wide(OsStr::new(&temporary::writer_lock_name(looked.identity)));
        // A power failure may have left the file behind; then it is opened and used.
        let disposition = FILE_OPEN_IF;
        let options = FILE_NON_DIRECTORY_FILE | FILE_OPEN_REPARSE_POINT;
        let opening = Opening { access: DELETE | ENTER, share: 0, disposition, options };
        let handle =
            retry_while(MAX_WAIT_FOR_WRITERS, is_busy, || sys::open(&folder.0, &name, opening))
                .map_err(PutError::System)?;
        let information = sys::information(&handle).map_err(PutError::System)?;
        if size(&information) != 0 {
            // A file of another program; this library's is empty.
            return Err(PutError::System(io::ErrorKind::ResourceBusy.into()));
        }
        sys::mark_for_deletion(&handle, true).map_err(PutError::System)?;
        Ok(Self { _handle: handle })
    }
}

fn size(information: &BY_HANDLE_FILE_INFORMATION) -> u64 {
    both_halves(information.nFileSizeHigh, information.nFileSizeLow)
}

/// Opens the file that is to be replaced, if it is still the one that was looked at. If it is opened to be
/// read, no other program can write to it as long as it is open.
fn open_old(
    folder: &Directory,
    name: &OsStr,
    looked: &Looked,
    to_read: bool,
) -> Result<File, PutError> {
    let (access, share) = if to_read {
        (FILE_GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_DELETE)
    } else {
        (READ_CONTROL | ENTER, SHARE_ALL)
    };
    let options = FILE_NON_DIRECTORY_FILE | FILE_OPEN_REPARSE_POINT;
    let opening = Opening { access, share, disposition: FILE_OPEN, options };
    let open = || sys::open(&folder.0, &wide(name), opening);
    let old = retry_while(MAX_WAIT_FOR_OTHERS, is_busy, open).map_err(put_error)?;
    let information = sys::information(&old).map_err(PutError::System)?;
    if identity(&information) != looked.identity {
        return Err(PutError::Raced);
    }
    let old = if information.dwFileAttributes & FILE_ATTRIBUTE_REPARSE_POINT == 0 {
        old
    } else {
        // It has been looked at: no link, but the file system's own way to store a file.
        let opening = Opening { options: FILE_NON_DIRECTORY_FILE, ..opening };
        sys::open(&old, &[], opening).map_err(put_error)?
    };
    Ok(old.into())
}

/// Whether the process may write to the file. A rename does not check it.
fn check_writable(folder: &Directory, name: &OsStr) -> Result<(), PutError> {
    let access = FILE_WRITE_DATA;
    match sys::open_beneath(&folder.0, &wide(name), access, Reparse::OpenItself) {
        // Windows checks rights before sharing. This library's own handle may cause a sharing violation.
        Err(error) if !is(&error, &[ERROR_SHARING_VIOLATION]) => Err(put_error(error)),
        _ => Ok(()),
    }
}

/// A new file on its way to its name. Dropped, it leaves nothing.
struct Draft<'folder> {
    folder: &'folder Directory,
    file: File,
    is_kept: bool,
}

impl<'folder> Draft<'folder> {
    fn new(folder: &'folder Directory, content: &NewContent<'_>) -> Result<Self, PutError> {
        let through = if content.durable {
            // So that a rename has reached the disk when it returns, as it does with Win32's
            // `MOVEFILE_WRITE_THROUGH`.
            FILE_WRITE_THROUGH
        } else {
            0
        };
        let opening = Opening {
            access: FILE_GENERIC_WRITE | DELETE | ENTER,
            // A sweep opens the file for deletion. If that is refused, the writer lives.
            share: FILE_SHARE_READ,
            disposition: FILE_CREATE,
            options: FILE_NON_DIRECTORY_FILE | through,
        };
        loop {
            let name = temporary::new_name(Identity::UNKNOWN, Identity::UNKNOWN);
            match sys::open(&folder.0, &wide(OsStr::new(&name)), opening) {
                Ok(handle) => return Ok(Self { folder, file: handle.into(), is_kept: false }),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(put_error(error)),
            }
        }
    }

    /// Takes over a file's access list, time of creation and attributes, as far as the process may
    /// and the file system has them.
    fn take_over(&self, old: &File, looked: &Looked) {
        if let Ok(list) = AccessList::of(old)
            && let Ok(file) = sys::open_beneath(&self.file, &[], WRITE_DAC, Reparse::OpenItself)
        {
            let _ = list.give_to(&file);
        }
        let attributes = match looked.attributes & KEPT_ATTRIBUTES {
            // None at all would mean that nothing changes.
            0 => FILE_ATTRIBUTE_NORMAL,
            attributes => attributes,
        };
        let _ = sys::set_basics(&self.file, looked.created, attributes);
    }

    /// Gives the file a temporary name by which a sweep will know it.
    fn name_for_itself(&self) -> Result<(), PutError> {
        let identity = identity(&sys::information(&self.file).map_err(PutError::System)?);
        let name = temporary::new_name(identity, Identity::UNKNOWN);
        self.rename(OsStr::new(&name), Replacing::Nothing).map_err(put_error)
    }

    /// The file's facts. They do not depend on its name.
    fn facts(&self) -> Result<FileFacts, PutError> {
        FileFacts::of(&self.file).map_err(PutError::System)
    }

    /// Writes the content, and lets it reach the disk.
    fn fill(
        &mut self,
        content: &NewContent<'_>,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<(), PutError> {
        sys::mark_for_deletion(&self.file, true).map_err(PutError::System)?;
        self.file.write_all(content.bytes).map_err(PutError::System)?;
        // Before the flush, because file systems need not write a file that they are about to
        // remove.
        sys::mark_for_deletion(&self.file, false).map_err(PutError::System)?;
        if content.durable {
            self.file.sync_all().map_err(PutError::System)?;
        }
        if cancelled() { Err(PutError::Cancelled) } else { Ok(()) }
    }

    /// Puts the file in the place of another, which `old` holds; `open_old` opens it again if it
    /// had to be closed, and looks at it again.
    fn displace(
        self,
        name: &OsStr,
        old: File,
        open_old: &dyn Fn() -> Result<File, PutError>,
    ) -> Result<(), PutError> {
        let mut pauses = Pauses::new(MAX_WAIT_FOR_OTHERS);
        let mut replacing = Replacing::Open;
        let mut held = Some(old);
        loop {
            match self.rename(name, replacing) {
                Ok(()) => break,
                Err(error) if replacing == Replacing::Open && sys::is_unsupported(&error) => {
                    replacing = Replacing::Closed;
                }
                // Others have it open, in a way that does not let it be replaced.
                Err(error) if is_busy(&error) || is(&error, &[ERROR_ACCESS_DENIED]) => {
                    if !pauses.pause() {
                        return Err(put_error(error));
                    }
                }
                Err(error) => return Err(put_error(error)),
            }
            drop(held.take());
            let old = open_old()?;
            held = (replacing == Replacing::Open).then_some(old);
        }
        self.keep();
        Ok(())
    }

    /// Only a name that stays beside the temporary one: in the folder where it was made.
    fn rename(&self, name: &OsStr, replacing: Replacing) -> io::Result<()> {
        sys::rename(&self.file, &self.folder.0, &wide(name), replacing)
    }

    fn keep(mut self) {
        self.is_kept = true;
    }

    /// Removes the file from its final name because of an error, and gives the error to answer with. As long
    /// as the file is open, no other program writes to it or moves it.
    fn take_away(self, error: PutError) -> PutError {
        let error = match sys::delete(&self.file) {
            Ok(()) => error,
            Err(_) => error.with(Stray::Standing),
        };
        self.keep();
        error
    }
}

impl Drop for Draft<'_> {
    fn drop(&mut self) {
        if !self.is_kept {
            let _ = sys::delete(&self.file);
        }
    }
}

/// The meaning of an error at a name that was looked at before.
pub(in crate::sandbox) fn put_error(error: io::Error) -> PutError {
    match error.kind() {
        // Another process was faster, or took the folder away.
        io::ErrorKind::AlreadyExists | io::ErrorKind::NotFound | io::ErrorKind::IsADirectory => {
            PutError::Raced
        }
        _ if is_going(&error) => PutError::Raced,
        _ if is_busy(&error) => PutError::Refused(WriteError::Open(OpenError::Busy)),
        _ => PutError::System(error),
    }
}

/// Removes the leftovers of killed processes from a folder: files whose temporary name was made
/// for them, and which no process has open any more.
pub(in crate::sandbox) fn sweep(folder: &Directory) {
    let Ok(id) = folder_id(folder) else { return };
    sweeps::when_due(id, || sweep_now(folder));
}

fn sweep_now(folder: &Directory) {
    let Ok(folder) = folder.reopen(FILE_LIST_DIRECTORY) else { return };
    let pattern = format!("{}*", temporary::PREFIX);
    for name in sys::names_like(&folder.0, &pattern).unwrap_or_default() {
        if name.to_str().is_some_and(temporary::looks_like_one) {
            sweep_one(&folder, &name);
        }
    }
}

fn sweep_one(folder: &Directory, name: &OsStr) {
    let options = FILE_NON_DIRECTORY_FILE | FILE_OPEN_REPARSE_POINT;
    // A living writer does not share its draft for deletion, so opening it fails here.
    let share = FILE_SHARE_READ | FILE_SHARE_DELETE;
    let opening = Opening { access: DELETE | ENTER, share, disposition: FILE_OPEN, options };
    let Ok(file) = sys::open(&folder.0, &wide(name), opening) else { return };
    let Ok(information) = sys::information(&file) else { return };
    let is_ours = name.to_str().is_some_and(|name| {
        temporary::is_leftover(name, identity(&information), size(&information))
    });
    if is_ours && information.dwFileAttributes & FILE_ATTRIBUTE_REPARSE_POINT == 0 {
        let _ = sys::delete(&file);
    }
}

#[cfg(test)]
mod tests;
