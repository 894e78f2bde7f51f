//! The arguments that walking tools share: the folder at which a walk begins, and globs.

use std::path::Path;

use super::failure::{ErrorCode, Failure};
use super::near_miss::near_misses;
use crate::deadline::Stop;
use crate::path::{Printable, WorkspacePath};
use crate::sandbox::{OpenError, Sandbox};
use crate::tree::{Case, GlobFlaw, Globs};

/// Longer globs are not quoted.
const MAX_QUOTED_BYTES: usize = 200;

/// The folder that an argument names; the root without it.
pub fn locate(
    sandbox: &Sandbox,
    argument: &str,
    given: Option<&str>,
) -> Result<WorkspacePath, Failure> {
    let Some(given) = given else { return Ok(WorkspacePath::root()) };
    sandbox.locate(given).map_err(|refusal| {
        if sandbox.is_gone() {
            return Failure::from(OpenError::RootGone).at(".");
        }
        Failure::of_spelling(refusal, argument, given).hiding_root_of(sandbox)
    })
}

/// The failure of a walk whose folder cannot be opened. `given` is the argument as it came.
pub fn folder_failure(
    sandbox: &Sandbox,
    argument: &str,
    given: Option<&str>,
    path: &WorkspacePath,
    error: OpenError,
) -> Failure {
    let missing = || with_near_folders(sandbox, given.unwrap_or_default(), path);
    match error {
        OpenError::NotFound => missing(),
        OpenError::NotFolder => not_folder(sandbox, argument, path).unwrap_or_else(missing),
        error => error.into(),
    }
}

/// The failure where a file or special file stands at the path; `None` if nothing does.
fn not_folder(sandbox: &Sandbox, argument: &str, path: &WorkspacePath) -> Option<Failure> {
    // Without a final `/`, which asks for a folder.
    let path = WorkspacePath::parse_beneath(path.as_str()).ok()?;
    let kind = match sandbox.open_file(&path) {
        Err(OpenError::NotFound | OpenError::NotFolder) => return None,
        Err(OpenError::SpecialFile) => "a FIFO, socket or device",
        _ => "a file",
    };
    Some(Failure::new(ErrorCode::NotDirectory, format!("{argument} is {kind}, not a folder")))
}

fn with_near_folders(sandbox: &Sandbox, given: &str, path: &WorkspacePath) -> Failure {
    let mut near = near_misses(sandbox, given, path);
    near.retain(|near| near.ends_with('/'));
    missing("no such folder", &near)
}

/// The failure where nothing stands at the path, neither a folder nor a file.
pub fn not_found(sandbox: &Sandbox, given: &str, path: &WorkspacePath) -> Failure {
    missing("no such file or folder", &near_misses(sandbox, given, path))
}

fn missing(sentence: &str, near: &[String]) -> Failure {
    Failure::new(ErrorCode::NotFound, sentence).suggesting(near)
}

/// The failure of a call that had to stop. `advice` says how it takes less time.
pub fn stopped(stop: Stop, advice: &str) -> Failure {
    match stop {
        Stop::Cancelled => Failure::cancelled(),
        Stop::TimedOut => Failure::new(ErrorCode::Timeout, advice),
        Stop::TooCostly => Failure::new(
            ErrorCode::Timeout,
            "the pattern takes too many steps at one place of a text, and more time would not help: use a \
             simpler pattern, or search fewer files with root_path or include",
        ),
    }
}

/// Whether a text is the path of an item, which an `after` holds. A name may hold whatever the system
/// allows in one, also a backslash.
pub fn is_item_path(path: &str) -> bool {
    path.split('/').all(|name| !matches!(name, "" | "." | "..") && !name.contains('\0'))
}

/// The failure of an `after` that was no `next`.
pub fn no_next() -> Failure {
    let sentence = "after must be the `next` of an answer, to the letter";
    Failure::new(ErrorCode::InvalidArgument, sentence)
}

/// Parses the globs of an argument. They are relative to `base`, a folder of the workspace.
pub fn parse_globs(
    sandbox: &Sandbox,
    argument: &str,
    base: &str,
    list: &[String],
    case: Case,
) -> Result<Globs, Failure> {
    Globs::parse_for(sandbox, Path::new(base), list, case).map_err(|error| match error.index {
        Some(index) => {
            let place = format!("{argument}[{index}]");
            glob_failure(sandbox, &place, list.get(index), error.flaw)
        }
        None => glob_failure(sandbox, argument, None, error.flaw),
    })
}

/// Parses one glob, of which `argument` names the place.
pub fn parse_glob(
    sandbox: &Sandbox,
    argument: &str,
    base: &str,
    glob: &String,
    case: Case,
) -> Result<Globs, Failure> {
    Globs::parse_for(sandbox, Path::new(base), std::slice::from_ref(glob), case)
        .map_err(|error| glob_failure(sandbox, argument, Some(glob), error.flaw))
}

fn glob_failure(sandbox: &Sandbox, place: &str, glob: Option<&String>, flaw: GlobFlaw) -> Failure {
    let is_quotable = |glob: &&String| {
        (1..=MAX_QUOTED_BYTES).contains(&glob.len()) && !sandbox.is_spelled_in(glob)
    };
    let got = glob.filter(is_quotable).map(|glob| format!(", got {}", Printable(glob)));
    let got = got.unwrap_or_default();
    match flaw {
        GlobFlaw::Outside => {
            let sentence = format!("{place} must not lead out of the workspace{got}");
            Failure::new(ErrorCode::SandboxViolation, sentence)
        }
        GlobFlaw::Malformed(rule) => {
            Failure::new(ErrorCode::InvalidArgument, format!("{place} {rule}{got}"))
        }
    }
}
