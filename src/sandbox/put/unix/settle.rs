//! The last checks, after the new file has its name.

use std::io;

use crate::sandbox::put::content::{NewContent, WriteChecks};
use crate::sandbox::put::error::PutError;
use crate::sandbox::system::{self, Directory};

/// Checks that the path still leads to the folder. Syncs the folder if the content must be
/// durable.
pub(super) fn settle(
    folder: &Directory,
    content: &NewContent<'_>,
    checks: WriteChecks<'_>,
) -> Result<(), PutError> {
    check_place(folder, checks)?;
    sync_if_durable(folder, content).map_err(PutError::System)
}

pub(super) fn check_place(folder: &Directory, checks: WriteChecks<'_>) -> Result<(), PutError> {
    if (checks.is_current)(folder) { Ok(()) } else { Err(PutError::Raced) }
}

pub(super) fn sync_if_durable(folder: &Directory, content: &NewContent<'_>) -> io::Result<()> {
    if content.durable { system::sync_folder(folder) } else { Ok(()) }
}
