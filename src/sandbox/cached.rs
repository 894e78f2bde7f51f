//! Linux: reads a small file from the kernel's caches, or not at all.
//!
//! Nothing here waits for a disk, a server or another program, so the thread of an event loop may call
//! it. Names are looked up with `RESOLVE_CACHED`, and bytes are read with `RWF_NOWAIT`. `open` has no
//! such flag: on a network file system or FUSE it waits for a server. Three rules make up for that:
//! only file systems that open files without waiting are read, `RESOLVE_NO_XDEV` keeps the lookup on
//! the root's own mount, and a worker finds out which file system that is: see [`learn`].

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::File;
use std::io::IoSliceMut;
use std::path::Path;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, fstatfs, openat2};
use rustix::io::{Errno, ReadWriteFlags, preadv2};

use super::buffer::ReadBuffer;
use super::file::{CachedRead, OpenFile};
use super::root::Sandbox;
use super::system::openat2::BENEATH;
use super::system::{DIRECTORY, Directory, MountedInode, read_flags};
use crate::path::WorkspacePath;

/// How the files beneath a root can be read without waiting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ReadMethod {
    /// With `RWF_NOWAIT`, which fails if the bytes are not cached.
    NoWait,
    /// With a plain read: the file system keeps its bytes in memory.
    InMemory,
    /// Not at all: opening or reading may wait.
    None,
}

/// The facts that [`learn`] has found out about a root.
#[derive(Debug, Clone, Copy)]
struct Known {
    method: ReadMethod,
    /// The end of the minute in which workers read its files, because one read took too long.
    slow_until: Option<Instant>,
}

type KnownRoots = HashMap<MountedInode, Known>;

static KNOWN: LazyLock<Mutex<KnownRoots>> = LazyLock::new(Mutex::default);

/// How many roots are remembered. When there are more, all are forgotten.
const MOST_KNOWN: usize = 1024;

/// A read that takes longer has waited. It waited for a program that must permit each opening
/// (fanotify), or for a slow layer beneath the file system.
const LONGEST_READ: Duration = Duration::from_millis(5);

/// For how long workers then read the root's files.
const SLOW_FOR: Duration = Duration::from_secs(60);

/// Opens a root whose path is in the kernel's cache of names; `None` means only "not without waiting".
pub(super) fn open_root(path: &Path) -> Option<Directory> {
    let flags = DIRECTORY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    openat2(CWD, path, flags, Mode::empty(), ResolveFlags::CACHED).ok().map(Directory::from)
}

/// Reads a whole file of at most `limit` bytes, if the root's file system is known and it needs no waiting.
pub(super) fn read<'buffer>(
    root: &Sandbox,
    path: &WorkspacePath,
    limit: u64,
    buffer: &'buffer mut ReadBuffer,
) -> CachedRead<'buffer> {
    let Some((id, method)) = root.id().and_then(|id| Some((id, method_now(id)?))) else {
        return CachedRead::WouldWait;
    };
    let begun = Instant::now();
    let answer = match open(root, path) {
        None => CachedRead::WouldWait,
        Some(file) if file.size > limit => CachedRead::Opened(file),
        Some(file) => match read_whole(&file, method, buffer) {
            Some(bytes) => CachedRead::Read(file, bytes),
            None => CachedRead::Opened(file),
        },
    };
    if begun.elapsed() > LONGEST_READ {
        remember_slow(id, begun);
    }
    answer
}

fn method_now(id: MountedInode) -> Option<ReadMethod> {
    let known = match KNOWN.try_lock() {
        Ok(known) => known,
        Err(TryLockError::Poisoned(known)) => known.into_inner(),
        Err(TryLockError::WouldBlock) => return None,
    };
    let Known { method, slow_until } = *known.get(&id)?;
    let is_slow = slow_until.is_some_and(|end| Instant::now() < end);
    (method != ReadMethod::None && !is_slow).then_some(method)
}

fn remember_slow(id: MountedInode, now: Instant) {
    if let Some(known) = known_roots().get_mut(&id) {
        known.slow_until = now.checked_add(SLOW_FOR);
    }
}

fn known_roots() -> MutexGuard<'static, KnownRoots> {
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

fn open(root: &Sandbox, path: &WorkspacePath) -> Option<OpenFile> {
    if path.must_be_directory() {
        return None;
    }
    let mut resolve = BENEATH | ResolveFlags::CACHED | ResolveFlags::NO_XDEV;
    if root.rules().is_some() {
        // The rules have judged the path as it is spelled.
        resolve |= ResolveFlags::NO_SYMLINKS;
    }
    let name = OsStr::new(path.as_str());
    let file = openat2(&root.directory, name, read_flags(false), Mode::empty(), resolve).ok()?;
    OpenFile::examine(File::from(file)).ok()
}

/// Reads with room for one byte more than the file has, which shows whether the file has grown meanwhile.
fn read_whole<'buffer>(
    file: &OpenFile,
    method: ReadMethod,
    buffer: &'buffer mut ReadBuffer,
) -> Option<&'buffer [u8]> {
    let size = usize::try_from(file.size).ok()?;
    buffer.reserve(size.checked_add(1)?).ok()?;
    let bytes = &mut buffer.bytes()[..=size];
    let flags = match method {
        ReadMethod::NoWait => ReadWriteFlags::NOWAIT,
        ReadMethod::InMemory => ReadWriteFlags::empty(),
        ReadMethod::None => return None,
    };
    let read = preadv2(&file.file, &mut [IoSliceMut::new(bytes)], 0, flags).ok()?;
    (read == size).then_some(&bytes[..size])
}

/// Finds out how the files beneath a root can be read without waiting, by trying it with an open
/// file. It may wait, so it belongs on a worker.
pub(super) fn learn(root: &Sandbox, file: &File) {
    let Some(id) = root.id() else { return };
    if known_roots().contains_key(&id) {
        return;
    }
    // A file on another mount beneath the root says nothing about the root's own file system.
    if MountedInode::of(file).is_none_or(|file| !file.is_on_mount_of(id)) {
        return;
    }
    let method = find_method(&root.directory, file);
    let mut known = known_roots();
    if known.len() >= MOST_KNOWN {
        known.clear();
    }
    known.insert(id, Known { method, slow_until: None });
}

fn find_method(root: &Directory, file: &File) -> ReadMethod {
    // Numbers from linux/magic.h. Overlayfs is not listed: its layers may be on any file system.
    const EXT: u64 = 0xEF53;
    const XFS: u64 = 0x5846_5342;
    const BTRFS: u64 = 0x9123_683E;
    const F2FS: u64 = 0xF2F5_2010;
    const TMPFS: u64 = 0x0102_1994;
    let Ok(system) = fstatfs(root) else { return ReadMethod::None };
    let kind = u64::try_from(system.f_type).unwrap_or_default();
    if !matches!(kind, EXT | XFS | BTRFS | F2FS | TMPFS) {
        return ReadMethod::None;
    }
    let mut byte = [0];
    match preadv2(file, &mut [IoSliceMut::new(&mut byte)], 0, ReadWriteFlags::NOWAIT) {
        Ok(_) | Err(Errno::AGAIN) => ReadMethod::NoWait,
        Err(Errno::OPNOTSUPP) if kind == TMPFS => ReadMethod::InMemory,
        Err(_) => ReadMethod::None,
    }
}

#[cfg(test)]
mod tests;
