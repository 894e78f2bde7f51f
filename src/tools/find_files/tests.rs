//! `find_files` against a model that knows nothing of handles, automata or pages.

use std::fs;
use std::path::Path;

use proptest::prelude::*;
use tempfile::TempDir;

use super::*;

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

fn texts(list: &[&str]) -> Vec<String> {
    list.iter().map(ToString::to_string).collect()
}

fn patterns(list: &[&str]) -> FindOptions {
    FindOptions { patterns: texts(list), ..FindOptions::default() }
}

/// Finds on both tiers, by one thread and by several: one answer.
fn find(root: &Path, options: &FindOptions) -> Result<FoundFiles, Failure> {
    let both = [Sandbox::open(root).unwrap(), Sandbox::open_walking(root).unwrap()];
    let answers = both.iter().flat_map(|sandbox| {
        [0, usize::MAX].map(|large_tree| {
            let found = find_in(sandbox, options, &|| false, large_tree);
            found.map(|found| FoundFiles { took: Duration::ZERO, ..found })
        })
    });
    let answers: Vec<_> = answers.collect();
    assert!(answers.iter().all(|answer| *answer == answers[0]), "{answers:#?}");
    answers.into_iter().next().unwrap()
}

fn paths(root: &Path, options: &FindOptions) -> Vec<String> {
    let found = find(root, options).unwrap();
    assert_eq!(found.total, found.items.len() as u64);
    found.items.into_iter().map(|item| item.path).collect()
}

fn code(root: &Path, options: &FindOptions) -> &'static str {
    find(root, options).unwrap_err().code().as_str()
}

#[test]
fn brackets_that_match_nothing_are_taken_to_the_letter() {
    let ws = workspace(&["app/[id].tsx", "app/[[...all]].tsx", "pages/[id].tsx", "pages/i.tsx"]);
    let found = |list: &[&str]| paths(ws.path(), &patterns(list));
    assert_eq!(found(&["app/[id].tsx"]), ["app/[id].tsx"]);
    assert_eq!(found(&["app/[[...all]].tsx"]), ["app/[[...all]].tsx"]);
    assert_eq!(found(&["**/[[...all]].*"]), ["app/[[...all]].tsx"]);
    // As a glob it matches, so that is what it is.
    assert_eq!(found(&["pages/[id].tsx"]), ["pages/i.tsx"]);
    assert_eq!(found(&["app/[id].tsx", "pages/[id].tsx"]), ["app/[id].tsx", "pages/i.tsx"]);
    assert_eq!(found(&["app/[x].tsx"]), [""; 0]);
}

#[test]
fn brackets_that_are_no_class_may_name_a_file() {
    let ws = workspace(&["app/[user-id].tsx", "app/[größe].tsx", "app/x"]);
    let found = |list: &[&str]| paths(ws.path(), &patterns(list));
    assert_eq!(found(&["app/[user-id].tsx"]), ["app/[user-id].tsx"]);
    assert_eq!(found(&["[größe].*", "x"]), ["app/[größe].tsx", "app/x"]);
    for list in [&["app/[post-id].tsx"][..], &["x", "[ü]"], &["[a-"], &["app/[user-id].{tsx"]] {
        assert_eq!(code(ws.path(), &patterns(list)), "INVALID_ARGUMENT", "{list:?}");
    }
    // The fault of the arguments comes before that of the folder.
    let absent = FindOptions { root_path: Some("absent".to_owned()), ..patterns(&["[z-a]"]) };
    assert_eq!(code(ws.path(), &absent), "INVALID_ARGUMENT");
}

#[test]
fn a_pattern_that_takes_back_is_never_taken_to_the_letter() {
    let ws = workspace(&["app/[id].tsx", "app/i.tsx", "app/x.tsx"]);
    let found = paths(ws.path(), &patterns(&["*.tsx", "![id].tsx"]));
    assert_eq!(found, ["app/[id].tsx", "app/x.tsx"]);
}

#[test]
fn the_newest_come_first_of_all_and_those_of_one_time_by_path() {
    let ws = workspace(&["a", "b/x", "b.x", "c", "d"]);
    for (path, seconds) in [("a", 5), ("b/x", 7), ("b.x", 7), ("c", 9), ("d", 1)] {
        let file = fs::File::options().write(true).open(ws.path().join(path)).unwrap();
        file.set_modified(std::time::UNIX_EPOCH + Duration::from_secs(seconds)).unwrap();
    }
    let newest = |max_results| FindOptions { sort: Sort::Mtime, max_results, ..patterns(&["*"]) };
    assert_eq!(paths(ws.path(), &newest(5)), ["c", "b.x", "b/x", "a", "d"]);
    let found = find(ws.path(), &newest(2)).unwrap();
    let names: Vec<_> = found.items.iter().map(|item| &*item.path).collect();
    assert_eq!((names, found.truncated, found.total), (vec!["c", "b.x"], true, 5));
    assert_eq!(found.next, None);
    let after = FindOptions { after: Some(":a".to_owned()), ..newest(2) };
    assert_eq!(code(ws.path(), &after), "INVALID_ARGUMENT");
}

#[test]
#[cfg(not(windows))]
fn brackets_of_the_roots_own_path_are_letters() {
    let outer = tempfile::tempdir().unwrap();
    let root = outer.path().join("[x]");
    make(&root, "app/[id].tsx", "");
    make(&root, "app/b.tsx", "");
    let absolute = |glob: &str| format!("{}/{glob}", root.to_str().unwrap());
    for (glob, found) in [
        ("app/[id].tsx", "app/[id].tsx"),
        ("app/[ab].tsx", "app/b.tsx"),
        ("app/[.tsx", "app/[.tsx"),
    ] {
        make(&root, found, "");
        assert_eq!(paths(&root, &patterns(&[&absolute(glob)])), [found], "{glob}");
    }
}

#[test]
fn pages_have_a_true_total_and_their_own_warnings() {
    let ws = workspace(&["a.ts", "b.log", "c.ts", "d.log", "e.ts", "f.log", "node_modules/x.ts"]);
    make(ws.path(), ".gitignore", "*.log\n");
    let page = |after: Option<String>| {
        let options = FindOptions { max_results: 1, after, ..patterns(&["*.ts", "*.log"]) };
        find(ws.path(), &options).unwrap()
    };
    let (mut after, mut seen) = (None, Vec::new());
    loop {
        let found = page(after);
        assert_eq!((found.total, found.scanned_entries), (3, 8));
        assert_eq!(found.truncated, found.next.is_some());
        seen.push((found.items[0].path.clone(), found.warnings.join(" ")));
        after = found.next;
        if after.is_none() {
            break;
        }
    }
    let expected = [
        ("a.ts", ""),
        ("c.ts", "skipped_ignored_entries=1"),
        ("e.ts", "skipped_default_excludes=1 skipped_ignored_entries=2"),
    ];
    assert_eq!(seen, expected.map(|(path, warnings)| (path.to_owned(), warnings.to_owned())));
}

#[test]
fn folders_are_found_if_they_are_asked_for() {
    let ws = workspace(&["src/app/a.ts", "app", "src/b"]);
    let of = |kinds, list: &[&str]| paths(ws.path(), &FindOptions { kinds, ..patterns(list) });
    assert_eq!(of(Kinds::Files, &["app"]), ["app"]);
    assert_eq!(of(Kinds::Folders, &["app"]), ["src/app"]);
    assert_eq!(of(Kinds::All, &["app"]), ["app", "src/app"]);
    assert_eq!(of(Kinds::All, &["app/"]), ["src/app"]);
    assert_eq!(of(Kinds::Files, &["app/"]), [""; 0]);
    assert_eq!(of(Kinds::Folders, &["!src"]), ["src/app"]);
    assert_eq!(of(Kinds::All, &["src/**"]), ["src/app", "src/app/a.ts", "src/b"]);
    let folder = find(ws.path(), &FindOptions { kinds: Kinds::Folders, ..patterns(&["src"]) });
    assert_eq!(folder.unwrap().items[0].size, 0);
}

#[test]
fn the_folder_is_named_in_every_spelling_and_refused_by_what_stands_there() {
    let ws = workspace(&["src/app/a.ts", "src/b.ts", "top.ts"]);
    let root = ws.path().to_str().unwrap();
    let within = |root_path: &str| FindOptions {
        root_path: Some(root_path.to_owned()),
        ..patterns(&["*.ts"])
    };
    for spelling in ["src", "src/", "./src/.", "src\\", "src/app/..", &format!("{root}/src")] {
        let found = find(ws.path(), &within(spelling)).unwrap();
        assert_eq!(found.root_path, "src", "{spelling}");
        assert_eq!(found.total, 2, "{spelling}");
    }
    for spelling in [".", "./", root] {
        assert_eq!(find(ws.path(), &within(spelling)).unwrap().root_path, ".", "{spelling}");
    }
    for (spelling, expected) in [
        ("", "INVALID_ARGUMENT"),
        ("a\0", "INVALID_ARGUMENT"),
        ("..", "SANDBOX_VIOLATION"),
        ("/etc", "SANDBOX_VIOLATION"),
        ("C:/x", "SANDBOX_VIOLATION"),
        ("absent", "NOT_FOUND"),
        ("top.ts/x", "NOT_FOUND"),
        ("top.ts", "NOT_DIRECTORY"),
        ("top.ts/", "NOT_DIRECTORY"),
    ] {
        assert_eq!(code(ws.path(), &within(spelling)), expected, "{spelling:?}");
    }
    let near = find(ws.path(), &within("scr/app")).unwrap_err().to_string();
    assert_eq!(near, "NOT_FOUND: no such folder; did you mean \"src/\"?: scr/app");
}

#[test]
fn an_absolute_pattern_finds_the_same_files_wherever_the_walk_begins() {
    let ws = workspace(&["src/app/a.ts", "src/b.ts", "top.ts"]);
    let pattern = format!("{}/src/**/*.ts", ws.path().to_str().unwrap());
    for root_path in [None, Some("src".to_owned())] {
        let options = FindOptions { root_path, ..patterns(&[&pattern]) };
        assert_eq!(paths(ws.path(), &options), ["src/app/a.ts", "src/b.ts"]);
    }
}

#[test]
fn a_message_quotes_the_glob_but_never_the_root() {
    let ws = workspace(&[]);
    let message = |glob: &str| find(ws.path(), &patterns(&["a", glob])).unwrap_err().to_string();
    assert_eq!(
        message("*.{py"),
        "INVALID_ARGUMENT: patterns[1] must be a pattern that parses: `{` without `}`, got *.{py: ."
    );
    let absolute = format!("{}/*.{{py", ws.path().to_str().unwrap());
    assert!(!message(&absolute).contains(&absolute));
}

#[test]
fn time_and_caller_end_a_walk_without_an_answer() {
    let files: Vec<String> = (0..200).map(|index| format!("{index}/x")).collect();
    let ws = workspace(&files.iter().map(String::as_str).collect::<Vec<_>>());
    let sandbox = Sandbox::open(ws.path()).unwrap();
    let hurried = FindOptions { timeout: Duration::ZERO, ..patterns(&["*"]) };
    for large_tree in [0, usize::MAX] {
        let failure = find_in(&sandbox, &hurried, &|| false, large_tree).unwrap_err();
        assert_eq!((failure.code().as_str(), failure.path()), ("TIMEOUT", "."));
        let cancelled = find_in(&sandbox, &patterns(&["*"]), &|| true, large_tree).unwrap_err();
        assert!(cancelled.is_cancelled());
    }
}

/// The model of a glob: components, of which `**` stands for any number.
fn glob_matches(glob: &str, path: &str, is_folder: bool) -> bool {
    let (wants_folder, glob) = glob.strip_suffix('/').map_or((false, glob), |rest| (true, rest));
    let is_anchored = glob.contains('/');
    let glob = glob.strip_prefix("./").or(glob.strip_prefix('/')).unwrap_or(glob);
    let glob: Vec<&str> = glob.split('/').collect();
    let path: Vec<&str> = path.split('/').collect();
    let begins = if is_anchored { 0..1 } else { 0..path.len() };
    let mut begins = begins.map(|begin| &path[begin..]);
    (is_folder || !wants_folder) && begins.any(|path| components_match(&glob, path))
}

fn components_match(glob: &[&str], path: &[&str]) -> bool {
    match glob {
        [] => path.is_empty(),
        ["**"] => !path.is_empty(),
        ["**", rest @ ..] => (0..=path.len()).any(|skip| components_match(rest, &path[skip..])),
        [name, rest @ ..] => path.split_first().is_some_and(|(first, path)| {
            name_matches(name.as_bytes(), first.as_bytes()) && components_match(rest, path)
        }),
    }
}

fn name_matches(glob: &[u8], name: &[u8]) -> bool {
    match (glob, name) {
        ([], []) => true,
        ([b'*', rest @ ..], _) => (0..=name.len()).any(|skip| name_matches(rest, &name[skip..])),
        ([b'?', glob @ ..], [_, name @ ..]) => name_matches(glob, name),
        ([one, glob @ ..], [other, name @ ..]) => one == other && name_matches(glob, name),
        _ => false,
    }
}

/// Whether a list selects a path, by the last glob that matches.
fn list_matches(list: &[String], path: &str, is_folder: bool) -> bool {
    let mut is_selected = list.iter().all(|glob| glob.starts_with('!'));
    for glob in list {
        let (is_negated, glob) =
            glob.strip_prefix('!').map_or((false, &**glob), |rest| (true, rest));
        if glob_matches(glob, path, is_folder) {
            is_selected = !is_negated;
        }
    }
    is_selected
}

/// The model of the walk: the paths that match, relative to `base`, by plain recursion.
fn model(root: &Path, base: &str, folder: &str, options: &FindOptions, found: &mut Vec<String>) {
    for entry in fs::read_dir(root.join(base).join(folder)).unwrap() {
        let entry = entry.unwrap();
        let path = format!("{folder}{}", entry.file_name().to_str().unwrap());
        let is_folder = entry.file_type().unwrap().is_dir();
        let is_hidden = entry.file_name().to_str().unwrap().starts_with('.');
        let is_excluded = !options.exclude.is_empty()
            && list_matches(&options.exclude, &path, is_folder)
            && options.exclude.iter().any(|glob| !glob.starts_with('!'));
        if is_excluded || is_hidden && !options.include_hidden {
            continue;
        }
        let is_wanted = match options.kinds {
            Kinds::Files => !is_folder,
            Kinds::Folders => is_folder,
            Kinds::All => true,
        };
        if is_wanted && list_matches(&options.patterns, &path, is_folder) {
            let slash = if base.is_empty() { "" } else { "/" };
            found.push(format!("{base}{slash}{path}"));
        }
        if is_folder {
            model(root, base, &format!("{path}/"), options, found);
        }
    }
}

fn tree() -> impl Strategy<Value = Vec<String>> {
    let name = prop_oneof![
        4 => "[a-c]{1,2}",
        2 => "[ab]\\.(ts|js)",
        1 => Just("a-b".to_owned()),
        1 => Just(".a".to_owned()),
        1 => Just("😀".to_owned()),
        1 => Just("\u{ffee}".to_owned()),
    ];
    let path = prop::collection::vec(name, 1..5).prop_flat_map(|names: Vec<String>| {
        prop_oneof![3 => Just(names.join("/")), 1 => Just(names.join("/") + "/")]
    });
    prop::collection::vec(path, 0..40)
}

fn glob() -> impl Strategy<Value = String> {
    let component = prop_oneof![
        3 => "[a-c]{1,2}",
        2 => Just("*".to_owned()),
        2 => Just("**".to_owned()),
        2 => Just("*.ts".to_owned()),
        1 => Just("a*".to_owned()),
        1 => Just("?".to_owned()),
        1 => Just("?.?s".to_owned()),
        1 => Just("😀".to_owned()),
    ];
    let components = prop::collection::vec(component, 1..4);
    let start = prop_oneof![6 => Just(""), 1 => Just("/"), 1 => Just("./"), 1 => Just("**/")];
    let not = prop_oneof![4 => Just(""), 1 => Just("!")];
    let end = prop_oneof![4 => Just(""), 1 => Just("/")];
    (not, start, components, end)
        .prop_map(|(not, start, names, end)| format!("{not}{start}{}{end}", names.join("/")))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases / 4))]

    #[test]
    fn the_pages_together_are_what_the_model_finds_in_the_order_of_utf16(
        files in tree(),
        patterns in prop::collection::vec(glob(), 1..4),
        exclude in prop::collection::vec(glob(), 0..3),
        base in prop_oneof![2 => Just(""), 1 => Just("a"), 1 => Just("a/b")],
        kinds in prop_oneof![Just(Kinds::Files), Just(Kinds::Folders), Just(Kinds::All)],
        include_hidden in any::<bool>(),
        max_results in 1_usize..8,
    ) {
        let ws = tempfile::tempdir().unwrap();
        make(ws.path(), "a/b/", "");
        for file in &files {
            make(ws.path(), file, file);
        }
        let mut options = FindOptions {
            patterns,
            exclude,
            root_path: (!base.is_empty()).then(|| base.to_owned()),
            kinds,
            include_hidden,
            ..FindOptions::default()
        };
        let mut expected = Vec::new();
        model(ws.path(), base, "", &options, &mut expected);
        expected.sort_by_key(|path| path.encode_utf16().collect::<Vec<_>>());

        options.max_results = max_results;
        let mut given = Vec::new();
        loop {
            let found = find(ws.path(), &options).unwrap();
            prop_assert_eq!(found.total, expected.len() as u64);
            given.extend(found.items.into_iter().map(|item| item.path));
            options.after = found.next;
            if options.after.is_none() {
                prop_assert!(!found.truncated);
                break;
            }
            prop_assert!(found.truncated);
        }
        prop_assert_eq!(given, expected);
    }
}

/// A tree in which something is left out for every reason.
fn tree_with_rules() -> impl Strategy<Value = Vec<(String, String)>> {
    let name = prop_oneof![
        4 => "[a-c]{1,2}",
        1 => "[ab]\\.ts",
        1 => Just(".a".to_owned()),
        1 => Just("dist".to_owned()),
        1 => Just("node_modules".to_owned()),
        1 => Just(".git".to_owned()),
        2 => Just(".gitignore".to_owned()),
    ];
    let line = prop_oneof![
        "!?/?[a-c]{1,2}/?",
        Just("*.ts".to_owned()),
        Just("[é]".to_owned()),
        Just("a/**/b".to_owned()),
    ];
    let lines = prop::collection::vec(line, 0..3).prop_map(|lines| lines.join("\n"));
    let path = prop::collection::vec(name, 1..5).prop_map(|names| names.join("/"));
    prop::collection::vec((path, lines), 0..20)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases / 4))]

    #[test]
    fn a_sweep_answers_as_a_walk_does_on_every_page(
        files in tree_with_rules(),
        patterns in prop::collection::vec(glob(), 1..3),
        include_hidden in any::<bool>(),
        default_excludes in any::<bool>(),
        max_results in 2_usize..6,
    ) {
        let ws = tempfile::tempdir().unwrap();
        for (file, lines) in &files {
            make(ws.path(), file, lines);
        }
        let mut options = FindOptions {
            patterns,
            include_hidden,
            default_excludes,
            max_results,
            kinds: Kinds::All,
            ..FindOptions::default()
        };
        loop {
            // Which asserts that they are equal.
            options.after = find(ws.path(), &options).unwrap().next;
            if options.after.is_none() {
                break;
            }
        }
        options.sort = Sort::Mtime;
        find(ws.path(), &options).unwrap();
    }
}

#[test]
fn what_no_sweep_can_do_a_walk_does() {
    // Deeper than the folders that a parallel walk holds open.
    let ws = workspace(&[&"a/".repeat(60), "b/x"]);
    make(ws.path(), &format!("{}y", "a/".repeat(60)), "");
    assert_eq!(paths(ws.path(), &patterns(&["x", "y"])).len(), 2);
    // A rule that is not heeded: threads might disagree on which.
    let ws = workspace(&["a.log", "b/c.log"]);
    make(ws.path(), "b/.gitignore", "[é]\n*.log\n");
    let found = find(ws.path(), &patterns(&["*.log"])).unwrap();
    let warnings = ["skipped_ignored_entries=1", "unheeded_gitignore_files=1"];
    assert_eq!((found.total, found.warnings), (1, texts(&warnings)));
    // More than a thread remembers has been left out.
    let ws = workspace(&["a", "b", "c", "d", "e", "f", "z"]);
    make(ws.path(), ".gitignore", "[b-f]\n");
    let first = FindOptions { max_results: 1, ..patterns(&["[a-z]"]) };
    let found = find(ws.path(), &first).unwrap();
    assert_eq!((found.total, found.warnings.len()), (2, 0));
    let second = FindOptions { after: found.next, ..first };
    assert_eq!(find(ws.path(), &second).unwrap().warnings, ["skipped_ignored_entries=5"]);
}

#[cfg(unix)]
mod unix {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_link_that_is_named_is_followed_if_it_ends_inside() {
        let ws = workspace(&["src/a.ts"]);
        symlink("src", ws.path().join("in")).unwrap();
        symlink("/etc", ws.path().join("out")).unwrap();
        symlink("nowhere", ws.path().join("dangling")).unwrap();
        let within = |root_path: &str| FindOptions {
            root_path: Some(root_path.to_owned()),
            ..patterns(&["*"])
        };
        assert_eq!(paths(ws.path(), &within("in")), ["in/a.ts"]);
        assert_eq!(code(ws.path(), &within("out")), "SANDBOX_VIOLATION");
        assert_eq!(code(ws.path(), &within("dangling")), "NOT_FOUND");
    }

    #[test]
    fn a_file_that_becomes_a_link_or_goes_is_not_found() {
        let ws = workspace(&["a/1", "a/2", "b"]);
        let sandbox = Sandbox::open(ws.path()).unwrap();
        let (root, asked) = (ws.path().to_owned(), std::sync::atomic::AtomicBool::new(false));
        // The walk asks before it enters `a`, and has listed the root by then.
        let cancelled = move || {
            if !asked.swap(true, std::sync::atomic::Ordering::Relaxed) {
                return false;
            }
            let _ = fs::remove_file(root.join("b"));
            let _ = symlink("/etc/passwd", root.join("b"));
            false
        };
        let found = find_files(&sandbox, &patterns(&["*"]), &cancelled).unwrap();
        let names: Vec<_> = found.items.iter().map(|item| &*item.path).collect();
        assert_eq!((names, found.total), (vec!["a/1", "a/2"], 2));
    }
}
