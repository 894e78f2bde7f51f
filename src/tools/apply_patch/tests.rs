//! What holds of both parsers, on random texts and random sections.

use std::time::Instant;

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

use super::patch::{FileChange, Hunk, HunkLine, LineKind, Narrowing, Patch, Section, Stated};
use super::peel::Format;
use super::printed_patch;
use super::v4a::Marker;

/// Lines that mean something to a parser, or nearly.
const LINES: [&str; 62] = [
    "*** Begin Patch",
    "*** Begin Patch ***",
    " *** Begin Patch",
    "*** End Patch",
    " *** End Patch",
    "*** Add File: a",
    " *** Add File: a",
    "*** Delete File: b ***",
    " *** Delete File: b",
    "*** Update File: c",
    "\t*** Update File: c",
    " *** Update File: c",
    "*** Update File:",
    "*** Move to: d",
    "*** End of File",
    " *** End of File",
    "*** a",
    "*** 1,3 ****",
    "***************",
    "@@",
    "@@ ",
    "@@ @@",
    "@@ f",
    "@@ -1 +1 @@",
    "@@ -1,2 +1,2 @@ f",
    "@@ -0,0 +1,2 @@",
    "@@ -1,3 +0,0 @@",
    "@@ -99999999999999999999 +1 @@",
    "@@@ -1 -1 +1 @@@",
    "diff --git a/a b/a",
    "diff --git \"a/a b\" b/a",
    "diff --cc a",
    "index 123..456 100644",
    "old mode 100644",
    "new mode 100755",
    "new file mode 100755",
    "deleted file mode 100644",
    "rename from a",
    "rename to b",
    "similarity index 100%",
    "Binary files a and b differ",
    "--- a/a",
    "+++ b/a",
    "--- /dev/null",
    "+++ /dev/null",
    "--- \"a/\\303\\251\"",
    "--- a",
    "+++ b\t2024-01-01",
    "-- ",
    "2.39.2",
    "\\ No newline at end of file",
    "```diff",
    "```",
    "cat <<'EOF'",
    "EOF",
    "",
    " ",
    " a",
    "+a",
    "-a",
    "a",
    "\u{feff}--- a",
];

fn texts() -> impl Strategy<Value = String> {
    let bodies = select(&[" a", "+a", "-a", "+b", ""][..]);
    let lines = prop_oneof![3 => bodies, 2 => select(&LINES[..])];
    let ends = select(&["\n", "\n", "\n", "\n", "\n", "\n", "\r\n", "\n\n", ""][..]);
    vec((lines, ends), 0..12)
        .prop_map(|lines| lines.into_iter().flat_map(|(line, end)| [line, end]).collect())
}

const HEADS: [&str; 3] =
    ["*** Begin Patch\n*** Update File: a\n-a\n", "--- a/a\n+++ b/a\n@@ -1 +1 @@\n", ""];

/// A text that begins with a header, so that more of it is parsed.
fn patches() -> impl Strategy<Value = String> {
    (select(&HEADS[..]), texts(), select(&["", "\n*** End Patch"][..]))
        .prop_map(|(head, text, tail)| format!("{head}{text}{tail}"))
}

fn check(text: &str) {
    let lines = text.split('\n').count() as u64;
    let patch = match Patch::parse(text) {
        Ok(patch) => patch,
        Err(error) => {
            assert!((1..=lines).contains(&error.line) && !error.reason.is_empty(), "{error}");
            return;
        }
    };
    let numbers = printed_patch::numbers(&patch.sections);
    assert!(
        numbers.is_sorted() && numbers[0] >= 1 && numbers.last() <= Some(&lines),
        "{numbers:?}"
    );
    assert!(patch.sections.iter().all(|section| section.paths.iter().all(|path| !path.is_empty())));
    let printed = match patch.format {
        Format::V4a => printed_patch::v4a(&patch.sections),
        Format::Unified => printed_patch::unified(&patch.sections, true),
    };
    let again = Patch::parse(&printed).unwrap_or_else(|error| panic!("{error} in {printed}"));
    let (again, first) = (
        printed_patch::comparable(again.sections),
        printed_patch::comparable(patch.sections.clone()),
    );
    assert_eq!(again, first, "{printed}");
}

/// Texts of lines in files.
const TEXTS: [&str; 17] = [
    "",
    " ",
    "\r",
    "+",
    "-",
    "- ",
    "-- a/a",
    "++ b/a",
    "+++ b/a",
    "--- a/a",
    "\\ No newline",
    "\\",
    "é\t\u{2028}",
    "*** a",
    "@@ -1 +1 @@",
    " *** End Patch",
    "\u{feff}",
];

fn line_texts() -> impl Strategy<Value = &'static str> {
    prop_oneof![select(&LINES[..]), select(&TEXTS[..])]
}

/// Lines that are printed in V4A or in a plain diff are chosen so that nothing about them is ambiguous.
fn line(
    dialect: Dialect,
    kind: LineKind,
    text: &'static str,
    has_no_end: bool,
) -> HunkLine<'static> {
    let is_ambiguous = match dialect {
        Dialect::V4a => kind == LineKind::Context && Marker::of(text).is_some(),
        Dialect::Git => false,
        Dialect::Plain => kind == LineKind::Added && text.starts_with("++ "),
    };
    let text = if is_ambiguous { "x" } else { text };
    HunkLine { line: 0, kind, text, has_no_end: has_no_end && dialect != Dialect::V4a }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Dialect {
    V4a,
    Git,
    Plain,
}

fn hunks(dialect: Dialect) -> impl Strategy<Value = Hunk<'static>> {
    let kinds = select(&[LineKind::Context, LineKind::Removed, LineKind::Added][..]);
    let lines = vec((kinds, line_texts(), any::<bool>()), 0..6);
    let starts = option::of((any::<u32>(), any::<u32>()));
    (lines, vec(line_texts(), 0..3), starts, any::<bool>()).prop_map(
        move |(lines, narrowing, starts, is_at_end)| {
            let mut lines: Vec<_> =
                lines.into_iter().map(|(kind, text, end)| line(dialect, kind, text, end)).collect();
            lines.insert(lines.len() / 2, line(dialect, LineKind::Added, "new", false));
            for index in 0..lines.len() {
                let mut rest = lines[index + 1..].iter();
                lines[index].has_no_end &= match lines[index].kind {
                    LineKind::Added => rest.all(|line| line.kind == LineKind::Removed),
                    _ => rest.all(|line| line.kind == LineKind::Added),
                };
            }
            let is_v4a = dialect == Dialect::V4a;
            let narrows = |text: &&str| is_v4a && !matches!(text.trim(), "" | "@@");
            let narrowing = narrowing.into_iter().filter(narrows);
            let stated = starts.filter(|_| !is_v4a).map(|(old, new)| Stated {
                old_start: old.into(),
                old_count: 0,
                new_start: new.into(),
            });
            Hunk {
                line: 0,
                narrowing: narrowing.map(|text| Narrowing { line: 0, text }).collect(),
                stated,
                lines,
                is_at_end: is_v4a && is_at_end,
            }
        },
    )
}

/// Paths that neither begin nor end with a blank, as V4A has them.
fn paths() -> impl Strategy<Value = String> {
    "[a-b/é\"*\\\\]{1,3}([ \t*]{1,2}[a-b*]{1,3})?"
}

fn changes(dialect: Dialect) -> impl Strategy<Value = FileChange<'static>> {
    // A plain diff has neither empty files, modes nor renames.
    let (is_v4a, is_git) = (dialect == Dialect::V4a, dialect == Dialect::Git);
    let whole = move |kind| {
        let most = vec(line_texts(), usize::from(dialect == Dialect::Plain)..4);
        most.prop_map(move |texts| {
            texts.into_iter().map(|text| line(dialect, kind, text, false)).collect::<Vec<_>>()
        })
    };
    prop_oneof![
        (whole(LineKind::Added), any::<bool>()).prop_map(move |(lines, is_executable)| {
            FileChange::Add { lines, is_executable: is_executable && is_git }
        }),
        whole(LineKind::Removed)
            .prop_map(move |lines| FileChange::Delete { content: (!is_v4a).then_some(lines) }),
        (vec(hunks(dialect), 1..4), option::of(paths()), any::<Option<bool>>()).prop_map(
            move |(hunks, to, executable)| FileChange::Update {
                hunks,
                to: to.filter(|_| is_v4a || is_git),
                executable: executable.filter(|_| is_git),
            }
        ),
    ]
}

fn sections(dialect: Dialect) -> impl Strategy<Value = Vec<Section<'static>>> {
    let section = (paths(), changes(dialect)).prop_map(|(path, change)| Section {
        line: 0,
        paths: vec![path],
        change,
    });
    vec(section, 1..4)
}

fn comes_back(sections: Vec<Section<'_>>, printed: &str) {
    let parsed = Patch::parse(printed).unwrap_or_else(|error| panic!("{error} in {printed}"));
    assert_eq!(
        printed_patch::comparable(parsed.sections),
        printed_patch::comparable(sections),
        "{printed}"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    #[test]
    fn a_text_is_parsed_or_refused_and_what_is_parsed_comes_back_when_it_is_printed(
        text in patches(),
    ) {
        check(&text);
    }

    #[test]
    fn printed_v4a_sections_are_parsed_to_the_same(sections in sections(Dialect::V4a)) {
        let printed = printed_patch::v4a(&sections);
        comes_back(sections, &printed);
    }

    #[test]
    fn printed_git_sections_are_parsed_to_the_same(sections in sections(Dialect::Git)) {
        let printed = printed_patch::unified(&sections, true);
        comes_back(sections, &printed);
    }

    #[test]
    fn printed_plain_sections_are_parsed_to_the_same(sections in sections(Dialect::Plain)) {
        let printed = printed_patch::unified(&sections, false);
        comes_back(sections, &printed);
    }
}

// P-54
#[test]
fn a_large_text_of_any_shape_takes_linear_time() {
    let heads = [
        "*** Begin Patch\n*** Update File: a\n",
        "*** Begin Patch\n*** Add File: a\n",
        "--- a\n+++ b\n@@ -1 +1 @@\n",
        "```\ndiff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1,9 +1,9 @@\n-a\n",
    ];
    let shapes = [
        " *** Update File: a\n\n",
        " *** End of File\n \n",
        "*** Update File: a\n\n\n",
        "*** Update File: a\n+a\n",
        "@@\n+a\na\n",
        "@@ -1 +1 @@\n-a\n+a\na\n--- a\n+++ b\n",
        "--- a\n+++ b\n@@\n+a\na\n",
        "diff --git a/a b/a\nnew mode 100755\n\n\n",
        "--- a\n+++ b\n",
        "\n\n",
        " ",
        "*",
        "\"",
    ];
    for shape in shapes {
        let part = shape.repeat((512 << 10) / shape.len());
        for head in heads {
            let started = Instant::now();
            check_numbers(&format!("{head}{part}*** End Patch"));
            // Quadratic time would be minutes. An emulator on a busy machine needs a few seconds.
            assert!(started.elapsed().as_secs() < 30, "{shape:?} after {head:?}");
        }
    }
}

fn check_numbers(text: &str) {
    let lines = text.split('\n').count() as u64;
    match Patch::parse(text) {
        Ok(patch) => assert!(printed_patch::numbers(&patch.sections).is_sorted()),
        Err(error) => assert!((1..=lines).contains(&error.line)),
    }
}
