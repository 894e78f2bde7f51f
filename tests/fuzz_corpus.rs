//! Every input that fuzzing has kept, replayed.

#[path = "../fuzz/properties.rs"]
mod properties;

use properties::{models, printed_patch};
use ringfence::access::{Access, AccessRules, RuleLists};
use ringfence::regex::PatternOptions;
use ringfence::tools::apply_patch::patch::Patch;

#[allow(clippy::unwrap_used, reason = "a test")]
fn replay(target: &str, property: fn(&[u8])) {
    let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/fuzz/corpus/").to_owned() + target;
    let mut replayed = 0;
    for input in std::fs::read_dir(corpus).unwrap() {
        property(&std::fs::read(input.unwrap().path()).unwrap());
        replayed += 1;
    }
    assert!(replayed >= 20, "the corpus of {target} is gone");
    println!("replayed {target} {replayed}");
}

/// How many inputs of a corpus tell a model with a mistake from the right one.
#[allow(clippy::unwrap_used, reason = "a test")]
fn told_apart(target: &str, differs: impl Fn(&[u8]) -> bool) {
    let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/fuzz/corpus/").to_owned() + target;
    let inputs = std::fs::read_dir(corpus).unwrap();
    let told =
        inputs.filter(|input| differs(&std::fs::read(input.as_ref().unwrap().path()).unwrap()));
    let told = told.count();
    assert!(told > 0, "the corpus of {target} would not notice a mistake");
    println!("control {target} {told}");
}

#[test]
fn file_uri() {
    replay("file_uri", properties::file_uri);
}

#[test]
fn source_request() {
    replay("source_request", properties::source_request);
}

#[test]
fn workspace_path() {
    replay("workspace_path", properties::workspace_path);
}

#[test]
fn line_windows() {
    replay("line_windows", properties::line_windows);
}

#[test]
fn arguments() {
    replay("arguments", properties::arguments);
}

#[test]
fn access_rules() {
    replay("access_rules", properties::access_rules);
}

#[test]
fn patterns() {
    replay("patterns", properties::patterns);
}

#[test]
fn globs() {
    replay("globs", properties::globs);
}

#[test]
fn v4a_patch() {
    replay("v4a_patch", properties::v4a_patch);
}

#[test]
fn unified_patch() {
    replay("unified_patch", properties::unified_patch);
}

#[test]
fn the_corpora_notice_a_mistake() {
    told_apart("workspace_path", |data| {
        // `\\` would be a character like any other.
        let Ok(text) = std::str::from_utf8(data) else { return false };
        let mistaken = models::workspace_path(&text.replace('\\', "_"), false);
        models::workspace_path(text, false).is_ok() != mistaken.is_ok()
    });
    told_apart("line_windows", |data| {
        // A lone CR would end a line.
        let Ok(text) = std::str::from_utf8(data) else { return false };
        models::lines(&text.replace('\r', "\n")).1.len() != models::lines(text).1.len()
    });
    told_apart("arguments", |data| {
        // What is no integer would be cut to one.
        let Some(bytes) = data.first_chunk() else { return false };
        let number = f64::from_le_bytes(*bytes);
        models::positive_integer(number.trunc(), 1 << 53)
            != models::positive_integer(number, 1 << 53)
    });
    told_apart("access_rules", |data| {
        // An exception would be passed over.
        let Some((list, path)) = properties::patterns_and_path(data) else { return false };
        let is_refused = |list: Vec<String>| {
            let rules = AccessRules::parse(RuleLists { deny: Some(list), ..RuleLists::default() });
            rules.is_ok_and(|rules| rules.judge(path.as_str().as_ref(), Access::Read).is_refused())
        };
        let without_exceptions =
            list.iter().filter(|line| !line.starts_with('!')).cloned().collect();
        is_refused(list) != is_refused(without_exceptions)
    });
    told_apart("patterns", |data| {
        // The flag of case would be read the wrong way round.
        let Some((options, pattern, text)) = properties::pattern_and_text(data) else {
            return false;
        };
        let case_insensitive = !options.case_insensitive;
        models::matches_by_line(pattern, PatternOptions { case_insensitive, ..options }, text)
            != models::matches_by_line(pattern, options, text)
    });
    told_apart("globs", |data| {
        // A glob with a slash inside would match beneath any folder.
        let Ok(text) = std::str::from_utf8(data) else { return false };
        let Some((glob, path)) = text.split_once('\0') else { return false };
        let mistaken = path.ends_with(&format!("/{glob}"));
        models::plain_glob(glob, path, true).is_some_and(|selects| selects != mistaken)
    });
    told_apart("v4a_patch", |data| {
        // An empty line at the end of a hunk would be context.
        let Ok(text) = std::str::from_utf8(data) else { return false };
        parses_otherwise(text, &text.replace("\n\n", "\n \n"))
    });
    told_apart("unified_patch", |data| {
        // A line with a backslash would be passed over.
        let Ok(text) = std::str::from_utf8(data) else { return false };
        let lines = text.split_inclusive('\n').filter(|line| !line.starts_with('\\'));
        parses_otherwise(text, &lines.collect::<String>())
    });
}

fn parses_otherwise(text: &str, mistaken: &str) -> bool {
    let sections = |text| Patch::parse(text).map(|patch| printed_patch::comparable(patch.sections));
    sections(text).is_ok_and(|parsed| sections(mistaken) != Ok(parsed))
}
