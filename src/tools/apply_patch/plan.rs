//! What a patch comes to: every file as it is after each section, in memory. Nothing changes on disk.

mod failures;
mod files;
mod names;
mod text;

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

pub(super) use self::failures::exists;
use self::failures::refuse_large;
use self::text::{check_whole, lines_of, without_marks};
use super::assemble::{Assembled, PrintedHunk, assemble};
use super::explain::failure_of_misfit;
use super::locate::{Placed, locate};
use super::patch::{FileChange, Hunk, HunkLine, LineKind};
use super::{Action, AppliedHunk, ParsedPatch, PatchedFile, PathedSection};
use crate::access::Access;
use crate::hash::{self, Sha256Digest};
use crate::path::EntryPath;
use crate::sandbox::{FileId, OpenFile, PlaceId, Sandbox};
use crate::tools::failure::Failure;

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
