//! Absolute paths of a host: which of them lie beneath the root.

use std::path::Path;

use super::super::native;
use super::handle::Directory;

/// The part of a host's absolute path that lies beneath a root, if it does.
///
/// Until the root is entered, `..` counts by its spelling, as everywhere in a path. The caller parses
/// the part that comes after the root, and refuses one that leaves again.
pub(crate) fn part_beneath(root: &Directory, spelling: &Path, absolute: &str) -> Option<String> {
    // A name of the root may hold a backslash: its own spelling is inside.
    if let Some(rest) = spelling.to_str().and_then(|root| absolute.strip_prefix(root))
        && rest.starts_with(['/', '\\'])
    {
        return Some(rest.trim_start_matches(['/', '\\']).to_owned());
    }
    let absolute = absolute.replace('\\', "/");
    let root_names = native::root_names(root, spelling, &absolute)?;
    let mut names = Vec::new();
    let mut rest = absolute.as_str();
    loop {
        if names == root_names {
            return Some(rest.to_owned());
        }
        let (component, after) = rest.split_once('/').unwrap_or((rest, ""));
        match component {
            "" | "." => {}
            ".." => {
                names.pop();
            }
            name => names.push(name),
        }
        if after.is_empty() && names != root_names {
            return None;
        }
        rest = after;
    }
}
