//! The steps of the specification on a real directory: codes, precedence, what is left behind.

use std::fs;
use std::path::Path;

use super::*;
use tempfile::TempDir;

struct Scene {
    directory: TempDir,
}

impl Scene {
    fn new() -> Self {
        Self::within(tempfile::tempdir().unwrap())
    }

    /// In memory, where the system has a folder there: making thousands of folders may take a disk
    /// longer than is to be measured.
    #[cfg(unix)]
    fn in_memory() -> Self {
        Self::within(tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap())
    }

    fn within(directory: TempDir) -> Self {
        fs::create_dir_all(directory.path().join("ws/dir")).unwrap();
        fs::create_dir(directory.path().join("outside")).unwrap();
        fs::write(directory.path().join("ws/old.txt"), "old").unwrap();
        Self { directory }
    }

    fn root(&self) -> std::path::PathBuf {
        self.directory.path().join("ws")
    }

    fn tiers(&self) -> [Sandbox; 2] {
        [Sandbox::open(&self.root()).unwrap(), Sandbox::open_walking(&self.root()).unwrap()]
    }

    fn read(&self, path: &str) -> String {
        fs::read_to_string(self.root().join(path)).unwrap()
    }
}

fn request(path: &str, content: &str, overwrite: bool) -> CreateFileRequest {
    let path = NewFilePath::parse(path).unwrap();
    CreateFileRequest { path, content: content.to_owned(), overwrite, expected: None }
}

fn run(sandbox: &Sandbox, request: CreateFileRequest) -> Result<CreatedFile, CreateFileError> {
    create_file(sandbox, request, &CreateFileOptions::default(), &|| false)
}

fn code(sandbox: &Sandbox, path: &str, overwrite: bool) -> &'static str {
    run(sandbox, request(path, "new", overwrite)).map_or_else(|error| error.code().as_str(), |_| "")
}

/// Every name below a directory, so that a test can say what is left.
fn names(directory: &Path) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn a_new_file_comes_with_its_folders_and_its_hash() {
    let scene = Scene::new();
    for (folder, sandbox) in ["one", "two"].into_iter().zip(scene.tiers()) {
        let path = format!("{folder}/a/b/c.txt");
        let created = run(&sandbox, request(&path, "a\r\nb", false)).unwrap();
        assert_eq!(created.path, path);
        assert_eq!((created.size_bytes, created.overwritten), (3, false));
        assert_eq!(created.hash, ContentHash::Sha256.of_text("a\nb"));
        assert_eq!(scene.read(&path), "a\nb");
        assert_eq!(names(&scene.root().join(folder).join("a/b")), ["c.txt"]);
    }
}

#[test]
fn an_existing_file_stays_unless_overwrite_says_otherwise() {
    let scene = Scene::new();
    for sandbox in scene.tiers() {
        fs::write(scene.root().join("old.txt"), "old").unwrap();
        assert_eq!(code(&sandbox, "old.txt", false), "FileExists");
        assert_eq!(scene.read("old.txt"), "old");
        assert!(run(&sandbox, request("old.txt", "new", true)).unwrap().overwritten);
        assert_eq!(scene.read("old.txt"), "new");
        assert_eq!(names(&scene.root()), ["dir", "old.txt"]);
    }
}

#[test]
fn a_directory_is_no_target_and_a_file_is_no_folder() {
    let scene = Scene::new();
    for sandbox in scene.tiers() {
        for overwrite in [false, true] {
            assert_eq!(code(&sandbox, "dir", overwrite), "InvalidPath");
            assert_eq!(code(&sandbox, "old.txt/a/b", overwrite), "DirectoryCreateFailed");
        }
        assert_eq!(names(&scene.root()), ["dir", "old.txt"]);
    }
}

#[test]
fn a_hash_that_does_not_match_changes_nothing() {
    let scene = Scene::new();
    for sandbox in scene.tiers() {
        let mut stale = request("old.txt", "new", true);
        stale.expected = Some(crate::hash::sha256(b"older"));
        let error = run(&sandbox, stale).unwrap_err();
        assert_eq!(error.code().as_str(), "WriteFailed");
        assert!(error.to_string().contains("changed since it was read"), "{error}");
        assert_eq!(scene.read("old.txt"), "old");

        let mut absent = request("new.txt", "new", true);
        absent.expected = Some(crate::hash::sha256(b""));
        assert_eq!(run(&sandbox, absent).unwrap_err().code().as_str(), "WriteFailed");
        assert_eq!(names(&scene.root()), ["dir", "old.txt"]);
    }
    let mut fresh = request("old.txt", "new", true);
    fresh.expected = Some(crate::hash::sha256(b"old"));
    assert!(run(&scene.tiers()[0], fresh).unwrap().overwritten);
}

#[test]
fn what_is_too_large_or_read_only_touches_nothing() {
    let scene = Scene::new();
    let [sandbox, _] = scene.tiers();
    let small = CreateFileOptions { max_create_bytes: 3, ..CreateFileOptions::default() };
    let create = |content, options: &CreateFileOptions| {
        create_file(&sandbox, request("a/b.txt", content, false), options, &|| false)
    };
    assert_eq!(create("abcd", &small).unwrap_err().code().as_str(), "TooLarge");
    let scope = WriteScope::ReadOnly;
    let read_only = CreateFileOptions { write_scope: scope, ..CreateFileOptions::default() };
    assert_eq!(create("abc", &read_only).unwrap_err().code().as_str(), "WriteFailed");
    assert_eq!(names(&scene.root()), ["dir", "old.txt"]);
    assert!(create("ab\r\n", &small).is_ok());
}

#[test]
fn a_length_that_leaves_no_doubt_is_too_large() {
    let options = CreateFileOptions { max_create_bytes: 3, ..CreateFileOptions::default() };
    for (text, doubtless) in [
        ("\u{feff}\r\n\r\n\r\n", false),
        ("\u{feff}\r\n\r\n\r\n\n", true),
        ("", false),
        ("aaaaaaaa", true),
    ] {
        let units = text.encode_utf16().count() as u64;
        assert_eq!(check_length(units, &options).is_err(), doubtless, "{text:?}");
        let written = text::to_written_form(text.to_owned());
        assert!(!doubtless || written.len() > 3, "{text:?} would fit");
    }
}

#[test]
fn what_needs_no_disk_is_told_before_the_root_is_opened() {
    let root_is_gone = || -> Result<&Sandbox, _> { Err(RootError::Gone) };
    let create = |options: &CreateFileOptions| {
        create_file_in(root_is_gone, request("a.txt", "abcd", false), options, &|| false)
            .unwrap_err()
            .code()
            .as_str()
    };
    let options = CreateFileOptions::default();
    assert_eq!(create(&options), "UnhandledException");
    assert_eq!(create(&CreateFileOptions { max_create_bytes: 3, ..options.clone() }), "TooLarge");
    let read_only = CreateFileOptions { write_scope: WriteScope::ReadOnly, ..options };
    assert_eq!(create(&read_only), "WriteFailed");
}

#[test]
fn a_root_that_the_system_fails_to_open_is_no_mistake_of_the_hosts() {
    let root_fails =
        || -> Result<&Sandbox, _> { Err(RootError::System(std::io::Error::from_raw_os_error(5))) };
    let options = CreateFileOptions::default();
    let error =
        create_file_in(root_fails, request("a.txt", "a", false), &options, &|| false).unwrap_err();
    assert_eq!(error.code().as_str(), "WriteFailed", "{error}");
}

#[test]
fn a_call_that_is_called_off_leaves_no_folder() {
    let scene = Scene::new();
    for sandbox in scene.tiers() {
        for refusals_before in 0..2 {
            let asked = std::cell::Cell::new(0);
            let cancelled = || {
                asked.set(asked.get() + 1);
                asked.get() > refusals_before
            };
            for path in ["a/b/c.txt", "old.txt"] {
                asked.set(0);
                let options = CreateFileOptions::default();
                let stopped =
                    create_file(&sandbox, request(path, "new", true), &options, &cancelled);
                let stopped = stopped.unwrap_err();
                assert!(matches!(stopped, CreateFileError::Write(WriteError::Cancelled)));
            }
            assert_eq!(names(&scene.root()), ["dir", "old.txt"]);
            assert_eq!(scene.read("old.txt"), "old");
        }
    }
}

#[test]
fn of_racing_creators_one_wins_and_its_content_stays() {
    let scene = Scene::new();
    for (round, sandbox) in scene.tiers().into_iter().enumerate() {
        let path = format!("deep/{round}/race.txt");
        let options = CreateFileOptions { durability: Durability::None, ..Default::default() };
        let results: Vec<_> = std::thread::scope(|scope| {
            let creators: Vec<_> = (0..16)
                .map(|number| {
                    let request = request(&path, &format!("creator {number}"), false);
                    scope.spawn(|| create_file(&sandbox, request, &options, &|| false))
                })
                .collect();
            creators.into_iter().map(|creator| creator.join().unwrap()).collect()
        });
        let winners: Vec<_> = results.iter().filter_map(|result| result.as_ref().ok()).collect();
        assert_eq!(winners.len(), 1);
        let text = scene.read(&path);
        assert_eq!(winners[0].hash, ContentHash::Sha256.of_text(&text));
        let losers = results.iter().filter_map(|result| result.as_ref().err());
        for loser in losers {
            assert_eq!(loser.code().as_str(), "FileExists", "{loser}");
        }
    }
}

#[test]
fn compare_and_swap_loses_no_update() {
    let scene = Scene::new();
    fs::write(scene.root().join("counter"), "0").unwrap();
    let options = CreateFileOptions { durability: Durability::None, ..Default::default() };
    let [sandbox, walking] = scene.tiers();
    std::thread::scope(|scope| {
        for sandbox in [&sandbox, &walking, &sandbox, &walking] {
            scope.spawn(|| {
                let mut done = 0;
                while done < 50 {
                    let text = scene.read("counter");
                    let next = text.parse::<u64>().unwrap() + 1;
                    let mut request = request("counter", &next.to_string(), true);
                    request.expected = Some(crate::hash::sha256(text.as_bytes()));
                    match create_file(sandbox, request, &options, &|| false) {
                        Ok(_) => done += 1,
                        Err(error) => assert_eq!(error.code().as_str(), "WriteFailed", "{error}"),
                    }
                }
            });
        }
    });
    assert_eq!(scene.read("counter"), "200");
    assert_eq!(names(&scene.root()), ["counter", "dir", "old.txt"]);
}

#[cfg(unix)]
mod unix {
    use super::*;
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

    #[test]
    fn links_that_lead_out_or_nowhere_are_no_way() {
        let scene = Scene::new();
        symlink(scene.directory.path().join("outside"), scene.root().join("out")).unwrap();
        symlink(scene.directory.path().join("outside/x"), scene.root().join("escape")).unwrap();
        symlink("nowhere", scene.root().join("dangling")).unwrap();
        symlink("loop", scene.root().join("loop")).unwrap();
        for sandbox in scene.tiers() {
            for overwrite in [false, true] {
                for path in ["out/a", "out/a/b/c", "escape", "dangling/a", "loop", "loop/a"] {
                    assert_eq!(code(&sandbox, path, overwrite), "InvalidPath", "{path}");
                }
            }
            assert_eq!(code(&sandbox, "dangling", false), "FileExists");
            assert_eq!(code(&sandbox, "dangling", true), "InvalidPath");
        }
        assert_eq!(names(&scene.directory.path().join("outside")), Vec::<String>::new());
    }

    #[test]
    fn a_link_to_a_file_inside_stays_a_link_and_its_file_is_replaced() {
        let scene = Scene::new();
        symlink("../old.txt", scene.root().join("dir/relative")).unwrap();
        symlink(scene.root().join("dir/relative"), scene.root().join("absolute")).unwrap();
        for (sandbox, content) in scene.tiers().iter().zip(["one", "two"]) {
            let file = run(sandbox, request("absolute", content, true)).unwrap();
            assert_eq!((file.path.as_str(), file.overwritten), ("absolute", true));
            assert_eq!(scene.read("old.txt"), content);
            assert!(fs::symlink_metadata(scene.root().join("absolute")).unwrap().is_symlink());
            assert_eq!(names(&scene.root().join("dir")), ["relative"]);
            assert_eq!(code(sandbox, "absolute", false), "FileExists");
        }
    }

    #[test]
    fn a_fifo_merely_exists() {
        let scene = Scene::new();
        let made = std::process::Command::new("mkfifo").arg(scene.root().join("fifo")).status();
        assert!(made.unwrap().success());
        for sandbox in scene.tiers() {
            assert_eq!(code(&sandbox, "fifo", false), "FileExists");
            assert_eq!(code(&sandbox, "fifo", true), "InvalidPath");
            assert_eq!(code(&sandbox, "fifo/a", true), "DirectoryCreateFailed");
        }
    }

    #[test]
    fn permission_bits_are_kept_less_those_that_give_rights_away() {
        let scene = Scene::new();
        let file = scene.root().join("old.txt");
        for (mode, kept) in [(0o755, 0o755), (0o640, 0o640), (0o6711, 0o711)] {
            fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
            run(&scene.tiers()[0], request("old.txt", "new", true)).unwrap();
            assert_eq!(fs::metadata(&file).unwrap().mode() & 0o7777, kept);
        }
    }

    /// Runs a request, and `interfere` once, when the file is about to show.
    fn run_with(
        sandbox: &Sandbox,
        request: CreateFileRequest,
        interfere: &dyn Fn() -> bool,
    ) -> Result<CreatedFile, CreateFileError> {
        let asked = std::cell::Cell::new(0);
        let cancelled = || {
            asked.set(asked.get() + 1);
            asked.get() == 2 && interfere()
        };
        let options = CreateFileOptions { durability: Durability::None, ..Default::default() };
        create_file(sandbox, request, &options, &cancelled)
    }

    #[test]
    fn a_folder_that_is_moved_out_of_the_workspace_meanwhile_is_not_written_to() {
        for tier in 0..2 {
            for (path, made) in [("dir/new.txt", true), ("dir/t.txt", true), ("link", false)] {
                let scene = Scene::new();
                let moved = scene.directory.path().join("outside/moved");
                fs::write(scene.root().join("dir/t.txt"), "old").unwrap();
                symlink("dir/t.txt", scene.root().join("link")).unwrap();
                let request = request(path, "new", true);
                let result = run_with(&scene.tiers()[tier], request, &|| {
                    fs::rename(scene.root().join("dir"), &moved).unwrap();
                    false
                });
                // What happens is what would have, had the folder been moved before.
                assert_eq!(result.is_ok(), made, "{path}: {result:?}");
                assert_eq!(names(&moved), ["t.txt"], "{path}");
                assert_eq!(fs::read_to_string(moved.join("t.txt")).unwrap(), "old", "{path}");
                if made {
                    assert_eq!(scene.read(path), "new");
                }
            }
        }
    }

    #[test]
    fn of_a_file_whose_folder_is_moved_about_there_is_one_copy_or_none_if_it_failed() {
        use std::sync::atomic::{AtomicBool, Ordering};
        let scene = Scene::new();
        let (folder, outside) = (scene.root().join("dir"), scene.directory.path().join("outside"));
        let options = CreateFileOptions { durability: Durability::None, ..Default::default() };
        let tiers = scene.tiers();
        let create = |number: usize| {
            let request = request(&format!("dir/{number}"), "new", false);
            create_file(&tiers[number % 2], request, &options, &|| false).is_ok()
        };
        let done = AtomicBool::new(false);
        let outcomes: Vec<_> = std::thread::scope(|scope| {
            scope.spawn(|| {
                let mut moves = 0;
                while !done.load(Ordering::Relaxed) {
                    let place = outside.join(moves.to_string());
                    moves += usize::from(fs::rename(&folder, place).is_ok());
                    std::thread::sleep(std::time::Duration::from_micros(200));
                }
            });
            let outcomes = (0..300).map(create).collect();
            done.store(true, Ordering::Relaxed);
            outcomes
        });
        let mut copies = vec![0; outcomes.len()];
        let moved = names(&outside).into_iter().map(|name| outside.join(name));
        for place in moved.chain([folder]).filter(|place| place.exists()) {
            for name in names(&place) {
                copies[name.parse::<usize>().unwrap()] += 1;
            }
        }
        assert_eq!(copies, outcomes.iter().map(|&success| i32::from(success)).collect::<Vec<_>>());
    }

    #[test]
    fn a_folder_that_others_have_put_in_the_place_of_a_made_one_is_not_taken_back() {
        let scene = Scene::new();
        for sandbox in scene.tiers() {
            let made = scene.root().join("a/b");
            let stopped = run_with(&sandbox, request("a/b/c.txt", "new", false), &|| {
                fs::rename(&made, scene.root().join("dir/ours")).unwrap();
                fs::create_dir(&made).unwrap();
                true
            });
            assert!(stopped.is_err());
            assert!(made.is_dir());
            fs::remove_dir_all(scene.root().join("a")).unwrap();
            fs::remove_dir(scene.root().join("dir/ours")).unwrap();
        }
    }

    #[test]
    fn however_many_folders_are_made_few_handles_are_held_and_all_are_taken_back() {
        let scene = Scene::new();
        let handles = || fs::read_dir("/dev/fd").unwrap().count();
        for sandbox in scene.tiers() {
            let path = "d/".repeat(600) + "new.txt";
            let before = handles();
            let held = std::cell::Cell::new(0);
            let stopped = run_with(&sandbox, request(&path, "new", false), &|| {
                held.set(handles());
                true
            });
            assert!(matches!(stopped, Err(CreateFileError::Write(WriteError::Cancelled))));
            // Other tests open files meanwhile, too.
            assert!(held.get() < before + 300, "{} handles, {before} before", held.get());
            assert_eq!(names(&scene.root()), ["dir", "old.txt"]);
        }
    }

    /// The work must grow with the depth, not with its square: on the walk 2,000 folders once took
    /// 13 seconds.
    #[test]
    fn second_look_f8_a_file_two_thousand_folders_deep_is_made_and_taken_back_in_no_time() {
        let scene = Scene::in_memory();
        for sandbox in scene.tiers() {
            for existing in [0, 1, 700, 1999, 2000] {
                let begun = std::time::Instant::now();
                let path = |folders: usize| "d/".repeat(folders) + "new.txt";
                let make = |folders, cancel| {
                    run_with(&sandbox, request(&path(folders), "new", false), &|| cancel)
                };
                if existing > 0 {
                    make(existing - 1, false).unwrap();
                    make(existing, false).unwrap();
                }
                if existing < 2000 {
                    assert!(make(2000, true).is_err());
                    make(2000, false).unwrap();
                }
                assert!(begun.elapsed().as_secs() < 25, "{existing} exist: {:?}", begun.elapsed());
                remove_deep(&scene.root(), 2000);
                assert_eq!(names(&scene.root()), ["dir", "old.txt"]);
            }
        }
    }

    /// Removes `d/d/…/d`, whose path is longer than the system takes in one call.
    fn remove_deep(root: &Path, depth: usize) {
        use rustix::fs::{AtFlags, CWD, Mode, OFlags, openat, unlinkat};
        let open = |folder: &rustix::fd::OwnedFd, name| {
            openat(folder, name, OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty()).unwrap()
        };
        let mut folder = openat(CWD, root, OFlags::RDONLY, Mode::empty()).unwrap();
        for _ in 0..depth {
            folder = open(&folder, "d");
        }
        for _ in 0..depth {
            let _ = unlinkat(&folder, "new.txt", AtFlags::empty());
            folder = open(&folder, "..");
            unlinkat(&folder, "d", AtFlags::REMOVEDIR).unwrap();
        }
        let _ = fs::remove_file(root.join("new.txt"));
    }

    #[test]
    fn second_look_f8_folders_that_are_moved_out_meanwhile_are_taken_back_from_there() {
        let scene = Scene::new();
        let (outer, outside) = (scene.root().join("d"), scene.directory.path().join("outside"));
        for sandbox in scene.tiers() {
            let path = "d/".repeat(300) + "new.txt";
            let result = run_with(&sandbox, request(&path, "new", false), &|| {
                fs::rename(outer.join("d"), outside.join("d")).unwrap();
                false
            });
            // What was moved is gone again from there, and the next attempt made it anew.
            result.unwrap();
            assert_eq!(names(&outside), ["d"; 0]);
            remove_deep(&scene.root(), 300);
        }
    }

    #[test]
    fn another_hard_link_keeps_the_old_content() {
        let scene = Scene::new();
        fs::hard_link(scene.root().join("old.txt"), scene.root().join("twin.txt")).unwrap();
        run(&scene.tiers()[0], request("old.txt", "new", true)).unwrap();
        assert_eq!((scene.read("old.txt"), scene.read("twin.txt")), ("new".into(), "old".into()));
    }
}
