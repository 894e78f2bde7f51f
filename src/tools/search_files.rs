//! `regexp_search` (docs/contract.md §13): matches of a pattern in the contents of a workspace's files.
//!
//! The answer holds the first matches in the order of the paths, then of the lines. It is the same for
//! the same tree, however many threads search: a file's matches count once all files before it are done.
//! A search ends as soon as its page is certain.
//!
//! - A text is searched as `readFile` shows it, so that its lines are those of `readFile`.
//! - Each line is matched alone, without its end, unless `multiline` is set.
//! - Binary files, files over the size limit, and everything else that is left out is counted and told.
//!
//! ```
//! use ringfence::sandbox::Sandbox;
//! use ringfence::tools::search_files::{Item, SearchOptions, search_files};
//!
//! let workspace = tempfile::tempdir()?;
//! std::fs::write(workspace.path().join("a.txt"), "one\r\ntwo fish\n")?;
//!
//! let sandbox = Sandbox::open(workspace.path())?;
//! let options = SearchOptions { pattern: r"f\w+".to_owned(), ..SearchOptions::default() };
//! let answer = search_files(&sandbox, &options, &|| false, &|_| ())?;
//! let Item::Match(found) = &answer.items[0] else { unreachable!() };
//! assert_eq!((&*found.path, found.line, found.column), ("a.txt", 2, 5));
//! assert_eq!((&*found.text, &*found.line_text), ("fish", "two fish"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::sync::Mutex;
use std::time::{Duration, Instant};

use super::failure::{Detail, ErrorCode, Failure};
use super::walk_arguments::{locate, not_found, parse_globs, stopped};
use crate::deadline::{Deadline, Stop};
use crate::path::WorkspacePath;
use crate::regex::{Pattern, PatternFlaw, PatternOptions};
use crate::sandbox::{OpenError, OpenFile, Sandbox};
use crate::tree::{Case, RuleReader, Selection, Walk, WalkError, WalkOptions, compare_paths};

mod cursor;
mod file;
mod item;
mod lines;
mod page;
mod threads;

use cursor::Cursor;
pub use item::{FileItem, Item, MatchItem};
use page::Page;

/// How long a pattern may be, in bytes of UTF-8.
pub const MAX_PATTERN_BYTES: usize = 64 << 10;

/// How many globs `include` and `exclude` may have.
pub const MAX_GLOBS: u32 = 1000;

/// The most lines around a match.
pub const MAX_CONTEXT_LINES: u64 = 20;

/// The most items of an answer.
pub const MAX_RESULTS: u64 = 500;

/// The range of `max_line_chars`, in UTF-16 units.
pub const LINE_CHARS: std::ops::RangeInclusive<u64> = 100..=10_000;

/// The largest `max_file_size_bytes`.
pub const MAX_FILE_SIZE_BYTES: u64 = 64 << 20;

/// The largest `timeout_ms`.
pub const MAX_TIMEOUT_MS: u64 = 30_000;

/// With look-around and back-references larger files count as too large.
const MAX_BACKTRACKED_BYTES: u64 = 1 << 20;

/// The form of the items.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Output {
    /// An item for each match.
    #[default]
    Matches,
    /// An item for each file that has a match.
    Files,
    /// The same, with the number of lines.
    Counts,
}

/// The arguments of a search.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "each is an argument of the tool")]
pub struct SearchOptions {
    /// The pattern, in the syntax of the crate `regex`, with look-around and back-references.
    pub pattern: String,
    /// Some of `g`, `i`, `m`, `s`, `u`, none twice.
    pub flags: String,
    /// Every character of the pattern stands for itself.
    pub literal: bool,
    /// A match has no word character before it or after it.
    pub word: bool,
    /// A match may hold line feeds.
    pub multiline: bool,
    /// The folder or file that is searched; the root without it.
    pub root_path: Option<String>,
    /// Globs of files to search.
    pub include: Vec<String>,
    /// Globs of files and folders to leave out.
    pub exclude: Vec<String>,
    /// Whether files that `.gitignore` files ignore are left out.
    pub gitignore: bool,
    /// Whether files and folders with a leading dot are searched.
    pub include_hidden: bool,
    /// Whether [`DEFAULT_EXCLUDES`](crate::tree::DEFAULT_EXCLUDES) are left out.
    pub default_excludes: bool,
    /// The form of the items.
    pub output: Output,
    /// How many lines around a match come with it.
    pub context_lines: usize,
    /// The most items.
    pub max_results: usize,
    /// The `next` of the page before.
    pub after: Option<String>,
    /// How many UTF-16 units of a line are shown.
    pub max_line_chars: usize,
    /// Larger files are left out.
    pub max_file_size_bytes: u64,
    /// How long the search may take.
    pub timeout: Duration,
}

impl Default for SearchOptions {
    fn default() -> Self {
        Self {
            pattern: String::new(),
            flags: String::new(),
            literal: false,
            word: false,
            multiline: false,
            root_path: None,
            include: Vec::new(),
            exclude: Vec::new(),
            gitignore: true,
            include_hidden: true,
            default_excludes: true,
            output: Output::Matches,
            context_lines: 0,
            max_results: 100,
            after: None,
            max_line_chars: 2_000,
            max_file_size_bytes: 1 << 20,
            timeout: Duration::from_secs(5),
        }
    }
}

/// The answer.
#[derive(Debug, PartialEq, Eq)]
pub struct SearchAnswer {
    /// The folder or file that was searched, relative to the root; `.` for the root.
    pub root_path: String,
    /// How long it took.
    pub took: Duration,
    /// Whether there are more items.
    pub truncated: bool,
    /// How many files' texts were searched, up to that of the last item if there are more.
    pub scanned_files: u64,
    /// The items, in order.
    pub items: Vec<Item>,
    /// One text for each kind of file or folder that was left out, with their number.
    pub warnings: Vec<String>,
    /// The `after` of the next page, if there is one.
    pub next: Option<String>,
}

/// How far a search has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// How many files' texts were searched.
    pub scanned_files: u64,
    /// How many items the answer has so far.
    pub items: u64,
}

/// Searches the files of a workspace. `cancelled` is asked again and again, from several threads;
/// `on_progress` is called by the calling thread.
///
/// # Errors
///
/// [`Failure`]; [`Failure::cancelled`] if `cancelled` said yes.
pub fn search_files(
    sandbox: &Sandbox,
    options: &SearchOptions,
    cancelled: &(dyn Fn() -> bool + Sync),
    on_progress: &dyn Fn(Progress),
) -> Result<SearchAnswer, Failure> {
    let begun = Instant::now();
    let deadline = Deadline::after(options.timeout, cancelled);
    let given = options.root_path.as_deref();
    let path = locate(sandbox, "root_path", given)?;
    let search = Search::prepare(sandbox, options, &path, deadline)
        .map_err(|failure| failure.at(path.as_shown()))?;
    let page = search.run(sandbox, &path, on_progress).map_err(|failure| match given {
        Some(given) if failure.code() == ErrorCode::NotFound => not_found(sandbox, given, &path),
        _ => failure,
    });
    let page = page.map_err(|failure| failure.at(path.as_shown()))?;
    Ok(SearchAnswer {
        root_path: path.to_string(),
        took: begun.elapsed(),
        truncated: page.is_truncated(),
        scanned_files: page.counts().scanned,
        warnings: page.counts().left_out.warnings(),
        next: page.next(),
        items: page.into_items(),
    })
}

/// A search whose arguments have been read.
struct Search<'call> {
    options: &'call SearchOptions,
    pattern: Pattern,
    selection: Selection,
    after: Option<Cursor>,
    deadline: Deadline<'call>,
    max_file_bytes: u64,
    /// Held while a large file is searched.
    large_file: Mutex<()>,
}

impl<'call> Search<'call> {
    fn prepare(
        sandbox: &Sandbox,
        options: &'call SearchOptions,
        path: &WorkspacePath,
        deadline: Deadline<'call>,
    ) -> Result<Self, Failure> {
        let globs = |argument, list: &[String]| {
            parse_globs(sandbox, argument, path.as_str(), list, Case::Sensitive)
        };
        let selection = Selection {
            default_excludes: options.default_excludes,
            hidden: options.include_hidden,
            files: true,
            folders: false,
            links: false,
            include: globs("include", &options.include)?,
            exclude: globs("exclude", &options.exclude)?,
        };
        let after = options.after.as_deref().map(Cursor::parse).transpose()?;
        let pattern = compile(options)?;
        let max_file_bytes = if pattern.backtracks() {
            options.max_file_size_bytes.min(MAX_BACKTRACKED_BYTES)
        } else {
            options.max_file_size_bytes
        };
        let large_file = Mutex::new(());
        Ok(Self { options, pattern, selection, after, deadline, max_file_bytes, large_file })
    }

    fn run(
        &self,
        sandbox: &Sandbox,
        path: &WorkspacePath,
        on_progress: &dyn Fn(Progress),
    ) -> Result<Page, Failure> {
        let rules = self.options.gitignore.then(RuleReader::default);
        let from = self.after.as_ref().map(|after| after.path.as_str());
        let walk_options = WalkOptions { from, ..WalkOptions::default() };
        let cancelled = || self.deadline.check().is_err();
        let walk =
            Walk::begin(sandbox, path, &self.selection, walk_options, rules.as_ref(), &cancelled);
        match walk {
            Ok(walk) => {
                let mut page = threads::search(self, walk, on_progress)?;
                if let Some(rules) = rules {
                    page.count_unheeded(rules);
                }
                Ok(page)
            }
            Err(WalkError::Open(OpenError::NotFolder)) => {
                self.search_one(path, open_named(sandbox, path)?)
            }
            Err(error) => Err(self.failure_of(error)),
        }
    }

    /// Searches a file that was named as `root_path`.
    fn search_one(&self, path: &WorkspacePath, file: OpenFile) -> Result<Page, Failure> {
        let mut page = Page::new(self.options.max_results);
        let after = self.after.as_ref().map(|after| &after.path);
        if after.is_some_and(|after| compare_paths(path.as_str(), after).is_lt()) {
            return Ok(page);
        }
        let mut searcher = file::Searcher::new(self);
        let found = searcher.search(path.as_str(), file).map_err(failure_of)?;
        page.add_named(found, self.max_file_bytes)?;
        Ok(page)
    }

    fn failure_of(&self, error: WalkError) -> Failure {
        match error {
            WalkError::Open(error) => error.into(),
            WalkError::Cancelled => {
                failure_of(self.deadline.check().err().unwrap_or(Stop::Cancelled))
            }
            WalkError::TooManyNames => Failure::bug(),
        }
    }
}

/// Opens the file that `root_path` names.
fn open_named(sandbox: &Sandbox, path: &WorkspacePath) -> Result<OpenFile, Failure> {
    // Without a final `/`, which asks for a folder.
    let plain = WorkspacePath::parse_beneath(path.as_str()).ok();
    if path.must_be_directory() && plain.is_some_and(|path| sandbox.open_file(&path).is_ok()) {
        let sentence = "root_path ends in /, but is a file, not a folder";
        return Err(Failure::new(ErrorCode::NotDirectory, sentence));
    }
    sandbox.open_file(path).map_err(|error| match error {
        OpenError::SpecialFile => {
            let sentence = "root_path is neither a folder nor a file, but a FIFO, socket or device";
            Failure::new(ErrorCode::NotDirectory, sentence)
        }
        error => error.into(),
    })
}

fn failure_of(stop: Stop) -> Failure {
    stopped(
        stop,
        "the search took longer than timeout_ms: search fewer files with root_path or include, use a \
         simpler pattern, or allow more time",
    )
}

fn compile(options: &SearchOptions) -> Result<Pattern, Failure> {
    if options.pattern.is_empty() {
        let sentence = "pattern must not be empty: to list files, use find_files";
        return Err(Failure::new(ErrorCode::InvalidArgument, sentence));
    }
    let read = PatternOptions {
        literal: options.literal,
        word: options.word,
        multiline: options.multiline,
        ..flags(&options.flags)?
    };
    Pattern::compile(&options.pattern, read).map_err(|flaw| regex_failure(&flaw))
}

/// Reads `flags`: `g` and `u` change nothing, because all matches are found and all text is Unicode.
fn flags(text: &str) -> Result<PatternOptions, Failure> {
    let mut options = PatternOptions::default();
    for (index, flag) in text.char_indices() {
        let is_known = match flag {
            'g' | 'u' => true,
            'i' => !std::mem::replace(&mut options.case_insensitive, true),
            'm' => !std::mem::replace(&mut options.line_anchors, true),
            's' => !std::mem::replace(&mut options.dot_matches_line_feed, true),
            _ => false,
        };
        if !is_known || text[..index].contains(flag) {
            let sentence = "flags must be some of the letters g, i, m, s and u, none of them twice";
            return Err(Failure::new(ErrorCode::InvalidArgument, sentence));
        }
    }
    Ok(options)
}

fn regex_failure(flaw: &PatternFlaw) -> Failure {
    let failure = Failure::new(
        ErrorCode::InvalidRegex,
        format!("pattern does not compile: {}", flaw.sentence),
    )
    .with("offset", Detail::Number(flaw.offset));
    if flaw.is_probably_literal {
        failure.and("to search for these characters as they are, set literal to true")
    } else {
        failure
    }
}

#[cfg(test)]
mod tests;
