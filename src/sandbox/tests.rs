//! What both tiers answer, side by side, and what each must never do.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::*;
use crate::path::WorkspacePath;
use tempfile::TempDir;

/// A workspace, and beside it a file that must not be reached from it.
struct Scene {
    directory: TempDir,
}

impl Scene {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        fs::create_dir_all(directory.path().join("ws/dir/deep")).unwrap();
        fs::write(directory.path().join("ws/a.txt"), "a").unwrap();
        fs::write(directory.path().join("ws/dir/b.txt"), "b").unwrap();
        fs::write(directory.path().join("ws/dir/deep/c.txt"), "c").unwrap();
        fs::create_dir(directory.path().join("ws-evil")).unwrap();
        fs::write(directory.path().join("ws-evil/secret.txt"), "secret").unwrap();
        Self { directory }
    }

    fn root(&self) -> PathBuf {
        self.directory.path().join("ws")
    }

    fn outside(&self) -> PathBuf {
        self.directory.path().join("ws-evil")
    }

    /// Both tiers on the same root. Where the system has one tier only, they are the same.
    fn tiers(&self) -> [Sandbox; 2] {
        [Sandbox::open(&self.root()).unwrap(), Sandbox::open_walking(&self.root()).unwrap()]
    }
}

/// The content of what opens, or the kind of the refusal.
fn look(sandbox: &Sandbox, path: &str) -> Result<String, String> {
    let path = sandbox.locate(path).map_err(|refusal| format!("{refusal:?}"))?;
    let file = sandbox.open_file(&path).map_err(|error| match error {
        OpenError::System(error) => format!("System({error})"),
        error => format!("{error:?}"),
    })?;
    let mut content = String::new();
    (&file.file).read_to_string(&mut content).unwrap();
    Ok(content)
}

/// Both tiers must give this answer.
fn assert_answer(scene: &Scene, path: &str, expected: Result<&str, &str>) {
    let expected = expected.map(str::to_owned).map_err(str::to_owned);
    for sandbox in scene.tiers() {
        assert_eq!(look(&sandbox, path), expected, "{path} by {:?}", sandbox.containment());
    }
}

#[test]
fn plain_paths_open_and_missing_ones_do_not() {
    let scene = Scene::new();
    assert_answer(&scene, "a.txt", Ok("a"));
    assert_answer(&scene, "dir/deep/c.txt", Ok("c"));
    assert_answer(&scene, "nope", Err("NotFound"));
    assert_answer(&scene, "nope/a.txt", Err("NotFound"));
    assert_answer(&scene, "dir", Err("IsDirectory"));
    assert_answer(&scene, "dir/", Err("IsDirectory"));
    assert_answer(&scene, ".", Err("IsDirectory"));
}

#[test]
fn a_file_is_no_folder() {
    let scene = Scene::new();
    for path in ["a.txt/x", "a.txt/", "a.txt/."] {
        assert_answer(&scene, path, Err("NotFolder"));
    }
}

#[test]
fn a_root_must_be_an_absolute_directory_that_exists() {
    let scene = Scene::new();
    let open = |path: &Path| Sandbox::open(path).map(drop);
    assert!(matches!(open(Path::new("ws")), Err(RootError::Relative)));
    assert!(matches!(open(&scene.root().join("nope")), Err(RootError::Gone)));
    assert!(matches!(open(&scene.root().join("a.txt")), Err(RootError::NotDirectory)));
    // Windows says that the path does not exist.
    let beneath_a_file = open(&scene.root().join("a.txt/x"));
    assert!(matches!(beneath_a_file, Err(RootError::NotDirectory | RootError::Gone)));
}

#[test]
fn an_absolute_path_inside_the_root_is_taken_and_a_neighbours_is_not() {
    let scene = Scene::new();
    let absolute = |path: PathBuf| path.to_str().unwrap().to_owned();
    assert_answer(&scene, &absolute(scene.root().join("dir/b.txt")), Ok("b"));
    assert_answer(&scene, &absolute(scene.root()), Err("IsDirectory"));
    // An absolute path has a drive on Windows, and none elsewhere.
    let refusal = if cfg!(windows) { "DriveOrShare" } else { "Absolute" };
    assert_answer(&scene, &absolute(scene.outside().join("secret.txt")), Err(refusal));
    let leaves = scene.root().join("../ws/a.txt");
    assert_answer(&scene, &absolute(leaves), Err("AboveRoot"));
}

#[test]
fn a_file_that_grows_past_the_limit_while_it_is_read_is_too_large() {
    let scene = Scene::new();
    let sandbox = Sandbox::open(&scene.root()).unwrap();
    let file = sandbox.open_file(&WorkspacePath::parse("a.txt").unwrap()).unwrap();
    fs::write(scene.root().join("a.txt"), vec![b'a'; 100]).unwrap();
    assert!(matches!(file.read_to_end(64), Err(ReadError::TooLarge(FileSize::AtLeast(65)))));
}

#[cfg(unix)]
mod links {
    use super::*;
    use std::os::unix::fs::symlink;

    fn link(scene: &Scene, name: &str, target: impl AsRef<Path>) {
        symlink(target, scene.root().join(name)).unwrap();
    }

    #[test]
    fn links_that_end_inside_work_relative_or_absolute() {
        let scene = Scene::new();
        link(&scene, "relative", "dir/b.txt");
        link(&scene, "absolute", scene.root().join("dir/b.txt"));
        link(&scene, "folder", scene.root().join("dir"));
        link(&scene, "root", scene.root());
        link(&scene, "dir/up", "../a.txt");
        link(&scene, "chain", "folder/up");
        assert_answer(&scene, "relative", Ok("b"));
        assert_answer(&scene, "absolute", Ok("b"));
        assert_answer(&scene, "folder/deep/c.txt", Ok("c"));
        assert_answer(&scene, "root/root/folder/b.txt", Ok("b"));
        assert_answer(&scene, "chain", Ok("a"));
        assert_answer(&scene, "folder", Err("IsDirectory"));
        assert_answer(&scene, "relative/", Err("NotFolder"));
        assert_answer(&scene, "root/", Err("IsDirectory"));
    }

    #[test]
    fn links_that_end_outside_are_refused_whether_or_not_something_stands_there() {
        let scene = Scene::new();
        link(&scene, "secret", scene.outside().join("secret.txt"));
        link(&scene, "out", scene.outside());
        link(&scene, "up", "../ws-evil/secret.txt");
        link(&scene, "back", "../ws/a.txt");
        link(&scene, "absent", "/nowhere/at/all");
        link(&scene, "neighbour", format!("{}-evil/secret.txt", scene.root().display()));
        for path in ["secret", "out/secret.txt", "out", "up", "back", "absent", "neighbour"] {
            assert_answer(&scene, path, Err("Escapes"));
        }
    }

    #[test]
    fn an_absolute_link_must_name_the_root_itself_and_not_climb_to_it() {
        let scene = Scene::new();
        link(&scene, "climb", scene.outside().join("../ws/a.txt"));
        link(&scene, "leave", scene.root().join("../ws/a.txt"));
        link(&scene, "dots", format!("/.//{}/./a.txt", scene.root().display()));
        assert_answer(&scene, "climb", Err("Escapes"));
        assert_answer(&scene, "leave", Err("Escapes"));
        assert_answer(&scene, "dots", Ok("a"));
    }

    #[test]
    fn both_spellings_of_a_linked_root_are_inside() {
        let scene = Scene::new();
        let spelled = scene.directory.path().join("link");
        symlink(scene.root(), &spelled).unwrap();
        let real = fs::canonicalize(scene.root()).unwrap();
        link(&scene, "by-spelling", spelled.join("a.txt"));
        link(&scene, "by-name", real.join("a.txt"));
        for sandbox in [Sandbox::open(&spelled).unwrap(), Sandbox::open_walking(&spelled).unwrap()]
        {
            for path in [spelled.join("a.txt"), real.join("a.txt")] {
                assert_eq!(look(&sandbox, path.to_str().unwrap()), Ok("a".into()), "{path:?}");
            }
            for path in ["by-spelling", "by-name"] {
                assert_eq!(look(&sandbox, path), Ok("a".into()), "{path}");
            }
        }
    }

    #[test]
    fn a_root_spelled_with_dots_is_found_by_its_plain_spelling() {
        let scene = Scene::new();
        let spelled = scene.outside().join("../ws/.");
        let plain = scene.root().join("a.txt");
        for sandbox in [Sandbox::open(&spelled).unwrap(), Sandbox::open_walking(&spelled).unwrap()]
        {
            assert_eq!(look(&sandbox, plain.to_str().unwrap()), Ok("a".into()));
        }
    }

    #[test]
    fn a_dangling_link_inside_is_not_found() {
        let scene = Scene::new();
        link(&scene, "dangling", "dir/nope");
        assert_answer(&scene, "dangling", Err("NotFound"));
    }

    #[test]
    fn forty_links_are_followed_and_one_more_is_a_loop() {
        let scene = Scene::new();
        link(&scene, "l1", "a.txt");
        for number in 2..=41 {
            link(&scene, &format!("l{number}"), format!("l{}", number - 1));
        }
        link(&scene, "self", "self");
        assert_answer(&scene, "l40", Ok("a"));
        assert_answer(&scene, "l41", Err("Loops"));
        assert_answer(&scene, "self", Err("Loops"));
    }

    #[test]
    fn a_link_with_a_trailing_slash_or_dot_demands_a_folder() {
        let scene = Scene::new();
        link(&scene, "slash", "a.txt/");
        link(&scene, "dot", "a.txt/.");
        link(&scene, "folder", "dir/");
        link(&scene, "parent", "dir/..");
        assert_answer(&scene, "slash", Err("NotFolder"));
        assert_answer(&scene, "dot", Err("NotFolder"));
        assert_answer(&scene, "folder/b.txt", Ok("b"));
        assert_answer(&scene, "parent/a.txt", Ok("a"));
        assert_answer(&scene, "parent", Err("IsDirectory"));
    }

    #[test]
    fn special_files_answer_at_once() {
        let scene = Scene::new();
        let made = std::process::Command::new("mkfifo").arg(scene.root().join("fifo")).status();
        assert!(made.unwrap().success());
        let _listener =
            std::os::unix::net::UnixListener::bind(scene.root().join("socket")).unwrap();
        assert_answer(&scene, "fifo", Err("SpecialFile"));
        assert_answer(&scene, "socket", Err("SpecialFile"));
    }

    #[test]
    fn a_renamed_root_stays_the_root() {
        let scene = Scene::new();
        let tiers = scene.tiers();
        fs::rename(scene.root(), scene.directory.path().join("moved")).unwrap();
        for sandbox in tiers {
            assert_eq!(look(&sandbox, "a.txt"), Ok("a".into()));
        }
    }

    #[test]
    fn a_removed_root_is_told_from_a_missing_file() {
        let scene = Scene::new();
        let tiers = scene.tiers();
        fs::remove_dir_all(scene.root()).unwrap();
        for sandbox in tiers {
            assert_eq!(look(&sandbox, "a.txt"), Err("RootGone".into()));
        }
    }
}

#[cfg(target_os = "linux")]
mod proc {
    use super::*;

    #[test]
    fn magic_links_are_refused_and_plain_ones_are_not() {
        for sandbox in [
            Sandbox::open(Path::new("/proc")).unwrap(),
            Sandbox::open_walking(Path::new("/proc")).unwrap(),
        ] {
            let tier = sandbox.containment();
            assert!(
                look(&sandbox, "self/status").is_ok_and(|text| text.starts_with("Name:")),
                "{tier:?}"
            );
            assert!(look(&sandbox, "mounts").is_ok(), "{tier:?}");
            for path in [
                "self/exe",
                "self/root/etc/hostname",
                "self/cwd/Cargo.toml",
                "self/fd/0",
                "self/ns/mnt",
            ] {
                assert_eq!(look(&sandbox, path), Err("Loops".into()), "{path} by {tier:?}");
            }
        }
    }

    #[test]
    fn a_path_longer_than_the_kernel_takes_is_too_long_on_both_tiers() {
        let scene = Scene::new();
        for path in ["n".repeat(256), "d/".repeat(2048) + "x", "n".repeat(5000)] {
            for sandbox in scene.tiers() {
                let answer = look(&sandbox, &path).unwrap_err();
                assert_eq!(answer, "NameTooLong", "{:?}", sandbox.containment());
            }
        }
    }
}

/// Another thread exchanges a folder and a link to the outside as fast as it can.
#[cfg(target_os = "linux")]
mod swap {
    use super::*;
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    use crate::access::{AccessRules, RuleLists};

    fn attack(
        open: fn(&Path) -> Result<Sandbox, RootError>,
        read: impl Fn(&Sandbox, &Path) -> Option<String>,
    ) -> usize {
        let scene = Scene::new();
        fs::write(scene.root().join("dir/secret.txt"), "harmless").unwrap();
        std::os::unix::fs::symlink(scene.outside(), scene.root().join("link")).unwrap();
        let sandbox = open(&scene.root()).unwrap();
        let names = [scene.root().join("dir"), scene.root().join("link")];
        leaks_under_exchanges(&names, || read(&sandbox, &scene.root()))
    }

    /// How many of many reads give the secret while another thread exchanges two names.
    fn leaks_under_exchanges(
        [one, other]: &[PathBuf; 2],
        read: impl Fn() -> Option<String>,
    ) -> usize {
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE).unwrap();
                }
            });
            let leaks = (0..20_000).filter(|_| read().is_some_and(|text| text == "secret")).count();
            done.store(true, Ordering::Relaxed);
            leaks
        })
    }

    #[test]
    fn neither_tier_leaks_to_a_directory_swap() {
        let read = |sandbox: &Sandbox, _: &Path| look(sandbox, "dir/secret.txt").ok();
        assert_eq!(attack(Sandbox::open, read), 0);
        assert_eq!(attack(Sandbox::open_walking, read), 0);
    }

    /// The control: the same attack on what tools usually do. Were it 0, the test above would
    /// prove nothing.
    #[test]
    fn realpath_then_open_does_leak_to_it() {
        let naive = |_: &Sandbox, root: &Path| {
            let real = fs::canonicalize(root.join("dir/secret.txt")).ok()?;
            real.starts_with(root).then(|| fs::read_to_string(root.join("dir/secret.txt")).ok())?
        };
        // On a busy machine the attacker may hardly run during one round; so it has more of them.
        assert!((0..50).any(|_| attack(Sandbox::open, naive) > 0));
    }

    /// A harmless file is exchanged with a link to a file that access rules deny, both beneath the root.
    fn attack_on_rules(
        open: fn(&Path) -> Result<Sandbox, RootError>,
        read: impl Fn(&Sandbox, &Path) -> Option<String>,
    ) -> usize {
        let scene = Scene::new();
        let (one, other) = (scene.root().join("dir/notes.txt"), scene.root().join("dir/link"));
        fs::write(scene.root().join(".env"), "secret").unwrap();
        fs::write(&one, "harmless").unwrap();
        std::os::unix::fs::symlink("../.env", &other).unwrap();
        let deny = Some(vec![".env".to_owned()]);
        let rules = AccessRules::parse(RuleLists { deny, ..RuleLists::default() }).unwrap();
        let sandbox = open(&scene.root()).unwrap().with_rules(Some(Arc::new(rules)));
        leaks_under_exchanges(&[one, other], || read(&sandbox, &scene.root()))
    }

    #[test]
    fn neither_tier_reads_a_denied_file_by_a_name_that_is_exchanged() {
        let read = |sandbox: &Sandbox, _: &Path| look(sandbox, "dir/notes.txt").ok();
        assert_eq!(attack_on_rules(Sandbox::open, read), 0);
        assert_eq!(attack_on_rules(Sandbox::open_walking, read), 0);
    }

    /// The control: the path is resolved and compared with the rules first, and then read by its name.
    #[test]
    fn resolving_and_comparing_first_does_read_it() {
        let naive = |_: &Sandbox, root: &Path| {
            let path = root.join("dir/notes.txt");
            let real = fs::canonicalize(&path).ok()?;
            (!real.ends_with(".env")).then(|| fs::read_to_string(path).ok())?
        };
        assert!((0..50).any(|_| attack_on_rules(Sandbox::open, naive) > 0));
    }
}
