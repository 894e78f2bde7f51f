//! macOS: the hand-over-hand walk, on names that most volumes compare without case.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{OFlags, fstat, getpath};

pub(super) use super::unix::{Directory, open_directory, part_beneath};
use super::unix::{open_last_for_reading, strip_root};
use super::walk::Walk;
use super::{Containment, OpenError, Root};
use crate::path::WorkspacePath;

/// macOS has no `O_PATH`; a directory must be readable to be walked through.
pub(super) const DIRECTORY: OFlags = OFlags::RDONLY;

pub(super) fn containment(_root: &Directory) -> Containment {
    Containment::Walk
}

pub(super) fn open_for_reading(
    root: &Root,
    _containment: Containment,
    path: &WorkspacePath,
) -> Result<File, OpenError> {
    Walk::new(root, path).finish(&|root, parent, name| {
        open_last_for_reading(root, parent, name, path.must_be_directory())
    })
}

/// macOS has no magic links.
pub(super) fn holds_magic_links(_directory: &Directory) -> bool {
    false
}

impl Directory {
    /// What the system calls the open directory.
    pub(super) fn canonical_path(&self, _spelled: &Path) -> Option<PathBuf> {
        let path = getpath(self).ok()?.into_bytes();
        Some(PathBuf::from(OsString::from_vec(path)))
    }
}

/// A path lies inside the root if it is spelled so; in another case, if what it names at that
/// place is the root. The volume decides whether case counts, so it is asked. This is about names
/// alone: what is opened is opened beneath the handle either way.
pub(super) fn strip_root_as_named<'path>(
    root: &Directory,
    spelling: &Path,
    absolute: &'path str,
) -> Option<&'path OsStr> {
    if let Some(rest) = strip_root(spelling, absolute.as_bytes()) {
        return Some(rest);
    }
    let depth = spelling.components().filter(|part| matches!(part, Component::Normal(_))).count();
    let start: PathBuf = Path::new(absolute).components().take(depth + 1).collect();
    let there = std::fs::metadata(&start).ok()?;
    let here = fstat(root).ok()?;
    let same = there.dev() == u64::from(here.st_dev.cast_unsigned()) && there.ino() == here.st_ino;
    if same { strip_root(&start, absolute.as_bytes()) } else { None }
}
