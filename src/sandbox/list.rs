//! Listing folders: the names of their entries and the kinds.
//!
//! A folder can be opened in two ways. By a [`WorkspacePath`] it is opened like a file: links that end
//! inside are followed. By the names that an earlier listing gave it is opened only if none of them is
//! a link by now, so a folder that was exchanged for a link meanwhile is not followed.
//!
//! The kind of an entry comes with the listing. Nothing is opened or waited on to find it out.
//!
//! A folder does not show the entries that the access rules deny.

use std::ffi::OsStr;
use std::ops::ControlFlow;
use std::path::PathBuf;

use super::entry::{EntryFacts, EntryKind, EntryName, Found, Listed};
use super::error::OpenError;
use super::file::OpenFile;
use super::judge::Reached;
use super::open;
use super::root::Sandbox;
use super::system::{self, Directory};
use crate::access::Access;
use crate::path::WorkspacePath;

/// A folder that is open to be listed.
#[derive(Debug)]
pub struct ListedFolder<'sandbox> {
    directory: Directory,
    /// The root stays open as long as its folders are.
    root: &'sandbox Sandbox,
    /// The paths that lead to the folder, if access rules judge its entries. Several, if links do.
    paths: Vec<PathBuf>,
}

impl Sandbox {
    /// Opens a folder to list it. Links on the way and at the end are followed, as for a file.
    ///
    /// # Errors
    ///
    /// [`OpenError`]; [`OpenError::NotFolder`] if it is a file.
    pub fn open_folder(&self, path: &WorkspacePath) -> Result<ListedFolder<'_>, OpenError> {
        let judgement = self.judge(path, Access::Read);
        if judgement.is_refused() {
            return Err(OpenError::Denied);
        }
        let Reached { directory, mut other_paths } = match open::to_list(self, path) {
            Ok(_) if judgement.refuses_folder => return Err(OpenError::Denied),
            // What stands there is a file, which may be read.
            Err(OpenError::NotFolder)
                if judgement.refuses_folder && self.open_file(path).is_ok() =>
            {
                return Err(OpenError::NotFolder);
            }
            Err(error) if judgement.refuses_file || judgement.hides(&error) => {
                return Err(OpenError::Denied);
            }
            opened => opened.map_err(|error| self.unless_gone(error))?,
        };
        let is_denied = |path: &PathBuf| {
            self.rules().is_some_and(|rules| rules.judge(path, Access::Read).refuses_folder)
        };
        if other_paths.iter().any(is_denied) {
            return Err(OpenError::Denied);
        }
        other_paths.push(path.as_str().into());
        Ok(self.listed(directory, other_paths))
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
        let path: PathBuf = names.iter().collect();
        if self.rules().is_some_and(|rules| rules.judge(&path, Access::Read).refuses_folder) {
            return Err(OpenError::Denied);
        }
        let opened = open::to_list_by_names(self, &names);
        Ok(self.listed(opened.map_err(|error| self.unless_gone(error))?, vec![path]))
    }

    fn listed(&self, directory: Directory, paths: Vec<PathBuf>) -> ListedFolder<'_> {
        let paths = if self.rules().is_some() { paths } else { Vec::new() };
        ListedFolder { directory, root: self, paths }
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
        let Some(rules) = self.root.rules() else {
            return system::visit_entries(&mut self.directory, visit);
        };
        let paths = &self.paths;
        system::visit_entries(&mut self.directory, &mut |entry| {
            let is_folder = entry.kind() == EntryKind::Folder;
            let mut paths = paths.iter().map(|path| path.join(entry.name()));
            if paths.any(|path| rules.denies_entry(&path, is_folder)) {
                return ControlFlow::Continue(());
            }
            visit(entry)
        })
    }

    /// The folder's paths with a name after each; none without access rules.
    fn paths_of(&self, name: &EntryName) -> Vec<PathBuf> {
        self.paths.iter().map(|path| path.join(name.as_os_str())).collect()
    }

    /// Checks that the access rules do not deny an entry.
    fn check(&self, name: &EntryName, is_folder: bool) -> Result<(), OpenError> {
        let Some(rules) = self.root.rules() else { return Ok(()) };
        if self.paths_of(name).iter().any(|path| rules.denies_entry(path, is_folder)) {
            return Err(OpenError::Denied);
        }
        Ok(())
    }

    /// Whether anything stands at a name in the folder itself. A link to nothing counts.
    #[must_use]
    pub fn holds(&self, name: &EntryName) -> bool {
        match system::kind_at(&self.directory, name.as_os_str()) {
            Ok(Some(kind)) => self.check(name, kind == EntryKind::Folder).is_ok(),
            Ok(None) | Err(OpenError::NotFound) => false,
            Err(_) => self.check(name, false).and(self.check(name, true)).is_ok(),
        }
    }

    /// The facts of an entry that stands in the folder itself; no link is followed, and nothing is opened
    /// for its content.
    ///
    /// # Errors
    ///
    /// [`OpenError`]; [`OpenError::NotFound`] if nothing stands there any more.
    pub fn facts(&self, name: &EntryName) -> Result<EntryFacts, OpenError> {
        let facts = system::entry_facts(&self.directory, name.as_os_str())?;
        self.check(name, facts.kind == EntryKind::Folder)?;
        Ok(facts)
    }

    /// Opens a folder that stands in the folder itself, to list it; no link is followed.
    ///
    /// # Errors
    ///
    /// [`OpenError`]; [`OpenError::Escapes`] if it is a link.
    pub fn open_folder(&self, name: &EntryName) -> Result<ListedFolder<'sandbox>, OpenError> {
        self.check(name, true)?;
        match system::open_directory_to_list(&self.directory, name.as_os_str())? {
            Found::Opened(directory) => {
                Ok(ListedFolder { directory, root: self.root, paths: self.paths_of(name) })
            }
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
        self.check(name, false)?;
        match system::open_entry(&self.directory, name.as_os_str())? {
            Found::Opened(file) => OpenFile::examine(file),
            Found::Link(_) => Err(OpenError::Escapes),
        }
    }
}

#[cfg(test)]
mod tests;
