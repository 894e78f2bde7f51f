#![allow(clippy::format_collect, clippy::format_push_string, reason = "tests need no speed")]

use super::super::patch::Patch;
use super::super::peel::Format;
use super::*;

#[track_caller]
fn parse(text: &str) -> Vec<Section<'_>> {
    let patch = Patch::parse(text).unwrap_or_else(|error| panic!("{error} in {text:?}"));
    assert_eq!(patch.format, Format::V4a);
    patch.sections
}

/// What the lines between the first and the last marker are parsed to.
#[track_caller]
fn shown(lines: &str) -> String {
    let text = format!("*** Begin Patch\n{lines}\n*** End Patch\n");
    parse(&text).iter().map(show).collect::<Vec<_>>().join(" ")
}

/// A section in short: `2 update a [3@ "f" -b +c $]`.
fn show(section: &Section<'_>) -> String {
    let lines = |lines: &[HunkLine<'_>]| -> String {
        let sign = |kind| match kind {
            LineKind::Context => '=',
            LineKind::Removed => '-',
            LineKind::Added => '+',
        };
        lines.iter().map(|line| format!(" {}{}", sign(line.kind), line.text)).collect()
    };
    let change = match &section.change {
        FileChange::Add { lines: added, is_executable: false } => format!("add{}", lines(added)),
        FileChange::Delete { content: None } => "delete".to_owned(),
        FileChange::Update { hunks, to, executable: None } => {
            let to = to.as_ref().map_or_else(String::new, |to| format!(" to {to}"));
            let hunks: String = hunks
                .iter()
                .map(|hunk| {
                    assert_eq!(hunk.stated, None);
                    let texts =
                        hunk.narrowing.iter().map(|it| format!(" {}{:?}", it.line, it.text));
                    let texts: String = texts.collect();
                    let end = if hunk.is_at_end { " $" } else { "" };
                    format!(" [{}@{texts}{}{end}]", hunk.line, lines(&hunk.lines))
                })
                .collect();
            format!("update{to}{hunks}")
        }
        other => panic!("{other:?}"),
    };
    format!("{}:{:?} {change}", section.line, section.paths)
}

#[track_caller]
fn refused(lines: &str, line: u64, reason: &str) {
    refused_text(&format!("*** Begin Patch\n{lines}\n*** End Patch\n"), line, reason);
}

#[track_caller]
fn refused_text(text: &str, line: u64, reason: &str) {
    let error = Patch::parse(text).expect_err(text);
    assert_eq!((error.line, error.reason.contains(reason)), (line, true), "{error}");
}

// P-01, P-04, P-06, P-07
#[test]
fn sections_of_all_kinds_are_parsed_in_their_order() {
    assert_eq!(
        shown(
            "*** Add File: a\n+1\n+\n*** Update File: b\n@@\n-1\n+2\n*** Update File: b\n*** Move to: c/d\n 1\n-2\n\
             *** Delete File: e\n*** Add File: f"
        ),
        "2:[\"a\"] add +1 + 5:[\"b\"] update [6@ -1 +2] 9:[\"b\"] update to c/d [11@ =1 -2] 13:[\"e\"] delete \
         14:[\"f\"] add"
    );
}

// P-09, P-11, P-12
#[test]
fn a_move_needs_no_hunks() {
    assert_eq!(shown("*** Update File: a\n*** Move to: ./a"), "2:[\"a\"] update to ./a");
    assert_eq!(
        shown("*** Update File: a\n\n *** Move to: b c ***\n@@\n+d"),
        "2:[\"a\"] update to b c [5@ +d]"
    );
    refused("*** Update File: a", 2, "changes nothing");
    refused("*** Update File: a\n\n*** Delete File: b", 2, "changes nothing");
    refused("*** Update File: a\n@@\n+d\n*** Move to: b", 5, "directly after");
    refused("*** Update File: a\n*** Move to: b\n*** Move to: c", 4, "stands once");
    refused("*** Add File: a\n+b\n*** Move to: b", 4, "directly after");
    refused("*** Delete File: a\n*** Move to: b", 3, "directly after");
}

// P-14
#[test]
fn a_patch_without_sections_is_told_so() {
    refused("", 3, "no file sections");
    refused_text("*** Begin Patch\n*** End Patch", 2, "no file sections");
}

#[test]
fn a_patch_that_is_cut_off_is_refused_at_its_last_line() {
    for text in [
        "*** Begin Patch",
        "\n*** Begin Patch\n",
        "*** Begin Patch\n*** Update File: a\n@@\n-b\n+c\n",
    ] {
        refused_text(text, text.lines().count() as u64, "cut off");
    }
    // A line that is added is no marker.
    refused_text("*** Begin Patch\n*** Add File: a\n+*** End Patch\n", 3, "cut off");
}

// P-16
#[test]
fn blanks_around_markers_and_blank_lines_between_sections_are_fine() {
    assert_eq!(
        shown(
            "\n  *** Add File:   a  \n+b\n\n \n\t*** Delete File: c\t\n  \n*** Update File: d\n@@\n+e\n\n\n *** End \
             of File \n\n*** Update File:f\n+g"
        ),
        "3:[\"a\"] add +b 7:[\"c\"] delete 9:[\"d\"] update [10@ +e $] 16:[\"f\"] update [17@ +g]"
    );
    parse("text\n  *** Begin Patch \n*** Delete File: a\n\t *** End Patch  \ntext");
}

// P-17
#[test]
fn a_final_run_of_stars_is_peeled_off_each_marker() {
    assert_eq!(
        shown("*** Update File: src/x.rs ***\n*** Move to: y ***\n@@\n+a\n*** End of File ***"),
        "2:[\"src/x.rs\"] update to y [4@ +a $]"
    );
    assert_eq!(shown("*** Add File: a***"), "2:[\"a***\"] add");
    assert_eq!(shown("*** Add File: a *** ***"), "2:[\"a ***\"] add");
    parse("*** Begin Patch ***\n*** Delete File: a\n*** End Patch ***\n");
}

// P-49
#[test]
fn names_are_literal() {
    assert_eq!(shown("*** Delete File: \"a b\""), "2:[\"\\\"a b\\\"\"] delete");
    assert_eq!(shown("*** Delete File: a/b"), "2:[\"a/b\"] delete");
    for marker in ["Add File:", "Delete File: ", "Update File: ***"] {
        refused(&format!("*** {marker}\n"), 2, "the path is missing");
    }
    refused("*** Update File: a\n*** Move to:", 3, "the path is missing");
}

// P-19
#[test]
fn only_the_first_hunk_may_lack_its_header() {
    assert_eq!(shown("*** Update File: a\n b\n-c\n@@\n+d"), "2:[\"a\"] update [3@ =b -c] [5@ +d]");
    assert_eq!(
        shown("*** Update File: a\n+b\n*** End of File\n\n@@ c\n+d"),
        "2:[\"a\"] update [3@ +b $] [6@ 6\"c\" +d]"
    );
    refused("*** Update File: a\n+b\n*** End of File\n+d", 5, "begin the next one with `@@`");
    refused("*** Update File: a\n+b\n*** End of File\n\n d", 6, "begin the next one with `@@`");
}

// P-21, P-22, P-24
#[test]
fn texts_of_headers_narrow_one_after_the_other() {
    assert_eq!(
        shown("*** Update File: a\n@@ class A\n@@\n@@   def f \n\n@@ g\n+b\n@@ h\n-c"),
        "2:[\"a\"] update [3@ 3\"class A\" 5\"  def f \" 7\"g\" +b] [9@ 9\"h\" -c]"
    );
    assert_eq!(shown("*** Update File: a\n@@ f @@\n+b"), "2:[\"a\"] update [3@ 3\"f @@\" +b]");
    assert_eq!(shown("*** Update File: a\n@@f\n+b"), "2:[\"a\"] update [3@ 3\"f\" +b]");
    for bare in ["@@", "@@ ", "@@ @@", "@@\t", "@@ -1,2 +1,2 @@", "@@ -1 +1 @@ ", "@@ -1 +1"] {
        let expected = "2:[\"a\"] update [3@ +b]";
        assert_eq!(shown(&format!("*** Update File: a\n{bare}\n+b")), expected, "{bare}");
    }
}

#[test]
fn unified_numbers_are_ignored_and_the_text_behind_them_narrows() {
    for numbers in ["-1,3 +1,4", "-1 +1", "-99999999999999999999,1 +0,0"] {
        let text = shown(&format!("*** Update File: a\n@@ {numbers} @@  f\n+b"));
        assert_eq!(text, "2:[\"a\"] update [3@ 3\" f\" +b]", "{numbers}");
    }
    assert_eq!(
        shown("*** Update File: a\n@@ -1,3 @@\n+b"),
        "2:[\"a\"] update [3@ 3\"-1,3 @@\" +b]"
    );
}

// P-26, P-27, P-29
#[test]
fn the_end_of_the_file_ties_a_hunk() {
    assert_eq!(
        shown(
            "*** Update File: a\n@@\n+b\n*** End of File\n*** Update File: c\n@@\n d\n-e\n\n*** End of File"
        ),
        "2:[\"a\"] update [3@ +b $] 6:[\"c\"] update [7@ =d -e $]"
    );
    refused("*** Update File: a\n@@\n+b\n*** End of File\n*** End of File", 6, "only once");
    refused(
        "*** Add File: a\n+b\n*** End of File",
        4,
        "at the end of a hunk of `*** Update File:`",
    );
    refused("*** Update File: a\n@@\n*** End of File", 3, "changes nothing");
}

#[test]
fn a_hunk_without_changes_is_refused() {
    refused("*** Update File: a\n@@\n b\n c", 3, "changes nothing");
    refused("*** Update File: a\n b\n@@\n+c", 3, "changes nothing");
    refused("*** Update File: a\n@@ b\n@@ c\n\n*** Delete File: d", 3, "changes nothing");
    refused("*** Update File: a\n@@ b\n+c\n@@ d\n", 5, "changes nothing");
}

// P-39
#[test]
fn carriage_returns_go_with_those_of_the_first_marker() {
    let text =
        "*** Begin Patch\r\n*** Update File: a\r\n@@ f\r\n-b\r\n+c\r\r\n\r\n*** End Patch\r\n";
    assert_eq!(show(&parse(text)[0]), "2:[\"a\"] update [3@ 3\"f\" -b +c\r]");
    let text = "*** Begin Patch\n*** Update File: a\r\n@@\r\n-b\r\n\r\n+c\n\r\n*** End Patch\r\n";
    assert_eq!(show(&parse(text)[0]), "2:[\"a\"] update [3@ -b\r =\r +c]");
}

// P-42
#[test]
fn an_empty_line_is_context_within_a_hunk_and_a_separator_at_its_end() {
    assert_eq!(
        shown("*** Update File: a\n@@\n\n b\n\n+c\n\n\n@@\n+d\n \n\n*** Delete File: e"),
        "2:[\"a\"] update [3@ = =b = +c] [10@ +d =] 14:[\"e\"] delete"
    );
    assert_eq!(shown("*** Update File: a\n\n\n@@\n+d\n"), "2:[\"a\"] update [5@ +d]");
    assert_eq!(shown("*** Update File: a\n\n+d\n"), "2:[\"a\"] update [3@ = +d]");
}

// P-44
#[test]
fn content_that_looks_like_a_marker_is_content() {
    assert_eq!(
        shown(
            "*** Add File: a\n+*** Begin Patch\n+@@\n++++ b\n+--- c\n+*** End Patch\n*** Update File: d\n@@\n-*** End \
             Patch\n+*** End of File\n---- e\n++++ f\n @@ g"
        ),
        "2:[\"a\"] add +*** Begin Patch +@@ ++++ b +--- c +*** End Patch 8:[\"d\"] update [9@ -*** End Patch +*** \
         End of File ---- e ++++ f =@@ g]"
    );
}

// P-46, P-47
#[test]
fn each_line_of_a_new_file_has_its_sign() {
    assert_eq!(shown("*** Add File: a\n+b\n\n \n"), "2:[\"a\"] add +b");
    assert_eq!(shown("*** Add File: a\n"), "2:[\"a\"] add");
    for line in ["b", " b", "-b", "@@", "***", "*** Rename File: c"] {
        refused(&format!("*** Add File: a\n+b\n{line}"), 4, "begins with +");
    }
    refused("*** Add File: a\n+b\n\n\n+c", 4, "an empty line is a lone +");
    refused("*** Add File: a\n\n+c", 3, "an empty line is a lone +");
    refused("*** Delete File: a\n-b", 3, "has no lines");
}

#[test]
fn a_line_of_a_hunk_has_its_sign() {
    for line in ["b", "\tb", "\\ No newline at end of file", "é", "```"] {
        refused(&format!("*** Update File: a\n@@\n+b\n{line}\n"), 5, "begins with a space");
        refused(&format!("*** Update File: a\n{line}\n"), 3, "begins with a space");
    }
    for line in ["*** Rename File: c", "***", "*** Update file: c", "***End Patch"] {
        refused(&format!("*** Update File: a\n@@\n+b\n{line}\n"), 5, "no marker of a V4A patch");
    }
    refused("b\n*** Update File: a", 2, "a section begins here");
    refused("--- a/b\n+++ b/b", 2, "a section begins here");
}

#[test]
fn markers_that_are_indented_are_markers_where_what_follows_fits() {
    assert_eq!(
        shown(
            "*** Update File: a\n+b\n *** Update File: c\n\n@@\n+d\n  *** Delete File: e\n *** Add File: f\n+g"
        ),
        "2:[\"a\"] update [3@ +b] 4:[\"c\"] update [6@ +d] 8:[\"e\"] delete 9:[\"f\"] add +g"
    );
    assert_eq!(
        shown("*** Update File: a\n+b\n *** End of File\n\n@@\n+c\n *** End of File"),
        "2:[\"a\"] update [3@ +b $] [6@ +c $]"
    );
    // Even where the section has nothing yet.
    refused("*** Update File: a\n *** Delete File: b\n *** Add File: c", 2, "changes nothing");
}

#[test]
fn lines_of_a_file_that_are_markers_after_their_space_are_context() {
    assert_eq!(
        shown(
            "*** Update File: a\n *** Begin Patch\n *** Update File: b\n-c\n *** Move to: d\n *** End Patch\n+e"
        ),
        "2:[\"a\"] update [3@ =*** Begin Patch =*** Update File: b -c =*** Move to: d =*** End Patch +e]"
    );
    assert_eq!(
        shown(
            "*** Update File: a\n+b\n *** End of File\n c\n *** Delete File: d\n\n e\n *** Add File: f\n-g"
        ),
        "2:[\"a\"] update [3@ +b =*** End of File =c =*** Delete File: d = =e =*** Add File: f -g]"
    );
}

#[test]
fn the_last_end_is_a_marker_though_it_is_indented() {
    let text =
        "*** Begin Patch\n*** Update File: a\n+b\n *** End Patch\n c\n *** End Patch\n text\n";
    assert_eq!(show(&parse(text)[0]), "2:[\"a\"] update [3@ +b =*** End Patch =c]");
}

#[test]
fn text_around_the_patch_and_fences_are_left_aside() {
    let text = "Sure:\n```\napply_patch <<'EOF'\n*** Begin Patch\n*** Delete File: a\n*** End Patch\nEOF\n```\nDone.";
    assert_eq!(show(&parse(text)[0]), "5:[\"a\"] delete");
    parse(
        "\u{feff}*** Begin Patch\n*** Delete File: a\n*** End Patch\n*** End Patch\n- that is all",
    );
}

#[test]
fn a_second_patch_behind_the_first_is_not_left_aside() {
    let first = "*** Begin Patch\n*** Delete File: a\n*** End Patch\n\n";
    for second in [
        "*** Begin Patch\n*** Delete File: b\n*** End Patch\n",
        "*** Delete File: b\n*** End Patch\n",
        "--- b\n+++ b\n@@ -1 +1 @@\n-c\n+d\n",
        "@@\n-c\n+d\n",
    ] {
        refused_text(&format!("{first}{second}"), 5, "another patch begins");
    }
    refused("*** Delete File: a\n*** Begin Patch", 3, "only once");
    refused("*** Update File: a\n+b\n*** Begin Patch", 4, "only once");
}
