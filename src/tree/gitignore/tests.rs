//! The examples of gitignore(5).

use super::*;
use std::path::Path;

use crate::glob::Verdict;
use crate::tree::pattern_list::PatternListBuilder;

/// Whether the lines of a root's `.gitignore` ignore a path; that of a folder ends in `/`.
fn ignores(lines: &str, path: &str) -> bool {
    let mut list = PatternListBuilder::new(Path::new(""));
    for pattern in super::lines(lines.as_bytes()).flat_map(|line| patterns_of(line).unwrap()) {
        let _ = list.push(&pattern);
    }
    let (list, finished) = list.finish();
    finished.unwrap();
    let (path, is_folder) = path.strip_suffix('/').map_or((path, false), |folder| (folder, true));
    list.decide(Path::new(path), is_folder, &|| false) == Some(Verdict::Selected)
}

#[test]
fn a_pattern_without_a_slash_is_about_names_at_any_depth() {
    assert!(ignores("*.o", "a.o"));
    assert!(ignores("*.o", "deep/down/a.o"));
    assert!(!ignores("*.o", "a.c"));
    assert!(ignores("foo", "a/foo"));
    assert!(!ignores("foo", "a/foobar"));
}

#[test]
fn a_pattern_with_a_slash_is_about_paths() {
    assert!(ignores("/foo", "foo"));
    assert!(!ignores("/foo", "a/foo"));
    assert!(ignores("a/b", "a/b"));
    assert!(!ignores("a/b", "c/a/b"));
    assert!(ignores("foo/*", "foo/test.json"));
    assert!(!ignores("foo/*", "foo/bar/hello.c"));
}

#[test]
fn a_slash_at_the_end_is_about_folders() {
    assert!(ignores("frotz/", "a/frotz/"));
    assert!(!ignores("frotz/", "a/frotz"));
    assert!(ignores("doc/frotz/", "doc/frotz/"));
    assert!(!ignores("doc/frotz/", "a/doc/frotz/"));
}

#[test]
fn two_stars_span_folders() {
    assert!(ignores("**/foo/bar", "foo/bar"));
    assert!(ignores("**/foo/bar", "a/b/foo/bar"));
    assert!(ignores("abc/**", "abc/d/e"));
    assert!(!ignores("abc/**", "abc/"));
    for path in ["a/b", "a/x/b", "a/x/y/b"] {
        assert!(ignores("a/**/b", path), "{path}");
    }
    assert!(!ignores("a/**/b", "ab"));
}

#[test]
fn two_stars_after_a_text_span_folders_too() {
    for path in ["ab", "ax/b", "ax/y/b", "a/b", "a/x/b"] {
        assert!(ignores("a**/b", path), "{path}");
        assert!(!ignores("*\n!/a**/b", path), "{path}");
    }
    assert!(!ignores("a**/b", "x/ab"));
    assert!(ignores("x/a**/b/", "x/ay/b/"));
    assert!(!ignores("?a**/b", "xay/z/b"));
    assert!(ignores("a**/", "x/ab/"));
    assert!(ignores("x/a**/", "x/ab/"));
    assert!(!ignores("x/a**/", "x/a"));
}

#[test]
fn two_slashes_at_the_end_match_nothing() {
    for path in ["a/", "x/a/", "a/x/"] {
        assert!(!ignores("**//\na//\n/*//  ", path), "{path}");
    }
    assert!(ignores("a**//", "a/"));
}

#[test]
fn the_last_pattern_decides() {
    let lines = "/*\n!/foo\n/foo/*\n!/foo/bar\n";
    assert!(ignores(lines, "other"));
    assert!(!ignores(lines, "foo/"));
    assert!(ignores(lines, "foo/x"));
    assert!(!ignores(lines, "foo/bar"));
}

#[test]
fn comments_escapes_and_spaces() {
    assert!(!ignores("#a", "#a"));
    assert!(ignores("\\#a", "#a"));
    assert!(ignores("\\!a", "!a"));
    assert!(ignores("a  ", "a"));
    assert!(ignores("a\\ ", "a "));
    assert!(ignores("\u{feff}a\r\nb\r\n", "a"));
    assert!(ignores("a\r\nb\r", "b"));
    assert!(!ignores("\n\r\n \n!\n/\n//\n", "a"));
}

#[test]
fn brackets() {
    assert!(ignores("[a-c]x", "bx"));
    assert!(!ignores("[!a-c]x", "bx"));
    assert!(ignores("[^a]x", "bx"));
    assert!(ignores("[]-]", "]"));
    assert!(ignores("[a-]", "-"));
    assert!(ignores("[[:digit:]]", "7"));
    assert!(!ignores("[[:nope:]]", "n"));
    assert!(!ignores("a[b/c]d", "a/d"));
    assert!(!ignores("/a[!x]b", "a/b"));
    // One that is not closed matches nothing, not even itself.
    assert!(!ignores("[a", "[a"));
}

/// Where the `ignore` crate reads a line otherwise than Git.
#[test]
fn what_differs_from_git() {
    // Git: a backslash within brackets escapes, so this is `]` or `a`.
    assert!(!ignores("[\\]a]", "a"));
    // Git: a backslash before the last slash leaves a pattern that matches nothing.
    assert!(ignores("a\\/", "a/"));
    // Git: an escaped slash after `**` spans folders too.
    assert!(!ignores("**\\/b", "a/x/b"));
    // Git: three stars between slashes are as two.
    assert!(!ignores("a/***/b", "a/x/y/b"));
}

#[test]
fn no_pattern_takes_for_ever() {
    let name = "a".repeat(255);
    assert!(!ignores(&("*a".repeat(100) + "b"), &name));
    let path = "a/".repeat(2000) + "a";
    assert!(!ignores(&("**/".repeat(60) + "b"), &path));
    assert!(!ignores(&("**/*a".repeat(60) + "/b"), &path));
}

/// Not on Windows, which has not these names.
#[cfg(unix)]
mod against_git;
