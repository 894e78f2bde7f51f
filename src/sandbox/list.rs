//! Listing folders: the names of their entries and the kinds.
//!
//! A folder can be opened in two ways. By a [`WorkspacePath`] it is opened like a file: links that end
//! inside are followed. By the names that an earlier listing gave it is opened only if none of them is
//! a link by now, so a folder that was exchanged for a link meanwhile is not followed.
//!
//! The kind of an entry comes with the listing. Nothing is opened or waited on to find it out.

use std::ffi::OsStr;
use std::marker::PhantomData;
use std::ops::ControlFlow;

use super::entry::{EntryFacts, EntryName, Found, Listed};
use super::error::OpenError;
use super::file::OpenFile;
use super::open;
use super::root::Sandbox;
use super::system::{self, Directory};
use crate::path::WorkspacePath;

/// A folder that is open to be listed.
#[derive(Debug)]
pub struct ListedFolder<'sandbox> {
    directory: Directory,
    /// The root stays open as long as its folders are.
    root: PhantomData<&'sandbox Sandbox>,
}

impl Sandbox {
    /// Opens a folder to list it. Links on the way and at the end are followed, as for a file.
    ///
    /// # Errors
    ///
    /// [`OpenError`]; [`OpenError::NotFolder`] if it is a file.
    pub fn open_folder(&self, path: &WorkspacePath) -> Result<ListedFolder<'_>, OpenError> {
        self.listed(open::to_list(self, path))
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
        self.listed(open::to_list_by_names(self, &names))
    }

    fn listed(&self, opened: Result<Directory, OpenError>) -> Result<ListedFolder<'_>, OpenError> {
        match opened {
            Ok(directory) => Ok(ListedFolder { directory, root: PhantomData }),
            Err(_) if self.is_gone() => Err(OpenError::RootGone),
            Err(error) => Err(error),
        }
    }
}

impl<'sandbox> ListedFolder<'sandbox> {
    /// Hands every entry to `visit`, in the system's order, until `visit` breaks off. Entries that are
    /// made or removed meanwhile may be among them or not.
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

    /// Whether anything stands at a name in the folder itself. A link to nothing counts.
    #[must_use]
    pub fn holds(&self, name: &EntryName) -> bool {
        let standing = system::kind_at(&self.directory, name.as_os_str());
        !matches!(standing, Ok(None) | Err(OpenError::NotFound))
    }

    /// The facts of an entry that stands in the folder itself; no link is followed, and nothing is opened
    /// for its content.
    ///
    /// # Errors
    ///
    /// [`OpenError`]; [`OpenError::NotFound`] if nothing stands there any more.
    pub fn facts(&self, name: &EntryName) -> Result<EntryFacts, OpenError> {
        system::entry_facts(&self.directory, name.as_os_str())
    }

    /// Opens a folder that stands in the folder itself, to list it; no link is followed.
    ///
    /// # Errors
    ///
    /// [`OpenError`]; [`OpenError::Escapes`] if it is a link.
    pub fn open_folder(&self, name: &EntryName) -> Result<ListedFolder<'sandbox>, OpenError> {
        match system::open_directory_to_list(&self.directory, name.as_os_str())? {
            Found::Opened(directory) => Ok(ListedFolder { directory, root: PhantomData }),
            Found::Link(_) => Err(OpenError::Escapes),
        }
    }

    /// Opens a regular file that stands in the folder itself, without ever waiting for data; no link is
    /// followed.
    ///
    /// # Errors
    ///
    /// [`OpenError`], as of [`Sandbox::open_file`]; [`OpenError::Escapes`] if it is a link.
    pub fn open_file(&self, name: &EntryName) -> Result<OpenFile, OpenError> {
        match system::open_entry(&self.directory, name.as_os_str())? {
            Found::Opened(file) => OpenFile::examine(file),
            Found::Link(_) => Err(OpenError::Escapes),
        }
    }
}

#[cfg(test)]
mod tests;
