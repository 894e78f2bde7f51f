//! Linux: a small file that the kernel has in its memory, read at once or not at all.
//!
//! Nothing here waits: not for a disk, not for a server, not for another program. What would have to
//! wait is left to somebody who may, so that a caller who must not, such as the thread of an event
//! loop, can ask here first. Names are looked up with `RESOLVE_CACHED`, and bytes read with
//! `RWF_NOWAIT`. Opening has no such flag, and over a network or in user space it takes as long as
//! its server likes; so only file systems that are known to open in memory count, and
//! `RESOLVE_NO_XDEV` keeps the lookup on the one that the root is on.

use std::cell::RefCell;
use std::ffi::OsStr;
use std::io::IoSliceMut;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fd::OwnedFd;
use rustix::fs::{CWD, FileType, Mode, OFlags, ResolveFlags, fstat, fstatfs, openat2};
use rustix::io::{ReadWriteFlags, preadv2};

use super::system::{BENEATH, DIRECTORY};
use super::unix::{Directory, read_flags};
use super::{ReadBuffer, Root, WholeFile};
use crate::path::WorkspacePath;

/// Opens a root, if the kernel knows it already.
pub(super) fn open_root(path: &Path) -> Option<Directory> {
    let flags = DIRECTORY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    openat2(CWD, path, flags, Mode::empty(), ResolveFlags::CACHED).ok().map(Directory::from)
}

/// Reads a whole file of at most `limit` bytes.
pub(super) fn read<'buffer>(
    root: &Root,
    path: &WorkspacePath,
    limit: u64,
    buffer: &'buffer mut ReadBuffer,
) -> Option<WholeFile<'buffer>> {
    if path.must_be_directory()
        || !*root.opens_in_memory.get_or_init(|| opens_in_memory(&root.directory))
    {
        return None;
    }
    let file = open(root, path)?;
    let facts = fstat(&file).ok()?;
    let size = u64::try_from(facts.st_size).ok().filter(|&size| size <= limit)?;
    if FileType::from_raw_mode(facts.st_mode) != FileType::RegularFile {
        return None;
    }
    let bytes = read_whole(&file, usize::try_from(size).ok()?, buffer)?;
    let nanoseconds = i64::try_from(facts.st_mtime_nsec).ok()?;
    let modified_ms = facts.st_mtime.checked_mul(1000)?.checked_add(nanoseconds / 1_000_000)?;
    Some(WholeFile { modified_ms, bytes })
}

fn open(root: &Root, path: &WorkspacePath) -> Option<OwnedFd> {
    let resolve = BENEATH | ResolveFlags::CACHED | ResolveFlags::NO_XDEV;
    let name = OsStr::new(path.as_str());
    openat2(&root.directory, name, read_flags(false), Mode::empty(), resolve).ok()
}

/// Reads one byte more than the file has, so that a file which grows meanwhile is noticed.
fn read_whole<'buffer>(
    file: &OwnedFd,
    size: usize,
    buffer: &'buffer mut ReadBuffer,
) -> Option<&'buffer [u8]> {
    buffer.reserve(size + 1).ok()?;
    let bytes = &mut buffer.bytes()[..=size];
    let read = preadv2(file, &mut [IoSliceMut::new(bytes)], 0, ReadWriteFlags::NOWAIT).ok()?;
    (read == size).then_some(&bytes[..size])
}

/// What was found out about the root that was opened last: one that is opened anew for each call need
/// not be asked each time what it is on.
struct LastRoot {
    path: PathBuf,
    asked: Instant,
    opens_in_memory: bool,
}

/// How long that counts. So long, and no longer, a file system that was mounted over the root just now may
/// be taken for what was there before, and may keep its caller waiting.
const STAYS_TRUE: Duration = Duration::from_millis(100);

thread_local! {
    static LAST_ROOT: RefCell<Option<LastRoot>> = const { RefCell::new(None) };
}

/// Spares a root that was opened by its path just now what has been found out about that path.
pub(super) fn recall(root: &Root) {
    let (path, now) = (root.spelled.as_path(), Instant::now());
    let is_known = |last: &LastRoot| {
        last.path.as_os_str() == path.as_os_str()
            && now.saturating_duration_since(last.asked) < STAYS_TRUE
    };
    let known = LAST_ROOT.with_borrow_mut(|last| match last {
        Some(last) if is_known(last) => last.opens_in_memory,
        _ => {
            let opens_in_memory = opens_in_memory(&root.directory);
            *last = Some(LastRoot { path: path.to_owned(), asked: now, opens_in_memory });
            opens_in_memory
        }
    });
    root.opens_in_memory.get_or_init(|| known);
}

/// Whether a file system opens what it has looked up before without asking anybody.
fn opens_in_memory(root: &Directory) -> bool {
    // linux/magic.h; overlayfs stands here for container images, whose layers are such themselves.
    const EXT: u64 = 0xEF53;
    const XFS: u64 = 0x5846_5342;
    const BTRFS: u64 = 0x9123_683E;
    const F2FS: u64 = 0xF2F5_2010;
    const TMPFS: u64 = 0x0102_1994;
    const OVERLAY: u64 = 0x794C_7630;
    let Ok(system) = fstatfs(root) else { return false };
    let kind = u64::try_from(system.f_type).unwrap_or_default();
    matches!(kind, EXT | XFS | BTRFS | F2FS | TMPFS | OVERLAY)
}

#[cfg(test)]
mod tests;
