//! Where no system call promises not to wait, nothing is read at once.

use std::path::Path;

use super::system::Directory;
use super::{ReadBuffer, Root, WholeFile};
use crate::path::WorkspacePath;

pub(super) fn open_root(_: &Path) -> Option<Directory> {
    None
}

pub(super) fn recall(_: &Root) {}

pub(super) fn read<'buffer>(
    _: &Root,
    _: &WorkspacePath,
    _: u64,
    _: &'buffer mut ReadBuffer,
) -> Option<WholeFile<'buffer>> {
    None
}
