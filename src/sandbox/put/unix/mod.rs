//! Putting bytes at a name beneath a folder's handle, on Linux and macOS.
//!
//! Other programs work in the same folder. At any moment one of them may rename a file over another,
//! exchange two names, remove or hard-link a file, or write to a file in place. The promise is that no
//! file of another program is ever unlinked. At worst a file is kept under another name in the folder,
//! and the error says which.
//!
//! # Replacing
//!
//! Four terms:
//!
//! - **old**: the file that is to be replaced;
//! - **draft**: the new file that is to replace it;
//! - **target**: the name at which old stands;
//! - **temporary**: the random name, in the same folder, at which the draft stands.
//!
//! A file is recognised by its device and inode number. Old and draft are held open all the time, so no
//! other file can get their numbers. The states, in order:
//!
//! 1. *Prepared.* Old is open, locked and compared, and stands at the target. The draft is complete, has
//!    old's rights, and stands at the temporary. No reader of the target sees a change.
//! 2. *Exchanged.* The two names were exchanged in one step. The draft stands at the target and is
//!    visible. Now the file that the exchange has brought to the temporary is examined.
//! 3. *Done*, if five conditions hold: that file is old; old still has the expected bytes; no
//!    program has old open for writing or waits to open it so; the folder is still where it was;
//!    and the caller confirms it (`exchange.rs`). The second and the third are checked
//!    only if a digest is expected. A lease checks the third, and makes new writers wait until old is
//!    gone. Then old is removed ([`held::remove`](crate::sandbox::system::unix::held::remove)). If the
//!    caller has confirmed and a writer waits by then, old is kept instead.
//! 4. *Taking back*, otherwise ([`take_back`]). The file at the temporary belongs where the draft
//!    is now. Another program may have moved the draft meanwhile, or put a file over it. Without
//!    the exchange it would have done that to the displaced file. So one more exchange puts the
//!    displaced file where the draft stands, and brings the draft to the temporary. If another
//!    program was faster, that exchange brings a third file instead. Then two files stand where
//!    others belong, and the same step is repeated for the last one, until the draft is back.
//! 5. *Taken back.* The draft stands at the temporary alone. It is removed only if no other
//!    program has it open (a lease checks this, too) and its bytes are those that were written to
//!    it. Otherwise it may hold what another program wrote while it was visible, and is kept.
//! 6. *Kept.* A file that can be neither put back nor removed gets a name that no sweep removes.
//!
//! Without leases (macOS, some file systems, other users' files), states 3 and 5 compare the bytes, and
//! cannot tell whether a program has a file open.
//!
//! Leases leave one gap. The kernel opens a file in two steps: it finds the file by its name, and then
//! looks for leases. Suppose that a program has found old by its name, and is stopped between the two
//! steps until old is removed. When it goes on, it writes to a file that has no name. The same can
//! happen to the draft while it is visible. The last question before `unlink` does not find such a
//! program, because it has not reached the lease. Linux has no call that tells of it, none that removes
//! a file only if no opening is under way, and none that gives a nameless file its name back. So this
//! gap stays.
//!
//! In two cases the draft is renamed over the target instead of exchanged: if the file system
//! cannot exchange names, and if neither a digest is expected nor durability nor a confirmation is
//! wanted ([`NewContent`]). Then the rename replaces any file or link that stands at the target in
//! that moment. If the caller does not confirm it, old's bytes are written anew to a file that is
//! renamed over the draft (`write_back.rs`). Leases leave a gap there, too: what a program writes to
//! the draft between the last comparison and that rename is lost.
//!
//! A file is never unlinked by a name that another program knows. It is first renamed to a new random
//! name, and unlinked only if the right file then stands at that name.

use std::ffi::OsStr;

use rustix::fs::{Access, Mode, OFlags, openat};
use rustix::io::Errno;

use self::draft::Draft;
pub(in crate::sandbox) use self::draft::keep;
pub(in crate::sandbox) use self::error::put_error;
use self::exchange::{exchange, rename_over};
use self::old::Old;
use self::settle::settle;
pub(in crate::sandbox) use self::sweep::sweep;
#[cfg(test)]
pub(in crate::sandbox) use self::sweep::sweep_now;
use super::content::{Created, Expected, NewContent, Replaced, Visibility, WriteChecks};
use super::error::{PutError, Stray, WriteError};
use crate::hash::Sha256Digest;
use crate::sandbox::system::unix::change::{check_access, check_may_change};
use crate::sandbox::system::unix::error::is_refused;
use crate::sandbox::system::unix::handle::retry_interrupted;
use crate::sandbox::system::unix::is_append_only;
use crate::sandbox::system::{Directory, Held};

mod access;
mod draft;
mod error;
mod exchange;
mod in_place;
pub(in crate::sandbox) mod old;
mod settle;
mod sweep;
mod take_back;
mod write_back;

/// Puts a new file at a name where nothing stands.
pub(super) fn create(
    folder: &Directory,
    name: &OsStr,
    content: &NewContent<'_>,
    checks: WriteChecks<'_>,
) -> Result<Created, PutError> {
    if let Some(mut draft) = Draft::unnamed(folder, new_file_mode(content)).map_err(put_error)? {
        draft.fill(content, checks.callbacks.cancelled)?;
        match draft.link_at(name) {
            // Without `/proc`, or on a file system without hard links.
            Err(Errno::OPNOTSUPP) => {}
            linked => {
                linked.map_err(put_error)?;
                return finish(draft, name, content, checks);
            }
        }
    }
    create_named(folder, name, content, checks)
}

fn create_named(
    folder: &Directory,
    name: &OsStr,
    content: &NewContent<'_>,
    checks: WriteChecks<'_>,
) -> Result<Created, PutError> {
    refuse_append_only(folder)?;
    let mut draft = Draft::named(folder, new_file_mode(content)).map_err(put_error)?;
    draft.fill(content, checks.callbacks.cancelled)?;
    match draft.rename_exclusively(name) {
        Err(error) if is_refused(error) => in_place::create(folder, name, content, checks),
        renamed => {
            renamed.map_err(put_error)?;
            finish(draft, name, content, checks)
        }
    }
}

/// The draft has its final name.
fn finish(
    mut draft: Draft<'_>,
    name: &OsStr,
    content: &NewContent<'_>,
    checks: WriteChecks<'_>,
) -> Result<Created, PutError> {
    let created = settle_new(&mut draft, content, Visibility::Atomic, checks);
    created_or_taken_away(draft, name, content, created)
}

/// Completes a new file that stands, filled, at its final name.
fn settle_new(
    draft: &mut Draft<'_>,
    content: &NewContent<'_>,
    visibility: Visibility,
    checks: WriteChecks<'_>,
) -> Result<Created, PutError> {
    let after = draft.facts()?;
    settle(draft.folder, content, checks)?;
    checks.confirm()?;
    Ok(Created { after, visibility })
}

/// Takes the draft away from its final name if it was not completed.
fn created_or_taken_away(
    mut draft: Draft<'_>,
    name: &OsStr,
    content: &NewContent<'_>,
    created: Result<Created, PutError>,
) -> Result<Created, PutError> {
    match created {
        Err(PutError::Cancelled) if draft.is_used_by_others(content) => {
            Err(PutError::Cancelled.with(Stray::Standing))
        }
        Err(error) => Err(draft.take_away(name, content, error)),
        created => created,
    }
}

/// Replaces a file, if it still has the bytes that `content` expects.
pub(super) fn replace(
    folder: &Directory,
    name: &OsStr,
    content: &NewContent<'_>,
    checks: WriteChecks<'_>,
) -> Result<Replaced, PutError> {
    check_writable(folder, name)?;
    refuse_append_only(folder)?;
    sweep(folder);
    replace_from(|folder, mode| Draft::unnamed(folder, mode), folder, name, content, checks)
}

/// Checks that a file may be replaced, as far as the system tells without a change.
pub(in crate::sandbox) fn check_replaceable(
    folder: &Directory,
    name: &OsStr,
) -> Result<(), PutError> {
    check_writable(folder, name)?;
    check_folder(folder)
}

/// Checks that entries of a folder may be renamed and removed.
pub(in crate::sandbox) fn check_folder(folder: &Directory) -> Result<(), PutError> {
    refuse_append_only(folder)?;
    check_may_change(folder).map_err(put_error)
}

/// Checks that the process may write to a file. A rename does not check it.
///
/// Some filters of system calls refuse the call that checks the effective user. The older call
/// checks the real user. If the two users differ, the file is opened for writing instead.
fn check_writable(folder: &Directory, name: &OsStr) -> Result<(), PutError> {
    if let Some(allowed) = check_access(folder, name, Access::WRITE_OK) {
        return allowed.map_err(put_error);
    }
    let flags = OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    match retry_interrupted(|| openat(folder, name, flags, Mode::empty())) {
        // The file is a running program, or leased. The system says so after checking the permission.
        Ok(_) | Err(Errno::TXTBSY | Errno::AGAIN) => Ok(()),
        Err(error) => Err(put_error(error)),
    }
}

/// Opens the file that is held as `entry`, if it has the expected bytes, and keeps other writers of this library from it.
pub(in crate::sandbox) fn compare(
    folder: &Directory,
    name: &OsStr,
    entry: &Held,
    expected: Sha256Digest,
    cancelled: &dyn Fn() -> bool,
) -> Result<Old, PutError> {
    let expected = Some(Expected::Sha256(expected));
    let file = take_at(folder, name, entry, expected, cancelled)?;
    file.check_expected(expected, cancelled)?;
    Ok(file)
}

/// Waits for other writers of this library that are about to replace the file that is held as `entry`, and keeps
/// others from it. `None` if the process may not open it; then it is not waited for.
pub(in crate::sandbox) fn reserve(
    folder: &Directory,
    name: &OsStr,
    entry: &Held,
    cancelled: &dyn Fn() -> bool,
) -> Result<Option<Old>, PutError> {
    match take_at(folder, name, entry, None, cancelled) {
        Err(PutError::System(_) | PutError::Refused(_)) => Ok(None),
        taken => taken.map(Some),
    }
}

/// Opens and locks the file that is held as `entry`. A writer that was waited for may have replaced it.
fn take_at(
    folder: &Directory,
    name: &OsStr,
    entry: &Held,
    expected: Option<Expected<'_>>,
    cancelled: &dyn Fn() -> bool,
) -> Result<Old, PutError> {
    let file = Old::take(folder, name, expected, cancelled)?;
    let is_current = file.held.is_same(entry) && entry.is_at(folder, name).map_err(put_error)?;
    if is_current { Ok(file) } else { Err(PutError::Raced) }
}

/// Read and write for everyone, less the umask, and execute if that is wanted.
fn new_file_mode(content: &NewContent<'_>) -> Mode {
    Mode::from_raw_mode(if content.executable == Some(true) { 0o777 } else { 0o666 })
}

/// In an append-only folder a temporary name could never be removed.
fn refuse_append_only(folder: &Directory) -> Result<(), PutError> {
    if is_append_only(folder) {
        return Err(PutError::Refused(WriteError::AppendOnly));
    }
    Ok(())
}

/// Begins a draft without a name; `None` if the file system has no such files.
type Begin =
    for<'folder> fn(&'folder Directory, Mode) -> rustix::io::Result<Option<Draft<'folder>>>;

/// Replaces a file by the draft that `begin` begins, or else by a draft that has a name.
fn replace_from(
    begin: Begin,
    folder: &Directory,
    name: &OsStr,
    content: &NewContent<'_>,
    checks: WriteChecks<'_>,
) -> Result<Replaced, PutError> {
    let old = Old::take(folder, name, content.expected, checks.callbacks.cancelled)?;
    if !old.held.is_file_at(folder, name).map_err(put_error)? {
        return Err(PutError::Raced);
    }
    old.check_expected(content.expected, checks.callbacks.cancelled)?;

    let fill = |draft: &mut Draft<'_>| draft.fill(content, checks.callbacks.cancelled);
    let draft = prepare(begin, folder, &old, content.executable, &fill)?;
    let after = draft.facts()?;
    // Some file systems write a file's bytes before its name if it is renamed over another, for
    // programs that do not sync. They do not do so where two names are exchanged.
    if content.expected.is_none() && !content.durable && checks.callbacks.confirm.is_none() {
        rename_over(draft, name, &old, content, checks)?;
    } else {
        exchange(draft, name, &old, content, checks)?;
    }
    Ok(Replaced { before: old.facts(), after })
}

/// A complete draft at a temporary name, with the rights of the old file.
fn prepare<'folder>(
    begin: Begin,
    folder: &'folder Directory,
    old: &Old,
    executable: Option<bool>,
    fill: &dyn Fn(&mut Draft<'_>) -> Result<(), PutError>,
) -> Result<Draft<'folder>, PutError> {
    let unnamed = |mode| begin(folder, mode);
    let named = |mode| Draft::named(folder, mode).map(Some);
    for begin in [&unnamed as access::BeginWith<'_, 'folder>, &named] {
        let Some(mut draft) = access::begin_alike(begin, old, executable)? else { continue };
        fill(&mut draft)?;
        match draft.name_beside(old) {
            // Without `/proc`, or on a file system without hard links.
            Err(Errno::OPNOTSUPP) => {}
            named => {
                named.map_err(put_error)?;
                return Ok(draft);
            }
        }
    }
    Err(PutError::System(Errno::OPNOTSUPP.into()))
}

#[cfg(test)]
mod tests;
