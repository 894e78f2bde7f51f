use std::fs;

use proptest::prelude::*;
use tempfile::TempDir;

use super::*;

fn workspace(files: &[&str]) -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    for file in files {
        let path = directory.path().join("ws").join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "").unwrap();
    }
    directory
}

fn near(files: &[&str], missing: &str) -> Vec<String> {
    let directory = workspace(files);
    let sandbox = Sandbox::open(&directory.path().join("ws")).unwrap();
    near_misses(&sandbox, missing, &WorkspacePath::parse(missing).unwrap())
}

#[test]
fn a_name_that_differs_in_case_or_separators_comes_first() {
    assert_eq!(near(&["src/my-file.ts", "src/my_fine.ts"], "src/myfile.ts")[0], "src/my-file.ts");
    // On Windows and macOS this is the file itself.
    if cfg!(target_os = "linux") {
        assert_eq!(near(&["README.md"], "readme.md"), ["README.md"]);
    }
}

#[test]
fn the_same_name_with_another_extension_or_none_is_near() {
    assert_eq!(near(&["src/main.ts", "src/other.ts"], "src/main.js"), ["src/main.ts"]);
    assert_eq!(near(&["src/utils/index.ts"], "src/utils.ts"), ["src/utils/"]);
    assert_eq!(near(&["src/utils.ts"], "src/utils"), ["src/utils.ts"]);
}

#[test]
fn misspelt_names_are_near_and_others_are_not() {
    assert_eq!(near(&["src/config.ts", "src/a.ts"], "src/cnofig.ts"), ["src/config.ts"]);
    assert_eq!(near(&["b", "Makefile", "totally-different.txt"], "a"), [""; 0]);
}

#[test]
fn a_missing_folder_is_named_and_only_folders_can_be_it() {
    let files = ["src/lib/a.ts", "source.ts", "scr.txt"];
    assert_eq!(near(&files, "srcs/lib/a.ts"), ["src/"]);
    assert_eq!(near(&files, "src/libs/deep/deeper/a.ts"), ["src/lib/"]);
}

#[test]
fn a_path_at_which_something_stands_has_none() {
    assert_eq!(near(&["a.txt", "a.text"], "a.txt"), [""; 0]);
    assert_eq!(near(&["a/b.txt"], "a"), [""; 0]);
    assert_eq!(near(&["a.txt"], "a.txt/b"), [""; 0]);
}

#[test]
fn no_more_are_shown_than_three() {
    let files = ["a1.txt", "a2.txt", "a3.txt", "a4.txt"];
    assert_eq!(near(&files, "a.txt"), ["a1.txt", "a2.txt", "a3.txt"]);
}

#[test]
#[cfg(unix)]
fn names_that_could_deceive_are_not_shown() {
    let files =
        ["a\n.txt", "a\u{202e}.txt", "a\u{200b}.txt", "a\\.txt", "a\u{1b}.txt", "a\u{2028}.txt"];
    assert_eq!(near(&files, "a.txt"), [""; 0]);
}

#[test]
#[cfg(unix)]
fn nothing_outside_is_listed() {
    let directory = workspace(&["a.txt"]);
    fs::create_dir(directory.path().join("outside")).unwrap();
    fs::write(directory.path().join("outside/secret.txt"), "").unwrap();
    let root = directory.path().join("ws");
    std::os::unix::fs::symlink("../outside", root.join("out")).unwrap();
    for sandbox in [Sandbox::open(&root).unwrap(), Sandbox::open_walking(&root).unwrap()] {
        let missing = WorkspacePath::parse("out/secrets.txt").unwrap();
        assert_eq!(near_misses(&sandbox, "out/secrets.txt", &missing), [""; 0]);
    }
}

#[test]
fn a_name_longer_than_any_systems_is_compared_with_none() {
    assert_eq!(near(&["a.txt"], &format!("a{}.txt", "_".repeat(100))), ["a.txt"]);
    assert_eq!(near(&["a.txt"], &format!("a{}.txt", "_".repeat(MAX_WANTED))), [""; 0]);
}

#[test]
fn a_folder_of_very_many_names_is_looked_at_in_part() {
    let names: Vec<String> = (0..MAX_ENTRIES + 10).map(|i| format!("n{i:050}.txt")).collect();
    let files: Vec<&str> = names.iter().map(String::as_str).collect();
    let near = near(&files, &format!("n{:050}.tx", 5));
    assert!(near.len() <= MAX_SHOWN);
}

proptest! {
    #[test]
    fn a_name_with_one_letter_dropped_is_near(name in "[a-z]{4,20}\\.[a-z]{2}", at in 0usize..4) {
        let mut misspelt = name.clone();
        misspelt.remove(at);
        prop_assert!(distance(&misspelt, &name).is_some());
    }

    #[test]
    fn any_two_names_can_be_compared(wanted in any::<String>(), name in any::<String>()) {
        let _ = distance(&wanted, &name);
    }
}
