//! The rights to a file that replaces another. It gets the other's owner, permission bits and access
//! list as far as the process may set them, and never gives a user more rights.

use std::fs::File;

use rustix::fs::{
    Gid, Mode, Uid, XattrFlags, fchmod, fchown, fgetxattr, fgetxattr_query, flistxattr,
    flistxattr_query, fremovexattr, fsetxattr, fstat,
};

use super::draft::Draft;
use super::error::put_error;
use super::old::Old;
use crate::sandbox::put::error::{PutError, WriteError};

/// Begins a draft with a mode.
pub(super) type BeginWith<'begin, 'folder> =
    &'begin dyn Fn(Mode) -> rustix::io::Result<Option<Draft<'folder>>>;

/// The mode bits that a replacement keeps. The set-user-ID and set-group-ID bits are dropped, as
/// when a user writes to a file, because they were given to the old content.
const KEPT_MODE: Mode = Mode::RWXU.union(Mode::RWXG).union(Mode::RWXO).union(Mode::SVTX);

/// The mode of a draft before it gets old's rights: no other user may read it at its temporary name.
pub(super) const PRIVATE: Mode = Mode::from_raw_mode(0o600);

/// The access list of Linux: the rights of further users and groups.
const ACCESS_LIST: &[u8] = b"system.posix_acl_access";

/// Begins a draft with the rights of the file that it is to displace, and to be executed if that is wanted.
pub(super) fn begin_alike<'folder>(
    begin: BeginWith<'_, 'folder>,
    old: &Old,
    executable: Option<bool>,
) -> Result<Option<Draft<'folder>>, PutError> {
    let Some(draft) = begin(PRIVATE).map_err(put_error)? else { return Ok(None) };
    let taken = take_over(&draft.file, &old.file, executable)?;
    let Bits::Refused(wanted) = taken else { return Ok(Some(draft)) };
    // Some file systems change no bits, but still take them, less the umask, when a file is made.
    drop(draft);
    let Some(draft) = begin(wanted).map_err(put_error)? else { return Ok(None) };
    take_over(&draft.file, &old.file, executable)?;
    let given = mode_of(&draft.file).map_err(put_error)?;
    if wanted.contains(given) { Ok(Some(draft)) } else { Err(not_kept()) }
}

fn not_kept() -> PutError {
    PutError::Refused(WriteError::AccessNotKept)
}

/// Whether a file got the permission bits that it should have.
enum Bits {
    Given,
    Refused(Mode),
}

/// Gives a file the owner, access list, permission bits and other attributes of another.
fn take_over(file: &File, old: &File, executable: Option<bool>) -> Result<Bits, PutError> {
    let kept = take_over_owner(file, old).map_err(put_error)?;
    take_over_access_list(file, old, kept)?;
    copy_attributes(old, file, kept);
    let wanted = with_execute(kept.bits(mode_of(old).map_err(put_error)?), executable);
    if mode_of(file).map_err(put_error)? == wanted {
        return Ok(Bits::Given);
    }
    Ok(if fchmod(file, wanted).is_ok() { Bits::Given } else { Bits::Refused(wanted) })
}

/// A mode with the right to execute for everyone who may read, or for nobody.
fn with_execute(mode: Mode, executable: Option<bool>) -> Mode {
    const EXECUTE: Mode = Mode::XUSR.union(Mode::XGRP).union(Mode::XOTH);
    match executable {
        Some(true) => mode | Mode::from_raw_mode(mode.as_raw_mode() >> 2) & EXECUTE,
        Some(false) => mode - EXECUTE,
        None => mode,
    }
}

fn mode_of(file: &File) -> rustix::io::Result<Mode> {
    Ok(Mode::from_raw_mode(fstat(file)?.st_mode) & KEPT_MODE)
}

/// Whether a new file has the owner and the group of the one that it displaces.
#[derive(Debug, Clone, Copy)]
struct Ownership {
    owner: bool,
    group: bool,
}

fn take_over_owner(file: &File, old: &File) -> rustix::io::Result<Ownership> {
    let (own, wanted) = (fstat(file)?, fstat(old)?);
    let (uid, gid) = (Uid::from_raw(wanted.st_uid), Gid::from_raw(wanted.st_gid));
    let is_alike = (own.st_uid, own.st_gid) == (wanted.st_uid, wanted.st_gid);
    if !is_alike && fchown(file, Some(uid), Some(gid)).is_err() {
        // A user may not give files away, but may give them to another of his groups.
        let _ = fchown(file, None, Some(gid));
    }
    let now = fstat(file)?;
    Ok(Ownership { owner: now.st_uid == wanted.st_uid, group: now.st_gid == wanted.st_gid })
}

impl Ownership {
    fn is_kept(self) -> bool {
        self.owner && self.group
    }

    /// The bits for a file with this ownership. They give no user a right that the old bits did
    /// not give.
    ///
    /// If the group is another one, its members were among the others before, and the members of
    /// the old group are among the others now. So both get only the bits that both had. If the
    /// owner is another one, the old owner is in the group or among the others now. So these get
    /// only bits that the owner had.
    fn bits(self, old: Mode) -> Mode {
        let all = old.as_raw_mode();
        let (owner, mut group, mut others) = (all >> 6 & 7, all >> 3 & 7, all & 7);
        if !self.group {
            group &= others;
            others = group;
        }
        if !self.owner {
            group &= owner;
            others &= owner;
        }
        Mode::from_raw_mode(all & !0o777 | owner << 6 | group << 3 | others)
    }
}

/// Gives a file the access list of another, or none if that has none.
///
/// The list has entries for the file's owner and group. If those are not kept, it would give the
/// rights of one group to another.
fn take_over_access_list(file: &File, old: &File, kept: Ownership) -> Result<(), PutError> {
    let taken = match attribute(old, ACCESS_LIST) {
        Ok(_) if !kept.is_kept() => return Err(not_kept()),
        Ok(list) => fsetxattr(file, ACCESS_LIST, &list, XattrFlags::empty()),
        // The folder may have given the new file a list.
        Err(_) if attribute(file, ACCESS_LIST).is_ok() => fremovexattr(file, ACCESS_LIST),
        Err(_) => Ok(()),
    };
    taken.map_err(|_| not_kept())
}

/// Copies the extended attributes of `from` to `to`, as far as the process may.
///
/// Attributes that only `to` has are removed. Capabilities and signatures are not copied, because
/// they were given to the old content. If the owner or the group is another one, the access lists
/// of network file systems are not copied either.
fn copy_attributes(from: &File, to: &File, kept: Ownership) {
    const OF_THE_CONTENT: [&[u8]; 3] = [b"security.capability", b"security.ima", b"security.evm"];
    let is_copied = |name: &[u8]| {
        name != ACCESS_LIST
            && !OF_THE_CONTENT.contains(&name)
            && (kept.is_kept() || !name.starts_with(b"system."))
    };
    let wanted = attribute_names(from);
    for name in attribute_names(to) {
        if !wanted.contains(&name) {
            let _ = fremovexattr(to, &name[..]);
        }
    }
    for name in wanted.iter().filter(|name| is_copied(name)) {
        if let Ok(value) = attribute(from, name) {
            let _ = fsetxattr(to, &name[..], &value, XattrFlags::empty());
        }
    }
}

/// Linux' limit for all names of a file's attributes together, and also for one value, in bytes.
const MAX_ATTRIBUTE_BYTES: usize = 64 << 10;

/// The value of an attribute. Few files have any, and memory for the longest costs more than asking for it.
fn attribute(file: &File, name: &[u8]) -> rustix::io::Result<Vec<u8>> {
    if fgetxattr_query(file, name)? == 0 {
        return Ok(Vec::new());
    }
    let mut value = vec![0; MAX_ATTRIBUTE_BYTES];
    let length = fgetxattr(file, name, &mut value[..])?;
    value.truncate(length);
    Ok(value)
}

pub(super) fn attribute_names(file: &File) -> Vec<Vec<u8>> {
    if matches!(flistxattr_query(file), Ok(0) | Err(_)) {
        return Vec::new();
    }
    let mut names = vec![0; MAX_ATTRIBUTE_BYTES];
    let length = flistxattr(file, &mut names[..]).unwrap_or(0);
    let names = names[..length].split(|&byte| byte == 0);
    names.filter(|name| !name.is_empty()).map(<[u8]>::to_vec).collect()
}

#[cfg(test)]
mod tests {
    use rustix::fs::RawMode;

    use super::*;

    fn bits(old: RawMode, owner: bool, group: bool) -> RawMode {
        Ownership { owner, group }.bits(Mode::from_raw_mode(old)).as_raw_mode()
    }

    #[test]
    fn bits_stay_with_the_owner_and_the_group_that_had_them() {
        for mode in [0o644, 0o660, 0o604, 0o1777, 0o750] {
            assert_eq!(bits(mode, true, true), mode);
        }
        assert_eq!(bits(0o664, true, false), 0o644);
        assert_eq!(bits(0o640, true, false), 0o600);
        assert_eq!(bits(0o604, true, false), 0o600);
        assert_eq!(bits(0o664, false, true), 0o664);
        assert_eq!(bits(0o066, false, true), 0o000);
        assert_eq!(bits(0o755, false, false), 0o755);
    }

    /// What each of a few users may do: as owner, as member of a group, or as one of the others.
    fn rights(mode: RawMode, (owner, group): (u32, u32), user: u32, groups: &[u32]) -> RawMode {
        match () {
            () if user == owner => mode >> 6 & 7,
            () if groups.contains(&group) => mode >> 3 & 7,
            () => mode & 7,
        }
    }

    #[test]
    fn no_mode_gives_a_right_to_a_user_who_had_none_but_to_the_new_owner() {
        const OLD: (u32, u32) = (1, 10);
        for mode in 0..=0o777 {
            for new in [(1, 10), (1, 20), (2, 10), (2, 20)] {
                let given = bits(mode, new.0 == OLD.0, new.1 == OLD.1);
                for user in (1..=3).filter(|&user| user != new.0) {
                    for groups in [&[][..], &[10], &[20], &[10, 20]] {
                        let (had, has) =
                            (rights(mode, OLD, user, groups), rights(given, new, user, groups));
                        assert_eq!(has & !had, 0, "{mode:o} {new:?}: {user} in {groups:?}");
                    }
                }
            }
        }
    }
}
