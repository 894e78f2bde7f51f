//! The specification's acceptance criteria (§11), and what the messages promise.

use std::fs;

use super::*;
use tempfile::TempDir;

fn workspace(files: &[(&str, &[u8])]) -> (TempDir, Sandbox) {
    let directory = tempfile::tempdir().unwrap();
    for (name, bytes) in files {
        fs::write(directory.path().join(name), bytes).unwrap();
    }
    let sandbox = Sandbox::open(directory.path()).unwrap();
    (directory, sandbox)
}

fn read(sandbox: &Sandbox, path: &str) -> Result<ReadFileOutput<'static>, ReadFileError> {
    read_file(sandbox, path, &ReadFileOptions::default(), InvalidUtf8::Reject)
}

fn code(sandbox: &Sandbox, path: &str) -> &'static str {
    read(sandbox, path).unwrap_err().code().as_str()
}

#[test]
fn without_max_lines_two_hundred_lines_come_and_the_next_is_named() {
    let text = "a line\n".repeat(250);
    let (_guard, sandbox) = workspace(&[("log.txt", text.as_bytes())]);
    let file = read(&sandbox, "log.txt").unwrap();
    assert_eq!(file.content.split('\n').count(), 200);
    assert_eq!((file.truncated, file.next_start_line), (true, Some(201)));
    assert_eq!((file.meta.line_count, file.meta.returned_line_count), (250, 200));
    assert_eq!(file.meta.byte_length, text.len() as u64);
}

#[test]
fn each_fault_has_its_code() {
    let (guard, sandbox) = workspace(&[("binary", b"a\0b"), ("latin", b"p10\x99\n"), ("f", b"")]);
    fs::create_dir(guard.path().join("d")).unwrap();
    for (path, expected) in [
        ("", "INVALID_ARGUMENT"),
        ("a\0", "INVALID_ARGUMENT"),
        ("../x", "SANDBOX_VIOLATION"),
        ("/etc/hostname", "SANDBOX_VIOLATION"),
        (r"C:\x", "SANDBOX_VIOLATION"),
        ("missing", "NOT_FOUND"),
        ("f/x", "NOT_FOUND"),
        ("f/", "NOT_FOUND"),
        ("f/.", "NOT_FOUND"),
        (&"n".repeat(256), "NOT_FOUND"),
        (&"n/".repeat(3000), "NOT_FOUND"),
        ("d", "NOT_FILE"),
        ("d/", "NOT_FILE"),
        (".", "NOT_FILE"),
        ("d/..", "NOT_FILE"),
        ("binary", "BINARY_NOT_SUPPORTED"),
        ("latin", "BINARY_NOT_SUPPORTED"),
    ] {
        assert_eq!(code(&sandbox, path), expected, "{path:?}");
    }
}

#[test]
fn a_file_at_the_limit_is_read_and_one_byte_more_is_not() {
    let limit = usize::try_from(MAX_READ_FILE_SIZE_BYTES).unwrap();
    let (_guard, sandbox) =
        workspace(&[("fits", &vec![b'a'; limit]), ("large", &vec![b'a'; limit + 1])]);
    assert_eq!(read(&sandbox, "fits").unwrap().content.len(), limit);
    let message = read(&sandbox, "large").unwrap_err().to_string();
    assert_eq!(
        message,
        "SIZE_LIMIT_EXCEEDED: the file has 1048577 bytes, more than the limit of 1048576 bytes: large"
    );
}

#[test]
fn messages_name_byte_and_line_of_what_is_not_utf8() {
    let (_guard, sandbox) = workspace(&[("latin", b"p10\x99\n")]);
    let message = read(&sandbox, "latin").unwrap_err().to_string();
    assert_eq!(
        message,
        "BINARY_NOT_SUPPORTED: not UTF-8: invalid byte 0x99 at byte 3, line 1: latin"
    );
}

#[test]
fn an_absolute_path_never_shows() {
    let (guard, sandbox) = workspace(&[]);
    let inside = guard.path().join("missing.txt");
    let error = read(&sandbox, inside.to_str().unwrap()).unwrap_err();
    assert_eq!(error.path(), "missing.txt");
    let beside = format!("{}-evil/x", guard.path().display());
    for outside in [&*beside, r"\\server\share\x", r"C:\Users\x"] {
        let error = read(&sandbox, outside).unwrap_err();
        assert_eq!(error.path(), "…/x");
        assert!(error.to_string().ends_with(": …/x"), "{error}");
    }
}

#[test]
fn a_path_that_climbs_out_and_spells_the_root_does_not_show_it() {
    let (guard, sandbox) = workspace(&[]);
    let root = guard.path().to_str().unwrap();
    let root = root.strip_prefix('/').unwrap_or(root); // Windows' begins with a drive
    let error = read(&sandbox, &format!("../../../{root}/x")).unwrap_err();
    assert_eq!(error.path(), "…/x");
    let error = read(&sandbox, "../x").unwrap_err();
    assert_eq!(error.path(), "../x");
}

#[test]
fn a_message_stays_on_one_line_and_keeps_its_characters_whole() {
    let (_guard, sandbox) = workspace(&[]);
    let message = read(&sandbox, "a\nb\u{202e}").unwrap_err().to_string();
    assert!(message.ends_with(r": a\nb\u{202e}"), "{message}");
    let message = read(&sandbox, &"😀".repeat(2000)).unwrap_err().to_string();
    assert_eq!(message.matches('😀').count(), 1025);
}

#[test]
fn the_hash_is_of_the_bytes_on_disk() {
    let (_guard, sandbox) = workspace(&[("empty", b""), ("crlf", b"\xEF\xBB\xBFa\r\n")]);
    let options = ReadFileOptions { include_hash: true, ..ReadFileOptions::default() };
    let hash_of =
        |path| read_file(&sandbox, path, &options, InvalidUtf8::Reject).unwrap().meta.sha256;
    let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    assert_eq!(hash_of("empty").as_deref(), Some(empty));
    assert_eq!(hash_of("crlf"), Some(hash::ContentHash::Sha256.of_text("\u{feff}a\r\n")));
}

#[test]
#[cfg_attr(windows, ignore = "Wine's handles do not tell that their directory was deleted")]
fn a_removed_root_is_the_hosts_mistake() {
    let (guard, sandbox) = workspace(&[]);
    guard.close().unwrap();
    assert_eq!(code(&sandbox, "a.txt"), "INVALID_ARGUMENT");
}
