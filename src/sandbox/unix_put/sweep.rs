//! Removing what killed processes have left in a folder.

use std::ffi::OsStr;

use rustix::fs::{AtFlags, Dir, FlockOperation, flock, unlinkat};

use super::old::{identity, open_old, stands_at};
use super::{folder_id, look};
use crate::sandbox::unix::Directory;
use crate::sandbox::write::Standing;
use crate::sandbox::{sweeps, temporary};

/// Removes what killed processes have left in a folder: files whose temporary name was made for
/// them, and whose writer does not hold their lock any more.
pub(in crate::sandbox) fn sweep(folder: &Directory) {
    let Ok(id) = folder_id(folder) else { return };
    sweeps::when_due(id, || sweep_now(folder));
}

pub(super) fn sweep_now(folder: &Directory) {
    let Ok(entries) = Dir::read_from(folder) else { return };
    for entry in entries.filter_map(Result::ok) {
        let Ok(name) = entry.file_name().to_str() else { continue };
        if temporary::looks_like_one(name) {
            sweep_one(folder, name);
        }
    }
}

fn sweep_one(folder: &Directory, name: &str) {
    let name = OsStr::new(name);
    if !matches!(look(folder, name), Ok(Standing::File(_))) {
        return;
    }
    let Ok(file) = open_old(folder, name) else { return };
    let (Ok(identity), Ok(metadata)) = (identity(&file), file.metadata()) else { return };
    let is_ours =
        name.to_str().is_some_and(|name| temporary::is_leftover(name, identity, metadata.len()));
    // A writer that lives holds the lock.
    if is_ours
        && flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok()
        && stands_at(folder, name, &file) == Ok(true)
    {
        let _ = unlinkat(folder, name, AtFlags::empty());
    }
}
