//! What a folder looks like after each way of writing, and who is kept out meanwhile.

use std::fs;
use std::os::windows::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use std::time::Instant;

use super::*;
use crate::hash::sha256;
use crate::sandbox::Callbacks;
use crate::sandbox::system::{make_folder, remove_folder};

const AT_EASE: WriteChecks<'_> =
    WriteChecks { callbacks: Callbacks::without_confirm(&|| false), is_current: &|_| true };

fn folder() -> (tempfile::TempDir, Directory) {
    let directory = tempfile::tempdir().unwrap();
    let handle = Directory::open_root(directory.path()).unwrap();
    (directory, handle)
}

fn content(bytes: &[u8]) -> NewContent<'_> {
    NewContent { bytes, overwrite: true, expected: None, durable: true, executable: None }
}

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap();
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn looked(folder: &Directory, name: &str) -> Looked {
    let Ok(looked) = Looked::at(folder, OsStr::new(name)) else { panic!("{name:?}") };
    looked
}

fn create_at(folder: &Directory, name: &str, bytes: &[u8]) -> Result<(), PutError> {
    create(folder, OsStr::new(name), &content(bytes), AT_EASE).map(drop)
}

fn replace_at(folder: &Directory, name: &str, content: &NewContent<'_>) -> Result<(), PutError> {
    replace(folder, OsStr::new(name), content, AT_EASE).map(drop)
}

fn is_denied(result: &Result<(), PutError>) -> bool {
    matches!(result, Err(PutError::System(error)) if error.kind() == io::ErrorKind::PermissionDenied)
}

#[test]
fn a_new_file_replaces_nothing_and_leaves_nothing() {
    let (directory, folder) = folder();
    for name in ["a", "new.txt", "日本語 🎉.txt"] {
        create_at(&folder, name, b"new").unwrap();
        assert_eq!(fs::read(directory.path().join(name)).unwrap(), b"new");
        assert!(matches!(create_at(&folder, name, b"newer"), Err(PutError::Raced)));
        assert!(matches!(create_at(&folder, &name.to_uppercase(), b"newer"), Err(PutError::Raced)));
        assert_eq!(fs::read(directory.path().join(name)).unwrap(), b"new");
        fs::remove_file(directory.path().join(name)).unwrap();
        assert_eq!(names(directory.path()), Vec::<String>::new());
    }
}

#[test]
fn a_replaced_file_keeps_its_attributes() {
    let (directory, folder) = folder();
    let path = directory.path().join("old.txt");
    fs::write(&path, "old").unwrap();
    let hidden = FILE_ATTRIBUTE_HIDDEN | FILE_ATTRIBUTE_SYSTEM;
    let file = sys::open_beneath(
        &folder.0,
        &wide(OsStr::new("old.txt")),
        FILE_GENERIC_WRITE,
        Reparse::OpenItself,
    )
    .unwrap();
    sys::set_basics(&file, 0, hidden).unwrap();
    drop(file);
    let before = fs::metadata(&path).unwrap().file_attributes() & hidden;

    replace_at(&folder, "old.txt", &content(b"new")).unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"new");
    assert_eq!(fs::metadata(&path).unwrap().file_attributes() & hidden, before);
    assert_eq!(names(directory.path()), ["old.txt"]);
}

#[test]
fn a_read_only_file_is_not_replaced() {
    let (directory, folder) = folder();
    let path = directory.path().join("old.txt");
    fs::write(&path, "old").unwrap();
    let mut permissions = fs::metadata(&path).unwrap().permissions();
    permissions.set_readonly(true);
    fs::set_permissions(&path, permissions.clone()).unwrap();

    assert!(is_denied(&replace_at(&folder, "old.txt", &content(b"new"))));
    assert_eq!(fs::read(&path).unwrap(), b"old");
    assert_eq!(names(directory.path()), ["old.txt"]);

    #[allow(clippy::permissions_set_readonly_false, reason = "so that the folder can be removed")]
    permissions.set_readonly(false);
    fs::set_permissions(&path, permissions).unwrap();
}

#[test]
fn a_file_that_is_not_what_was_looked_at_is_not_replaced() {
    let (directory, folder) = folder();
    let name = OsStr::new("old.txt");
    fs::write(directory.path().join("old.txt"), "old").unwrap();
    let file = looked(&folder, "old.txt");
    fs::write(directory.path().join("other.txt"), "other").unwrap();
    fs::rename(directory.path().join("other.txt"), directory.path().join("old.txt")).unwrap();

    let raced = replace_looked(&folder, name, &file, &content(b"new"), AT_EASE);
    assert!(matches!(raced, Err(PutError::Raced)), "{raced:?}");
    assert_eq!(fs::read(directory.path().join("old.txt")).unwrap(), b"other");
    fs::remove_file(directory.path().join("old.txt")).unwrap();
    let raced = replace_looked(&folder, name, &file, &content(b"new"), AT_EASE);
    assert!(matches!(raced, Err(PutError::Raced)), "{raced:?}");
    assert_eq!(names(directory.path()), Vec::<String>::new());
}

#[test]
fn what_another_program_is_writing_to_is_not_compared() {
    let (directory, folder) = folder();
    let path = directory.path().join("old.txt");
    fs::write(&path, "old").unwrap();
    let writer = fs::OpenOptions::new().append(true).open(&path).unwrap();
    let expected =
        NewContent { expected: Some(Expected::Sha256(sha256(b"old"))), ..content(b"new") };
    let refused = replace_at(&folder, "old.txt", &expected);
    let Err(PutError::Refused(WriteError::Open(OpenError::Busy))) = refused else {
        panic!("{refused:?}")
    };
    drop(writer);
    assert_eq!(names(directory.path()), ["old.txt"]);
    replace_at(&folder, "old.txt", &expected).unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"new");
}

#[test]
fn nobody_writes_to_what_has_been_compared() {
    let (directory, folder) = folder();
    let path = directory.path().join("old.txt");
    fs::write(&path, "old").unwrap();
    let name = OsStr::new("old.txt");
    let file = looked(&folder, "old.txt");
    let old = open_old(&folder, name, &file, true).unwrap();
    let error = fs::OpenOptions::new().append(true).open(&path).unwrap_err();
    assert!(is(&error, &[ERROR_SHARING_VIOLATION]), "{error}");
    assert_eq!(fs::read(&path).unwrap(), b"old");
    drop(old);
    fs::OpenOptions::new().append(true).open(&path).unwrap();
}

#[test]
fn one_writer_at_a_time_has_the_turn() {
    let (directory, folder) = folder();
    fs::write(directory.path().join("old.txt"), "old").unwrap();
    let file = looked(&folder, "old.txt");
    let lock = WriterLock::take(&folder, &file).unwrap();
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| {
            drop(WriterLock::take(&folder, &file).unwrap());
            Instant::now()
        });
        std::thread::sleep(Duration::from_millis(100));
        let released = Instant::now();
        drop(lock);
        assert!(waiting.join().unwrap() >= released);
    });
    assert_eq!(names(directory.path()), ["old.txt"]);

    // As a power failure would leave it.
    fs::write(directory.path().join(temporary::writer_lock_name(file.identity)), "").unwrap();
    replace_at(&folder, "old.txt", &content(b"new")).unwrap();
    assert_eq!(names(directory.path()), ["old.txt"]);
}

#[test]
fn a_turn_never_takes_what_is_not_its_own() {
    let (directory, folder) = folder();
    fs::write(directory.path().join("old.txt"), "old").unwrap();
    let name = temporary::writer_lock_name(looked(&folder, "old.txt").identity);
    fs::write(directory.path().join(&name), "somebody's").unwrap();
    assert!(matches!(
        replace_at(&folder, "old.txt", &content(b"new")),
        Err(PutError::System(error)) if error.kind() == io::ErrorKind::ResourceBusy
    ));
    assert_eq!(fs::read(directory.path().join(&name)).unwrap(), b"somebody's");
    assert_eq!(fs::read(directory.path().join("old.txt")).unwrap(), b"old");
}

#[test]
fn a_file_that_others_read_is_replaced_when_they_let_it() {
    let (directory, folder) = folder();
    let path = directory.path().join("old.txt");
    fs::write(&path, "old").unwrap();
    let reader = fs::OpenOptions::new().read(true).share_mode(FILE_SHARE_READ).open(&path).unwrap();
    std::thread::scope(|scope| {
        let replacing = scope.spawn(|| {
            replace_looked(
                &folder,
                OsStr::new("old.txt"),
                &looked(&folder, "old.txt"),
                &content(b"new"),
                AT_EASE,
            )
        });
        std::thread::sleep(Duration::from_millis(100));
        drop(reader);
        replacing.join().unwrap().unwrap();
    });
    assert_eq!(fs::read(&path).unwrap(), b"new");
    assert_eq!(names(directory.path()), ["old.txt"]);
}

#[test]
fn an_abandoned_draft_leaves_nothing_whatever_its_state() {
    let (directory, folder) = folder();
    drop(Draft::new(&folder, &content(b"")).unwrap());
    let mut draft = Draft::new(&folder, &content(b"")).unwrap();
    draft.name_for_itself().unwrap();
    assert!(matches!(draft.fill(&content(b"new"), &|| true), Err(PutError::Cancelled)));
    drop(draft);
    let mut draft = Draft::new(&folder, &content(b"")).unwrap();
    draft.fill(&content(b"new"), &|| false).unwrap();
    drop(draft);
    assert_eq!(names(directory.path()), Vec::<String>::new());
}

#[test]
fn a_sweep_takes_what_the_dead_have_left_and_nothing_else() {
    let (directory, folder) = folder();
    let at = |name: &str| directory.path().join(name);
    let identity_of = |name: &str| looked(&folder, name).identity;

    let empty = temporary::new_name(Identity::UNKNOWN, Identity::UNKNOWN);
    fs::write(at(&empty), "").unwrap();
    fs::write(at("whole"), "whole").unwrap();
    let whole = temporary::new_name(identity_of("whole"), Identity::UNKNOWN);
    fs::rename(at("whole"), at(&whole)).unwrap();

    let of_another = temporary::new_name(Identity { inode: 1, born: 2 }, Identity::UNKNOWN);
    let of_users = [of_another.as_str(), ".rf-notes.md", "a.txt", ".rf-00000000000000000000"];
    for name in of_users {
        fs::write(at(name), "a user's").unwrap();
    }
    let mut draft = Draft::new(&folder, &content(b"")).unwrap();
    draft.name_for_itself().unwrap();
    let living = names(directory.path()).len();
    sweep_now(&folder);
    assert_eq!(names(directory.path()).len(), living - 2);
    draft.fill(&content(b"new"), &|| false).unwrap();
    sweep_now(&folder);
    assert_eq!(names(directory.path()).len(), living - 2);
    drop(draft);

    let mut left = of_users.map(str::to_owned);
    left.sort();
    assert_eq!(names(directory.path()), left);
}

#[test]
fn a_folder_is_made_once_and_removed_while_empty() {
    let (directory, folder) = folder();
    let name = OsStr::new("sub");
    let id = make_folder(&folder, name).unwrap().unwrap();
    assert!(make_folder(&folder, name).unwrap().is_none());
    sync_folder(&folder).unwrap();
    assert!(matches!(kind_at(&folder, name), Ok(Some(EntryKind::Folder))));
    fs::write(directory.path().join("sub/a"), "a").unwrap();
    assert!(remove_folder(&folder, name, id).is_err());
    fs::remove_file(directory.path().join("sub/a")).unwrap();
    let another = (id.0, id.1 + 1);
    assert!(remove_folder(&folder, name, another).is_err());
    remove_folder(&folder, name, id).unwrap();
    assert!(matches!(kind_at(&folder, name), Ok(None)));
    fs::write(directory.path().join("sub"), "a file").unwrap();
    assert!(make_folder(&folder, name).unwrap().is_none());
    assert!(remove_folder(&folder, name, id).is_err());
}

#[test]
fn a_long_listing_comes_whole() {
    let (directory, folder) = folder();
    let expected: Vec<_> = (0..500).map(|number| format!(".rf-{number:03}-{:0100}", 0)).collect();
    for name in expected.iter().map(String::as_str).chain(["other", "rf-1"]) {
        fs::write(directory.path().join(name), "").unwrap();
    }
    let listed = folder.reopen(FILE_LIST_DIRECTORY).unwrap();
    let found = sys::names_like(&listed.0, ".rf-*").unwrap();
    let mut found: Vec<_> = found.into_iter().filter_map(|name| name.into_string().ok()).collect();
    found.sort();
    assert_eq!(found, expected);
    let listed = folder.reopen(FILE_LIST_DIRECTORY).unwrap();
    assert!(sys::names_like(&listed.0, ".none-*").unwrap().is_empty());
}

#[test]
fn a_listing_cut_anywhere_is_no_panic() {
    let mut chain = Vec::new();
    for (name, next) in [("one", 20_u32), ("two!", 0)] {
        chain.extend(next.to_ne_bytes());
        chain.extend(0_u32.to_ne_bytes());
        chain.extend(u32::try_from(name.len() * 2).unwrap().to_ne_bytes());
        chain.extend(name.encode_utf16().flat_map(u16::to_ne_bytes));
        chain.resize(chain.len().next_multiple_of(4), 0);
    }
    assert_eq!(sys::parse_names(&chain), ["one", "two!"]);
    for length in 0..chain.len() {
        assert!(sys::parse_names(&chain[..length]).len() < 2, "{length}");
    }
}
