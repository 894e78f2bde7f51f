//! Reparse points: symbolic links, junctions, and files that a file system stores in its own way.

use std::ffi::{OsStr, OsString};
use std::os::windows::ffi::{OsStrExt, OsStringExt};
use std::os::windows::io::OwnedHandle;
use std::path::PathBuf;

use windows_sys::Win32::Storage::FileSystem::FILE_ATTRIBUTE_REPARSE_POINT;
use windows_sys::Win32::System::SystemServices::{
    IO_REPARSE_TAG_MOUNT_POINT, IO_REPARSE_TAG_SYMLINK,
};

use super::spelling::{is_separator, steps};
use super::sys;
use crate::sandbox::entry::LinkTarget;
use crate::sandbox::error::OpenError;

/// Whether this is a symbolic link or a junction.
pub(crate) fn is_link(attributes: u32, tag: u32) -> bool {
    attributes & FILE_ATTRIBUTE_REPARSE_POINT != 0
        && matches!(tag, IO_REPARSE_TAG_SYMLINK | IO_REPARSE_TAG_MOUNT_POINT)
}

/// The target of a link that is open itself.
pub(crate) fn target_of(link: &OwnedHandle) -> Result<LinkTarget, OpenError> {
    let data = sys::reparse_data(link).map_err(OpenError::System)?;
    ReparseTarget::parse(&data).ok_or(OpenError::Escapes)?.into_link()
}

/// `IsReparseTagNameSurrogate` of the Windows headers.
pub(crate) fn is_name_surrogate(tag: u32) -> bool {
    tag & 0x2000_0000 != 0
}

/// Where a symbolic link or a junction points to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ReparseTarget {
    Relative(OsString),
    Absolute(PathBuf),
}

impl ReparseTarget {
    /// Parses `REPARSE_DATA_BUFFER`, as the driver kit's `ntifs.h` lays it out. A tag of 32 bits is
    /// followed by a length and a reserved field of 16 each. Then both kinds have four fields of 16
    /// bits, of which the first two are offset and length of the substitute name. A symbolic link then
    /// has 32 bits of flags. The names come last.
    pub(crate) fn parse(data: &[u8]) -> Option<Self> {
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

    fn into_link(self) -> Result<LinkTarget, OpenError> {
        match self {
            // `\name`, relative to the drive, says which root it means no better than `C:\name`.
            Self::Relative(target) if starts_with_separator(&target) => Err(OpenError::Escapes),
            Self::Relative(target) => Ok(LinkTarget::Relative(steps(&target))),
            Self::Absolute(target) => Ok(LinkTarget::Absolute(target)),
        }
    }
}

fn starts_with_separator(path: &OsStr) -> bool {
    path.encode_wide().next().is_some_and(is_separator)
}
