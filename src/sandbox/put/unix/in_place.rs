//! The last resort for a new file: where a file system has neither files without names, nor hard
//! links, nor renames that replace nothing, only making the file at its final name is exclusive.

use std::ffi::OsStr;

use super::draft::{Draft, NEW_FILE};
use super::error::put_error;
use super::settle::settle;
use crate::sandbox::put::content::{Created, NewContent, Visibility, WriteChecks};
use crate::sandbox::put::error::PutError;
use crate::sandbox::system::Directory;

/// Makes the file at its final name, and writes it there: readers may see a part of it, and a killed
/// process leaves that part.
pub(super) fn create(
    folder: &Directory,
    name: &OsStr,
    content: &NewContent<'_>,
    checks: WriteChecks<'_>,
) -> Result<Created, PutError> {
    let mut draft = Draft::at(folder, name, NEW_FILE).map_err(put_error)?;
    let written = draft.fill(content, checks.cancelled).and_then(|()| {
        let after = draft.facts()?;
        settle(folder, content, checks)?;
        Ok(Created { after, visibility: Visibility::Gradual })
    });
    match written {
        Ok(created) => Ok(created),
        Err(error) => Err(draft.take_away(name, content, error)),
    }
}
