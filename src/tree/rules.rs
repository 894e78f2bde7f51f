//! The rules of the `.gitignore` files that hold in a folder.
//!
//! The files may be hostile: a person who can put them into a workspace must not be able to make a
//! walk take minutes. How much is read, how many patterns are kept, and how long they are compiled
//! and matched is bounded over the whole walk. Files and lines that a bound leaves out are
//! reported as [`Unheeded`].

use std::cell::{Cell, RefCell};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::gitignore::{lines, patterns_of};
use super::pattern_list::{PatternList, PatternListBuilder, Refused, automaton_bytes};
use crate::glob::Verdict;
use crate::sandbox::{EntryName, ListedFolder, OpenError, ReadError};

/// The largest `.gitignore` that is heeded, in bytes.
const MAX_FILE_BYTES: u64 = 16 << 20;

/// How many bytes of `.gitignore` files one walk reads.
const MAX_FILE_BYTES_IN_ALL: u64 = 64 << 20;

/// How many bytes of patterns one walk keeps, [`PATTERN_OVERHEAD`] included. The matcher needs about
/// forty times as many bytes of memory.
const MAX_PATTERN_BYTES: usize = 2 << 20;

/// The cost of a pattern beside its own bytes.
const PATTERN_OVERHEAD: usize = 16;

/// How many bytes of patterns that need an automaton one walk keeps.
const MAX_AUTOMATON_BYTES: usize = 256 << 10;

/// How long one walk compiles and matches patterns.
pub const MAX_RULE_TIME: Duration = Duration::from_secs(10);

/// The patterns of a folder's `.gitignore`, and the rules of the folder above.
#[derive(Debug)]
pub struct Rules {
    patterns: PatternList,
    above: Option<Arc<Rules>>,
}

/// A `.gitignore` that is not heeded, or not as a whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unheeded {
    /// The folder that holds it, relative to the workspace's root.
    pub folder: PathBuf,
    /// The reason, and the part that is not heeded.
    pub why: WhyUnheeded,
}

/// Why a `.gitignore` is not heeded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhyUnheeded {
    /// The process may not read it, or the system failed.
    Unreadable,
    /// It has more than 16 MiB.
    TooLarge,
    /// All files together have more than 64 MiB.
    TooLargeInAll,
    /// So many of its lines are too long or not UTF-8, have a class of characters beyond ASCII, or
    /// are too many for the walk.
    Lines(usize),
}

/// Reads the rules of one walk, and keeps to its bounds.
#[derive(Debug)]
pub struct RuleReader {
    file_bytes_left: Cell<u64>,
    pattern_bytes_left: Cell<usize>,
    automaton_bytes_left: Cell<usize>,
    time_left: Cell<Duration>,
    unheeded: RefCell<Vec<Unheeded>>,
}

impl Default for RuleReader {
    fn default() -> Self {
        Self::with_share_of(1)
    }
}

impl RuleReader {
    /// A reader with its share of the bounds, where so many readers work for one walk.
    pub(super) fn with_share_of(readers: usize) -> Self {
        let readers = u32::try_from(readers.max(1)).unwrap_or(u32::MAX);
        Self {
            file_bytes_left: Cell::new(MAX_FILE_BYTES_IN_ALL / u64::from(readers)),
            pattern_bytes_left: Cell::new(MAX_PATTERN_BYTES / readers as usize),
            automaton_bytes_left: Cell::new(MAX_AUTOMATON_BYTES / readers as usize),
            time_left: Cell::new(MAX_RULE_TIME / readers),
            unheeded: RefCell::default(),
        }
    }

    /// Whether every file was heeded as a whole.
    pub(super) fn has_heeded_all(self) -> bool {
        !self.is_out_of_time() && self.into_unheeded().is_empty()
    }

    /// The rules that hold in a folder. In a folder that holds a `.git`, the rules from above end, as
    /// if Git ran inside it. A `.gitignore` that is a link is not followed, which is Git's rule too.
    pub fn rules_in(
        &self,
        folder: &ListedFolder<'_>,
        path: &Path,
        above: Option<Arc<Rules>>,
        cancelled: &dyn Fn() -> bool,
    ) -> Option<Arc<Rules>> {
        let above = above.filter(|_| !folder.holds(&EntryName::git()));
        let patterns = match self.read(folder) {
            Ok(Some(bytes)) => self.parse(&bytes, path, cancelled),
            Ok(None) => PatternList::default(),
            Err(why) => {
                self.report(path, why);
                PatternList::default()
            }
        };
        if patterns.is_empty() { above } else { Some(Arc::new(Rules { patterns, above })) }
    }

    /// Whether rules ignore the entry at a path. The caller knows that no folder on the way is
    /// ignored. The innermost file with a pattern that matches decides, by the last such pattern.
    pub fn ignores(
        &self,
        rules: &Rules,
        path: &Path,
        is_folder: bool,
        cancelled: &dyn Fn() -> bool,
    ) -> bool {
        self.timed(|has_time| {
            let cancelled = || !has_time() || cancelled();
            let files = std::iter::successors(Some(rules), |rules| rules.above.as_deref());
            let mut verdicts =
                files.filter_map(|file| file.patterns.decide(path, is_folder, &cancelled));
            verdicts.next() == Some(Verdict::Selected) && has_time()
        })
    }

    /// Whether the time for rules is used up. Since then nothing is ignored.
    #[must_use]
    pub fn is_out_of_time(&self) -> bool {
        self.time_left.get().is_zero()
    }

    /// The files that were not heeded, or not as a whole.
    #[must_use]
    pub fn into_unheeded(self) -> Vec<Unheeded> {
        self.unheeded.into_inner()
    }

    /// The bytes of a folder's `.gitignore`; `None` where there is none.
    fn read(&self, folder: &ListedFolder<'_>) -> Result<Option<Vec<u8>>, WhyUnheeded> {
        let name = EntryName::gitignore();
        let file = match folder.open_file(&name) {
            Ok(file) => file,
            // In a folder that may not be searched nothing can be read, whether it is ignored or not.
            Err(OpenError::PermissionDenied) if folder.facts(&name).is_err() => return Ok(None),
            Err(
                OpenError::PermissionDenied
                | OpenError::Leased
                | OpenError::Busy
                | OpenError::System(_),
            ) => return Err(WhyUnheeded::Unreadable),
            Err(_) => return Ok(None),
        };
        let left = self.file_bytes_left.get();
        match file.read_to_end(MAX_FILE_BYTES.min(left)) {
            Ok(bytes) => {
                self.file_bytes_left.set(left - bytes.len() as u64);
                Ok(Some(bytes))
            }
            Err(ReadError::TooLarge(_)) if left < MAX_FILE_BYTES => Err(WhyUnheeded::TooLargeInAll),
            Err(ReadError::TooLarge(_)) => Err(WhyUnheeded::TooLarge),
            Err(ReadError::Waits) => Ok(None),
            Err(_) => Err(WhyUnheeded::Unreadable),
        }
    }

    fn parse(&self, file: &[u8], path: &Path, cancelled: &dyn Fn() -> bool) -> PatternList {
        let mut list = PatternListBuilder::new(path);
        let mut unheeded = 0_usize;
        for line in lines(file) {
            if self.is_out_of_time() || cancelled() {
                break;
            }
            unheeded += usize::from(self.timed(|_| !self.heed(line, &mut list)));
        }
        let (patterns, finished) = self.timed(|_| list.finish());
        unheeded += usize::from(finished.is_err());
        if unheeded > 0 {
            self.report(path, WhyUnheeded::Lines(unheeded));
        }
        patterns
    }

    /// Adds the patterns of a line; `false` if the line is not heeded.
    fn heed(&self, line: &[u8], list: &mut PatternListBuilder<'_>) -> bool {
        let Ok(patterns) = patterns_of(line) else { return false };
        // Git has a malformed pattern match nothing.
        let heeds = |pattern: &String| {
            self.has_room_for(pattern) && list.push(pattern) != Err(Refused::TooLarge)
        };
        patterns.iter().all(heeds)
    }

    /// Subtracts the cost of a pattern from the bytes that are left; `false` if too few are left.
    fn has_room_for(&self, pattern: &str) -> bool {
        let bytes = self.pattern_bytes_left.get().checked_sub(pattern.len() + PATTERN_OVERHEAD);
        let automaton = self.automaton_bytes_left.get().checked_sub(automaton_bytes(pattern));
        let (Some(bytes), Some(automaton)) = (bytes, automaton) else { return false };
        self.pattern_bytes_left.set(bytes);
        self.automaton_bytes_left.set(automaton);
        true
    }

    fn report(&self, folder: &Path, why: WhyUnheeded) {
        self.unheeded.borrow_mut().push(Unheeded { folder: folder.to_owned(), why });
    }

    /// Does work that counts against the time for rules. The work gets a function that says whether
    /// time is left.
    fn timed<T>(&self, work: impl FnOnce(&dyn Fn() -> bool) -> T) -> T {
        let begun = Instant::now();
        let left = self.time_left.get();
        let done = work(&|| begun.elapsed() < left);
        self.time_left.set(left.saturating_sub(begun.elapsed()));
        done
    }
}
