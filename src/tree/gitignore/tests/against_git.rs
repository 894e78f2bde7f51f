//! Random trees and patterns, on which Git itself is asked.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use tempfile::TempDir;

use crate::sandbox::Sandbox;
use crate::tools::snapshot::{BUILD_ARTIFACTS, SnapshotOptions, workspace_snapshot};

/// A file or folder to make, by its path.
type Made = (String, bool);

#[derive(Debug)]
struct Case {
    /// Paths, and whether each is a folder.
    tree: Vec<Made>,
    /// Folders, by their paths, and the lines of their `.gitignore`.
    ignore_files: Vec<(String, String)>,
}

fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("a"),
        Just("b"),
        Just("c"),
        Just("ab"),
        Just("abc"),
        Just("a.b"),
        Just(".c"),
        Just("a b"),
        Just("b "),
        Just("!a"),
        Just("#a"),
        Just("[a]"),
        Just("a*"),
        Just("a\\b"),
        Just("-"),
        Just("]"),
        Just("é"),
        Just("A1"),
        Just("{a,b}"),
        Just("a,b"),
    ]
    .prop_map(str::to_owned)
}

fn path() -> impl Strategy<Value = String> {
    prop::collection::vec(name(), 1..4).prop_map(|names| names.join("/"))
}

fn line() -> impl Strategy<Value = String> {
    let token = prop_oneof![
        4 => Just("a"), 2 => Just("b"), 1 => Just("c"), 3 => Just("*"), 2 => Just("**"),
        4 => Just("/"), 2 => Just("**/"), 1 => Just("/**"), 1 => Just("?"), 1 => Just("[ab]"),
        1 => Just("[!a]"), 1 => Just("[a-c]"), 1 => Just("[[:alpha:]]"), 1 => Just("[[:punct:]]"),
        1 => Just("["), 1 => Just("]"), 1 => Just("\\"), 1 => Just("-"), 1 => Just(" "),
        1 => Just("!"), 1 => Just("^"), 1 => Just(":"), 1 => Just("#"), 1 => Just("."),
        1 => Just("é"), 1 => Just("\r"), 1 => Just("[a/b]"),
        1 => Just("{"), 1 => Just("}"), 1 => Just(","), 1 => Just("{a,b}"), 1 => Just("[-a]"),
        1 => Just("[]a]"), 1 => Just("[!]a-]"), 1 => Just("[!!]"),
        1 => Just("[^a-]"), 1 => Just("[[:punct:][:upper:]]"), 1 => Just("[!^]"),
    ];
    let start = prop_oneof![6 => Just(""), 2 => Just("!"), 1 => Just("/"), 1 => Just("!/")];
    let random = prop::collection::vec(token, 1..6).prop_map(|tokens: Vec<&str>| tokens.concat());
    // One that surely is about the tree, too.
    let about = prop_oneof![3 => random, 1 => path(), 1 => path().prop_map(|path| path + "/")];
    (start, about)
        .prop_map(|(start, line)| read_alike(&without_wide_classes(&format!("{start}{line}"))))
}

/// A class with some characters beyond ASCII is said and not heeded, so git is not asked about it.
fn without_wide_classes(line: &str) -> String {
    match line.split_once('[') {
        Some((before, class)) => format!("{before}[{}", class.replace('é', "e")),
        None => line.to_owned(),
    }
}

/// A line without what the `ignore` crate reads otherwise than Git; `what_differs_from_git` has that.
fn read_alike(line: &str) -> String {
    let mut line = line.to_owned();
    while line.contains("***") {
        line = line.replace("***", "**");
    }
    if line.contains('[') { line.replace('\\', "") } else { line.replace("\\/", "/") }
}

fn lines() -> impl Strategy<Value = String> {
    prop::collection::vec(line(), 1..5).prop_map(|lines| lines.join("\n"))
}

fn case() -> impl Strategy<Value = Case> {
    let tree = prop::collection::vec((path(), any::<bool>()), 1..25);
    let ignore_files = (lines(), prop::collection::vec((path(), lines()), 0..3));
    (tree, ignore_files).prop_map(|(tree, (root, mut ignore_files))| {
        ignore_files.push((String::new(), root));
        Case { tree, ignore_files }
    })
}

/// Makes what can be made of a tree: where a file stands, no folder does.
fn make(root: &Path, case: &Case) {
    for (path, is_folder) in &case.tree {
        let path = root.join(path);
        if *is_folder {
            let _ = fs::create_dir_all(&path);
        } else {
            let _ = path.parent().map(fs::create_dir_all);
            let _ = fs::write(&path, "");
        }
    }
    for (folder, lines) in &case.ignore_files {
        let folder = root.join(folder);
        let _ = fs::create_dir_all(&folder);
        let _ = fs::write(folder.join(".gitignore"), lines);
    }
}

/// Every path beneath a folder; those of folders end in `/`.
fn walk(root: &Path, folder: &str, found: &mut Vec<String>) {
    for entry in fs::read_dir(root.join(folder)).unwrap() {
        let entry = entry.unwrap();
        let path = format!("{folder}{}", entry.file_name().to_str().unwrap());
        if entry.file_type().unwrap().is_dir() {
            if !BUILD_ARTIFACTS.iter().any(|name| entry.file_name() == *name) {
                walk(root, &format!("{path}/"), found);
                found.push(path + "/");
            }
        } else {
            found.push(path);
        }
    }
}

/// A repository of Git beside the trees that it is asked about.
struct Git(TempDir);

impl Git {
    fn new() -> Self {
        let repository = tempfile::tempdir().unwrap();
        let mut init = Command::new("git");
        init.args(["init", "--quiet", "--bare"]).arg(repository.path());
        assert!(init.status().unwrap().success());
        Self(repository)
    }

    /// Which of the paths beneath a root it does not ignore.
    fn keeps(&self, root: &Path, paths: Vec<String>) -> BTreeSet<String> {
        let mut git = Command::new("git")
            .arg("--git-dir")
            .arg(self.0.path())
            .arg("--work-tree")
            .arg(root)
            .args(["check-ignore", "--no-index", "--stdin", "-z"])
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .current_dir(root)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut asked = git.stdin.take().unwrap();
        for path in &paths {
            asked.write_all(path.trim_end_matches('/').as_bytes()).unwrap();
            asked.write_all(b"\0").unwrap();
        }
        drop(asked);
        let answer = git.wait_with_output().unwrap();
        // 1: nothing is ignored.
        assert!(matches!(answer.status.code(), Some(0 | 1)), "{answer:?}");
        let ignored: BTreeSet<&[u8]> = answer.stdout.split(|&byte| byte == 0).collect();
        let is_kept = |path: &String| !ignored.contains(path.trim_end_matches('/').as_bytes());
        paths.into_iter().filter(is_kept).collect()
    }
}

/// A shown path's backslashes, of which every name here that has any has only plain ones.
fn unescape(shown: &str) -> String {
    shown.replace("\\\\", "\\").replace("\\u{20}", " ")
}

#[test]
fn git_ignores_the_same() {
    let git = Git::new();
    // A fifth, since each case makes a tree and starts a program.
    let cases = ProptestConfig::default().cases / 5;
    let mut runner = TestRunner::new(ProptestConfig::with_cases(cases));
    let checked = runner.run(&case(), |case| {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path();
        make(root, &case);
        let mut paths = Vec::new();
        walk(root, "", &mut paths);
        let expected = git.keeps(root, paths);

        let sandbox = Sandbox::open(root).unwrap();
        let options = SnapshotOptions { gitignore: true, ..SnapshotOptions::default() };
        let snapshot = workspace_snapshot(&sandbox, &options, &|| false).unwrap();
        let shown: BTreeSet<_> = snapshot.entries.iter().map(|path| unescape(path)).collect();
        prop_assert_eq!(shown, expected);
        Ok(())
    });
    checked.unwrap();
}
