//! What the tools that change an entry have in common (docs/contract.md §9): the host's options, the
//! refusals by the spelling of a path, and `STALE`.

use std::ops::ControlFlow;

use super::create_file::{Durability, WriteScope};
use super::failure::{Detail, ErrorCode, Failure, code_of_refusal, code_of_write};
use super::near_miss::near_misses;
use crate::hash::{self, Sha256Digest, Sha256Pieces};
use crate::path::{EntryPath, WorkspacePath, shown_path};
use crate::sandbox::{
    EntryError, EntryKind, MAX_COMPARED_BYTES, Obstacle, OpenError, Sandbox, WriteError,
};

/// The options of the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ChangeOptions {
    /// How far tools may write.
    pub write_scope: WriteScope,
    /// Whether success means that the change has reached the disk.
    pub durability: Durability,
}

impl ChangeOptions {
    pub(super) fn is_durable(self) -> bool {
        self.durability == Durability::Full
    }
}

/// Parses the path of a file that is edited. `inside` gives the part of an absolute path beneath the root.
///
/// # Errors
///
/// `INVALID_ARGUMENT`, `READ_ONLY` where the host lets its tools write nothing, or `SANDBOX_VIOLATION`, in
/// this order.
pub(super) fn parse(
    argument: &str,
    given: &str,
    options: ChangeOptions,
    inside: impl FnOnce(&str) -> Option<String>,
) -> Result<EntryPath, Failure> {
    refuse_read_only(parse_spelling(argument, given, inside), given, options)
}

/// [`parse`] for an entry that is moved or deleted, which the workspace root never is.
pub(super) fn parse_below_root(
    argument: &str,
    given: &str,
    options: ChangeOptions,
    inside: impl FnOnce(&str) -> Option<String>,
) -> Result<EntryPath, Failure> {
    let parsed = parse_spelling(argument, given, inside);
    refuse_read_only(parsed.and_then(|path| refuse_root(argument, path)), given, options)
}

fn parse_spelling(
    argument: &str,
    given: &str,
    inside: impl FnOnce(&str) -> Option<String>,
) -> Result<EntryPath, Failure> {
    EntryPath::parse(given, inside)
        .map_err(|refusal| Failure::of_entry_spelling(&refusal, argument, given))
}

fn refuse_read_only(
    parsed: Result<EntryPath, Failure>,
    given: &str,
    options: ChangeOptions,
) -> Result<EntryPath, Failure> {
    match parsed {
        Err(failure) if failure.code() == ErrorCode::InvalidArgument => Err(failure),
        _ if options.write_scope == WriteScope::ReadOnly => {
            Err(Failure::read_only().at(shown_path(given)))
        }
        parsed => parsed,
    }
}

fn refuse_root(argument: &str, path: EntryPath) -> Result<EntryPath, Failure> {
    if path.as_path().is_root() {
        let sentence = format!("{argument} is the workspace root itself, which no tool changes");
        return Err(Failure::new(ErrorCode::InvalidArgument, sentence).at("."));
    }
    Ok(path)
}

/// The failure of a move or a removal, at a path. If a file was compared with an expected hash and has another,
/// the file is read for the present one.
pub(super) fn failure_at(
    error: EntryError,
    sandbox: &Sandbox,
    path: &WorkspacePath,
    expected: Option<Sha256Digest>,
    cancelled: &dyn Fn() -> bool,
) -> Failure {
    let failure = match error {
        EntryError::Write(WriteError::Changed) => {
            failure_of_mismatch(sandbox, path, expected, cancelled)
        }
        EntryError::Write(WriteError::Kept { because, stray })
            if matches!(*because, WriteError::Changed) =>
        {
            failure_of_mismatch(sandbox, path, expected, cancelled).and(&stray.to_string())
        }
        error => failure_of(error),
    };
    failure.at(path.as_shown())
}

/// The name of a kind of entry in answers.
pub(super) fn kind_name(kind: EntryKind) -> &'static str {
    match kind {
        EntryKind::Folder => "directory",
        EntryKind::Link => "symlink",
        EntryKind::File | EntryKind::Special => "file",
    }
}

fn failure_of(error: EntryError) -> Failure {
    let code = code_of(&error);
    let sentence = sentence_of(&error);
    match error {
        EntryError::Open(error) => error.into(),
        EntryError::Cancelled => Failure::cancelled(),
        EntryError::NotEmpty { entries } => {
            Failure::new(code, sentence).with("entries", Detail::Number(entries))
        }
        EntryError::Unfinished { removed, .. } => {
            Failure::new(code, sentence).with("removed", Detail::Number(removed))
        }
        _ => Failure::new(code, sentence),
    }
}

fn code_of(error: &EntryError) -> ErrorCode {
    match error {
        EntryError::Root | EntryError::NamesFolder | EntryError::IntoItself => {
            ErrorCode::InvalidArgument
        }
        EntryError::DanglingLink => ErrorCode::NotFound,
        EntryError::Refused { obstacle: Obstacle::InUse, .. }
        | EntryError::Kept(_)
        | EntryError::MovedAnother
        | EntryError::Contended => ErrorCode::Contended,
        EntryError::Refused { .. } | EntryError::Open(OpenError::PermissionDenied) => {
            ErrorCode::PermissionDenied
        }
        EntryError::Open(OpenError::Denied) => ErrorCode::PathDenied,
        EntryError::NotComparable | EntryError::NotReplaceable => ErrorCode::NotFile,
        EntryError::OtherKind => ErrorCode::Stale,
        EntryError::FileInTheWay => ErrorCode::NotDirectory,
        EntryError::Exists { .. } => ErrorCode::AlreadyExists,
        EntryError::NotEmpty { .. } => ErrorCode::NotEmpty,
        EntryError::Same => ErrorCode::NoChange,
        EntryError::OtherDevice => ErrorCode::CrossDevice,
        EntryError::Write(error) => code_of_write(error),
        EntryError::System(error) => code_of_refusal(error),
        EntryError::Unfinished { because, .. } => code_of(because),
        EntryError::Open(_) | EntryError::Unsynced(_) | EntryError::Cancelled => {
            ErrorCode::Internal
        }
    }
}

fn sentence_of(error: &EntryError) -> String {
    match error {
        EntryError::Exists { standing: EntryKind::Folder, .. } => "a folder stands there".to_owned(),
        EntryError::Exists {
            standing: EntryKind::File | EntryKind::Link,
            moved: EntryKind::Folder,
        } => {
            "a file or link exists there, and a folder replaces nothing; choose another path".to_owned()
        }
        EntryError::Exists { standing: EntryKind::File | EntryKind::Link, .. } => {
            "a file or link exists there; set overwrite to true to replace it".to_owned()
        }
        EntryError::System(error) if code_of_refusal(error) == ErrorCode::PermissionDenied => {
            "permission denied: the process may not write to the file, or not change the folder that holds it"
                .to_owned()
        }
        EntryError::NotEmpty { entries } => format!(
            "the folder holds {entries} {}; set recursive to true to delete it with all that it holds",
            if *entries == 1 { "entry" } else { "entries" }
        ),
        EntryError::NotComparable => {
            "expected_hash is the hash of a file's bytes, but no regular file stands there"
                .to_owned()
        }
        EntryError::OtherKind => "an entry of another kind than expected_kind stands there, so it has changed since: look again"
                .to_owned(),
        EntryError::NamesFolder => {
            "to ends in `/`, but what is moved is not a folder; give the new path itself".to_owned()
        }
        EntryError::Write(WriteError::TooLargeToCompare) => format!(
            "the file is too large to be compared with expected_hash: the limit is {MAX_COMPARED_BYTES} bytes \
             (64 MiB)"
        ),
        EntryError::Write(WriteError::Unreadable) => {
            "the file may not be read, and so cannot be compared with expected_hash".to_owned()
        }
        error => error.to_string(),
    }
}

/// Adds similar existing paths to the failure `NOT_FOUND`. Leaves every other failure as it is.
pub(super) fn with_near_misses(
    failure: Failure,
    sandbox: &Sandbox,
    given: &str,
    path: &WorkspacePath,
) -> Failure {
    if failure.code() != ErrorCode::NotFound {
        return failure;
    }
    failure.suggesting(&near_misses(sandbox, given, path))
}

/// `STALE`, with the hash that the file has.
pub(super) fn stale(present: &Sha256Digest) -> Failure {
    let sentence =
        "the file has changed since it was read, so its hash is not expected_hash: read it again";
    Failure::new(ErrorCode::Stale, sentence).with("sha256", Detail::Text(hash::to_hex(present)))
}

/// `CONTENDED`, where the file was another in every attempt.
pub(super) fn contended() -> Failure {
    Failure::new(ErrorCode::Contended, "other programs keep changing the file; try again")
}

/// Reads the file at a path for the failure of a comparison: `STALE` with the present hash, `CONTENDED` if that is
/// the expected one again, or the failure of the read. `cancelled` is asked every 64 KiB.
fn failure_of_mismatch(
    sandbox: &Sandbox,
    path: &WorkspacePath,
    expected: Option<Sha256Digest>,
    cancelled: &dyn Fn() -> bool,
) -> Failure {
    let mut file = match sandbox.open_file(path) {
        Ok(file) => file,
        Err(error) => return error.into(),
    };
    let mut pieces = Sha256Pieces::default();
    let read = file.read_pieces(0, &mut |piece| {
        pieces.add(piece);
        if cancelled() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    match read {
        Err(error) => error.into(),
        Ok(()) if cancelled() => Failure::cancelled(),
        Ok(()) => {
            let present = pieces.digest();
            if expected == Some(present) { contended() } else { stale(&present) }
        }
    }
}
