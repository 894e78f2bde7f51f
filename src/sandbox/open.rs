//! Opening the file or folder of a path, by the tier that is in force.

use std::ffi::{OsStr, OsString};
use std::fs::File;

use super::error::OpenError;
use super::judge::Reached;
#[cfg(target_os = "linux")]
use super::kernel;
use super::root::{Containment, Sandbox};
use super::system::{self, Directory};
use super::walk;
// Other systems have one tier.
#[cfg(not(target_os = "linux"))]
use super::walk as kernel;
use crate::access::Access;
use crate::path::WorkspacePath;

/// Opens a file to read it. If another program keeps it for a moment, waits a moment.
pub(super) fn to_read(
    root: &Sandbox,
    path: &WorkspacePath,
    access: Access,
) -> Result<File, OpenError> {
    check_length(path)?;
    system::wait_for_others(&|| match root.containment {
        Containment::Kernel => kernel::open_to_read(root, path, access),
        Containment::Walk => walk::open_to_read(root, path, access),
    })
}

/// Opens a folder to create in. `rest` leads on from it to the entry that is made or changed.
pub(super) fn to_write_in(
    root: &Sandbox,
    folder: &WorkspacePath,
    rest: &WorkspacePath,
) -> Result<Reached, OpenError> {
    check_length(folder)?;
    match root.containment {
        Containment::Kernel => kernel::open_to_write_in(root, folder, rest),
        Containment::Walk => walk::open_to_write_in(root, folder, rest),
    }
}

/// Opens a folder to list it.
pub(super) fn to_list(root: &Sandbox, path: &WorkspacePath) -> Result<Reached, OpenError> {
    check_length(path)?;
    match root.containment {
        Containment::Kernel => kernel::open_to_list(root, path),
        Containment::Walk => walk::open_to_list(root, path),
    }
}

/// Opens a folder to list it, by names of which none may be a link.
pub(super) fn to_list_by_names(root: &Sandbox, names: &[&OsStr]) -> Result<Directory, OpenError> {
    match root.containment {
        Containment::Kernel => kernel::open_to_list_by_names(root, names),
        Containment::Walk => walk::open_to_list_by_names(root, names),
    }
}

/// Follows all links of a path. Gives the folder in which the path ends, open to create in, and
/// the last name, which was no link a moment ago.
pub(super) fn resolve(
    root: &Sandbox,
    path: &WorkspacePath,
) -> Result<(Directory, OsString), OpenError> {
    match root.containment {
        Containment::Kernel => kernel::resolve(root, path),
        Containment::Walk => walk::resolve(root, path),
    }
}

/// The system's limit on one path holds on both tiers, so that they answer alike.
fn check_length(path: &WorkspacePath) -> Result<(), OpenError> {
    if path.as_str().len() >= system::PATH_MAX {
        return Err(OpenError::NameTooLong);
    }
    Ok(())
}
