//! Changes that are confirmed, and that are taken back: each alone, and nested in one another.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use proptest::prelude::*;

use super::*;
use crate::hash::sha256;
use crate::path::EntryPath;
use crate::sandbox::{
    EntryError, Expected, MoveOptions, NewContent, RemoveOptions, Sandbox, WriteError,
};

/// What `confirm` of a [`Change`] is.
type Confirm<'a> = Option<&'a dyn Fn() -> bool>;

#[derive(Debug, Clone, Copy, PartialEq)]
enum Expecting {
    Nothing,
    Bytes(&'static str),
    Hash(&'static str),
}

/// One change of the workspace of [`workspace`].
#[derive(Debug, Clone, Copy, PartialEq)]
enum Change {
    Create { path: &'static str, executable: Option<bool> },
    Replace { path: &'static str, expecting: Expecting, durable: bool, executable: Option<bool> },
    Remove { path: &'static str, expecting: Expecting },
    Move { from: &'static str, to: &'static str },
}

use Change::{Create, Move, Remove, Replace};

impl Change {
    const fn create(path: &'static str) -> Self {
        Create { path, executable: None }
    }

    const fn replace(path: &'static str) -> Self {
        Replace { path, expecting: Expecting::Nothing, durable: false, executable: None }
    }

    const fn remove(path: &'static str) -> Self {
        Remove { path, expecting: Expecting::Nothing }
    }
}

/// How a change ended.
#[derive(Debug, PartialEq)]
enum End {
    Made,
    /// Taken back wholly.
    TakenBack,
    /// Something is kept, or stands.
    Kept(String),
    Refused(String),
}

fn content(executable: Option<bool>) -> NewContent<'static> {
    NewContent { bytes: b"new", overwrite: true, expected: None, durable: true, executable }
}

fn path(path: &str) -> EntryPath {
    EntryPath::parse(path, |_| None).unwrap()
}

fn make(sandbox: &Sandbox, change: Change, confirm: Confirm<'_>) -> End {
    let callbacks = Callbacks { confirm, ..Callbacks::without_confirm(&|| false) };
    match change {
        Create { path: at, executable } => {
            let created = sandbox.create_new_file(&path(at), &content(executable), callbacks);
            created.map(drop).map_or_else(|error| of_write(&error), |()| End::Made)
        }
        Replace { path: at, expecting, durable, executable } => {
            let expected = match expecting {
                Expecting::Nothing => None,
                Expecting::Bytes(bytes) => Some(Expected::Bytes(bytes.as_bytes())),
                Expecting::Hash(bytes) => Some(Expected::Sha256(sha256(bytes.as_bytes()))),
            };
            let content = NewContent { expected, durable, ..content(executable) };
            if expected.is_none() && sandbox.check_replaceable(&path(at)).is_err() {
                // It would be created.
                return End::Refused("nothing to replace".into());
            }
            let replaced = sandbox.replace_file(&path(at), &content, callbacks);
            replaced.map(drop).map_or_else(|error| of_write(&error), |()| End::Made)
        }
        Remove { path: at, expecting } => {
            let expected = match expecting {
                Expecting::Nothing => None,
                Expecting::Bytes(bytes) | Expecting::Hash(bytes) => Some(sha256(bytes.as_bytes())),
            };
            let options = RemoveOptions {
                recursive: true,
                expected,
                durable: true,
                ..RemoveOptions::default()
            };
            let removed = sandbox.remove_entry(&path(at), &options, callbacks);
            removed.map(drop).map_or_else(|error| of_entry(&error), |()| End::Made)
        }
        Move { from, to } => {
            let options = MoveOptions { durable: true, ..MoveOptions::default() };
            let moved = sandbox.move_entry(&path(from), &path(to), &options, callbacks);
            moved.map(drop).map_or_else(|error| of_entry(&error.error), |()| End::Made)
        }
    }
}

fn of_write(error: &WriteError) -> End {
    match error {
        WriteError::Cancelled => End::TakenBack,
        WriteError::Kept { .. } | WriteError::Flawed(_) => End::Kept(error.to_string()),
        _ => End::Refused(error.to_string()),
    }
}

fn of_entry(error: &EntryError) -> End {
    match error {
        EntryError::Cancelled => End::TakenBack,
        EntryError::Kept(_) | EntryError::Unfinished { .. } => End::Kept(error.to_string()),
        EntryError::Write(error) => of_write(error),
        _ => End::Refused(error.to_string()),
    }
}

/// Makes changes, each in `confirm` of the one before, and `last` in that of the last one.
fn nest(sandbox: &Sandbox, changes: &[Change], last: &dyn Fn() -> bool) -> bool {
    let Some((&change, nested)) = changes.split_first() else { return last() };
    let was_made = Cell::new(false);
    let confirm = || {
        was_made.set(nest(sandbox, nested, last));
        was_made.get()
    };
    match make(sandbox, change, Some(&confirm)) {
        End::Made => true,
        End::Kept(stray) => panic!("{change:?} of {changes:?}: {stray}"),
        refused => {
            assert!(!was_made.get(), "{change:?} was confirmed, and then {refused:?}");
            false
        }
    }
}

fn workspace(root: &Path) {
    fs::create_dir_all(root.join("d/e")).unwrap();
    for name in ["a", "b", "c", "d/1", "d/e/2"] {
        fs::write(root.join(name), format!("old {name}")).unwrap();
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::{PermissionsExt, symlink};
        fs::set_permissions(root.join("b"), fs::Permissions::from_mode(0o640)).unwrap();
        fs::set_permissions(root.join("c"), fs::Permissions::from_mode(0o751)).unwrap();
        symlink("a", root.join("link")).unwrap();
        symlink("nothing", root.join("dangling")).unwrap();
    }
}

/// A workspace on each tier.
fn in_each_tier(test: impl Fn(&Path, &Sandbox)) {
    for open in [Sandbox::open, Sandbox::open_walking] {
        let directory = tempfile::tempdir().unwrap();
        workspace(directory.path());
        test(directory.path(), &open(directory.path()).unwrap());
    }
}

/// Everything in a folder: what each entry holds, its mode, and its number if `by_number`.
fn tree(root: &Path, by_number: bool) -> BTreeMap<String, String> {
    fn visit(root: &Path, at: &str, by_number: bool, found: &mut BTreeMap<String, String>) {
        for entry in fs::read_dir(root.join(at)).unwrap() {
            let entry = entry.unwrap();
            let path = format!("{at}{}", entry.file_name().to_str().unwrap());
            let metadata = fs::symlink_metadata(entry.path()).unwrap();
            let held = if metadata.is_symlink() {
                format!("link to {}", fs::read_link(entry.path()).unwrap().display())
            } else if metadata.is_dir() {
                visit(root, &format!("{path}/"), by_number, found);
                "folder".to_owned()
            } else {
                format!("{:?}", fs::read(entry.path()).unwrap())
            };
            found.insert(path, format!("{held} {}", facts(&metadata, by_number)));
        }
    }
    let mut found = BTreeMap::new();
    visit(root, "", by_number, &mut found);
    found
}

#[cfg(unix)]
fn facts(metadata: &fs::Metadata, by_number: bool) -> String {
    use std::os::unix::fs::MetadataExt;
    let number = if by_number { metadata.ino() } else { 0 };
    format!("{:o} {number}", metadata.mode())
}

#[cfg(windows)]
fn facts(_: &fs::Metadata, _: bool) -> String {
    String::new()
}

/// Whether names can be exchanged here, so that a file that is taken back is the same file.
#[cfg(unix)]
fn exchanges() -> bool {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    let directory = tempfile::tempdir().unwrap();
    let [one, other] = ["one", "other"].map(|name| directory.path().join(name));
    fs::write(&one, "").unwrap();
    fs::write(&other, "").unwrap();
    renameat_with(CWD, &one, CWD, &other, RenameFlags::EXCHANGE).is_ok()
}

#[cfg(windows)]
fn exchanges() -> bool {
    false
}

/// Changes of different entries, of every kind.
fn changes() -> Vec<Change> {
    let replace =
        |path, expecting, durable, executable| Replace { path, expecting, durable, executable };
    let mut changes = vec![
        Change::create("n"),
        Create { path: "new/deep/n", executable: Some(true) },
        replace("a", Expecting::Nothing, false, None),
        replace("b", Expecting::Bytes("old b"), false, Some(true)),
        replace("c", Expecting::Hash("old c"), true, Some(false)),
        replace("d/1", Expecting::Nothing, true, None),
        Remove { path: "d/e/2", expecting: Expecting::Hash("old d/e/2") },
    ];
    if cfg!(unix) {
        changes.extend([Change::remove("dangling"), Move { from: "link", to: "elsewhere/link" }]);
    }
    changes
}

/// [`changes`], and those that change an entry of one of them in another way.
fn single_changes() -> Vec<Change> {
    let mut changes = changes();
    changes.extend([
        Change::remove("a"),
        Change::remove("d"),
        Move { from: "a", to: "m" },
        Move { from: "b", to: "new/deep/m" },
        Move { from: "d", to: "m" },
        Move { from: "d/e", to: "new/deep/m" },
    ]);
    if cfg!(unix) {
        // Through a link, which stays.
        changes.push(Change::replace("link"));
    }
    changes
}

#[test]
fn a_change_that_is_confirmed_stays_and_was_visible_when_it_was_asked_about() {
    for change in single_changes() {
        in_each_tier(|root, sandbox| {
            let before = tree(root, false);
            let (asked, seen) = (Cell::new(0), RefCell::new(BTreeMap::new()));
            let confirm = || {
                asked.set(asked.get() + 1);
                // Windows lets nobody else read all of what a change holds.
                if cfg!(unix) {
                    *seen.borrow_mut() = tree(root, false);
                }
                true
            };
            assert_eq!(make(sandbox, change, Some(&confirm)), End::Made, "{change:?}");
            assert_eq!(asked.get(), 1, "{change:?}");
            let after = tree(root, false);
            assert_ne!(after, before);
            let is_temporary = |name: &String| name.contains(".rf-");
            assert!(!after.keys().any(is_temporary), "{change:?} {after:?}");
            let mut seen = seen.into_inner();
            seen.retain(|name, _| !is_temporary(name));
            if cfg!(unix) {
                assert_eq!(seen, after, "{change:?}");
            }
        });
    }
}

#[test]
fn a_change_that_is_not_confirmed_leaves_all_as_it_was() {
    let exchanges = exchanges();
    for change in single_changes() {
        in_each_tier(|root, sandbox| {
            let before = tree(root, exchanges);
            let asked = Cell::new(0);
            let confirm = || {
                asked.set(asked.get() + 1);
                false
            };
            assert_eq!(make(sandbox, change, Some(&confirm)), End::TakenBack, "{change:?}");
            assert_eq!(asked.get(), 1, "{change:?}");
            assert_eq!(tree(root, exchanges), before, "{change:?}");
        });
    }
}

#[test]
fn a_change_that_fails_asks_nobody() {
    in_each_tier(|root, sandbox| {
        let before = tree(root, true);
        let confirm = || panic!("asked");
        let expecting = Expecting::Hash("other");
        for change in [
            Change::create("a"),
            Change::create("a/n"),
            Replace { path: "a", expecting, durable: true, executable: None },
            Remove { path: "a", expecting },
            Change::remove("none"),
            Move { from: "a", to: "b" },
            Move { from: "d", to: "d/e/d" },
        ] {
            let refused = make(sandbox, change, Some(&confirm));
            assert!(matches!(refused, End::Refused(_)), "{change:?} {refused:?}");
        }
        assert_eq!(tree(root, true), before);
    });
}

#[test]
fn of_nested_changes_all_are_made_or_none() {
    let exchanges = exchanges();
    let changes = changes();
    for shift in 0..changes.len() {
        for is_reversed in [false, true] {
            let mut list = changes.clone();
            list.rotate_left(shift);
            list.truncate(3);
            if is_reversed {
                list.reverse();
            }
            in_each_tier(|root, sandbox| {
                let before = tree(root, exchanges);
                assert!(!nest(sandbox, &list, &|| false));
                assert_eq!(tree(root, exchanges), before, "{list:?}");

                // The innermost one fails by itself.
                let failing = [&list[..], &[Move { from: "none", to: "n2" }]].concat();
                assert!(!nest(sandbox, &failing, &|| panic!("asked")));
                assert_eq!(tree(root, exchanges), before, "{list:?}");

                assert!(nest(sandbox, &list, &|| true), "{list:?}");
                let nested = tree(root, false);
                let alone = tempfile::tempdir().unwrap();
                workspace(alone.path());
                let sandbox = Sandbox::open(alone.path()).unwrap();
                assert!(list.iter().all(|&change| make(&sandbox, change, None) == End::Made));
                assert_eq!(nested, tree(alone.path(), false), "{list:?}");
            });
        }
    }
}

#[test]
fn a_file_is_changed_and_then_moved_or_not_at_all() {
    let exchanges = exchanges();
    in_each_tier(|root, sandbox| {
        let list = [Change::replace("d/1"), Move { from: "d/1", to: "new/m" }];
        let before = tree(root, exchanges);
        assert!(!nest(sandbox, &list, &|| false));
        assert_eq!(tree(root, exchanges), before);
        assert!(nest(sandbox, &list, &|| true));
        assert_eq!(fs::read(root.join("new/m")).unwrap(), b"new");
        assert!(!root.join("d/1").exists());
    });
}

#[test]
fn what_another_program_puts_over_the_new_file_stays() {
    for change in [Change::create("n"), Change::replace("a")] {
        let at = if change == Change::create("n") { "n" } else { "a" };
        in_each_tier(|root, sandbox| {
            let confirm = || {
                fs::write(root.join("theirs"), "theirs").unwrap();
                // On Windows, nobody replaces a file while it is being created.
                let _ = fs::rename(root.join("theirs"), root.join(at));
                false
            };
            let end = make(sandbox, change, Some(&confirm));
            let theirs = if root.join("theirs").exists() { "theirs" } else { at };
            assert_eq!(fs::read_to_string(root.join(theirs)).unwrap(), "theirs", "{end:?}");
            assert!(matches!(end, End::TakenBack | End::Kept(_)), "{end:?}");
        });
    }
}

#[test]
fn what_another_program_writes_to_the_new_file_is_kept_and_told() {
    for change in [Change::create("n"), Change::replace("a")] {
        let at = if change == Change::create("n") { "n" } else { "a" };
        in_each_tier(|root, sandbox| {
            let has_written = Cell::new(false);
            let confirm = || {
                // On Windows, nobody else writes to a file while it is being created.
                has_written.set(fs::write(root.join(at), "theirs").is_ok());
                false
            };
            let end = make(sandbox, change, Some(&confirm));
            if !has_written.get() {
                return assert_eq!(end, End::TakenBack);
            }
            let End::Kept(told) = end else { panic!("{end:?}") };
            let held = tree(root, false);
            let theirs = format!("{:?}", b"theirs");
            let kept = held.iter().find(|(_, holds)| holds.starts_with(&theirs));
            let (kept, _) = kept.unwrap_or_else(|| panic!("{held:?}"));
            assert!(kept == at || told.contains(kept), "{kept} {told}");
            if kept != at && at == "a" {
                assert_eq!(fs::read_to_string(root.join("a")).unwrap(), "old a");
            }
        });
    }
}

#[test]
fn what_another_program_puts_at_the_old_name_stays_and_what_stood_there_is_kept_and_told() {
    for change in [Change::remove("a"), Change::remove("d"), Move { from: "a", to: "m" }] {
        let at = if change == Change::remove("d") { "d" } else { "a" };
        in_each_tier(|root, sandbox| {
            let has_written = Cell::new(false);
            let confirm = || {
                // On Windows, the name of a file that is about to be removed is taken. Wine opens it.
                has_written.set(fs::write(root.join(at), "theirs").is_ok());
                false
            };
            let end = make(sandbox, change, Some(&confirm));
            if has_written.get() {
                assert_eq!(fs::read_to_string(root.join(at)).unwrap(), "theirs");
            }
            if !has_written.get() || cfg!(windows) && change == Change::remove("a") {
                return assert_eq!(end, End::TakenBack);
            }
            let End::Kept(told) = end else { panic!("{end:?}") };
            let held = if at == "a" { "old a" } else { "old d/e/2" };
            let held = format!("{:?}", held.as_bytes());
            let kept = tree(root, false).into_iter().find(|(_, holds)| holds.starts_with(&held));
            let (kept, _) = kept.unwrap_or_else(|| panic!("{told}"));
            let name = kept.trim_end_matches("/e/2");
            assert!(told.contains(name), "{name}: {told}");
        });
    }
}

#[test]
fn a_change_is_not_attempted_anew_once_it_was_confirmed() {
    in_each_tier(|root, sandbox| {
        let asked = Cell::new(0);
        let confirm = || {
            asked.set(asked.get() + 1);
            fs::rename(root.join("a"), root.join("taken away")).unwrap();
            true
        };
        let options = MoveOptions { overwrite: true, ..MoveOptions::default() };
        let callbacks = Callbacks { cancelled: &|| false, confirm: Some(&confirm) };
        let moved = sandbox.move_entry(&path("a"), &path("b"), &options, callbacks);
        // Windows moves the entry by its handle, wherever it is.
        if cfg!(unix) {
            let error = moved.unwrap_err().error;
            assert!(matches!(error, EntryError::Contended), "{error:?}");
        }
        assert_eq!(asked.get(), 1);
    });
}

#[test]
fn a_move_that_replaces_asks_before() {
    in_each_tier(|root, sandbox| {
        let before = tree(root, true);
        let options = MoveOptions { overwrite: true, ..MoveOptions::default() };
        for expected in [None, Some(sha256(b"old a"))] {
            let callbacks = Callbacks { cancelled: &|| false, confirm: Some(&|| false) };
            let options = MoveOptions { expected, ..options };
            let moved = sandbox.move_entry(&path("a"), &path("b"), &options, callbacks);
            assert!(matches!(moved.unwrap_err().error, EntryError::Cancelled));
            assert_eq!(tree(root, true), before);
        }
    });
}

#[test]
fn what_may_be_created_is_told_beforehand_as_by_the_attempt() {
    in_each_tier(|root, sandbox| {
        let before = tree(root, true);
        let long = "x".repeat(300);
        let links: &[&str] = if cfg!(unix) { &["link", "dangling"] } else { &[] };
        let others = ["n", "new/deep/n", "a", "a/n", "d", "d/", "n/", ".", &long];
        for &at in others.iter().chain(links) {
            let Ok(entry) = EntryPath::parse(at, |_| None) else { continue };
            let told = sandbox.check_creatable(&entry);
            assert_eq!(tree(root, true), before);
            let callbacks = Callbacks { cancelled: &|| false, confirm: Some(&|| false) };
            let tried = sandbox.create_new_file(&entry, &content(None), callbacks).unwrap_err();
            assert_eq!(tree(root, true), before);
            let is_creatable = matches!(tried, WriteError::Cancelled);
            let told = told.map_or_else(|error| error.to_string(), |()| "aborted".to_owned());
            assert_eq!(told, tried.to_string(), "{at:?}");
            assert_eq!(is_creatable, ["n", "new/deep/n"].contains(&at), "{at}");
        }
    });
}

/// The address of a local variable.
#[inline(never)]
fn depth_of_stack() -> usize {
    let local = 0_u8;
    std::hint::black_box(&raw const local) as usize
}

/// A thousand changes may be nested; whoever does so makes the stack as large as this says.
#[test]
fn a_nested_change_takes_less_than_16_kib_of_stack() {
    for change in single_changes() {
        in_each_tier(|_, sandbox| {
            let (outside, inside) = (depth_of_stack(), Cell::new(0));
            let confirm = || {
                inside.set(depth_of_stack());
                false
            };
            assert_eq!(make(sandbox, change, Some(&confirm)), End::TakenBack);
            let taken = outside - inside.get();
            eprintln!("{change:?}: {taken} bytes");
            assert!(taken < 16 << 10, "{change:?} takes {taken} bytes");
        });
    }
}

/// One of the changes that [`lists`] draws from: several may concern one entry.
fn any_change() -> impl Strategy<Value = Change> {
    let file = || prop::sample::select(vec!["a", "b", "c", "d/1", "d/e/2", "none"]);
    let free = || prop::sample::select(vec!["n", "d/n", "new/n", "new/deep/n", "a"]);
    let entry = || {
        let all = ["a", "b", "c", "d", "d/1", "d/e", "link", "dangling", "none"];
        prop::sample::select(all.to_vec())
    };
    prop_oneof![
        (free(), any::<Option<bool>>()).prop_map(|(path, executable)| Create { path, executable }),
        (file(), any::<bool>(), any::<bool>(), any::<Option<bool>>()).prop_map(
            |(path, compares, durable, executable)| {
                let old = ["old a", "old b", "old c", "old d/1", "old d/e/2"];
                let old = old.into_iter().find(|old| old.ends_with(path)).filter(|_| compares);
                let expecting = old.map_or(Expecting::Nothing, Expecting::Bytes);
                Replace { path, expecting, durable, executable }
            }
        ),
        entry().prop_map(Change::remove),
        (entry(), free()).prop_map(|(from, to)| Move { from, to }),
    ]
}

/// Lists of changes. The one restriction of nested changes holds: no file is replaced, removed or compared
/// that a change around holds. On Windows, a change holds more.
fn lists() -> impl Strategy<Value = Vec<Change>> {
    prop::collection::vec(any_change(), 1..8).prop_map(|changes| {
        let mut held: Vec<&str> = Vec::new();
        let mut list = Vec::new();
        for change in changes {
            let (named, holds): (Vec<&str>, _) = match change {
                Create { path, .. } | Replace { path, .. } | Remove { path, .. } => {
                    (vec![path], vec![path])
                }
                // A file that was replaced may be moved.
                Move { from, to } if list.contains(&Change::replace(from)) => {
                    (vec![to], vec![from, to])
                }
                Move { from, to } => (vec![from, to], vec![from, to]),
            };
            let meets = |one: &str, other: &str| {
                let within = |one: &str, other: &str| {
                    one.strip_prefix(other).is_some_and(|rest| rest.starts_with('/'))
                };
                one == other || within(one, other) || within(other, one)
            };
            if !named.iter().any(|name| held.iter().any(|held| meets(name, held))) {
                held.extend(holds);
                list.push(change);
            }
        }
        list
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases / 2))]

    #[test]
    fn nested_changes_are_all_made_or_none_whichever_they_are(
        list in lists(),
        fails_at_last in any::<bool>(),
        walks in any::<bool>(),
    ) {
        let [nested, alone] = [(), ()].map(|()| {
            let directory = tempfile::tempdir().unwrap();
            workspace(directory.path());
            directory
        });
        let open = if walks { Sandbox::open_walking } else { Sandbox::open };
        let sandbox = open(alone.path()).unwrap();
        let all_alone = list.iter().all(|&change| make(&sandbox, change, None) == End::Made);

        let exchanges = exchanges();
        let before = tree(nested.path(), exchanges);
        let sandbox = open(nested.path()).unwrap();
        let all_nested = nest(&sandbox, &list, &|| !fails_at_last);
        prop_assert_eq!(all_nested, all_alone && !fails_at_last);
        if all_nested {
            prop_assert_eq!(tree(nested.path(), false), tree(alone.path(), false));
        } else {
            prop_assert_eq!(tree(nested.path(), exchanges), before);
        }
    }
}

#[cfg(unix)]
mod on_unix {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn mode(root: &Path, name: &str) -> u32 {
        fs::metadata(root.join(name)).unwrap().permissions().mode() & 0o7777
    }

    fn set_mode(root: &Path, name: &str, mode: u32) {
        fs::set_permissions(root.join(name), fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn who_may_read_may_execute_or_nobody() {
        in_each_tier(|root, sandbox| {
            for (old, is_executable, new) in [
                (0o644, true, 0o755),
                (0o640, true, 0o750),
                (0o604, true, 0o705),
                (0o755, true, 0o755),
                (0o755, false, 0o644),
                (0o711, false, 0o600),
                (0o1644, true, 0o1755),
            ] {
                set_mode(root, "a", old);
                let executable = Some(is_executable);
                let bytes = Expecting::Bytes("old a");
                for expecting in [Expecting::Nothing, bytes] {
                    fs::write(root.join("a"), "old a").unwrap();
                    set_mode(root, "a", old);
                    let change = Replace { path: "a", expecting, durable: false, executable };
                    let seen = Cell::new(0);
                    let see = |stays| {
                        seen.set(mode(root, "a"));
                        stays
                    };
                    assert_eq!(make(sandbox, change, Some(&|| see(false))), End::TakenBack);
                    assert_eq!((seen.get(), mode(root, "a")), (new, old), "{old:o}");
                    assert_eq!(make(sandbox, change, Some(&|| see(true))), End::Made);
                    assert_eq!((seen.get(), mode(root, "a")), (new, new), "{old:o}");
                }
            }
        });
    }

    #[test]
    fn a_new_file_is_made_as_executable_as_a_new_folder_is_open() {
        in_each_tier(|root, sandbox| {
            fs::create_dir(root.join("folder")).unwrap();
            let open = mode(root, "folder") & 0o777;
            for (name, executable, mask) in
                [("n1", None, 0o666), ("n2", Some(false), 0o666), ("n3", Some(true), 0o777)]
            {
                assert_eq!(make(sandbox, Create { path: name, executable }, None), End::Made);
                assert_eq!(mode(root, name), open & mask, "{name}");
            }
        });
    }

    #[test]
    fn a_file_of_special_rights_is_taken_back_with_them() {
        in_each_tier(|root, sandbox| {
            set_mode(root, "a", 0o4711);
            let before = tree(root, false);
            assert_eq!(make(sandbox, Change::replace("a"), Some(&|| false)), End::TakenBack);
            assert_eq!(tree(root, false), before);
        });
    }

    /// A second name of the old file lets another program open it although its first one is gone.
    #[test]
    fn a_file_that_another_program_waits_to_write_to_is_kept_when_it_is_too_late_to_put_it_back() {
        use crate::sandbox::system::unix::Writers;

        let directory = tempfile::tempdir().unwrap();
        let root = directory.path();
        workspace(root);
        let file = fs::File::open(root.join("a")).unwrap();
        if !matches!(Writers::of(&file), Writers::Absent(_)) || !exchanges() {
            return eprintln!("skipped: no leases, or no exchange, on this file system");
        }
        drop(file);
        fs::hard_link(root.join("a"), root.join("second")).unwrap();
        let sandbox = Sandbox::open(root).unwrap();
        for is_confirmed in [false, true] {
            std::thread::scope(|scope| {
                let confirm = || {
                    scope.spawn(|| {
                        let file = fs::OpenOptions::new().append(true).open(root.join("second"));
                        std::io::Write::write_all(&mut file.unwrap(), b"!").unwrap();
                    });
                    std::thread::sleep(std::time::Duration::from_millis(100));
                    is_confirmed
                };
                let expecting = Expecting::Bytes(if is_confirmed { "old a!" } else { "old a" });
                let change = Replace { path: "a", expecting, durable: false, executable: None };
                let end = make(&sandbox, change, Some(&confirm));
                if !is_confirmed {
                    return assert_eq!(end, End::TakenBack);
                }
                let End::Kept(told) = end else { panic!("{end:?}") };
                let is_kept = |name: &String| name.starts_with(".rf-") && told.contains(name);
                assert!(tree(root, false).keys().any(is_kept), "{told}");
            });
            let a = if is_confirmed { "new" } else { "old a!" };
            assert_eq!(fs::read_to_string(root.join("a")).unwrap(), a);
        }
    }

    /// Runs in a process of its own, because the limit is that of the whole process.
    #[test]
    fn where_handles_run_out_in_a_nested_change_all_is_taken_back() {
        use std::process::Command;

        use rustix::process::{Resource, getrlimit, setrlimit};

        const CHILD: &str = "RINGFENCE_TEST_FEW_HANDLES";
        if std::env::var_os(CHILD).is_none() {
            let name = "where_handles_run_out_in_a_nested_change_all_is_taken_back";
            let mut child = Command::new(std::env::current_exe().unwrap());
            let output = child.args([name, "--nocapture"]).env(CHILD, "1").output().unwrap();
            assert!(output.status.success(), "{output:?}");
            return;
        }
        if !exchanges() {
            return eprintln!("skipped: each rename that replaces nothing takes a handle here");
        }
        for limit in 60..66 {
            in_each_tier(|root, sandbox| {
                let mut list = Vec::new();
                for number in 0..30 {
                    let [replaced, removed, moved, new, to] =
                        ["replaced", "removed", "moved", "x/new", "to"]
                            .map(|name| &*format!("{name}-{number}").leak());
                    for name in [replaced, removed, moved] {
                        fs::write(root.join(name), "old").unwrap();
                    }
                    list.push(Change::replace(replaced));
                    if number % 3 == 0 {
                        list.extend([Change::remove(removed), Change::create(new)]);
                        list.push(Move { from: moved, to });
                    }
                }
                list.rotate_left(usize::try_from(limit).unwrap() % 6);
                let before = tree(root, true);
                let usual = getrlimit(Resource::Nofile);
                let mut few = usual;
                few.current = Some(limit);
                setrlimit(Resource::Nofile, few).unwrap();
                let are_made = nest(sandbox, &list, &|| true);
                setrlimit(Resource::Nofile, usual).unwrap();
                assert!(!are_made);
                assert_eq!(tree(root, true), before, "{limit}");
            });
        }
    }
}
