//! The budget, the cut windows and the failed items of docs/contract.md §13.

use std::cell::Cell;
use std::fs;

use super::*;
use crate::argument::{ArgumentError, Got};
use crate::text::LineWindow;
use proptest::prelude::*;
use tempfile::TempDir;

fn workspace(files: &[(&str, &str)]) -> (TempDir, Sandbox) {
    let directory = tempfile::tempdir().unwrap();
    for (name, text) in files {
        fs::write(directory.path().join(name), text).unwrap();
    }
    let sandbox = Sandbox::open(directory.path()).unwrap();
    (directory, sandbox)
}

fn window(start: u64, max_lines: u64) -> ReadFileOptions {
    let window = LineWindow::new(start.try_into().unwrap(), max_lines.try_into().unwrap());
    ReadFileOptions { window, include_hash: false }
}

fn entry(path: &str) -> FileRequest {
    FileRequest { path: path.to_owned(), options: Ok(ReadFileOptions::default()) }
}

fn read(sandbox: &Sandbox, entries: Vec<FileRequest>, budget: u64) -> ReadFilesOutput {
    let budget = budget.try_into().unwrap();
    read_files(sandbox, entries, budget, InvalidUtf8::Reject, &|| false).unwrap()
}

fn read_one(text: &str, budget: u64) -> ReadFileOutput<'static> {
    let (_guard, sandbox) = workspace(&[("a", text)]);
    output(read(&sandbox, vec![entry("a")], budget).items.remove(0))
}

fn output(item: Item) -> ReadFileOutput<'static> {
    match item {
        Item::Read(output) => output,
        Item::Failed { error, .. } => panic!("{error}"),
    }
}

/// The path that a failed item shows, its code and its message.
fn failure(item: &Item) -> (&str, &'static str, String) {
    match item {
        Item::Read(output) => panic!("{output:?}"),
        Item::Failed { asked, error } => (asked, error.code().as_str(), error.to_string()),
    }
}

#[test]
fn without_a_cut_an_item_is_what_read_file_answers() {
    let (_guard, sandbox) = workspace(&[("a", "one\r\ntwo\n"), ("b", "")]);
    let answer = read(&sandbox, vec![entry("./a"), entry("b"), entry("a")], 1000);
    assert!(!answer.truncated);
    assert_eq!((answer.total_bytes(), answer.failed()), (16, 0));
    for (item, path) in answer.items.into_iter().zip(["a", "b", "a"]) {
        let options = ReadFileOptions::default();
        let alone = read_file(&sandbox, path, &options, InvalidUtf8::Reject).unwrap();
        assert_eq!(output(item), alone);
    }
}

#[test]
fn a_window_over_its_share_is_cut_to_whole_lines() {
    let output = read_one("first\nsecond\nthird\n", 14);
    assert_eq!((&*output.content, output.next_start_line), ("first\nsecond", Some(3)));
    assert!(output.truncated);
    assert_eq!((output.meta.returned_line_count, output.meta.line_count), (2, 3));
}

#[test]
fn a_line_that_fits_to_the_byte_is_kept() {
    assert_eq!(read_one("ab\ncd\nef", 5).content, "ab\ncd");
    assert_eq!(read_one("ab\ncd\nef", 4).content, "ab");
}

#[test]
fn a_first_line_that_does_not_fit_leaves_no_line() {
    let output = read_one("a long line\nshort\n", 4);
    assert_eq!((&*output.content, output.truncated, output.next_start_line), ("", true, Some(1)));
    assert_eq!((output.meta.returned_line_count, output.meta.line_count), (0, 2));
}

#[test]
fn the_final_line_feed_belongs_to_the_last_line() {
    // `a\nb` would fit, but the window that has line 2 ends in the file's LF.
    let output = read_one("a\nb\n", 3);
    assert_eq!((&*output.content, output.next_start_line), ("a", Some(2)));
    assert_eq!(read_one("a\nb", 3).content, "a\nb");
}

#[test]
fn blank_lines_are_lines() {
    let output = read_one("\n\n\nlast", 1);
    assert_eq!((&*output.content, output.next_start_line), ("\n", Some(3)));
    assert_eq!(output.meta.returned_line_count, 2);
}

#[test]
fn every_failure_stays_in_its_item() {
    let (guard, sandbox) = workspace(&[("a", "text"), ("binary", "a\0")]);
    fs::create_dir(guard.path().join("d")).unwrap();
    let paths = ["missing", "d", "../x", "", "binary", "/etc/passwd", "./n/../missing", "a"];
    let answer = read(&sandbox, paths.map(entry).into(), 1000);
    let told: Vec<_> = answer
        .items
        .iter()
        .map(|item| match item {
            Item::Read(output) => (output.path.as_str(), "read"),
            Item::Failed { .. } => (failure(item).0, failure(item).1),
        })
        .collect();
    assert_eq!(
        told,
        [
            ("missing", "NOT_FOUND"),
            ("d", "NOT_FILE"),
            ("../x", "SANDBOX_VIOLATION"),
            ("", "INVALID_ARGUMENT"),
            ("binary", "BINARY_NOT_SUPPORTED"),
            ("/etc/passwd", "SANDBOX_VIOLATION"),
            ("./n/../missing", "NOT_FOUND"),
            ("a", "read"),
        ]
    );
    assert_eq!((answer.failed(), answer.truncated), (7, false));
}

#[test]
fn a_wrong_entry_fails_its_item_under_its_path() {
    let (_guard, sandbox) = workspace(&[("a", "text")]);
    let wrong = ArgumentError::new("start_line", "must be an integer >= 1", Got::number(0.0));
    let wrong = FileRequest { path: "a".to_owned(), options: Err(wrong.into()) };
    let answer = read(&sandbox, vec![wrong, entry("a")], 1000);
    let message = "INVALID_ARGUMENT: start_line must be an integer >= 1, got 0: a";
    assert_eq!(failure(&answer.items[0]), ("a", "INVALID_ARGUMENT", message.to_owned()));
    assert!(answer.items[1].output().is_some());
}

#[test]
fn the_root_never_shows_in_an_item() {
    let (guard, sandbox) = workspace(&[]);
    let root = guard.path().to_str().unwrap();
    let wrong = || ArgumentError::new("max_lines", "must be smaller", Got::Unsaid);
    let paths = [format!("{root}/missing"), format!("file://{root}/missing")];
    let entries = paths.iter().flat_map(|path| {
        [entry(path), FileRequest { path: path.clone(), options: Err(wrong().into()) }]
    });
    for item in read(&sandbox, entries.collect(), 1000).items {
        let (asked, _, message) = failure(&item);
        assert!(!asked.contains(root) && !message.contains(root), "{asked} {message}");
        assert!(asked.ends_with("missing"), "{asked}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_call_that_began_at_once_goes_on_where_it_stopped() {
    let (_guard, sandbox) = workspace(&[("a", "one\ntwo\n"), ("b", "three\nfour\n")]);
    let names = ["a", "b", "missing", "a"];
    let budget = 12.try_into().unwrap();
    let whole = read(&sandbox, names.map(entry).into(), 12);
    let mut reading = Reading::new(names.map(entry).into(), budget, InvalidUtf8::Reject);
    let mut buffer = ReadBuffer::new();
    let limit = Duration::from_secs(1);
    assert!(!reading.read_at_once(&sandbox, 100, limit, &mut buffer));
    let answer = reading.read_all(&sandbox, &|| false).unwrap();
    assert_eq!(format!("{answer:?}"), format!("{whole:?}"));
}

#[test]
fn a_call_is_cancelled_between_files() {
    let (_guard, sandbox) = workspace(&[("a", "text")]);
    let asked = Cell::new(0);
    let cancelled = || {
        asked.set(asked.get() + 1);
        asked.get() > 2
    };
    let entries = vec![entry("a"), entry("a"), entry("a"), entry("a")];
    let budget = DEFAULT_MAX_TOTAL_BYTES;
    let stopped = read_files(&sandbox, entries, budget, InvalidUtf8::Reject, &cancelled);
    assert!(stopped.unwrap_err().is_cancelled());
    assert_eq!(asked.get(), 3);
}

#[test]
#[cfg_attr(windows, ignore = "Wine's handles do not tell that their directory was deleted")]
fn a_removed_root_fails_the_call() {
    let (guard, sandbox) = workspace(&[]);
    guard.close().unwrap();
    let budget = DEFAULT_MAX_TOTAL_BYTES;
    let failed = read_files(&sandbox, vec![entry("a")], budget, InvalidUtf8::Reject, &|| false);
    let message = failed.unwrap_err().to_string();
    assert_eq!(message, "INVALID_ARGUMENT: workspaceRoot does not exist any more");
}

#[test]
fn memory_holds_no_more_than_the_budget() {
    let text = "a line of some length\n".repeat(40_000);
    let (_guard, sandbox) = workspace(&[("a", &text)]);
    let entries =
        (0..50).map(|_| FileRequest { path: "a".to_owned(), options: Ok(window(1, 500)) });
    let budget = 20_000;
    let answer = read(&sandbox, entries.collect(), budget);
    let held = answer.items.into_iter().map(|item| match output(item).content {
        std::borrow::Cow::Owned(text) => text.capacity() as u64,
        std::borrow::Cow::Borrowed(_) => 0,
    });
    let held = held.sum::<u64>();
    assert!((budget / 2..=budget).contains(&held), "{held}");
}

/// Lines of different lengths, with every kind of end.
fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        3 => Just("\n"),
        1 => Just("\r\n"),
        1 => Just("\r"),
        2 => Just("a"),
        1 => Just("あ"),
        1 => Just("word and word"),
    ];
    prop::collection::vec(piece, 0..30).prop_map(|pieces| pieces.concat())
}

/// The window with as many lines as fit, found by asking for every number of them.
fn model(
    sandbox: &Sandbox,
    name: &str,
    (start, max_lines): (u64, u64),
    share: Option<usize>,
) -> (String, u64, Option<u64>) {
    let with = |lines| {
        let read = read_file(sandbox, name, &window(start, lines), InvalidUtf8::Reject);
        let ReadFileOutput { content, next_start_line, meta, .. } = read.unwrap();
        (content.into_owned(), meta.returned_line_count, next_start_line)
    };
    let fits = |content: &str| share.is_none_or(|share| content.len() <= share);
    let mut fitting = (1..=max_lines).rev().map(with).filter(|(content, ..)| fits(content));
    fitting.next().unwrap_or((String::new(), 0, Some(start)))
}

/// The largest number at which the windows fit into the budget, by trying all; `None` if they fit as
/// they are.
fn model_share(sizes: &[usize], budget: usize) -> Option<usize> {
    if sizes.iter().sum::<usize>() <= budget {
        return None;
    }
    (0..=budget)
        .rev()
        .find(|&share| sizes.iter().map(|&size| size.min(share)).sum::<usize>() <= budget)
}

proptest! {
    #[test]
    fn items_agree_with_the_model(
        files in prop::collection::vec((text(), 1_u64..12, 1_u64..12), 1..7),
        budget in 1_usize..120,
    ) {
        let names: Vec<_> = (0..files.len()).map(|index| format!("f{index}")).collect();
        let written: Vec<_> =
            names.iter().zip(&files).map(|(name, (text, ..))| (&**name, &**text)).collect();
        let (_guard, sandbox) = workspace(&written);
        let whole: Vec<_> = names
            .iter()
            .zip(&files)
            .map(|(name, (_, start, most))| model(&sandbox, name, (*start, *most), None))
            .collect();
        let sizes: Vec<_> = whole.iter().map(|(content, ..)| content.len()).collect();
        let share = model_share(&sizes, budget);

        let entries = names.iter().zip(&files).map(|(name, (_, start, most))| {
            FileRequest { path: name.clone(), options: Ok(window(*start, *most)) }
        });
        let answer = read(&sandbox, entries.collect(), budget as u64);
        prop_assert_eq!(answer.truncated, share.is_some());
        prop_assert!(answer.total_bytes() <= budget as u64);
        for (index, item) in answer.items.into_iter().enumerate() {
            let output = output(item);
            let (_, start, most) = files[index];
            let is_cut = share.is_some_and(|share| sizes[index] > share);
            let expected = if is_cut {
                model(&sandbox, &names[index], (start, most), share)
            } else {
                whole[index].clone()
            };
            let next = output.next_start_line;
            prop_assert_eq!(output.truncated, next.is_some());
            let found = (output.content.into_owned(), output.meta.returned_line_count, next);
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn windows_joined_are_the_whole_file(text in text(), budget in 14_u64..60) {
        let (_guard, sandbox) = workspace(&[("a", &text)]);
        let whole = crate::text::normalise_line_ends(&text);
        let mut contents = Vec::new();
        let mut start = Some(1);
        while let Some(line) = start {
            let entries = vec![FileRequest { path: "a".to_owned(), options: Ok(window(line, 500)) }];
            let output = output(read(&sandbox, entries, budget).items.remove(0));
            if output.next_start_line == Some(line) {
                // The line is larger than the budget.
                prop_assert_eq!(output.meta.returned_line_count, 0);
                return Ok(());
            }
            contents.push(output.content.into_owned());
            start = output.next_start_line;
        }
        prop_assert_eq!(contents.join("\n"), &*whole);
    }
}
