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
//! 3. *Done*, if four conditions hold: that file is old; old still has the expected bytes; no
//!    program has old open for writing or waits to open it so; and the folder is still where it
//!    was (`certify` in `exchange.rs`). The second and the third are checked only if a digest is
//!    expected. A lease checks the third, and makes new writers wait until old is gone. Then old
//!    is removed ([`held::remove`](crate::sandbox::system::unix::held::remove)).
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
//! cannot exchange names, and if neither a digest is expected nor durability is wanted
//! ([`NewContent`]). Then the rename replaces any file or link that stands at the target in that
//! moment.
//!
//! A file is never unlinked by a name that another program knows. It is first renamed to a new random
//! name, and unlinked only if the right file then stands at that name.

use std::ffi::OsStr;

use rustix::fs::{Access, Mode, OFlags, openat};
use rustix::io::Errno;

pub(in crate::sandbox) use self::draft::keep;
use self::draft::{Draft, NEW_FILE};
pub(in crate::sandbox) use self::error::put_error;
use self::exchange::{exchange, rename_over};
use self::old::Old;
pub(in crate::sandbox) use self::sweep::sweep;
#[cfg(test)]
pub(in crate::sandbox) use self::sweep::sweep_now;
use super::content::{Created, Expected, NewContent, Replaced, Visibility, WriteChecks};
use super::error::{PutError, WriteError};
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

/// Puts a new file at a name where nothing stands.
pub(super) fn create(
    folder: &Directory,
    name: &OsStr,
    content: &NewContent<'_>,
    checks: WriteChecks<'_>,
) -> Result<Created, PutError> {
    if let Some(mut draft) = Draft::unnamed(folder, NEW_FILE).map_err(put_error)? {
        draft.fill(content, checks.cancelled)?;
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
    let mut draft = Draft::named(folder, NEW_FILE).map_err(put_error)?;
    draft.fill(content, checks.cancelled)?;
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
    draft.make_certain(name, content, checks)?;
    let after = draft.facts().map_err(|error| draft.take_away(name, content, error))?;
    Ok(Created { after, visibility: Visibility::Atomic })
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
    let file = Old::take(folder, name, expected, cancelled)?;
    if file.held.id != entry.id {
        return Err(PutError::Raced);
    }
    file.check_expected(expected, cancelled)?;
    Ok(file)
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
    let old = Old::take(folder, name, content.expected, checks.cancelled)?;
    if !old.held.is_file_at(folder, name).map_err(put_error)? {
        return Err(PutError::Raced);
    }
    old.check_expected(content.expected, checks.cancelled)?;

    let draft = prepare(begin, folder, &old, content, checks)?;
    let after = draft.facts()?;
    // Some file systems write a file's bytes before its name if it is renamed over another, for
    // programs that do not sync. They do not do so where two names are exchanged.
    if content.expected.is_none() && !content.durable {
        rename_over(draft, name, &old, content, checks)?;
    } else {
        exchange(draft, name, &old, content, checks)?;
    }
    Ok(Replaced { before: old.facts(), after })
}

/// A complete draft at a temporary name, with the rights of the file that it is to displace.
fn prepare<'folder>(
    begin: Begin,
    folder: &'folder Directory,
    old: &Old,
    content: &NewContent<'_>,
    checks: WriteChecks<'_>,
) -> Result<Draft<'folder>, PutError> {
    let unnamed = |mode| begin(folder, mode);
    let named = |mode| Draft::named(folder, mode).map(Some);
    for begin in [&unnamed as access::BeginWith<'_, 'folder>, &named] {
        let Some(mut draft) = access::begin_alike(begin, old)? else { continue };
        draft.fill(content, checks.cancelled)?;
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
