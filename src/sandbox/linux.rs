//! Linux: `openat2`, and the walk where the kernel or a seccomp filter has none.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::ops::ControlFlow;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use rustix::fd::{AsRawFd, OwnedFd};
use rustix::fs::{
    AtFlags, CWD, Mode, OFlags, PROC_SUPER_MAGIC, RawDir, ResolveFlags, SeekFrom, StatxAttributes,
    StatxFlags, fstat, fstatfs, linkat, openat, openat2, readlinkat, seek, statx,
};
use rustix::io::Errno;

pub(super) use super::lease::Writers;
use super::list::{Listed, open_to_list_by_walk};
pub(super) use super::unix::{Directory, open_directory, open_directory_to_list, part_beneath};
use super::unix::{
    entry_kind, names, open_by_walk, open_error, outlast_lease, read_flags, read_link,
    resolve_by_walk, retry_interrupted,
};
pub(super) use super::unix_put::{
    FileFacts, create, folder_id, look, make_folder, remove_folder, replace, sweep, sync_folder,
};
use super::walk::{Entry, Walk};
use super::{Containment, OpenError, Root, unix};
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

/// How a folder is opened to be listed.
const LIST: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// What keeps a path inside.
pub(super) const BENEATH: ResolveFlags = ResolveFlags::BENEATH.union(ResolveFlags::NO_MAGICLINKS);

/// Asks the kernel once per process whether it offers `openat2`. A filter that is set later is
/// noticed call by call.
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
    let flags = read_flags(path.must_be_directory());
    let is_leased = |error: &OpenError| matches!(error, OpenError::Leased);
    outlast_lease(|| open(root, containment, path, flags), is_leased, &|| false).map(File::from)
}

/// Opens a folder to create in.
///
/// It is opened for reading, since a handle that is a mere place to stand cannot be synced; and as
/// such a place only if the process may not read it.
pub(super) fn open_folder(
    root: &Root,
    containment: Containment,
    path: &WorkspacePath,
) -> Result<Directory, OpenError> {
    let flags = OFlags::DIRECTORY | OFlags::CLOEXEC;
    match open(root, containment, path, flags | OFlags::RDONLY) {
        Err(OpenError::PermissionDenied) => open(root, containment, path, flags | OFlags::PATH),
        opened => opened,
    }
    .map(Directory::from)
}

/// Opens a folder to list it.
pub(super) fn open_to_list(
    root: &Root,
    containment: Containment,
    path: &WorkspacePath,
) -> Result<Directory, OpenError> {
    open(root, containment, path, LIST).map(Directory::from)
}

/// Opens a folder to list it, by names of which none may be a link.
pub(super) fn open_to_list_by_names(
    root: &Root,
    containment: Containment,
    names: &[&OsStr],
) -> Result<Directory, OpenError> {
    let path = if names.is_empty() { ".".into() } else { names.join(OsStr::new("/")) };
    if containment == Containment::Walk || path.len() >= PATH_MAX {
        return open_to_list_by_walk(root, names);
    }
    match open_beneath(&root.directory, &path, LIST, BENEATH | ResolveFlags::NO_SYMLINKS) {
        Ok(fd) => Ok(Directory::from(fd)),
        // As in `open_by_kernel`; or something was renamed all the while.
        Err(Errno::NOSYS | Errno::PERM | Errno::AGAIN) => open_to_list_by_walk(root, names),
        // A name has become a link.
        Err(Errno::LOOP) => Err(OpenError::Escapes),
        Err(error) => Err(open_error(error)),
    }
}

/// Opens a file by one name, following nothing.
pub(super) fn open_entry(
    root: &Root,
    folder: &Directory,
    name: &OsStr,
) -> Result<Entry<File>, OpenError> {
    let is_leased = |error: &OpenError| matches!(error, OpenError::Leased);
    outlast_lease(|| unix::open_entry(root, folder, name), is_leased, &|| false)
}

/// Hands the entries of a folder, which is open to be listed, to `visit`.
pub(super) fn visit_entries(
    folder: &mut Directory,
    visit: &mut dyn FnMut(Listed<'_>) -> ControlFlow<()>,
) -> Result<(), OpenError> {
    const BUFFER: usize = 32 * 1024;
    seek(&*folder, SeekFrom::Start(0)).map_err(open_error)?;
    let mut buffer: Vec<u8> = Vec::with_capacity(BUFFER);
    let mut entries = RawDir::new(&*folder, buffer.spare_capacity_mut());
    while let Some(entry) = entries.next() {
        let entry = match entry {
            Ok(entry) => entry,
            Err(Errno::INTR) => continue,
            Err(error) => return Err(open_error(error)),
        };
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
    containment: Containment,
    path: &WorkspacePath,
) -> Result<(Directory, OsString), OpenError> {
    if containment == Containment::Walk {
        return resolve_by_walk(root, path);
    }
    for _ in 0..MAX_CHANGED {
        let (folder, name) = resolve_links(root, path)?;
        let folder = if folder.is_empty() { OsStr::new(".") } else { &folder };
        let open = |access| {
            let flags = access | OFlags::DIRECTORY | OFlags::CLOEXEC;
            open_beneath(&root.directory, folder, flags, BENEATH | ResolveFlags::NO_SYMLINKS)
        };
        let opened = match open(OFlags::RDONLY) {
            // As in `open_folder`.
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

/// A new file without a name, in the folder's file system.
pub(super) fn open_unnamed(folder: &Directory, mode: Mode) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    retry_interrupted(|| openat(folder, ".", flags, mode))
}

/// Gives a file that [`open_unnamed`] opened its name; nobody else's is replaced.
pub(super) fn link_unnamed(
    file: &File,
    folder: &Directory,
    name: &OsStr,
) -> rustix::io::Result<()> {
    match linkat(file, "", folder, name, AtFlags::EMPTY_PATH) {
        // What a process without CAP_DAC_READ_SEARCH is told before Linux 6.10.
        Err(Errno::NOENT) => {}
        Err(Errno::PERM | Errno::NOSYS) => return Err(Errno::OPNOTSUPP),
        linked => return linked,
    }
    let by_proc = format!("/proc/self/fd/{}", file.as_raw_fd());
    match linkat(CWD, by_proc, folder, name, AtFlags::SYMLINK_FOLLOW) {
        Err(Errno::NOENT) if !folder.is_removed() => Err(Errno::OPNOTSUPP),
        linked => linked,
    }
}

fn open(
    root: &Root,
    containment: Containment,
    path: &WorkspacePath,
    flags: OFlags,
) -> Result<OwnedFd, OpenError> {
    if path.as_str().len() >= PATH_MAX {
        return Err(OpenError::NameTooLong);
    }
    match containment {
        Containment::Kernel => open_by_kernel(root, path, flags),
        Containment::Walk => open_by_walk(root, path, flags),
    }
}

fn open_by_kernel(root: &Root, path: &WorkspacePath, flags: OFlags) -> Result<OwnedFd, OpenError> {
    let name = if path.is_root() { "." } else { path.as_str() };
    match open_beneath(&root.directory, OsStr::new(name), flags, BENEATH) {
        Ok(fd) => Ok(fd),
        // A seccomp filter that was set after the kernel was asked.
        Err(Errno::NOSYS | Errno::PERM) => open_by_walk(root, path, flags),
        // An absolute link, which may end inside; or `..` in a link while something was renamed.
        Err(Errno::XDEV | Errno::AGAIN) => open_without_links(root, path, flags),
        Err(error) => Err(open_error(error)),
    }
}

/// Resolves the links by hand and lets the kernel open what has none left: absolute links that
/// end inside the root are beyond `RESOLVE_BENEATH`, but the last word stays the kernel's.
fn open_without_links(
    root: &Root,
    path: &WorkspacePath,
    flags: OFlags,
) -> Result<OwnedFd, OpenError> {
    for _ in 0..MAX_CHANGED {
        let (mut name, last) = resolve_links(root, path)?;
        if !name.is_empty() {
            name.push("/");
        }
        name.push(last);
        if name.len() >= PATH_MAX {
            // Links have led to a name that no single call takes.
            return open_by_walk(root, path, flags);
        }
        let resolve = BENEATH | ResolveFlags::NO_SYMLINKS;
        match open_beneath(&root.directory, &name, flags, resolve) {
            Ok(fd) => return Ok(fd),
            // A name has become a link since.
            Err(Errno::LOOP | Errno::XDEV) => {}
            Err(error) => return Err(open_error(error)),
        }
    }
    Err(OpenError::Escapes)
}

/// The path with every link in it replaced by what it points to: the folder, and the name in it.
fn resolve_links(root: &Root, path: &WorkspacePath) -> Result<(OsString, OsString), OpenError> {
    let mut walk = Walk::new(root, path);
    let last = walk.finish(&|root, parent, name| {
        Ok(match read_link(root, parent, name)? {
            Some(target) => Entry::Link(target),
            None => Entry::Opened(name.to_owned()),
        })
    })?;
    let names: Vec<_> = walk.entered_names().map(OsStrExt::as_bytes).collect();
    Ok((OsString::from_vec(names.join(&b'/')), last))
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

/// Whether entries of this folder can be made, but neither renamed nor removed.
pub(super) fn is_append_only(folder: &Directory) -> bool {
    let flags = AtFlags::EMPTY_PATH;
    statx(folder, "", flags, StatxFlags::empty())
        .is_ok_and(|entry| entry.stx_attributes.contains(StatxAttributes::APPEND))
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
        self.is_at(&path).then_some(path)
    }

    fn path_by_proc(&self) -> Option<PathBuf> {
        use rustix::fd::AsFd;
        let link = format!("/proc/self/fd/{}", self.as_fd().as_raw_fd());
        let path = readlinkat(CWD, link, Vec::new()).ok()?.into_bytes();
        Some(PathBuf::from(OsString::from_vec(path)))
    }
}

/// Names are bytes on Linux: a path lies inside the root if it is spelled so.
pub(super) fn root_names<'root>(
    _root: &Directory,
    spelling: &'root Path,
    _absolute: &str,
) -> Option<Vec<&'root str>> {
    names(spelling)
}
