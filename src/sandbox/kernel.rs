//! The kernel's tier, on Linux: `openat2` walks the path and refuses to step outside.
//!
//! The walk helps in three cases: for absolute links that end inside the root, for paths longer
//! than one call takes, and if the kernel or a filter of system calls refuses the call.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use rustix::fd::OwnedFd;
use rustix::fs::{OFlags, ResolveFlags};
use rustix::io::Errno;

use super::entry::Found;
use super::error::OpenError;
use super::judge::Reached;
use super::root::Sandbox;
use super::system::openat2::{BENEATH, open_beneath};
use super::system::{self, Directory, PATH_MAX, open_error, read_flags};
use super::walk::{self, PathWalk};
use crate::access::Access;
use crate::path::WorkspacePath;

/// How a folder is opened to be listed.
const LIST: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// How often an opening starts anew because a name became a link between reading and opening.
const MAX_CHANGED: u32 = 16;

/// Opens a file to read it.
pub(super) fn open_to_read(
    root: &Sandbox,
    path: &WorkspacePath,
    access: Access,
) -> Result<File, OpenError> {
    let flags = read_flags(path.must_be_directory());
    open(root, path, flags, &|| walk::open_to_read(root, path, access))
}

/// Opens a folder to create in. `rest` leads on from it to the entry that is made or changed.
///
/// It is opened for reading, because an `O_PATH` handle cannot be synced. If the process may not read
/// the folder, `O_PATH` is enough.
pub(super) fn open_to_write_in(
    root: &Sandbox,
    folder: &WorkspacePath,
    rest: &WorkspacePath,
) -> Result<Reached, OpenError> {
    let by_walk = &|| walk::open_to_write_in(root, folder, rest);
    match open(root, folder, LIST, by_walk) {
        Err(OpenError::PermissionDenied) => {
            let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
            open(root, folder, flags, by_walk)
        }
        opened => opened,
    }
}

/// Opens a folder to list it.
pub(super) fn open_to_list(root: &Sandbox, path: &WorkspacePath) -> Result<Reached, OpenError> {
    open(root, path, LIST, &|| walk::open_to_list(root, path))
}

/// Opens a folder to list it, by names of which none may be a link.
pub(super) fn open_to_list_by_names(
    root: &Sandbox,
    names: &[&OsStr],
) -> Result<Directory, OpenError> {
    let path = if names.is_empty() { ".".into() } else { names.join(OsStr::new("/")) };
    if path.len() >= PATH_MAX {
        return walk::open_to_list_by_names(root, names);
    }
    let resolve = BENEATH | ResolveFlags::NO_SYMLINKS;
    match open_beneath(&root.directory, &path, LIST, resolve) {
        Ok(fd) => Ok(Directory::from(fd)),
        // The first two as in `open`. `AGAIN`: something was renamed in every attempt.
        Err(Errno::NOSYS | Errno::PERM | Errno::AGAIN) => walk::open_to_list_by_names(root, names),
        // A name has become a link.
        Err(Errno::LOOP) => Err(OpenError::Escapes),
        Err(error) => Err(open_error(error)),
    }
}

/// Follows all links of a path. Gives the folder in which the path ends, open to create in, and
/// the last name, which was no link a moment ago.
pub(super) fn resolve(
    root: &Sandbox,
    path: &WorkspacePath,
) -> Result<(Directory, OsString), OpenError> {
    for _ in 0..MAX_CHANGED {
        let (folder, name) = without_links(root, path, Access::Change)?;
        let folder = if folder.is_empty() { OsStr::new(".") } else { &folder };
        let open = |access| {
            let flags = access | OFlags::DIRECTORY | OFlags::CLOEXEC;
            open_beneath(&root.directory, folder, flags, BENEATH | ResolveFlags::NO_SYMLINKS)
        };
        let opened = match open(OFlags::RDONLY) {
            // As in `open_to_write_in`.
            Err(Errno::ACCESS) => open(OFlags::PATH),
            opened => opened,
        };
        match opened {
            Ok(folder) => return Ok((Directory::from(folder), name)),
            // A name has become a link since.
            Err(Errno::LOOP | Errno::XDEV | Errno::AGAIN) => {}
            Err(error) => return Err(open_error(error)),
        }
    }
    Err(OpenError::Escapes)
}

type ByWalk<'call, T> = &'call dyn Fn() -> Result<T, OpenError>;

impl From<OwnedFd> for Reached {
    fn from(fd: OwnedFd) -> Self {
        Self { directory: fd.into(), other_paths: Vec::new() }
    }
}

fn open<T: From<OwnedFd>>(
    root: &Sandbox,
    path: &WorkspacePath,
    flags: OFlags,
    by_walk: ByWalk<'_, T>,
) -> Result<T, OpenError> {
    let name = if path.is_root() { "." } else { path.as_str() };
    let has_rules = root.rules().is_some();
    let resolve = if has_rules { BENEATH | ResolveFlags::NO_SYMLINKS } else { BENEATH };
    match open_beneath(&root.directory, OsStr::new(name), flags, resolve) {
        Ok(fd) => Ok(fd.into()),
        // A link, which the walk follows, so that the rules judge where it leads.
        Err(Errno::LOOP | Errno::XDEV | Errno::AGAIN) if has_rules => by_walk(),
        // A seccomp filter refuses the call. It was set after `offers_openat2` had asked the
        // kernel.
        Err(Errno::NOSYS | Errno::PERM) => by_walk(),
        // An absolute link, which may end inside; or `..` in a link while something was renamed.
        Err(Errno::XDEV | Errno::AGAIN) => open_without_links(root, path, flags, by_walk),
        Err(error) => Err(open_error(error)),
    }
}

/// Resolves the links with the walk, then has the kernel open the resulting path, in which no link
/// is left. This is needed because `RESOLVE_BENEATH` refuses every absolute link, also one that
/// ends inside the root. The kernel still checks the resulting path.
fn open_without_links<T: From<OwnedFd>>(
    root: &Sandbox,
    path: &WorkspacePath,
    flags: OFlags,
    by_walk: ByWalk<'_, T>,
) -> Result<T, OpenError> {
    for _ in 0..MAX_CHANGED {
        let (mut name, last) = without_links(root, path, Access::Read)?;
        if !name.is_empty() {
            name.push("/");
        }
        name.push(last);
        if name.len() >= PATH_MAX {
            // Links have led to a name that no single call takes.
            return by_walk();
        }
        let resolve = BENEATH | ResolveFlags::NO_SYMLINKS;
        match open_beneath(&root.directory, &name, flags, resolve) {
            Ok(fd) => return Ok(fd.into()),
            // A name has become a link since.
            Err(Errno::LOOP | Errno::XDEV) => {}
            Err(error) => return Err(open_error(error)),
        }
    }
    Err(OpenError::Escapes)
}

/// The path with every link in it replaced by its target: the folder, and the name in it.
fn without_links(
    root: &Sandbox,
    path: &WorkspacePath,
    access: Access,
) -> Result<(OsString, OsString), OpenError> {
    let mut walk = PathWalk::new(root, path, access);
    let last = walk.finish(&|parent, name| {
        Ok(match system::read_link(parent, name)? {
            Some(target) => Found::Link(target),
            None => Found::Opened(name.to_owned()),
        })
    })?;
    let names: Vec<_> = walk.entered_names().map(OsStrExt::as_bytes).collect();
    Ok((OsString::from_vec(names.join(&b'/')), last))
}
