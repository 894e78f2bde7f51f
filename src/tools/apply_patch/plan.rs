//! What a patch comes to: every file as it is after each section, in memory. Nothing changes on disk.

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;
use std::rc::Rc;

use super::assemble::{Assembled, PrintedHunk, assemble};
use super::explain::failure_of_misfit;
use super::file_lines::{CarriageReturns, FileLines, Grade};
use super::locate::{Placed, locate};
use super::patch::{FileChange, Hunk, HunkLine, LineKind};
use super::{
    Action, AppliedHunk, ExpectedFile, MAX_BYTES_TOGETHER, MAX_BYTES_WORKED_THROUGH, ParsedPatch,
    PatchedFile, PathedSection, hex_or_null,
};
use crate::access::Access;
use crate::hash::{self, Sha256Digest, Sha256Pieces};
use crate::path::{EntryPath, WorkspacePath};
use crate::sandbox::{
    Callbacks, EntryError, EntryKind, FileId, MAX_COMPARED_BYTES, MoveEnd, MoveOptions, OpenError,
    OpenFile, PlaceId, RemoveOptions, Sandbox, WriteError,
};
use crate::text::{InvalidUtf8, NotText, decode};
use crate::tools::edit_file::{MAX_EDIT_FILE_SIZE_BYTES, not_read, too_large_after};
use crate::tools::entry_change::{failure_at, with_near_misses};
use crate::tools::failure::{ErrorCode, Failure};

/// A planned patch.
pub struct Plan {
    /// The files that it changes.
    pub files: Vec<PlannedFile>,
    /// The answers of its sections, in the order of the patch.
    pub answers: Vec<PatchedFile>,
    /// Its sections as a diff prints them.
    pub printed: Vec<PrintedSection>,
    /// The files on disk that it reads.
    pub ids: Vec<FileId>,
}

/// A file before and after the patch.
pub struct PlannedFile {
    /// The file on disk; `None` if the patch makes it.
    pub origin: Option<Origin>,
    /// Where it is after the patch; `None` if it is removed.
    pub path: Option<EntryPath>,
    /// What it holds after the patch.
    pub content: Content,
    /// Whether the patch makes it executable or not; `None` if that stays.
    pub executable: Option<bool>,
}

/// A file as it stands on disk.
pub struct Origin {
    /// Its path.
    pub path: EntryPath,
    /// What it holds.
    pub content: Content,
    /// Whether its path is a link that the patch removes or moves.
    pub is_link: bool,
}

impl Origin {
    /// The SHA-256 of the entry that is removed or moved; `None` of a link.
    pub fn digest_of_entry(&self) -> Option<Sha256Digest> {
        if self.is_link { None } else { self.content.digest() }
    }
}

/// What a file holds.
#[derive(Clone)]
pub enum Content {
    /// These bytes, with this SHA-256.
    Bytes(Rc<Vec<u8>>, Sha256Digest),
    /// More bytes than are kept in memory, with this SHA-256. Such a file can be removed or moved.
    Large(Sha256Digest),
    /// No bytes: a link, which can be removed or moved.
    Link,
}

impl Content {
    fn of(bytes: Vec<u8>) -> Self {
        let digest = hash::sha256(&bytes);
        Self::Bytes(Rc::new(bytes), digest)
    }

    /// The SHA-256 of the bytes; `None` of a link.
    pub fn digest(&self) -> Option<Sha256Digest> {
        match self {
            Self::Bytes(_, digest) | Self::Large(digest) => Some(*digest),
            Self::Link => None,
        }
    }

    /// The bytes, if they are in memory.
    pub fn bytes(&self) -> Option<&[u8]> {
        if let Self::Bytes(bytes, _) = self { Some(bytes) } else { None }
    }
}

/// A section as a diff prints it.
pub struct PrintedSection {
    /// The path before; `None` of a file that is made.
    pub from: Option<String>,
    /// The path after; `None` of a file that is removed.
    pub to: Option<String>,
    /// Whether the execute bits are set or cleared.
    pub executable: Option<bool>,
    /// Its hunks. `None` of a removed file that is not text.
    pub hunks: Option<Vec<PrintedHunk>>,
}

/// Plans a patch.
///
/// # Errors
///
/// The failure of the first section that cannot be applied.
pub fn plan(
    sandbox: &Sandbox,
    patch: &ParsedPatch<'_>,
    cancelled: &dyn Fn() -> bool,
) -> Result<Plan, Failure> {
    let plan =
        Plan { files: Vec::new(), answers: Vec::new(), printed: Vec::new(), ids: Vec::new() };
    let mut planning = Planning {
        sandbox,
        patch,
        cancelled,
        plan,
        standing: HashMap::new(),
        ids: HashMap::new(),
        places: HashMap::new(),
        compared: HashSet::new(),
        opened: None,
        bytes_together: 0,
        bytes_worked_through: 0,
    };
    for section in &patch.sections {
        if cancelled() {
            return Err(Failure::cancelled());
        }
        planning.section(section)?;
    }
    planning.check_all_compared()?;
    planning.plan.ids.extend(planning.ids.into_keys());
    Ok(planning.plan)
}

struct Planning<'call> {
    sandbox: &'call Sandbox,
    patch: &'call ParsedPatch<'call>,
    cancelled: &'call dyn Fn() -> bool,
    plan: Plan,
    /// The index of the file that stands at a path after the sections so far; `None` if none does. What is not in
    /// the map is as on disk.
    standing: HashMap<String, Option<usize>>,
    /// The path of each file on disk.
    ids: HashMap<FileId, String>,
    /// The path of each place at which something is made, changed or removed.
    places: HashMap<PlaceId, String>,
    /// The paths whose expected hashes have been compared.
    compared: HashSet<String>,
    /// The file that `existing` opened at a path of the present section, so that it is not opened twice.
    opened: Option<(String, OpenFile)>,
    bytes_together: u64,
    bytes_worked_through: u64,
}

impl Planning<'_> {
    fn section(&mut self, section: &PathedSection<'_>) -> Result<(), Failure> {
        let path = match section.section.change {
            FileChange::Add { .. } => &section.paths[0],
            _ => self.existing(&section.paths),
        };
        self.opened = self.opened.take().filter(|(opened, _)| opened == key(path));
        if let Some(to) = &section.to {
            self.remember_place(path)?;
            self.remember_place(to)?;
        }
        match &section.section.change {
            FileChange::Add { lines, is_executable } => self.add(path, lines, *is_executable),
            FileChange::Delete { content } => self.delete(path, content.as_deref(), section),
            FileChange::Update { hunks, executable, .. } => {
                let to = section.to.as_ref().filter(|to| to.as_path().as_str() != key(path));
                self.update(path, to, hunks, *executable)
            }
        }
    }

    /// The first spelling of a path at which something stands; the first of all if nothing does.
    fn existing<'paths>(&mut self, paths: &'paths [EntryPath]) -> &'paths EntryPath {
        let [first, others @ ..] = paths else { unreachable!("a section has a path") };
        if others.is_empty() {
            return first;
        }
        paths.iter().find(|path| self.stands(path)).unwrap_or(first)
    }

    fn stands(&mut self, path: &EntryPath) -> bool {
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

    fn add(
        &mut self,
        path: &EntryPath,
        lines: &[HunkLine<'_>],
        is_executable: bool,
    ) -> Result<(), Failure> {
        self.remember_place(path)?;
        self.check_free(path)?;
        let mut bytes = Vec::new();
        for line in lines {
            bytes.extend_from_slice(line.text.as_bytes());
            bytes.extend_from_slice(if line.has_no_end { b"" } else { b"\n" });
        }
        refuse_large(&bytes, path)?;
        self.count_bytes(bytes.len(), path)?;
        let content = Content::of(bytes);
        let after = content.digest();
        let executable = is_executable.then_some(true);
        self.plan.files.push(PlannedFile {
            origin: None,
            path: Some(path.clone()),
            content,
            executable,
        });
        self.standing.insert(key(path).to_owned(), Some(self.plan.files.len() - 1));
        let hunk = PrintedHunk::adding(lines);
        let answer = PatchedFile::new(path, Action::Add).with_hashes(None, after);
        self.answer(PatchedFile { lines_added: lines.len() as u64, ..answer }, &[]);
        self.print(None, Some(path), executable, Some(hunk.into_iter().collect()));
        Ok(())
    }

    /// Checks that a file can be made at a path: nothing stands there, or the patch has taken it away.
    fn check_free(&mut self, path: &EntryPath) -> Result<(), Failure> {
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
    fn check_free_in_patch(&self, path: &EntryPath) -> Result<(), Failure> {
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
    fn not_free(&mut self, path: &EntryPath) -> Failure {
        let Some(expected) = self.expected(path) else { return exists(path) };
        match self.content_of_file(path).map(|content| content.digest()) {
            Ok(Some(digest)) if expected != ExpectedFile::Hash(digest) => {
                at(not_expected(expected, &digest), path)
            }
            _ => exists(path),
        }
    }

    /// Checks that the caller expects nothing at a path at which nothing stands.
    fn expect_nothing(&mut self, path: &EntryPath) -> Result<(), Failure> {
        match self.expected(path) {
            Some(ExpectedFile::Hash(_)) => Err(gone(path)),
            _ => Ok(()),
        }
    }

    /// Refuses expected hashes for paths that the patch does not change. A diff gives a file several spellings, and only
    /// the one that is used is compared; a hash for another would check nothing.
    fn check_all_compared(&self) -> Result<(), Failure> {
        let mut forgotten: Vec<_> =
            self.patch.expected.keys().filter(|path| !self.compared.contains(*path)).collect();
        forgotten.sort_unstable();
        let Some(path) = forgotten.first() else { return Ok(()) };
        let sentence = "expected_hashes has a path that the patch names, but no section changes it";
        Err(Failure::new(ErrorCode::InvalidArgument, sentence).at(path.as_str()))
    }

    /// Whether the patch takes away a file of which the path makes a folder.
    fn takes_away_folder_of(&self, path: &EntryPath) -> bool {
        let path = key(path);
        let folders = path.match_indices('/').map(|(slash, _)| &path[..slash]);
        folders.into_iter().any(|folder| self.standing.get(folder) == Some(&None))
    }

    fn delete(
        &mut self,
        path: &EntryPath,
        content: Option<&[HunkLine<'_>]>,
        section: &PathedSection<'_>,
    ) -> Result<(), Failure> {
        self.remember_place(path)?;
        let index = match content {
            // The patch says what the file holds.
            Some(_) => self.file(path, true, Access::Read)?,
            None => self.entry(path)?,
        };
        let file = &self.plan.files[index];
        let before = file.content.digest();
        let hunks = match file
            .content
            .bytes()
            .map(|bytes| lines_of(bytes, || content.into_iter().flatten()))
        {
            Some(Ok(lines)) => {
                if let Some(content) = content {
                    check_whole(&lines, content, section, self.cancelled)
                        .map_err(|failure| at(failure, path))?;
                }
                Some(PrintedHunk::removing(&lines).into_iter().collect::<Vec<_>>())
            }
            Some(Err(error)) if content.is_some() => return Err(at(error.into(), path)),
            _ => None,
        };
        self.check_removable(index, path)?;
        self.plan.files[index].path = None;
        self.standing.insert(key(path).to_owned(), None);
        let removed = hunks.iter().flatten().map(|hunk| hunk.lines.len() as u64).sum();
        let answer = PatchedFile::new(path, Action::Delete).with_hashes(before, None);
        self.answer(PatchedFile { lines_removed: removed, ..answer }, &[]);
        self.print(Some(path), None, None, hunks);
        Ok(())
    }

    fn update(
        &mut self,
        path: &EntryPath,
        to: Option<&EntryPath>,
        hunks: &[Hunk<'_>],
        executable: Option<bool>,
    ) -> Result<(), Failure> {
        let is_read = !hunks.is_empty() || executable.is_some();
        let index = if is_read {
            self.file(path, !hunks.is_empty(), Access::Change)?
        } else {
            self.entry(path)?
        };
        let before = self.plan.files[index].content.digest();
        let mut applied = Vec::new();
        let mut printed = Vec::new();
        if !hunks.is_empty() {
            self.count_work(index, path)?;
            let (assembled, placed) = self.patched(index, path, hunks)?;
            refuse_large(&assembled.bytes, path)?;
            self.forget_bytes(index);
            self.count_bytes(assembled.bytes.len(), path)?;
            self.plan.files[index].content = Content::of(assembled.bytes);
            applied = placed;
            printed = assembled.hunks;
        }
        if let Some(to) = to {
            self.check_movable(index, path, to)?;
            self.standing.insert(key(path).to_owned(), None);
            self.standing.insert(key(to).to_owned(), Some(index));
        }
        let file = &mut self.plan.files[index];
        file.executable = executable.or(file.executable);
        if let Some(to) = to {
            file.path = Some(to.clone());
        }
        let after = file.content.digest();
        let action = if to.is_some() { Action::Move } else { Action::Update };
        let count = |kind| {
            let lines = hunks.iter().flat_map(|hunk| &hunk.lines);
            lines.filter(|line| line.kind == kind).count() as u64
        };
        let answer = PatchedFile {
            from_path: to.map(|_| path.as_path().to_string()),
            lines_added: count(LineKind::Added),
            lines_removed: count(LineKind::Removed),
            ..PatchedFile::new(to.unwrap_or(path), action).with_hashes(before, after)
        };
        self.answer(answer, &applied);
        self.print(Some(path), Some(to.unwrap_or(path)), executable, Some(printed));
        Ok(())
    }

    /// The file with hunks made in it.
    fn patched(
        &self,
        index: usize,
        path: &EntryPath,
        hunks: &[Hunk<'_>],
    ) -> Result<(Assembled, Vec<Placed>), Failure> {
        let bytes = self.plan.files[index].content.bytes().unwrap_or_default();
        let lines = || hunks.iter().flat_map(|hunk| &hunk.lines);
        let file = lines_of(bytes, lines).map_err(|error| at(error.into(), path))?;
        let hunks = without_marks(&file, hunks);
        let placed = locate(&file, &hunks, self.cancelled).map_err(|(index, misfit)| {
            // The closest lines take longer to find than the place.
            if (self.cancelled)() {
                return Failure::cancelled();
            }
            at(failure_of_misfit(&file, &hunks, index, &misfit), path)
        })?;
        Ok((assemble(&file, &hunks, &placed), placed))
    }

    /// The file at a path, whose bytes are needed. They are changed, or only read where the entry itself is removed.
    fn file(
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
    fn entry(&mut self, path: &EntryPath) -> Result<usize, Failure> {
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
    fn try_removal(&self, path: &EntryPath) -> Result<EntryKind, EntryError> {
        let options = RemoveOptions { dry_run: true, ..RemoveOptions::default() };
        let callbacks = Callbacks::without_confirm(self.cancelled);
        Ok(self.sandbox.remove_entry(path, &options, callbacks)?.kind)
    }

    fn content_of_file(&mut self, path: &EntryPath) -> Result<Content, Failure> {
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

    fn open(&mut self, path: &EntryPath, access: Access) -> Result<OpenFile, Failure> {
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

    fn not_found(&self, error: EntryError, path: &EntryPath) -> Failure {
        let (sandbox, path) = (self.sandbox, path.as_path());
        let failure = failure_at(error, sandbox, path, None, self.cancelled);
        with_near_misses(failure, sandbox, path.as_str(), path)
    }

    /// The file that the patch itself has left at a path; `Ok(None)` if it is as on disk.
    fn known(&self, path: &EntryPath) -> Result<Option<usize>, Failure> {
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
    fn add_from_disk(&mut self, path: &EntryPath, content: Content) -> Result<usize, Failure> {
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

    fn expected(&mut self, path: &EntryPath) -> Option<ExpectedFile> {
        let expected = self.patch.expected.get(key(path)).copied();
        if expected.is_some() {
            self.compared.insert(key(path).to_owned());
        }
        expected
    }

    /// Refuses a file that the patch changes under two names. The changes under one name would not see those under
    /// the other.
    fn remember_id(&mut self, file: &OpenFile, path: &EntryPath) -> Result<(), Failure> {
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
    fn stands_at(&self, id: FileId, path: &str) -> bool {
        let file = WorkspacePath::parse(path).map(|path| self.sandbox.open_file(&path));
        matches!(file, Ok(Ok(file)) if file.id() == Some(id))
    }

    /// Refuses a second path to a place. The changes by one path would not see those by the other.
    fn remember_place(&mut self, path: &EntryPath) -> Result<(), Failure> {
        let Some(place) = self.sandbox.place_of(path) else { return Ok(()) };
        match self.places.insert(place, key(path).to_owned()) {
            Some(other) if other != key(path) => Err(two_names(&other, path)),
            _ => Ok(()),
        }
    }

    fn check_removable(&mut self, index: usize, path: &EntryPath) -> Result<(), Failure> {
        if !self.stands_on_disk_at(index, path) {
            return Ok(());
        }
        let kind = self.try_removal(path).map_err(|error| self.not_found(error, path))?;
        self.note_kind(index, kind);
        Ok(())
    }

    /// Notes whether the entry that is removed or moved is a link.
    fn note_kind(&mut self, index: usize, kind: EntryKind) {
        if let Some(origin) = &mut self.plan.files[index].origin {
            origin.is_link = kind == EntryKind::Link;
        }
    }

    /// Whether a file is still where it stands on disk.
    fn stands_on_disk_at(&self, index: usize, path: &EntryPath) -> bool {
        let origin = self.plan.files[index].origin.as_ref();
        origin.is_some_and(|origin| key(&origin.path) == key(path))
    }

    fn check_movable(
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

    /// Takes off the bytes that an earlier section has made of a file, which are not kept.
    fn forget_bytes(&mut self, index: usize) {
        let file = &self.plan.files[index];
        let of_disk = file.origin.as_ref().and_then(|origin| origin.content.digest());
        if file.content.digest() != of_disk {
            self.bytes_together -= file.content.bytes().map_or(0, |bytes| bytes.len() as u64);
        }
    }

    /// Counts bytes that stay in memory until the patch is written.
    fn count_bytes(&mut self, bytes: usize, path: &EntryPath) -> Result<(), Failure> {
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
    fn count_work(&mut self, index: usize, path: &EntryPath) -> Result<(), Failure> {
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

    fn answer(&mut self, answer: PatchedFile, placed: &[Placed]) {
        let hunks = placed.iter().map(|place| AppliedHunk {
            start_line: place.start as u64 + 1,
            offset: place.offset,
            grade: place.grade,
        });
        self.plan.answers.push(PatchedFile { hunks: hunks.collect(), ..answer });
    }

    fn print(
        &mut self,
        from: Option<&EntryPath>,
        to: Option<&EntryPath>,
        executable: Option<bool>,
        hunks: Option<Vec<PrintedHunk>>,
    ) {
        let shown = |path: &EntryPath| path.as_path().to_string();
        let (from, to) = (from.map(shown), to.map(shown));
        self.plan.printed.push(PrintedSection { from, to, executable, hunks });
    }
}

impl PatchedFile {
    fn new(path: &EntryPath, action: Action) -> Self {
        Self {
            path: path.as_path().to_string(),
            action,
            from_path: None,
            hunks: Vec::new(),
            lines_added: 0,
            lines_removed: 0,
            before: None,
            after: None,
        }
    }

    fn with_hashes(self, before: Option<Sha256Digest>, after: Option<Sha256Digest>) -> Self {
        Self { before, after, ..self }
    }
}

/// The text of a path: the key of the planner's maps.
fn key(path: &EntryPath) -> &str {
    path.as_path().as_str()
}

fn at(failure: Failure, path: &EntryPath) -> Failure {
    failure.at(path.as_path().as_shown())
}

/// The failure where something stands at the path of a new or a moved file.
pub(super) fn exists(path: &EntryPath) -> Failure {
    let sentence = "something stands there, and a patch puts no new file in its place: to change a file, give hunks \
                    against its present lines (V4A: `*** Update File:`); to replace it, delete it in an earlier section";
    at(Failure::new(ErrorCode::AlreadyExists, sentence), path)
}

fn two_names(other: &str, path: &EntryPath) -> Failure {
    let sentence = format!(
        "the patch changes one file as \"{other}\" and as \"{}\": give all its changes under one name",
        key(path)
    );
    at(Failure::new(ErrorCode::PatchInvalid, sentence), path)
}

fn gone(path: &EntryPath) -> Failure {
    let sentence = "expected_hashes has a hash for this path, but nothing stands there any more";
    at(Failure::new(ErrorCode::Stale, sentence).with("sha256", hex_or_null(None)), path)
}

fn not_expected(expected: ExpectedFile, present: &Sha256Digest) -> Failure {
    let sentence = match expected {
        ExpectedFile::Hash(_) => {
            "the file has changed since it was read, so its hash is not that in expected_hashes: read it again"
        }
        ExpectedFile::Absent => "expected_hashes says that nothing stands there, but a file does",
    };
    Failure::new(ErrorCode::Stale, sentence).with("sha256", hex_or_null(Some(*present)))
}

fn link_stands() -> Failure {
    let sentence = "expected_hashes says that nothing stands there, but a link does";
    Failure::new(ErrorCode::Stale, sentence).with("sha256", hex_or_null(None))
}

fn folder_stands() -> Failure {
    let sentence = "a folder, not a file: a patch deletes and moves files and links";
    Failure::new(ErrorCode::NotFile, sentence)
}

fn not_comparable() -> Failure {
    let sentence =
        "expected_hashes has the hash of a file's bytes for this path, but a link stands there";
    Failure::new(ErrorCode::NotFile, sentence)
}

fn too_large() -> Failure {
    let sentence = format!("the file has more than {MAX_EDIT_FILE_SIZE_BYTES} bytes (10 MiB)");
    Failure::new(ErrorCode::SizeLimitExceeded, sentence)
}

fn refuse_large(bytes: &[u8], path: &EntryPath) -> Result<(), Failure> {
    let size = bytes.len() as u64;
    if size > MAX_EDIT_FILE_SIZE_BYTES { Err(at(too_large_after(size), path)) } else { Ok(()) }
}

/// The lines of a file. A patch that git has made of a file with CRLF has the CRs in its texts: then they belong to the
/// text of the file's lines, too.
fn lines_of<'file, 'patch, L: Iterator<Item = &'patch HunkLine<'patch>>>(
    bytes: &'file [u8],
    patch: impl Fn() -> L,
) -> Result<FileLines<'file>, NotText> {
    let file = FileLines::of(bytes, CarriageReturns::EndLines)?;
    let old_texts = patch().filter(|line| line.kind != LineKind::Added).map(|line| line.text);
    let mut with_return = old_texts.filter(|text| text.ends_with('\r'));
    // A line may also end in a CR of its own, before its CRLF.
    if with_return.all(|text| !file.index(Grade::Exact).places_of(text).is_empty()) {
        return Ok(file);
    }
    FileLines::of(bytes, CarriageReturns::BelongToText)
}

/// The hunks without the byte order mark of the file, which stays as it is. A patch may have it on the file's first line,
/// and on those that replace it; on any other line U+FEFF is a character.
fn without_marks<'text>(file: &FileLines<'_>, hunks: &[Hunk<'text>]) -> Vec<Hunk<'text>> {
    let mut hunks = hunks.to_vec();
    if !file.has_byte_order_mark() {
        return hunks;
    }
    let Some(first) = hunks.first_mut() else { return hunks };
    let unmarked = |text: &'text str| text.strip_prefix('\u{FEFF}').unwrap_or(text);
    let is_old = |line: &HunkLine<'_>| line.kind != LineKind::Added;
    let first_old = first.lines.iter().find(|line| is_old(line));
    let is_first_line = first_old.map_or(file.count() == 0, |line| {
        file.count() > 0 && unmarked(line.text).trim() == file.line(0).trim()
    });
    if !is_first_line {
        return hunks;
    }
    let mut old = 0;
    for line in &mut first.lines {
        old += usize::from(is_old(line));
        if old > 1 {
            break;
        }
        line.text = unmarked(line.text);
    }
    hunks
}

/// Checks that a file holds what a unified diff removes, and nothing more.
fn check_whole(
    file: &FileLines<'_>,
    content: &[HunkLine<'_>],
    section: &PathedSection<'_>,
    cancelled: &dyn Fn() -> bool,
) -> Result<(), Failure> {
    let line = content.first().map_or(section.section.line, |line| line.line);
    let hunk = Hunk {
        line,
        narrowing: Vec::new(),
        stated: None,
        lines: content.to_vec(),
        is_at_end: true,
    };
    let hunks = without_marks(file, &[hunk]);
    if file.count() == content.len() {
        if content.is_empty() {
            return Ok(());
        }
        return match locate(file, &hunks, cancelled) {
            Ok(_) => Ok(()),
            Err((index, misfit)) => Err(failure_of_misfit(file, &hunks, index, &misfit)),
        };
    }
    Err(super::explain::holds_other_lines(file, &hunks[0]))
}
