//! Globs of a host, such as a tool's `include` and `exclude`, relative to a folder of the workspace.

use std::path::{Path, PathBuf};

pub use crate::glob::{Case, GlobError, GlobFlaw, Verdict};
use crate::glob::{Glob, GlobSet, GlobSetBuilder, check_size};
use crate::sandbox::Sandbox;

/// A list of globs of which the last one that matches decides.
#[derive(Debug, Default)]
pub struct Globs {
    /// The folder that the globs are relative to.
    base: PathBuf,
    sets: Vec<Set>,
}

/// Globs that follow each other in the list and are relative to the same folder.
#[derive(Debug)]
struct Set {
    globs: GlobSet,
    /// The globs are relative to the workspace's root, and not to the folder of the list.
    is_from_root: bool,
}

/// The part of a list that is not a set yet.
#[derive(Default)]
struct Part {
    globs: GlobSetBuilder,
    is_from_root: bool,
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
        check_size(list)?;
        let mut sets = Vec::new();
        let mut part = Part::default();
        for (index, text) in list.iter().enumerate() {
            let at = |flaw| GlobError { index: Some(index), flaw };
            let beneath_root = |text: &str| sandbox.part_inside(text);
            let (glob, is_absolute) = Glob::parse(text, case, beneath_root).map_err(at)?;
            // From the root itself, both are the same.
            let is_from_root = is_absolute && !base.as_os_str().is_empty();
            if part.is_from_root != is_from_root {
                let next = Part { is_from_root, ..Part::default() };
                sets.extend(std::mem::replace(&mut part, next).finish(case).map_err(at)?);
            }
            if part.globs.push(glob) {
                let next = Part { is_from_root, ..Part::default() };
                sets.extend(std::mem::replace(&mut part, next).finish(case).map_err(at)?);
            }
        }
        sets.extend(part.finish(case).map_err(|flaw| GlobError { index: None, flaw })?);
        Ok(Self { base: base.to_owned(), sets })
    }

    /// Whether the list has no glob.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.sets.is_empty()
    }

    /// Whether every glob begins with `!`. Such a list takes its exceptions from everything.
    #[must_use]
    pub fn has_only_negated(&self) -> bool {
        self.sets.iter().all(|set| set.globs.has_only_negated())
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
        self.sets.iter().rev().find_map(|set| {
            set.globs.decide(if set.is_from_root { path } else { beneath }, is_folder)
        })
    }
}

impl Part {
    /// The set of the part; `None` if it has no globs.
    fn finish(self, case: Case) -> Result<Option<Set>, GlobFlaw> {
        if self.globs.is_empty() {
            return Ok(None);
        }
        Ok(Some(Set { globs: self.globs.finish(case)?, is_from_root: self.is_from_root }))
    }
}

#[cfg(test)]
mod tests;
