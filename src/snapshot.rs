//! The workspace snapshot: a directory tree for the boot prompt of an agent (TUL-004 §7.5).
//!
//! The specification wants "a snapshot of the current workspace directory tree (truncated to a
//! reasonable depth and excluding build artifacts such as `bin`, `obj`, `node_modules`, `.git`,
//! `dist`)". Where it is silent the answers are:
//!
//! - names stand in the order of their bytes, each folder's own before the next folder's;
//! - links are shown and never followed, and nothing that stands at a name is opened but folders;
//! - a name cannot break its line, or turn it around: what could is shown escaped;
//! - the entries are shared out level by level, so that no huge folder hides the others, and
//!   wherever something is left out a `…` says so.
//!
//! ```
//! use ringfence::sandbox::Sandbox;
//! use ringfence::snapshot::{SnapshotOptions, workspace_snapshot};
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

use crate::argument::{ArgumentError, positive_up_to};
use crate::sandbox::{OpenError, RootError, Sandbox};

mod drawing;
mod gitignore;
mod listing;
mod share;
mod shown;
mod threads;
mod tree;

/// The folders that are left out wherever they stand, and links of these names too.
pub const BUILD_ARTIFACTS: [&str; 5] = ["bin", "obj", "node_modules", ".git", "dist"];

/// What `maxDepth` may be.
pub const MAX_DEPTH: RangeInclusive<NonZeroU64> = positive_up_to(100);

/// How deep a snapshot goes without `maxDepth`.
pub const DEFAULT_MAX_DEPTH: NonZeroU64 = NonZeroU64::new(4).unwrap();

/// What `maxEntries` may be.
pub const MAX_ENTRIES: RangeInclusive<NonZeroU64> = positive_up_to(200_000);

/// How many entries a snapshot shows without `maxEntries`.
pub const DEFAULT_MAX_ENTRIES: NonZeroU64 = NonZeroU64::new(1000).unwrap();

/// What a snapshot shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SnapshotOptions {
    /// How many levels: 1 is what stands in the root itself.
    pub max_depth: NonZeroU64,
    /// How many files, folders, links and others at the most.
    pub max_entries: NonZeroU64,
    /// Whether what the workspace's `.gitignore` files ignore is left out too.
    pub gitignore: bool,
}

impl Default for SnapshotOptions {
    fn default() -> Self {
        Self { max_depth: DEFAULT_MAX_DEPTH, max_entries: DEFAULT_MAX_ENTRIES, gitignore: false }
    }
}

/// A workspace's tree, or what of it the limits let through.
#[derive(Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// The tree, a line for each entry, two spaces of indentation for each level.
    pub text: String,
    /// The paths of the entries, relative to the root, in the order of their lines; those of
    /// folders end in `/`.
    pub entries: Vec<String>,
    /// Whether a limit has left something out.
    pub truncated: bool,
}

/// Why there is no snapshot. A folder other than the root that cannot be read is no reason: its
/// line says so.
#[derive(Debug, thiserror::Error)]
pub enum SnapshotError {
    /// The caller's mistake.
    #[error(transparent)]
    Argument(#[from] ArgumentError),
    /// The host's root.
    #[error("workspaceRoot {0}")]
    Root(#[from] RootError),
    /// The root does not let itself be listed.
    #[error("the workspace root cannot be listed: {0}")]
    List(OpenError),
    /// It was removed meanwhile.
    #[error("{}", OpenError::RootGone)]
    RootGone,
    /// The caller said so.
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
            Self::List(OpenError::PermissionDenied) => "PERMISSION_DENIED",
            Self::List(_) | Self::Cancelled | Self::Bug => "INTERNAL",
        }
    }
}

/// Takes a snapshot of a workspace.
///
/// It lists no more folders than it may show entries, and holds no more names than a small multiple
/// of that, however many there are; where there are many folders, a few threads list them.
/// `cancelled` is asked again and again, also in a large folder.
///
/// # Errors
///
/// [`SnapshotError`]; [`SnapshotError::Cancelled`] after `cancelled` said yes.
pub fn workspace_snapshot(
    sandbox: &Sandbox,
    options: &SnapshotOptions,
    cancelled: &(dyn Fn() -> bool + Sync),
) -> Result<Snapshot, SnapshotError> {
    let tree = tree::grow(sandbox, options, cancelled)?;
    Ok(drawing::draw(&tree))
}

#[cfg(test)]
mod tests;
