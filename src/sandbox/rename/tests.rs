//! Moving beside other programs: what is replaced, what is told, what is put back.

use std::fs;
use std::path::Path;

use super::*;
use crate::hash::sha256;
use crate::sandbox::WriteError;

const PLAIN: MoveOptions = MoveOptions {
    overwrite: false,
    expected: None,
    expected_kind: None,
    durable: true,
    dry_run: false,
};
const OVER: MoveOptions = MoveOptions { overwrite: true, ..PLAIN };

fn path(path: &str) -> EntryPath {
    EntryPath::parse(path, |_| None).unwrap()
}

fn rename(
    sandbox: &Sandbox,
    from: &str,
    to: &str,
    options: MoveOptions,
) -> Result<MovedEntry, MoveError> {
    sandbox.move_entry(&path(from), &path(to), &options, Callbacks::without_confirm(&|| false))
}

/// The end at fault and the error.
fn refused(sandbox: &Sandbox, from: &str, to: &str, options: MoveOptions) -> (MoveEnd, EntryError) {
    match rename(sandbox, from, to, options) {
        Err(MoveError { end, error }) => (end, error),
        Ok(moved) => panic!("{moved:?}"),
    }
}

/// A workspace with files and folders, on each tier.
fn in_each_tier(test: impl Fn(&Path, &Sandbox)) {
    for open in [Sandbox::open, Sandbox::open_walking] {
        let directory = tempfile::tempdir().unwrap();
        fs::create_dir_all(directory.path().join("d/e")).unwrap();
        fs::write(directory.path().join("a"), "a").unwrap();
        fs::write(directory.path().join("b"), "b").unwrap();
        fs::write(directory.path().join("d/e/f"), "f").unwrap();
        test(directory.path(), &open(directory.path()).unwrap());
    }
}

fn read(root: &Path, path: &str) -> Option<String> {
    fs::read_to_string(root.join(path)).ok()
}

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap();
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_move_makes_the_folders_that_it_needs_and_tells_them() {
    in_each_tier(|root, sandbox| {
        let moved = rename(sandbox, "a", "d/new/deep/a", PLAIN).unwrap();
        assert_eq!(moved.folders, ["d/new", "d/new/deep"]);
        assert_eq!((moved.kind, moved.replaced), (EntryKind::File, None));
        assert_eq!((read(root, "a"), read(root, "d/new/deep/a").as_deref()), (None, Some("a")));
    });
}

#[test]
fn a_move_replaces_nothing_unless_it_is_told_to() {
    in_each_tier(|root, sandbox| {
        let (end, error) = refused(sandbox, "a", "b", PLAIN);
        assert!(matches!(
            (end, error),
            (MoveEnd::To, EntryError::Exists { standing: EntryKind::File, .. })
        ));
        assert_eq!(
            (read(root, "a").as_deref(), read(root, "b").as_deref()),
            (Some("a"), Some("b"))
        );
        let moved = rename(sandbox, "a", "b", OVER).unwrap();
        assert_eq!(moved.replaced, Some(EntryKind::File));
        assert_eq!((read(root, "a"), read(root, "b").as_deref()), (None, Some("a")));
    });
}

#[test]
fn a_folder_is_neither_replaced_nor_replaces_anything() {
    in_each_tier(|root, sandbox| {
        fs::create_dir(root.join("empty")).unwrap();
        for (from, to) in [("a", "empty"), ("d", "empty"), ("d", "a"), ("a", "d/e")] {
            let (end, error) = refused(sandbox, from, to, OVER);
            assert!(
                matches!((end, error), (MoveEnd::To, EntryError::Exists { .. })),
                "{from} {to}"
            );
        }
        assert_eq!(names(root), ["a", "b", "d", "empty"]);
    });
}

#[test]
fn a_folder_is_moved_with_all_that_it_holds_but_not_into_itself() {
    in_each_tier(|root, sandbox| {
        for to in ["d/e/g", "d/x", "d/new/x"] {
            let (end, error) = refused(sandbox, "d", to, PLAIN);
            assert!(matches!((end, error), (MoveEnd::To, EntryError::IntoItself)), "{to}");
        }
        assert_eq!(names(&root.join("d")), ["e"]);
        assert_eq!(rename(sandbox, "d/", "g/", PLAIN).unwrap().kind, EntryKind::Folder);
        assert_eq!(read(root, "g/e/f").as_deref(), Some("f"));
    });
}

#[test]
fn the_same_place_by_any_spelling_is_no_change() {
    in_each_tier(|_, sandbox| {
        for to in ["a", "./a", "d/../a"] {
            let (_, error) = refused(sandbox, "a", to, OVER);
            assert!(matches!(error, EntryError::Same), "{to}: {error:?}");
        }
        assert!(matches!(refused(sandbox, "d", "d/", PLAIN).1, EntryError::Same));
    });
}

#[test]
fn only_the_expected_file_is_moved() {
    in_each_tier(|root, sandbox| {
        let expecting = |bytes| MoveOptions { expected: Some(sha256(bytes)), ..PLAIN };
        let (end, error) = refused(sandbox, "a", "c", expecting(b"b"));
        assert!(matches!((end, error), (MoveEnd::From, EntryError::Write(WriteError::Changed))));
        assert!(matches!(refused(sandbox, "d", "c", expecting(b"")).1, EntryError::NotComparable));
        rename(sandbox, "a", "c", expecting(b"a")).unwrap();
        assert_eq!(names(root), ["b", "c", "d"]);
    });
}

#[test]
fn a_move_that_fails_or_is_tried_leaves_no_folder() {
    in_each_tier(|root, sandbox| {
        let trial = MoveOptions { dry_run: true, ..PLAIN };
        assert_eq!(rename(sandbox, "a", "x/y/z", trial).unwrap().folders, Vec::<String>::new());
        let called_off = sandbox.move_entry(
            &path("a"),
            &path("x/y/z"),
            &PLAIN,
            Callbacks::without_confirm(&|| true),
        );
        assert!(matches!(called_off, Err(MoveError { error: EntryError::Cancelled, .. })));
        let (end, error) = refused(sandbox, "a", "b/y/z", PLAIN);
        assert!(matches!((end, error), (MoveEnd::To, EntryError::FileInTheWay)));
        let (end, error) = refused(sandbox, "a/y", "x/y", PLAIN);
        assert!(matches!((end, error), (MoveEnd::From, EntryError::Open(OpenError::NotFolder))));
        assert!(matches!(refused(sandbox, "a", "x/", PLAIN).1, EntryError::NamesFolder));
        assert_eq!(names(root), ["a", "b", "d"]);
    });
}

/// X02.
#[test]
fn of_racing_moves_to_one_name_one_wins_and_no_file_is_lost() {
    in_each_tier(|root, sandbox| {
        for round in 0..50 {
            for number in 0..4 {
                fs::write(root.join(format!("from-{number}")), number.to_string()).unwrap();
            }
            let to = format!("to-{round}");
            let won = std::thread::scope(|scope| {
                let moves: Vec<_> = (0..4)
                    .map(|number| {
                        let to = &to;
                        scope.spawn(move || {
                            rename(sandbox, &format!("from-{number}"), to, PLAIN).is_ok()
                        })
                    })
                    .collect();
                moves.into_iter().map(|moved| moved.join().unwrap()).collect::<Vec<_>>()
            });
            assert_eq!(won.iter().filter(|won| **won).count(), 1, "{won:?}");
            for (number, won) in won.into_iter().enumerate() {
                let place = if won { to.clone() } else { format!("from-{number}") };
                assert_eq!(read(root, &place), Some(number.to_string()));
            }
        }
    });
}

#[cfg(unix)]
mod on_unix {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_link_is_moved_itself_and_replaced_itself() {
        in_each_tier(|root, sandbox| {
            symlink("a", root.join("link")).unwrap();
            assert_eq!(rename(sandbox, "link", "d/link", PLAIN).unwrap().kind, EntryKind::Link);
            assert_eq!(fs::read_link(root.join("d/link")).unwrap(), Path::new("a"));
            let moved = rename(sandbox, "b", "d/link", OVER).unwrap();
            assert_eq!(moved.replaced, Some(EntryKind::Link));
            assert_eq!(read(root, "d/link").as_deref(), Some("b"));
            assert_eq!(read(root, "a").as_deref(), Some("a"));
        });
    }

    #[test]
    fn two_names_of_one_file_are_the_same_place() {
        in_each_tier(|root, sandbox| {
            fs::hard_link(root.join("a"), root.join("A")).unwrap();
            fs::hard_link(root.join("a"), root.join("d/a")).unwrap();
            for to in ["A", "d/a"] {
                assert!(matches!(refused(sandbox, "a", to, OVER).1, EntryError::Same), "{to}");
            }
            assert_eq!(names(root), ["A", "a", "b", "d"]);
        });
    }

    #[test]
    fn links_to_outside_lead_nowhere_and_dangling_ones_are_no_folders() {
        in_each_tier(|root, sandbox| {
            let outside = tempfile::tempdir().unwrap();
            symlink(outside.path(), root.join("out")).unwrap();
            symlink("nothing", root.join("dangling")).unwrap();
            let (end, error) = refused(sandbox, "a", "out/a", OVER);
            assert!(matches!((end, error), (MoveEnd::To, EntryError::Open(OpenError::Escapes))));
            let (end, error) = refused(sandbox, "out/a", "c", OVER);
            assert!(matches!((end, error), (MoveEnd::From, EntryError::Open(OpenError::Escapes))));
            let (_, error) = refused(sandbox, "a", "dangling/a", OVER);
            assert!(matches!(error, EntryError::DanglingLink), "{error:?}");
        });
    }

    /// X07.
    #[test]
    fn a_folder_is_not_moved_into_itself_through_a_link_either() {
        in_each_tier(|root, sandbox| {
            symlink("d", root.join("link")).unwrap();
            for dry_run in [true, false] {
                let options = MoveOptions { dry_run, ..PLAIN };
                for to in ["link/x", "link/e/x", "link/new/x"] {
                    let (end, error) = refused(sandbox, "d", to, options);
                    assert!(matches!((end, error), (MoveEnd::To, EntryError::IntoItself)), "{to}");
                }
            }
            assert_eq!(names(&root.join("d")), ["e"]);
        });
    }

    #[test]
    fn an_expected_file_replaces_another_and_nothing_else_stays() {
        in_each_tier(|root, sandbox| {
            let options = MoveOptions { expected: Some(sha256(b"a")), ..OVER };
            let moved = rename(sandbox, "a", "d/e/f", options).unwrap();
            assert_eq!(moved.replaced, Some(EntryKind::File));
            assert_eq!(read(root, "d/e/f").as_deref(), Some("a"));
            assert_eq!(
                (names(root), names(&root.join("d/e"))),
                (vec!["b".to_owned(), "d".to_owned()], vec!["f".to_owned()])
            );
        });
    }

    /// The source is replaced again and again by a file with other bytes, and back.
    #[test]
    fn a_file_that_takes_the_place_of_the_expected_one_is_not_moved() {
        use std::sync::atomic::{AtomicBool, Ordering};

        for overwrite in [false, true] {
            let directory = tempfile::tempdir().unwrap();
            let root = directory.path();
            fs::create_dir(root.join("beside")).unwrap();
            let sandbox = Sandbox::open(root).unwrap();
            let is_over = AtomicBool::new(false);
            let (moved, wrong) = std::thread::scope(|scope| {
                scope.spawn(|| {
                    while !is_over.load(Ordering::Relaxed) {
                        for bytes in ["right", "wrong"] {
                            fs::write(root.join("beside/new"), bytes).unwrap();
                            fs::rename(root.join("beside/new"), root.join("source")).unwrap();
                        }
                    }
                });
                let options = MoveOptions {
                    overwrite,
                    expected: Some(sha256(b"right")),
                    expected_kind: None,
                    durable: false,
                    dry_run: false,
                };
                let mut counts = (0, 0);
                for round in 0..2_000 {
                    let to = format!("to-{}", if overwrite { 0 } else { round });
                    if overwrite {
                        fs::write(root.join(&to), "old").unwrap();
                    }
                    if rename(&sandbox, "source", &to, options).is_ok() {
                        counts.0 += 1;
                        counts.1 += u32::from(read(root, &to).as_deref() != Some("right"));
                    }
                }
                is_over.store(true, Ordering::Relaxed);
                counts
            });
            assert!(moved > 0);
            assert_eq!(wrong, 0, "of {moved}, overwriting: {overwrite}");
        }
    }

    #[test]
    fn a_move_does_not_wait_for_the_change_around_it_that_has_replaced_the_file() {
        in_each_tier(|root, sandbox| {
            let move_on = || {
                let begun = std::time::Instant::now();
                let callbacks = Callbacks { cancelled: &|| false, confirm: Some(&|| true) };
                sandbox.move_entry(&path("a"), &path("c"), &PLAIN, callbacks).unwrap();
                begun.elapsed() < std::time::Duration::from_millis(900)
            };
            let content = crate::sandbox::NewContent {
                bytes: b"new",
                overwrite: true,
                expected: None,
                durable: false,
                executable: None,
            };
            let callbacks = Callbacks { cancelled: &|| false, confirm: Some(&move_on) };
            sandbox.replace_file(&path("a"), &content, callbacks).unwrap();
            assert_eq!((read(root, "a"), read(root, "c").as_deref()), (None, Some("new")));
        });
    }

    /// A file system without renames that replace nothing.
    #[test]
    fn without_an_exclusive_rename_an_entry_is_linked_to_its_new_name_alone() {
        in_each_tier(|root, sandbox| {
            symlink("a", root.join("link")).unwrap();
            let folder = &sandbox.directory;
            let rename = |from: &str, to: &str| {
                let entry = system::hold(folder, from.as_ref()).unwrap();
                system::rename_in_two_steps(&entry, (folder, from.as_ref()), (folder, to.as_ref()))
            };
            for from in ["a", "link", "d"] {
                let to = format!("new {from}");
                let entry = system::hold(folder, from.as_ref()).unwrap();
                rename(from, &to).unwrap();
                assert!(entry.is_at(folder, to.as_ref()).unwrap());
                assert_eq!(rename(&to, "b"), Err(rustix::io::Errno::EXIST));
            }
            assert_eq!(names(root), ["b", "new a", "new d", "new link"]);
            assert_eq!(read(root, "b").as_deref(), Some("b"));
        });
    }

    #[test]
    fn without_an_exclusive_rename_another_entry_at_the_old_name_is_moved_whole() {
        in_each_tier(|root, sandbox| {
            let folder = &sandbox.directory;
            let entry = system::hold(folder, "a".as_ref()).unwrap();
            // Another program puts a file there.
            fs::rename(root.join("b"), root.join("a")).unwrap();
            let (from, to) = ((folder, "a".as_ref()), (folder, "new".as_ref()));
            system::rename_in_two_steps(&entry, from, to).unwrap();
            assert_eq!(names(root), ["d", "new"]);
            assert_eq!(read(root, "new").as_deref(), Some("b"));
        });
    }

    /// A file system without hard links.
    #[test]
    fn without_an_exclusive_rename_an_empty_entry_keeps_the_new_name() {
        in_each_tier(|root, sandbox| {
            for (from, to) in [("a", "new"), ("d", "folder")] {
                let is_folder = from == "d";
                let (stands, goes) =
                    ((&sandbox.directory, from.as_ref()), (&sandbox.directory, to.as_ref()));
                system::rename_over_placeholder(stands, goes, is_folder).unwrap();
                let again =
                    system::rename_over_placeholder(goes, (goes.0, "b".as_ref()), is_folder);
                assert_eq!(again, Err(rustix::io::Errno::EXIST));
            }
            assert_eq!(names(root), ["b", "folder", "new"]);
            assert_eq!(read(root, "folder/e/f").as_deref(), Some("f"));
        });
    }
}

/// macOS and Windows find names without regard to case.
#[test]
#[cfg_attr(windows, ignore = "Wine renames nothing where both names are one file")]
fn a_change_of_case_alone_is_a_move_where_case_does_not_count() {
    in_each_tier(|root, sandbox| {
        if !root.join("B").exists() {
            return;
        }
        for (from, to) in [("b", "B"), ("d", "D")] {
            rename(sandbox, from, to, PLAIN).unwrap();
        }
        assert_eq!(names(root), ["B", "D", "a"]);
    });
}
