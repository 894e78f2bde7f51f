//! The files that a plan reads: from disk, or as an earlier section has left them.

use std::ops::ControlFlow;

use super::failures::{folder_stands, link_stands, not_comparable, not_expected, too_large};
use super::{Content, Origin, PlannedFile, Planning, at, key};
use crate::access::Access;
use crate::hash::Sha256Pieces;
use crate::path::EntryPath;
use crate::sandbox::{
    Callbacks, EntryError, EntryKind, MAX_COMPARED_BYTES, OpenError, OpenFile, RemoveOptions,
};
use crate::text::{InvalidUtf8, decode};
use crate::tools::apply_patch::{ExpectedFile, MAX_BYTES_TOGETHER, MAX_BYTES_WORKED_THROUGH};
use crate::tools::edit_file::{MAX_EDIT_FILE_SIZE_BYTES, not_read};
use crate::tools::entry_change::{failure_at, with_near_misses};
use crate::tools::failure::{ErrorCode, Failure};

impl Planning<'_> {
    /// The first spelling of a path at which something stands; the first of all if nothing does.
    pub(super) fn existing<'paths>(&mut self, paths: &'paths [EntryPath]) -> &'paths EntryPath {
        let [first, others @ ..] = paths else { unreachable!("a section has a path") };
        if others.is_empty() {
            return first;
        }
        paths.iter().find(|path| self.stands(path)).unwrap_or(first)
    }

    pub(super) fn stands(&mut self, path: &EntryPath) -> bool {
        if let Some(file) = self.standing.get(key(path)) {
            return file.is_some();
        }
        match self.sandbox.open_file_to_change(path.as_path()) {
            Ok(file) => {
                self.opened = Some((key(path).to_owned(), file));
                true
            }
            Err(OpenError::NotFound | OpenError::NotFolder | OpenError::NameTooLong) => false,
            Err(_) => true,
        }
    }

    /// The file at a path, whose bytes are needed. They are changed, or only read where the entry itself is removed.
    pub(super) fn file(
        &mut self,
        path: &EntryPath,
        must_be_text: bool,
        access: Access,
    ) -> Result<usize, Failure> {
        if let Some(index) = self.known(path)? {
            return match self.plan.files[index].content {
                Content::Bytes(..) => Ok(index),
                Content::Large(_) => Err(at(too_large(), path)),
                Content::Link => {
                    let sentence =
                        "the patch moves a link to this path, and cannot change the file behind it";
                    Err(at(Failure::new(ErrorCode::NotFile, sentence), path))
                }
            };
        }
        let file = self.open(path, access)?;
        if access == Access::Change {
            self.sandbox.check_replaceable(path).map_err(|error| at(error.into(), path))?;
        }
        self.remember_id(&file, path)?;
        let bytes = file
            .read_to_end(MAX_EDIT_FILE_SIZE_BYTES)
            .map_err(|error| at(not_read(error), path))?;
        if must_be_text {
            decode(&bytes, InvalidUtf8::Reject).map_err(|error| at(error.into(), path))?;
        }
        self.count_bytes(bytes.len(), path)?;
        self.add_from_disk(path, Content::of(bytes))
    }

    /// The file or link at a path, which is removed or moved as it is.
    pub(super) fn entry(&mut self, path: &EntryPath) -> Result<usize, Failure> {
        if let Some(index) = self.known(path)? {
            return Ok(index);
        }
        // Whether the folder could be removed would tell whether it holds protected entries.
        if self.sandbox.is_folder_to_change(path) {
            return Err(at(folder_stands(), path));
        }
        let content = match self.try_removal(path) {
            Ok(EntryKind::Folder) | Err(EntryError::NotEmpty { .. }) => {
                return Err(at(folder_stands(), path));
            }
            Ok(EntryKind::Link) => Content::Link,
            Ok(EntryKind::File | EntryKind::Special) => self.content_of_file(path)?,
            Err(error) => return Err(self.not_found(error, path)),
        };
        self.add_from_disk(path, content)
    }

    /// Checks that an entry may be removed, and gives its kind.
    pub(super) fn try_removal(&self, path: &EntryPath) -> Result<EntryKind, EntryError> {
        let options = RemoveOptions { dry_run: true, ..RemoveOptions::default() };
        let callbacks = Callbacks::without_confirm(self.cancelled);
        Ok(self.sandbox.remove_entry(path, &options, callbacks)?.kind)
    }

    pub(super) fn content_of_file(&mut self, path: &EntryPath) -> Result<Content, Failure> {
        let mut file = self.open(path, Access::Read)?;
        self.remember_id(&file, path)?;
        if file.size() <= MAX_EDIT_FILE_SIZE_BYTES {
            let bytes = file
                .read_to_end(MAX_EDIT_FILE_SIZE_BYTES)
                .map_err(|error| at(not_read(error), path))?;
            self.count_bytes(bytes.len(), path)?;
            return Ok(Content::of(bytes));
        }
        if file.size() > MAX_COMPARED_BYTES {
            let sentence = format!(
                "the file has {} bytes, and the hash that the answer needs is made of {MAX_COMPARED_BYTES} bytes \
                 (64 MiB) at most; use move_file or delete_file",
                file.size()
            );
            return Err(at(Failure::new(ErrorCode::SizeLimitExceeded, sentence), path));
        }
        let mut pieces = Sha256Pieces::default();
        file.read_pieces(0, &mut |piece| {
            pieces.add(piece);
            if (self.cancelled)() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })
        .map_err(|error| at(error.into(), path))?;
        if (self.cancelled)() {
            Err(Failure::cancelled())
        } else {
            Ok(Content::Large(pieces.digest()))
        }
    }

    pub(super) fn open(&mut self, path: &EntryPath, access: Access) -> Result<OpenFile, Failure> {
        if let Some((opened, file)) = self.opened.take()
            && opened == key(path)
        {
            return Ok(file);
        }
        let opened = match access {
            Access::Read => self.sandbox.open_file(path.as_path()),
            Access::Change => self.sandbox.open_file_to_change(path.as_path()),
        };
        opened.map_err(|error| self.not_found(error.into(), path))
    }

    pub(super) fn not_found(&self, error: EntryError, path: &EntryPath) -> Failure {
        let (sandbox, path) = (self.sandbox, path.as_path());
        let failure = failure_at(error, sandbox, path, None, self.cancelled);
        with_near_misses(failure, sandbox, path.as_str(), path)
    }

    /// The file that the patch itself has left at a path; `Ok(None)` if it is as on disk.
    pub(super) fn known(&self, path: &EntryPath) -> Result<Option<usize>, Failure> {
        match self.standing.get(key(path)) {
            Some(Some(index)) => Ok(Some(*index)),
            Some(None) => {
                let sentence = "an earlier section of the patch deletes or moves this file";
                Err(at(Failure::new(ErrorCode::NotFound, sentence), path))
            }
            None => Ok(None),
        }
    }

    /// Adds a file of the disk to the plan, if it has the expected hash.
    pub(super) fn add_from_disk(
        &mut self,
        path: &EntryPath,
        content: Content,
    ) -> Result<usize, Failure> {
        match (self.expected(path), content.digest()) {
            (None, _) => {}
            (Some(ExpectedFile::Hash(expected)), Some(digest)) if expected == digest => {}
            (Some(expected), Some(digest)) => {
                return Err(at(not_expected(expected, &digest), path));
            }
            (Some(ExpectedFile::Hash(_)), None) => return Err(at(not_comparable(), path)),
            (Some(ExpectedFile::Absent), None) => return Err(at(link_stands(), path)),
        }
        let is_link = matches!(content, Content::Link);
        self.plan.files.push(PlannedFile {
            origin: Some(Origin { path: path.clone(), content: content.clone(), is_link }),
            path: Some(path.clone()),
            content,
            executable: None,
        });
        let index = self.plan.files.len() - 1;
        self.standing.insert(key(path).to_owned(), Some(index));
        Ok(index)
    }

    pub(super) fn expected(&mut self, path: &EntryPath) -> Option<ExpectedFile> {
        let expected = self.patch.expected.get(key(path)).copied();
        if expected.is_some() {
            self.compared.insert(key(path).to_owned());
        }
        expected
    }

    /// Takes off the bytes that an earlier section has made of a file, which are not kept.
    pub(super) fn forget_bytes(&mut self, index: usize) {
        let file = &self.plan.files[index];
        let of_disk = file.origin.as_ref().and_then(|origin| origin.content.digest());
        if file.content.digest() != of_disk {
            self.bytes_together -= file.content.bytes().map_or(0, |bytes| bytes.len() as u64);
        }
    }

    /// Counts bytes that stay in memory until the patch is written.
    pub(super) fn count_bytes(&mut self, bytes: usize, path: &EntryPath) -> Result<(), Failure> {
        self.bytes_together += bytes as u64;
        if self.bytes_together <= MAX_BYTES_TOGETHER {
            return Ok(());
        }
        let sentence = format!(
            "the files of the patch, before and after, have more than {MAX_BYTES_TOGETHER} bytes (256 MiB) together: \
             make several patches of it"
        );
        Err(at(Failure::new(ErrorCode::SizeLimitExceeded, sentence), path))
    }

    /// Counts the bytes of a file that a section works through.
    pub(super) fn count_work(&mut self, index: usize, path: &EntryPath) -> Result<(), Failure> {
        let bytes = self.plan.files[index].content.bytes().unwrap_or_default();
        self.bytes_worked_through += bytes.len() as u64;
        if self.bytes_worked_through <= MAX_BYTES_WORKED_THROUGH {
            return Ok(());
        }
        let sentence = format!(
            "too many sections change large files: each section works through its whole file, and all of them together \
             through {MAX_BYTES_WORKED_THROUGH} bytes (256 MiB) at most. Give all hunks of a file in one section, in the \
             order of the file, or make several patches"
        );
        Err(at(Failure::new(ErrorCode::SizeLimitExceeded, sentence), path))
    }
}
