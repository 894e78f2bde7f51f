//! Searches of random trees against a model that knows nothing of automata, threads or pages.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use proptest::prelude::*;
use regex_automata::meta;
use tempfile::TempDir;

use super::*;

fn workspace(files: &[(&str, &[u8])]) -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    for (path, content) in files {
        let at = directory.path().join(path);
        fs::create_dir_all(at.parent().unwrap()).unwrap();
        fs::write(at, content).unwrap();
    }
    directory
}

fn search(root: &Path, options: &SearchOptions) -> Result<SearchAnswer, Failure> {
    let sandbox = Sandbox::open(root).unwrap();
    search_files(&sandbox, options, &|| false, &|_| ())
}

fn pattern(pattern: &str) -> SearchOptions {
    SearchOptions { pattern: pattern.to_owned(), ..SearchOptions::default() }
}

/// Path, line, column, and the matched text.
type Place = (String, u64, u64, String);

fn place_of(item: &Item) -> Place {
    let Item::Match(found) = item else { panic!("{item:?} is no match") };
    (found.path.clone(), found.line, found.column, found.text.clone())
}

fn places(answer: &SearchAnswer) -> Vec<Place> {
    answer.items.iter().map(place_of).collect()
}

/// All pages, joined.
fn all_pages(root: &Path, options: &SearchOptions) -> Vec<Item> {
    let (mut items, mut after) = (Vec::new(), None);
    loop {
        let answer = search(root, &SearchOptions { after, ..options.clone() }).unwrap();
        assert_eq!(answer.truncated, answer.next.is_some());
        items.extend(answer.items);
        match answer.next {
            Some(next) => after = Some(next),
            None => return items,
        }
    }
}

fn expected(files: &BTreeMap<String, Vec<u8>>, pattern: &str) -> Vec<Place> {
    let regex = meta::Regex::new(pattern).unwrap();
    let mut paths: Vec<&String> = files.keys().collect();
    paths.sort_by_key(|path| path.encode_utf16().collect::<Vec<_>>());
    let mut found = Vec::new();
    for path in paths {
        let bytes = &files[path];
        if bytes.contains(&0) {
            continue;
        }
        let text = String::from_utf8_lossy(bytes).replace("\r\n", "\n");
        let text = text.strip_prefix('\u{FEFF}').unwrap_or(&text);
        // `str::lines` would drop a CR that is left before a line feed.
        let ended = text.strip_suffix('\n').unwrap_or(text);
        let lines = ended.split('\n').filter(|_| !text.is_empty());
        for (index, line) in lines.enumerate() {
            let ranges: Vec<_> = regex.find_iter(line).map(|found| found.range()).collect();
            let whole: Vec<_> = ranges.iter().filter(|range| !range.is_empty()).collect();
            let first = if whole.is_empty() { ranges.iter().take(1).collect() } else { whole };
            found.extend(first.into_iter().map(|range| {
                let column = line[..range.start].encode_utf16().count() as u64 + 1;
                (path.clone(), index as u64 + 1, column, line[range.clone()].to_owned())
            }));
        }
    }
    found
}

fn tree() -> impl Strategy<Value = BTreeMap<String, Vec<u8>>> {
    let path = prop::sample::select(vec![
        "a", "a.txt", "b/a", "b/c/d", "b.txt", "é/x", "\u{ffee}", "😀", "z/y", "z-",
    ]);
    let piece = prop::sample::select(vec![
        &b"a"[..],
        b"b",
        b"ab",
        b" ",
        b"\n",
        b"\r\n",
        b"\r",
        "é".as_bytes(),
        "😀".as_bytes(),
        b"\xFF",
        b"\xEF\xBB\xBF",
        b"\0",
    ]);
    let content = prop::collection::vec(piece, 0..30).prop_map(|pieces| pieces.concat());
    prop::collection::btree_map(path.prop_map(str::to_owned), content, 0..8)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn the_items_are_the_matches_of_each_line_and_pages_join_to_them(
        files in tree(),
        source in prop::sample::select(vec!["a", "[ab]+", "b?", "é|😀", r"\bab\b", "^a", "b$", "\u{FFFD}", r"a\s"]),
        max_results in 1_usize..6,
    ) {
        let list: Vec<(&str, &[u8])> = files.iter().map(|(path, bytes)| (&**path, &**bytes)).collect();
        let ws = workspace(&list);
        let expected = expected(&files, source);
        let whole = search(ws.path(), &SearchOptions { max_results: 500, ..pattern(source) }).unwrap();
        prop_assert_eq!(&places(&whole), &expected);
        let pages = all_pages(ws.path(), &SearchOptions { max_results, ..pattern(source) });
        prop_assert_eq!(pages.iter().map(place_of).collect::<Vec<_>>(), expected);
        let counts = SearchOptions { output: Output::Counts, max_results, ..pattern(source) };
        let counted: u64 = all_pages(ws.path(), &counts)
            .iter()
            .map(|item| match item { Item::File(file) => file.matches, Item::Match(_) => 0 })
            .sum();
        prop_assert_eq!(counted, whole.items.len() as u64);
    }
}

#[test]
fn a_line_with_many_matches_gives_twenty_and_says_how_many_are_left_out() {
    let ws = workspace(&[("a", "x".repeat(50).as_bytes()), ("b", b"x")]);
    let answer = search(ws.path(), &pattern("x")).unwrap();
    let Item::Match(last) = &answer.items[19] else { panic!() };
    assert_eq!((answer.items.len(), last.column, last.more_in_line), (21, 20, Some(30)));
    assert!(!answer.truncated);
    let pages = all_pages(ws.path(), &SearchOptions { max_results: 7, ..pattern("x") });
    assert_eq!(pages, answer.items);
}

#[test]
fn a_match_over_several_lines_has_its_lines_and_those_around_it() {
    let ws = workspace(&[("a", b"0\r\none\r\ntwo\r\n3\r\n")]);
    let options = SearchOptions { multiline: true, context_lines: 1, ..pattern(r"ne\ntw") };
    let answer = search(ws.path(), &options).unwrap();
    let Item::Match(found) = &answer.items[0] else { panic!() };
    assert_eq!((found.line, found.end_line, found.column), (2, Some(3), 2));
    assert_eq!((&*found.text, &*found.line_text), ("ne\ntw", "one"));
    assert_eq!(found.before.as_deref(), Some(&["0".to_owned()][..]));
    assert_eq!(found.after.as_deref(), Some(&["3".to_owned()][..]));
}

#[test]
fn what_is_left_out_is_counted_up_to_the_last_item() {
    let files: &[(&str, &[u8])] = &[
        ("a", b"x"),
        ("b", b"\0x"),
        ("c", b"x"),
        ("d", b"\0x"),
        ("node_modules/e", b"x"),
        ("z.log", b"x"),
        ("large", &[b'x'; 2000]),
        (".gitignore", b"*.log"),
    ];
    let ws = workspace(files);
    let options = SearchOptions { max_file_size_bytes: 1000, ..pattern("x") };
    let answer = search(ws.path(), &options).unwrap();
    assert_eq!(
        answer.warnings,
        [
            "skipped_binary_files=2",
            "skipped_size_limit_files=1",
            "skipped_default_excludes=1",
            "skipped_ignored_entries=1",
        ]
    );
    assert_eq!(answer.scanned_files, 3);
    let first = SearchOptions { max_results: 1, ..options.clone() };
    let answer = search(ws.path(), &first).unwrap();
    assert_eq!((answer.truncated, answer.scanned_files, answer.warnings.len()), (true, 2, 0));
    assert_eq!(answer.next.as_deref(), Some("1:1:a"));
}

#[test]
fn a_page_has_no_more_text_than_its_limit() {
    let line = format!("{}\n", "x".repeat(9_999));
    let ws = workspace(&[("a", line.repeat(60).as_bytes()), ("b", line.repeat(60).as_bytes())]);
    let options = SearchOptions {
        max_results: 500,
        max_line_chars: 10_000,
        max_file_size_bytes: 1 << 21,
        ..pattern("x+")
    };
    let answer = search(ws.path(), &options).unwrap();
    assert_eq!((answer.items.len(), answer.truncated), (52, true));
    assert_eq!(all_pages(ws.path(), &options).len(), 120);
}

#[test]
fn many_files_come_in_order_however_many_threads_search() {
    let names: Vec<String> = (0..3000).map(|index| format!("{}/{index}", index % 37)).collect();
    let files: Vec<(&str, &[u8])> = names.iter().map(|name| (&**name, &b"needle"[..])).collect();
    let ws = workspace(&files);
    let mut expected = names.clone();
    expected.sort_by_key(|path| path.encode_utf16().collect::<Vec<_>>());
    let options = SearchOptions { output: Output::Files, max_results: 500, ..pattern("needle") };
    let found: Vec<String> =
        all_pages(ws.path(), &options).iter().map(|item| item.path().to_owned()).collect();
    assert_eq!(found, expected);
    let first = search(ws.path(), &SearchOptions { max_results: 10, ..options }).unwrap();
    assert_eq!(first.scanned_files, 10);
}

#[test]
fn a_cancelled_search_and_one_out_of_time_have_no_answer() {
    let ws = workspace(&[("a", format!("{}!c", "ab".repeat(200_000)).as_bytes())]);
    let sandbox = Sandbox::open(ws.path()).unwrap();
    let failure = search_files(&sandbox, &pattern("x"), &|| true, &|_| ()).unwrap_err();
    assert!(failure.is_cancelled());
    let bomb = SearchOptions { timeout: Duration::from_millis(20), ..pattern("([ab]+)*(?=c)c") };
    let failure = search_files(&sandbox, &bomb, &|| false, &|_| ()).unwrap_err();
    assert_eq!(failure.code(), ErrorCode::Timeout);
}

#[test]
fn a_file_named_as_root_path_is_searched_whatever_the_globs_say() {
    let ws = workspace(&[
        ("node_modules/.a", b"x"),
        ("bin", b"\0x"),
        ("large", &[b'x'; 2000]),
        (".gitignore", b"*"),
    ]);
    let at = |path: &str| SearchOptions { root_path: Some(path.to_owned()), ..pattern("x") };
    let exclude = vec!["*".to_owned()];
    let options = SearchOptions { exclude, include_hidden: false, ..at("node_modules/.a") };
    let answer = search(ws.path(), &options).unwrap();
    assert_eq!((answer.root_path, answer.items.len()), ("node_modules/.a".to_owned(), 1));
    let code = |options: &SearchOptions| search(ws.path(), options).unwrap_err().code();
    assert_eq!(code(&at("bin")), ErrorCode::BinaryNotSupported);
    let small = SearchOptions { max_file_size_bytes: 1000, ..at("large") };
    assert_eq!(code(&small), ErrorCode::SizeLimitExceeded);
    assert_eq!(code(&at("none")), ErrorCode::NotFound);
    assert_eq!(code(&at("bin/none")), ErrorCode::NotFound);
    assert_eq!(code(&at("../x")), ErrorCode::SandboxViolation);
}

#[cfg(target_os = "linux")]
#[test]
fn a_fifo_is_passed_over_and_refused_as_root_path() {
    use rustix::fs::{CWD, Mode, mkfifoat};
    let ws = workspace(&[("a", b"x")]);
    mkfifoat(CWD, ws.path().join("fifo"), Mode::RWXU).unwrap();
    std::os::unix::fs::symlink("a", ws.path().join("link")).unwrap();
    let answer = search(ws.path(), &pattern("x")).unwrap();
    assert_eq!((answer.items.len(), answer.warnings), (1, vec!["skipped_links=1".to_owned()]));
    let fifo = SearchOptions { root_path: Some("fifo".to_owned()), ..pattern("x") };
    assert_eq!(search(ws.path(), &fifo).unwrap_err().code(), ErrorCode::NotDirectory);
    let link = SearchOptions { root_path: Some("link".to_owned()), ..pattern("x") };
    assert_eq!(search(ws.path(), &link).unwrap().items[0].path(), "link");
}
