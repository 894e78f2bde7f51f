//! Sweeping a folder: removing the leftovers of killed processes.

use std::ffi::OsStr;

use rustix::fs::{Dir, FlockOperation, flock};

use super::old::{identity, open_old};
use crate::sandbox::entry::EntryKind;
use crate::sandbox::system::unix::Writers;
use crate::sandbox::system::unix::held::{Held, remove};
use crate::sandbox::system::{Directory, folder_id, kind_at};
use crate::sandbox::{sweeps, temporary};

/// Removes the leftovers of killed processes from a folder: files whose temporary name was made
/// for them, and which no writer holds locked any more.
pub(crate) fn sweep(folder: &Directory) {
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
    let path = OsStr::new(name);
    if !matches!(kind_at(folder, path), Ok(Some(EntryKind::File))) {
        return;
    }
    let Ok(file) = open_old(folder, path) else { return };
    let (Ok(identity), Ok(metadata), Ok(held)) =
        (identity(&file), file.metadata(), Held::of(&file))
    else {
        return;
    };
    // A living writer of this library holds the lock. Another program may have had the file open when it
    // was displaced, and may still write to it.
    if temporary::is_leftover(name, identity, metadata.len())
        && flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok()
        && !Writers::of(&file).are_present()
    {
        let fresh = temporary::new_name(identity, identity);
        remove(folder, path, held.id, fresh.into(), &|| false);
    }
}
