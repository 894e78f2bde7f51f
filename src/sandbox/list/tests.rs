//! What both tiers list, and what neither does.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
#[cfg(target_os = "linux")]
use std::path::Path;
use std::path::PathBuf;

use tempfile::TempDir;

use super::*;
use crate::sandbox::EntryKind;
#[cfg(target_os = "linux")]
use crate::sandbox::RootError;

/// A workspace, and beside it a file that must not be reached from it.
struct Scene(TempDir);

impl Scene {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        fs::create_dir_all(directory.path().join("ws/dir/deep")).unwrap();
        fs::write(directory.path().join("ws/a.txt"), "a").unwrap();
        fs::write(directory.path().join("ws/dir/b.txt"), "b").unwrap();
        fs::create_dir(directory.path().join("outside")).unwrap();
        fs::write(directory.path().join("outside/secret.txt"), "secret").unwrap();
        Self(directory)
    }

    fn root(&self) -> PathBuf {
        self.0.path().join("ws")
    }

    fn tiers(&self) -> [Sandbox; 2] {
        [Sandbox::open(&self.root()).unwrap(), Sandbox::open_walking(&self.root()).unwrap()]
    }
}

type Entries = BTreeMap<OsString, EntryKind>;

fn entries(mut folder: ListedFolder<'_>) -> Entries {
    let mut entries = Entries::new();
    let visited = folder.visit(&mut |entry| {
        let replaced = entries.insert(entry.name().to_owned(), entry.kind());
        assert_eq!(replaced, None, "no name comes twice");
        ControlFlow::Continue(())
    });
    visited.unwrap();
    entries
}

fn expected<const N: usize>(entries: [(&str, EntryKind); N]) -> Entries {
    entries.into_iter().map(|(name, kind)| (name.into(), kind)).collect()
}

/// The name of an entry, by a listing of the folder that the names before it lead to.
fn name_in(sandbox: &Sandbox, names: &[&EntryName], name: &str) -> EntryName {
    let mut found = None;
    let mut folder = sandbox.open_folder_by_names(names).unwrap();
    let visited = folder.visit(&mut |entry| {
        if entry.name() == name {
            found = Some(entry.to_name());
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    });
    visited.unwrap();
    found.unwrap()
}

fn error(opened: Result<ListedFolder<'_>, OpenError>) -> String {
    format!("{:?}", opened.map(entries).unwrap_err())
}

fn parse(path: &str) -> WorkspacePath {
    WorkspacePath::parse(path).unwrap()
}

#[test]
fn a_folder_is_listed_by_path_and_by_names() {
    let scene = Scene::new();
    for sandbox in scene.tiers() {
        let root = expected([("a.txt", EntryKind::File), ("dir", EntryKind::Folder)]);
        let dir = expected([("b.txt", EntryKind::File), ("deep", EntryKind::Folder)]);
        assert_eq!(entries(sandbox.open_folder(&WorkspacePath::root()).unwrap()), root);
        assert_eq!(entries(sandbox.open_folder(&parse("dir")).unwrap()), dir);
        assert_eq!(entries(sandbox.open_folder_by_names(&[]).unwrap()), root);
        let name = name_in(&sandbox, &[], "dir");
        assert_eq!(entries(sandbox.open_folder_by_names(&[&name]).unwrap()), dir);
        let deep = name_in(&sandbox, &[&name], "deep");
        assert_eq!(entries(sandbox.open_folder_by_names(&[&name, &deep]).unwrap()), expected([]));
    }
}

#[test]
fn what_is_no_folder_is_told() {
    let scene = Scene::new();
    for sandbox in scene.tiers() {
        assert_eq!(error(sandbox.open_folder(&parse("a.txt"))), "NotFolder");
        assert_eq!(error(sandbox.open_folder(&parse("nope"))), "NotFound");
        let file = name_in(&sandbox, &[], "a.txt");
        assert_eq!(error(sandbox.open_folder_by_names(&[&file])), "NotFolder");
        fs::remove_file(scene.root().join("a.txt")).unwrap();
        assert_eq!(error(sandbox.open_folder_by_names(&[&file])), "NotFound");
        fs::write(scene.root().join("a.txt"), "a").unwrap();
    }
}

#[test]
fn a_visit_that_breaks_off_sees_no_more_and_the_next_one_starts_anew() {
    let scene = Scene::new();
    for sandbox in scene.tiers() {
        let mut folder = sandbox.open_folder_by_names(&[]).unwrap();
        for _ in 0..2 {
            let mut seen = 0;
            let visited = folder.visit(&mut |_| {
                seen += 1;
                ControlFlow::Break(())
            });
            visited.unwrap();
            assert_eq!(seen, 1);
        }
        assert_eq!(entries(folder).len(), 2);
    }
}

#[test]
fn a_large_folder_comes_whole() {
    let scene = Scene::new();
    let names: Vec<OsString> = (0..3000).map(|number| format!("{number:0100}").into()).collect();
    for name in &names {
        fs::write(scene.root().join("dir/deep").join(name), "").unwrap();
    }
    for sandbox in scene.tiers() {
        let listed = entries(sandbox.open_folder(&parse("dir/deep")).unwrap());
        assert!(listed.keys().eq(&names), "{:?}", sandbox.containment());
        assert!(listed.values().all(|&kind| kind == EntryKind::File));
    }
}

#[test]
fn a_file_is_opened_in_the_folder_it_was_listed_in() {
    let scene = Scene::new();
    for sandbox in scene.tiers() {
        let folder = sandbox.open_folder(&parse("dir")).unwrap();
        let file = folder.open_file(&name_in(&sandbox, &[&name_in(&sandbox, &[], "dir")], "b.txt"));
        assert_eq!(file.unwrap().read_to_end(10).unwrap(), b"b");
        let absent = folder.open_file(&name_in(&sandbox, &[], "a.txt"));
        assert!(matches!(absent, Err(OpenError::NotFound)));
        let root = sandbox.open_folder(&WorkspacePath::root()).unwrap();
        let folder = root.open_file(&name_in(&sandbox, &[], "dir"));
        assert!(matches!(folder, Err(OpenError::IsDirectory)));
    }
}

#[test]
fn the_facts_of_an_entry_are_those_that_it_has_now() {
    let scene = Scene::new();
    for sandbox in scene.tiers() {
        let root = sandbox.open_folder(&WorkspacePath::root()).unwrap();
        let (file, folder) = (name_in(&sandbox, &[], "a.txt"), name_in(&sandbox, &[], "dir"));
        fs::write(scene.root().join("a.txt"), "abc").unwrap();
        let half_a_millisecond = std::time::Duration::from_micros(1_234_500);
        let opened = fs::File::options().write(true).open(scene.root().join("a.txt")).unwrap();
        for (modified, expected) in [
            (std::time::UNIX_EPOCH + half_a_millisecond, 1234),
            (std::time::UNIX_EPOCH - half_a_millisecond, -1235),
        ] {
            opened.set_modified(modified).unwrap();
            let facts = root.facts(&file).unwrap();
            assert_eq!((facts.kind, facts.size), (EntryKind::File, 3));
            assert_eq!(facts.modified_ms, expected);
        }
        drop(opened);
        assert_eq!(root.facts(&folder).unwrap().kind, EntryKind::Folder);
        fs::remove_file(scene.root().join("a.txt")).unwrap();
        assert!(matches!(root.facts(&file), Err(OpenError::NotFound)));
        fs::write(scene.root().join("a.txt"), "a").unwrap();
    }
}

/// On Windows a folder that is open is not removed before it is closed.
#[test]
#[cfg(unix)]
fn a_removed_root_is_told() {
    let scene = Scene::new();
    let tiers = scene.tiers();
    fs::remove_dir_all(scene.root()).unwrap();
    for sandbox in tiers {
        assert_eq!(error(sandbox.open_folder(&parse("dir"))), "RootGone");
    }
}

#[test]
fn no_entry_is_named_by_dots_or_has_a_separator() {
    for name in ["", ".", "..", "a/b", "/", "a\0"] {
        assert_eq!(Listed::new(OsStr::new(name), EntryKind::File), None, "{name:?}");
    }
    assert_eq!(Listed::new(OsStr::new(r"a\b"), EntryKind::File).is_none(), cfg!(windows));
    for name in ["...", "..a", " ", "a\n"] {
        assert!(Listed::new(OsStr::new(name), EntryKind::File).is_some(), "{name:?}");
    }
}

#[cfg(unix)]
mod links {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn every_kind_is_told_and_nothing_is_waited_on() {
        let scene = Scene::new();
        let made = std::process::Command::new("mkfifo").arg(scene.root().join("fifo")).status();
        assert!(made.unwrap().success());
        let _listener =
            std::os::unix::net::UnixListener::bind(scene.root().join("socket")).unwrap();
        symlink("dir", scene.root().join("inside")).unwrap();
        symlink("/", scene.root().join("outside")).unwrap();
        symlink("nowhere", scene.root().join("dangling")).unwrap();
        for sandbox in scene.tiers() {
            let listed = entries(sandbox.open_folder_by_names(&[]).unwrap());
            let all = expected([
                ("a.txt", EntryKind::File),
                ("dangling", EntryKind::Link),
                ("dir", EntryKind::Folder),
                ("fifo", EntryKind::Special),
                ("inside", EntryKind::Link),
                ("outside", EntryKind::Link),
                ("socket", EntryKind::Special),
            ]);
            assert_eq!(listed, all);
            let fifo = name_in(&sandbox, &[], "fifo");
            assert_eq!(error(sandbox.open_folder_by_names(&[&fifo])), "NotFolder");
            let opened = sandbox.open_folder_by_names(&[]).unwrap();
            assert!(matches!(opened.open_file(&fifo), Err(OpenError::SpecialFile)));
        }
    }

    #[test]
    fn by_path_links_that_end_inside_are_followed_and_by_names_none_is() {
        let scene = Scene::new();
        symlink("dir", scene.root().join("inside")).unwrap();
        symlink(scene.root().join("dir"), scene.root().join("absolute")).unwrap();
        symlink("../outside", scene.root().join("out")).unwrap();
        for sandbox in scene.tiers() {
            for path in ["inside", "absolute", "inside/deep/.."] {
                let listed = entries(sandbox.open_folder(&parse(path)).unwrap());
                assert!(listed.contains_key(OsStr::new("b.txt")), "{path}");
            }
            assert_eq!(error(sandbox.open_folder(&parse("out"))), "Escapes");
            let deep = name_in(&sandbox, &[&name_in(&sandbox, &[], "dir")], "deep");
            for link in ["inside", "absolute", "out"] {
                let link = name_in(&sandbox, &[], link);
                assert_eq!(error(sandbox.open_folder_by_names(&[&link])), "Escapes");
                assert_eq!(error(sandbox.open_folder_by_names(&[&link, &deep])), "Escapes");
            }
        }
    }

    #[test]
    fn the_facts_of_a_link_are_its_own() {
        let scene = Scene::new();
        symlink("../outside/secret.txt", scene.root().join("out")).unwrap();
        let made = std::process::Command::new("mkfifo").arg(scene.root().join("fifo")).status();
        assert!(made.unwrap().success());
        for sandbox in scene.tiers() {
            let root = sandbox.open_folder_by_names(&[]).unwrap();
            let link = root.facts(&name_in(&sandbox, &[], "out")).unwrap();
            assert_eq!((link.kind, link.size), (EntryKind::Link, 21));
            let fifo = root.facts(&name_in(&sandbox, &[], "fifo")).unwrap();
            assert_eq!(fifo.kind, EntryKind::Special);
        }
    }

    #[test]
    fn a_file_that_is_a_link_is_not_opened_wherever_it_leads() {
        let scene = Scene::new();
        symlink("a.txt", scene.root().join("inside")).unwrap();
        symlink("../outside/secret.txt", scene.root().join("out")).unwrap();
        for sandbox in scene.tiers() {
            let root = sandbox.open_folder_by_names(&[]).unwrap();
            for link in ["inside", "out"] {
                let opened = root.open_file(&name_in(&sandbox, &[], link));
                assert!(matches!(opened, Err(OpenError::Escapes)), "{link}");
            }
        }
    }

    /// macOS takes no other names.
    #[test]
    #[cfg(target_os = "linux")]
    fn names_that_are_not_unicode_come_as_they_are_and_can_be_opened() {
        let scene = Scene::new();
        let name: &OsStr = std::os::unix::ffi::OsStrExt::from_bytes(b"\xff\n\x1b");
        fs::create_dir(scene.root().join(name)).unwrap();
        fs::write(scene.root().join(name).join("c.txt"), "c").unwrap();
        for sandbox in scene.tiers() {
            let mut found = Vec::new();
            let mut root = sandbox.open_folder_by_names(&[]).unwrap();
            let visited = root.visit(&mut |entry| {
                found.push(entry.to_name());
                ControlFlow::Continue(())
            });
            visited.unwrap();
            let folder = found.iter().find(|entry| entry.as_os_str() == name).unwrap();
            let listed = entries(sandbox.open_folder_by_names(&[folder]).unwrap());
            assert_eq!(listed, expected([("c.txt", EntryKind::File)]));
        }
    }

    /// A path that no single system call takes.
    #[test]
    #[cfg(target_os = "linux")]
    fn folders_deeper_than_the_longest_path_are_listed() {
        let scene = Scene::new();
        let name = "n".repeat(250);
        let mut here = rustix::fs::open(
            scene.root(),
            rustix::fs::OFlags::DIRECTORY,
            rustix::fs::Mode::empty(),
        )
        .unwrap();
        for _ in 0..20 {
            rustix::fs::mkdirat(&here, &name, 0o755.into()).unwrap();
            let flags = rustix::fs::OFlags::DIRECTORY;
            here = rustix::fs::openat(&here, &name, flags, rustix::fs::Mode::empty()).unwrap();
        }
        rustix::fs::mkdirat(&here, "bottom", 0o755.into()).unwrap();
        for sandbox in scene.tiers() {
            let name = name_in(&sandbox, &[], &name);
            let listed = entries(sandbox.open_folder_by_names(&[&name; 20]).unwrap());
            assert_eq!(listed, expected([("bottom", EntryKind::Folder)]));
        }
    }
}

/// Another thread exchanges a folder and a link to the outside as fast as it can.
#[cfg(target_os = "linux")]
mod swap {
    use super::*;
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    use std::sync::atomic::{AtomicBool, Ordering};

    type Open = fn(&Path) -> Result<Sandbox, RootError>;

    /// Whether anything outside was seen by `look`, which is given a sandbox and the name of the
    /// folder that is exchanged.
    fn leaks(open: Open, rounds: usize, look: impl Fn(&Sandbox, &EntryName) -> bool) -> bool {
        let scene = Scene::new();
        std::os::unix::fs::symlink("../outside", scene.root().join("link")).unwrap();
        let sandbox = open(&scene.root()).unwrap();
        let dir = name_in(&sandbox, &[], "dir");
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let (one, other) = (scene.root().join("dir"), scene.root().join("link"));
                while !done.load(Ordering::Relaxed) {
                    renameat_with(CWD, &one, CWD, &other, RenameFlags::EXCHANGE).unwrap();
                }
            });
            let leaks = (0..rounds).any(|_| look(&sandbox, &dir));
            done.store(true, Ordering::Relaxed);
            leaks
        })
    }

    fn shows_the_secret(opened: Result<ListedFolder<'_>, OpenError>) -> bool {
        opened.is_ok_and(|folder| entries(folder).contains_key(OsStr::new("secret.txt")))
    }

    #[test]
    fn neither_tier_lists_what_is_outside() {
        for open in [Sandbox::open as Open, Sandbox::open_walking] {
            let look = |sandbox: &Sandbox, dir: &EntryName| {
                shows_the_secret(sandbox.open_folder_by_names(&[dir]))
                    || shows_the_secret(sandbox.open_folder(&parse("dir")))
            };
            assert!(!leaks(open, 20_000, look));
        }
    }

    /// The control: were it without a leak, the test above would prove nothing.
    #[test]
    fn looking_first_and_listing_afterwards_does_leak() {
        let scene_root =
            |sandbox: &Sandbox| sandbox.directory.canonical_path(Path::new("")).unwrap();
        let naive = |sandbox: &Sandbox, dir: &EntryName| {
            let path = scene_root(sandbox).join(dir.as_os_str());
            let is_folder = fs::symlink_metadata(&path).is_ok_and(|it| it.is_dir());
            is_folder
                && fs::read_dir(&path).is_ok_and(|mut entries| {
                    entries.any(|entry| entry.is_ok_and(|entry| entry.file_name() == "secret.txt"))
                })
        };
        // On a busy machine the attacker may hardly run during one round; so it has more of them.
        assert!((0..50).any(|_| leaks(Sandbox::open, 20_000, naive)));
    }
}
