use std::fs::{self, FileTimes};
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::time::{Duration, UNIX_EPOCH};

use rustix::fs::{CWD, Mode, mkfifoat};

use crate::path::WorkspacePath;
use crate::sandbox::{Containment, ReadBuffer, Sandbox};

const LIMIT: u64 = 64 << 10;

/// A root that file systems of user space and of the network have no part in, if the machine has one.
fn root() -> Option<(tempfile::TempDir, PathBuf)> {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().join("ws");
    fs::create_dir_all(root.join("dir")).unwrap();
    let sandbox = Sandbox::open_without_waiting(&root)?;
    let kept = *sandbox
        .root
        .opens_in_memory
        .get_or_init(|| super::opens_in_memory(&sandbox.root.directory));
    (kept && sandbox.containment() == Containment::Kernel).then_some((directory, root))
}

/// What is read once the kernel can answer: what others rename meanwhile, anywhere, can keep it from it.
fn read_at_last(sandbox: &Sandbox, path: &str) -> Option<(i64, Vec<u8>)> {
    (0..1000).find_map(|_| {
        let answer = read(sandbox, path);
        if answer.is_none() {
            std::thread::sleep(Duration::from_millis(1));
        }
        answer
    })
}

/// Its time and its bytes.
fn read(sandbox: &Sandbox, path: &str) -> Option<(i64, Vec<u8>)> {
    let mut buffer = ReadBuffer::new();
    let path = WorkspacePath::parse(path).unwrap();
    let file = sandbox.read_without_waiting(&path, LIMIT, &mut buffer)?;
    Some((file.modified_ms, file.bytes.to_vec()))
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
fn links_that_end_inside_are_followed_and_all_else_is_left_to_whoever_may_wait() {
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
    // With `relatime` the first to follow a new link notes the time on the disk.
    drop(sandbox.open_file(&WorkspacePath::parse("dir/inside").unwrap()));
    assert_eq!(read_at_last(&sandbox, "dir/inside").map(|(_, bytes)| bytes), Some(b"a".to_vec()));
    for path in ["out", "absolute", "loop", "fifo", "large", "dir", "a/", "a/b", "none", "."] {
        assert!(read(&sandbox, path).is_none(), "{path}");
    }
}

#[test]
fn what_is_mounted_beneath_the_root_is_left_to_whoever_may_wait() {
    let Some(sandbox) = Sandbox::open_without_waiting("/".as_ref()) else { return };
    assert!(read(&sandbox, "proc/self/status").is_none());
    let in_proc = Sandbox::open("/proc/self".as_ref()).unwrap();
    assert!(read(&in_proc, "status").is_none());
}

#[test]
fn the_walking_tier_leaves_everything_to_whoever_may_wait() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("a"), "a").unwrap();
    let sandbox = Sandbox::open_walking(directory.path()).unwrap();
    assert!(read(&sandbox, "a").is_none());
}

#[test]
fn a_root_that_is_gone_is_left_to_whoever_may_wait() {
    assert!(Sandbox::open_without_waiting("/no/such/root".as_ref()).is_none());
}
