//! Putting bytes at a name beneath a folder's handle, on Windows.
//!
//! A file is written under a temporary name and renamed. While it is being written it is doomed:
//! should the process end, the system removes it. It is spared when it is complete, so that what a
//! killed process can leave is a whole file on its way to its name, which a sweep recognises.
//!
//! Windows has no exchange of two names, so what a rename replaces is gone before it can be looked
//! at again. What was compared must stay true until then:
//!
//! - Writers of this library take turns: each holds a file that only one can have open, whose name
//!   is made for the file that is to be replaced, and that vanishes with its process. Among them
//!   nothing is lost, in however many processes, nor is refused content ever seen.
//! - Other programs are kept from writing into the file by how it is opened for comparing. Where
//!   files can be replaced while they are open (NTFS does it since Windows 10) it stays open until
//!   it is replaced. Elsewhere (FAT, some network drives) it has to be closed just before, and in
//!   that moment another program may write to it, which is then lost.
//! - A program that itself renames another file to that name between comparing and replacing,
//!   some microseconds, is not noticed: its file is replaced.
//!
//! Replacing cannot be undone either: if the folder fails to reach the disk, the error says that the
//! file is replaced all the same.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Write};
use std::os::windows::io::OwnedHandle;
use std::time::{Duration, Instant};

use windows_sys::Wdk::Storage::FileSystem::{
    FILE_CREATE, FILE_DIRECTORY_FILE, FILE_NON_DIRECTORY_FILE, FILE_OPEN, FILE_OPEN_IF,
    FILE_OPEN_REPARSE_POINT, FILE_WRITE_THROUGH,
};
use windows_sys::Win32::Foundation::{
    ERROR_ACCESS_DENIED, ERROR_DELETE_PENDING, ERROR_INVALID_HANDLE, ERROR_SHARING_VIOLATION,
    FILETIME,
};
use windows_sys::Win32::Storage::FileSystem::{
    BY_HANDLE_FILE_INFORMATION, DELETE, FILE_ADD_FILE, FILE_ATTRIBUTE_ARCHIVE,
    FILE_ATTRIBUTE_DEVICE, FILE_ATTRIBUTE_DIRECTORY, FILE_ATTRIBUTE_HIDDEN, FILE_ATTRIBUTE_NORMAL,
    FILE_ATTRIBUTE_NOT_CONTENT_INDEXED, FILE_ATTRIBUTE_READONLY, FILE_ATTRIBUTE_REPARSE_POINT,
    FILE_ATTRIBUTE_SYSTEM, FILE_GENERIC_READ, FILE_GENERIC_WRITE, FILE_LIST_DIRECTORY,
    FILE_SHARE_DELETE, FILE_SHARE_READ, FILE_WRITE_DATA, READ_CONTROL, WRITE_DAC,
};

use super::sys::{self, AccessList, Opening, Reparse, Replacing, SHARE_ALL};
use super::{Directory, ENTER, is_link, is_name_surrogate, open_error, wide};
use crate::hash::sha256_of;
use crate::sandbox::temporary::{self, Identity};
use crate::sandbox::write::{Caller, Flaw, FolderId, NewContent, PutError, Standing};
use crate::sandbox::{OpenError, sweeps};

/// What is known of a file that may be replaced.
pub(in crate::sandbox) struct FileFacts {
    attributes: u32,
    created: i64,
    identity: Identity,
}

/// The attributes that a new file takes over. Compression and encryption are the folder's matter.
const KEPT_ATTRIBUTES: u32 = FILE_ATTRIBUTE_HIDDEN
    | FILE_ATTRIBUTE_SYSTEM
    | FILE_ATTRIBUTE_ARCHIVE
    | FILE_ATTRIBUTE_NOT_CONTENT_INDEXED;

/// How long other writers of this library are waited for. None takes longer unless it hangs.
const PATIENCE_WITH_WRITERS: Duration = Duration::from_secs(5);

/// How long other programs, virus scanners among them, are waited for that have a file open in a
/// way that keeps this one from it.
const PATIENCE_WITH_OTHERS: Duration = Duration::from_secs(1);

pub(in crate::sandbox) fn look(folder: &Directory, name: &OsStr) -> Result<Standing, OpenError> {
    let opened = sys::open_beneath(&folder.0, &wide(name), ENTER, Reparse::OpenItself);
    let handle = match opened.map_err(open_error) {
        Ok(handle) => handle,
        Err(OpenError::NotFound) => return Ok(Standing::Nothing),
        Err(error) => return Err(error),
    };
    let (attributes, tag) = sys::attributes_and_tag(&handle).map_err(OpenError::System)?;
    let is_reparse_point = attributes & FILE_ATTRIBUTE_REPARSE_POINT != 0;
    if is_link(attributes, tag) {
        return Ok(Standing::Link);
    }
    if attributes & FILE_ATTRIBUTE_DEVICE != 0 || is_reparse_point && is_name_surrogate(tag) {
        return Ok(Standing::Special);
    }
    if attributes & FILE_ATTRIBUTE_DIRECTORY != 0 {
        return Ok(Standing::Directory);
    }
    // A socket, or what Linux programs have made here, is a reparse point that nothing opens.
    if is_reparse_point && sys::open_beneath(&handle, &[], ENTER, Reparse::Follow).is_err() {
        return Ok(Standing::Special);
    }
    let information = sys::information(&handle).map_err(OpenError::System)?;
    Ok(Standing::File(FileFacts {
        attributes,
        created: created(&information),
        identity: identity(&information),
    }))
}

/// When a file was created, in steps of 100 ns since 1601.
fn created(information: &BY_HANDLE_FILE_INFORMATION) -> i64 {
    let FILETIME { dwLowDateTime, dwHighDateTime } = information.ftCreationTime;
    both_halves(dwHighDateTime, dwLowDateTime).cast_signed()
}

fn identity(information: &BY_HANDLE_FILE_INFORMATION) -> Identity {
    /// From 1601 to 1970, in steps of 100 ns.
    const UNIX_EPOCH: i64 = 116_444_736_000_000_000;
    let born = u128::try_from(created(information) - UNIX_EPOCH).unwrap_or(0) * 100;
    Identity { inode: both_halves(information.nFileIndexHigh, information.nFileIndexLow), born }
}

fn both_halves(high: u32, low: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

/// Makes a folder; `None` if something of that name is there already.
pub(in crate::sandbox) fn make_folder(
    parent: &Directory,
    name: &OsStr,
) -> io::Result<Option<FolderId>> {
    let options = FILE_DIRECTORY_FILE;
    let opening = Opening { access: ENTER, share: SHARE_ALL, disposition: FILE_CREATE, options };
    let made =
        persist(PATIENCE_WITH_OTHERS, is_going, || sys::open(&parent.0, &wide(name), opening));
    match made {
        Ok(folder) => id_of(&folder).map(Some),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(None),
        // The folder of that name, or the one that was to hold it, goes as soon as others let go.
        Err(error) if is_going(&error) => Err(io::ErrorKind::NotFound.into()),
        Err(error) => Err(error),
    }
}

/// Removes a folder if it is that one, and empty.
pub(in crate::sandbox) fn remove_folder(
    parent: &Directory,
    name: &OsStr,
    id: FolderId,
) -> io::Result<()> {
    let options = FILE_DIRECTORY_FILE | FILE_OPEN_REPARSE_POINT;
    let access = DELETE | ENTER;
    let opening = Opening { access, share: SHARE_ALL, disposition: FILE_OPEN, options };
    let folder = sys::open(&parent.0, &wide(name), opening)?;
    let (attributes, _) = sys::attributes_and_tag(&folder)?;
    if attributes & FILE_ATTRIBUTE_REPARSE_POINT != 0 || id_of(&folder)? != id {
        // Somebody has put a junction, or another folder, in its place.
        return Err(io::ErrorKind::NotADirectory.into());
    }
    sys::delete(&folder)
}

pub(in crate::sandbox) fn folder_id(folder: &Directory) -> io::Result<FolderId> {
    id_of(&folder.0)
}

fn id_of(folder: &OwnedHandle) -> io::Result<FolderId> {
    let information = sys::information(folder)?;
    Ok((information.dwVolumeSerialNumber.into(), identity(&information).inode))
}

/// Lets a folder's entries reach the disk, where the file system does that at all and the process
/// may ask for it.
pub(in crate::sandbox) fn sync_folder(folder: &Directory) -> io::Result<()> {
    let flushed =
        folder.reopen(FILE_ADD_FILE | ENTER).and_then(|folder| File::from(folder.0).sync_all());
    match flushed {
        Err(error)
            if sys::is_unsupported(&error)
                || is(&error, &[ERROR_ACCESS_DENIED, ERROR_INVALID_HANDLE]) =>
        {
            Ok(())
        }
        flushed => flushed,
    }
}

/// Puts a new file at a name where nothing stands.
pub(in crate::sandbox) fn create(
    folder: &Directory,
    name: &OsStr,
    content: &NewContent<'_>,
    caller: Caller<'_>,
) -> Result<(), PutError> {
    let mut draft = Draft::new(folder, content)?;
    draft.name_for_itself()?;
    draft.fill(content, caller.cancelled)?;
    persist(PATIENCE_WITH_OTHERS, is_busy, || draft.rename(name, Replacing::Nothing))
        .map_err(put_error)?;
    check_place(folder, caller)?;
    if content.durable {
        sync_folder(folder).map_err(PutError::System)?;
    }
    draft.keep();
    Ok(())
}

/// Puts other content in a file's place.
pub(in crate::sandbox) fn replace(
    folder: &Directory,
    name: &OsStr,
    facts: &FileFacts,
    content: &NewContent<'_>,
    caller: Caller<'_>,
) -> Result<(), PutError> {
    if facts.attributes & FILE_ATTRIBUTE_READONLY != 0 {
        return Err(PutError::System(io::ErrorKind::PermissionDenied.into()));
    }
    sweep(folder);
    let turn = Turn::take(folder, facts)?;
    let open_old = || open_old(folder, name, facts, content);
    let old = open_old()?;
    check_writable(folder, name)?;
    let mut draft = Draft::new(folder, content)?;
    draft.take_over(&old, facts);
    draft.name_for_itself()?;
    draft.fill(content, caller.cancelled)?;
    check_place(folder, caller)?;
    draft.displace(name, old, &open_old)?;
    drop(turn);
    if content.durable {
        sync_folder(folder).map_err(Flaw::Unsynced)?;
    }
    Ok(())
}

/// Whether the folder is still where it was found. While a file in it is open, as a draft is,
/// Windows moves neither the folder nor those around it; other file systems may.
fn check_place(folder: &Directory, caller: Caller<'_>) -> Result<(), PutError> {
    if (caller.leads_to)(folder) { Ok(()) } else { Err(PutError::Raced) }
}

/// One writer's turn to replace a file: as long as it lives, no other writer of this library
/// replaces that file. It is a file of its own, which is gone when it is closed, by whomever.
struct Turn {
    _handle: OwnedHandle,
}

impl Turn {
    fn take(folder: &Directory, facts: &FileFacts) -> Result<Self, PutError> {
        let name = wide(OsStr::new(&temporary::turn_name(facts.identity)));
        // A power failure may have left the file behind: then it is there for the taking.
        let disposition = FILE_OPEN_IF;
        let options = FILE_NON_DIRECTORY_FILE | FILE_OPEN_REPARSE_POINT;
        let opening = Opening { access: DELETE | ENTER, share: 0, disposition, options };
        let handle =
            persist(PATIENCE_WITH_WRITERS, is_busy, || sys::open(&folder.0, &name, opening))
                .map_err(PutError::System)?;
        let information = sys::information(&handle).map_err(PutError::System)?;
        if size(&information) != 0 {
            // Nobody's leftover, however it came to that name.
            return Err(PutError::System(io::ErrorKind::ResourceBusy.into()));
        }
        sys::set_doomed(&handle, true).map_err(PutError::System)?;
        Ok(Self { _handle: handle })
    }
}

fn size(information: &BY_HANDLE_FILE_INFORMATION) -> u64 {
    both_halves(information.nFileSizeHigh, information.nFileSizeLow)
}

/// Opens the file that is to be replaced, if it is still the one that was looked at and has the
/// bytes that are expected of it; as long as it is open then, nobody writes to it.
fn open_old(
    folder: &Directory,
    name: &OsStr,
    facts: &FileFacts,
    content: &NewContent<'_>,
) -> Result<File, PutError> {
    let (access, share) = match content.expected {
        Some(_) => (FILE_GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_DELETE),
        None => (READ_CONTROL | ENTER, SHARE_ALL),
    };
    let options = FILE_NON_DIRECTORY_FILE | FILE_OPEN_REPARSE_POINT;
    let opening = Opening { access, share, disposition: FILE_OPEN, options };
    let open = || sys::open(&folder.0, &wide(name), opening);
    let old = persist(PATIENCE_WITH_OTHERS, is_busy, open).map_err(put_error)?;
    let information = sys::information(&old).map_err(PutError::System)?;
    if identity(&information) != facts.identity {
        return Err(PutError::Raced);
    }
    let old = if information.dwFileAttributes & FILE_ATTRIBUTE_REPARSE_POINT == 0 {
        old
    } else {
        // It has been looked at: no link, but the file system's own way to store a file.
        let opening = Opening { options: FILE_NON_DIRECTORY_FILE, ..opening };
        sys::open(&old, &[], opening).map_err(put_error)?
    };
    let old = File::from(old);
    match content.expected {
        Some(expected) if sha256_of(&old).map_err(PutError::System)? != expected => {
            Err(PutError::Changed)
        }
        _ => Ok(old),
    }
}

/// Whether the process may write to the file. A rename would not ask.
fn check_writable(folder: &Directory, name: &OsStr) -> Result<(), PutError> {
    let access = FILE_WRITE_DATA;
    match sys::open_beneath(&folder.0, &wide(name), access, Reparse::OpenItself) {
        // Rights are looked at before what others share, and so is this library's own handle.
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
            // A sweep asks to delete: to be refused tells it that the writer lives.
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

    /// Takes over who may do what with a file, when it was created, and its attributes, as far as
    /// the process may and the file system has them.
    fn take_over(&self, old: &File, facts: &FileFacts) {
        if let Ok(list) = AccessList::of(old)
            && let Ok(file) = sys::open_beneath(&self.file, &[], WRITE_DAC, Reparse::OpenItself)
        {
            let _ = list.give_to(&file);
        }
        let attributes = match facts.attributes & KEPT_ATTRIBUTES {
            // None at all would mean that nothing changes.
            0 => FILE_ATTRIBUTE_NORMAL,
            attributes => attributes,
        };
        let _ = sys::set_basics(&self.file, facts.created, attributes);
    }

    /// Gives the file a temporary name by which a sweep will know it.
    fn name_for_itself(&self) -> Result<(), PutError> {
        let identity = identity(&sys::information(&self.file).map_err(PutError::System)?);
        let name = temporary::new_name(identity, Identity::UNKNOWN);
        self.rename(OsStr::new(&name), Replacing::Nothing).map_err(put_error)
    }

    /// Writes the content, and lets it reach the disk.
    fn fill(
        &mut self,
        content: &NewContent<'_>,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<(), PutError> {
        sys::set_doomed(&self.file, true).map_err(PutError::System)?;
        self.file.write_all(content.bytes).map_err(PutError::System)?;
        // Before the flush, since file systems need not write what they are about to remove.
        sys::set_doomed(&self.file, false).map_err(PutError::System)?;
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
        let mut pauses = Pauses::new(PATIENCE_WITH_OTHERS);
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
}

impl Drop for Draft<'_> {
    fn drop(&mut self) {
        if !self.is_kept {
            let _ = sys::delete(&self.file);
        }
    }
}

/// Tries again as long as it is worth waiting for what is in the way.
fn persist<T>(
    patience: Duration,
    is_worth_waiting: impl Fn(&io::Error) -> bool,
    attempt: impl Fn() -> io::Result<T>,
) -> io::Result<T> {
    let mut pauses = Pauses::new(patience);
    loop {
        match attempt() {
            Err(error) if is_worth_waiting(&error) && pauses.pause() => {}
            answer => return answer,
        }
    }
}

/// Ever longer pauses, until patience is at its end.
struct Pauses {
    end: Instant,
    next: Duration,
}

impl Pauses {
    fn new(patience: Duration) -> Self {
        Self { end: Instant::now() + patience, next: Duration::from_micros(50) }
    }

    /// `false` if there is no patience left.
    fn pause(&mut self) -> bool {
        const LONGEST: Duration = Duration::from_millis(2);
        if Instant::now() >= self.end {
            return false;
        }
        std::thread::sleep(self.next);
        self.next = (self.next * 2).min(LONGEST);
        true
    }
}

fn is(error: &io::Error, codes: &[u32]) -> bool {
    error.raw_os_error().is_some_and(|code| codes.contains(&code.cast_unsigned()))
}

/// Whether it has been removed and only waits for its last handle to be closed.
fn is_going(error: &io::Error) -> bool {
    is(error, &[ERROR_DELETE_PENDING])
}

/// Whether others have it open in a way that keeps this process from it.
fn is_busy(error: &io::Error) -> bool {
    is(error, &[ERROR_SHARING_VIOLATION, ERROR_DELETE_PENDING])
}

/// The reading of an error at a name that was looked at before.
fn put_error(error: io::Error) -> PutError {
    match error.kind() {
        // Somebody was faster, or took the folder away.
        io::ErrorKind::AlreadyExists | io::ErrorKind::NotFound | io::ErrorKind::IsADirectory => {
            PutError::Raced
        }
        _ if is_going(&error) => PutError::Raced,
        _ => PutError::System(error),
    }
}

/// Removes what killed processes have left in a folder: files whose temporary name was made for
/// them, and that nobody holds any more.
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
    // Writers that live share neither what is asked for here nor what is shared.
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
