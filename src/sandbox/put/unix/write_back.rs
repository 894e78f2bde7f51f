//! Undoing a rename over the old file, where the system cannot exchange names: the old bytes are written
//! anew. The head of `put/unix/mod.rs` has the terms.

use std::ffi::OsStr;
use std::fs::FileTimes;
use std::io::{self, Seek};

use rustix::fs::{Mode, fchmod, fstat, renameat};

use super::draft::Draft;
use super::error::put_error;
use super::old::Old;
use super::prepare;
use super::settle::sync_if_durable;
use crate::sandbox::put::content::NewContent;
use crate::sandbox::put::error::{PutError, Stray};
use crate::sandbox::system::unix::held::id_at;

/// Puts a file with the bytes and rights of the old file, which has no name any more, in the place of the
/// draft because of an error, and gives the error to answer with. If another program has changed the draft
/// or put a file over it, that one stays.
pub(super) fn write_back(
    draft: &Draft<'_>,
    name: &OsStr,
    old: &Old,
    content: &NewContent<'_>,
    error: PutError,
) -> PutError {
    match restore(draft, name, old, content) {
        Ok(Outcome::WrittenBack | Outcome::DraftReplaced) => error,
        Ok(Outcome::DraftUsed) | Err(_) => error.with(Stray::Standing),
    }
}

enum Outcome {
    WrittenBack,
    /// Another program has replaced or removed the draft. Without the rename it would have done that to the
    /// old file.
    DraftReplaced,
    /// Another program has moved or changed the draft, or has it open.
    DraftUsed,
}

fn restore(
    draft: &Draft<'_>,
    name: &OsStr,
    old: &Old,
    content: &NewContent<'_>,
) -> Result<Outcome, PutError> {
    let folder = draft.folder;
    if draft.is_gone() {
        return Ok(Outcome::DraftReplaced);
    }
    let copy =
        |copy: &mut Draft<'_>| copy_all(old, copy, content.durable).map_err(PutError::System);
    let mut copy = prepare(|folder, mode| Draft::unnamed(folder, mode), folder, old, None, &copy)?;
    // As long as the lease lives, no other program can open the draft unnoticed.
    let Some(_lease) = draft.users(content) else { return Ok(Outcome::DraftUsed) };
    let size = draft.file.metadata().map_err(PutError::System)?.len();
    let is_whole = size == content.bytes.len() as u64;
    if !is_whole || id_at(folder, name).map_err(put_error)? != draft.id {
        return Ok(Outcome::DraftUsed);
    }
    let Some(temporary) = copy.name.clone() else { return Err(PutError::Raced) };
    renameat(folder, &temporary, folder, name).map_err(put_error)?;
    copy.name = None;
    let _ = sync_if_durable(folder, content);
    Ok(Outcome::WrittenBack)
}

/// Copies the old file's bytes and time. The mode comes last, because a write clears some of its bits; all of
/// them are set, since the content is the one that they were given to.
fn copy_all(old: &Old, copy: &mut Draft<'_>, durable: bool) -> io::Result<()> {
    let mut from = &old.file;
    from.rewind()?;
    io::copy(&mut from, &mut copy.file)?;
    let (had, has) = (fstat(&old.file)?, fstat(&copy.file)?);
    if (had.st_uid, had.st_gid) == (has.st_uid, has.st_gid) {
        let _ = fchmod(&copy.file, Mode::from_raw_mode(had.st_mode));
    }
    if let Ok(modified) = old.file.metadata()?.modified() {
        let _ = copy.file.set_times(FileTimes::new().set_modified(modified));
    }
    if durable { copy.file.sync_all() } else { Ok(()) }
}
