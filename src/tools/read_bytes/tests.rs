//! Ranges, hashes and media types, against slices of the file's bytes.

use std::cell::Cell;
use std::fs;
use std::io::Write;
use std::path::Path;

use super::*;
use crate::argument::MAX_SAFE_INTEGER;
use proptest::prelude::*;
use tempfile::TempDir;

fn workspace(files: &[(&str, &[u8])]) -> (TempDir, Sandbox) {
    let directory = tempfile::tempdir().unwrap();
    for (name, bytes) in files {
        fs::write(directory.path().join(name), bytes).unwrap();
    }
    let sandbox = Sandbox::open(directory.path()).unwrap();
    (directory, sandbox)
}

fn range(offset: u64, length: u64) -> ReadBytesOptions {
    ReadBytesOptions { offset, length, include_hash: false }
}

fn read(sandbox: &Sandbox, path: &str, options: ReadBytesOptions) -> ReadBytesOutput {
    read_bytes(sandbox, path, &options, &|| false).unwrap()
}

fn refused(sandbox: &Sandbox, path: &str, options: ReadBytesOptions) -> String {
    read_bytes(sandbox, path, &options, &|| false).unwrap_err().to_string()
}

/// Bytes in which no two places look alike.
fn pattern(len: usize) -> Vec<u8> {
    (0_u32..).flat_map(|number| (number ^ 0x5A5A_5A5A).to_le_bytes()).take(len).collect()
}

#[test]
fn without_options_the_first_mebibyte_comes() {
    let bytes = pattern((1 << 20) + 5);
    let (_guard, sandbox) = workspace(&[("a.bin", &bytes)]);
    let answer = read(&sandbox, "./a.bin", ReadBytesOptions::default());
    assert_eq!(answer.path, "a.bin");
    assert_eq!((answer.offset, answer.byte_length), (0, (1 << 20) + 5));
    assert!(answer.bytes == bytes[..1 << 20]);
    assert_eq!(answer.sha256, None);
}

#[test]
fn a_range_past_the_end_is_empty() {
    let (_guard, sandbox) = workspace(&[("a", b"abc"), ("empty", b"")]);
    for (path, offset, size) in [
        ("a", 3, 3),
        ("a", 4, 3),
        ("a", MAX_SAFE_INTEGER, 3),
        ("empty", 0, 0),
        ("empty", 1 << 40, 0),
    ] {
        for include_hash in [false, true] {
            let options = ReadBytesOptions { offset, length: *LENGTH.end(), include_hash };
            let answer = read(&sandbox, path, options);
            assert_eq!((&*answer.bytes, answer.offset), (&b""[..], offset), "{path} {offset}");
            assert_eq!(answer.byte_length, size);
        }
    }
}

#[test]
fn no_bytes_may_be_asked_for() {
    let (_guard, sandbox) = workspace(&[("a", b"abc")]);
    let answer = read(&sandbox, "a", range(1, 0));
    assert_eq!((answer.bytes, answer.byte_length), (Vec::new(), 3));
}

#[test]
fn the_hash_is_of_the_whole_file_whatever_the_range() {
    let bytes = pattern(200_000);
    let (_guard, sandbox) = workspace(&[("a", &bytes)]);
    let options = ReadBytesOptions { offset: 150_000, length: 7, include_hash: true };
    let answer = read(&sandbox, "a", options);
    assert_eq!(answer.bytes, bytes[150_000..150_007]);
    assert_eq!(answer.sha256, Some(hash::to_hex(&hash::sha256(&bytes))));
}

#[test]
fn a_hash_has_a_limit_and_a_range_has_none() {
    let (guard, sandbox) = workspace(&[]);
    let sparse = |name: &str, size| {
        let file = fs::File::create(guard.path().join(name)).unwrap();
        file.set_len(size).unwrap();
    };
    sparse("fits", MAX_WHOLE_BYTES);
    sparse("large", MAX_WHOLE_BYTES + 1);
    let with_hash = ReadBytesOptions { include_hash: true, ..range(0, 1) };
    assert!(read(&sandbox, "fits", with_hash).sha256.is_some());
    assert_eq!(
        refused(&sandbox, "large", with_hash),
        "SIZE_LIMIT_EXCEEDED: the file has 67108865 bytes, more than the limit of 67108864 bytes \
         (64 MiB) for reading all of a file; leave include_hash out: large"
    );
    let answer = read(&sandbox, "large", range(MAX_WHOLE_BYTES, 100));
    assert_eq!((answer.bytes, answer.byte_length), (vec![0], MAX_WHOLE_BYTES + 1));
}

#[test]
fn each_fault_has_its_code() {
    let (guard, sandbox) = workspace(&[("f", b"")]);
    fs::create_dir(guard.path().join("d")).unwrap();
    for (path, expected) in [
        ("", "INVALID_ARGUMENT"),
        ("a\0", "INVALID_ARGUMENT"),
        ("../x", "SANDBOX_VIOLATION"),
        ("/etc/hostname", "SANDBOX_VIOLATION"),
        ("missing", "NOT_FOUND"),
        ("f/x", "NOT_FOUND"),
        ("d", "NOT_FILE"),
        (".", "NOT_FILE"),
    ] {
        let message = refused(&sandbox, path, ReadBytesOptions::default());
        assert!(message.starts_with(&format!("{expected}: ")), "{path:?}: {message}");
    }
}

#[test]
fn a_call_is_cancelled_within_64_kib() {
    let bytes = pattern(1 << 20);
    let (_guard, sandbox) = workspace(&[("a", &bytes)]);
    for include_hash in [false, true] {
        let asked = Cell::new(0);
        let cancelled = || {
            asked.set(asked.get() + 1);
            asked.get() > 3
        };
        let options = ReadBytesOptions { include_hash, ..ReadBytesOptions::default() };
        let stopped = read_bytes(&sandbox, "a", &options, &cancelled);
        assert!(stopped.unwrap_err().is_cancelled());
        assert_eq!(asked.get(), 4);
    }
}

#[test]
fn a_file_that_changes_its_size_while_it_is_read_has_one_size_in_the_answer() {
    for include_hash in [false, true] {
        for (offset, length) in [(0, 300_000), (100_000, 300_000), (150_000, 10)] {
            for new_size in [0, 70_000, 120_000, 250_000] {
                let bytes = pattern(200_000);
                let (guard, sandbox) = workspace(&[("a", &bytes)]);
                let place = guard.path().join("a");
                let asked = Cell::new(0);
                let change = || {
                    asked.set(asked.get() + 1);
                    if asked.get() == 2 {
                        resize(&place, new_size);
                    }
                    false
                };
                let options = ReadBytesOptions { offset, length, include_hash };
                let answer = read_bytes(&sandbox, "a", &options, &change).unwrap();
                let end = (offset + length).min(answer.byte_length);
                let expected = end.saturating_sub(offset);
                assert_eq!(answer.bytes.len() as u64, expected, "{options:?} {new_size}");
            }
        }
    }
}

fn resize(place: &Path, size: u64) {
    let mut file = fs::OpenOptions::new().append(true).open(place).unwrap();
    let old = file.metadata().unwrap().len();
    if size < old {
        file.set_len(size).unwrap();
    } else {
        file.write_all(&vec![b'x'; usize::try_from(size - old).unwrap()]).unwrap();
    }
}

#[test]
#[cfg(target_os = "linux")]
fn files_whose_size_the_system_does_not_tell_are_read_to_their_end() {
    let sandbox = Sandbox::open(Path::new("/proc/self")).unwrap();
    let whole = read(&sandbox, "status", ReadBytesOptions::default());
    assert!(whole.bytes.starts_with(b"Name:"));
    assert_eq!(whole.byte_length, whole.bytes.len() as u64);
    let part = read(&sandbox, "status", range(2, 3));
    assert_eq!(part.bytes, b"me:");
    assert!(part.byte_length > 100);
    assert_eq!(part.media_type, "text/plain");
}

proptest! {
    #[test]
    fn a_range_is_a_slice_of_the_file(
        size in prop_oneof![0_usize..40, 8_180_usize..8_200, 65_500_usize..65_600, 0_usize..300_000],
        offset in prop_oneof![0_u64..40, 65_500_u64..65_600, 0_u64..310_000],
        length in prop_oneof![0_u64..40, 65_500_u64..65_600, 0_u64..310_000],
        include_hash: bool,
    ) {
        let bytes = pattern(size);
        let (_guard, sandbox) = workspace(&[("a", &bytes)]);
        let answer = read(&sandbox, "a", ReadBytesOptions { offset, length, include_hash });
        let from = size.min(usize::try_from(offset).unwrap());
        let to = size.min(usize::try_from(offset + length).unwrap());
        prop_assert!(answer.bytes == bytes[from..to]);
        prop_assert_eq!((answer.offset, answer.byte_length), (offset, size as u64));
        let hash = include_hash.then(|| hash::to_hex(&hash::sha256(&bytes)));
        prop_assert_eq!(answer.sha256, hash);
    }
}
