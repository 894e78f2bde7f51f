use std::fs;
use std::path::Path;

use proptest::prelude::*;
use tempfile::TempDir;

use super::*;
use crate::text::{InvalidUtf8, decode};
use crate::tools::create_file::{Durability, WriteScope};

fn workspace(content: &[u8]) -> (TempDir, Sandbox) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.txt"), content).unwrap();
    let sandbox = Sandbox::open(folder.path()).unwrap();
    (folder, sandbox)
}

fn edit(old: &str, new: &str) -> Edit {
    Edit { old: old.to_owned(), new: new.to_owned(), replace_all: false }
}

fn request(edits: Vec<Edit>) -> EditFileRequest {
    EditFileRequest {
        path: "a.txt".to_owned(),
        edits,
        is_list: true,
        expected: None,
        dry_run: false,
    }
}

const FAST: ChangeOptions =
    ChangeOptions { write_scope: WriteScope::WorkspaceWrite, durability: Durability::None };

fn run(sandbox: &Sandbox, request: &EditFileRequest) -> Result<EditFileOutput, Failure> {
    edit_file(sandbox, request, FAST, &|| false)
}

/// [`run`], after a dry run, which must come to the same and write nothing (Q84).
fn run_after_dry_run(
    (folder, sandbox): &(TempDir, Sandbox),
    request: &EditFileRequest,
) -> Result<EditFileOutput, Failure> {
    let before = fs::read(folder.path().join("a.txt")).unwrap();
    let dry = run(sandbox, &EditFileRequest { dry_run: true, ..request.clone() });
    assert_eq!(fs::read(folder.path().join("a.txt")).unwrap(), before);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    let done = run(sandbox, request);
    assert_eq!(dry.map(|answer| EditFileOutput { applied: true, ..answer }), done);
    done
}

/// The file's bytes after some edits.
fn edited(content: &[u8], edits: Vec<Edit>) -> Result<Vec<u8>, Failure> {
    let scene = workspace(content);
    let answer = run_after_dry_run(&scene, &request(edits))?;
    let (folder, _) = scene;
    let bytes = fs::read(folder.path().join("a.txt")).unwrap();
    assert_eq!(answer.sha256, hash::to_hex(&hash::sha256(&bytes)));
    assert_eq!(answer.byte_length, bytes.len() as u64);
    Ok(bytes)
}

fn code_of(content: &[u8], edits: Vec<Edit>) -> &'static str {
    let scene = workspace(content);
    let failure = run_after_dry_run(&scene, &request(edits)).unwrap_err();
    let (folder, _) = scene;
    assert_eq!(fs::read(folder.path().join("a.txt")).unwrap(), content);
    assert!(failure.to_string().ends_with(": a.txt"), "{failure}");
    failure.code().as_str()
}

// Q01, Q02, Q04, Q52, Q54, Q87
#[test]
fn a_replacement_is_taken_literally() {
    for new in [
        "$& ok",
        "$$",
        "$1",
        "$'",
        "$`",
        "$<n>",
        "\\title{}",
        "'\\0'",
        "\\t",
        "\\'",
        "<<<<<<< SEARCH\n=======\n>>>>>>> REPLACE",
        "```rust\n```",
        "two blanks at the end  \nof a line\t",
    ] {
        let bytes = edited(b"log(\"done\");\n", vec![edit("done", new)]).unwrap();
        assert_eq!(bytes, format!("log(\"{new}\");\n").as_bytes());
        let all = Edit { replace_all: true, ..edit("done", new) };
        let bytes = edited(b"done, and done\n", vec![all]).unwrap();
        assert_eq!(bytes, format!("{new}, and {new}\n").as_bytes());
    }
    let old = ".*+?^${}()|[]\\/";
    assert_eq!(edited(old.as_bytes(), vec![edit(old, "x")]).unwrap(), b"x");
}

// Q06, Q07, Q09, Q11, Q12, Q14, T17
#[test]
fn line_ends_are_those_of_the_file() {
    for (content, old, new, expected) in [
        ("a\r\nb\r\n", "a\r\nb", "x\r\ny", "x\r\ny\r\n"),
        ("a\r\nb\r\n", "a\nb", "x\ny", "x\r\ny\r\n"),
        ("a\nb\n", "a\r\nb", "x\r\ny", "x\ny\n"),
        ("a\r\nb\nc\r\n", "b", "x\ny", "a\r\nx\ny\nc\r\n"),
        ("a\r\nb", "b", "b\nc", "a\r\nb\r\nc"),
        ("a", "a", "b\nc", "b\nc"),
        // A CR alone is text.
        ("a\n\r", "\r", "b", "a\nb"),
        ("a\n\r", "\n\r", "\nb\n", "a\nb\n"),
    ] {
        let bytes = edited(content.as_bytes(), vec![edit(old, new)]).unwrap();
        assert_eq!(bytes, expected.as_bytes(), "{content:?}");
    }
    let both = vec![edit("a\r\nb", "1\r\n2"), edit("c\nd", "3\n4")];
    assert_eq!(edited(b"a\r\nb\r\nc\r\nd\r\n", both).unwrap(), b"1\r\n2\r\n3\r\n4\r\n");
}

// Q19, Q86, Q92
#[test]
fn nothing_is_added_to_a_replacement_or_taken_from_the_rest() {
    for (content, old, new, expected) in [
        ("a\nb", "b", "b\n", "a\nb\n"),
        ("a\nb\n", "b\n", "b", "a\nb"),
        ("a\nb\nc\n", "b", "x", "a\nx\nc\n"),
        ("a\nb\nc\n", "b\n", "x\n", "a\nx\nc\n"),
        ("all:\n\tcc a.c\t# x\n\n\tcc b.c\n", "b.c", "d.c", "all:\n\tcc a.c\t# x\n\n\tcc d.c\n"),
    ] {
        let bytes = edited(content.as_bytes(), vec![edit(old, new)]).unwrap();
        assert_eq!(bytes, expected.as_bytes(), "{content:?}");
    }
}

// Q56, Q57, Q94
#[test]
fn lines_that_are_only_alike_are_never_replaced() {
    let block = b"if ready {\n    start();\n    report(1);\n}\n";
    let code = code_of(block, vec![edit("if ready {\n    begin();\n    tell();\n}", "x")]);
    assert_eq!(code, "NO_MATCH");
    let twice = b"  open();\n  close();\n    open();\n    close();\n";
    assert_eq!(code_of(twice, vec![edit("open();\nclose();", "x")]), "NO_MATCH");
    assert_eq!(code_of(twice, vec![edit("open();", "x")]), "MULTIPLE_MATCHES");
    assert_eq!(code_of(b"a\nb = 1\nc\n", vec![edit("  b = 1  ", "b = 2")]), "NO_MATCH");
}

// Q16, Q17
#[test]
fn a_byte_order_mark_stays_and_is_never_doubled() {
    let bytes = edited("\u{FEFF}a\n".as_bytes(), vec![edit("\u{FEFF}a", "\u{FEFF}b")]).unwrap();
    assert_eq!(bytes, "\u{FEFF}b\n".as_bytes());
    assert_eq!(code_of("\u{FEFF}a".as_bytes(), vec![edit("\u{FEFF}", "b")]), "INVALID_ARGUMENT");
    let bytes = edited("a\u{FEFF}b".as_bytes(), vec![edit("\u{FEFF}b", "c")]).unwrap();
    assert_eq!(bytes, b"ac");
}

// Q22
#[test]
fn a_whole_file_may_be_emptied() {
    assert_eq!(edited(b"a\nb\n", vec![edit("a\nb\n", "")]).unwrap(), b"");
}

// Q29, Q32, Q59, Q61, T02, T06, T14
#[test]
fn a_refused_edit_leaves_the_file_alone() {
    assert_eq!(code_of(b"a\r\n", vec![edit("a\n", "a\r\n")]), "NO_CHANGE");
    assert_eq!(code_of(b"ab", vec![edit("a", "b"), edit("z", "b")]), "NO_MATCH");
    assert_eq!(code_of(b"aa", vec![edit("a", "b")]), "MULTIPLE_MATCHES");
    assert_eq!(code_of(b"abcd", vec![edit("abc", "b"), edit("bcd", "x")]), "EDIT_OVERLAP");
    assert_eq!(code_of(b"ab", vec![edit("a", ""), edit("b", "ab")]), "NO_CHANGE");
    assert_eq!(code_of(b"caf\xE9 ab", vec![edit("ab", "b")]), "BINARY_NOT_SUPPORTED");
    assert_eq!(code_of(b"\xFF\xFEa\0", vec![edit("a", "b")]), "BINARY_NOT_SUPPORTED");
}

// Q27
#[test]
fn faults_are_told_in_the_order_of_their_codes_and_then_of_the_edits() {
    let with_mark = "\u{FEFF}a b".as_bytes();
    let told = |edits: Vec<Edit>, expected: Option<Sha256Digest>| {
        let (_folder, sandbox) = workspace(with_mark);
        let request = EditFileRequest { expected, ..request(edits) };
        let failure = run(&sandbox, &request).unwrap_err();
        (failure.code().as_str(), failure.details().first().cloned())
    };
    let at = |index| Some(("edit_index", Detail::Number(index)));
    let (same, mark, missing) = (edit("z", "z"), edit("\u{FEFF}", "z"), edit("y", "z"));
    let all = vec![missing.clone(), same.clone(), mark.clone(), same.clone(), mark.clone()];
    assert_eq!(told(all, None), ("INVALID_ARGUMENT", at(2)));
    // Also where both texts are the mark.
    assert_eq!(told(vec![edit("\u{FEFF}", "\u{FEFF}")], None), ("INVALID_ARGUMENT", at(0)));
    let all = vec![missing.clone(), same.clone(), same.clone()];
    assert_eq!(told(all, None), ("NO_CHANGE", at(1)));
    assert_eq!(told(vec![same.clone()], Some(hash::sha256(b""))).0, "STALE");
    let all = vec![edit("a", "c"), missing.clone(), missing];
    assert_eq!(told(all, None), ("NO_MATCH", at(1)));
}

#[test]
fn only_where_a_file_may_be_made_is_it_said() {
    let (folder, sandbox) = workspace(b"a");
    fs::create_dir(folder.path().join("folder")).unwrap();
    let says = |path: &str| {
        let request = EditFileRequest { path: path.to_owned(), ..request(vec![edit("a", "b")]) };
        let failure = run(&sandbox, &request).unwrap_err();
        assert_eq!(failure.code(), ErrorCode::NotFound, "{path}");
        failure.to_string().contains("create it")
    };
    for path in ["quite-new.md", "some/where/quite-new.md", "folder/quite-new.md"] {
        assert!(says(path), "{path}");
    }
    for path in ["a.txt/", "a.txt/quite-new.md", "quite-new/"] {
        assert!(!says(path), "{path}");
    }
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("nothing", folder.path().join("dangling")).unwrap();
        std::os::unix::fs::symlink("no/thing", folder.path().join("deep")).unwrap();
        for path in ["dangling", "deep", "dangling/quite-new.md"] {
            assert!(!says(path), "{path}");
        }
    }
}

#[test]
fn a_file_over_the_limit_is_refused_before_and_after() {
    let size = usize::try_from(MAX_EDIT_FILE_SIZE_BYTES).unwrap();
    let mut content = vec![b'a'; size];
    content[0] = b'b';
    assert_eq!(code_of(&content, vec![edit("b", "bb")]), "SIZE_LIMIT_EXCEEDED");
    assert_eq!(edited(&content, vec![edit("b", "c")]).unwrap().len(), size);
    content.push(b'a');
    assert_eq!(code_of(&content, vec![edit("b", "c")]), "SIZE_LIMIT_EXCEEDED");
}

// Q74, T19
#[test]
fn a_hash_that_is_not_the_files_is_stale() {
    let (folder, sandbox) = workspace(b"a");
    let mut stale = request(vec![edit("b", "c")]);
    stale.expected = Some(hash::sha256(b"b"));
    let failure = run(&sandbox, &stale).unwrap_err();
    assert_eq!(failure.code(), ErrorCode::Stale);
    let present = Detail::Text(hash::to_hex(&hash::sha256(b"a")));
    assert_eq!(failure.details(), [("sha256", present)]);
    let fresh =
        EditFileRequest { expected: Some(hash::sha256(b"a")), ..request(vec![edit("a", "c")]) };
    // Touched, and with the same bytes.
    let file = fs::File::options().write(true).open(folder.path().join("a.txt")).unwrap();
    file.set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
    drop(file);
    run(&sandbox, &fresh).unwrap();
    assert_eq!(fs::read(folder.path().join("a.txt")).unwrap(), b"c");
}

/// Edits `a.txt` from "1 a" while another program writes "2 a" into it, between reading and writing.
fn edited_during(expected: Option<Sha256Digest>) -> (Result<EditFileOutput, Failure>, Vec<u8>) {
    let (folder, sandbox) = workspace(b"1 a");
    let file = folder.path().join("a.txt");
    let asked = std::cell::Cell::new(0);
    let cancelled = || {
        // Asked before the file is opened, for the edit, and before the write.
        asked.set(asked.get() + 1);
        if asked.get() == 3 {
            fs::write(&file, "2 a").unwrap();
        }
        false
    };
    let request = EditFileRequest { expected, ..request(vec![edit("a", "b")]) };
    let answer = edit_file(&sandbox, &request, FAST, &cancelled);
    assert!(asked.get() >= 3);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    (answer, fs::read(&file).unwrap())
}

// Q76
#[test]
fn a_file_that_changes_between_reading_and_writing_is_edited_anew() {
    let (answer, bytes) = edited_during(None);
    assert_eq!(bytes, b"2 b");
    assert_eq!(answer.unwrap().before_sha256, hash::to_hex(&hash::sha256(b"2 a")));
}

// Q77
#[test]
fn with_a_hash_it_is_stale_and_stays_as_the_other_program_has_left_it() {
    let (answer, bytes) = edited_during(Some(hash::sha256(b"1 a")));
    assert_eq!(bytes, b"2 a");
    let failure = answer.unwrap_err();
    assert_eq!(failure.code(), ErrorCode::Stale);
    let present = Detail::Text(hash::to_hex(&hash::sha256(b"2 a")));
    assert_eq!(failure.details(), [("sha256", present)]);
}

// Q62
#[test]
fn a_nul_far_from_the_start_is_text_and_stays() {
    let mut content = vec![b'a'; 10_000];
    content[100] = b'b';
    content[9_000] = 0;
    let bytes = edited(&content, vec![edit("b", "c")]).unwrap();
    assert_eq!((bytes[100], bytes[9_000], bytes.len()), (b'c', 0, 10_000));
    content[8_000] = 0;
    assert_eq!(code_of(&content, vec![edit("b", "c")]), "BINARY_NOT_SUPPORTED");
}

#[test]
fn a_dry_run_answers_alike_and_writes_nothing() {
    let (folder, sandbox) = workspace(b"a\n");
    let dry = EditFileRequest { dry_run: true, ..request(vec![edit("a", "b")]) };
    let told = run(&sandbox, &dry).unwrap();
    assert_eq!(fs::read(folder.path().join("a.txt")).unwrap(), b"a\n");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    let done = run(&sandbox, &request(vec![edit("a", "b")])).unwrap();
    assert_eq!(EditFileOutput { applied: true, ..told }, done);
}

#[test]
fn an_answer_tells_the_lines_of_the_first_to_the_last_change() {
    let lines = |content: &[u8], old: &str, new: &str| {
        let (_folder, sandbox) = workspace(content);
        let answer = run(&sandbox, &request(vec![edit(old, new)])).unwrap();
        (answer.start_line, answer.end_line, answer.line_count)
    };
    assert_eq!(lines(b"1\n2\n3\n", "2", "two"), (2, 2, 3));
    assert_eq!(lines(b"1\n2\n3\n", "1\n2\n3", "1\nx\ny\n3"), (2, 3, 4));
    assert_eq!(lines(b"1\n2\n3\n", "2\n", ""), (2, 2, 2));
    assert_eq!(lines(b"1\n2\n3\n", "3\n", ""), (2, 2, 2));
    assert_eq!(lines(b"1\n", "1\n", ""), (1, 1, 0));
    assert_eq!(lines(b"1\n2\n", "2", "x\n2"), (2, 2, 3));
    assert_eq!(lines(b"a", "a", "a\n"), (1, 1, 1));
}

#[test]
fn a_cr_before_a_line_end_becomes_part_of_it() {
    let (_folder, sandbox) = workspace(b"ax\nb\n");
    let answer = run(&sandbox, &request(vec![edit("x", "\r")])).unwrap();
    assert!(answer.diff.text.ends_with("@@ -1,2 +1,2 @@\n-ax\n+a\n b\n"), "{}", answer.diff.text);
    let (_folder, sandbox) = workspace(b"a\rx\nb\n");
    let answer = run(&sandbox, &request(vec![edit("x", "")])).unwrap();
    assert!(answer.diff.text.ends_with("@@ -1,2 +1,2 @@\n-a\rx\n+a\n b\n"), "{}", answer.diff.text);
}

// Q89
#[test]
fn a_path_is_refused_by_its_spelling_and_then_by_the_scope() {
    let (_folder, sandbox) = workspace(b"a");
    let read_only = ChangeOptions { write_scope: WriteScope::ReadOnly, ..FAST };
    let code = |path: &str, options: ChangeOptions| {
        let request = EditFileRequest { path: path.to_owned(), ..request(vec![edit("a", "b")]) };
        edit_file(&sandbox, &request, options, &|| false).unwrap_err().code().as_str()
    };
    for (path, writing, reading) in [
        ("", "INVALID_ARGUMENT", "INVALID_ARGUMENT"),
        ("a\u{202e}b", "INVALID_ARGUMENT", "INVALID_ARGUMENT"),
        ("../a", "SANDBOX_VIOLATION", "READ_ONLY"),
        ("/etc/passwd", "SANDBOX_VIOLATION", "READ_ONLY"),
        ("C:\\a", "SANDBOX_VIOLATION", "READ_ONLY"),
        ("b.txt", "NOT_FOUND", "READ_ONLY"),
        ("a.txt/x", "NOT_FOUND", "READ_ONLY"),
        (".", "NOT_FILE", "READ_ONLY"),
    ] {
        assert_eq!(code(path, FAST), writing, "{path}");
        assert_eq!(code(path, read_only), reading, "{path}");
    }
}

#[test]
fn edits_of_many_threads_all_land() {
    let content = (0..8).map(|number| format!("line {number}: 0\n")).collect::<Vec<_>>().concat();
    let (folder, sandbox) = workspace(content.as_bytes());
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let sandbox = &sandbox;
            scope.spawn(move || {
                for round in 0..50 {
                    let old = format!("line {thread}: {round}\n");
                    let new = format!("line {thread}: {}\n", round + 1);
                    run(sandbox, &request(vec![edit(&old, &new)])).unwrap();
                }
            });
        }
    });
    let expected = (0..8).map(|number| format!("line {number}: 50\n")).collect::<Vec<_>>().concat();
    assert_eq!(fs::read_to_string(folder.path().join("a.txt")).unwrap(), expected);
}

/// The text that `readFile` shows of some bytes.
fn view(bytes: &[u8]) -> String {
    decode(bytes, InvalidUtf8::Reject).unwrap().text.replace("\r\n", "\n")
}

/// Applies a diff with a program, in a folder of its own.
fn applied(program: &[&str], before: &str, diff: &str) -> Option<String> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.txt");
    fs::write(&file, before).unwrap();
    fs::write(folder.path().join("diff"), diff).unwrap();
    let run = |program: &[&str], folder: &Path| {
        std::process::Command::new(program[0]).args(&program[1..]).current_dir(folder).output()
    };
    let output = run(program, folder.path()).ok()?;
    assert!(output.status.success(), "{}\n{diff}", String::from_utf8_lossy(&output.stderr));
    Some(fs::read_to_string(file).unwrap())
}

#[test]
fn a_diff_applies_with_git_and_with_patch() {
    let before = (0..40).map(|number| format!("line {number}\n")).collect::<Vec<_>>().concat();
    let before = before.trim_end();
    let edits = vec![
        edit("line 3\n", ""),
        edit("line 12\n", "line 12\nmore\u{2028}\rtext\n"),
        edit("line 39", "the end\n"),
        edit("line 20", "line twenty"),
    ];
    let (_folder, sandbox) = workspace(before.as_bytes());
    let answer = run(&sandbox, &request(edits.clone())).unwrap();
    let after = String::from_utf8(edited(before.as_bytes(), edits).unwrap()).unwrap();
    for program in [&["git", "apply", "diff"][..], &["patch", "-p1", "-i", "diff"]] {
        if let Some(found) = applied(program, before, &answer.diff.text) {
            assert_eq!(found, after);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    // Q64
    #[test]
    fn bytes_outside_the_spans_stay_and_the_view_is_replaced(
        mark in any::<bool>(),
        pieces in prop::collection::vec("[abcé\u{2028}]{1,4}(\r\n|\n|\r|)", 1..12),
        from in any::<prop::sample::Index>(),
        length in 1_usize..6,
        new in "[xyz\n]{0,5}",
    ) {
        let text = pieces.concat();
        let bytes = [if mark { "\u{FEFF}" } else { "" }, &text].concat().into_bytes();
        let before = view(&bytes);
        let characters: Vec<_> = before.char_indices().collect();
        let from = from.index(characters.len());
        let start = characters[from].0;
        let end = characters.get(from + length).map_or(before.len(), |(end, _)| *end);
        let old = &before[start..end];
        // A CR that comes to stand before an LF becomes part of a line end.
        let makes_line_end = before[..start].ends_with('\r') && (new.starts_with('\n') || new.is_empty());
        prop_assume!(places_once(&before, old) && old != new && !makes_line_end);
        prop_assume!(!old.starts_with('\u{FEFF}'));
        let after = edited(&bytes, vec![edit(old, &new)]).unwrap();
        prop_assert_eq!(view(&after), [&before[..start], &new, &before[end..]].concat());
        let document = Document::parse(&bytes).unwrap();
        let (head, tail) = (document.byte_offset(start), document.byte_offset(end));
        prop_assert_eq!(&after[..head], &bytes[..head]);
        prop_assert!(after.ends_with(&bytes[tail..]));
    }
}

fn places_once(text: &str, part: &str) -> bool {
    (0..text.len()).filter(|&at| text.as_bytes()[at..].starts_with(part.as_bytes())).count() == 1
}
