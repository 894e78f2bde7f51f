//! `move_file` (docs/contract.md §12): a file, a link or a folder gets another path in the workspace, by one
//! rename.
//!
//! ```
//! use ringfence::sandbox::Sandbox;
//! use ringfence::tools::entry_change::ChangeOptions;
//! use ringfence::tools::move_file::{MoveFileRequest, move_file};
//!
//! let workspace = tempfile::tempdir()?;
//! std::fs::write(workspace.path().join("a.txt"), "a")?;
//!
//! let sandbox = Sandbox::open(workspace.path())?;
//! let request = MoveFileRequest {
//!     path: "a.txt".to_owned(),
//!     to: "new/b.txt".to_owned(),
//!     ..MoveFileRequest::default()
//! };
//! let moved = move_file(&sandbox, &request, ChangeOptions::default(), &|| false)?;
//! assert_eq!((&*moved.to, moved.kind, moved.overwritten), ("new/b.txt", "file", false));
//! assert_eq!(std::fs::read(workspace.path().join("new/b.txt"))?, b"a");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use super::entry_change::{self, ChangeOptions, failure_at, kind_name, with_near_misses};
use super::failure::{ErrorCode, Failure};
use crate::hash::Sha256Digest;
use crate::path::EntryPath;
use crate::sandbox::{Callbacks, EntryError, EntryKind, MoveEnd, MoveError, MoveOptions, Sandbox};

/// What to move, and where.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MoveFileRequest {
    /// The entry, as it was asked for.
    pub path: String,
    /// The new path itself, and never a folder to move into.
    pub to: String,
    /// Whether a file or link that stands there is replaced.
    pub overwrite: bool,
    /// Only a file whose bytes have this SHA-256 is moved.
    pub expected: Option<Sha256Digest>,
    /// Only an entry of this kind is moved.
    pub expected_kind: Option<EntryKind>,
    /// Whether nothing is moved.
    pub dry_run: bool,
}

/// The answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MoveFileOutput {
    /// The path before: relative to the workspace root, components separated by `/`.
    pub path: String,
    /// The path now, likewise.
    pub to: String,
    /// `file`, `directory` or `symlink`.
    pub kind: &'static str,
    /// Whether a file or link was replaced.
    pub overwritten: bool,
}

/// The two paths of a move.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Paths {
    from: EntryPath,
    to: EntryPath,
}

/// Parses the paths, and refuses the call where the host lets its tools write nothing. No disk is looked
/// at: `inside` gives the part of an absolute path beneath the root, by its spelling.
///
/// # Errors
///
/// `INVALID_ARGUMENT`, `READ_ONLY` or `SANDBOX_VIOLATION`, in this order.
pub fn parse(
    request: &MoveFileRequest,
    options: ChangeOptions,
    inside: impl Fn(&str) -> Option<String>,
) -> Result<Paths, Failure> {
    let from = entry_change::parse_below_root("path", &request.path, options, &inside);
    let to = entry_change::parse_below_root("to", &request.to, options, &inside);
    match (from, to) {
        (Ok(from), Ok(to)) => Ok(Paths { from, to }),
        (Err(first), Err(second)) => {
            Err(if is_argument(&second) && !is_argument(&first) { second } else { first })
        }
        (Err(failure), _) | (_, Err(failure)) => Err(failure),
    }
}

fn is_argument(failure: &Failure) -> bool {
    failure.code() == ErrorCode::InvalidArgument
}

/// Moves an entry. A link is moved itself. `cancelled` is asked until the first change.
///
/// # Errors
///
/// [`Failure`] at the path that is at fault, in the order of docs/contract.md §9. Nothing has changed on
/// disk then, except where the message says so.
pub fn move_file(
    sandbox: &Sandbox,
    request: &MoveFileRequest,
    options: ChangeOptions,
    cancelled: &dyn Fn() -> bool,
) -> Result<MoveFileOutput, Failure> {
    let inside = |absolute: &str| sandbox.part_inside(absolute);
    let moved = parse(request, options, inside).and_then(|Paths { from, to }| {
        let conditions = MoveOptions {
            overwrite: request.overwrite,
            expected: request.expected,
            expected_kind: request.expected_kind,
            durable: options.is_durable(),
            dry_run: request.dry_run,
        };
        let moved = sandbox
            .move_entry(&from, &to, &conditions, Callbacks::without_confirm(cancelled))
            .map_err(|error| failure(error, sandbox, request, (&from, &to), cancelled))?;
        Ok(MoveFileOutput {
            path: from.as_path().to_string(),
            to: to.as_path().to_string(),
            kind: kind_name(moved.kind),
            overwritten: moved.replaced.is_some(),
        })
    });
    moved.map_err(|failure| failure.hiding_root_of(sandbox))
}

fn failure(
    MoveError { end, error }: MoveError,
    sandbox: &Sandbox,
    request: &MoveFileRequest,
    (from, to): (&EntryPath, &EntryPath),
    cancelled: &dyn Fn() -> bool,
) -> Failure {
    let is_folder_in_the_way =
        matches!(error, EntryError::Exists { standing: EntryKind::Folder, .. });
    let fault = match end {
        MoveEnd::From => from.as_path(),
        MoveEnd::To => to.as_path(),
    };
    let failure = failure_at(error, sandbox, fault, request.expected, cancelled);
    match end {
        MoveEnd::From => with_near_misses(failure, sandbox, &request.path, fault),
        MoveEnd::To if is_folder_in_the_way => {
            let name = from.as_path().names().next_back().unwrap_or_default();
            failure.and(&format!("to move into it, give \"{fault}/{name}\" as to"))
        }
        MoveEnd::To => failure,
    }
}
