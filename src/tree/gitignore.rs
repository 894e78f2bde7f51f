//! The lines of `.gitignore` files (gitignore(5)), made ready for the `ignore` crate.
//!
//! The crate reads a line as Git does, but for a few cases: `{` and `}` are escaped here, because
//! Git has no alternatives; lines begin and end as in Git. The lines that the crate still reads
//! otherwise than Git are listed in `docs/workspace-snapshot.md`, and `what_differs_from_git` in
//! `tests.rs` pins them.

use super::patterns::has_class_beyond_ascii;

/// The longest line with wildcards, in bytes. Names have 255.
const MAX_GLOB_BYTES: usize = 4096;

/// A line that may match something and is not heeded: it is not UTF-8, has a class of characters
/// beyond ASCII, or is too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct UnsupportedLine;

/// The lines of a file.
pub(super) fn lines(file: &[u8]) -> impl Iterator<Item = &[u8]> {
    file.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(file).split(|&byte| byte == b'\n')
}

/// The pattern of a line; `None` if it is blank or a comment.
pub(super) fn pattern_of(line: &[u8]) -> Result<Option<String>, UnsupportedLine> {
    if line.starts_with(b"#") {
        return Ok(None);
    }
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    // Git's lines are C strings.
    let line = line.split(|&byte| byte == 0).next().unwrap_or(line);
    if line.iter().all(|&byte| byte == b' ') {
        return Ok(None);
    }
    let line = std::str::from_utf8(line).map_err(|_| UnsupportedLine)?;
    let has_wildcard = line.contains(['*', '?', '[']);
    if has_wildcard && (line.len() > MAX_GLOB_BYTES || has_class_beyond_ascii(line)) {
        return Err(UnsupportedLine);
    }
    Ok(Some(with_literal_braces(line)))
}

/// Escapes braces that are not escaped yet.
fn with_literal_braces(line: &str) -> String {
    let mut escaped = String::with_capacity(line.len());
    let mut is_escaped = false;
    for character in line.chars() {
        if matches!(character, '{' | '}') && !is_escaped {
            escaped.push('\\');
        }
        is_escaped = character == '\\' && !is_escaped;
        escaped.push(character);
    }
    escaped
}

#[cfg(test)]
mod tests;
