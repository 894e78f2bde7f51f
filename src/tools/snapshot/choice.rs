//! The host's choice of entries: its globs, and the build artifacts that are left out by default.

use std::path::Path;

use super::{BUILD_ARTIFACTS, MAX_PATTERNS, SnapshotError};
use crate::argument::{ArgumentError, Got};
use crate::sandbox::{EntryKind, Listed, Sandbox};
use crate::tree::{GlobError, GlobFlaw, Globs, Verdict};

/// The host's `exclude` and `include`.
pub(super) struct Choice {
    exclude: Globs,
    include: Globs,
}

impl Choice {
    pub(super) fn parse(
        sandbox: &Sandbox,
        exclude: &[String],
        include: &[String],
    ) -> Result<Self, SnapshotError> {
        let exclude = parse_list(sandbox, "exclude", exclude)?;
        Ok(Self { exclude, include: parse_list(sandbox, "include", include)? })
    }

    /// Whether the entry at a path is left out. It is if the host excludes it. It also is if the
    /// host does not include it and it is a `.git`, or a folder or link with the name of a build
    /// artifact.
    pub(super) fn leaves_out(&self, path: &Path, entry: &Listed<'_>) -> bool {
        let may_lead_into = matches!(entry.kind(), EntryKind::Folder | EntryKind::Link);
        let is_artifact = entry.name() == ".git"
            || may_lead_into && BUILD_ARTIFACTS.iter().any(|name| entry.name() == *name);
        let selects =
            |globs: &Globs, is_folder| globs.decide(path, is_folder) == Some(Verdict::Selected);
        selects(&self.exclude, entry.kind() == EntryKind::Folder)
            || is_artifact && !selects(&self.include, true)
    }
}

fn parse_list(
    sandbox: &Sandbox,
    name: &'static str,
    list: &[String],
) -> Result<Globs, SnapshotError> {
    let refuse = |rule: String| SnapshotError::from(ArgumentError::new(name, rule, Got::Unsaid));
    if list.len() > MAX_PATTERNS as usize {
        return Err(refuse(format!("must have no more than {MAX_PATTERNS} elements")));
    }
    let base = Path::new("");
    Globs::parse(sandbox, base, list).map_err(|GlobError { index, flaw }| match (flaw, index) {
        (GlobFlaw::Outside, index) => {
            SnapshotError::Outside { name, index: index.unwrap_or_default() }
        }
        (GlobFlaw::Malformed(rule), Some(index)) => refuse(format!("[{index}] {rule}")),
        (GlobFlaw::Malformed(rule), None) => refuse(rule.to_owned()),
    })
}
