//! What holds of every input. The fuzzers look for one of which it does not; the committed corpora
//! are replayed by `tests/fuzz_corpus.rs` in every test run.

#[path = "models.rs"]
pub mod models;
#[path = "../src/tools/apply_patch/printed_patch.rs"]
pub mod printed_patch;

use std::path::Path;
use std::sync::LazyLock;
use std::time::Duration;

use ringfence::access::{Access, AccessRules, RuleLists};
use ringfence::argument::{positive_integer, positive_up_to};
use ringfence::deadline::{Deadline, Stop};
use ringfence::path::{NameRules, NewFilePath, PathRefusal, WorkspacePath};
use ringfence::regex::{Pattern, PatternOptions};
use ringfence::sandbox::Sandbox;
use ringfence::text::{InvalidUtf8, LineWindow, NotText, decode, is_plain_text};
use ringfence::tools::apply_patch::patch::{self, Patch};
use ringfence::tools::apply_patch::peel::Format;
use ringfence::tools::file_uri::FileUri;
use ringfence::tools::source::{SourceRequest, StoredDocument, read_document};
use ringfence::tree::{Case, Globs, Verdict};

/// Parsing a URI does not panic; what is accepted has safe names, stays beneath its root, and is
/// the same when it is formatted and parsed again.
pub fn file_uri(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let Ok(uri) = FileUri::parse(text) else { return };
    assert!(text.get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("file:")));
    let segments = uri.segments();
    assert!(!segments.is_empty());
    for name in &segments {
        assert!(!matches!(name.as_str(), "" | "." | ".."), "{name:?}");
        assert!(!name.contains(['/', '\\']), "{name:?}");
        assert!(!name.bytes().any(|byte| byte.is_ascii_control()), "{name:?}");
    }
    assert_eq!(uri.path(), segments.join("/"));
    assert_eq!(FileUri::parse(&uri.to_string()).as_ref(), Ok(&uri));
}

/// Reading arguments does not panic, and a document is cut to at most the bytes asked for, at the
/// end of a character. Before the first NUL stands the JSON, behind it the document.
pub fn source_request(data: &[u8]) {
    let (json, document) = match data.iter().position(|&byte| byte == 0) {
        Some(at) => (&data[..at], &data[at + 1..]),
        None => (data, &b""[..]),
    };
    let Ok(json) = std::str::from_utf8(json) else { return };
    let Ok(request) = SourceRequest::from_json(json) else { return };
    assert!(!request.path.trim().is_empty());
    let stored = StoredDocument { bytes: document.to_vec(), size_bytes: document.len() as u64 };
    let Ok(file) = read_document(&request, stored) else { return };
    let most = request.max_bytes.map_or(u64::MAX, std::num::NonZeroU64::get);
    assert!(file.content.len() as u64 <= most);
    assert_eq!(file.is_truncated, most < file.size_bytes);
    let body = document.strip_prefix(b"\xEF\xBB\xBF".as_slice()).unwrap_or(document);
    // A cut may fall into the byte order mark itself.
    assert!(file.content.is_empty() || body.starts_with(file.content.as_bytes()));
}

/// A path is what the model says it is, by the rules of either system; and a file is created where
/// the model would have one.
pub fn workspace_path(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    for (rules, windows) in [(NameRules::Posix, false), (NameRules::Windows, true)] {
        let parsed = WorkspacePath::parse_under(rules, text);
        let found = parsed.as_ref().map_err(|refusal| rule_of(*refusal)).map(|path| {
            (path.names().map(str::to_owned).collect::<Vec<_>>(), path.must_be_directory())
        });
        assert_eq!(found, models::workspace_path(text, windows), "{text:?} under {rules:?}");
        let Ok(path) = parsed else { continue };
        assert_eq!(path.as_str(), path.names().collect::<Vec<_>>().join("/"));
        assert_eq!(path.is_root(), path.names().next().is_none());
    }
    assert_eq!(NewFilePath::parse(text).is_ok(), models::is_new_file_path(text), "{text:?}");
}

fn rule_of(refusal: PathRefusal) -> &'static str {
    match refusal {
        PathRefusal::Blank => "blank",
        PathRefusal::Nul => "NUL",
        PathRefusal::AboveRoot => "above the root",
        PathRefusal::Absolute => "absolute",
        PathRefusal::DriveOrShare => "drive or share",
        PathRefusal::WindowsName(_) => "Windows",
    }
}

/// A file's bytes are text or not as the model says, and every window holds the model's lines. The
/// first two bytes are the window, the rest is the file.
pub fn line_windows(data: &[u8]) {
    let [start, most, file @ ..] = data else { return };
    let nul = file.iter().take(8192).position(|&byte| byte == 0);
    let decoded = decode(file, InvalidUtf8::Reject);
    assert_eq!(decoded.is_ok(), nul.is_none() && std::str::from_utf8(file).is_ok());
    assert_eq!(decoded.is_ok(), is_plain_text(file));
    if let Err(NotText::Nul { offset }) = decoded {
        assert_eq!(Some(offset), nul);
    }
    let Ok(decoded) = decode(file, InvalidUtf8::Replace) else { return };
    let body = file.strip_prefix(b"\xEF\xBB\xBF".as_slice()).unwrap_or(file);
    assert_eq!(decoded.text, String::from_utf8_lossy(body));
    let replacements = |bytes: &[u8]| bytes.windows(3).filter(|it| *it == b"\xEF\xBF\xBD").count();
    let made = replacements(decoded.text.as_bytes()) - replacements(body);
    assert_eq!(decoded.replaced, u64::try_from(made).ok());

    let (normalised, lines) = models::lines(&decoded.text);
    let (start, most) = (usize::from(*start) + 1, usize::from(*most) + 1);
    let window = window_of(start, most).cut(&decoded.text);
    let shown = lines.get(start - 1..).unwrap_or_default();
    let shown = &shown[..shown.len().min(most)];
    assert_eq!(window.line_count, lines.len() as u64);
    assert_eq!(window.returned_line_count, shown.len() as u64);
    let end = start - 1 + shown.len();
    let follows = !shown.is_empty() && end < lines.len();
    assert_eq!(window.next_start_line, follows.then_some(end as u64 + 1));
    let keeps_last = !shown.is_empty() && !follows && normalised.ends_with('\n');
    assert_eq!(window.content, shown.join("\n") + if keeps_last { "\n" } else { "" });

    let joined: Vec<_> = (1..=lines.len())
        .step_by(most)
        .map(|start| window_of(start, most).cut(&decoded.text).content)
        .collect();
    assert_eq!(joined.join("\n"), normalised);
}

fn window_of(start: usize, most: usize) -> LineWindow {
    let positive =
        |number| std::num::NonZeroU64::new(number as u64).unwrap_or(std::num::NonZeroU64::MIN);
    LineWindow::new(positive(start), positive(most))
}

/// Arguments are read as the model reads them: JSON text, and a number of JavaScript's. The first
/// eight bytes are the number, and all of them the JSON.
pub fn arguments(data: &[u8]) {
    if let Some(bytes) = data.first_chunk() {
        let number = f64::from_le_bytes(*bytes);
        for most in [500, 9_007_199_254_740_991] {
            let read = positive_integer("max_lines", number, &positive_up_to(most));
            let read = read.ok().map(std::num::NonZeroU64::get);
            assert_eq!(read, models::positive_integer(number, most), "{number:?}");
        }
    }
    let Ok(text) = std::str::from_utf8(data) else { return };
    let json = if text.trim().is_empty() { "{}" } else { text };
    let request = SourceRequest::from_json(text);
    // What only stands under keys that are passed over need not be a value that can be kept.
    let Ok(value) = serde_json::from_str(json) else { return };
    let read = request.ok().map(|it| (it.path, it.max_bytes.map(std::num::NonZeroU64::get)));
    assert_eq!(read, models::source_request(&value), "{text:?}");
}

/// A pattern compiles or is refused. A search of a whole text ends, and finds in each line the matches that
/// another engine finds in that line alone.
pub fn patterns(data: &[u8]) {
    let Some((options, pattern, text)) = pattern_and_text(data) else { return };
    let compiled = Pattern::compile(pattern, options);
    if let Err(flaw) = &compiled {
        assert!(!flaw.sentence.is_empty());
        assert!(flaw.offset <= pattern.encode_utf16().count() as u64);
    }
    let Ok(compiled) = compiled else { return };
    let Ok(found) = matches(&compiled, text) else { return };
    for &(start, end) in &found {
        assert!(options.multiline || !text[start..end].contains('\n'), "{pattern:?} in {text:?}");
    }
    if options.word || options.multiline || compiled.backtracks() {
        return;
    }
    if let Some(modelled) = models::matches_by_line(pattern, options, text) {
        assert_eq!(found, modelled, "{pattern:?} in {text:?} with {options:?}");
    }
}

/// The first byte has the flags; the pattern ends at the first NUL, and the text follows.
pub fn pattern_and_text(data: &[u8]) -> Option<(PatternOptions, &str, &str)> {
    let (flags, rest) = data.split_first()?;
    let rest = std::str::from_utf8(rest).ok()?;
    let (pattern, text) = rest.split_once('\0').unwrap_or((rest, "a"));
    let options = PatternOptions {
        literal: flags & 1 != 0,
        word: flags & 2 != 0,
        case_insensitive: flags & 4 != 0,
        line_anchors: flags & 8 != 0,
        dot_matches_line_feed: flags & 16 != 0,
        multiline: flags & 32 != 0,
    };
    Some((options, pattern, text))
}

/// All matches that are not empty.
fn matches(pattern: &Pattern, text: &str) -> Result<Vec<(usize, usize)>, Stop> {
    let deadline = Deadline::after(Duration::from_secs(1), &|| false);
    let mut matcher = pattern.matcher();
    let mut search = matcher.search(text);
    let (mut from, mut found) = (0, Vec::new());
    while let Some(range) = search.find(from, &deadline)? {
        assert!(range.start >= from && range.end <= text.len());
        from = range.end;
        if range.is_empty() {
            from += text[from..].chars().next().map_or(1, char::len_utf8);
        } else {
            found.push((range.start, range.end));
        }
        if from > text.len() {
            break;
        }
    }
    Ok(found)
}

/// A list of globs is parsed or refused, and the decisive glob that matches alone decides. Lines are globs; the
/// list ends at the first NUL, and the path follows.
#[allow(clippy::expect_used, reason = "a test that would test nothing")]
pub fn globs(data: &[u8]) {
    // A root is absolute. Without one nothing would be tested.
    static ROOT: LazyLock<Option<Sandbox>> =
        LazyLock::new(|| Sandbox::open(&std::env::current_dir().ok()?).ok());
    let root = ROOT.as_ref().expect("the present folder can be opened");
    let Ok(text) = std::str::from_utf8(data) else { return };
    let (list, path) = text.split_once('\0').unwrap_or((text, "a"));
    let list: Vec<String> = list.split('\n').map(str::to_owned).collect();
    for case in [Case::Sensitive, Case::Insensitive] {
        let parse = |list: &[String]| Globs::parse_for(root, Path::new(""), list, case);
        let alone: Vec<_> = list.iter().map(|glob| parse(std::slice::from_ref(glob))).collect();
        let Ok(whole) = parse(&list) else {
            assert!(list.len() > 1 || alone[0].is_err());
            continue;
        };
        for is_folder in [false, true] {
            let decide = |globs: &Globs| globs.decide(Path::new(path), is_folder);
            let decisive = alone.iter().rev().find_map(|glob| glob.as_ref().ok().and_then(decide));
            assert_eq!(decide(&whole), decisive, "{list:?} on {path:?}");
            if case == Case::Sensitive
                && let [glob] = &*list
                && let Some(expected) = models::plain_glob(glob, path, is_folder)
            {
                assert_eq!(decisive, expected.then_some(Verdict::Selected), "{glob:?} on {path:?}");
            }
        }
    }
}

/// A list of rules is parsed or refused. What lies in a refused folder is refused, the case of ASCII letters makes no
/// difference, reading is refused nowhere where changing is allowed, and a pattern that is a plain name refuses that
/// name wherever it stands. Lines are patterns; the list ends at the first NUL, and the path follows.
pub fn access_rules(data: &[u8]) {
    let Some((list, path)) = patterns_and_path(data) else { return };
    let deny = |list: Vec<String>| {
        AccessRules::parse(RuleLists { deny: Some(list), ..RuleLists::default() })
    };
    let Ok(rules) = deny(list.clone()) else { return };
    let judge = |path: &str| rules.judge(Path::new(path), Access::Read);
    let judgement = judge(path.as_str());
    assert_eq!(judgement, judge(&path.as_str().to_ascii_uppercase()), "{list:?} on {path}");
    if judgement.refuses_folder {
        assert!(judge(&format!("{path}/x")).is_refused(), "{list:?} on {path}");
    }
    let change = rules.judge(Path::new(path.as_str()), Access::Change);
    assert_eq!(judgement, change, "{list:?} on {path}");
    for name in path.names().filter(|name| models::is_plain_name(name)) {
        let rules = deny(vec![name.to_owned()]).unwrap_or_else(|error| panic!("{name}: {error:?}"));
        assert!(
            rules.judge(Path::new(path.as_str()), Access::Read).is_refused(),
            "{name} in {path}"
        );
    }
}

/// The patterns and the path of an input.
pub fn patterns_and_path(data: &[u8]) -> Option<(Vec<String>, WorkspacePath)> {
    let text = std::str::from_utf8(data).ok()?;
    let (list, path) = text.split_once('\0').unwrap_or((text, "a"));
    // A path of the sandbox has been parsed.
    let path = WorkspacePath::parse(path).ok()?;
    Some((list.split('\n').map(str::to_owned).collect(), path))
}

/// A text is parsed or refused, and what is parsed comes back when it is printed as a V4A patch.
pub fn v4a_patch(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    if let Some(patch) = parsed_patch(text).filter(|patch| patch.format == Format::V4a) {
        comes_back(patch, &printed_patch::v4a);
    }
}

/// A text is parsed or refused, and what is parsed comes back when it is printed as a unified diff.
pub fn unified_patch(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    if let Some(patch) = parsed_patch(text).filter(|patch| patch.format == Format::Unified) {
        comes_back(patch, &|sections| printed_patch::unified(sections, true));
    }
}

/// Parses a patch, whose lines lie within the text and in its order.
fn parsed_patch(text: &str) -> Option<Patch<'_>> {
    let lines = text.split('\n').count() as u64;
    let patch = match Patch::parse(text) {
        Ok(patch) => patch,
        Err(error) => {
            assert!((1..=lines).contains(&error.line) && !error.reason.is_empty(), "{error}");
            return None;
        }
    };
    let numbers = printed_patch::numbers(&patch.sections);
    assert!(numbers.is_sorted() && numbers[0] >= 1 && numbers.last() <= Some(&lines));
    assert!(patch.sections.iter().all(|it| it.paths.iter().all(|path| !path.is_empty())));
    Some(patch)
}

fn comes_back(parsed: Patch<'_>, print: &dyn Fn(&[patch::Section<'_>]) -> String) {
    let printed = print(&parsed.sections);
    let again = Patch::parse(&printed).map(|patch| printed_patch::comparable(patch.sections));
    assert_eq!(again, Ok(printed_patch::comparable(parsed.sections)), "{printed}");
}
