//! The workspace snapshot: a directory tree for the boot prompt of an agent (TUL-004 §7.5).
//!
//! The specification wants "a snapshot of the current workspace directory tree (truncated to a
//! reasonable depth and excluding build artifacts such as `bin`, `obj`, `node_modules`, `.git`,
//! `dist`)". Where it is silent, these rules hold:
//!
//! - names stand in the order of their bytes; a folder is followed by its contents, then by the next name;
//! - links are shown and never followed, and only folders are opened;
//! - a name cannot break its line, or turn it around: characters that could are shown escaped;
//! - the entries are shared out level by level, so that no huge folder hides the others, and
//!   wherever something is left out a `…` says so.
//!
//! ```
//! use ringfence::sandbox::Sandbox;
//! use ringfence::tools::snapshot::{SnapshotOptions, workspace_snapshot};
//!
//! let workspace = tempfile::tempdir()?;
//! std::fs::create_dir_all(workspace.path().join("src/app"))?;
//! std::fs::create_dir_all(workspace.path().join("node_modules/left-pad"))?;
//! std::fs::write(workspace.path().join("src/app/main.ts"), "")?;
//! std::fs::write(workspace.path().join("README.md"), "")?;
//!
//! let sandbox = Sandbox::open(workspace.path())?;
//! let snapshot = workspace_snapshot(&sandbox, &SnapshotOptions::default(), &|| false)?;
//! assert_eq!(snapshot.text, "README.md\nsrc/\n  app/\n    main.ts");
//! assert_eq!(snapshot.entries, ["README.md", "src/", "src/app/", "src/app/main.ts"]);
//! assert!(!snapshot.truncated);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::num::NonZeroU64;
use std::ops::RangeInclusive;

use super::error_text;
use crate::argument::{ArgumentError, positive_up_to};
use crate::sandbox::{OpenError, RootError, Sandbox};
use crate::tree::RuleReader;

mod choice;
mod drawing;
mod growth;
mod hint;
mod listing;
mod share;
mod shown;
mod tree;

/// The folders that are left out wherever they stand, and links of these names too; and files
/// called `.git`, by which a worktree or submodule says where its repository is.
pub const BUILD_ARTIFACTS: [&str; 5] = ["bin", "obj", "node_modules", ".git", "dist"];

/// The range of `maxDepth`.
pub const MAX_DEPTH: RangeInclusive<NonZeroU64> = positive_up_to(100);

/// How deep a snapshot goes without `maxDepth`.
pub const DEFAULT_MAX_DEPTH: NonZeroU64 = NonZeroU64::new(4).unwrap();

/// The range of `maxEntries`.
pub const MAX_ENTRIES: RangeInclusive<NonZeroU64> = positive_up_to(200_000);

/// How many patterns `exclude` and `include` may have.
pub const MAX_PATTERNS: u32 = 1000;

/// How many entries a snapshot shows without `maxEntries`.
pub const DEFAULT_MAX_ENTRIES: NonZeroU64 = NonZeroU64::new(1000).unwrap();

/// The limits and the choice of a snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SnapshotOptions {
    /// How many levels. The entries of the root itself are level 1.
    pub max_depth: NonZeroU64,
    /// How many files, folders, links and others at the most.
    pub max_entries: NonZeroU64,
    /// Whether entries that the workspace's `.gitignore` files ignore are left out, too.
    pub gitignore: bool,
    /// Globs of further entries to leave out, relative to the root. The last that matches decides,
    /// and `!` takes back.
    pub exclude: Vec<String>,
    /// Globs of [`BUILD_ARTIFACTS`] that are shown all the same.
    pub include: Vec<String>,
}

impl Default for SnapshotOptions {
    fn default() -> Self {
        Self {
            max_depth: DEFAULT_MAX_DEPTH,
            max_entries: DEFAULT_MAX_ENTRIES,
            gitignore: false,
            exclude: Vec::new(),
            include: Vec::new(),
        }
    }
}

/// A workspace's tree, as far as the limits allow.
#[derive(Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// The tree, a line for each entry, two spaces of indentation for each level.
    pub text: String,
    /// The paths of the entries, relative to the root, in the order of their lines; those of
    /// folders end in `/`.
    pub entries: Vec<String>,
    /// Whether a limit has left something out.
    pub truncated: bool,
    /// Which `.gitignore` files were not heeded, or not as a whole, and why. `None` if all were.
    pub hint: Option<String>,
}

/// Why there is no snapshot. A folder other than the root that cannot be read is no reason: its
/// line says so.
#[derive(Debug, thiserror::Error)]
pub enum SnapshotError {
    /// The caller's mistake.
    #[error(transparent)]
    Argument(#[from] ArgumentError),
    /// A pattern that leads out.
    #[error("{name}[{index}] leads out of the workspace")]
    Outside {
        /// The list.
        name: &'static str,
        /// Which of its patterns.
        index: usize,
    },
    /// The host's root.
    #[error("workspaceRoot {0}")]
    Root(#[from] RootError),
    /// The root cannot be listed.
    #[error("the workspace root cannot be listed: {0}")]
    List(OpenError),
    /// It was removed meanwhile.
    #[error("{}", error_text::ROOT_GONE)]
    RootGone,
    /// The caller cancelled it.
    #[error("cancelled")]
    Cancelled,
    /// This library broke its own rules.
    #[error("ringfence failed: please report it")]
    Bug,
}

impl SnapshotError {
    /// The code, which is all that a program should branch on.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Root(RootError::System(_)) => "INTERNAL",
            Self::Argument(_) | Self::Root(_) | Self::RootGone => "INVALID_ARGUMENT",
            Self::Outside { .. } => "SANDBOX_VIOLATION",
            Self::List(OpenError::PermissionDenied) => "PERMISSION_DENIED",
            Self::List(_) | Self::Cancelled | Self::Bug => "INTERNAL",
        }
    }
}

/// Takes a snapshot of a workspace.
///
/// It lists no more folders than it may show entries, and holds no more names than a small
/// multiple of that. `cancelled` is asked before each entry, so that a large folder can be
/// cancelled, too.
///
/// # Errors
///
/// [`SnapshotError`]. If `cancelled` said yes, the error is [`SnapshotError::Cancelled`].
pub fn workspace_snapshot(
    sandbox: &Sandbox,
    options: &SnapshotOptions,
    cancelled: &dyn Fn() -> bool,
) -> Result<Snapshot, SnapshotError> {
    let rules = options.gitignore.then(RuleReader::default);
    let tree = growth::grow(sandbox, options, rules.as_ref(), cancelled)?;
    let mut snapshot = drawing::draw(&tree);
    snapshot.hint = rules.and_then(hint::hint);
    Ok(snapshot)
}

#[cfg(test)]
mod tests;
