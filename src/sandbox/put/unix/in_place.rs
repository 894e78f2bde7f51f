//! The last resort for a new file: where a file system has neither files without names, nor hard
//! links, nor renames that replace nothing, only making the file at its final name is exclusive.

use std::ffi::OsStr;

use super::draft::Draft;
use super::error::put_error;
use super::{created_or_taken_away, new_file_mode, settle_new};
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
    let mut draft = Draft::at(folder, name, new_file_mode(content)).map_err(put_error)?;
    let created = draft
        .fill(content, checks.callbacks.cancelled)
        .and_then(|()| settle_new(&mut draft, content, Visibility::Gradual, checks));
    created_or_taken_away(draft, name, content, created)
}
