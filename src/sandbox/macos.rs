//! macOS: the hand-over-hand walk, on names that most volumes compare without case.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::marker::PhantomData;
use std::ops::ControlFlow;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use rustix::fd::OwnedFd;
use rustix::fs::{Dir, Mode, OFlags, fstat, getpath};
use rustix::io::Errno;

use super::list::{Listed, open_to_list_by_walk};
pub(super) use super::unix::{
    Directory, open_directory, open_directory_to_list, open_entry, part_beneath,
};
use super::unix::{entry_kind, names, open_by_walk, open_error, read_flags, resolve_by_walk};
pub(super) use super::unix_put::{
    FileFacts, create, folder_id, look, make_folder, remove_folder, replace, sweep, sync_folder,
};
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
    open_by_walk(root, path, read_flags(path.must_be_directory())).map(File::from)
}

/// Opens a folder to create in.
pub(super) fn open_folder(
    root: &Root,
    _containment: Containment,
    path: &WorkspacePath,
) -> Result<Directory, OpenError> {
    open_by_walk(root, path, DIRECTORY | OFlags::DIRECTORY | OFlags::CLOEXEC).map(Directory::from)
}

/// Opens a folder to list it.
pub(super) fn open_to_list(
    root: &Root,
    containment: Containment,
    path: &WorkspacePath,
) -> Result<Directory, OpenError> {
    open_folder(root, containment, path)
}

/// Opens a folder to list it, by names of which none may be a link.
pub(super) fn open_to_list_by_names(
    root: &Root,
    _containment: Containment,
    names: &[&OsStr],
) -> Result<Directory, OpenError> {
    open_to_list_by_walk(root, names)
}

/// Hands the entries of a folder, which is open to be listed, to `visit`.
pub(super) fn visit_entries(
    folder: &mut Directory,
    visit: &mut dyn FnMut(Listed<'_>) -> ControlFlow<()>,
) -> Result<(), OpenError> {
    for entry in Dir::read_from(&*folder).map_err(open_error)? {
        let entry = entry.map_err(open_error)?;
        let name = OsStr::from_bytes(entry.file_name().to_bytes());
        let Some(kind) = entry_kind(folder, name, entry.file_type()) else { continue };
        if Listed::new(name, kind).is_some_and(|listed| visit(listed).is_break()) {
            break;
        }
    }
    Ok(())
}

/// Follows the links of a path to its very end: the folder that holds what it names, and the name
/// there, which was no link a moment ago.
pub(super) fn resolve_target(
    root: &Root,
    _containment: Containment,
    path: &WorkspacePath,
) -> Result<(Directory, OsString), OpenError> {
    resolve_by_walk(root, path)
}

/// macOS has no files without a name.
pub(super) fn open_unnamed(_folder: &Directory, _mode: Mode) -> rustix::io::Result<OwnedFd> {
    Err(Errno::OPNOTSUPP)
}

/// So none is to be given a name.
pub(super) fn link_unnamed(
    _file: &File,
    _folder: &Directory,
    _name: &OsStr,
) -> rustix::io::Result<()> {
    Err(Errno::OPNOTSUPP)
}

/// Who has a file open for writing: macOS does not tell.
pub(super) struct Writers<'file>(PhantomData<&'file File>);

impl<'file> Writers<'file> {
    pub(super) fn of(_file: &'file File) -> Self {
        Self(PhantomData)
    }

    #[allow(clippy::unused_self, reason = "on Linux it is known")]
    pub(super) fn are_at_work(&self) -> bool {
        false
    }
}

/// Whether entries of this folder can be made, but neither renamed nor removed: `UF_APPEND` or
/// `SF_APPEND` of `sys/stat.h`.
pub(super) fn is_append_only(folder: &Directory) -> bool {
    const APPEND: u32 = 0x0000_0004 | 0x0004_0000;
    fstat(folder).is_ok_and(|entry| entry.st_flags & APPEND != 0)
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
pub(super) fn root_names<'path>(
    root: &Directory,
    spelling: &'path Path,
    absolute: &'path str,
) -> Option<Vec<&'path str>> {
    let as_spelled = names(spelling)?;
    let as_given: Vec<_> = names(Path::new(absolute))?.into_iter().take(as_spelled.len()).collect();
    let start: PathBuf = std::iter::once("/").chain(as_given.iter().copied()).collect();
    let is_root = as_given.len() == as_spelled.len() && root.is_at(&start);
    Some(if is_root { as_given } else { as_spelled })
}
