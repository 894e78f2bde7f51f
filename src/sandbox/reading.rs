//! Opening files to read them.

use std::path::Path;

use super::buffer::ReadBuffer;
use super::cached;
use super::error::OpenError;
use super::file::{CachedRead, OpenFile};
use super::open;
use super::root::{Containment, Sandbox, containment_of};
use super::system;
use crate::access::Access;
use crate::path::WorkspacePath;

/// The longest path, in bytes, that access rules judge on the thread of an event loop: all folders on it take some
/// microseconds.
const LONGEST_JUDGED_AT_ONCE: usize = 256;

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
        self.open_file_for(path, Access::Read)
    }

    /// [`Sandbox::open_file`] of a file that is to be changed: [`OpenError::Denied`] also where the access rules
    /// let it be read and not changed.
    ///
    /// # Errors
    ///
    /// As [`Sandbox::open_file`].
    pub fn open_file_to_change(&self, path: &WorkspacePath) -> Result<OpenFile, OpenError> {
        self.open_file_for(path, Access::Change)
    }

    fn open_file_for(&self, path: &WorkspacePath, access: Access) -> Result<OpenFile, OpenError> {
        let judgement = self.judge(path, access);
        if judgement.refuses_file {
            return Err(OpenError::Denied);
        }
        let opened = open::to_read(self, path, access).and_then(OpenFile::examine);
        let opened =
            opened.map_err(|error| if judgement.hides(&error) { OpenError::Denied } else { error });
        if let Ok(opened) = &opened
            && self.containment == Containment::Kernel
        {
            cached::learn(self, &opened.file);
        }
        opened.map_err(|error| self.unless_gone(error))
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
        // A worker gives the answer if the access rules refuse the path, or might, or take long to judge it.
        let is_allowed = self.rules.is_none()
            || path.as_str().len() <= LONGEST_JUDGED_AT_ONCE
                && self.judge(path, Access::Read).is_allowed();
        match self.containment {
            Containment::Kernel if is_allowed => cached::read(self, path, limit, buffer),
            _ => CachedRead::WouldWait,
        }
    }
}
