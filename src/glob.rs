//! Globs that read as lines of a `.gitignore`, with `{a,b}`. ripgrep's `globset` matches them.
//!
//! A list of globs is kept in sets, because one set of many hostile globs is slow. Of a list, the last glob
//! that matches a path decides.

use std::borrow::Cow;
use std::ops::RangeInclusive;
use std::path::Path;

use globset::{Candidate, ErrorKind, GlobBuilder};

/// How many bytes a glob may have.
const GLOB_BYTES: RangeInclusive<usize> = 1..=4096;

/// How many bytes the globs of a list may have together. Hostile ones of so many bytes take 0.2 s to compile.
const MAX_LIST_BYTES: usize = 64 << 10;

/// How many bytes of globs are matched by one set: larger sets of hostile globs become slow.
const BYTES_PER_SET: usize = 8 << 10;

/// The verdict on a path, by the last pattern of a list that matches it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It selects the path.
    Selected,
    /// It begins with `!`, and takes the path back.
    Reincluded,
}

/// Whether letters match in both cases.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Case {
    /// Each letter matches itself.
    #[default]
    Sensitive,
    /// ASCII letters match in upper case and in lower case.
    Ascii,
    /// Upper case and lower case match each other, beyond ASCII too.
    Insensitive,
}

/// A glob that parses.
#[derive(Debug)]
pub struct Glob {
    parsed: globset::Glob,
    kind: Kind,
    bytes: usize,
}

#[derive(Debug, Clone, Copy)]
struct Kind {
    /// The glob takes back paths that globs before it selected.
    is_negated: bool,
    /// The glob matches folders alone.
    is_for_folders: bool,
}

/// Globs that follow each other in a list.
#[derive(Debug)]
pub struct GlobSet {
    case: Case,
    globs: globset::GlobSet,
    kinds: Vec<Kind>,
}

/// A set in the making.
#[derive(Debug, Default)]
pub struct GlobSetBuilder {
    globs: Vec<globset::Glob>,
    kinds: Vec<Kind>,
    bytes: usize,
}

/// Why a list of globs is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GlobError {
    /// Which glob of the list is at fault; `None` if it is the whole list.
    pub index: Option<usize>,
    /// What is wrong with it.
    pub flaw: GlobFlaw,
}

/// What is wrong with a glob.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GlobFlaw {
    /// It leads out of the workspace.
    Outside,
    /// It breaks a rule, which is worded to follow the name of an argument.
    Malformed(&'static str),
}

impl Glob {
    /// Parses a glob. `beneath_root` gives the part of an absolute path that lies beneath the workspace's root;
    /// whether there was one is returned, too.
    ///
    /// # Errors
    ///
    /// [`GlobFlaw`].
    pub fn parse(
        text: &str,
        case: Case,
        beneath_root: impl FnOnce(&str) -> Option<String>,
    ) -> Result<(Self, bool), GlobFlaw> {
        if !GLOB_BYTES.contains(&text.len()) {
            return Err(GlobFlaw::Malformed("must be a pattern of 1 to 4,096 bytes"));
        }
        if text.contains('\0') {
            return Err(GlobFlaw::Malformed("must not hold NUL"));
        }
        let bytes = text.len();
        let text = if cfg!(windows) { text.replace('\\', "/") } else { text.to_owned() };
        let (is_negated, text) =
            text.strip_prefix('!').map_or((false, &*text), |rest| (true, rest));
        let absolute = beneath_root(text);
        let text = absolute.as_deref().unwrap_or(text);
        let (is_for_folders, text) =
            text.strip_suffix('/').map_or((false, text), |text| (true, text));
        let is_anchored = absolute.is_some() || text.contains('/');
        let text = text.trim_start_matches('/');
        let text = text.strip_prefix("./").unwrap_or(text);
        check_components(text)?;
        let glob = if is_anchored { text.to_owned() } else { format!("**/{text}") };
        let glob = case.build(&glob).map_err(|error| GlobFlaw::Malformed(rule_of(error.kind())))?;
        Ok((
            Self { parsed: glob, kind: Kind { is_negated, is_for_folders }, bytes },
            absolute.is_some(),
        ))
    }
}

/// Checks that a list of globs is not too long.
///
/// # Errors
///
/// [`GlobError`] of the whole list.
pub fn check_size(list: &[String]) -> Result<(), GlobError> {
    if list.iter().map(String::len).sum::<usize>() > MAX_LIST_BYTES {
        let flaw = GlobFlaw::Malformed("must not have more than 64 KiB of patterns");
        return Err(GlobError { index: None, flaw });
    }
    Ok(())
}

fn check_components(text: &str) -> Result<(), GlobFlaw> {
    if text == ".." || text.starts_with("../") {
        return Err(GlobFlaw::Outside);
    }
    if text.split('/').any(|component| matches!(component, "" | "." | "..")) && !text.is_empty() {
        return Err(GlobFlaw::Malformed(
            "must not hold `..`, `.` or an empty name between slashes",
        ));
    }
    if text.is_empty() {
        return Err(GlobFlaw::Malformed("must name something"));
    }
    if has_class_beyond_ascii(text) {
        return Err(GlobFlaw::Malformed("must not have a class of characters beyond ASCII"));
    }
    Ok(())
}

impl GlobSetBuilder {
    /// Whether the set has no glob yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.globs.is_empty()
    }

    /// Adds a glob. Says whether the set is full, and the next glob belongs to another one.
    pub fn push(&mut self, glob: Glob) -> bool {
        self.globs.push(glob.parsed);
        self.kinds.push(glob.kind);
        self.bytes += glob.bytes;
        self.bytes >= BYTES_PER_SET
    }

    /// The set. `case` says how a path is compared with it.
    ///
    /// # Errors
    ///
    /// [`GlobFlaw`] if the globs are too many for one set.
    pub fn finish(self, case: Case) -> Result<GlobSet, GlobFlaw> {
        let globs = globset::GlobSet::new(self.globs);
        let globs = globs.map_err(|_| GlobFlaw::Malformed("must be simpler"))?;
        Ok(GlobSet { case, globs, kinds: self.kinds })
    }
}

impl GlobSet {
    /// The verdict of the last glob that matches a path; `None` if none matches.
    #[must_use]
    pub fn decide(&self, path: &Path, is_folder: bool) -> Option<Verdict> {
        let [of_file, of_folder] = self.decide_both(path);
        if is_folder { of_folder } else { of_file }
    }

    /// [`GlobSet::decide`] for a file and for a folder at a path.
    #[must_use]
    pub fn decide_both(&self, path: &Path) -> [Option<Verdict>; 2] {
        let path = self.case.of(path);
        let mut matched = Vec::new();
        self.globs.matches_candidate_into(&Candidate::new(&*path), &mut matched);
        let verdict = |is_folder: bool| {
            let mut kinds = matched.iter().rev().map(|&index| self.kinds[index]);
            let last = kinds.find(|kind| is_folder || !kind.is_for_folders)?;
            Some(if last.is_negated { Verdict::Reincluded } else { Verdict::Selected })
        };
        [verdict(false), verdict(true)]
    }

    /// Whether a glob without `!` matches a path.
    #[must_use]
    pub fn matches_without_exceptions(&self, path: &Path, is_folder: bool) -> bool {
        let path = self.case.of(path);
        let matched = self.globs.matches_candidate(&Candidate::new(&*path));
        let mut kinds = matched.iter().map(|&index| self.kinds[index]);
        kinds.any(|kind| !kind.is_negated && (is_folder || !kind.is_for_folders))
    }

    /// Whether every glob begins with `!`.
    #[must_use]
    pub fn has_only_negated(&self) -> bool {
        self.kinds.iter().all(|kind| kind.is_negated)
    }
}

impl Case {
    /// A path as it is matched. The matcher itself ignores the case of ASCII letters alone.
    fn of(self, path: &Path) -> Cow<'_, Path> {
        match path.to_str() {
            Some(text) if self == Self::Insensitive && !text.is_ascii() => {
                Cow::Owned(fold(text).into())
            }
            _ => Cow::Borrowed(path),
        }
    }

    fn build(self, glob: &str) -> Result<globset::Glob, globset::Error> {
        let folded = if self == Self::Insensitive { Cow::Owned(fold(glob)) } else { glob.into() };
        GlobBuilder::new(&folded)
            .literal_separator(true)
            .backslash_escape(true)
            .empty_alternates(true)
            .case_insensitive(self != Self::Sensitive)
            .build()
    }
}

/// A text with the letters beyond ASCII in lower case.
fn fold(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_ascii() {
            folded.push(character);
        } else {
            folded.extend(character.to_lowercase());
        }
    }
    folded
}

/// Whether a class, `[…]`, names a character of more than one byte. Such a class would match one of
/// the bytes.
pub(crate) fn has_class_beyond_ascii(pattern: &str) -> bool {
    let mut characters = pattern.chars();
    let mut is_in_class = false;
    while let Some(character) = characters.next() {
        match character {
            '\\' if !is_in_class => {
                characters.next();
            }
            '[' if !is_in_class => {
                is_in_class = true;
                // A `]` that stands first is an element of the class.
                let rest = characters.as_str();
                let rest = rest.strip_prefix(['!', '^']).unwrap_or(rest);
                characters = rest.strip_prefix(']').unwrap_or(rest).chars();
            }
            ']' => is_in_class = false,
            character if is_in_class && !character.is_ascii() => return true,
            _ => {}
        }
    }
    false
}

/// The rule that a glob which does not parse breaks.
fn rule_of(error: &ErrorKind) -> &'static str {
    match error {
        ErrorKind::UnclosedClass => "must be a pattern that parses: `[` without `]`",
        ErrorKind::InvalidRange(..) => {
            "must be a pattern that parses: a range between `[` and `]` runs backwards"
        }
        ErrorKind::UnclosedAlternates => "must be a pattern that parses: `{` without `}`",
        ErrorKind::UnopenedAlternates => "must be a pattern that parses: `}` without `{`",
        ErrorKind::TooManyNestedAlternates => {
            "must be a pattern that parses: too many `{` within each other"
        }
        ErrorKind::DanglingEscape => "must be a pattern that parses: `\\` at the end",
        _ => "must be a pattern that parses: look at its brackets",
    }
}
