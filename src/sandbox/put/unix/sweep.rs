//! Sweeping a folder: removing the leftovers of killed processes.

use std::ffi::OsStr;
use std::time::{Duration, Instant};

use rustix::fs::{Dir, FlockOperation, flock};

use super::old::open_old;
use crate::sandbox::entry::{EntryKind, Found};
use crate::sandbox::system::unix::Writers;
use crate::sandbox::system::unix::held::{Held, identity, remove};
use crate::sandbox::system::{Directory, folder_id, kind_at, open_directory_to_list, remove_name};
use crate::sandbox::temporary::{self, Identity};
use crate::sandbox::{folder_tree, sweeps};

/// Removes the leftovers of killed processes from a folder, unless it was swept a moment ago. A leftover is an
/// entry whose temporary name was made for it, and which no process of this library holds locked any more.
pub(crate) fn sweep(folder: &Directory) {
    let Ok(id) = folder_id(folder) else { return };
    sweeps::when_due(id, || sweep_now(folder));
}

pub(in crate::sandbox) fn sweep_now(folder: &Directory) {
    let Ok(entries) = Dir::read_from(folder) else { return };
    for entry in entries.filter_map(Result::ok) {
        let Ok(name) = entry.file_name().to_str() else { continue };
        if temporary::looks_like_one(name) {
            sweep_one(folder, name);
        }
    }
}

fn sweep_one(folder: &Directory, name: &str) {
    match kind_at(folder, OsStr::new(name)) {
        Ok(Some(EntryKind::File)) => sweep_file(folder, name),
        Ok(Some(EntryKind::Folder)) => sweep_folder(folder, name),
        Ok(Some(EntryKind::Link)) => sweep_link(folder, name),
        _ => {}
    }
}

fn sweep_file(folder: &Directory, name: &str) {
    let path = OsStr::new(name);
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

/// A folder whose removal a killed process has begun. A living one holds the lock. A large folder is removed by
/// several sweeps.
fn sweep_folder(folder: &Directory, name: &str) {
    const MAX_TIME: Duration = Duration::from_millis(50);
    let path = OsStr::new(name);
    let Ok(Found::Opened(left)) = open_directory_to_list(folder, path) else { return };
    let Some(identity) = Held::at(folder, path).ok().and_then(|held| held.identity()) else {
        return;
    };
    let begun = Instant::now();
    if is_made_for(name, identity)
        && flock(&left, FlockOperation::NonBlockingLockExclusive).is_ok()
        && folder_tree::empty(left, &mut 0, None, &|| begun.elapsed() > MAX_TIME).is_ok()
    {
        let _ = remove_name(folder, path, true);
    }
}

/// A link whose removal a killed process has begun. Links have no locks, but a living process needs only
/// microseconds, and the time in which its caller makes other changes before it confirms the removal.
fn sweep_link(folder: &Directory, name: &str) {
    const MIN_AGE: Duration = Duration::from_secs(60 * 60);
    let path = OsStr::new(name);
    let Ok(held) = Held::at(folder, path) else { return };
    let Some(identity) = held.identity() else { return };
    if is_made_for(name, identity) && held.age().is_some_and(|age| age > MIN_AGE) {
        let fresh = temporary::new_name(identity, identity);
        remove(folder, path, held.id, fresh.into(), &|| false);
    }
}

/// Whether a temporary name was made for this entry. A name that was made before its file does not count: such
/// a file is empty, so a size above zero excludes it.
fn is_made_for(name: &str, identity: Identity) -> bool {
    const NOT_EMPTY: u64 = 1;
    temporary::is_leftover(name, identity, NOT_EMPTY)
}
