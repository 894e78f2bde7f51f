//! Globs of a host, such as a tool's `include` and `exclude`.
//!
//! They read as lines of a `.gitignore`, with `{a,b}`. ripgrep's `globset` matches them.

use std::borrow::Cow;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use globset::{Candidate, ErrorKind, Glob, GlobBuilder, GlobSet};

use super::patterns::{Verdict, has_class_beyond_ascii};
use crate::sandbox::Sandbox;

/// How many bytes a glob may have.
const GLOB_BYTES: RangeInclusive<usize> = 1..=4096;

/// How many bytes the globs of a list may have together. Hostile ones of so many bytes take 0.2 s to compile.
const MAX_LIST_BYTES: usize = 64 << 10;

/// How many bytes of globs are matched by one set: larger sets of hostile globs become slow.
const BYTES_PER_SET: usize = 8 << 10;

/// A list of globs of which the last one that matches decides.
#[derive(Debug, Default)]
pub struct Globs {
    /// The folder that the globs are relative to.
    base: PathBuf,
    case: Case,
    sets: Vec<Set>,
}

/// Whether letters match in both cases.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Case {
    /// Each letter matches itself.
    #[default]
    Sensitive,
    /// Upper case and lower case match each other, beyond ASCII too.
    Insensitive,
}

/// Globs that follow each other in the list and are relative to the same folder.
#[derive(Debug)]
struct Set {
    globs: GlobSet,
    kinds: Vec<Kind>,
    /// The globs are relative to the workspace's root, and not to the folder of the list.
    is_from_root: bool,
}

/// The part of a list that is not a set yet.
#[derive(Default)]
struct Part {
    globs: Vec<Glob>,
    kinds: Vec<Kind>,
    is_from_root: bool,
    bytes: usize,
}

struct Parsed {
    glob: Glob,
    kind: Kind,
    /// It began with the workspace's absolute path.
    is_absolute: bool,
}

#[derive(Debug, Clone, Copy)]
struct Kind {
    /// The glob takes back paths that globs before it selected.
    is_negated: bool,
    /// The glob matches folders alone.
    is_for_folders: bool,
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

impl Globs {
    /// Parses a list of globs that are relative to a folder of the workspace. A glob that begins with
    /// the workspace's absolute path is relative to the workspace's root.
    ///
    /// # Errors
    ///
    /// [`GlobError`] for the first glob that is at fault.
    pub fn parse(sandbox: &Sandbox, base: &Path, list: &[String]) -> Result<Self, GlobError> {
        Self::parse_for(sandbox, base, list, Case::Sensitive)
    }

    /// [`Globs::parse`] of globs that may ignore case.
    ///
    /// # Errors
    ///
    /// As [`Globs::parse`].
    pub fn parse_for(
        sandbox: &Sandbox,
        base: &Path,
        list: &[String],
        case: Case,
    ) -> Result<Self, GlobError> {
        let mut sets = Vec::new();
        let mut part = Part::default();
        if list.iter().map(String::len).sum::<usize>() > MAX_LIST_BYTES {
            let flaw = GlobFlaw::Malformed("must not have more than 64 KiB of patterns");
            return Err(GlobError { index: None, flaw });
        }
        for (index, text) in list.iter().enumerate() {
            let at = |flaw| GlobError { index: Some(index), flaw };
            let Parsed { glob, kind, is_absolute } = parse(sandbox, text, case).map_err(at)?;
            // From the root itself, both are the same.
            let is_from_root = is_absolute && !base.as_os_str().is_empty();
            if part.is_from_root != is_from_root {
                sets.extend(std::mem::take(&mut part).finish().map_err(at)?);
                part.is_from_root = is_from_root;
            }
            part.globs.push(glob);
            part.kinds.push(kind);
            part.bytes += text.len();
            if part.bytes >= BYTES_PER_SET {
                let next = Part { is_from_root, ..Part::default() };
                sets.extend(std::mem::replace(&mut part, next).finish().map_err(at)?);
            }
        }
        sets.extend(part.finish().map_err(|flaw| GlobError { index: None, flaw })?);
        Ok(Self { base: base.to_owned(), case, sets })
    }

    /// Whether the list has no glob.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.sets.is_empty()
    }

    /// Whether every glob begins with `!`. Such a list takes its exceptions from everything.
    #[must_use]
    pub fn has_only_negated(&self) -> bool {
        self.sets.iter().flat_map(|set| &set.kinds).all(|kind| kind.is_negated)
    }

    /// The verdict of the last glob that matches a path; `None` if none matches. The path is
    /// relative to the workspace's root and lies beneath the folder of the list.
    #[must_use]
    pub fn decide(&self, path: &Path, is_folder: bool) -> Option<Verdict> {
        if self.sets.is_empty() {
            return None;
        }
        let beneath = if self.base.as_os_str().is_empty() {
            path
        } else {
            path.strip_prefix(&self.base).unwrap_or(path)
        };
        let mut matched = Vec::new();
        self.sets.iter().rev().find_map(|set| {
            let relative = self.case.of(if set.is_from_root { path } else { beneath });
            let candidate = Candidate::new(&*relative);
            set.globs.matches_candidate_into(&candidate, &mut matched);
            let kinds = matched.iter().rev().map(|&index| set.kinds[index]);
            let last = kinds.into_iter().find(|kind| is_folder || !kind.is_for_folders)?;
            Some(if last.is_negated { Verdict::Reincluded } else { Verdict::Selected })
        })
    }
}

impl Part {
    /// The set of the part; `None` if it has no globs.
    fn finish(self) -> Result<Option<Set>, GlobFlaw> {
        let Self { globs, kinds, is_from_root, .. } = self;
        if globs.is_empty() {
            return Ok(None);
        }
        let globs = GlobSet::new(globs).map_err(|_| GlobFlaw::Malformed("must be simpler"))?;
        Ok(Some(Set { globs, kinds, is_from_root }))
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

fn parse(sandbox: &Sandbox, text: &str, case: Case) -> Result<Parsed, GlobFlaw> {
    if !GLOB_BYTES.contains(&text.len()) {
        return Err(GlobFlaw::Malformed("must be a pattern of 1 to 4,096 bytes"));
    }
    if text.contains('\0') {
        return Err(GlobFlaw::Malformed("must not hold NUL"));
    }
    let text = if cfg!(windows) { text.replace('\\', "/") } else { text.to_owned() };
    let (is_negated, text) = text.strip_prefix('!').map_or((false, &*text), |rest| (true, rest));
    let absolute = sandbox.part_inside(text);
    let text = absolute.as_deref().unwrap_or(text);
    let (is_for_folders, text) = text.strip_suffix('/').map_or((false, text), |text| (true, text));
    let is_anchored = absolute.is_some() || text.contains('/');
    let text = text.trim_start_matches('/');
    let text = text.strip_prefix("./").unwrap_or(text);
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
    let glob = if is_anchored { text.to_owned() } else { format!("**/{text}") };
    let glob = if case == Case::Insensitive { fold(&glob) } else { glob };
    let glob = GlobBuilder::new(&glob)
        .literal_separator(true)
        .backslash_escape(true)
        .empty_alternates(true)
        .case_insensitive(case == Case::Insensitive)
        .build()
        .map_err(|error| GlobFlaw::Malformed(rule_of(error.kind())))?;
    let kind = Kind { is_negated, is_for_folders };
    Ok(Parsed { glob, kind, is_absolute: absolute.is_some() })
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

#[cfg(test)]
mod tests;
