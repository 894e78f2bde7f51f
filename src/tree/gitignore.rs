//! The lines of `.gitignore` files (gitignore(5)), made ready for the `ignore` crate.
//!
//! The crate reads a line as Git does, but for a few cases: `{` and `}` are escaped here, because
//! Git has no alternatives; lines begin and end as in Git; `x**/y` spans folders, as in Git. The lines
//! that the crate still reads otherwise than Git are listed in `docs/workspace-snapshot.md`, and `what_differs_from_git` in
//! `tests.rs` pins them.

use crate::glob::has_class_beyond_ascii;

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

/// The patterns of a line: none if it is blank, a comment, or matches nothing; two for [`spanning`].
pub(super) fn patterns_of(line: &[u8]) -> Result<Vec<String>, UnsupportedLine> {
    if line.starts_with(b"#") {
        return Ok(Vec::new());
    }
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    // Git's lines are C strings.
    let line = line.split(|&byte| byte == 0).next().unwrap_or(line);
    if line.iter().all(|&byte| byte == b' ') {
        return Ok(Vec::new());
    }
    let line = std::str::from_utf8(line).map_err(|_| UnsupportedLine)?;
    let has_wildcard = line.contains(['*', '?', '[']);
    if has_wildcard && (line.len() > MAX_GLOB_BYTES || has_class_beyond_ascii(line)) {
        return Err(UnsupportedLine);
    }
    let patterns = spanning(line).unwrap_or_else(|| vec![line.to_owned()]);
    // Git takes one slash from the end, and no path has another one there.
    let can_match = |pattern: &String| !pattern.trim_end_matches(' ').ends_with("//");
    Ok(patterns
        .iter()
        .filter(|pattern| can_match(pattern))
        .map(|it| with_literal_braces(it))
        .collect())
}

/// The two patterns that mean the same as `x**/y`, for a text `x` without wildcards.
///
/// Git compares the text before the first wildcard by itself, and matches the rest of the pattern with the rest
/// of the path (`match_pathname` in its `dir.c`). So the stars stand at the start of a pattern, where they span
/// folders.
fn spanning(line: &str) -> Option<Vec<String>> {
    let (sign, pattern) = line.strip_prefix('!').map_or(("", line), |pattern| ("!", pattern));
    let pattern = pattern.strip_prefix('/').unwrap_or(pattern);
    let (text, rest) = pattern.split_at(pattern.find(['*', '?', '[', '\\'])?);
    let rest = rest.strip_prefix("**")?.strip_prefix('/')?;
    // The last slash of a line says that the pattern is about folders.
    let is_end = rest.trim_end_matches(' ').is_empty();
    if text.is_empty() || text.ends_with('/') || is_end {
        return None;
    }
    Some(vec![format!("{sign}/{text}{rest}"), format!("{sign}/{text}*/**/{rest}")])
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
