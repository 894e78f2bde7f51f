//! `apply_patch` (docs/contract.md §11): a V4A or unified patch over several files, all of them or none.
//!
//! The file reads like its specification:
//!
//! 1. [`parse`]: the patch and its paths, without a look at the disk ([`patch`], [`v4a`], [`unified`]).
//! 2. [`plan`]: every file is read, every hunk found, and every right checked. Sections compose: one that comes
//!    later sees what the ones before it leave. Nothing changes on disk.
//! 3. [`write`]: the changes are made, and taken back if one of them fails. If another program changes a file
//!    between the second step and the third, both are done anew; with an expected hash the call fails instead.
//!
//! ```
//! use ringfence::sandbox::Sandbox;
//! use ringfence::tools::apply_patch::{ApplyPatchRequest, apply_patch};
//! use ringfence::tools::entry_change::ChangeOptions;
//!
//! let workspace = tempfile::tempdir()?;
//! std::fs::write(workspace.path().join("a.txt"), "one\r\ntwo\r\n")?;
//!
//! let sandbox = Sandbox::open(workspace.path())?;
//! let patch = "\
//! *** Begin Patch
//! *** Update File: a.txt
//! @@
//!  one
//! -two
//! +2
//! *** Add File: new/b.txt
//! +b
//! *** End Patch
//! ";
//! let request = ApplyPatchRequest { patch: patch.to_owned(), ..ApplyPatchRequest::default() };
//! let applied = apply_patch(&sandbox, &request, ChangeOptions::default(), &|| false)?;
//! assert_eq!(applied.files.len(), 2);
//! assert_eq!(std::fs::read(workspace.path().join("a.txt"))?, b"one\r\n2\r\n");
//! assert_eq!(std::fs::read(workspace.path().join("new/b.txt"))?, b"b\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::collections::{HashMap, HashSet};

use self::patch::{FileChange, Patch, PatchError, Section};
use self::plan::{Plan, plan};
use self::write::{NotWritten, write};
use super::create_file::WriteScope;
use super::edit_file::{MAX_DIFF_UNITS, queue};
use super::entry_change::{self, ChangeOptions, contended};
use super::failure::{Detail, ErrorCode, Failure};
use crate::access::Access;
use crate::hash::{self, Sha256Digest};
use crate::path::EntryPath;
use crate::sandbox::Sandbox;
use crate::text::UnifiedDiff;

mod assemble;
mod explain;
mod file_lines;
mod locate;
pub mod patch;
pub mod peel;
mod plan;
mod printed;
#[cfg(test)]
mod printed_patch;
pub mod unified;
pub mod v4a;
mod write;

pub use self::peel::Format;

/// The longest patch, in bytes of UTF-8: 4 MiB.
pub const MAX_PATCH_BYTES: usize = 4 << 20;

/// How many different files a patch changes at most. Sections of the same file count once.
pub const MAX_PATCH_FILES: usize = 1000;

/// How many bytes the files of a patch have together at most, before and after: 256 MiB. They are in memory until
/// all of them are written.
pub const MAX_BYTES_TOGETHER: u64 = 256 << 20;

/// How many bytes the sections with hunks work through at most: 256 MiB. A file counts once for each section that
/// changes it, because the section is matched with what the ones before have made of the file. This takes 10 ms a MiB;
/// without a limit, a patch of 1,000 sections for one file of 10 MiB took 99 s.
pub const MAX_BYTES_WORKED_THROUGH: u64 = 256 << 20;

/// How often a patch is planned anew because other programs change its files.
const MAX_ATTEMPTS: u32 = 1000;

/// How often a patch is planned anew because a new name is taken although nothing stood there. Two names of a patch may
/// be one to the file system, which does not tell its small letters from its capitals.
const MAX_TIMES_TAKEN: u32 = 8;

/// What to do.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ApplyPatchRequest {
    /// The patch, in either format.
    pub patch: String,
    /// For paths of the patch: what must stand there before the call.
    pub expected: Vec<(String, ExpectedFile)>,
    /// Whether nothing is written.
    pub dry_run: bool,
}

/// What the caller expects at a path before the call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExpectedFile {
    /// Nothing.
    Absent,
    /// A file whose bytes have this SHA-256.
    Hash(Sha256Digest),
}

/// The answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApplyPatchOutput {
    /// The format of the patch.
    pub format: Format,
    /// Whether the files were written; only a dry run writes none.
    pub applied: bool,
    /// One entry for each section, in the order of the patch.
    pub files: Vec<PatchedFile>,
    /// The sections as they were applied.
    pub diff: UnifiedDiff,
}

/// What a section does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// It makes a file.
    Add,
    /// It changes a file.
    Update,
    /// It removes a file or a link.
    Delete,
    /// It moves a file or a link, and may change the file.
    Move,
}

impl Action {
    /// The name in answers.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Add => "add",
            Self::Update => "update",
            Self::Delete => "delete",
            Self::Move => "move",
        }
    }
}

/// What a section has done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatchedFile {
    /// The file's path after the section: relative to the root, components separated by `/`.
    pub path: String,
    /// What the section does.
    pub action: Action,
    /// The path before a move.
    pub from_path: Option<String>,
    /// The hunks, in the order of the patch. A file that is added or removed has none.
    pub hunks: Vec<AppliedHunk>,
    /// How many lines were added.
    pub lines_added: u64,
    /// How many lines were removed.
    pub lines_removed: u64,
    /// SHA-256 of the bytes before the section; `None` if there is no file.
    pub before: Option<Sha256Digest>,
    /// SHA-256 of the bytes after the section; `None` if there is no file.
    pub after: Option<Sha256Digest>,
}

/// Where a hunk was applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AppliedHunk {
    /// The first of its lines in the text before the section, from 1. If it only adds lines: the line before which
    /// they are added.
    pub start_line: u64,
    /// How far that is from the line that a unified diff states.
    pub offset: i64,
    /// How its lines were compared.
    pub grade: file_lines::Grade,
}

/// A patch whose paths are parsed.
#[derive(Debug)]
pub struct ParsedPatch<'text> {
    format: Format,
    sections: Vec<PathedSection<'text>>,
    expected: HashMap<String, ExpectedFile>,
}

/// A section whose paths are parsed.
#[derive(Debug)]
struct PathedSection<'text> {
    section: Section<'text>,
    /// The spellings of its path; at least one.
    paths: Vec<EntryPath>,
    /// The new path of a file that is moved.
    to: Option<EntryPath>,
}

/// Parses the patch and its paths, and refuses the call where the host lets its tools write nothing. No disk is
/// looked at: `inside` gives the part of an absolute path beneath the root, by its spelling.
///
/// # Errors
///
/// `INVALID_ARGUMENT`, `READ_ONLY`, `SANDBOX_VIOLATION` for the spelling of a path, or `PATCH_INVALID`.
pub fn parse(
    request: &ApplyPatchRequest,
    options: ChangeOptions,
    inside: impl Fn(&str) -> Option<String>,
) -> Result<ParsedPatch<'_>, Failure> {
    let is_read_only = options.write_scope == WriteScope::ReadOnly;
    let patch = match Patch::parse(&request.patch) {
        Err(_) if is_read_only => return Err(Failure::read_only()),
        parsed => parsed.map_err(|error| not_parsed(&error))?,
    };
    let mut refused: Option<Failure> = None;
    let mut sections = Vec::with_capacity(patch.sections.len());
    for section in patch.sections {
        match with_paths(section, &inside) {
            Ok(section) => sections.push(section),
            Err(failure) if failure.code() == ErrorCode::InvalidArgument => return Err(failure),
            Err(failure) => drop(refused.get_or_insert(failure)),
        }
    }
    if let Some(refused) = refused {
        return Err(if is_read_only { Failure::read_only().at(refused.path()) } else { refused });
    }
    refuse_many_files(&sections)?;
    let expected = expected_hashes(request, &sections, &inside)?;
    if is_read_only {
        return Err(Failure::read_only().at(shown(&sections)));
    }
    Ok(ParsedPatch { format: patch.format, sections, expected })
}

fn shown(sections: &[PathedSection<'_>]) -> String {
    sections.first().map_or_else(String::new, |first| first.paths[0].as_path().to_string())
}

fn not_parsed(error: &PatchError) -> Failure {
    Failure::new(ErrorCode::PatchInvalid, error.to_string())
        .with("patch_line", Detail::Number(error.line))
}

fn refuse_many_files(sections: &[PathedSection<'_>]) -> Result<(), Failure> {
    let paths = sections.iter().map(|section| section.paths[0].as_path());
    let count = paths.collect::<HashSet<_>>().len();
    if count > MAX_PATCH_FILES {
        let sentence = format!(
            "patch must not change more than {MAX_PATCH_FILES} files, but changes {count}: make several patches of it"
        );
        return Err(Failure::new(ErrorCode::InvalidArgument, sentence));
    }
    Ok(())
}

fn with_paths<'text>(
    section: Section<'text>,
    inside: &dyn Fn(&str) -> Option<String>,
) -> Result<PathedSection<'text>, Failure> {
    let argument = format!("the path on line {} of the patch", section.line);
    // Whether anything may be written is asked for all paths together.
    let options = ChangeOptions::default();
    let parse = |given: &str| entry_change::parse_below_root(&argument, given, options, inside);
    let mut paths = Vec::with_capacity(section.paths.len());
    for (index, given) in section.paths.iter().enumerate() {
        match parse(given) {
            Ok(path) => paths.push(path),
            // The other spellings only stand in for the first.
            Err(_) if index > 0 => {}
            Err(failure) => return Err(failure),
        }
    }
    let to = match &section.change {
        FileChange::Update { to: Some(to), .. } => Some(parse(to)?),
        _ => None,
    };
    let made = match section.change {
        FileChange::Add { .. } => paths.first(),
        _ => to.as_ref(),
    };
    if let Some(made) = made.filter(|made| made.as_path().must_be_directory()) {
        let sentence = format!("{argument} must name a file, not a folder");
        let path = made.as_path().to_string();
        return Err(Failure::new(ErrorCode::InvalidArgument, sentence).at(path));
    }
    Ok(PathedSection { section, paths, to })
}

/// The expected hashes by the paths of the patch.
fn expected_hashes(
    request: &ApplyPatchRequest,
    sections: &[PathedSection<'_>],
    inside: &dyn Fn(&str) -> Option<String>,
) -> Result<HashMap<String, ExpectedFile>, Failure> {
    let named = sections.iter().flat_map(|section| section.paths.iter().chain(&section.to));
    let named: HashSet<_> = named.map(|path| path.as_path().as_str()).collect();
    let mut expected = HashMap::new();
    for (given, file) in &request.expected {
        let argument = "a path of expected_hashes";
        let path = EntryPath::parse(given, inside)
            .map_err(|refusal| Failure::of_entry_spelling(&refusal, argument, given))?;
        let refuse = |sentence: &str| {
            let path = path.as_path().to_string();
            Err(Failure::new(ErrorCode::InvalidArgument, sentence).at(path))
        };
        if !named.contains(path.as_path().as_str()) {
            return refuse("expected_hashes has a path that the patch does not name");
        }
        if expected.insert(path.as_path().as_str().to_owned(), *file).is_some() {
            return refuse("expected_hashes has this path twice, in two spellings");
        }
    }
    Ok(expected)
}

/// Applies a patch. `cancelled` is asked before each file is read and each hunk is looked for, and before each file
/// becomes visible.
///
/// # Errors
///
/// [`Failure`], in the order of docs/contract.md §9. Nothing has changed on disk then, except with `PARTIAL`, and
/// where the message says so.
pub fn apply_patch(
    sandbox: &Sandbox,
    request: &ApplyPatchRequest,
    options: ChangeOptions,
    cancelled: &(dyn Fn() -> bool + Sync),
) -> Result<ApplyPatchOutput, Failure> {
    let inside = |absolute: &str| sandbox.part_inside(absolute);
    let applied = parse(request, options, inside)
        .and_then(|patch| without_refused_paths(patch, sandbox))
        .and_then(|patch| Applying { sandbox, request, options, patch: &patch, cancelled }.run());
    applied.map_err(|failure| failure.hiding_root_of(sandbox))
}

/// Refuses a patch of which the access rules do not let a path be changed. Of the spellings that only stand in for
/// the first, those that are refused are left out.
fn without_refused_paths<'text>(
    mut patch: ParsedPatch<'text>,
    sandbox: &Sandbox,
) -> Result<ParsedPatch<'text>, Failure> {
    let check = |path: &EntryPath| sandbox.check_access(path.as_path(), Access::Change);
    for PathedSection { paths, to, .. } in &mut patch.sections {
        for path in paths.first().into_iter().chain(&*to) {
            check(path).map_err(|error| Failure::from(error).at(path.as_path().as_shown()))?;
        }
        paths.retain(|path| check(path).is_ok());
    }
    Ok(patch)
}

/// One call.
struct Applying<'call> {
    sandbox: &'call Sandbox,
    request: &'call ApplyPatchRequest,
    options: ChangeOptions,
    patch: &'call ParsedPatch<'call>,
    cancelled: &'call (dyn Fn() -> bool + Sync),
}

impl Applying<'_> {
    fn run(&self) -> Result<ApplyPatchOutput, Failure> {
        let mut times_taken = 0;
        for _ in 0..MAX_ATTEMPTS {
            match self.attempt() {
                Ok(answer) => return Ok(answer),
                Err(NotWritten::Failed(failure)) => return Err(failure),
                // If another program's file stands there, the next plan says so.
                Err(NotWritten::Taken(failure)) if times_taken == MAX_TIMES_TAKEN => {
                    return Err(failure);
                }
                Err(NotWritten::Taken(_)) => times_taken += 1,
                Err(NotWritten::Changed) => {}
            }
        }
        Err(contended())
    }

    fn attempt(&self) -> Result<ApplyPatchOutput, NotWritten> {
        let mut plan = plan(self.sandbox, self.patch, self.cancelled)?;
        if self.request.dry_run {
            return Ok(self.answer(plan));
        }
        // Edits and patches of one process take turns, so that they do not keep undoing each other's plans.
        queue::all_alone(std::mem::take(&mut plan.ids), |has_waited| {
            if (self.cancelled)() {
                return Err(Failure::cancelled().into());
            }
            if has_waited {
                return Err(NotWritten::Changed);
            }
            write(self.sandbox, &plan, self.options.is_durable(), self.cancelled)
        })?;
        Ok(self.answer(plan))
    }

    fn answer(&self, plan: Plan) -> ApplyPatchOutput {
        ApplyPatchOutput {
            format: self.patch.format,
            applied: !self.request.dry_run,
            diff: printed::print(&plan.printed, MAX_DIFF_UNITS),
            files: plan.answers,
        }
    }
}

/// A digest as it stands in answers and errors.
fn hex_or_null(digest: Option<Sha256Digest>) -> Detail {
    digest.map_or(Detail::Null, |digest| Detail::Text(hash::to_hex(&digest)))
}

#[cfg(test)]
mod tests;
