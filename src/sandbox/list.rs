//! Listing folders: names and what stands at them.
//!
//! Two ways lead to a folder. By a [`WorkspacePath`] it is opened like a file: links that end
//! inside are followed. By names that an earlier listing gave it is opened only if none of them is
//! a link by now, so that a folder that was exchanged for one meanwhile leads nowhere.
//!
//! What stands at a name comes with the listing; nothing is opened or waited on to find it out.

use std::ffi::{OsStr, OsString};
use std::ops::ControlFlow;

use super::system::{self, Directory};
use super::walk::{Entry, descend};
use super::{OpenError, OpenFile, Root, Sandbox};
use crate::path::WorkspacePath;

/// An entry of a folder, while it is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Listed<'listing> {
    name: &'listing OsStr,
    kind: EntryKind,
}

/// What stands at a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    /// A directory.
    Folder,
    /// A regular file.
    File,
    /// A symbolic link; on Windows a junction too, and whatever else stands for a name elsewhere.
    Link,
    /// A FIFO, socket or device, or what the system does not say of.
    Special,
}

/// The name of an entry, one component. Only a listing makes one, but for those known here, so that no separator and no `..`
/// can be among the names by which a folder is opened.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct EntryName(OsString);

/// A folder that is open to be listed.
#[derive(Debug)]
pub struct ListedFolder<'sandbox> {
    root: &'sandbox Root,
    directory: Directory,
}

impl<'listing> Listed<'listing> {
    /// An entry as the system gave it; `None` for the folder itself, for the one above it, and for
    /// what is no single component.
    pub(super) fn new(name: &'listing OsStr, kind: EntryKind) -> Option<Self> {
        let bytes = name.as_encoded_bytes();
        let splits = |byte: &u8| matches!(byte, b'/' | b'\0') || cfg!(windows) && *byte == b'\\';
        let is_name = !matches!(bytes, b"" | b"." | b"..") && !bytes.iter().any(splits);
        is_name.then_some(Self { name, kind })
    }

    /// The name, which need not be Unicode.
    #[must_use]
    pub fn name(&self) -> &'listing OsStr {
        self.name
    }

    /// What stands there.
    #[must_use]
    pub fn kind(&self) -> EntryKind {
        self.kind
    }

    /// The name, to keep and to open by.
    #[must_use]
    pub fn to_name(&self) -> EntryName {
        EntryName(self.name.to_owned())
    }
}

impl EntryName {
    /// `.gitignore`, which need not have been listed.
    #[must_use]
    pub fn gitignore() -> Self {
        Self(".gitignore".into())
    }

    /// The name, which need not be Unicode.
    #[must_use]
    pub fn as_os_str(&self) -> &OsStr {
        &self.0
    }
}

impl Sandbox {
    /// Opens a folder to list it. Links on the way and at the end are followed, as for a file.
    ///
    /// # Errors
    ///
    /// [`OpenError`] says what stands in the way; [`OpenError::NotFolder`] if it is a file.
    pub fn open_folder(&self, path: &WorkspacePath) -> Result<ListedFolder<'_>, OpenError> {
        self.listed(system::open_to_list(&self.root, self.containment, path))
    }

    /// Opens a folder to list it, by the names that lead to it from the root.
    ///
    /// # Errors
    ///
    /// [`OpenError`]; [`OpenError::Escapes`] where a name is a link, wherever that leads.
    pub fn open_folder_by_names(
        &self,
        names: &[&EntryName],
    ) -> Result<ListedFolder<'_>, OpenError> {
        let names: Vec<&OsStr> = names.iter().map(|name| name.as_os_str()).collect();
        self.listed(system::open_to_list_by_names(&self.root, self.containment, &names))
    }

    fn listed(&self, opened: Result<Directory, OpenError>) -> Result<ListedFolder<'_>, OpenError> {
        match opened {
            Ok(directory) => Ok(ListedFolder { root: &self.root, directory }),
            Err(_) if self.is_gone() => Err(OpenError::RootGone),
            Err(error) => Err(error),
        }
    }
}

impl ListedFolder<'_> {
    /// Hands every entry to `visit`, in the system's order, until that breaks off. What is made
    /// or removed meanwhile may be among them or not.
    ///
    /// # Errors
    ///
    /// [`OpenError`] where the system does not give the entries, or not all of them.
    pub fn visit(
        &mut self,
        visit: &mut dyn FnMut(Listed<'_>) -> ControlFlow<()>,
    ) -> Result<(), OpenError> {
        system::visit_entries(&mut self.directory, visit)
    }

    /// Opens a regular file that stands in the folder itself, without ever waiting for it; no link
    /// is followed.
    ///
    /// # Errors
    ///
    /// [`OpenError`], as of [`Sandbox::open_file`]; [`OpenError::Escapes`] if it is a link.
    pub fn open_file(&self, name: &EntryName) -> Result<OpenFile, OpenError> {
        match system::open_entry(self.root, &self.directory, name.as_os_str())? {
            Entry::Opened(file) => OpenFile::examine(file),
            Entry::Link(_) => Err(OpenError::Escapes),
        }
    }
}

/// Opens a folder to list it, hand over hand, by names of which none may be a link.
pub(super) fn open_to_list_by_walk(root: &Root, names: &[&OsStr]) -> Result<Directory, OpenError> {
    let Some((last, names)) = names.split_last() else {
        return root.directory.reopen_to_list();
    };
    let parent = descend(root, names.iter().copied())?;
    // By its name, since a folder that may be read and not entered cannot be opened from within.
    match system::open_directory_to_list(root, parent.as_ref().unwrap_or(&root.directory), last)? {
        Entry::Opened(directory) => Ok(directory),
        Entry::Link(_) => Err(OpenError::Escapes),
    }
}

#[cfg(test)]
mod tests;
