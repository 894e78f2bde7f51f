//! `openat2`, which resolves a path beneath a directory in one call that cannot be raced; and the
//! key by which a root is recognised.

use std::ffi::OsStr;
use std::sync::OnceLock;

use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{AtFlags, Mode, OFlags, ResolveFlags, StatxFlags, openat2, statx};
use rustix::io::Errno;

/// The flags that keep a path inside.
pub(crate) const BENEATH: ResolveFlags = ResolveFlags::BENEATH.union(ResolveFlags::NO_MAGICLINKS);

/// How often a call is repeated that the kernel could not finish because something was renamed
/// meanwhile: the number of systemd and runc.
const MAX_EAGAIN: u32 = 128;

static OFFERS_OPENAT2: OnceLock<bool> = OnceLock::new();

/// Asks the kernel, once per process, whether it offers `openat2`. A filter of system calls that is
/// set later is noticed call by call.
pub(crate) fn offers_openat2(root: &impl AsFd) -> bool {
    *OFFERS_OPENAT2.get_or_init(|| {
        let flags = OFlags::PATH | OFlags::CLOEXEC;
        let opened = open_beneath(root, OsStr::new("."), flags, BENEATH);
        !matches!(opened, Err(Errno::NOSYS | Errno::PERM))
    })
}

/// The answer of [`offers_openat2`]; `None` before its first call. That call may wait for the root's file
/// system.
pub(crate) fn is_known_to_offer_openat2() -> Option<bool> {
    OFFERS_OPENAT2.get().copied()
}

/// `openat2`, repeated where it was interrupted.
pub(crate) fn open_beneath(
    directory: &impl AsFd,
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

/// A directory by its mount and its number there. The kernel gives neither to another directory,
/// except that before Linux 6.8 a mount may get the number of one that is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct MountedInode {
    mount: u64,
    device: (u32, u32),
    inode: u64,
}

impl MountedInode {
    /// Asks only the kernel's memory, so it waits for nothing.
    pub(crate) fn of(directory: &impl AsFd) -> Option<Self> {
        const MOUNT_UNIQUE: StatxFlags = StatxFlags::from_bits_retain(0x4000); // linux/stat.h
        let flags = AtFlags::EMPTY_PATH | AtFlags::STATX_DONT_SYNC;
        let wanted = StatxFlags::INO | StatxFlags::MNT_ID | MOUNT_UNIQUE;
        let facts = statx(directory, "", flags, wanted).ok()?;
        let known = StatxFlags::from_bits_retain(facts.stx_mask);
        let has_mount = known.intersects(StatxFlags::MNT_ID | MOUNT_UNIQUE);
        (has_mount && known.contains(StatxFlags::INO)).then_some(Self {
            mount: facts.stx_mnt_id,
            device: (facts.stx_dev_major, facts.stx_dev_minor),
            inode: facts.stx_ino,
        })
    }

    /// Whether two directories or files are on the same mount.
    pub(crate) fn is_on_mount_of(self, other: Self) -> bool {
        self.mount == other.mount
    }
}
