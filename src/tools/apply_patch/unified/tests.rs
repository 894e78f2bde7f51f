#![allow(clippy::format_collect, clippy::format_push_string, reason = "tests need no speed")]

use super::super::patch::Patch;
use super::*;

#[track_caller]
fn parse(text: &str) -> Vec<Section<'_>> {
    let patch = Patch::parse(text).unwrap_or_else(|error| panic!("{error} in {text:?}"));
    assert_eq!(patch.format, Format::Unified);
    patch.sections
}

#[track_caller]
fn shown(text: &str) -> String {
    parse(text).iter().map(show).collect::<Vec<_>>().join(" ")
}

/// A section in short: `1:["a"] update [3@1,2,1 =b -c +d]`.
fn show(section: &Section<'_>) -> String {
    let change = match &section.change {
        FileChange::Add { lines, is_executable } => {
            format!("add{}{}", if *is_executable { " x" } else { "" }, show_lines(lines))
        }
        FileChange::Delete { content } => {
            format!("delete{}", show_lines(content.as_deref().unwrap()))
        }
        FileChange::Update { hunks, to, executable } => {
            let to = to.as_ref().map_or_else(String::new, |to| format!(" to {to}"));
            let mode = executable.map_or("", |it| if it { " +x" } else { " -x" });
            format!("update{to}{mode}{}", hunks.iter().map(show_hunk).collect::<String>())
        }
    };
    format!("{}:{:?} {change}", section.line, section.paths)
}

fn show_hunk(hunk: &Hunk<'_>) -> String {
    assert!(hunk.narrowing.is_empty() && !hunk.is_at_end);
    let stated = hunk.stated.map_or_else(String::new, |it| {
        format!("{},{},{}", it.old_start, it.old_count, it.new_start)
    });
    format!(" [{}@{stated}{}]", hunk.line, show_lines(&hunk.lines))
}

fn show_lines(lines: &[HunkLine<'_>]) -> String {
    let line = |line: &HunkLine<'_>| {
        let sign = match line.kind {
            LineKind::Context => '=',
            LineKind::Removed => '-',
            LineKind::Added => '+',
        };
        format!(" {sign}{}{}", line.text, if line.has_no_end { "\\" } else { "" })
    };
    lines.iter().map(line).collect()
}

/// What the lines after the header of a file are parsed to, without the path.
#[track_caller]
fn body(lines: &str) -> String {
    let shown = shown(&format!("--- a\n+++ a\n{lines}"));
    shown.strip_prefix("1:[\"a\"] update ").unwrap().to_owned()
}

/// The spellings of the path.
#[track_caller]
fn paths(text: &str) -> Vec<String> {
    let [section] = &*parse(text) else { panic!("{text}") };
    section.paths.clone()
}

#[track_caller]
fn paths_of(old: &str, new: &str) -> Vec<String> {
    let (is_new, is_deleted) = (old.starts_with("/dev/null"), new.starts_with("/dev/null"));
    let change = [if is_new { "" } else { "-x\n" }, if is_deleted { "" } else { "+y\n" }].concat();
    paths(&format!("--- {old}\n+++ {new}\n@@\n{change}"))
}

#[track_caller]
fn refused(text: &str, line: u64, reason: &str) {
    let error = Patch::parse(text).expect_err(text);
    assert_eq!((error.line, error.reason.contains(reason)), (line, true), "{error}");
}

const HUNK: &str = "@@ -1 +1 @@\n-x\n+y\n";

// D-26, D-27
#[test]
fn files_are_parsed_in_their_order_and_text_around_them_is_left_aside() {
    let text = "From 123 Mon Sep 17\nSubject: x\n---\n a | 2 +-\n\ndiff --git a/a b/a\nindex 1..2 100644\n--- a/a\n\
                +++ b/a\n@@ -1 +1 @@ f\n-x\n+y\n@@ -7,0 +8 @@\n+z\nIndex: b\n=====\n--- b\n+++ b\n@@ -1 +1 @@\n-x\n\
                +y\nOnly in c: d\ndiff -u a a\n--- a\n+++ a\n@@ -1 +1 @@\n-y\n+x\n-- \n2.39.2\n\n";
    assert_eq!(
        shown(text),
        "6:[\"a\", \"a/a\", \"b/a\"] update [10@1,1,1 -x +y] [13@7,0,8 +z] 17:[\"b\"] update [19@1,1,1 -x +y] \
         24:[\"a\"] update [26@1,1,1 -y +x]"
    );
}

// D-01
#[test]
fn counts_that_the_body_belies_are_not_believed() {
    for header in ["@@ -1,3 +1,4 @@", "@@ -1 +1,9 @@", "@@ -1,0 +1,0 @@"] {
        let text = body(&format!("{header}\n a\n-b\n+c\n d\n+e\n"));
        assert!(text.ends_with("=a -b +c =d +e]"), "{text}");
        assert_eq!(
            parse(&format!("--- a\n+++ a\n{header}\n-b\n+c\n--- b\n+++ b\n{HUNK}")).len(),
            2
        );
        assert_eq!(body(&format!("{header}\n-b\n{HUNK}")).matches('@').count(), 2);
    }
}

// D-02, D-09
#[test]
fn headers_of_hunks_may_lack_counts_or_numbers() {
    assert_eq!(body("@@ -2 +3 @@\n-b\n"), "[3@2,1,3 -b]");
    assert_eq!(body("@@ -6 +5,0 @@\n-b\n"), "[3@6,1,5 -b]");
    assert_eq!(body("@@ -0,0 +1,2 @@ -9 +9 @@\n+b\n"), "[3@0,0,1 +b]");
    assert_eq!(body("@@ -1,3 +2,4\n-b\n"), "[3@1,3,2 -b]");
    for header in
        ["@@", "@@ @@", "@@ ... @@", "@@ -1 @@", "@@ -a +b @@", "@@ -1, +1 @@", "@@ -1 +1 x"]
    {
        assert_eq!(body(&format!("{header}\n-b\n")), "[3@ -b]", "{header}");
    }
    for large in ["4294967296", "99999999999999999999"] {
        for header in [
            format!("@@ -{large} +1 @@"),
            format!("@@ -1,{large} +1 @@"),
            format!("@@ -1 +{large} @@"),
        ] {
            assert_eq!(body(&format!("{header}\n-b\n")), "[3@ -b]", "{header}");
        }
    }
}

// D-11, D-12
#[test]
fn a_line_with_a_backslash_says_that_the_line_before_has_no_end() {
    let end = "\\ No newline at end of file";
    assert_eq!(body(&format!("@@\n-a\n{end}\n+b\n{end}\n")), "[3@ -a\\ +b\\]");
    assert_eq!(body(&format!("@@\n-a\n{end}\n+b\n")), "[3@ -a\\ +b]");
    assert_eq!(body("@@\n-a\n+b\n\\ Kein Zeilenumbruch\n\\\n@@\n+c\n"), "[3@ -a +b\\] [8@ +c]");
    assert_eq!(body("@@\n+b\n\n\\ No newline\n"), "[3@ +b =\\]");
    refused(&format!("--- a\n+++ a\n@@\n{end}\n+b\n"), 4, "begins with a backslash");
}

// D-14
#[test]
fn prefixes_are_stripped_where_both_sides_have_them() {
    assert_eq!(paths_of("a/x", "b/x"), ["x", "a/x", "b/x"]);
    assert_eq!(paths_of("a/b/x", "b/b/x"), ["b/x", "a/b/x", "b/b/x"]);
    assert_eq!(paths_of("x", "x"), ["x"]);
    assert_eq!(paths_of("a/x", "a/x"), ["a/x"]);
    assert_eq!(paths_of("a/x", "x"), ["a/x", "x"]);
    assert_eq!(paths_of("x", "b/x"), ["x", "b/x"]);
    assert_eq!(paths_of("a/", "b/"), ["a/", "b/"]);
    assert_eq!(paths_of("a/é", "b/é"), ["é", "a/é", "b/é"]);
}

#[test]
fn prefixes_of_git_are_stripped_where_the_rest_is_equal() {
    for (old, new) in [("i/", "w/"), ("c/", "i/"), ("o/", "w/"), ("1/", "2/"), ("b/", "a/")] {
        let (old_x, new_x) = (format!("{old}x"), format!("{new}x"));
        assert_eq!(paths_of(&old_x, &new_x), ["x", &old_x, &new_x]);
        assert_eq!(paths_of(&old_x, &format!("{new}y")), [old_x, format!("{new}y")]);
    }
    for (old, new) in [("i/x", "i/x"), ("1/x", "w/x"), ("éx", "éx")] {
        assert_eq!(paths_of(old, new)[0], old);
    }
}

#[test]
fn the_prefix_of_a_file_that_is_created_or_deleted_is_stripped() {
    assert_eq!(paths_of("/dev/null", "b/x"), ["x", "b/x"]);
    assert_eq!(paths_of("a/x", "/dev/null"), ["x", "a/x"]);
    assert_eq!(paths_of("/dev/null", "a/x"), ["a/x"]);
    assert_eq!(paths_of("b/x", "/dev/null"), ["b/x"]);
    assert_eq!(paths_of("/dev/null\t1970-01-01", "x"), ["x"]);
}

#[test]
fn the_line_of_git_tells_the_prefix_of_the_only_name() {
    let created = |names, new| {
        paths(&format!(
            "diff --git {names}\nnew file mode 100644\n--- /dev/null\n+++ {new}\n@@\n+x\n"
        ))
    };
    assert_eq!(created("a/x b/x", "b/x"), ["x", "b/x"]);
    assert_eq!(created("b/x b/x", "b/x"), ["b/x"]);
    assert_eq!(created("c/x i/x", "i/x"), ["x", "i/x"]);
    assert_eq!(created("a/y b/y", "b/x"), ["x", "b/x"]);
    assert_eq!(created("?", "b/x"), ["x", "b/x"]);
    let text = "diff --git i/x w/x\ndeleted file mode 100644\n--- i/x\n+++ /dev/null\n@@\n-x\n";
    assert_eq!(paths(text), ["x", "i/x"]);
}

#[test]
fn of_two_names_the_one_without_an_appendix_comes_first() {
    assert_eq!(paths_of("x.orig", "x"), ["x", "x.orig"]);
    assert_eq!(paths_of("x", "x~"), ["x", "x~"]);
    assert_eq!(paths_of("x.c.old\t2024-01-01", "x.c\t2024-01-02"), ["x.c", "x.c.old"]);
    assert_eq!(paths_of("old/x", "new/x"), ["old/x", "new/x"]);
    assert_eq!(paths_of("a/x~", "b/x"), ["x", "x~", "a/x~", "b/x"]);
    assert_eq!(paths_of("a/x", "b/y"), ["x", "y", "a/x", "b/y"]);
}

// D-16
#[test]
fn dev_null_creates_and_deletes() {
    assert_eq!(
        shown("--- /dev/null\n+++ b/x\n@@ -0,0 +1,2 @@\n+1\n+2\n@@\n+3\n\\ No newline\n\n"),
        "1:[\"x\", \"b/x\"] add +1 +2 +3\\"
    );
    assert_eq!(
        shown("--- a/x\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-1\n-2\n"),
        "1:[\"x\", \"a/x\"] delete -1 -2"
    );
    for line in [" a", "-a", ""] {
        refused(
            &format!("--- /dev/null\n+++ b/x\n@@\n+1\n{line}\n+2\n"),
            5,
            "begins with +, an empty line",
        );
    }
    for line in [" a", "+a", ""] {
        refused(
            &format!("--- a/x\n+++ /dev/null\n@@\n-1\n{line}\n-2\n"),
            5,
            "begins with -, an empty line",
        );
    }
    refused("\n--- /dev/null\n+++ /dev/null\n@@\n-1\n", 2, "must be a path");
    refused("--- /dev/null\n+++ x\n", 1, "no hunk follows");
}

// D-17
#[test]
fn a_rename_has_its_own_lines() {
    let names = "diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to y z\n";
    assert_eq!(shown(names), "1:[\"x\"] update to y z");
    let text = format!("{names}index 1..2 100644\n--- a/x\n+++ b/y\n{HUNK}");
    assert_eq!(shown(&text), "1:[\"x\"] update to y z [8@1,1,1 -x +y]");
    assert_eq!(
        shown("diff --git a/x b/y\nrename from \"x\\ty\"\nrename to a/y\n"),
        "1:[\"x\\ty\"] update to a/y"
    );
    refused("diff --git a/x b/y\nrename from x\n", 1, "needs both lines");
    refused("diff --git a/x b/y\nrename to x\n", 1, "needs both lines");
    refused("diff --git a/x b/y\nrename from x\nrename to \n", 3, "the path is missing");
    refused(&format!("{names}new file mode 100644\n"), 1, "contradict");
    refused(
        &format!("diff --git a/x b/y\n--- a/x\n+++ b/y\n{HUNK}diff --git a/x b/y\n"),
        7,
        "told from this line",
    );
}

// D-19
#[test]
fn modes_set_and_clear_the_execute_bits() {
    let modes = |old, new| shown(&format!("diff --git a/x b/x\nold mode {old}\nnew mode {new}\n"));
    let paths = "1:[\"x\", \"a/x\", \"b/x\"]";
    assert_eq!(modes("100644", "100755"), format!("{paths} update +x"));
    assert_eq!(modes("100755", "100644"), format!("{paths} update -x"));
    assert_eq!(modes("100644", "100664"), format!("{paths} update"));
    assert_eq!(modes("644", "755"), format!("{paths} update +x"));
    let text = "diff --git a/x b/x\nnew file mode 100755\nindex 0..1\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+1\n";
    assert_eq!(shown(text), "1:[\"x\", \"b/x\"] add x +1");
    let text = format!("diff --git a/x b/x\nnew mode 100755\n--- a/x\n+++ b/x\n{HUNK}");
    assert_eq!(shown(&text), format!("{paths} update +x [5@1,1,1 -x +y]"));
    refused("diff --git a/x b/x\nold mode rwx\n", 2, "no mode of a file");
    refused("diff --git a/x b/x\nnew file mode 40000\n", 2, "no mode of a file");
}

#[test]
fn links_submodules_copies_and_binary_files_are_refused_with_the_reason() {
    for (line, reason) in [
        ("new file mode 120000", "symbolic links"),
        ("deleted file mode 120000", "symbolic links"),
        ("old mode 120000", "symbolic links"),
        ("index 123..456 120000", "symbolic links"),
        ("new file mode 160000", "submodules"),
        ("index 123..456 160000", "submodules"),
        ("copy from x", "copies"),
        ("copy to x", "copies"),
        ("Binary files a/x and b/x differ", "binary"),
        ("GIT binary patch", "binary"),
    ] {
        refused(&format!("diff --git a/x b/x\n{line}\n"), 2, reason);
    }
    refused(&format!("--- a\n+++ a\n{HUNK}Binary files c and d differ\n"), 6, "binary");
    refused(&format!("--- a\n+++ a\n{HUNK}diff --cc d\n"), 6, "combined");
    refused("--- a\n+++ a\n@@@ -1 -1 +1 @@@\n", 3, "combined");
    refused(&format!("--- a\n+++ a\n{HUNK}@@@ -1 -1 +1 @@@\n"), 6, "combined");
    refused(&format!("--- a\n+++ a\n{HUNK}*** b\n--- c\n"), 6, "context diffs");
    refused(&format!("--- a\n+++ a\n{HUNK}*** Update File: b\n"), 6, "outside of a V4A patch");
    refused(&format!("--- a\n+++ a\n{HUNK}*** Begin Patch\n"), 6, "send one format");
}

#[test]
fn an_empty_file_is_created_and_deleted_without_hunks() {
    let text = "diff --git a/x y b/x y\nnew file mode 100644\nindex 000..e69\ndiff --git a/z b/z\ndeleted file mode \
                100644\nindex e69..000\n";
    let paths = |name: &str| format!("[\"{name}\", \"a/{name}\", \"b/{name}\"]");
    assert_eq!(shown(text), format!("1:{} add 4:{} delete", paths("x y"), paths("z")));
    let text = "diff --git a/z b/z\n--- a/z\n+++ /dev/null\n";
    assert_eq!(shown(text), "1:[\"z\", \"a/z\"] delete");
    refused(
        "diff --git a/x b/x\nnew file mode 100644\ndeleted file mode 100644\n",
        1,
        "contradict",
    );
}

#[test]
fn the_line_of_git_is_split_where_both_halves_are_equal() {
    let names = |names| paths(&format!("diff --git {names}\nnew mode 100755\n"));
    assert_eq!(names("a/x b/x"), ["x", "a/x", "b/x"]);
    assert_eq!(names("x x"), ["x"]);
    assert_eq!(names("a/x b/x b/x b/x"), ["x b/x", "a/x b/x", "b/x b/x"]);
    assert_eq!(names("\"a/\\303\\251\" \"b/\\303\\251\""), ["é", "a/é", "b/é"]);
    assert_eq!(names("\"a/x\" b/x"), ["x", "a/x", "b/x"]);
    assert_eq!(names("a/x y \"b/x y\""), ["x y", "a/x y", "b/x y"]);
    assert_eq!(names("i/x w/x\r"), ["x", "i/x", "w/x"]);
    for names in ["a/x b/y", "a/x", "x b/x", "", "\"a/x b/x", "\"a/x\"\"b/x\"", "a/é b/x", "a/xb/x"]
    {
        refused(&format!("diff --git {names}\nnew mode 100755\n"), 1, "cannot be told");
    }
}

#[test]
fn a_section_that_changes_nothing_is_refused() {
    let empty = "diff --git a/x b/x\nindex 1..2 100644\n";
    refused(empty, 1, "changes nothing");
    refused(&format!("\n{empty}--- a/x\n+++ b/x\n"), 2, "changes nothing");
    refused(&format!("{empty}\n{empty}"), 1, "changes nothing");
    refused("--- x\n+++ x\n-a\n+b\n", 1, "no hunk follows");
    refused(&format!("{empty}--- a/x\n@@\n+b\n"), 3, "two lines");
    refused(&format!("{empty}+++ b/x\n@@\n+b\n"), 3, "two lines");
    refused("--- x\n+++ x\n@@ -1 +1 @@\n a\n", 3, "this hunk changes nothing");
    refused(&format!("--- x\n+++ x\n{HUNK}@@ -1 +1 @@\n"), 6, "this hunk changes nothing");
}

#[test]
fn empty_lines_before_a_pair_or_a_hunk_are_left_aside() {
    let text = format!("diff --git a/x b/x\n\n--- a/x\n+++ b/x\n\n\n{HUNK}");
    assert_eq!(shown(&text), "1:[\"x\", \"a/x\", \"b/x\"] update [7@1,1,1 -x +y]");
    assert_eq!(shown(&format!("diff --git a/x a/x\n{HUNK}")), "1:[\"a/x\"] update [2@1,1,1 -x +y]");
}

#[test]
fn a_hunk_without_a_file_is_refused() {
    refused(&format!("--- a\n+++ a\n{HUNK}Then:\n{HUNK}"), 7, "belongs to no file");
    refused(&format!("--- a\n+++ a\n{HUNK}-- \n2.39.2\n{HUNK}"), 8, "belongs to no file");
    refused(&format!("--- a\n+++ a\n{HUNK}Then:\n@@ f\n+b\n"), 7, "belongs to no file");
}

// D-21
#[test]
fn quoted_names_are_unquoted() {
    assert_eq!(
        paths_of("\"a/sp\\303\\251ce\\t.txt\"", "\"b/sp\\303\\251ce\\t.txt\"")[0],
        "spéce\t.txt"
    );
    assert_eq!(
        paths_of("\"\\a\\b\\f\\n\\r\\v\\\"\\\\é\"\tx", "x")[0],
        "\u{7}\u{8}\u{c}\n\r\u{b}\"\\é"
    );
    for (name, reason) in [
        ("\"a", "malformed"),
        ("\"a\\", "malformed"),
        ("\"a\\x\"", "malformed"),
        ("\"a\\40\"", "malformed"),
        ("\"a\\400\"", "malformed"),
        ("\"a\\3é\"", "malformed"),
        ("\"a\\377\"", "not UTF-8"),
        ("\"\"", "the path is missing"),
        ("", "the path is missing"),
        ("\t2024", "the path is missing"),
    ] {
        refused(&format!("--- {name}\n+++ b\n{HUNK}"), 1, reason);
        refused(&format!("--- a\n+++ {name}\n{HUNK}"), 2, reason);
    }
}

// D-22
#[test]
fn names_end_at_a_tab() {
    let stamp = "\t2024-01-01 00:00:00.000000000 +0100";
    assert_eq!(paths_of(&format!("a/x y{stamp}"), "b/x y\t"), ["x y", "a/x y", "b/x y"]);
    assert_eq!(paths_of("a/x ", "b/x "), ["x ", "a/x ", "b/x "]);
}

// D-24
#[test]
fn carriage_returns_belong_to_the_texts_unless_the_header_has_them() {
    assert_eq!(body("@@ -1,2 +1 @@\r\n a\r\n-b\r\n\r\n+c\r\n"), "[3@1,2,1 =a\r -b\r =\r +c\r]");
    let text = "--- a/x\r\n+++ b/x\r\n@@ -1 +1 @@\r\n-b\r\n+c\r\r\n\r\n\\ No newline\r\n";
    assert_eq!(shown(text), "1:[\"x\", \"a/x\", \"b/x\"] update [3@1,1,1 -b +c\r =\\]");
    let text = "diff --git a/x b/x\r\nold mode 100644\r\nnew mode 100755\r\n";
    assert_eq!(shown(text), "1:[\"x\", \"a/x\", \"b/x\"] update +x");
    assert_eq!(
        shown("diff --git a/x b/x\nrename from x\r\nrename to y\r\n"),
        "1:[\"x\"] update to y"
    );
}

// D-29
#[test]
fn empty_lines_at_the_end_are_context_only_if_the_counts_say_so() {
    assert_eq!(body("@@ -1,2 +1,2 @@\n a\n-b\n+c\n\n\n"), "[3@1,2,1 =a -b +c]");
    assert_eq!(body("@@ -1,3 +1,3 @@\n a\n-b\n+c\n\n\n"), "[3@1,3,1 =a -b +c =]");
    assert_eq!(body("@@ -1,4 +1,4 @@\n a\n-b\n+c\n\n\n"), "[3@1,4,1 =a -b +c = =]");
    // The counts are wrong with any number of them.
    assert_eq!(body("@@ -1,5 +1,5 @@\n a\n-b\n+c\n\n\n"), "[3@1,5,1 =a -b +c]");
    assert_eq!(body("@@ -1,3 +1,4 @@\n a\n-b\n+c\n\n\n"), "[3@1,3,1 =a -b +c]");
    assert_eq!(body("@@\n a\n\n-b\n\n\n@@\n+c\n"), "[3@ =a = -b] [9@ +c]");
    assert_eq!(body("@@ -1,2 +1 @@\n-b\n\nDone.\n"), "[3@1,2,1 -b =]");
    assert_eq!(body("@@ -1 +0,0 @@\n-b\n\nDone.\n+x\n"), "[3@1,1,0 -b]");
}

// D-34
#[test]
fn a_removed_line_that_begins_with_dashes_is_no_header() {
    assert_eq!(body("@@ -1,2 +1 @@\n--- foo\n a\n"), "[3@1,2,1 --- foo =a]");
    assert_eq!(body("@@ -1,2 +1,2 @@\n--- foo\n+++ bar\n a\n"), "[3@1,2,1 --- foo +++ bar =a]");
    assert_eq!(body("@@ -1 +1 @@\n--- foo\n+++ bar\n"), "[3@1,1,1 --- foo +++ bar]");
}

#[test]
fn a_header_and_its_hunk_in_a_row_begin_a_file_whatever_the_counts_say() {
    let text = format!("--- a\n+++ a\n@@ -1,2 +1,2 @@\n-b\n+c\n--- d\n+++ d\n{HUNK}");
    assert_eq!(shown(&text), "1:[\"a\"] update [3@1,2,1 -b +c] 6:[\"d\"] update [8@1,1,1 -x +y]");
    // In a section of git that lacks just these two lines, they are content.
    let git = |counts| {
        format!("diff --git a a\n--- a\n+++ a\n@@ {counts} @@\n-b\n+c\n--- d\n+++ d\n{HUNK}")
    };
    assert_eq!(
        shown(&git("-1,2 +1,2")),
        "1:[\"a\"] update [4@1,2,1 -b +c --- d +++ d] [9@1,1,1 -x +y]"
    );
    for counts in ["-1 +1", "-1,3 +1,3", "-1,2 +1,3", ""] {
        assert_eq!(parse(&git(counts)).len(), 2, "{counts}");
    }
}

#[test]
fn a_signature_with_the_version_of_git_ends_a_patch() {
    for version in
        ["2.39.2", "2.40.0.windows.1", "2.39.2 (Apple Git-143)", "2.45.0.rc1.1.gabc", "2.1\r"]
    {
        for dashes in ["-- ", "--"] {
            let text =
                body(&format!("@@ -1,9 +1,9 @@\n-b\n{dashes}\n{version}\n\nprose\n- list\n"));
            assert_eq!(text, "[3@1,9,1 -b]", "{version}");
        }
    }
    for other in ["+2.39.2", " 2.39.2", "+c"] {
        let text = body(&format!("@@\n-b\n-- \n{other}\n"));
        assert!(text.starts_with("[3@ -b -- "), "{text}");
    }
    for other in ["2", "2.x", "v2.3", "2.39 is out", "2..1"] {
        refused(&format!("--- a\n+++ a\n@@\n-b\n-- \n{other}\n+c\n"), 6, "begins with a space");
    }
}

#[test]
fn a_line_of_another_kind_ends_a_hunk_whose_counts_are_right() {
    assert_eq!(body("@@ -1 +1 @@\n-b\n+c\nNotes:\n- list\n+ list\n"), "[3@1,1,1 -b +c]");
    assert_eq!(body("@@ -1,2 +1,2 @@\n-b\n+c\n\nNotes:\n- list\n"), "[3@1,2,1 -b +c =]");
}

#[test]
fn a_line_of_another_kind_is_refused_if_changes_follow_before_the_next_header() {
    for header in ["@@ -1,2 +1 @@", "@@"] {
        let text = |tail| format!("--- a\n+++ a\n{header}\n-b\n+c\n d\nlost\n{tail}");
        for tail in ["+e\n", " x\n\n-e\n", " x\nprose\n"] {
            refused(&text(tail), 7, "a line of a hunk begins with a space");
        }
        for (tail, files) in [
            ("", 1),
            ("--- e\n+++ e\n@@\n+f\n", 2),
            ("diff --git a/e b/e\nnew mode 100755\n", 2),
            ("-- \n2.39.2\n-e\n", 1),
        ] {
            assert_eq!(parse(&text(tail)).len(), files, "{tail}");
        }
        refused(&text("@@\n+e\n"), 8, "belongs to no file");
    }
}

#[test]
fn a_fence_or_a_here_document_that_was_opened_ends_a_hunk() {
    let hunk = "--- a\n+++ a\n@@ -1,9 +1,9 @@\n-b\n+c\n";
    assert_eq!(shown(&format!("```diff\n{hunk}```\n- list\n")), "2:[\"a\"] update [4@1,9,1 -b +c]");
    let text = format!("git apply <<'EOF'\n{hunk}EOF\n- list\n");
    assert_eq!(shown(&text), "2:[\"a\"] update [4@1,9,1 -b +c]");
    // One of two.
    let text = format!("```\n{hunk}```\n- and\n```\n{}```\n- list\n", hunk.replace('a', "d"));
    assert_eq!(parse(&text).len(), 2);
    // None was opened.
    refused(&format!("{hunk}```\n- list\n"), 6, "begins with a space");
    refused(&format!("```\n```\n{hunk}```\n- list\n"), 8, "begins with a space");
    refused(&format!("{hunk}EOF\n- list\n"), 6, "begins with a space");
    // What is lost before the fence is told.
    refused(&format!("```diff\n{hunk}lost\n+d\n```\n"), 7, "begins with a space");
    refused(&format!("```diff\n{hunk}lost\n```\n- list\n"), 7, "begins with a space");
}

#[test]
fn a_line_without_a_sign_is_refused_where_the_header_says_that_more_lines_follow() {
    let patch = |body: &str| format!("--- f\n+++ f\n@@ -1,2 +1,3 @@\n-one\n{body}");
    // A long line was broken in two.
    refused(&patch("+const x = 'a long line\nwrapped here';\n two\n"), 6, "begins with a space");
    let next = "--- g\n+++ g\n@@ -1 +1 @@\n-a\n+b\n";
    refused(&patch(&format!("+1\ntwo\n{next}")), 6, "begins with a space");
    // Text after an empty line is not part of it, nor is text after a hunk that has more lines than stated.
    assert_eq!(parse(&patch("+1\n\nThat is all.\n")).len(), 1);
    assert_eq!(parse(&patch("+1\n two\n+2\n three\nThat is all.\n")).len(), 1);
}

// D-36
#[test]
fn a_diff_of_our_own_is_parsed() {
    use crate::text::Change;

    let change = Change {
        before: "a\u{2028}\nb\r\n--x",
        after: "a\u{2028}\nc\r\n",
        same_start: 0,
        same_end: 0,
    };
    assert_eq!(
        shown(&change.unified_diff("dir/é \"x", 1000).text),
        "1:[\"dir/é \\\"x\", \"a/dir/é \\\"x\", \"b/dir/é \\\"x\"] update [3@1,3,1 =a\u{2028} -b\r ---x\\ +c\r]"
    );
    let change = Change { before: "", after: "-- \n", same_start: 0, same_end: 0 };
    assert_eq!(
        shown(&change.unified_diff("x y", 1000).text),
        "1:[\"x y\", \"a/x y\", \"b/x y\"] update [3@0,0,1 +-- ]"
    );
}

#[test]
fn diff_with_n_shows_a_missing_file_by_the_beginning_of_1970() {
    let diff = |old: &str, new: &str, hunk: &str| {
        shown(&format!("--- a/x\t{old}\n+++ b/x\t{new}\n{hunk}"))
    };
    let (epoch, now) = ("1970-01-01 00:00:00.000000000 +0000", "2026-11-29 10:00:00.5 +0100");
    assert_eq!(diff(epoch, now, "@@ -0,0 +1 @@\n+b\n"), "1:[\"x\", \"b/x\"] add +b");
    assert_eq!(diff(now, epoch, "@@ -1 +0,0 @@\n-b\n"), "1:[\"x\", \"a/x\"] delete -b");
    for zone in ["1970-01-01 01:00:00 +0100", "1969-12-31 19:00:00.000 -0500"] {
        assert!(diff(zone, now, "@@ -0,0 +1 @@\n+b\n").contains("add"), "{zone}");
    }
    // A file of that age.
    assert!(diff(epoch, now, "@@ -1 +1 @@\n-a\n+b\n").contains("update"));
    assert!(diff(epoch, epoch, "@@ -0,0 +1 @@\n+b\n").contains("update"));
    assert!(diff("1970-01-01 01:00:00 +0000", now, "@@ -0,0 +1 @@\n+b\n").contains("update"));
}

#[test]
fn only_the_last_line_of_a_side_has_no_end() {
    let marker = "\\ No newline at end of file\n";
    let diff = |body: &str| format!("--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n{body}");
    for body in [
        format!(" a\n+b\n{marker} c\n"),
        format!("-a\n{marker}-b\n+c\n"),
        format!("+a\n{marker}+b\n"),
        format!(" a\n{marker}-b\n"),
    ] {
        let error = Patch::parse(&diff(&body)).unwrap_err();
        assert!(error.reason.contains("has no line end"), "{body}: {error}");
    }
    for body in [
        format!("-a\n{marker}+b\n{marker}"),
        format!("-a\n{marker}+b\n"),
        format!(" a\n{marker}+b\n"),
    ] {
        assert!(Patch::parse(&diff(&body)).is_ok(), "{body}");
    }
    // Also over the hunks of a new file.
    let created = format!("--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+1\n{marker}@@\n+2\n");
    assert_eq!(Patch::parse(&created).unwrap_err().line, 7);
}
