//! Opening files to read them.

use std::path::Path;

use super::buffer::ReadBuffer;
use super::cached;
use super::error::OpenError;
use super::file::{CachedRead, OpenFile};
use super::open;
use super::root::{Containment, Sandbox, containment_of};
use super::system;
use crate::path::WorkspacePath;

impl Sandbox {
    /// [`Sandbox::open`], if the system can do it without waiting for anything. `None` means only "not
    /// without waiting"; call [`Sandbox::open`] for the answer.
    #[must_use]
    pub fn open_without_waiting(root: &Path) -> Option<Self> {
        let containment = containment_of(system::is_known_to_offer_openat2()?);
        Some(Self::new(root, cached::open_root(root)?, containment))
    }

    /// Opens a regular file for reading, without ever waiting for data.
    ///
    /// # Errors
    ///
    /// [`OpenError`]; a directory or special file is an error, too.
    pub fn open_file(&self, path: &WorkspacePath) -> Result<OpenFile, OpenError> {
        let opened = open::to_read(self, path).and_then(OpenFile::examine);
        if let Ok(opened) = &opened
            && self.containment == Containment::Kernel
        {
            cached::learn(self, &opened.file);
        }
        opened.map_err(|error| if self.is_gone() { OpenError::RootGone } else { error })
    }

    /// Reads a whole regular file of at most `limit` bytes, if the system can answer without waiting
    /// for anything. Another file of this root must have been opened by [`Sandbox::open_file`] before.
    #[must_use]
    pub fn read_at_once<'buffer>(
        &self,
        path: &WorkspacePath,
        limit: u64,
        buffer: &'buffer mut ReadBuffer,
    ) -> CachedRead<'buffer> {
        match self.containment {
            Containment::Kernel => cached::read(self, path, limit, buffer),
            Containment::Walk => CachedRead::WouldWait,
        }
    }
}
