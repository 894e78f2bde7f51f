//! Windows: the hand-over-hand walk, by `NtCreateFile` beneath directory handles.
//!
//! Win32's own path parsing is never asked: one component at a time goes to the system, beneath
//! the handle of the one before, with reparse points opened themselves. Symbolic links and
//! junctions are read and walked like links elsewhere.

use std::ffi::{OsStr, OsString};
use std::fs::{File, OpenOptions};
use std::io;
use std::ops::ControlFlow;
use std::os::windows::ffi::{OsStrExt, OsStringExt};
use std::os::windows::fs::OpenOptionsExt;
use std::os::windows::io::OwnedHandle;
use std::path::{Component, Path, PathBuf, Prefix};

use windows_sys::Win32::Foundation::{
    ERROR_CANT_ACCESS_FILE, ERROR_DELETE_PENDING, ERROR_DIRECTORY, ERROR_FILENAME_EXCED_RANGE,
    ERROR_INVALID_NAME, ERROR_LOCK_VIOLATION, ERROR_SHARING_VIOLATION,
};
use windows_sys::Win32::Storage::FileSystem::{
    FILE_ATTRIBUTE_DIRECTORY, FILE_ATTRIBUTE_REPARSE_POINT, FILE_FLAG_BACKUP_SEMANTICS,
    FILE_GENERIC_READ, FILE_LIST_DIRECTORY, FILE_READ_ATTRIBUTES, FILE_SHARE_DELETE,
    FILE_SHARE_READ, FILE_SHARE_WRITE, SYNCHRONIZE,
};
use windows_sys::Win32::System::SystemServices::{
    IO_REPARSE_TAG_AF_UNIX, IO_REPARSE_TAG_MOUNT_POINT, IO_REPARSE_TAG_SYMLINK,
};

use super::list::{EntryKind, Listed, open_to_list_by_walk};
use super::walk::{Entry, LinkTarget, Step, Walk};
use super::{Containment, OpenError, Root, without_dots};
use crate::path::WorkspacePath;

mod put;
mod sys;
pub(super) use put::{
    FileFacts, create, folder_id, look, make_folder, remove_folder, replace, sweep, sync_folder,
};
use sys::Reparse;

/// An open directory, to open beneath.
#[derive(Debug)]
pub(super) struct Directory(OwnedHandle);

/// What a directory is opened for: to ask what it is. To open beneath it takes no right of its own:
/// users may pass through folders that they may not list.
const ENTER: u32 = FILE_READ_ATTRIBUTES | SYNCHRONIZE;

/// What it is opened for to be listed.
const LIST: u32 = FILE_LIST_DIRECTORY | FILE_READ_ATTRIBUTES | SYNCHRONIZE;

pub(super) fn containment(_root: &Directory) -> Containment {
    Containment::Walk
}

pub(super) fn open_for_reading(
    root: &Root,
    _containment: Containment,
    path: &WorkspacePath,
) -> Result<File, OpenError> {
    Walk::new(root, path).finish(&|root, parent, name| {
        let opened = open_nofollow(root, parent, name, FILE_GENERIC_READ)?;
        Ok(match opened {
            Entry::Link(target) => Entry::Link(target),
            Entry::Opened((_, attributes))
                if path.must_be_directory() && attributes & FILE_ATTRIBUTE_DIRECTORY == 0 =>
            {
                return Err(OpenError::NotFolder);
            }
            Entry::Opened((handle, _)) => Entry::Opened(File::from(handle)),
        })
    })
}

/// Opens a folder to create in. What is then done with it asks for its own rights.
pub(super) fn open_folder(
    root: &Root,
    _containment: Containment,
    path: &WorkspacePath,
) -> Result<Directory, OpenError> {
    Walk::new(root, path).finish(&open_directory)
}

/// Opens a folder to list it.
pub(super) fn open_to_list(
    root: &Root,
    _containment: Containment,
    path: &WorkspacePath,
) -> Result<Directory, OpenError> {
    Walk::new(root, path).finish(&open_directory_to_list)
}

/// Opens a folder to list it, by names of which none may be a link.
pub(super) fn open_to_list_by_names(
    root: &Root,
    _containment: Containment,
    names: &[&OsStr],
) -> Result<Directory, OpenError> {
    open_to_list_by_walk(root, names)
}

/// Follows the links of a path to its very end: the folder that holds what it names, and the name
/// there, which was no link a moment ago.
pub(super) fn resolve_target(
    root: &Root,
    _containment: Containment,
    path: &WorkspacePath,
) -> Result<(Directory, OsString), OpenError> {
    Walk::new(root, path).finish(&|root, parent, name| {
        let handle = sys::open_beneath(&parent.0, &wide(name), ENTER, Reparse::OpenItself)
            .map_err(open_error)?;
        let (attributes, tag) = sys::attributes_and_tag(&handle).map_err(OpenError::System)?;
        Ok(if is_link(attributes, tag) {
            Entry::Link(read_link(root, &handle)?)
        } else {
            Entry::Opened((parent.reopen(ENTER).map_err(open_error)?, name.to_owned()))
        })
    })
}

/// Opens a directory by one name, following nothing.
pub(super) fn open_directory(
    root: &Root,
    parent: &Directory,
    name: &OsStr,
) -> Result<Entry<Directory>, OpenError> {
    open_directory_for(ENTER, root, parent, name)
}

/// Opens a directory by one name, to list it, following nothing.
pub(super) fn open_directory_to_list(
    root: &Root,
    parent: &Directory,
    name: &OsStr,
) -> Result<Entry<Directory>, OpenError> {
    open_directory_for(LIST, root, parent, name)
}

fn open_directory_for(
    access: u32,
    root: &Root,
    parent: &Directory,
    name: &OsStr,
) -> Result<Entry<Directory>, OpenError> {
    Ok(match open_nofollow(root, parent, name, access)? {
        Entry::Link(target) => Entry::Link(target),
        Entry::Opened((handle, attributes)) if attributes & FILE_ATTRIBUTE_DIRECTORY != 0 => {
            Entry::Opened(Directory(handle))
        }
        Entry::Opened(_) => return Err(OpenError::NotFolder),
    })
}

impl Directory {
    pub(super) fn open_root(path: &Path) -> io::Result<Self> {
        let directory = OpenOptions::new()
            .access_mode(ENTER)
            .share_mode(FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE)
            // Without this flag Windows opens no directory.
            .custom_flags(FILE_FLAG_BACKUP_SEMANTICS)
            .open(path)?;
        if directory.metadata()?.is_dir() {
            Ok(Self(directory.into()))
        } else {
            Err(io::ErrorKind::NotADirectory.into())
        }
    }

    /// Opens the same directory anew, for something else.
    fn reopen(&self, access: u32) -> io::Result<Self> {
        sys::open_beneath(&self.0, &[], access, Reparse::OpenItself).map(Self)
    }

    /// Opens the same directory anew, to list it.
    pub(super) fn reopen_to_list(&self) -> Result<Self, OpenError> {
        self.reopen(LIST).map_err(open_error)
    }

    /// Whether the directory has been removed since it was opened.
    pub(super) fn is_removed(&self) -> bool {
        sys::is_deleted(&self.0).unwrap_or(false)
    }

    /// Windows resolves `..` by its spelling, so the plain spelling names the same directory.
    #[allow(clippy::unused_self, reason = "on other systems it has to be looked at")]
    pub(super) fn is_at(&self, _path: &Path) -> bool {
        true
    }

    /// What the system calls the open directory.
    pub(super) fn canonical_path(&self, _spelled: &Path) -> Option<PathBuf> {
        sys::final_path(&self.0).ok()
    }
}

/// Opens a file by one name, following nothing.
pub(super) fn open_entry(
    root: &Root,
    folder: &Directory,
    name: &OsStr,
) -> Result<Entry<File>, OpenError> {
    Ok(match open_nofollow(root, folder, name, FILE_GENERIC_READ)? {
        Entry::Link(target) => Entry::Link(target),
        Entry::Opened((handle, _)) => Entry::Opened(File::from(handle)),
    })
}

/// Hands the entries of a folder, which is open to be listed, to `visit`.
pub(super) fn visit_entries(
    folder: &mut Directory,
    visit: &mut dyn FnMut(Listed<'_>) -> ControlFlow<()>,
) -> Result<(), OpenError> {
    let visited = sys::visit_entries(&folder.0, &mut |name, attributes, tag| match Listed::new(
        name,
        entry_kind(attributes, tag),
    ) {
        Some(listed) => visit(listed),
        None => ControlFlow::Continue(()),
    });
    visited.map_err(open_error)
}

/// What a folder's entry is. A reparse point whose kind is unknown counts as a link; only those
/// that are the file system's own way to store a file or folder are what they look like.
fn entry_kind(attributes: u32, tag: u32) -> EntryKind {
    // Between them are `LX_FIFO` and `LX_CHR`, of the Linux subsystem too.
    const IO_REPARSE_TAG_LX_BLK: u32 = 0x8000_0026;
    if attributes & FILE_ATTRIBUTE_REPARSE_POINT != 0 {
        match tag {
            IO_REPARSE_TAG_AF_UNIX..=IO_REPARSE_TAG_LX_BLK => return EntryKind::Special,
            0 => return EntryKind::Link,
            _ if is_link(attributes, tag) || is_name_surrogate(tag) => return EntryKind::Link,
            _ => {}
        }
    }
    if attributes & FILE_ATTRIBUTE_DIRECTORY != 0 { EntryKind::Folder } else { EntryKind::File }
}

/// Opens one name, or reads it if it is a link or a junction.
fn open_nofollow(
    root: &Root,
    parent: &Directory,
    name: &OsStr,
    access: u32,
) -> Result<Entry<(OwnedHandle, u32)>, OpenError> {
    let handle = sys::open_beneath(&parent.0, &wide(name), access, Reparse::OpenItself)
        .map_err(open_error)?;
    let (attributes, tag) = sys::attributes_and_tag(&handle).map_err(OpenError::System)?;
    if attributes & FILE_ATTRIBUTE_REPARSE_POINT == 0 {
        return Ok(Entry::Opened((handle, attributes)));
    }
    if is_link(attributes, tag) {
        return Ok(Entry::Link(read_link(root, &handle)?));
    }
    if is_name_surrogate(tag) {
        // It stands for a name elsewhere, in a way that is not known here.
        return Err(OpenError::Escapes);
    }
    // Deduplicated, compressed, or kept in a cloud: the file system's own way to store a file.
    let handle = sys::open_beneath(&handle, &[], access, Reparse::Follow).map_err(open_error)?;
    let path = sys::final_path(&handle).map_err(OpenError::System)?;
    let inside = root.canonical().is_some_and(|root| strip_root(root, &path).is_some());
    if inside { Ok(Entry::Opened((handle, attributes))) } else { Err(OpenError::Escapes) }
}

/// A name as the system takes it. To it the directory itself is the empty name; `.` is a Win32
/// notion.
fn wide(name: &OsStr) -> Vec<u16> {
    if name == "." { Vec::new() } else { name.encode_wide().collect() }
}

/// Whether this is a symbolic link or a junction.
fn is_link(attributes: u32, tag: u32) -> bool {
    attributes & FILE_ATTRIBUTE_REPARSE_POINT != 0
        && matches!(tag, IO_REPARSE_TAG_SYMLINK | IO_REPARSE_TAG_MOUNT_POINT)
}

/// What a link points to.
fn read_link(root: &Root, link: &OwnedHandle) -> Result<LinkTarget, OpenError> {
    let data = sys::reparse_data(link).map_err(OpenError::System)?;
    Ok(ReparseTarget::parse(&data).ok_or(OpenError::Escapes)?.within(root))
}

/// `IsReparseTagNameSurrogate` of the Windows headers.
fn is_name_surrogate(tag: u32) -> bool {
    tag & 0x2000_0000 != 0
}

/// Where a symbolic link or a junction points to.
#[derive(Debug, PartialEq, Eq)]
enum ReparseTarget {
    Relative(OsString),
    Absolute(PathBuf),
}

impl ReparseTarget {
    /// Parses `REPARSE_DATA_BUFFER`, as the driver kit's `ntifs.h` lays it out: a tag of 32 bits,
    /// a length and a reserved field of 16, then for both kinds four fields of 16 bits, offset and
    /// length of the substitute name first, for a symbolic link 32 bits of flags, then the names.
    fn parse(data: &[u8]) -> Option<Self> {
        const SYMLINK_FLAG_RELATIVE: u32 = 1;
        let u16_at = |at: usize| Some(u16::from_le_bytes(data.get(at..at + 2)?.try_into().ok()?));
        let u32_at = |at: usize| Some(u32::from_le_bytes(data.get(at..at + 4)?.try_into().ok()?));
        let (names, relative) = match u32_at(0)? {
            IO_REPARSE_TAG_SYMLINK => (20, u32_at(16)? & SYMLINK_FLAG_RELATIVE != 0),
            IO_REPARSE_TAG_MOUNT_POINT => (16, false),
            _ => return None,
        };
        let start = names + usize::from(u16_at(8)?);
        let bytes = data.get(start..start + usize::from(u16_at(10)?))?;
        let wide: Vec<u16> =
            bytes.chunks_exact(2).map(|unit| u16::from_le_bytes([unit[0], unit[1]])).collect();
        Some(if relative {
            Self::Relative(OsString::from_wide(&wide))
        } else {
            // The object manager's `\??\` is Win32's `\\?\`.
            let rest = wide.strip_prefix(&[92, 63, 63, 92])?;
            let mut path = OsString::from(r"\\?\");
            path.push(OsString::from_wide(rest));
            Self::Absolute(path.into())
        })
    }

    fn within(self, root: &Root) -> LinkTarget {
        match self {
            // `\name`, relative to the drive, says which root it means no better than `C:\name`.
            Self::Relative(target) if starts_with_separator(&target) => LinkTarget::Outside,
            Self::Relative(target) => LinkTarget::Relative(steps(&target)),
            Self::Absolute(target) => {
                let spellings = [root.plain(), root.canonical()].into_iter().flatten();
                let mut inside = spellings.filter_map(|spelling| strip_root(spelling, &target));
                inside.next().map_or(LinkTarget::Outside, |rest| {
                    LinkTarget::FromRoot(steps(rest.as_os_str()))
                })
            }
        }
    }
}

fn starts_with_separator(path: &OsStr) -> bool {
    path.encode_wide().next().is_some_and(is_separator)
}

fn is_separator(unit: u16) -> bool {
    unit == u16::from(b'\\') || unit == u16::from(b'/')
}

/// The steps of a link's target.
fn steps(target: &OsStr) -> Vec<Step> {
    let wide: Vec<u16> = target.encode_wide().collect();
    let mut steps: Vec<Step> = wide
        .split(|&unit| is_separator(unit))
        .filter(|component| !component.is_empty())
        .map(|component| match OsString::from_wide(component) {
            name if name == "." => Step::Stay,
            name if name == ".." => Step::Up,
            name => Step::Into(name),
        })
        .collect();
    if steps.is_empty() {
        steps.push(Step::Stay);
    }
    steps
}

/// The part of a host's absolute path that lies beneath a root, if it does. Names are compared
/// without case: this is about names alone, and what is opened is opened beneath the handle.
pub(super) fn part_beneath(_root: &Directory, spelling: &Path, absolute: &str) -> Option<String> {
    let path = Path::new(absolute);
    // `\\?\` and `\\.\` switch Win32's rules off; no host needs them to name a workspace's file.
    if !matches!(prefix(path)?, Prefix::Disk(_) | Prefix::UNC(..)) {
        return None;
    }
    let rest = strip_root(spelling, path).or_else(|| strip_root(spelling, &without_dots(path)))?;
    let mut part = rest.to_str()?.to_owned();
    if absolute.ends_with(['/', '\\']) {
        part.push('/');
    }
    Some(part)
}

fn prefix(path: &Path) -> Option<Prefix<'_>> {
    match path.components().next()? {
        Component::Prefix(prefix) => Some(prefix.kind()),
        _ => None,
    }
}

fn strip_root(root: &Path, path: &Path) -> Option<PathBuf> {
    if volume(prefix(root)?)? != volume(prefix(path)?)? {
        return None;
    }
    let below_volume =
        |component: &Component<'_>| !matches!(component, Component::Prefix(_) | Component::RootDir);
    let mut rest = path.components().filter(below_volume);
    for expected in root.components().filter(below_volume) {
        let name = rest.next()?;
        if name == Component::ParentDir || fold(name.as_os_str()) != fold(expected.as_os_str()) {
            return None;
        }
    }
    Some(rest.collect())
}

/// A drive or share, however it is spelled.
fn volume(prefix: Prefix<'_>) -> Option<(String, String)> {
    match prefix {
        Prefix::Disk(letter) | Prefix::VerbatimDisk(letter) => {
            Some((String::new(), char::from(letter).to_lowercase().collect()))
        }
        Prefix::UNC(server, share) | Prefix::VerbatimUNC(server, share) => {
            Some((fold(server), fold(share)))
        }
        _ => None,
    }
}

fn fold(name: &OsStr) -> String {
    name.to_string_lossy().to_lowercase()
}

/// The contract's reading of what the system says.
fn open_error(error: io::Error) -> OpenError {
    match error.raw_os_error().map(i32::cast_unsigned) {
        Some(ERROR_DIRECTORY) => return OpenError::NotFolder,
        // Somebody has removed it, and somebody still has it open.
        Some(ERROR_DELETE_PENDING) => return OpenError::NotFound,
        Some(ERROR_FILENAME_EXCED_RANGE) => return OpenError::NameTooLong,
        // What NTFS says of a name of more than 255 characters, among others.
        Some(ERROR_INVALID_NAME) => return OpenError::NotFound,
        // Another program has it open and lets nobody in.
        Some(ERROR_SHARING_VIOLATION | ERROR_LOCK_VIOLATION) => return OpenError::PermissionDenied,
        // A socket's file is a reparse point that nothing opens.
        Some(ERROR_CANT_ACCESS_FILE) => return OpenError::SpecialFile,
        _ => {}
    }
    match error.kind() {
        io::ErrorKind::NotFound => OpenError::NotFound,
        io::ErrorKind::NotADirectory => OpenError::NotFolder,
        io::ErrorKind::InvalidFilename => OpenError::NameTooLong,
        io::ErrorKind::PermissionDenied => OpenError::PermissionDenied,
        _ => OpenError::System(error),
    }
}

#[cfg(test)]
mod tests;
