//! Whether a plan may make, remove or move something at a name, and that it gives each file one name.

use super::failures::{exists, gone, not_expected, two_names};
use super::{Planning, at, key};
use crate::path::{EntryPath, WorkspacePath};
use crate::sandbox::{
    Callbacks, EntryError, EntryKind, FileId, MoveEnd, MoveOptions, OpenFile, WriteError,
};
use crate::tools::apply_patch::ExpectedFile;
use crate::tools::entry_change::failure_at;
use crate::tools::failure::{ErrorCode, Failure};

impl Planning<'_> {
    /// Checks that a file can be made at a path: nothing stands there, or the patch has taken it away.
    pub(super) fn check_free(&mut self, path: &EntryPath) -> Result<(), Failure> {
        self.check_free_in_patch(path)?;
        if self.standing.contains_key(key(path)) {
            return Ok(());
        }
        match self.sandbox.check_creatable(path) {
            Err(WriteError::FileInTheWay) if self.takes_away_folder_of(path) => {}
            Err(WriteError::Exists | WriteError::IsDirectory | WriteError::NotRegularFile) => {
                return Err(self.not_free(path));
            }
            checked => checked.map_err(|error| at(error.into(), path))?,
        }
        self.expect_nothing(path)
    }

    /// Checks that no section before has put something at a path, or a file where the path needs a folder, or
    /// something beneath it.
    pub(super) fn check_free_in_patch(&self, path: &EntryPath) -> Result<(), Failure> {
        let path_key = key(path);
        let is_file = |path: &str| matches!(self.standing.get(path), Some(Some(_)));
        let folders = path_key.match_indices('/').map(|(slash, _)| &path_key[..slash]);
        if folders.into_iter().any(is_file) {
            let sentence =
                "an earlier section of the patch makes a file where this path needs a folder";
            return Err(at(Failure::new(ErrorCode::NotDirectory, sentence), path));
        }
        let beneath = |other: &str| {
            other.strip_prefix(path_key).is_some_and(|rest| rest.starts_with('/')) && is_file(other)
        };
        if is_file(path_key) || self.standing.keys().any(|other| beneath(other)) {
            return Err(exists(path));
        }
        Ok(())
    }

    /// The failure where something stands at the path of a new file.
    pub(super) fn not_free(&mut self, path: &EntryPath) -> Failure {
        let Some(expected) = self.expected(path) else { return exists(path) };
        match self.content_of_file(path).map(|content| content.digest()) {
            Ok(Some(digest)) if expected != ExpectedFile::Hash(digest) => {
                at(not_expected(expected, &digest), path)
            }
            _ => exists(path),
        }
    }

    /// Checks that the caller expects nothing at a path at which nothing stands.
    pub(super) fn expect_nothing(&mut self, path: &EntryPath) -> Result<(), Failure> {
        match self.expected(path) {
            Some(ExpectedFile::Hash(_)) => Err(gone(path)),
            _ => Ok(()),
        }
    }

    /// Refuses expected hashes for paths that the patch does not change. A diff gives a file several spellings, and only
    /// the one that is used is compared; a hash for another would check nothing.
    pub(super) fn check_all_compared(&self) -> Result<(), Failure> {
        let mut forgotten: Vec<_> =
            self.patch.expected.keys().filter(|path| !self.compared.contains(*path)).collect();
        forgotten.sort_unstable();
        let Some(path) = forgotten.first() else { return Ok(()) };
        let sentence = "expected_hashes has a path that the patch names, but no section changes it";
        Err(Failure::new(ErrorCode::InvalidArgument, sentence).at(path.as_str()))
    }

    /// Whether the patch takes away a file of which the path makes a folder.
    pub(super) fn takes_away_folder_of(&self, path: &EntryPath) -> bool {
        let path = key(path);
        let folders = path.match_indices('/').map(|(slash, _)| &path[..slash]);
        folders.into_iter().any(|folder| self.standing.get(folder) == Some(&None))
    }

    /// Refuses a file that the patch changes under two names. The changes under one name would not see those under
    /// the other.
    pub(super) fn remember_id(&mut self, file: &OpenFile, path: &EntryPath) -> Result<(), Failure> {
        let Some(id) = file.id() else { return Ok(()) };
        match self.ids.insert(id, key(path).to_owned()) {
            Some(other) if other != key(path) && self.stands_at(id, &other) => {
                Err(two_names(&other, path))
            }
            _ => Ok(()),
        }
    }

    /// Whether a file still stands at a path. If another program has removed it since, the system may have given its
    /// number to a new file.
    pub(super) fn stands_at(&self, id: FileId, path: &str) -> bool {
        let file = WorkspacePath::parse(path).map(|path| self.sandbox.open_file(&path));
        matches!(file, Ok(Ok(file)) if file.id() == Some(id))
    }

    /// Refuses a second path to a place. The changes by one path would not see those by the other.
    pub(super) fn remember_place(&mut self, path: &EntryPath) -> Result<(), Failure> {
        let Some(place) = self.sandbox.place_of(path) else { return Ok(()) };
        match self.places.insert(place, key(path).to_owned()) {
            Some(other) if other != key(path) => Err(two_names(&other, path)),
            _ => Ok(()),
        }
    }

    pub(super) fn check_removable(
        &mut self,
        index: usize,
        path: &EntryPath,
    ) -> Result<(), Failure> {
        if !self.stands_on_disk_at(index, path) {
            return Ok(());
        }
        let kind = self.try_removal(path).map_err(|error| self.not_found(error, path))?;
        self.note_kind(index, kind);
        Ok(())
    }

    /// Notes whether the entry that is removed or moved is a link.
    pub(super) fn note_kind(&mut self, index: usize, kind: EntryKind) {
        if let Some(origin) = &mut self.plan.files[index].origin {
            origin.is_link = kind == EntryKind::Link;
        }
    }

    /// Whether a file is still where it stands on disk.
    pub(super) fn stands_on_disk_at(&self, index: usize, path: &EntryPath) -> bool {
        let origin = self.plan.files[index].origin.as_ref();
        origin.is_some_and(|origin| key(&origin.path) == key(path))
    }

    pub(super) fn check_movable(
        &mut self,
        index: usize,
        path: &EntryPath,
        to: &EntryPath,
    ) -> Result<(), Failure> {
        self.check_free_in_patch(to)?;
        let is_vacated = self.standing.get(key(to)) == Some(&None);
        if is_vacated || self.takes_away_folder_of(to) || !self.stands_on_disk_at(index, path) {
            self.check_removable(index, path)?;
            return self.check_free(to);
        }
        let options = MoveOptions { dry_run: true, ..MoveOptions::default() };
        let callbacks = Callbacks::without_confirm(self.cancelled);
        match self.sandbox.move_entry(path, to, &options, callbacks) {
            Ok(moved) => {
                self.note_kind(index, moved.kind);
                self.expect_nothing(to)
            }
            Err(error) => match (error.end, error.error) {
                (_, EntryError::Exists { .. } | EntryError::Same) => Err(self.not_free(to)),
                (MoveEnd::From, error) => Err(self.not_found(error, path)),
                (MoveEnd::To, error) => {
                    Err(failure_at(error, self.sandbox, to.as_path(), None, self.cancelled))
                }
            },
        }
    }
}
