//! Walks over random trees against a model that knows nothing of handles, order or automata.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fs;

use proptest::prelude::*;
use tempfile::TempDir;

use super::*;
use crate::tree::{DEFAULT_EXCLUDES, Globs};

fn workspace(files: &[&str]) -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    for file in files {
        make(directory.path(), file, "");
    }
    directory
}

/// Makes a file, or a folder if the path ends in `/`; where a file stands, no folder is made.
fn make(root: &Path, path: &str, content: &str) {
    let at = root.join(path);
    if path.ends_with('/') {
        let _ = fs::create_dir_all(at);
    } else {
        let _ = at.parent().map(fs::create_dir_all);
        let _ = if at.is_dir() { Ok(()) } else { fs::write(at, content) };
    }
}

/// What a walk has given: paths, those of folders with a `/`, and what it has left out.
#[derive(Debug, PartialEq, Eq, Default)]
struct Walked {
    paths: Vec<String>,
    tally: Tally,
    unreadable: Vec<String>,
}

fn walk_with(
    root: &Path,
    start: &str,
    selection: &Selection,
    options: WalkOptions<'_>,
    gitignore: bool,
) -> Walked {
    let both = [Sandbox::open(root).unwrap(), Sandbox::open_walking(root).unwrap()];
    let [one, other] = both.map(|sandbox| {
        let start = if start.is_empty() {
            WorkspacePath::root()
        } else {
            WorkspacePath::parse(start).unwrap()
        };
        let rules = gitignore.then(RuleReader::default);
        let walk = Walk::begin(&sandbox, &start, selection, options, rules.as_ref(), &|| false);
        let mut walk = walk.unwrap();
        let mut walked = Walked::default();
        for step in walk.by_ref() {
            match step.unwrap() {
                WalkItem::Entry(entry) => {
                    let slash = if entry.kind == EntryKind::Folder { "/" } else { "" };
                    walked.paths.push(entry.path.clone() + slash);
                    if entry.kind == EntryKind::File {
                        let bytes = entry.open_file().unwrap().read_to_end(1 << 20).unwrap();
                        assert_eq!(bytes, fs::read(root.join(&entry.path)).unwrap());
                    }
                }
                WalkItem::Unreadable(path) => walked.unreadable.push(path),
            }
        }
        walked.tally = walk.tally();
        walked
    });
    assert_eq!(one, other, "both tiers walk alike");
    one
}

fn walk(root: &Path, start: &str, selection: &Selection) -> Walked {
    walk_with(root, start, selection, WalkOptions::default(), true)
}

#[test]
fn the_order_is_that_of_whole_paths() {
    let ws = workspace(&["a/x", "a.txt", "a-b", "a0", "é", "\u{ffee}", "😀", "a/b/c", "a/b.c"]);
    let walked = walk(ws.path(), "", &Selection::default());
    let expected =
        ["a/", "a-b", "a.txt", "a/b/", "a/b.c", "a/b/c", "a/x", "a0", "é", "😀", "\u{ffee}"];
    assert_eq!(walked.paths, expected);
}

#[test]
fn a_walk_that_goes_on_at_a_path_gives_the_rest_of_the_whole_walk() {
    let ws =
        workspace(&["a/x", "a.txt", "a-b", "a0", "é", "😀", "a/b/c", "a/b.c", "node_modules/x"]);
    let whole = walk(ws.path(), "", &Selection::default());
    let plain = |path: &String| path.trim_end_matches('/').to_owned();
    for (index, path) in whole.paths.iter().enumerate() {
        let from = plain(path);
        let options = WalkOptions { from: Some(&from), ..WalkOptions::default() };
        let rest = walk_with(ws.path(), "", &Selection::default(), options, true);
        assert_eq!(rest.paths, whole.paths[index..], "from {from}");
        let counted = u64::from(from.as_str() < "node_modules");
        assert_eq!(rest.tally.default_excludes, counted, "from {from}");
    }
}

#[test]
fn folders_first_goes_depth_first() {
    let ws = workspace(&["b/x", "b/y/z", "a.txt", "c/", "Z"]);
    let options = WalkOptions { order: Order::FoldersFirst, ..WalkOptions::default() };
    let walked = walk_with(ws.path(), "", &Selection::default(), options, false);
    assert_eq!(walked.paths, ["b/", "b/y/", "b/y/z", "b/x", "c/", "Z", "a.txt"]);
}

#[test]
fn the_depth_is_bounded() {
    let ws = workspace(&["a/b/c/d"]);
    for (max_depth, expected) in [(1, &["a/"][..]), (2, &["a/", "a/b/"])] {
        let options = WalkOptions { max_depth, ..WalkOptions::default() };
        let walked = walk_with(ws.path(), "", &Selection::default(), options, false);
        assert_eq!(walked.paths, expected);
    }
}

#[test]
fn a_walk_below_the_root_has_the_rules_from_the_root_down() {
    let ws = workspace(&["a/b/x.log", "a/b/y.tmp", "a/b/z", "a/b/keep.log"]);
    make(ws.path(), ".gitignore", "*.log\n");
    make(ws.path(), "a/.gitignore", "*.tmp\n/b/z\n");
    make(ws.path(), "a/b/.gitignore", "!keep.log\n");
    let walked = walk(ws.path(), "a/b", &Selection::default());
    assert_eq!(walked.paths, ["a/b/.gitignore", "a/b/keep.log"]);
    assert_eq!(walked.tally.ignored, 3);
    // From a folder that holds a `.git` on, the rules begin anew.
    make(ws.path(), "a/.git", "");
    let walked = walk(ws.path(), "a/b", &Selection::default());
    assert_eq!(walked.paths, ["a/b/.gitignore", "a/b/keep.log", "a/b/x.log"]);
}

#[test]
fn default_excludes_do_not_hold_inside_one() {
    let ws = workspace(&["node_modules/a/dist/x", "node_modules/a/.git", "dist", "b/build/x"]);
    let walked = walk(ws.path(), "", &Selection::default());
    assert_eq!(walked.paths, ["b/", "dist"]);
    assert_eq!(walked.tally.default_excludes, 2);
    let walked = walk(ws.path(), "node_modules/a", &Selection::default());
    assert_eq!(
        walked.paths,
        ["node_modules/a/.git", "node_modules/a/dist/", "node_modules/a/dist/x"]
    );
}

#[test]
fn globs_are_relative_to_the_folder_of_the_walk() {
    let ws = workspace(&["a/src/x.ts", "a/src/x.js", "a/lib/y.ts", "a/src/deep/z.ts"]);
    let sandbox = Sandbox::open(ws.path()).unwrap();
    let globs = |globs: &[&str]| {
        let globs: Vec<String> = globs.iter().map(ToString::to_string).collect();
        Globs::parse(&sandbox, Path::new("a"), &globs).unwrap()
    };
    let files = |include: &[&str], exclude: &[&str]| {
        let selection =
            Selection { include: globs(include), exclude: globs(exclude), ..Selection::default() };
        let mut paths = walk(ws.path(), "a", &selection).paths;
        paths.retain(|path| !path.ends_with('/'));
        paths
    };
    assert_eq!(files(&["*.ts"], &["deep"]), ["a/lib/y.ts", "a/src/x.ts"]);
    assert_eq!(files(&["/src/*.{ts,js}"], &[]), ["a/src/x.js", "a/src/x.ts"]);
    assert_eq!(files(&["!*.ts"], &[]), ["a/src/x.js"]);
    assert_eq!(files(&[], &["src/**", "!src/deep"]), ["a/lib/y.ts", "a/src/deep/z.ts"][..1]);
}

#[test]
fn a_cancelled_walk_and_one_with_too_many_names_end_with_an_error() {
    let ws = workspace(&["a/1", "a/2", "a/3", "b"]);
    let sandbox = Sandbox::open(ws.path()).unwrap();
    let selection = Selection::default();
    let asked = Cell::new(0);
    let cancelled = || {
        asked.set(asked.get() + 1);
        asked.get() > 6
    };
    let (root, options) = (WorkspacePath::root(), WalkOptions::default());
    let walk = Walk::begin(&sandbox, &root, &selection, options, None, &cancelled).unwrap();
    assert!(matches!(walk.last(), Some(Err(WalkError::Cancelled))));

    let options = WalkOptions { max_names: 4, ..options };
    let walk = Walk::begin(&sandbox, &root, &selection, options, None, &|| false).unwrap();
    assert!(matches!(walk.last(), Some(Err(WalkError::TooManyNames))));
    let options = WalkOptions { max_names: 5, ..options };
    let walk = Walk::begin(&sandbox, &root, &selection, options, None, &|| false).unwrap();
    assert_eq!(walk.map(Result::unwrap).count(), 5);
}

#[test]
fn a_folder_deeper_than_the_handles_that_are_held_is_walked_and_left_again() {
    let deep = MAX_HELD_FOLDERS * 3;
    let ws = tempfile::tempdir().unwrap();
    let mut files = Vec::new();
    for depth in 0..deep {
        // The file comes after the folder's contents.
        files.push("a/".repeat(depth) + "z");
        make(ws.path(), &files[depth], &depth.to_string());
    }
    let walked = walk(ws.path(), "", &Selection::default());
    let mut given: Vec<_> = walked.paths.into_iter().filter(|path| !path.ends_with('/')).collect();
    given.reverse();
    assert_eq!(given, files);
}

#[cfg(unix)]
mod unix {
    use super::*;
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn links_are_counted_and_not_followed() {
        let ws = workspace(&["a/x", "b"]);
        let outside = workspace(&["secret"]);
        symlink(outside.path(), ws.path().join("out")).unwrap();
        symlink("a", ws.path().join("in")).unwrap();
        symlink("..", ws.path().join("a/up")).unwrap();
        let walked = walk(ws.path(), "", &Selection::default());
        assert_eq!(walked.paths, ["a/", "a/x", "b"]);
        assert_eq!(walked.tally, Tally { links: 3, ..Tally::default() });
        let with_links = Selection { links: true, ..Selection::default() };
        let walked = walk(ws.path(), "", &with_links);
        assert_eq!(walked.paths, ["a/", "a/up", "a/x", "b", "in", "out"]);
    }

    #[test]
    fn a_link_that_the_walk_begins_at_is_followed_if_it_ends_inside() {
        let ws = workspace(&["a/b/x"]);
        let outside = workspace(&["secret"]);
        symlink("a", ws.path().join("in")).unwrap();
        symlink(outside.path(), ws.path().join("out")).unwrap();
        let walked = walk(ws.path(), "in", &Selection::default());
        assert_eq!(walked.paths, ["in/b/", "in/b/x"]);
        let sandbox = Sandbox::open(ws.path()).unwrap();
        let out = WorkspacePath::parse("out").unwrap();
        let selection = Selection::default();
        let options = WalkOptions::default();
        let begun = Walk::begin(&sandbox, &out, &selection, options, None, &|| false);
        assert!(matches!(begun, Err(WalkError::Open(OpenError::Escapes))));
    }

    #[test]
    fn names_that_are_not_utf8_and_folders_that_cannot_be_read_are_counted() {
        let ws = workspace(&["a", "locked/x"]);
        fs::write(ws.path().join(OsStr::from_bytes(b"b\xff")), "").unwrap();
        let locked = ws.path().join("locked");
        fs::set_permissions(&locked, fs::Permissions::from_mode(0o0)).unwrap();
        let is_superuser = fs::read_dir(&locked).is_ok();
        let walked = walk(ws.path(), "", &Selection::default());
        fs::set_permissions(&locked, fs::Permissions::from_mode(0o755)).unwrap();
        if is_superuser {
            assert_eq!(walked.tally.unreadable, 1);
        } else {
            assert_eq!(walked.unreadable, ["locked"]);
            assert_eq!(walked.tally.unreadable, 2);
            assert_eq!(walked.paths, ["a", "locked/"]);
        }
    }

    #[test]
    fn a_folder_that_becomes_a_link_during_the_walk_is_not_entered() {
        let ws = workspace(&["a", "b/x"]);
        let outside = workspace(&["secret"]);
        let sandbox = Sandbox::open(ws.path()).unwrap();
        let selection = Selection::default();
        let (root, options) = (WorkspacePath::root(), WalkOptions::default());
        let walk = Walk::begin(&sandbox, &root, &selection, options, None, &|| false).unwrap();
        let mut paths = Vec::new();
        for step in walk {
            let WalkItem::Entry(entry) = step.unwrap() else { panic!("nothing is unreadable") };
            if entry.path == "a" {
                fs::rename(ws.path().join("b"), outside.path().join("b")).unwrap();
                symlink(outside.path(), ws.path().join("b")).unwrap();
            }
            paths.push(entry.path);
        }
        assert_eq!(paths, ["a", "b"]);
    }
}

/// The model: every entry beneath a folder with the reason why it is left out, by plain recursion.
struct Model<'model> {
    root: &'model Path,
    gitignore: bool,
    hidden: bool,
    given: Vec<String>,
    tally: Tally,
}

/// The lines of the `.gitignore` files that hold in a folder, each with the folder of its file. The
/// model knows only plain names, `/name`, `name/` and `!name`.
type Lines = Vec<(String, String)>;

impl Model<'_> {
    fn visit(&mut self, folder: &str, above: &Lines) {
        let at = self.root.join(folder);
        let mut lines = if at.join(".git").exists() { Lines::new() } else { above.clone() };
        if let Ok(file) = fs::read_to_string(at.join(".gitignore")) {
            lines.extend(file.lines().map(|line| (folder.to_owned(), line.to_owned())));
        }
        for entry in fs::read_dir(&at).unwrap() {
            let entry = entry.unwrap();
            let name = entry.file_name().into_string().unwrap();
            let is_folder = entry.file_type().unwrap().is_dir();
            let is_excluded = name == ".git" || is_folder && DEFAULT_EXCLUDES.contains(&&*name);
            if is_excluded {
                self.tally.default_excludes += 1;
            } else if self.gitignore && is_ignored(&lines, folder, &name, is_folder) {
                self.tally.ignored += 1;
            } else if !self.hidden && name.starts_with('.') {
                self.tally.hidden += 1;
            } else if is_folder {
                self.given.push(format!("{folder}{name}/"));
                self.visit(&format!("{folder}{name}/"), &lines);
            } else {
                self.given.push(format!("{folder}{name}"));
            }
        }
    }
}

fn is_ignored(lines: &Lines, folder: &str, name: &str, is_folder: bool) -> bool {
    let mut is_ignored = false;
    for (home, line) in lines {
        let (is_negated, line) =
            line.strip_prefix('!').map_or((false, &**line), |rest| (true, rest));
        let (is_anchored, line) = line.strip_prefix('/').map_or((false, line), |rest| (true, rest));
        let (wants_folder, line) =
            line.strip_suffix('/').map_or((false, line), |rest| (true, rest));
        let is_at_home = !is_anchored || home == folder;
        if line == name && is_at_home && (is_folder || !wants_folder) {
            is_ignored = !is_negated;
        }
    }
    is_ignored
}

fn tree() -> impl Strategy<Value = Vec<String>> {
    let name = prop_oneof![
        4 => "[a-c]{1,2}",
        1 => Just("a.b".to_owned()),
        1 => Just("a-b".to_owned()),
        1 => Just(".a".to_owned()),
        1 => Just(".git".to_owned()),
        1 => Just("dist".to_owned()),
        1 => Just("😀".to_owned()),
        1 => Just("\u{ffee}".to_owned()),
    ];
    let path = prop::collection::vec(name, 1..5).prop_flat_map(|names: Vec<String>| {
        prop_oneof![Just(names.join("/")), Just(names.join("/") + "/")]
    });
    prop::collection::vec(path, 0..40)
}

fn ignore_files() -> impl Strategy<Value = BTreeMap<String, Vec<String>>> {
    let line = ("!?", "/?", "[a-c]{1,2}|a\\.b|\\.a", "/?")
        .prop_map(|(is_negated, slash, name, folder)| is_negated + &slash + &name + &folder);
    let folder = prop::collection::vec("[a-c]", 0..3)
        .prop_map(|names| names.into_iter().map(|name| name + "/").collect::<String>());
    prop::collection::btree_map(folder, prop::collection::vec(line, 1..5), 0..4)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases / 4))]

    #[test]
    fn a_walk_gives_what_the_model_gives_in_the_order_of_utf16(
        files in tree(),
        ignore_files in ignore_files(),
        gitignore in any::<bool>(),
        hidden in any::<bool>(),
    ) {
        let ws = tempfile::tempdir().unwrap();
        for file in &files {
            make(ws.path(), file, file);
        }
        for (folder, lines) in &ignore_files {
            make(ws.path(), &format!("{folder}.gitignore"), &lines.join("\n"));
        }
        let (given, tally) = (Vec::new(), Tally::default());
        let mut model = Model { root: ws.path(), gitignore, hidden, given, tally };
        model.visit("", &Lines::new());
        let plain = |path: &str| path.trim_end_matches('/').encode_utf16().collect::<Vec<_>>();
        model.given.sort_by_key(|path| plain(path));

        let selection = Selection { hidden, ..Selection::default() };
        let walked = walk_with(ws.path(), "", &selection, WalkOptions::default(), gitignore);
        prop_assert_eq!(walked.paths, model.given);
        prop_assert_eq!(walked.tally, model.tally);
    }
}
