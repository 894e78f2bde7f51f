//! The system's paths, by their spelling alone.

use std::path::{Component, Path, PathBuf};

/// A path without its `.` and `..` components. Where a `..` follows a link, the result may name
/// another file than the path does.
pub(super) fn without_dots(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            component => plain.push(component),
        }
    }
    plain
}
