//! Linux: `openat2`, and the walk where the kernel or a seccomp filter has none.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use rustix::fd::{AsRawFd, OwnedFd};
use rustix::fs::{
    CWD, Mode, OFlags, PROC_SUPER_MAGIC, ResolveFlags, fstat, fstatfs, openat2, readlinkat, stat,
};
use rustix::io::Errno;

pub(super) use super::unix::{Directory, open_directory, part_beneath};
use super::unix::{open_error, open_last_for_reading, read_flags, read_link, strip_root};
use super::walk::{Entry, Walk};
use super::{Containment, OpenError, Root};
use crate::path::WorkspacePath;

/// `O_PATH`: a directory that may be entered but not listed is a way like any other.
pub(super) const DIRECTORY: OFlags = OFlags::PATH;

/// The longest path, with its final NUL, that Linux takes in one call. The walk holds to it too,
/// so that both tiers answer alike.
const PATH_MAX: usize = 4096;

/// How often a call is repeated that the kernel could not finish because something was renamed
/// meanwhile: what systemd and runc settled on.
const MAX_EAGAIN: u32 = 128;

/// How often an opening starts anew because a name became a link between reading and opening.
const MAX_CHANGED: u32 = 16;

const BENEATH: ResolveFlags = ResolveFlags::BENEATH.union(ResolveFlags::NO_MAGICLINKS);

/// Asks the kernel once per process whether it offers `openat2`.
pub(super) fn containment(root: &Directory) -> Containment {
    static ANSWER: OnceLock<Containment> = OnceLock::new();
    *ANSWER.get_or_init(|| {
        match open_beneath(root, OsStr::new("."), OFlags::PATH | OFlags::CLOEXEC, BENEATH) {
            Err(Errno::NOSYS | Errno::PERM) => Containment::Walk,
            _ => Containment::Kernel,
        }
    })
}

pub(super) fn open_for_reading(
    root: &Root,
    containment: Containment,
    path: &WorkspacePath,
) -> Result<File, OpenError> {
    if path.as_str().len() >= PATH_MAX {
        return Err(OpenError::NameTooLong);
    }
    match containment {
        Containment::Kernel => open_by_kernel(root, path),
        Containment::Walk => open_by_walk(root, path),
    }
}

fn open_by_walk(root: &Root, path: &WorkspacePath) -> Result<File, OpenError> {
    Walk::new(root, path).finish(&|root, parent, name| {
        open_last_for_reading(root, parent, name, path.must_be_directory())
    })
}

fn open_by_kernel(root: &Root, path: &WorkspacePath) -> Result<File, OpenError> {
    let name = if path.is_root() { "." } else { path.as_str() };
    let flags = read_flags(path.must_be_directory());
    match open_beneath(&root.directory, OsStr::new(name), flags, BENEATH) {
        Ok(fd) => Ok(File::from(fd)),
        // A seccomp filter that was set after the kernel was asked.
        Err(Errno::NOSYS | Errno::PERM) => open_by_walk(root, path),
        // An absolute link, which may end inside; or `..` in a link while something was renamed.
        Err(Errno::XDEV | Errno::AGAIN) => open_without_links(root, path, flags),
        Err(error) => Err(open_error(error)),
    }
}

/// Resolves the links by hand and lets the kernel open what has none left: absolute links that
/// end inside the root are beyond `RESOLVE_BENEATH`, but the last word stays the kernel's.
fn open_without_links(root: &Root, path: &WorkspacePath, flags: OFlags) -> Result<File, OpenError> {
    for _ in 0..MAX_CHANGED {
        let name = resolve_links(root, path)?;
        let resolve = BENEATH | ResolveFlags::NO_SYMLINKS;
        match open_beneath(&root.directory, &name, flags, resolve) {
            Ok(fd) => return Ok(File::from(fd)),
            // A name has become a link since.
            Err(Errno::LOOP | Errno::XDEV | Errno::AGAIN) => {}
            Err(error) => return Err(open_error(error)),
        }
    }
    Err(OpenError::Escapes)
}

/// The path with every link in it replaced by what it points to.
fn resolve_links(root: &Root, path: &WorkspacePath) -> Result<OsString, OpenError> {
    let mut walk = Walk::new(root, path);
    let last = walk.finish(&|root, parent, name| {
        Ok(match read_link(root, parent, name)? {
            Some(target) => Entry::Link(target),
            None => Entry::Opened(name.to_owned()),
        })
    })?;
    let names = walk.entered_names().chain(std::iter::once(last.as_os_str()));
    Ok(OsString::from_vec(names.map(OsStrExt::as_bytes).collect::<Vec<_>>().join(&b'/')))
}

fn open_beneath(
    directory: &Directory,
    name: &OsStr,
    flags: OFlags,
    resolve: ResolveFlags,
) -> rustix::io::Result<OwnedFd> {
    let mut refused = Errno::AGAIN;
    for _ in 0..MAX_EAGAIN {
        match openat2(directory, name, flags, Mode::empty(), resolve) {
            Err(error @ (Errno::AGAIN | Errno::INTR)) => refused = error,
            answer => return answer,
        }
    }
    Err(refused)
}

/// Whether links in this directory may be magic: in `/proc`, everywhere but at its top.
///
/// `RESOLVE_NO_MAGICLINKS` tells `/proc/self` (a plain link) from `/proc/self/root` (a magic one).
/// By their looks the two cannot be told apart, but the plain ones are those of the top directory,
/// whose inode is `PROC_ROOT_INO`, 1.
pub(super) fn holds_magic_links(directory: &Directory) -> bool {
    const PROC_ROOT_INO: u64 = 1;
    let in_proc = fstatfs(directory).is_ok_and(|system| system.f_type == PROC_SUPER_MAGIC);
    in_proc && fstat(directory).is_ok_and(|entry| entry.st_ino != PROC_ROOT_INO)
}

impl Directory {
    /// What the kernel calls the open directory; without `/proc`, what the spelled path leads to
    /// if that is still the same directory.
    pub(super) fn canonical_path(&self, spelled: &Path) -> Option<PathBuf> {
        let path = self.path_by_proc().or_else(|| std::fs::canonicalize(spelled).ok())?;
        let (there, here) = (stat(&path).ok()?, fstat(self).ok()?);
        ((there.st_dev, there.st_ino) == (here.st_dev, here.st_ino)).then_some(path)
    }

    fn path_by_proc(&self) -> Option<PathBuf> {
        use rustix::fd::AsFd;
        let link = format!("/proc/self/fd/{}", self.as_fd().as_raw_fd());
        let path = readlinkat(CWD, link, Vec::new()).ok()?.into_bytes();
        Some(PathBuf::from(OsString::from_vec(path)))
    }
}

/// Names are bytes on Linux: a path lies inside the root if it is spelled so.
pub(super) fn strip_root_as_named<'path>(
    _root: &Directory,
    spelling: &Path,
    absolute: &'path str,
) -> Option<&'path OsStr> {
    strip_root(spelling, absolute.as_bytes())
}
