//! `find_files` (docs/contract.md §13): the paths of a workspace that match globs.
//!
//! - The items stand in the order of the UTF-16 code units of their paths, or newest first.
//! - The whole folder is looked at for every page, so that `total` is true on each.
//! - A pattern whose brackets match nothing is taken to the letter: `app/[id].tsx` may name a file.
//! - Everything that is left out is counted and told.
//!
//! ```
//! use ringfence::sandbox::Sandbox;
//! use ringfence::tools::find_files::{FindOptions, find_files};
//!
//! let workspace = tempfile::tempdir()?;
//! std::fs::create_dir(workspace.path().join("src"))?;
//! std::fs::write(workspace.path().join("src/main.ts"), "one")?;
//! std::fs::write(workspace.path().join("README.md"), "")?;
//!
//! let sandbox = Sandbox::open(workspace.path())?;
//! let options = FindOptions { patterns: vec!["*.ts".to_owned()], ..FindOptions::default() };
//! let answer = find_files(&sandbox, &options, &|| false)?;
//! assert_eq!((&*answer.items[0].path, answer.items[0].size), ("src/main.ts", 3));
//! assert_eq!((answer.total, answer.scanned_entries), (1, 3));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::num::NonZeroU64;
use std::ops::RangeInclusive;
use std::time::{Duration, Instant};

use super::failure::{ErrorCode, Failure};
use super::walk_arguments::{folder_failure, locate, no_next, parse_glob, parse_globs, stopped};
use crate::argument::positive_up_to;
use crate::deadline::{Deadline, Stop};
use crate::path::WorkspacePath;
use crate::sandbox::Sandbox;
use crate::tree::{
    Case, Globs, ParallelError, ParallelWalk, RuleReader, Selection, Walk, WalkError, WalkItem,
    WalkOptions,
};

mod item;
mod literal;
mod page;
mod part;

pub use item::Item;
use literal::{BracketPattern, Matched, has_brackets, with_literal_brackets};
use page::{Asked, Cursor, OrderedPage, Page};
use part::Part;

/// How many globs `patterns` and `exclude` may have.
pub const MAX_GLOBS: u32 = 1000;

/// The range of `max_results`.
pub const MAX_RESULTS: RangeInclusive<NonZeroU64> = positive_up_to(1000);

/// The range of `timeout_ms`.
pub const TIMEOUT_MS: RangeInclusive<NonZeroU64> = positive_up_to(30_000);

/// Trees of more names are worth several threads.
const LARGE_TREE: usize = 1000;

/// The kinds of entries that are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Kinds {
    /// Files.
    #[default]
    Files,
    /// Folders.
    Folders,
    /// Both.
    All,
}

/// The order of the items.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sort {
    /// By the UTF-16 code units of the path.
    #[default]
    Path,
    /// The newest first, those of one millisecond by path.
    Mtime,
}

/// The arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "each is an argument of the tool")]
pub struct FindOptions {
    /// The globs. The last that matches decides, and `!` takes back.
    pub patterns: Vec<String>,
    /// The folder to look in; the root without it.
    pub root_path: Option<String>,
    /// Globs of files and folders to leave out.
    pub exclude: Vec<String>,
    /// The kinds of entries to find.
    pub kinds: Kinds,
    /// Whether upper case and lower case match each other.
    pub case_insensitive: bool,
    /// Whether entries that `.gitignore` files ignore are left out.
    pub gitignore: bool,
    /// Whether names with a leading dot are looked at.
    pub include_hidden: bool,
    /// Whether [`DEFAULT_EXCLUDES`](crate::tree::DEFAULT_EXCLUDES) are left out.
    pub default_excludes: bool,
    /// The order of the items.
    pub sort: Sort,
    /// The most items.
    pub max_results: usize,
    /// The `next` of the page before.
    pub after: Option<String>,
    /// How long the call may take.
    pub timeout: Duration,
}

impl Default for FindOptions {
    fn default() -> Self {
        Self {
            patterns: Vec::new(),
            root_path: None,
            exclude: Vec::new(),
            kinds: Kinds::Files,
            case_insensitive: false,
            gitignore: true,
            include_hidden: true,
            default_excludes: true,
            sort: Sort::Path,
            max_results: 100,
            after: None,
            timeout: Duration::from_secs(5),
        }
    }
}

/// The answer.
#[derive(Debug, PartialEq, Eq)]
pub struct FoundFiles {
    /// The folder that was looked in, relative to the root; `.` for the root.
    pub root_path: String,
    /// How long it took.
    pub took: Duration,
    /// Whether there are more items than these.
    pub truncated: bool,
    /// How many entries match, on all pages together.
    pub total: u64,
    /// How many entries were looked at.
    pub scanned_entries: u64,
    /// The items, in order.
    pub items: Vec<Item>,
    /// One text for each kind of entry that was left out, with their number.
    pub warnings: Vec<String>,
    /// The `after` of the next page, if there is one.
    pub next: Option<String>,
}

/// Finds the entries whose paths match.
///
/// # Errors
///
/// [`Failure`]; [`Failure::cancelled`] if `cancelled` said yes.
pub fn find_files(
    sandbox: &Sandbox,
    options: &FindOptions,
    cancelled: &(dyn Fn() -> bool + Sync),
) -> Result<FoundFiles, Failure> {
    find_in(sandbox, options, cancelled, LARGE_TREE)
}

/// [`find_files`], where trees of more than so many names are large.
fn find_in(
    sandbox: &Sandbox,
    options: &FindOptions,
    cancelled: &(dyn Fn() -> bool + Sync),
    large_tree: usize,
) -> Result<FoundFiles, Failure> {
    let begun = Instant::now();
    let deadline = Deadline::after(options.timeout, cancelled);
    let located = locate(sandbox, "root_path", options.root_path.as_deref());
    let asked = asked(options).map_err(|failure| match &located {
        Ok(folder) => failure.at(folder.as_shown()),
        Err(refused) => failure.at(refused.path()),
    })?;
    let folder = located?;
    let at_folder = |failure: Failure| failure.at(folder.as_shown());
    let find = Find { sandbox, options, folder: &folder, asked: &asked, deadline, large_tree };
    let page = find.run().map_err(at_folder)?;
    Ok(FoundFiles {
        root_path: folder.to_string(),
        took: begun.elapsed(),
        truncated: page.is_truncated,
        total: page.total,
        scanned_entries: page.scanned,
        warnings: page.left_out.warnings(),
        next: page.next(&asked),
        items: page.items,
    })
}

/// The page that the options ask for.
fn asked(options: &FindOptions) -> Result<Asked, Failure> {
    let refused = |sentence| Err(Failure::new(ErrorCode::InvalidArgument, sentence));
    if options.patterns.is_empty() {
        return refused("patterns must have at least one pattern");
    }
    let after = options.after.as_deref().map(Cursor::parse);
    match (after, options.sort) {
        (Some(_), Sort::Mtime) => {
            refused("after must be left out with sort \"mtime\": such an answer has no next page")
        }
        (Some(None), Sort::Path) => Err(no_next()),
        (after, sort) => Ok(Asked { sort, max_items: options.max_results, after: after.flatten() }),
    }
}

/// A call whose folder is located.
struct Find<'call> {
    sandbox: &'call Sandbox,
    options: &'call FindOptions,
    folder: &'call WorkspacePath,
    asked: &'call Asked,
    deadline: Deadline<'call>,
    large_tree: usize,
}

impl Find<'_> {
    fn run(&self) -> Result<Page, Failure> {
        let mut patterns = self.options.patterns.clone();
        let bracket_patterns = self.bracket_patterns(&mut patterns)?;
        let refusal_of = |bracket_pattern: &BracketPattern| bracket_pattern.refusal.clone();
        let (page, matched) = match self.look(&patterns, &bracket_patterns) {
            Ok(looked) => looked,
            Err(failure) if failure.is_cancelled() => return Err(failure),
            // The fault of an argument comes before those that only the disk shows.
            Err(failure) => {
                return Err(bracket_patterns.iter().find_map(refusal_of).unwrap_or(failure));
            }
        };
        let unmatched = matched.others(&bracket_patterns);
        if let Some(refusal) = unmatched.iter().copied().find_map(refusal_of) {
            return Err(refusal);
        }
        if unmatched.is_empty() {
            return Ok(page);
        }
        for bracket_pattern in unmatched {
            patterns[bracket_pattern.index] =
                self.with_literal_brackets(&patterns[bracket_pattern.index]);
        }
        Ok(self.look(&patterns, &[])?.0)
    }

    /// The patterns with brackets. Those that are no globs are taken to the letter in `patterns`.
    fn bracket_patterns(&self, patterns: &mut [String]) -> Result<Vec<BracketPattern>, Failure> {
        let mut bracket_patterns = Vec::new();
        for (index, pattern) in patterns.iter_mut().enumerate() {
            if !has_brackets(self.split_root(pattern).1) {
                continue;
            }
            let (glob, refusal) = match self.glob(index, pattern) {
                Ok(glob) => (glob, None),
                Err(refusal) => {
                    *pattern = self.with_literal_brackets(pattern);
                    let Ok(glob) = self.glob(index, pattern) else { return Err(refusal) };
                    (glob, Some(refusal))
                }
            };
            bracket_patterns.push(BracketPattern { index, glob, refusal });
        }
        Ok(bracket_patterns)
    }

    /// The workspace's absolute path, if the pattern begins with it, and the glob. The path is no glob, so
    /// its brackets are letters already.
    fn split_root<'pattern>(&self, pattern: &'pattern str) -> (&'pattern str, &'pattern str) {
        let inside = self.sandbox.part_inside(pattern);
        let root = inside.and_then(|inside| pattern.strip_suffix(&*inside)).unwrap_or_default();
        pattern.split_at(root.len())
    }

    fn with_literal_brackets(&self, pattern: &str) -> String {
        let (root, glob) = self.split_root(pattern);
        root.to_owned() + &with_literal_brackets(glob)
    }

    /// The pattern at that place of the list, alone.
    fn glob(&self, index: usize, pattern: &String) -> Result<Globs, Failure> {
        let argument = format!("patterns[{index}]");
        parse_glob(self.sandbox, &argument, self.folder.as_str(), pattern, self.case())
    }

    fn globs(&self, argument: &str, list: &[String]) -> Result<Globs, Failure> {
        parse_globs(self.sandbox, argument, self.folder.as_str(), list, self.case())
    }

    fn case(&self) -> Case {
        if self.options.case_insensitive { Case::Insensitive } else { Case::Sensitive }
    }

    /// The entries that these patterns select.
    fn selection(&self, patterns: &[String]) -> Result<Selection, Failure> {
        let options = self.options;
        Ok(Selection {
            default_excludes: options.default_excludes,
            hidden: options.include_hidden,
            files: options.kinds != Kinds::Folders,
            folders: options.kinds != Kinds::Files,
            links: false,
            include: self.globs("patterns", patterns)?,
            exclude: self.globs("exclude", &options.exclude)?,
        })
    }

    /// Looks at the whole folder. Gives the page, and which of the bracket patterns have matched something.
    fn look(
        &self,
        patterns: &[String],
        bracket_patterns: &[BracketPattern],
    ) -> Result<(Page, Matched), Failure> {
        let selection = self.selection(patterns)?;
        // A small tree is not worth the threads.
        match self.walk(&selection, bracket_patterns, self.large_tree) {
            Err(WalkError::TooManyNames) => {}
            walked => return walked.map_err(|error| self.failure_of(error)),
        }
        let result = self.walk_in_parallel(&selection, bracket_patterns).transpose();
        let looked = result.unwrap_or_else(|| self.walk(&selection, bracket_patterns, usize::MAX));
        looked.map_err(|error| self.failure_of(error))
    }

    /// Walks in the order of paths.
    fn walk(
        &self,
        selection: &Selection,
        bracket_patterns: &[BracketPattern],
        max_names: usize,
    ) -> Result<(Page, Matched), WalkError> {
        let rules = self.options.gitignore.then(RuleReader::default);
        let cancelled = || self.deadline.check().is_err();
        let options = WalkOptions { max_names, ..WalkOptions::default() };
        let (sandbox, folder) = (self.sandbox, self.folder);
        let mut walk =
            Walk::begin(sandbox, folder, selection, options, rules.as_ref(), &cancelled)?;
        let mut page = OrderedPage::new(self.asked);
        let mut matched = Matched::none_of(bracket_patterns);
        while let Some(step) = walk.next() {
            let WalkItem::Entry(entry) = step? else { continue };
            matched.note(bracket_patterns, &entry);
            page.add(&entry, walk.tally());
        }
        let (tally, scanned) = (walk.tally(), walk.looked_at() as u64);
        drop(walk);
        Ok((page.finish(tally, scanned, rules), matched))
    }

    /// Walks in no order, by several threads. `None` if the tree takes a walk.
    fn walk_in_parallel(
        &self,
        selection: &Selection,
        bracket_patterns: &[BracketPattern],
    ) -> Result<Option<(Page, Matched)>, WalkError> {
        let cancelled = || self.deadline.check().is_err();
        let walk = ParallelWalk {
            sandbox: self.sandbox,
            start: self.folder,
            selection,
            gitignore: self.options.gitignore,
            cancelled: &cancelled,
        };
        let result = match walk.run(|| Part::new(self.asked, bracket_patterns)) {
            Ok(result) => result,
            Err(ParallelError::NeedsWalk) => return Ok(None),
            Err(ParallelError::Walk(error)) => return Err(error),
        };
        let mut matched = Matched::none_of(bracket_patterns);
        result.collected.iter().for_each(|part| matched.and(&part.matched));
        let page = part::join(self.asked, result.collected, result.looked_at as u64);
        Ok(page.map(|page| (page, matched)))
    }

    fn failure_of(&self, error: WalkError) -> Failure {
        match error {
            WalkError::Open(error) => {
                let given = self.options.root_path.as_deref();
                folder_failure(self.sandbox, "root_path", given, self.folder, error)
            }
            WalkError::Cancelled => stopped(
                self.deadline.check().err().unwrap_or(Stop::Cancelled),
                "looking took longer than timeout_ms: look in fewer folders with root_path or \
                 exclude, or allow more time",
            ),
            WalkError::TooManyNames => Failure::bug(),
        }
    }
}

#[cfg(test)]
mod tests;
