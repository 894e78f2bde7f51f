//! `tree` against a model that lists folders by their paths, one after the other.

use std::fs;
use std::path::Path;

use proptest::prelude::*;
use tempfile::TempDir;

use super::*;

fn workspace(files: &[&str]) -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    for file in files {
        make(directory.path(), file);
    }
    directory
}

/// Makes a file, a folder if the path ends in `/`, or a link if it ends in `@`.
fn make(root: &Path, path: &str) {
    let at = root.join(path.trim_end_matches('@'));
    if path.ends_with('/') {
        let _ = fs::create_dir_all(at);
        return;
    }
    let _ = at.parent().map(fs::create_dir_all);
    #[cfg(unix)]
    if path.ends_with('@') {
        let _ = std::os::unix::fs::symlink("..", at);
        return;
    }
    let _ = if at.is_dir() { Ok(()) } else { fs::write(at, "") };
}

fn all() -> TreeOptions {
    TreeOptions { all_kinds: true, max_depth: 12, max_entries: 1000, ..TreeOptions::default() }
}

/// Makes a tree on both tiers: one answer.
fn grown(root: &Path, path: Option<&str>, options: &TreeOptions) -> Result<Tree, Failure> {
    let both = [Sandbox::open(root).unwrap(), Sandbox::open_walking(root).unwrap()];
    let [one, other] = both.map(|sandbox| tree(&sandbox, path, options, &|| false));
    assert_eq!(one, other, "both tiers give the same tree");
    one
}

/// The nodes, depth first: `path` of a file, `path/` of a folder, `path/…` of one that is truncated,
/// `path@` of a link.
fn lines(tree: &Tree) -> Vec<String> {
    fn visit(node: &Node, lines: &mut Vec<String>) {
        assert_eq!(node.name, last_name(&node.path));
        let end = match &node.content {
            Content::Folder(Some(_)) => "/",
            Content::Folder(None) => "/…",
            Content::File => "",
            Content::Link => "@",
        };
        lines.push(format!("{}{end}", node.path));
        let Content::Folder(Some(children)) = &node.content else { return };
        for child in children {
            assert_eq!(child.depth, node.depth + 1);
            visit(child, lines);
        }
    }
    let mut all = Vec::new();
    visit(&tree.root, &mut all);
    assert_eq!(tree.root.depth, 0);
    assert_eq!(tree.node_count(), all.len() as u64);
    all
}

fn lines_of(root: &Path, path: Option<&str>, options: &TreeOptions) -> Vec<String> {
    lines(&grown(root, path, options).unwrap())
}

fn code(root: &Path, path: &str, options: &TreeOptions) -> &'static str {
    grown(root, Some(path), options).unwrap_err().code().as_str()
}

#[test]
fn folders_come_first_then_files_then_links_and_each_folder_before_its_neighbour() {
    let ws = workspace(&["b/x", "b/y/z", "a.txt", "c/", "Z", "é/", "b-/"]);
    assert_eq!(
        lines_of(ws.path(), None, &all()),
        ["./", "b/", "b/y/", "b/y/z", "b/x", "b-/", "c/", "é/", "Z", "a.txt"]
    );
    let folders = TreeOptions { all_kinds: false, ..all() };
    let tree = grown(ws.path(), None, &folders).unwrap();
    assert_eq!(lines(&tree), ["./", "b/", "b/y/", "b-/", "c/", "é/"]);
    assert_eq!((tree.total_dirs, tree.total_files, tree.total_symlinks), (6, 0, 0));
}

#[test]
fn the_depth_ends_with_folders_that_are_truncated_whatever_they_hold() {
    let ws = workspace(&["a/b/c/d", "e/", "f"]);
    let of_depth = |max_depth| lines_of(ws.path(), None, &TreeOptions { max_depth, ..all() });
    assert_eq!(of_depth(0), ["./…"]);
    assert_eq!(of_depth(1), ["./", "a/…", "e/…", "f"]);
    assert_eq!(of_depth(2), ["./", "a/", "a/b/…", "e/", "f"]);
    assert_eq!(of_depth(12), ["./", "a/", "a/b/", "a/b/c/", "a/b/c/d", "e/", "f"]);
}

#[test]
fn the_limit_counts_nodes_depth_first_and_is_reached_only_if_there_are_more() {
    let ws = workspace(&["a/b/c", "a/d", "e"]);
    let whole = lines_of(ws.path(), None, &all());
    assert_eq!(whole.len(), 6);
    for max_entries in 1..=7 {
        let tree = grown(ws.path(), None, &TreeOptions { max_entries, ..all() }).unwrap();
        assert_eq!(lines(&tree), whole[..whole.len().min(max_entries)]);
        assert_eq!(tree.limit_reached, max_entries < whole.len(), "{max_entries}");
    }
    // Left-out entries are no more to come.
    let ws = workspace(&["a", "node_modules/x", ".hidden", ".DS_Store"]);
    let tree = grown(ws.path(), None, &TreeOptions { max_entries: 2, ..all() }).unwrap();
    assert_eq!((lines(&tree).len(), tree.limit_reached), (2, false));
}

#[test]
fn default_excludes_and_hidden_names_are_left_out_but_not_the_folder_that_is_named() {
    let excluded = [".git", "node_modules", "dist", "build", "target", ".vscode"];
    let files: Vec<String> = excluded.iter().map(|name| format!("{name}/x")).collect();
    let ws = workspace(&files.iter().map(String::as_str).collect::<Vec<_>>());
    for file in
        [".env", ".DS_Store", "sub/.DS_Store", "sub/dist", ".config/y", "node_modules/a/dist/z"]
    {
        make(ws.path(), file);
    }
    assert_eq!(lines_of(ws.path(), None, &all()), ["./", "sub/", "sub/dist"]);
    let hidden = TreeOptions { include_hidden: true, ..all() };
    let expected = ["./", ".config/", ".config/y", "sub/", "sub/dist", ".env"];
    assert_eq!(lines_of(ws.path(), None, &hidden), expected);
    let expected = [
        "node_modules/",
        "node_modules/a/",
        "node_modules/a/dist/",
        "node_modules/a/dist/z",
        "node_modules/x",
    ];
    assert_eq!(lines_of(ws.path(), Some("node_modules"), &all()), expected);
    assert_eq!(lines_of(ws.path(), Some(".config"), &all()), [".config/", ".config/y"]);
}

#[test]
fn exclude_is_relative_to_the_workspace_and_gitignore_is_heeded_if_asked() {
    let ws = workspace(&["src/a/x.ts", "src/b/x.ts", "src/x.log"]);
    let options = |exclude: &str| TreeOptions { exclude: vec![exclude.to_owned()], ..all() };
    let of = |options: &TreeOptions| lines_of(ws.path(), Some("src"), options);
    assert_eq!(of(&options("/src/a")), ["src/", "src/b/", "src/b/x.ts", "src/x.log"]);
    assert_eq!(of(&options("/a")).len(), 6);
    assert_eq!(of(&options("*.ts")), ["src/", "src/a/", "src/b/", "src/x.log"]);
    fs::write(ws.path().join(".gitignore"), "*.log\n/src/b/\n").unwrap();
    let heeding = TreeOptions { gitignore: true, ..all() };
    assert_eq!(of(&heeding), ["src/", "src/a/", "src/a/x.ts"]);
    assert_eq!(of(&all()).len(), 6);
    assert_eq!(code(ws.path(), "src", &options("../x")), "SANDBOX_VIOLATION");
    assert_eq!(code(ws.path(), "src", &options("[a-")), "INVALID_ARGUMENT");
}

#[test]
fn a_path_that_is_no_folder_is_told_by_what_stands_there() {
    let ws = workspace(&["src/a.ts", "top.ts"]);
    for (path, expected) in [
        ("", "INVALID_ARGUMENT"),
        ("../x", "SANDBOX_VIOLATION"),
        ("/etc", "SANDBOX_VIOLATION"),
        ("scr", "NOT_FOUND"),
        ("top.ts/x", "NOT_FOUND"),
        ("top.ts", "NOT_DIRECTORY"),
    ] {
        for max_depth in [0, 1] {
            let options = TreeOptions { max_depth, ..all() };
            assert_eq!(code(ws.path(), path, &options), expected, "{path:?}");
        }
    }
    let inside = format!("{}/src/", ws.path().to_str().unwrap());
    assert_eq!(lines_of(ws.path(), Some(&inside), &all()), ["src/", "src/a.ts"]);
}

/// The model, by plain recursion over paths.
fn model(root: &Path, path: &str, depth: usize, options: &TreeOptions, lines: &mut Vec<String>) {
    let mut entries: Vec<(u8, Vec<u16>, String)> = Vec::new();
    for entry in fs::read_dir(root.join(path)).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        let kind = entry.file_type().unwrap();
        let rank = if kind.is_dir() { 0 } else { 1 + u8::from(kind.is_symlink()) };
        let is_hidden = name.starts_with('.') && !options.include_hidden;
        let is_excluded = kind.is_dir() && name == "dist" || name == ".git";
        if !is_hidden && !is_excluded && (options.all_kinds || rank == 0) {
            entries.push((rank, name.encode_utf16().collect(), name));
        }
    }
    entries.sort();
    for (rank, _, name) in entries {
        let path = if path.is_empty() { name } else { format!("{path}/{name}") };
        match rank {
            0 if depth + 1 == options.max_depth => lines.push(path + "/…"),
            0 => {
                lines.push(format!("{path}/"));
                model(root, &path, depth + 1, options, lines);
            }
            1 => lines.push(path),
            _ => lines.push(path + "@"),
        }
    }
}

fn files() -> impl Strategy<Value = Vec<String>> {
    let name = prop_oneof![
        5 => "[a-c]{1,2}",
        1 => Just("a-b".to_owned()),
        1 => Just(".a".to_owned()),
        1 => Just(".git".to_owned()),
        1 => Just("dist".to_owned()),
        1 => Just("😀".to_owned()),
        1 => Just("\u{ffee}".to_owned()),
    ];
    let end = prop_oneof![4 => Just(""), 1 => Just("/"), 1 => Just("@")];
    let path =
        (prop::collection::vec(name, 1..6), end).prop_map(|(names, end)| names.join("/") + end);
    prop::collection::vec(path, 0..40)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases / 4))]

    #[test]
    fn a_random_tree_has_the_nodes_that_the_model_lists(
        files in files(),
        all_kinds in any::<bool>(),
        include_hidden in any::<bool>(),
        max_depth in 1_usize..7,
        max_entries in 1_usize..60,
    ) {
        let ws = tempfile::tempdir().unwrap();
        for file in &files {
            make(ws.path(), file);
        }
        let options =
            TreeOptions { all_kinds, max_depth, max_entries, include_hidden, ..all() };
        let mut expected = vec!["./".to_owned()];
        model(ws.path(), "", 0, &options, &mut expected);
        let tree = grown(ws.path(), None, &options).unwrap();
        prop_assert_eq!(tree.limit_reached, expected.len() > max_entries);
        expected.truncate(max_entries);
        prop_assert_eq!(lines(&tree), expected);
    }
}

#[cfg(unix)]
mod unix {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn a_link_is_a_node_and_never_entered_unless_it_is_named() {
        let ws = workspace(&["a/x"]);
        symlink("a", ws.path().join("in")).unwrap();
        symlink("/", ws.path().join("out")).unwrap();
        symlink("nowhere", ws.path().join("dangling")).unwrap();
        let tree = grown(ws.path(), None, &all()).unwrap();
        assert_eq!(lines(&tree), ["./", "a/", "a/x", "dangling@", "in@", "out@"]);
        assert_eq!((tree.total_dirs, tree.total_files, tree.total_symlinks), (2, 1, 3));
        assert_eq!(lines_of(ws.path(), Some("in"), &all()), ["in/", "in/x"]);
        assert_eq!(code(ws.path(), "out", &all()), "SANDBOX_VIOLATION");
        assert_eq!(code(ws.path(), "dangling", &all()), "NOT_FOUND");
    }

    #[test]
    fn special_files_are_passed_over_and_one_that_is_named_is_no_folder() {
        let ws = workspace(&["a"]);
        let made = std::process::Command::new("mkfifo").arg(ws.path().join("fifo")).status();
        assert!(made.unwrap().success());
        assert_eq!(lines_of(ws.path(), None, &all()), ["./", "a"]);
        assert_eq!(code(ws.path(), "fifo", &all()), "NOT_DIRECTORY");
    }

    #[test]
    fn a_folder_that_may_not_be_read_is_truncated() {
        let ws = workspace(&["locked/x", "open/y"]);
        let locked = ws.path().join("locked");
        fs::set_permissions(&locked, fs::Permissions::from_mode(0o0)).unwrap();
        let is_superuser = fs::read_dir(&locked).is_ok();
        let whole = lines_of(ws.path(), None, &all());
        let named = grown(ws.path(), Some("locked"), &all());
        fs::set_permissions(&locked, fs::Permissions::from_mode(0o755)).unwrap();
        if !is_superuser {
            assert_eq!(whole, ["./", "locked/…", "open/", "open/y"]);
            assert_eq!(named.unwrap_err().code().as_str(), "PERMISSION_DENIED");
        }
    }
}
