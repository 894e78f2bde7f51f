//! Which entries a walk gives, and how many it leaves out for each reason.

use std::path::Path;

use super::globs::Globs;
use super::lister::ListedEntry;
use crate::glob::Verdict;
use crate::sandbox::EntryKind;

/// The folders that searching tools leave out by default. Of `.git`, files and links are left out
/// too: a worktree or submodule has such a file.
pub const DEFAULT_EXCLUDES: [&str; 6] =
    [".git", "node_modules", "dist", "build", "target", ".vscode"];

/// The entries that a walk gives.
#[derive(Debug)]
#[allow(clippy::struct_excessive_bools, reason = "each is a choice of its own")]
pub struct Selection {
    /// Whether [`DEFAULT_EXCLUDES`] are left out.
    pub default_excludes: bool,
    /// Whether names with a leading dot are given.
    pub hidden: bool,
    /// Whether files are given.
    pub files: bool,
    /// Whether folders are given. They are entered all the same.
    pub folders: bool,
    /// Whether links are given. They are never followed.
    pub links: bool,
    /// Files and folders that none of these select are not given, but such folders are entered. An empty
    /// list selects everything.
    pub include: Globs,
    /// Entries that these select are not given. A folder is left out with all that it holds.
    pub exclude: Globs,
}

impl Default for Selection {
    fn default() -> Self {
        Self {
            default_excludes: true,
            hidden: true,
            files: true,
            folders: true,
            links: false,
            include: Globs::default(),
            exclude: Globs::default(),
        }
    }
}

/// How many entries a walk has left out, by the first reason that holds for each. A folder counts
/// once, whatever it holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tally {
    /// [`DEFAULT_EXCLUDES`].
    pub default_excludes: u64,
    /// Entries that a `.gitignore` ignores.
    pub ignored: u64,
    /// Names with a leading dot.
    pub hidden: u64,
    /// Links.
    pub links: u64,
    /// Folders that cannot be read, and names that are not UTF-8.
    pub unreadable: u64,
}

/// A reason to leave an entry out that is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SkipReason {
    /// One of [`DEFAULT_EXCLUDES`].
    DefaultExclude,
    /// A `.gitignore` ignores it.
    Ignored,
    /// Its name has a leading dot.
    Hidden,
    /// It is a link.
    Link,
    /// It is a folder that cannot be read, or its name is not UTF-8.
    Unreadable,
}

/// Whether a walk gives an entry, and whether it counts an entry that it leaves out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    /// It is given; a folder is entered, too.
    Given,
    /// A folder that is entered and not given.
    Entered,
    /// It is left out and counted.
    Skipped(SkipReason),
    /// It is left out and not counted: the caller did not ask for it, or it is a special file.
    Unwanted,
}

impl Tally {
    /// The sum of two tallies.
    #[must_use]
    pub fn and(&self, others: &Self) -> Self {
        Self {
            default_excludes: self.default_excludes + others.default_excludes,
            ignored: self.ignored + others.ignored,
            hidden: self.hidden + others.hidden,
            links: self.links + others.links,
            unreadable: self.unreadable + others.unreadable,
        }
    }

    /// The entries that were counted since an earlier state of the same tally.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            default_excludes: self.default_excludes - earlier.default_excludes,
            ignored: self.ignored - earlier.ignored,
            hidden: self.hidden - earlier.hidden,
            links: self.links - earlier.links,
            unreadable: self.unreadable - earlier.unreadable,
        }
    }

    /// Counts an entry.
    pub fn count(&mut self, reason: SkipReason) {
        *match reason {
            SkipReason::DefaultExclude => &mut self.default_excludes,
            SkipReason::Ignored => &mut self.ignored,
            SkipReason::Hidden => &mut self.hidden,
            SkipReason::Link => &mut self.links,
            SkipReason::Unreadable => &mut self.unreadable,
        } += 1;
    }
}

impl Selection {
    /// Whether [`DEFAULT_EXCLUDES`] are left out beneath a folder: not if it lies in one.
    pub(super) fn excludes_by_default(&self, start: &Path) -> bool {
        let is_excluded = |name| DEFAULT_EXCLUDES.iter().any(|&left| name == left);
        self.default_excludes && !start.iter().any(is_excluded)
    }

    /// Decides whether the walk gives an entry. Whether [`DEFAULT_EXCLUDES`] hold depends on where
    /// the walk began, so the walk passes it.
    pub(super) fn fate_of(&self, seen: &ListedEntry<'_>, default_excludes: bool) -> Fate {
        let (name, kind) = (seen.entry.name(), seen.entry.kind());
        if kind == EntryKind::Special || !self.wants(seen) {
            return Fate::Unwanted;
        }
        let is_default_exclude = || {
            name == ".git"
                || kind == EntryKind::Folder && DEFAULT_EXCLUDES.iter().any(|&left| name == left)
        };
        let reason = if default_excludes && is_default_exclude() {
            SkipReason::DefaultExclude
        } else if seen.is_ignored() {
            SkipReason::Ignored
        } else if !self.hidden && name.as_encoded_bytes().starts_with(b".") {
            SkipReason::Hidden
        } else if !self.links && kind == EntryKind::Link {
            SkipReason::Link
        } else if name.to_str().is_none() {
            SkipReason::Unreadable
        } else if kind == EntryKind::Folder && !(self.folders && self.includes(seen)) {
            return Fate::Entered;
        } else {
            return Fate::Given;
        };
        Fate::Skipped(reason)
    }

    /// Whether the caller asks for an entry, or for the contents of a folder.
    fn wants(&self, seen: &ListedEntry<'_>) -> bool {
        let kind = seen.entry.kind();
        let is_excluded = || {
            let verdict = self.exclude.decide(seen.path, kind == EntryKind::Folder);
            verdict == Some(Verdict::Selected)
        };
        let is_wanted = kind != EntryKind::File || self.files && self.includes(seen);
        is_wanted && !is_excluded()
    }

    fn includes(&self, seen: &ListedEntry<'_>) -> bool {
        let is_folder = seen.entry.kind() == EntryKind::Folder;
        match self.include.decide(seen.path, is_folder) {
            Some(verdict) => verdict == Verdict::Selected,
            None => self.include.has_only_negated(),
        }
    }
}
