//! Making the folders that a path needs, and taking them back if the write or the move then fails.

use std::io;
use std::rc::Rc;

use super::entry::{FolderId, Found};
use super::error::OpenError;
use super::place::{MissingFolders, Place, depth, name};
use super::root::Sandbox;
use super::system::{self, Directory};
use crate::path::WorkspacePath;

/// The folders that were made for one path, outermost first.
pub(super) struct MadeFolders<'path> {
    path: &'path WorkspacePath,
    made: Vec<MadeFolder>,
}

/// A folder that was made, under the path's name with the number `depth`.
struct MadeFolder {
    depth: usize,
    id: FolderId,
    /// The folder that holds it, unless its handle was let go.
    parent: Option<Rc<Directory>>,
}

/// Why a folder could not be made.
pub(super) enum FolderError {
    /// Another process has changed the way since it was looked at.
    Raced,
    /// The system refused.
    Refused(io::Error),
    /// The entry at the folder's name could not be opened.
    Open(OpenError),
}

impl<'path> MadeFolders<'path> {
    /// None yet.
    pub(super) fn none(path: &'path WorkspacePath) -> Self {
        Self { path, made: Vec::new() }
    }

    /// Makes the folders that are missing on the way, and gives the place at the path's end.
    ///
    /// `durable`: each folder's name reaches the disk before the next step.
    pub(super) fn make(
        &mut self,
        root: &'path Sandbox,
        way: MissingFolders,
        durable: bool,
    ) -> Result<Place<'path>, FolderError> {
        let mut folder = Rc::new(way.folder);
        for depth in way.existing..depth(self.path) {
            let name = name(self.path, depth);
            if let Some(id) = system::make_folder(&folder, &name).map_err(folder_error)? {
                self.push(MadeFolder { depth, id, parent: Some(Rc::clone(&folder)) });
                if durable {
                    system::sync_folder(&folder).map_err(folder_error)?;
                }
            }
            // The folder is opened beneath the handle. Whether the path still leads here is
            // checked once, at the end.
            folder = match system::open_directory_to_write_in(&folder, &name) {
                Ok(Found::Opened(below)) => Rc::new(below),
                // Taken away between making and opening, or made by another program as a link.
                Ok(Found::Link(_)) | Err(OpenError::NotFound) => return Err(FolderError::Raced),
                Err(error) => return Err(FolderError::Open(error)),
            };
        }
        Ok(Place::at_end(root, self.path, folder))
    }

    /// The folders, relative to the root, with `/` between their names.
    pub(super) fn paths(&self) -> Vec<String> {
        self.made.iter().map(|made| self.path.first(made.depth + 1).to_string()).collect()
    }

    /// Removes the folders, innermost first. A folder stays, and so do those around it, if another
    /// program has put something into it, or another folder in its place.
    pub(super) fn take_back(self) {
        let mut below: Option<Rc<Directory>> = None;
        for MadeFolder { depth, id, parent } in self.made.into_iter().rev() {
            // Not every system removes a folder that is held open, so the folder below is let go here.
            let parent = match (parent, below.take()) {
                (Some(parent), _) => Some(parent),
                (None, Some(below)) => system::open_parent(&below).ok().map(Rc::new),
                (None, None) => None,
            };
            let Some(parent) = parent else { return };
            if system::remove_folder(&parent, &name(self.path, depth), id).is_err() {
                return;
            }
            below = Some(parent);
        }
    }

    fn push(&mut self, folder: MadeFolder) {
        self.made.push(folder);
        let mut held = self.made.iter_mut().rev().skip(system::MAX_FOLDERS_HELD);
        if let Some(outer) = held.next() {
            outer.parent = None;
        }
    }
}

fn folder_error(error: io::Error) -> FolderError {
    match error.kind() {
        // The folder that was to hold it is gone.
        io::ErrorKind::NotFound => FolderError::Raced,
        _ => FolderError::Refused(error),
    }
}
