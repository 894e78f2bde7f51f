//! Exchanging the draft with the file that it replaces. The head of `put/unix/mod.rs` has the
//! terms.

use std::ffi::{OsStr, OsString};
use std::os::unix::fs::MetadataExt;

use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::renameat;

use super::draft::{Draft, keep};
use super::error::put_error;
use super::old::Old;
use super::settle::{check_place, settle, sync_if_durable};
use super::take_back::take_back;
use super::write_back::write_back;
use crate::sandbox::put::content::{NewContent, WriteChecks};
use crate::sandbox::put::error::{Flaw, PutError, Stray, WriteError};
use crate::sandbox::system::Directory;
use crate::sandbox::system::unix::Writers;
use crate::sandbox::system::unix::error::is_refused;
use crate::sandbox::system::unix::held::{Removal, exchange_names, identity, remove};
use crate::sandbox::temporary::{self, Identity};

/// Exchanges the names of the draft and of the old file. If the exchange has displaced another
/// file, or a check fails afterwards, takes the draft back.
pub(super) fn exchange(
    mut draft: Draft<'_>,
    name: &OsStr,
    old: &Old,
    content: &NewContent<'_>,
    checks: WriteChecks<'_>,
) -> Result<(), PutError> {
    let folder = draft.folder;
    let Some(temporary) = draft.name.clone() else { return Err(PutError::Raced) };
    let spare = spare_handles(folder, checks)?;
    match exchange_names(folder, &temporary, name) {
        Ok(()) => {}
        Err(error) if is_refused(error) => {
            drop(spare);
            return rename_over(draft, name, old, content, checks);
        }
        Err(error) => return Err(put_error(error)),
    }
    // From here on a file of another program may stand at the temporary name.
    draft.name = None;
    let certified = certify(folder, &temporary, old, content, checks);
    let confirmed = certified.and_then(|writers| {
        let refusal = confirm(&draft, content, checks)?;
        Ok((writers, refusal))
    });
    let (writers, refusal) = match confirmed {
        Ok(confirmed) => confirmed,
        Err(error) => {
            drop(spare);
            return Err(take_back(&mut draft, &temporary, name, content, error));
        }
    };
    let is_confirmed = checks.callbacks.confirm.is_some();
    let stray = match remove_old(&draft, &temporary, old, writers.as_ref()) {
        // The caller has made other changes since, and this one must not be taken back any more.
        Removal::Stayed if is_confirmed => Some(Stray::Awaited(keep(folder, &temporary))),
        Removal::Stayed => {
            drop(writers);
            let error = PutError::Refused(WriteError::BeingWritten);
            return Err(take_back(&mut draft, &temporary, name, content, error));
        }
        // If the system refuses, a later sweep removes the file.
        Removal::Removed | Removal::Another | Removal::Refused(_) => None,
        Removal::Displaced(name) => Some(Stray::Displaced(keep(folder, &name))),
    };
    match (refusal, stray) {
        (Some(refusal), stray) => Err(refusal.with(stray.unwrap_or(Stray::Standing))),
        (None, Some(stray)) => Err(Flaw::Beside(stray).into()),
        (None, None) => Ok(()),
    }
}

/// Asks the caller whether the new file stays. `Ok(Some(refusal))` if the caller refuses, and the file stays all the
/// same: another program uses it by now, so the old one is not put back.
fn confirm(
    draft: &Draft<'_>,
    content: &NewContent<'_>,
    checks: WriteChecks<'_>,
) -> Result<Option<PutError>, PutError> {
    match checks.confirm() {
        Ok(()) => Ok(None),
        Err(error) if draft.is_used_by_others(content) => Ok(Some(error)),
        Err(error) => Err(error),
    }
}

/// As many handles as taking a replacement back takes, held until then: nested changes may use up all others.
fn spare_handles(
    folder: &Directory,
    checks: WriteChecks<'_>,
) -> Result<[Option<OwnedFd>; 2], PutError> {
    if checks.callbacks.confirm.is_none() {
        return Ok([None, None]);
    }
    let spare = || folder.as_fd().try_clone_to_owned().map(Some).map_err(PutError::System);
    Ok([spare()?, spare()?])
}

/// Checks that the displaced file is the old one, and that all other conditions hold. Until the
/// result is dropped, no program can begin to write to the old file.
fn certify<'old>(
    folder: &Directory,
    temporary: &OsStr,
    old: &'old Old,
    content: &NewContent<'_>,
    checks: WriteChecks<'_>,
) -> Result<Option<Writers<'old>>, PutError> {
    let writers = examine(folder, temporary, old, content)?;
    settle(folder, content, checks)?;
    if let Some(writers) = &writers {
        old.check_writers(writers)?;
    }
    Ok(writers)
}

/// Checks that the file at the name `at` is the old one and has the expected bytes.
fn examine<'old>(
    folder: &Directory,
    at: &OsStr,
    old: &'old Old,
    content: &NewContent<'_>,
) -> Result<Option<Writers<'old>>, PutError> {
    let is_old = old.held.is_file_at(folder, at).map_err(put_error)?;
    match (is_old, content.expected) {
        (true, Some(_)) => old.check_displaced(content.expected).map(Some),
        (true, None) => Ok(None),
        (false, Some(_)) => Err(PutError::Changed),
        (false, None) => Err(PutError::Raced),
    }
}

/// Removes the old file, which is at the temporary name now, unless a writer waits for it.
fn remove_old(
    draft: &Draft<'_>,
    temporary: &OsStr,
    old: &Old,
    writers: Option<&Writers<'_>>,
) -> Removal {
    let own = identity(&draft.file).unwrap_or(Identity::UNKNOWN);
    let displaced = old.identity_for_sweeps().unwrap_or(Identity::UNKNOWN);
    let fresh = OsString::from(temporary::new_name(own, displaced));
    let must_stay = || writers.is_some_and(Writers::are_present);
    remove(draft.folder, temporary, old.held.id, fresh, &must_stay)
}

/// Renames the draft over the old file. If a check fails afterwards, writes the old bytes back.
///
/// The old file is examined once more just before the rename. If another program puts another
/// entry at the name between the two steps, the rename replaces that entry.
pub(super) fn rename_over(
    mut draft: Draft<'_>,
    name: &OsStr,
    old: &Old,
    content: &NewContent<'_>,
    checks: WriteChecks<'_>,
) -> Result<(), PutError> {
    let folder = draft.folder;
    let Some(temporary) = draft.name.clone() else { return Err(PutError::Raced) };
    let must_last = checks.callbacks.confirm.is_none();
    if !must_last {
        old.check_readable()?;
    }
    let _writers = examine(folder, name, old, content)?;
    check_place(folder, checks)?;
    let links = links_of(old);
    let spare = spare_handles(folder, checks)?;
    renameat(folder, &temporary, folder, name).map_err(put_error)?;
    draft.name = None;
    let is_compared = content.expected.is_some() || !must_last;
    if is_compared && links.is_some() && links_of(old) == links {
        return Err(Flaw::ReplacedAnother.into());
    }
    match sync_if_durable(folder, content) {
        Err(error) if must_last => Err(Flaw::Unsynced(error).into()),
        synced => {
            synced.map_err(PutError::System).and_then(|()| checks.confirm()).map_err(|error| {
                drop(spare);
                write_back(&draft, name, old, content, error)
            })
        }
    }
}

/// How many names the old file has, where the system says.
fn links_of(old: &Old) -> Option<u64> {
    old.file.metadata().ok().map(|metadata| metadata.nlink()).filter(|&links| links > 0)
}
