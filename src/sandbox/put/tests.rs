//! Creating beside others who make and take back the same folders.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::path::NewFilePath;
use crate::sandbox::{Before, Expected, FileFacts, NewContent, Sandbox, Visibility, WriteError};

const CONTENT: NewContent<'_> = NewContent {
    bytes: b"new",
    overwrite: false,
    expected: None,
    durable: false,
    executable: None,
};

/// Creates a file and calls it off when it is complete but does not show yet, so that its folders are
/// taken back.
fn create_in_vain(sandbox: &Sandbox, path: &str) {
    let asked = Cell::new(0);
    let cancelled = || {
        asked.set(asked.get() + 1);
        asked.get() > 1
    };
    let path = NewFilePath::parse(path).unwrap();
    let _ = sandbox.write_file(&path, &CONTENT, &cancelled);
}

#[test]
fn second_look_f3_a_create_begins_anew_when_others_take_its_folder_back() {
    for open in [Sandbox::open, Sandbox::open_walking] {
        let directory = tempfile::tempdir().unwrap();
        let sandbox = open(directory.path()).unwrap();
        let is_over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for number in 0..3 {
                let (sandbox, is_over) = (&sandbox, &is_over);
                scope.spawn(move || {
                    while !is_over.load(Ordering::Relaxed) {
                        create_in_vain(sandbox, &format!("made/deep/vain-{number}"));
                    }
                });
            }
            let created: Vec<_> = (0..300)
                .map(|_| {
                    let path = NewFilePath::parse("made/deep/file").unwrap();
                    let created = sandbox.write_file(&path, &CONTENT, &|| false);
                    let _ = std::fs::remove_file(directory.path().join("made/deep/file"));
                    let _ = std::fs::remove_dir(directory.path().join("made/deep"));
                    created
                })
                .collect();
            is_over.store(true, Ordering::Relaxed);
            for created in created {
                assert_eq!(created.unwrap().visibility, Visibility::Atomic);
            }
        });
    }
}

/// Two of its folders are made.
const PATH: &str = "there/made/deep/a.txt";

#[test]
fn a_write_tells_what_stood_there_what_stands_there_now_and_which_folders_it_made() {
    let directory = tempfile::tempdir().unwrap();
    let sandbox = Sandbox::open(directory.path()).unwrap();
    let write = |path: &str, content: NewContent<'_>| {
        sandbox.write_file(&NewFilePath::parse(path).unwrap(), &content, &|| false)
    };
    let facts = |path: &str| {
        let metadata = std::fs::metadata(directory.path().join(path)).unwrap();
        (metadata.len(), metadata.modified().ok())
    };
    let told = |facts: FileFacts| (facts.size, facts.modified);
    std::fs::create_dir(directory.path().join("there")).unwrap();

    let created = write(PATH, CONTENT).unwrap();
    assert_eq!(created.before, Before::Nothing);
    assert_eq!(told(created.after), facts(PATH));
    assert_eq!(created.folders, ["there/made", "there/made/deep"]);

    for expected in [None, Some(crate::hash::sha256(b"new"))] {
        let stood = facts(PATH);
        let content =
            NewContent { overwrite: true, expected: expected.map(Expected::Sha256), ..CONTENT };
        let replaced = write(PATH, content).unwrap();
        let Before::File { facts: before, sha256 } = replaced.before else { panic!() };
        assert_eq!((told(before), sha256), (stood, expected));
        assert_eq!(told(replaced.after), facts(PATH));
        assert_eq!((replaced.folders, replaced.through_link), (Vec::new(), false));
    }
    let refused = write(PATH, CONTENT);
    assert!(matches!(refused, Err(WriteError::Exists)), "{refused:?}");
}

#[cfg(unix)]
#[test]
fn a_write_tells_the_modes_and_whether_a_link_led_to_the_file() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let directory = tempfile::tempdir().unwrap();
    let sandbox = Sandbox::open(directory.path()).unwrap();
    let file = directory.path().join("a.sh");
    std::fs::write(&file, "old").unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o4751)).unwrap();
    symlink("a.sh", directory.path().join("link")).unwrap();
    for durable in [false, true] {
        let path = NewFilePath::parse("link").unwrap();
        let content = NewContent { overwrite: true, durable, ..CONTENT };
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o4751)).unwrap();
        let replaced = sandbox.write_file(&path, &content, &|| false).unwrap();
        let Before::File { facts, .. } = replaced.before else { panic!() };
        assert_eq!((facts.mode, replaced.after.mode), (Some(0o4751), Some(0o751)));
        assert!(replaced.through_link);
    }
}
