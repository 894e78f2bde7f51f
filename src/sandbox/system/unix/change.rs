//! Renaming and removing one name, and the rights to do so.

use std::ffi::OsStr;
use std::io;

use rustix::fs::{
    Access, AtFlags, Mode, RenameFlags, Stat, accessat, fstat, renameat, renameat_with, unlinkat,
};
use rustix::io::Errno;

use super::super::native;
use super::error::{is_refused, open_error};
use super::handle::Directory;
use super::held::{Held, rename_in_two_steps};
use crate::sandbox::error::{Obstacle, OpenError};

/// A name in a folder.
pub(crate) type Named<'a> = (&'a Directory, &'a OsStr);

/// Holds the entry at a name open, so that it can be recognised. Links are not followed.
pub(crate) fn hold(folder: &Directory, name: &OsStr) -> Result<Held, OpenError> {
    Held::at(folder, name).map_err(open_error)
}

/// Renames an entry, if nothing stands at the new name.
pub(crate) fn rename_to_free_name(entry: &Held, from: Named<'_>, to: Named<'_>) -> io::Result<()> {
    match renameat_with(from.0, from.1, to.0, to.1, RenameFlags::NOREPLACE) {
        Err(error) if is_refused(error) => Ok(rename_in_two_steps(entry, from, to)?),
        renamed => Ok(renamed?),
    }
}

/// Renames an entry. A file or link that stands at the new name is replaced.
pub(crate) fn rename_over(
    _entry: &Held,
    (from, name): Named<'_>,
    (to, new_name): Named<'_>,
) -> io::Result<()> {
    Ok(renameat(from, name, to, new_name)?)
}

/// Exchanges the entries at two names.
pub(crate) fn exchange(one: Named<'_>, other: Named<'_>) -> rustix::io::Result<()> {
    renameat_with(one.0, one.1, other.0, other.1, RenameFlags::EXCHANGE)
}

/// Whether the rename of a folder failed because it was to be moved into itself. `EINVAL` can also mean an unknown
/// flag, but [`rename_to_free_name`] has tried the rename without flags by then.
pub(crate) fn is_into_itself(error: &io::Error) -> bool {
    Errno::from_io_error(error) == Some(Errno::INVAL)
}

/// Removes a name: that of an empty folder, or that of anything else. Links are not followed.
pub(crate) fn remove_name(folder: &Directory, name: &OsStr, is_folder: bool) -> io::Result<()> {
    let flags = if is_folder { AtFlags::REMOVEDIR } else { AtFlags::empty() };
    Ok(unlinkat(folder, name, flags)?)
}

/// Whether the effective user has these rights; `None` if no call says so.
pub(crate) fn check_access(
    folder: &Directory,
    name: &OsStr,
    access: Access,
) -> Option<rustix::io::Result<()>> {
    use rustix::process::{getegid, geteuid, getgid, getuid};
    match accessat(folder, name, access, AtFlags::EACCESS) {
        Err(Errno::PERM | Errno::NOSYS) => {}
        allowed => return Some(allowed),
    }
    let is_real_user = (getuid(), getgid()) == (geteuid(), getegid());
    is_real_user.then(|| accessat(folder, name, access, AtFlags::empty()))
}

/// Checks that the process may make, rename and remove entries of a folder.
pub(crate) fn check_may_change(folder: &Directory) -> rustix::io::Result<()> {
    check_access(folder, OsStr::new("."), Access::WRITE_OK | Access::EXEC_OK).unwrap_or(Ok(()))
}

/// Whether a folder may be moved to another parent, which changes its entry `..`.
pub(crate) fn may_leave_its_parent(parent: &Directory, name: &OsStr) -> bool {
    check_access(parent, name, Access::WRITE_OK).is_none_or(|allowed| allowed.is_ok())
}

/// Whether entries of one folder can be renamed into the other, as far as the system tells.
pub(crate) fn is_same_mount(one: &Directory, other: &Directory) -> bool {
    match (native::mount_of(one), native::mount_of(other)) {
        (Some(one), Some(other)) => one == other,
        _ => {
            matches!((fstat(one), fstat(other)), (Ok(one), Ok(other)) if one.st_dev == other.st_dev)
        }
    }
}

/// What the system tells about an entry that is to be renamed or removed.
pub(crate) struct Marks {
    /// Whether another file system, or a part of one, is mounted at the entry, as far as is known.
    pub(crate) is_mount: bool,
    /// Whether the entry is marked as immutable or append-only.
    pub(crate) is_immutable: bool,
    /// The number of the user that owns it.
    pub(crate) owner: u32,
}

/// The rights to remove entries of one folder.
pub(crate) struct RemovalRights {
    /// What keeps every entry from being removed.
    obstacle: Option<Obstacle>,
    /// The process's user, if the folder is sticky and this user may remove only its own entries. `None` if the
    /// folder does not restrict the user.
    sticky_for: Option<u32>,
    device: i128,
}

impl RemovalRights {
    pub(crate) fn of(folder: &Directory) -> io::Result<Self> {
        let stat = fstat(folder)?;
        let user = rustix::process::geteuid().as_raw();
        let is_sticky = Mode::from_raw_mode(stat.st_mode).contains(Mode::SVTX);
        let owns_all = user == 0 || user == stat.st_uid;
        Ok(Self {
            obstacle: match check_may_change(folder) {
                Err(Errno::ROFS) => Some(Obstacle::ReadOnlySystem),
                Err(_) => Some(Obstacle::FolderRights),
                Ok(()) => native::is_append_only(folder).then_some(Obstacle::FolderRights),
            },
            sticky_for: (is_sticky && !owns_all).then_some(user),
            device: device_of(&stat),
        })
    }

    /// What keeps an entry of the folder from being renamed or removed. `Ok(None)`: nothing that the system
    /// tells.
    pub(crate) fn obstacle(
        &self,
        folder: &Directory,
        name: &OsStr,
    ) -> Result<Option<Obstacle>, OpenError> {
        if self.obstacle.is_some() {
            return Ok(self.obstacle);
        }
        let marks = native::marks(folder, name, self.device).map_err(open_error)?;
        Ok(if marks.is_mount {
            Some(Obstacle::MountPoint)
        } else if marks.is_immutable {
            Some(Obstacle::Immutable)
        } else if self.sticky_for.is_some_and(|user| user != marks.owner) {
            Some(Obstacle::Sticky)
        } else {
            None
        })
    }
}

/// The device of an entry, by which a mount shows where the system does not tell it. It is signed on some
/// systems and unsigned on others.
pub(crate) fn device_of(stat: &Stat) -> i128 {
    stat.st_dev.into()
}
