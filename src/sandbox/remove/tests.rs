//! Removing beside other programs: what is told, what is left, what is put back.

use std::cell::Cell;
use std::fs;
use std::path::Path;

use super::*;
use crate::hash::sha256;
use crate::sandbox::WriteError;

fn remove(
    sandbox: &Sandbox,
    path: &str,
    options: RemoveOptions,
) -> Result<RemovedEntry, EntryError> {
    let path = EntryPath::parse(path, |_| None).unwrap();
    sandbox.remove_entry(&path, &options, Callbacks::without_confirm(&|| false))
}

const RECURSIVE: RemoveOptions = RemoveOptions {
    recursive: true,
    expected: None,
    expected_kind: None,
    durable: true,
    dry_run: false,
};
const PLAIN: RemoveOptions = RemoveOptions { recursive: false, ..RECURSIVE };

/// A workspace with a folder of folders, on each tier.
fn in_each_tier(test: impl Fn(&Path, &Sandbox)) {
    for open in [Sandbox::open, Sandbox::open_walking] {
        let directory = tempfile::tempdir().unwrap();
        fs::create_dir_all(directory.path().join("a/b/c")).unwrap();
        fs::write(directory.path().join("a/b/1.txt"), "1").unwrap();
        fs::write(directory.path().join("a/2.txt"), "2").unwrap();
        test(directory.path(), &open(directory.path()).unwrap());
    }
}

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap();
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_folder_goes_with_all_that_it_holds_and_nothing_is_left() {
    in_each_tier(|root, sandbox| {
        let removed = remove(sandbox, "a", RECURSIVE).unwrap();
        assert_eq!(removed, RemovedEntry { kind: EntryKind::Folder, entries: 4 });
        assert_eq!(names(root), Vec::<String>::new());
    });
}

#[test]
fn a_folder_that_is_not_empty_is_refused_with_the_number_of_its_own_entries() {
    in_each_tier(|root, sandbox| {
        let refused = remove(sandbox, "a", PLAIN);
        assert!(matches!(refused, Err(EntryError::NotEmpty { entries: 2 })));
        assert_eq!(names(&root.join("a")), ["2.txt", "b"]);
        let empty = remove(sandbox, "a/b/c/", PLAIN).unwrap();
        assert_eq!(empty, RemovedEntry { kind: EntryKind::Folder, entries: 0 });
        assert_eq!(names(&root.join("a/b")), ["1.txt"]);
    });
}

#[test]
fn a_dry_run_tells_the_same_and_removes_nothing() {
    in_each_tier(|root, sandbox| {
        let options = RemoveOptions { dry_run: true, ..RECURSIVE };
        assert_eq!(remove(sandbox, "a", options).unwrap().entries, 4);
        assert_eq!(remove(sandbox, "a/2.txt", options).unwrap().kind, EntryKind::File);
        assert!(matches!(remove(sandbox, "a/3.txt", options), Err(EntryError::Open(_))));
        assert_eq!((names(root).len(), names(&root.join("a")).len()), (1, 2));
    });
}

#[test]
fn a_file_with_other_bytes_than_the_expected_ones_stays() {
    in_each_tier(|root, sandbox| {
        let expecting = |bytes| RemoveOptions { expected: Some(sha256(bytes)), ..PLAIN };
        let refused = remove(sandbox, "a/2.txt", expecting(b"3"));
        assert!(matches!(refused, Err(EntryError::Write(WriteError::Changed))));
        assert_eq!(names(&root.join("a")), ["2.txt", "b"]);
        assert!(matches!(remove(sandbox, "a", expecting(b"2")), Err(EntryError::NotComparable)));
        assert_eq!(remove(sandbox, "a/2.txt", expecting(b"2")).unwrap().kind, EntryKind::File);
        assert_eq!(names(&root.join("a")), ["b"]);
    });
}

#[test]
fn a_removal_that_is_called_off_removes_nothing() {
    in_each_tier(|root, sandbox| {
        for path in ["a", "a/2.txt"] {
            let path = EntryPath::parse(path, |_| None).unwrap();
            let called_off =
                sandbox.remove_entry(&path, &RECURSIVE, Callbacks::without_confirm(&|| true));
            assert!(matches!(called_off, Err(EntryError::Cancelled)));
        }
        assert_eq!(names(&root.join("a")), ["2.txt", "b"]);
    });
}

#[test]
fn the_root_is_not_removed() {
    in_each_tier(|_, sandbox| {
        assert!(matches!(remove(sandbox, ".", RECURSIVE), Err(EntryError::Root)));
    });
}

#[test]
fn entries_that_another_program_adds_while_the_folder_is_checked_go_along() {
    in_each_tier(|root, sandbox| {
        let asked = Cell::new(0);
        let add = || {
            asked.set(asked.get() + 1);
            fs::write(root.join("a/b").join(format!("new-{}", asked.get())), "new").unwrap();
            false
        };
        let path = EntryPath::parse("a", |_| None).unwrap();
        sandbox.remove_entry(&path, &RECURSIVE, Callbacks::without_confirm(&add)).unwrap();
        assert!(asked.get() > 0);
        assert_eq!(names(root), Vec::<String>::new());
    });
}

#[test]
fn an_entry_that_is_added_to_an_empty_folder_in_the_last_moment_keeps_it() {
    in_each_tier(|root, sandbox| {
        let add = || {
            fs::write(root.join("a/b/c/new"), "new").unwrap();
            false
        };
        let path = EntryPath::parse("a/b/c", |_| None).unwrap();
        let refused = sandbox.remove_entry(&path, &PLAIN, Callbacks::without_confirm(&add));
        assert!(matches!(refused, Err(EntryError::NotEmpty { entries: 1 })), "{refused:?}");
        assert_eq!(
            (names(&root.join("a/b")), names(&root.join("a/b/c"))),
            (vec!["1.txt".to_owned(), "c".to_owned()], vec!["new".to_owned()])
        );
    });
}

#[cfg(unix)]
mod on_unix {
    use std::os::unix::fs::symlink;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;

    use super::*;
    use crate::sandbox::put::unix::sweep_now;

    #[test]
    fn a_link_goes_and_its_target_stays() {
        in_each_tier(|root, sandbox| {
            let outside = tempfile::tempdir().unwrap();
            fs::write(outside.path().join("kept"), "kept").unwrap();
            symlink(outside.path(), root.join("out")).unwrap();
            symlink(outside.path(), root.join("a/b/out")).unwrap();
            symlink("nothing", root.join("dangling")).unwrap();
            for path in ["out", "dangling"] {
                assert_eq!(remove(sandbox, path, RECURSIVE).unwrap().kind, EntryKind::Link);
            }
            assert_eq!(remove(sandbox, "a", RECURSIVE).unwrap().entries, 5);
            assert_eq!((names(root).len(), names(outside.path()).len()), (0, 1));
        });
    }

    #[test]
    fn fifos_go_along_with_their_folder_and_are_refused_when_named() {
        in_each_tier(|root, sandbox| {
            rustix::fs::mkfifoat(rustix::fs::CWD, root.join("a/fifo"), rustix::fs::Mode::RWXU)
                .unwrap();
            let named = remove(sandbox, "a/fifo", RECURSIVE);
            assert!(matches!(named, Err(EntryError::Open(OpenError::SpecialFile))));
            assert_eq!(remove(sandbox, "a", RECURSIVE).unwrap().entries, 5);
        });
    }

    #[test]
    fn a_deep_tree_is_removed_with_few_handles() {
        in_each_tier(|root, sandbox| {
            let mut folder = sandbox.directory.reopen_to_write_in().unwrap();
            for _ in 0..300 {
                system::make_folder(&folder, "deep".as_ref()).unwrap();
                let Ok(Found::Opened(below)) =
                    system::open_directory_to_write_in(&folder, "deep".as_ref())
                else {
                    panic!("a folder that was just made");
                };
                folder = below;
            }
            assert_eq!(remove(sandbox, "deep", RECURSIVE).unwrap().entries, 299);
            assert_eq!(names(root), ["a"]);
        });
    }

    /// A call that changes an entry of the folder holds the folder open, so it finds it at any name.
    #[test]
    fn entries_that_come_and_go_until_the_end_do_not_make_the_removal_fail() {
        use rustix::fs::{AtFlags, Mode, OFlags, openat, unlinkat};
        in_each_tier(|root, sandbox| {
            for _ in 0..100 {
                fs::create_dir_all(root.join("a")).unwrap();
                let held = fs::File::open(root.join("a")).unwrap();
                let ends = AtomicBool::new(false);
                let removed = thread::scope(|scope| {
                    scope.spawn(|| {
                        let flags = OFlags::CREATE | OFlags::WRONLY;
                        while !ends.load(Ordering::Relaxed) {
                            let _ = openat(&held, "new", flags, Mode::RWXU);
                            let _ = unlinkat(&held, "new", AtFlags::empty());
                        }
                    });
                    let removed =
                        remove(sandbox, "a", RemoveOptions { durable: false, ..RECURSIVE });
                    ends.store(true, Ordering::Relaxed);
                    removed
                });
                let is_contended = |error: &EntryError| match error {
                    EntryError::Unfinished { because, .. } => {
                        matches!(**because, EntryError::Contended)
                    }
                    error => matches!(error, EntryError::Contended),
                };
                assert!(removed.as_ref().map_or_else(is_contended, |_| true), "{removed:?}");
            }
        });
    }

    /// What a process leaves that is killed between the rename of a folder and its removal.
    #[test]
    fn a_sweep_removes_a_folder_that_a_killed_process_has_left() {
        in_each_tier(|root, sandbox| {
            let entry = system::hold(&sandbox.directory, "a".as_ref()).unwrap();
            let identity = entry.identity().unwrap();
            let name = temporary::new_name(identity, Identity::UNKNOWN);
            let other = temporary::new_name(Identity { inode: 1, born: 1 }, Identity::UNKNOWN);
            fs::rename(root.join("a"), root.join(&name)).unwrap();
            fs::create_dir(root.join(&other)).unwrap();

            let living = sandbox.directory.reopen_to_list().unwrap();
            let Ok(Found::Opened(held)) = system::open_directory_to_list(&living, name.as_ref())
            else {
                panic!("the folder is there");
            };
            assert!(files::lock(&held, &entry).is_some());
            let folder = sandbox.directory.reopen_to_list().unwrap();
            sweep_now(&folder);
            assert!(names(root).contains(&name), "it belongs to a process that lives");

            drop(held);
            sweep_now(&folder);
            assert_eq!(names(root), [other]);
        });
    }
}
