//! macOS and Windows: no system call promises not to wait, so nothing is read at once.

use std::fs::File;
use std::path::Path;

use super::buffer::ReadBuffer;
use super::file::CachedRead;
use super::root::Sandbox;
use super::system::Directory;
use crate::path::WorkspacePath;

pub(super) fn open_root(_: &Path) -> Option<Directory> {
    None
}

pub(super) fn learn(_: &Sandbox, _: &File) {}

pub(super) fn read<'buffer>(
    _: &Sandbox,
    _: &WorkspacePath,
    _: u64,
    _: &'buffer mut ReadBuffer,
) -> CachedRead<'buffer> {
    CachedRead::WouldWait
}
