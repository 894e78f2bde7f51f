//! The ways that file systems without unnamed files need, and the sweep.

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use rustix::fs::{FlockOperation, OFlags, XattrFlags, flock, fsetxattr};

use super::access::{PRIVATE, attribute_names, begin_alike};
use super::take_back::take_back;
use super::*;
use crate::hash::sha256;
use crate::path::EntryPath;
use crate::sandbox::Callbacks;
use crate::sandbox::put::error::Stray;
use crate::sandbox::system::unix::held::exchange_names;
use crate::sandbox::{MoveOptions, Sandbox};

const AT_EASE: WriteChecks<'_> =
    WriteChecks { callbacks: Callbacks::without_confirm(&|| false), is_current: &|_| true };
const CALLED_OFF: WriteChecks<'_> =
    WriteChecks { callbacks: Callbacks::without_confirm(&|| true), ..AT_EASE };
/// The folder has been moved away.
const ASTRAY: WriteChecks<'_> = WriteChecks { is_current: &|_| false, ..AT_EASE };

fn folder() -> (tempfile::TempDir, Directory) {
    let directory = tempfile::tempdir().unwrap();
    let handle = Directory::open_root(directory.path()).unwrap();
    let handle = handle.reopen(OFlags::RDONLY).unwrap();
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

fn old(folder: &Directory, name: &str) -> Old {
    Old::take(folder, OsStr::new(name), None, &|| false).unwrap()
}

fn replace_named(folder: &Directory, name: &str, content: &NewContent<'_>) -> Result<(), PutError> {
    let name = OsStr::new(name);
    replace_from(|_, _| Ok(None), folder, name, content, AT_EASE).map(drop)
}

/// A draft with this content that has changed places with the file `t`: its temporary name, too.
fn exchanged<'folder>(
    folder: &'folder Directory,
    bytes: &[u8],
) -> (Draft<'folder>, std::ffi::OsString, Old) {
    let old = old(folder, "t");
    let mut draft = Draft::named(folder, PRIVATE).unwrap();
    draft.fill(&content(bytes), &|| false).unwrap();
    draft.name_beside(&old).unwrap();
    let temporary = draft.name.take().unwrap();
    exchange_names(folder, &temporary, OsStr::new("t")).unwrap();
    (draft, temporary, old)
}

/// Takes a draft back that was refused because the file had changed.
fn refuse(draft: &mut Draft<'_>, temporary: &OsStr, bytes: &[u8]) -> PutError {
    take_back(draft, temporary, OsStr::new("t"), &content(bytes), PutError::Changed)
}

/// The name of what was kept beside.
fn kept_name(error: &PutError) -> String {
    match error {
        PutError::Refused(WriteError::Kept {
            stray: Stray::Used(name) | Stray::Displaced(name),
            ..
        }) => name.clone().into_string().unwrap(),
        error => panic!("{error:?}"),
    }
}

#[test]
fn a_named_draft_becomes_a_new_file_and_leaves_nothing() {
    let (directory, folder) = folder();
    let name = OsStr::new("new.txt");
    create_named(&folder, name, &content(b"new"), AT_EASE).unwrap();
    assert_eq!(fs::read(directory.path().join("new.txt")).unwrap(), b"new");
    let again = create_named(&folder, name, &content(b"newer"), AT_EASE);
    assert!(matches!(again, Err(PutError::Raced)));
    assert_eq!(fs::read(directory.path().join("new.txt")).unwrap(), b"new");
    assert_eq!(names(directory.path()), ["new.txt"]);
}

#[test]
fn a_named_draft_replaces_a_file_and_leaves_nothing() {
    let (directory, folder) = folder();
    let file = directory.path().join("old.txt");
    fs::write(&file, "old").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o750)).unwrap();
    let expected = Some(Expected::Sha256(sha256(b"old")));
    replace_named(&folder, "old.txt", &NewContent { expected, ..content(b"new") }).unwrap();
    assert_eq!(fs::read(&file).unwrap(), b"new");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o7777, 0o750);
    let stale = replace_named(&folder, "old.txt", &NewContent { expected, ..content(b"newer") });
    assert!(matches!(stale, Err(PutError::Changed)));
    assert_eq!(names(directory.path()), ["old.txt"]);
}

#[test]
fn a_draft_that_is_called_off_leaves_nothing() {
    let (directory, folder) = folder();
    let stopped = create_named(&folder, OsStr::new("new.txt"), &content(b"new"), CALLED_OFF);
    assert!(matches!(stopped, Err(PutError::Cancelled)));
    assert_eq!(names(directory.path()), Vec::<String>::new());
}

#[test]
fn a_sweep_takes_what_the_dead_have_left_and_nothing_else() {
    let (directory, folder) = folder();
    fs::write(directory.path().join(".rf-notes.md"), "a user's").unwrap();
    fs::write(directory.path().join(".rf-0123456789abcdefghjk"), "a user's, too").unwrap();

    let mut dead = Draft::named(&folder, PRIVATE).unwrap();
    dead.fill(&content(b"half done"), &|| false).unwrap();
    // A killed process closes its files, and with them its locks, without dropping anything.
    dead.name = None;
    drop(dead);
    let mut living = Draft::named(&folder, PRIVATE).unwrap();
    living.fill(&content(b"half done"), &|| false).unwrap();
    assert_eq!(names(directory.path()).len(), 4);

    sweep_now(&folder);
    let mut left = names(directory.path());
    left.retain(|name| Some(OsStr::new(name)) != living.name.as_deref());
    assert_eq!(left, [".rf-0123456789abcdefghjk", ".rf-notes.md"]);
    drop(living);
    assert_eq!(names(directory.path()).len(), 2);
}

#[test]
fn a_displaced_file_that_is_left_under_the_temporary_name_is_swept_too() {
    let (directory, folder) = folder();
    fs::write(directory.path().join("t"), "old").unwrap();
    drop(exchanged(&folder, b"new"));
    assert_eq!(names(directory.path()).len(), 2);
    sweep_now(&folder);
    assert_eq!(names(directory.path()), ["t"]);
}

#[test]
fn a_newer_file_that_is_put_over_a_refused_one_stays() {
    let (directory, folder) = folder();
    let path = |name: &str| directory.path().join(name);
    fs::write(path("t"), "displaced").unwrap();
    let (mut draft, temporary, _old) = exchanged(&folder, b"refused");
    // Another program replaces the refused file before it can be taken back.
    fs::write(path("newest"), "newest").unwrap();
    fs::rename(path("newest"), path("t")).unwrap();

    assert!(matches!(refuse(&mut draft, &temporary, b"refused"), PutError::Changed));
    drop(draft);
    assert_eq!(fs::read_to_string(path("t")).unwrap(), "newest");
    assert_eq!(names(directory.path()), ["t"]);
}

#[test]
fn a_refused_file_is_taken_back_and_the_displaced_one_returns() {
    let (directory, folder) = folder();
    let path = |name: &str| directory.path().join(name);
    fs::write(path("t"), "displaced").unwrap();
    let (mut draft, temporary, _old) = exchanged(&folder, b"refused");
    assert!(matches!(refuse(&mut draft, &temporary, b"refused"), PutError::Changed));
    drop(draft);
    assert_eq!(fs::read_to_string(path("t")).unwrap(), "displaced");
    assert_eq!(names(directory.path()), ["t"]);
}

#[test]
fn a_refused_file_is_taken_back_from_the_name_to_which_another_program_has_exchanged_it() {
    let (directory, folder) = folder();
    let path = |name: &str| directory.path().join(name);
    fs::write(path("t"), "theirs").unwrap();
    fs::write(path("u"), "other").unwrap();
    let (mut draft, temporary, _old) = exchanged(&folder, b"refused");
    exchange_names(&folder, OsStr::new("t"), OsStr::new("u")).unwrap();

    assert!(matches!(refuse(&mut draft, &temporary, b"refused"), PutError::Changed));
    drop(draft);
    assert_eq!(fs::read_to_string(path("t")).unwrap(), "other");
    assert_eq!(fs::read_to_string(path("u")).unwrap(), "theirs", "as the other program left it");
    assert_eq!(names(directory.path()), ["t", "u"]);
}

#[test]
fn a_link_that_was_displaced_returns_as_a_link() {
    let (directory, folder) = folder();
    let path = |name: &str| directory.path().join(name);
    fs::write(path("t"), "theirs").unwrap();
    std::os::unix::fs::symlink("elsewhere", path("u")).unwrap();
    let old = old(&folder, "t");
    let mut draft = Draft::named(&folder, PRIVATE).unwrap();
    draft.name_beside(&old).unwrap();
    // Another program exchanges the file with a link just before, and back just after.
    let [t, u] = ["t", "u"].map(OsStr::new);
    exchange_names(&folder, t, u).unwrap();
    let temporary = draft.name.take().unwrap();
    exchange_names(&folder, &temporary, t).unwrap();
    exchange_names(&folder, t, u).unwrap();

    assert!(matches!(refuse(&mut draft, &temporary, b""), PutError::Changed));
    drop((draft, old));
    assert_eq!(fs::read_to_string(path("t")).unwrap(), "theirs");
    assert_eq!(fs::read_link(path("u")).unwrap(), Path::new("elsewhere"));
    assert_eq!(names(directory.path()), ["t", "u"]);
}

#[test]
fn what_another_program_wrote_into_a_refused_file_is_kept_and_named() {
    type Edit = fn(&Path);
    let edits: [(&str, Edit); 3] = [
        ("refused, edited", |path| {
            let mut file = fs::OpenOptions::new().append(true).open(path).unwrap();
            std::io::Write::write_all(&mut file, b", edited").unwrap();
        }),
        ("another", |path| fs::write(path, "another").unwrap()),
        ("rEfused", |path| {
            use std::os::unix::fs::FileExt;
            let file = fs::OpenOptions::new().write(true).open(path).unwrap();
            file.write_all_at(b"E", 1).unwrap();
        }),
    ];
    for (expected, edit) in edits {
        let (directory, folder) = folder();
        let path = |name: &str| directory.path().join(name);
        fs::write(path("t"), "displaced").unwrap();
        let (mut draft, temporary, old) = exchanged(&folder, b"refused");
        edit(&path("t"));
        let error = refuse(&mut draft, &temporary, b"refused");
        drop((draft, old));
        let name = kept_name(&error);
        assert_eq!(fs::read_to_string(path("t")).unwrap(), "displaced");
        assert_eq!(fs::read_to_string(path(&name)).unwrap(), expected);
        sweep_now(&folder);
        assert_eq!(names(directory.path()), [name.as_str(), "t"], "no sweep takes it");
    }
}

#[test]
fn a_refused_file_that_another_program_has_linked_stays_under_that_name_alone() {
    let (directory, folder) = folder();
    let path = |name: &str| directory.path().join(name);
    fs::write(path("t"), "displaced").unwrap();
    let (mut draft, temporary, _old) = exchanged(&folder, b"refused");
    fs::hard_link(path("t"), path("backup")).unwrap();
    fs::write(path("backup"), "edited").unwrap();
    refuse(&mut draft, &temporary, b"refused");
    drop(draft);
    assert_eq!(fs::read_to_string(path("t")).unwrap(), "displaced");
    assert_eq!(fs::read_to_string(path("backup")).unwrap(), "edited");
    assert_eq!(names(directory.path()), ["backup", "t"]);
}

#[test]
fn a_refused_file_that_was_moved_out_of_the_folder_makes_way_and_that_is_told() {
    let (directory, folder) = folder();
    let path = |name: &str| directory.path().join(name);
    let elsewhere = tempfile::tempdir_in(directory.path().parent().unwrap()).unwrap();
    fs::write(path("t"), "displaced").unwrap();
    let (mut draft, temporary, _old) = exchanged(&folder, b"refused");
    fs::rename(path("t"), elsewhere.path().join("moved")).unwrap();
    let error = refuse(&mut draft, &temporary, b"refused");
    let told = matches!(error, PutError::Refused(WriteError::Kept { stray: Stray::Elsewhere, .. }));
    assert!(told, "{error:?}");
    drop(draft);
    assert_eq!(fs::read_to_string(path("t")).unwrap(), "displaced");
    assert_eq!(fs::read_to_string(elsewhere.path().join("moved")).unwrap(), "refused");
    assert_eq!(names(directory.path()), ["t"]);
}

#[test]
fn a_displaced_file_whose_place_is_taken_for_good_is_kept_and_named() {
    let (directory, folder) = folder();
    let path = |name: &str| directory.path().join(name);
    let elsewhere = tempfile::tempdir_in(directory.path().parent().unwrap()).unwrap();
    fs::write(path("t"), "displaced").unwrap();
    let (mut draft, temporary, _old) = exchanged(&folder, b"refused");
    fs::rename(path("t"), elsewhere.path().join("moved")).unwrap();
    fs::write(path("t"), "newest").unwrap();
    let name = kept_name(&refuse(&mut draft, &temporary, b"refused"));
    drop(draft);
    assert_eq!(fs::read_to_string(path("t")).unwrap(), "newest");
    assert_eq!(fs::read_to_string(path(&name)).unwrap(), "displaced");
    sweep_now(&folder);
    assert_eq!(names(directory.path()), [name.as_str(), "t"]);
}

/// The last question to the caller.
fn asking(confirm: &dyn Fn() -> bool) -> WriteChecks<'_> {
    let callbacks = Callbacks { confirm: Some(confirm), ..AT_EASE.callbacks };
    WriteChecks { callbacks, ..AT_EASE }
}

#[test]
fn a_new_file_that_is_not_confirmed_is_gone_however_it_was_made() {
    let (directory, folder) = folder();
    for create in [create, create_named, in_place::create] {
        let confirm = || {
            assert_eq!(names(directory.path()), ["new.txt"]);
            false
        };
        let refused = create(&folder, OsStr::new("new.txt"), &content(b"new"), asking(&confirm));
        assert!(matches!(refused, Err(PutError::Cancelled)), "{refused:?}");
        assert_eq!(names(directory.path()), Vec::<String>::new());
    }
}

/// Renames a draft over the file `t`, which holds `old`. `meanwhile` happens before the caller says no.
fn renamed_over_in_vain(
    folder: &Directory,
    expected: Option<Expected<'_>>,
    meanwhile: &dyn Fn(),
) -> Result<(), PutError> {
    let old = old(folder, "t");
    let content = NewContent { expected, ..content(b"new") };
    let begin: Begin = |folder, mode| Draft::unnamed(folder, mode);
    let draft = prepare(begin, folder, &old, Some(true), &|draft| draft.fill(&content, &|| false));
    let confirm = || {
        meanwhile();
        false
    };
    rename_over(draft?, OsStr::new("t"), &old, &content, asking(&confirm))
}

#[test]
fn a_file_that_was_renamed_over_is_written_back_with_its_rights_and_its_time() {
    let (directory, folder) = folder();
    let file = directory.path().join("t");
    for expected in [None, Some(Expected::Bytes(b"old"))] {
        fs::write(&file, "old").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o4740)).unwrap();
        let time = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000);
        File::options().write(true).open(&file).unwrap().set_modified(time).unwrap();
        let look = || {
            assert_eq!(fs::read(&file).unwrap(), b"new");
            assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o7777, 0o750);
        };
        let refused = renamed_over_in_vain(&folder, expected, &look);
        assert!(matches!(refused, Err(PutError::Cancelled)), "{refused:?}");
        let metadata = fs::metadata(&file).unwrap();
        assert_eq!(metadata.permissions().mode() & 0o7777, 0o4740);
        assert_eq!(metadata.modified().unwrap(), time);
        assert_eq!(fs::read(&file).unwrap(), b"old");
        assert_eq!(names(directory.path()), ["t"]);
    }
}

#[test]
fn nothing_is_written_back_over_what_another_program_has_made_of_the_new_file() {
    let is_told = |refused: &Result<(), PutError>| match refused {
        Err(PutError::Refused(WriteError::Kept { because, stray: Stray::Standing })) => {
            matches!(**because, WriteError::Cancelled)
        }
        _ => false,
    };
    let (directory, folder) = folder();
    let path = |name: &str| directory.path().join(name);
    let [t, theirs] = ["t", "theirs"].map(path);
    let cases: [(&dyn Fn(), _, _); 5] = [
        (&|| fs::write(&t, "newer").unwrap(), Some("newer"), true),
        (&|| fs::write(&t, "ne").unwrap(), Some("ne"), true),
        (&|| fs::rename(&t, path("u")).unwrap(), None, true),
        // As it would have done to the old file.
        (
            &|| {
                fs::write(&theirs, "theirs").unwrap();
                fs::rename(&theirs, &t).unwrap();
            },
            Some("theirs"),
            false,
        ),
        (&|| fs::remove_file(&t).unwrap(), None, false),
    ];
    for (meanwhile, left, told) in cases {
        fs::write(&t, "old").unwrap();
        let refused = renamed_over_in_vain(&folder, None, meanwhile);
        assert_eq!(is_told(&refused), told, "{refused:?}");
        assert!(told || matches!(refused, Err(PutError::Cancelled)), "{refused:?}");
        assert_eq!(fs::read_to_string(&t).ok().as_deref(), left);
        assert!(!names(directory.path()).iter().any(|name| name.starts_with(".rf-")));
    }
}

#[test]
fn what_the_old_file_has_not_the_new_one_has_not_either() {
    let (directory, folder) = folder();
    fs::write(directory.path().join("old.txt"), "old").unwrap();
    let old = old(&folder, "old.txt");
    let draft = Draft::named(&folder, PRIVATE).unwrap();
    // As a folder's default access list would give it.
    let given = fsetxattr(&draft.file, "user.given", b"x", XattrFlags::empty());
    if given == Err(Errno::OPNOTSUPP) {
        return; // A file system without extended attributes gives none.
    }
    given.unwrap();
    fsetxattr(&old.file, "user.kept", b"y", XattrFlags::empty()).unwrap();
    let draft = std::cell::Cell::new(Some(draft));
    let draft = begin_alike(&|_| Ok(draft.take()), &old, None).unwrap().unwrap();
    assert_eq!(attribute_names(&draft.file), [b"user.kept".to_vec()]);
}

#[test]
fn the_mode_is_that_of_the_file_that_is_replaced() {
    let (directory, folder) = folder();
    let file = directory.path().join("old.txt");
    fs::write(&file, "old").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    replace(&folder, OsStr::new("old.txt"), &content(b"new"), AT_EASE).unwrap();
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn a_new_file_goes_again_if_its_folder_was_moved() {
    let (directory, folder) = folder();
    for create in [create, create_named, in_place::create] {
        let moved = create(&folder, OsStr::new("new.txt"), &content(b"new"), ASTRAY);
        assert!(matches!(moved, Err(PutError::Raced)), "{moved:?}");
        assert_eq!(names(directory.path()), Vec::<String>::new());
    }
}

#[test]
fn a_replaced_file_returns_if_its_folder_was_moved() {
    let (directory, folder) = folder();
    let name = OsStr::new("old.txt");
    fs::write(directory.path().join(name), "old").unwrap();
    let check = |moved: Result<(), PutError>| {
        assert!(matches!(moved, Err(PutError::Raced)), "{moved:?}");
        assert_eq!(fs::read(directory.path().join(name)).unwrap(), b"old");
        assert_eq!(names(directory.path()), ["old.txt"]);
    };
    check(replace(&folder, name, &content(b"new"), ASTRAY).map(drop));
    let replaced = replace_from(|_, _| Ok(None), &folder, name, &content(b"new"), ASTRAY);
    check(replaced.map(drop));
    let old = old(&folder, "old.txt");
    let mut draft = Draft::named(&folder, PRIVATE).unwrap();
    draft.name_beside(&old).unwrap();
    check(rename_over(draft, name, &old, &content(b"new"), ASTRAY));
}

/// Replaces the file `t` by `edited` as where names cannot be exchanged. A move begins between the last look at the
/// file and the rename.
fn replace_beside_move(folder: &Directory, root: &Path, (from, to): (&str, &str)) {
    let sandbox = Sandbox::open(root).unwrap();
    let path = |path| EntryPath::parse(path, |_| None).unwrap();
    let options = MoveOptions { overwrite: true, ..MoveOptions::default() };
    let expected = NewContent { expected: Some(Expected::Bytes(b"old")), ..content(b"edited") };
    std::thread::scope(|scope| {
        let old = old(folder, "t");
        let mut draft = Draft::named(folder, PRIVATE).unwrap();
        draft.fill(&expected, &|| false).unwrap();
        draft.name_beside(&old).unwrap();
        let begin_to_move = |_: &Directory| {
            scope.spawn(|| {
                let callbacks = Callbacks::without_confirm(&|| false);
                sandbox.move_entry(&path(from), &path(to), &options, callbacks).unwrap();
            });
            std::thread::sleep(std::time::Duration::from_millis(100));
            true
        };
        let checks = WriteChecks { is_current: &begin_to_move, ..AT_EASE };
        rename_over(draft, OsStr::new("t"), &old, &expected, checks).unwrap();
    });
}

#[test]
fn a_move_waits_for_who_replaces_the_file_and_moves_the_new_one() {
    let (directory, folder) = folder();
    fs::write(directory.path().join("t"), "old").unwrap();
    replace_beside_move(&folder, directory.path(), ("t", "moved"));
    assert_eq!(names(directory.path()), ["moved"]);
    assert_eq!(fs::read(directory.path().join("moved")).unwrap(), b"edited");
}

#[test]
fn a_move_waits_for_who_replaces_the_file_that_it_replaces() {
    let (directory, folder) = folder();
    fs::write(directory.path().join("t"), "old").unwrap();
    fs::write(directory.path().join("moved"), "moved").unwrap();
    replace_beside_move(&folder, directory.path(), ("moved", "t"));
    assert_eq!(names(directory.path()), ["t"]);
    assert_eq!(fs::read(directory.path().join("t")).unwrap(), b"moved");
}

#[test]
fn what_is_kept_gets_a_name_that_no_sweep_takes() {
    let (directory, folder) = folder();
    fs::write(directory.path().join("t"), "").unwrap();
    let (draft, temporary, old) = exchanged(&folder, b"");
    let name = keep(&folder, &temporary).into_string().unwrap();
    drop((draft, old));
    sweep_now(&folder);
    assert_eq!(names(directory.path()), [name.as_str(), "t"]);
}

#[test]
fn a_file_that_others_keep_locked_is_replaced_and_no_sweep_takes_it_before_that_is_certain() {
    let (directory, folder) = folder();
    let path = directory.path().join("t");
    fs::write(&path, "displaced").unwrap();
    let others = File::open(&path).unwrap();
    flock(&others, FlockOperation::LockExclusive).unwrap();
    let (mut draft, temporary, old) = exchanged(&folder, b"refused");
    drop(others);

    sweep_now(&folder);
    assert!(matches!(refuse(&mut draft, &temporary, b"refused"), PutError::Changed));
    drop((draft, old));
    assert_eq!(fs::read_to_string(&path).unwrap(), "displaced");
    assert_eq!(names(directory.path()), ["t"]);
}

/// What only Linux tells or forbids.
#[cfg(target_os = "linux")]
mod linux {
    use super::*;
    use std::io::Write;

    use crate::sandbox::put::error::Flaw;
    use crate::sandbox::system::make_folder;
    use crate::sandbox::system::unix::Writers;
    use rustix::io::Errno;
    use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, apply_filter};

    /// Runs `body` on a thread of its own, for which the system fails to say what stands anywhere.
    fn without_stat<T: Send>(body: impl FnOnce() -> T + Send) -> T {
        let calls = [libc::SYS_newfstatat, libc::SYS_fstat, libc::SYS_statx];
        let error = SeccompAction::Errno(Errno::IO.raw_os_error().cast_unsigned());
        let filter = SeccompFilter::new(
            calls.map(|call| (call, vec![])).into(),
            SeccompAction::Allow,
            error,
            std::env::consts::ARCH.try_into().unwrap(),
        );
        let filter: BpfProgram = filter.unwrap().try_into().unwrap();
        std::thread::scope(|scope| {
            let blind = scope.spawn(|| {
                apply_filter(&filter).unwrap();
                body()
            });
            blind.join().unwrap()
        })
    }

    #[test]
    fn an_exchange_is_not_undone_twice_where_the_system_does_not_say_what_stands_there() {
        let (directory, folder) = folder();
        fs::write(directory.path().join("t"), "displaced").unwrap();
        let (mut draft, temporary, old) = exchanged(&folder, b"refused");
        let error = without_stat(|| refuse(&mut draft, &temporary, b"refused"));
        let name = kept_name(&error);
        drop((draft, old));
        assert_eq!(fs::read(directory.path().join("t")).unwrap(), b"displaced");
        assert_eq!(names(directory.path()), [name.as_str(), "t"]);
    }

    #[test]
    fn a_folder_that_cannot_be_looked_at_once_it_is_made_goes_again() {
        let (directory, folder) = folder();
        let made = without_stat(|| make_folder(&folder, OsStr::new("new")));
        assert_eq!(made.unwrap_err().raw_os_error(), Some(Errno::IO.raw_os_error()));
        assert_eq!(names(directory.path()), Vec::<String>::new());
    }

    /// Whether a folder could be given a flag, or could be relieved of it.
    fn chattr(flag: &str, directory: &Path) -> bool {
        let chattr = std::process::Command::new("chattr").arg(flag).arg(directory).output();
        chattr.is_ok_and(|output| output.status.success())
    }

    #[test]
    fn a_named_draft_is_not_begun_in_an_append_only_folder() {
        let (directory, folder) = folder();
        if !chattr("+a", directory.path()) {
            eprintln!("skipped: no append-only folders for this user or on this file system");
            return;
        }
        let refused = create_named(&folder, OsStr::new("new.txt"), &content(b"new"), AT_EASE);
        let left = names(directory.path());
        assert!(chattr("-a", directory.path()));
        assert!(matches!(refused, Err(PutError::Refused(WriteError::AppendOnly))), "{refused:?}");
        assert_eq!(left, Vec::<String>::new());
    }

    /// Whether leases tell here who has a file open for writing.
    fn writers_are_known(file: &File) -> bool {
        let known = !matches!(Writers::of(file), Writers::Unknown);
        if !known {
            eprintln!("skipped: the system does not tell who has a file open for writing");
        }
        known
    }

    #[test]
    fn a_file_that_somebody_has_open_for_writing_is_not_the_expected_one() {
        let (directory, folder) = folder();
        let file = directory.path().join("t");
        fs::write(&file, "old").unwrap();
        let expected =
            NewContent { expected: Some(Expected::Sha256(sha256(b"old"))), ..content(b"new") };
        let mut writer = fs::OpenOptions::new().append(true).open(&file).unwrap();
        if !writers_are_known(&File::open(&file).unwrap()) {
            return;
        }
        let refused = replace_named(&folder, "t", &expected);
        assert!(matches!(refused, Err(PutError::Refused(WriteError::BeingWritten))), "{refused:?}");
        writer.write_all(b" and edited").unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "old and edited");
        drop(writer);
        fs::write(&file, "old").unwrap();
        replace_named(&folder, "t", &expected).unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "new");
        assert_eq!(names(directory.path()), ["t"]);
    }

    #[test]
    fn who_is_just_done_with_a_file_is_waited_for() {
        let (directory, folder) = folder();
        let file = directory.path().join("t");
        fs::write(&file, "old").unwrap();
        let writer = fs::OpenOptions::new().append(true).open(&file).unwrap();
        let expected =
            NewContent { expected: Some(Expected::Sha256(sha256(b"old"))), ..content(b"new") };
        std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(std::time::Duration::from_millis(10));
                drop(writer);
            });
            replace_named(&folder, "t", &expected).unwrap();
        });
        assert_eq!(fs::read_to_string(&file).unwrap(), "new");
    }

    #[test]
    fn an_edit_by_who_opened_the_file_before_the_exchange_and_writes_after_it_is_not_lost() {
        let (directory, folder) = folder();
        let file = directory.path().join("t");
        fs::write(&file, "old").unwrap();
        let old = old(&folder, "t");
        if !writers_are_known(&old.file) {
            return;
        }
        let expected =
            NewContent { expected: Some(Expected::Sha256(sha256(b"old"))), ..content(b"new") };
        old.check_expected(expected.expected, &|| false).unwrap();
        let mut draft = Draft::named(&folder, PRIVATE).unwrap();
        draft.name_beside(&old).unwrap();
        let mut writer = fs::OpenOptions::new().append(true).open(&file).unwrap();

        let refused = exchange(draft, OsStr::new("t"), &old, &expected, AT_EASE);
        assert!(matches!(refused, Err(PutError::Refused(WriteError::BeingWritten))), "{refused:?}");
        writer.write_all(b" and edited").unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "old and edited");
        assert_eq!(names(directory.path()), ["t"]);
    }

    #[test]
    fn a_file_that_cannot_be_taken_back_is_not_denied() {
        let (directory, folder) = folder();
        let Some(mut draft) = Draft::unnamed(&folder, PRIVATE).unwrap() else { return };
        draft.fill(&content(b"new"), &|| false).unwrap();
        if !chattr("+a", directory.path()) {
            eprintln!("skipped: no append-only folders for this user or on this file system");
            return;
        }
        let name = OsStr::new("new.txt");
        draft.link_at(name).unwrap();
        let flawed = finish(draft, name, &content(b"new"), ASTRAY);
        assert!(chattr("-a", directory.path()));
        let expected = matches!(flawed, Err(PutError::Refused(WriteError::Flawed(Flaw::Moved))));
        assert!(expected, "{flawed:?}");
        assert_eq!(names(directory.path()), ["new.txt"]);
    }
}
