//! Listing a folder.

use std::ops::ControlFlow;

use windows_sys::Win32::Storage::FileSystem::{
    FILE_ATTRIBUTE_DIRECTORY, FILE_ATTRIBUTE_REPARSE_POINT,
};
use windows_sys::Win32::System::SystemServices::IO_REPARSE_TAG_AF_UNIX;

use super::error::open_error;
use super::handle::Directory;
use super::reparse::{is_link, is_name_surrogate};
use super::sys;
use crate::sandbox::entry::{EntryKind, Listed};
use crate::sandbox::error::OpenError;

/// Hands the entries of a folder, which is open to be listed, to `visit`.
pub(crate) fn visit_entries(
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

/// The kind of a folder's entry. A reparse point of unknown kind counts as a link. A reparse point by
/// which the file system stores a file or folder in its own way counts as that file or folder.
pub(crate) fn entry_kind(attributes: u32, tag: u32) -> EntryKind {
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
