//! Absolute paths and link targets, by their spelling alone.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path};

use crate::sandbox::entry::Step;

/// The steps of an absolute path beneath a root that is spelled without `..`; `None` if the path is
/// not spelled inside.
pub(crate) fn steps_beneath(root: &Path, absolute: &Path) -> Option<Vec<Step>> {
    strip_root(root, absolute.as_os_str().as_bytes()).map(steps)
}

/// The steps of a link's target. Unlike [`Path::components`] this keeps a trailing `/` or `.`:
/// with one of those the system refuses a file.
pub(super) fn steps(target: &OsStr) -> Vec<Step> {
    let bytes = target.as_bytes();
    let mut steps: Vec<Step> = bytes
        .split(|&byte| byte == b'/')
        .filter(|component| !component.is_empty())
        .map(|component| match component {
            b"." => Step::Stay,
            b".." => Step::Up,
            name => Step::Into(OsStr::from_bytes(name).to_owned()),
        })
        .collect();
    if bytes.ends_with(b"/") || steps.is_empty() {
        steps.push(Step::Stay);
    }
    steps
}

/// The part of an absolute path beneath a root that is spelled without `..`. The two are compared
/// component by component, so that `/ws` is no prefix of `/ws-evil`. Empty and `.` components are
/// skipped. A `..` before the root ends matches nothing.
fn strip_root<'path>(root: &Path, absolute: &'path [u8]) -> Option<&'path OsStr> {
    let mut rest = absolute.strip_prefix(b"/")?;
    for component in root.components() {
        let Component::Normal(expected) = component else {
            continue;
        };
        loop {
            let end = memchr::memchr(b'/', rest).unwrap_or(rest.len());
            let (name, after) = rest.split_at(end);
            rest = after.strip_prefix(b"/").unwrap_or(after);
            match name {
                b"" | b"." if !after.is_empty() => {}
                name if name == expected.as_bytes() => break,
                _ => return None,
            }
        }
    }
    Some(OsStr::from_bytes(rest))
}

/// The names of a path without `..`.
pub(crate) fn names(path: &Path) -> Option<Vec<&str>> {
    path.components()
        .filter_map(|component| match component {
            Component::Normal(name) => Some(name.to_str()),
            _ => None,
        })
        .collect()
}
