use std::fs::{self, FileTimes};
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::time::{Duration, Instant, UNIX_EPOCH};

use rustix::fs::{CWD, Mode, mkfifoat};

use super::{KNOWN, MountedInode, ReadMethod, SLOW_FOR, known_roots, method_now};
use crate::path::WorkspacePath;
use crate::sandbox::{CachedRead, Containment, ReadBuffer, Sandbox};

const LIMIT: u64 = 64 << 10;

/// A root whose files can be read at once, if the machine has one.
fn root() -> Option<(tempfile::TempDir, PathBuf)> {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().join("ws");
    fs::create_dir_all(root.join("dir")).unwrap();
    fs::write(root.join("first"), "first").unwrap();
    let way = learnt(&Sandbox::open(&root).unwrap(), "first")?;
    (way != ReadMethod::None).then_some((directory, root))
}

/// What is known of a root once one of its files has been opened.
fn learnt(sandbox: &Sandbox, path: &str) -> Option<ReadMethod> {
    sandbox.open_file(&WorkspacePath::parse(path).unwrap()).unwrap();
    let id = MountedInode::of(&sandbox.directory)?;
    known_roots().get(&id).map(|known| known.method)
}

/// What is read once the kernel can answer: what others rename meanwhile, anywhere, can keep it from it.
fn read_at_last(sandbox: &Sandbox, path: &str) -> Option<(i64, Vec<u8>)> {
    (0..1000).find_map(|_| {
        let answer = read(sandbox, path);
        if answer.is_none() {
            std::thread::sleep(Duration::from_millis(1));
            forget_slow(sandbox);
            // A worker opens the file then. With `relatime`, following a link notes the time, also once
            // more where the link was made in the same tick of the clock.
            drop(sandbox.open_file(&WorkspacePath::parse(path).unwrap()));
        }
        answer
    })
}

/// A busy machine may have taken the processor away in the middle of a read, which then looks slow.
fn forget_slow(sandbox: &Sandbox) {
    let Some(id) = MountedInode::of(&sandbox.directory) else { return };
    if let Some(known) = known_roots().get_mut(&id) {
        known.slow_until = None;
    }
}

/// Its time and its bytes.
fn read(sandbox: &Sandbox, path: &str) -> Option<(i64, Vec<u8>)> {
    let mut buffer = ReadBuffer::new();
    let path = WorkspacePath::parse(path).unwrap();
    match sandbox.read_at_once(&path, LIMIT, &mut buffer) {
        CachedRead::Read(file, bytes) => Some((file.modified_ms(), bytes.to_vec())),
        CachedRead::Opened(_) | CachedRead::WouldWait => None,
    }
}

#[test]
fn a_root_is_left_to_workers_until_one_of_its_files_has_been_opened() {
    let Some((_directory, root)) = root() else { return };
    fs::create_dir(root.join("other")).unwrap();
    fs::write(root.join("other/a"), "a").unwrap();
    let sandbox = Sandbox::open(&root.join("other")).unwrap();
    assert!(read(&sandbox, "a").is_none());
    assert!(learnt(&sandbox, "a").is_some());
    assert!(read_at_last(&sandbox, "a").is_some());
    // It is known however it is opened.
    let again = Sandbox::open_without_waiting(&root.join("other")).unwrap();
    assert!(read_at_last(&again, "a").is_some());
}

#[test]
fn a_root_whose_reads_took_long_is_left_to_workers_for_a_while() {
    let Some((_directory, root)) = root() else { return };
    let sandbox = Sandbox::open(&root).unwrap();
    assert!(read_at_last(&sandbox, "first").is_some());
    let id = MountedInode::of(&sandbox.directory).unwrap();
    super::remember_slow(id, Instant::now());
    assert!(read(&sandbox, "first").is_none());
    super::remember_slow(id, Instant::now().checked_sub(SLOW_FOR).unwrap());
    // Other tests may hold the lock for a moment.
    assert!((0..1000).any(|_| method_now(id).is_some()));
}

#[test]
fn while_others_learn_nothing_is_waited_for() {
    let Some((_directory, root)) = root() else { return };
    let sandbox = Sandbox::open(&root).unwrap();
    let learning = KNOWN.lock().unwrap();
    assert!(read(&sandbox, "first").is_none());
    drop(learning);
}

#[test]
fn a_file_that_is_too_large_comes_open() {
    let Some((_directory, root)) = root() else { return };
    fs::write(root.join("large"), vec![b'x'; 65_537]).unwrap();
    let sandbox = Sandbox::open(&root).unwrap();
    let path = WorkspacePath::parse("large").unwrap();
    let mut buffer = ReadBuffer::new();
    let opened = (0..1000).find_map(|_| {
        forget_slow(&sandbox);
        match sandbox.read_at_once(&path, LIMIT, &mut buffer) {
            CachedRead::Opened(file) => Some(file),
            _ => None,
        }
    });
    assert_eq!(opened.unwrap().read_to_end(LIMIT + 1).unwrap().len(), 65_537);
}

#[test]
fn a_file_that_was_just_written_is_read_as_opening_it_reads_it() {
    let Some((_directory, root)) = root() else { return };
    for size in [0, 1, 4095, 4096, 4097, 65_536] {
        fs::write(root.join("dir/a"), vec![b'x'; size]).unwrap();
        let sandbox = Sandbox::open(&root).unwrap();
        let (modified_ms, bytes) =
            read_at_last(&sandbox, "dir/a").expect("the kernel has what was just written");
        let opened = sandbox.open_file(&WorkspacePath::parse("dir/a").unwrap()).unwrap();
        assert_eq!(modified_ms, opened.modified_ms());
        assert_eq!(bytes, opened.read_to_end(LIMIT).unwrap());
        assert_eq!(bytes.len(), size);
    }
}

#[test]
fn a_time_before_1970_is_rounded_down_as_opening_rounds_it() {
    let Some((_directory, root)) = root() else { return };
    let file = fs::File::create(root.join("a")).unwrap();
    let time = UNIX_EPOCH - Duration::from_micros(1500);
    file.set_times(FileTimes::new().set_modified(time)).unwrap();
    let sandbox = Sandbox::open(&root).unwrap();
    assert_eq!(read_at_last(&sandbox, "a").map(|(modified_ms, _)| modified_ms), Some(-2));
}

#[test]
fn links_that_end_inside_are_followed_and_all_else_is_left_to_workers() {
    let Some((directory, root)) = root() else { return };
    fs::write(root.join("a"), "a").unwrap();
    fs::write(directory.path().join("secret"), "secret").unwrap();
    symlink("../a", root.join("dir/inside")).unwrap();
    symlink("../secret", root.join("out")).unwrap();
    symlink(directory.path().join("secret"), root.join("absolute")).unwrap();
    symlink("loop", root.join("loop")).unwrap();
    mkfifoat(CWD, root.join("fifo"), Mode::RWXU).unwrap();
    fs::write(root.join("large"), vec![0; 65_537]).unwrap();
    let sandbox = Sandbox::open(&root).unwrap();
    assert_eq!(read_at_last(&sandbox, "dir/inside").map(|(_, bytes)| bytes), Some(b"a".to_vec()));
    for path in ["out", "absolute", "loop", "fifo", "large", "dir", "a/", "a/b", "none", "."] {
        assert!(read(&sandbox, path).is_none(), "{path}");
    }
}

#[test]
fn what_is_mounted_beneath_the_root_is_left_to_workers_and_says_nothing_of_it() {
    let sandbox = Sandbox::open("/".as_ref()).unwrap();
    if sandbox.containment() == Containment::Walk {
        return;
    }
    let before = MountedInode::of(&sandbox.directory).map(|id| known_roots().contains_key(&id));
    assert_eq!(learnt(&sandbox, "proc/self/status").is_some(), before == Some(true));
    assert!(read(&sandbox, "proc/self/status").is_none());
    let in_proc = Sandbox::open("/proc/self".as_ref()).unwrap();
    assert_eq!(learnt(&in_proc, "status"), Some(ReadMethod::None));
    assert!(read(&in_proc, "status").is_none());
}

#[test]
fn the_walking_tier_leaves_everything_to_workers() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("a"), "a").unwrap();
    let sandbox = Sandbox::open_walking(directory.path()).unwrap();
    sandbox.open_file(&WorkspacePath::parse("a").unwrap()).unwrap();
    assert!(read(&sandbox, "a").is_none());
    assert_eq!(sandbox.containment(), Containment::Walk);
}

#[test]
fn a_root_that_is_gone_is_left_to_workers() {
    assert!(Sandbox::open_without_waiting("/no/such/root".as_ref()).is_none());
}
