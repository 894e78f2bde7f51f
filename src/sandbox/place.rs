//! Where a path leads for an operation that changes something: a name in a folder that is held open.
//!
//! An operation finds its place first, looks at what stands there, and acts beneath the held folder.
//! Just before and after its last step it asks whether the path still leads to that folder
//! ([`Place::is_current`]).

use std::ffi::OsString;
use std::rc::Rc;

use super::entry::EntryKind;
use super::error::OpenError;
use super::open;
use super::root::Sandbox;
use super::system::{self, Directory};
use crate::path::WorkspacePath;

/// A name in a folder, and the path that led there.
pub(super) struct Place<'path> {
    root: &'path Sandbox,
    path: &'path WorkspacePath,
    /// Open to create in.
    pub(super) folder: Rc<Directory>,
    pub(super) name: OsString,
    /// Whether the path's last name is a link, and this is the place where that link leads.
    pub(super) is_behind_link: bool,
}

/// How far a path leads through folders that exist.
pub(super) enum Located<'path> {
    /// To its end: every folder exists. The last name is not followed if it is a link.
    Complete(Place<'path>),
    /// Some folders are missing.
    FoldersMissing(MissingFolders),
}

/// Where the folders that exist end before the path does.
pub(super) struct MissingFolders {
    /// The deepest folder that exists, open to create in.
    pub(super) folder: Directory,
    /// How many of the path's names lead to it.
    pub(super) existing: usize,
}

/// Follows a path as far as its folders exist. Changes nothing.
pub(super) fn find<'path>(
    root: &'path Sandbox,
    path: &'path WorkspacePath,
) -> Result<Located<'path>, OpenError> {
    let (folder, existing) = deepest_folder(root, path)?;
    if existing < depth(path) {
        return Ok(Located::FoldersMissing(MissingFolders { folder, existing }));
    }
    Ok(Located::Complete(Place::at_end(root, path, Rc::new(folder))))
}

impl<'path> Place<'path> {
    /// The place of the path's last name, in the folder to which the names before it lead.
    pub(super) fn at_end(
        root: &'path Sandbox,
        path: &'path WorkspacePath,
        folder: Rc<Directory>,
    ) -> Self {
        let name = name(path, depth(path));
        Self { root, path, folder, name, is_behind_link: false }
    }

    /// The place where a path leads whose last name is a link: at the end of all links.
    pub(super) fn behind_link(
        root: &'path Sandbox,
        path: &'path WorkspacePath,
    ) -> Result<Self, OpenError> {
        let (folder, name) = open::resolve(root, path)?;
        Ok(Self { root, path, folder: Rc::new(folder), name, is_behind_link: true })
    }

    /// Looks up the kind of the entry that stands at the place now.
    pub(super) fn kind(&self) -> Result<Option<EntryKind>, OpenError> {
        system::kind_at(&self.folder, &self.name)
    }

    /// Whether the path still leads to the folder. Another process may have moved the folder since it
    /// was opened, also out of the workspace.
    pub(super) fn is_current(&self) -> bool {
        let now = if self.is_behind_link {
            open::resolve(self.root, self.path).map(|(folder, _)| folder)
        } else {
            open::to_write_in(self.root, &self.path.first(depth(self.path)))
        };
        let ids = (now.map(|now| system::folder_id(&now)), system::folder_id(&self.folder));
        matches!(ids, (Ok(Ok(now)), Ok(then)) if now == then)
    }
}

impl MissingFolders {
    /// Looks at the first name after the deepest folder that exists. If a link stands there, its
    /// target is missing.
    pub(super) fn kind_of_next(
        &self,
        path: &WorkspacePath,
    ) -> Result<Option<EntryKind>, OpenError> {
        system::kind_at(&self.folder, &name(path, self.existing))
    }
}

/// How many folders lead to the last name of a path.
pub(super) fn depth(path: &WorkspacePath) -> usize {
    path.names().count() - 1
}

pub(super) fn name(path: &WorkspacePath, index: usize) -> OsString {
    path.names().nth(index).unwrap_or_default().into()
}

/// The deepest folder on the way that exists, and how many names lead to it.
///
/// To open a folder by its path takes a step for each name, so the number of attempts must not grow
/// with the path. The search goes back from the end in steps that double, and then halves the interval
/// between the last two.
fn deepest_folder(root: &Sandbox, path: &WorkspacePath) -> Result<(Directory, usize), OpenError> {
    let open = |names| open::to_write_in(root, &path.first(names));
    let mut missing = depth(path) + 1;
    let mut step = 1;
    let (mut folder, mut existing) = loop {
        let fewer = missing.saturating_sub(step);
        match open(fewer) {
            Err(OpenError::NotFound) if fewer > 0 => (missing, step) = (fewer, step * 2),
            opened => break (opened?, fewer),
        }
    };
    while existing + 1 < missing {
        let middle = existing.midpoint(missing);
        match open(middle) {
            Err(OpenError::NotFound) => missing = middle,
            opened => (folder, existing) = (opened?, middle),
        }
    }
    Ok((folder, existing))
}
