//! `delete_file` (docs/contract.md §12): a file, a link, or a folder is removed.
//!
//! ```
//! use ringfence::sandbox::Sandbox;
//! use ringfence::tools::delete_file::{DeleteFileRequest, delete_file};
//! use ringfence::tools::entry_change::ChangeOptions;
//!
//! let workspace = tempfile::tempdir()?;
//! std::fs::create_dir(workspace.path().join("old"))?;
//! std::fs::write(workspace.path().join("old/a.txt"), "a")?;
//!
//! let sandbox = Sandbox::open(workspace.path())?;
//! let request = DeleteFileRequest { path: "old".to_owned(), ..DeleteFileRequest::default() };
//! let options = ChangeOptions::default();
//! let refused = delete_file(&sandbox, &request, options, &|| false).unwrap_err();
//! assert_eq!(refused.code().as_str(), "NOT_EMPTY");
//!
//! let request = DeleteFileRequest { recursive: true, ..request };
//! let deleted = delete_file(&sandbox, &request, options, &|| false)?;
//! assert_eq!((deleted.kind, deleted.entries), ("directory", 1));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use super::entry_change::{self, ChangeOptions, failure_at, kind_name, with_near_misses};
use super::failure::Failure;
use crate::hash::Sha256Digest;
use crate::path::EntryPath;
use crate::sandbox::{Callbacks, EntryKind, RemoveOptions, Sandbox};

/// What to delete.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DeleteFileRequest {
    /// The entry, as it was asked for.
    pub path: String,
    /// Whether a folder that is not empty is deleted, with all that it holds.
    pub recursive: bool,
    /// Only a file whose bytes have this SHA-256 is deleted.
    pub expected: Option<Sha256Digest>,
    /// Only an entry of this kind is deleted.
    pub expected_kind: Option<EntryKind>,
    /// Whether nothing is deleted.
    pub dry_run: bool,
}

/// The answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeleteFileOutput {
    /// Relative to the workspace root, components separated by `/`.
    pub path: String,
    /// `file`, `directory` or `symlink`.
    pub kind: &'static str,
    /// How many entries lay beneath a folder.
    pub entries: u64,
}

/// Parses the path, and refuses the call where the host lets its tools write nothing. No disk is looked at:
/// `inside` gives the part of an absolute path beneath the root, by its spelling.
///
/// # Errors
///
/// `INVALID_ARGUMENT`, `READ_ONLY` or `SANDBOX_VIOLATION`, in this order.
pub fn parse(
    request: &DeleteFileRequest,
    options: ChangeOptions,
    inside: impl FnOnce(&str) -> Option<String>,
) -> Result<EntryPath, Failure> {
    entry_change::parse_below_root("path", &request.path, options, inside)
}

/// Deletes an entry. A link is deleted itself, and never its target. `cancelled` is asked until the entry
/// disappears.
///
/// # Errors
///
/// [`Failure`], in the order of docs/contract.md §9. Nothing has changed on disk then, except where the
/// error has `removed` or its message says so.
pub fn delete_file(
    sandbox: &Sandbox,
    request: &DeleteFileRequest,
    options: ChangeOptions,
    cancelled: &dyn Fn() -> bool,
) -> Result<DeleteFileOutput, Failure> {
    let inside = |absolute: &str| sandbox.part_inside(absolute);
    let deleted = parse(request, options, inside).and_then(|path| {
        let shown = path.as_path().as_shown();
        let removal = RemoveOptions {
            recursive: request.recursive,
            expected: request.expected,
            expected_kind: request.expected_kind,
            durable: options.is_durable(),
            dry_run: request.dry_run,
        };
        let callbacks = Callbacks::without_confirm(cancelled);
        let removed = sandbox.remove_entry(&path, &removal, callbacks).map_err(|error| {
            let failure = failure_at(error, sandbox, path.as_path(), request.expected, cancelled);
            with_near_misses(failure, sandbox, &request.path, path.as_path())
        })?;
        let kind = kind_name(removed.kind);
        Ok(DeleteFileOutput { path: shown.to_owned(), kind, entries: removed.entries })
    });
    deleted.map_err(|failure| failure.hiding_root_of(sandbox))
}
