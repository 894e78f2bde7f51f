//! Resolving a model's path by its spelling alone, for hosts that want an absolute path.
//!
//! ```
//! use ringfence::tools::resolve_path::resolve_path;
//!
//! assert_eq!(resolve_path("/work", "src/./a.txt")?, "/work/src/a.txt");
//! assert!(resolve_path("/work", "../a.txt").is_err());
//! # Ok::<(), ringfence::tools::read_file::ReadFileError>(())
//! ```

use super::read_file::ReadFileError;
use crate::path::WorkspacePath;
use crate::path::spelled_root::{part_beneath, spells_root};

/// The absolute path beneath `root` that a path stands for. Nothing is looked up, so a link may still
/// lead out. A final separator, which asks for a folder, is kept as `/`.
///
/// # Errors
///
/// The [`ReadFileError`] of a path whose spelling is refused.
pub fn resolve_path(root: &str, path: &str) -> Result<String, ReadFileError> {
    let located =
        WorkspacePath::parse_allowing_absolute(path, |absolute| part_beneath(absolute, root))
            .map_err(|refusal| {
                ReadFileError::new(refusal, Some(path)).hiding(|text| spells_root(text, root))
            })?;
    let base = root.trim_end_matches(std::path::is_separator);
    if located.is_root() {
        return Ok(if base.is_empty() { "/".to_owned() } else { base.to_owned() });
    }
    let end = if located.must_be_directory() { "/" } else { "" };
    Ok(format!("{base}/{}{end}", located.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_joined_to_the_root() {
        let resolved = |root, path| resolve_path(root, path).unwrap();
        assert_eq!(resolved("/work/a", "src/b.txt"), "/work/a/src/b.txt");
        assert_eq!(resolved("/work/a/", "/work/a/src/"), "/work/a/src/");
        assert_eq!(resolved("/work/a", "."), "/work/a");
        assert_eq!(resolved("/", "."), "/");
        assert_eq!(resolved("/", "a"), "/a");
    }

    #[test]
    fn a_refused_path_does_not_show_the_root() {
        let error = resolve_path("/one/two/three", "/one/two/three/../../a").unwrap_err();
        assert!(!error.to_string().contains("two"), "{error}");
    }
}
