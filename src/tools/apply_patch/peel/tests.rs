use super::*;

#[track_caller]
fn found(text: &str) -> (Format, u64) {
    let (format, lines) = find_patch(text).unwrap_or_else(|error| panic!("{error} in {text:?}"));
    (format, number_of(lines.start))
}

#[track_caller]
fn refused(text: &str, line: u64, reason: &str) {
    let error = find_patch(text).expect_err(text);
    assert_eq!((error.line, error.reason.contains(reason)), (line, true), "{error}");
}

const V4A: (Format, u64) = (Format::V4a, 1);
const UNIFIED: (Format, u64) = (Format::Unified, 1);

#[test]
fn the_formats_have_names() {
    assert_eq!((Format::V4a.as_str(), Format::Unified.as_str()), ("v4a", "unified"));
}

#[test]
fn the_first_header_decides_the_format() {
    assert_eq!(found("*** Begin Patch\n--- a\n+++ b\n"), V4A);
    assert_eq!(found("--- a\n+++ b\n*** Begin Patch\n"), UNIFIED);
    assert_eq!(found("diff --git a/x b/x\n"), UNIFIED);
    assert_eq!(found("--- a\n--- b\n+++ c\n"), (Format::Unified, 2));
    assert_eq!(found("diff -u a b\n--- a\n+++ b\n"), (Format::Unified, 2));
}

// P-16, P-17
#[test]
fn blanks_and_stars_around_the_first_marker_are_peeled_off() {
    for line in
        [" *** Begin Patch", "*** Begin Patch\t ", "*** Begin Patch ***", "  *** Begin Patch *** "]
    {
        assert_eq!(found(line), V4A, "{line}");
    }
    refused("***Begin Patch", 1, "there is no patch");
}

#[test]
fn text_fences_and_here_documents_before_the_patch_are_passed_over() {
    assert_eq!(found("Here it is:\n\n```diff\n--- a\n+++ b\n"), (Format::Unified, 4));
    for line in ["<<'EOF'", "apply_patch <<'EOF'", "<<EOF", "<<\"EOF\"", "git apply <<-EOF -p1"] {
        assert_eq!(found(&format!("{line}\n*** Begin Patch\n")), (Format::V4a, 2), "{line}");
    }
}

#[test]
fn a_byte_order_mark_before_the_text_or_the_header_is_left_aside() {
    for text in
        ["\u{feff}*** Begin Patch", "\u{feff}```\n*** Begin Patch", "```\n\u{feff}*** Begin Patch"]
    {
        assert_eq!(found(text).0, Format::V4a, "{text:?}");
    }
    let (_, lines) = find_patch("\u{feff}--- a\n+++ b\n \u{feff}\n\u{feff}").unwrap();
    assert_eq!((lines.get(0), lines.get(2)), (Some("--- a"), Some(" \u{feff}")));
    assert_eq!(lines.get(3), Some("\u{feff}"));
}

// P-39, D-24
#[test]
fn one_carriage_return_of_each_line_goes_if_the_header_ends_in_one() {
    let lines = |text| {
        let (_, lines) = find_patch(text).unwrap();
        (0..lines.count()).filter_map(|index| lines.get(index)).collect::<Vec<_>>()
    };
    assert_eq!(lines("--- a\r\n+++ b\r\n a\r\r\n+b\n\r\n"), ["--- a", "+++ b", " a\r", "+b", ""]);
    assert_eq!(lines("--- a\n+++ b\r\n a\r\n\r"), ["--- a", "+++ b\r", " a\r", "\r"]);
}

#[test]
fn a_text_without_a_header_is_told_what_the_first_lines_are() {
    for text in ["", "\n", "Sure!\nI will.", "3c3\n< a\n---\n> b\n", "--- a\n\n+++ b\n", "+++ b\n"]
    {
        refused(text, 1, "the first line of a V4A patch is `*** Begin Patch`");
    }
}

// D-31
#[test]
fn what_is_no_patch_of_either_format_is_named() {
    refused("x\n*** a\n--- b\n***************\n*** 1,3 ****\n", 2, "context diffs");
    refused("*** a\t2024-01-01\n--- b\n", 1, "context diffs");
    refused("*** 1,3 ****\n", 1, "context diffs");
    refused("*** 7 ****\r\n", 1, "context diffs");
    refused("***************\n*** 1,3 ****\n", 1, "context diffs");
    refused("diff --cc a\n", 1, "combined diffs");
    refused("\ndiff --combined a\n--- a\n+++ b\n", 2, "combined diffs");
    refused("@@@ -1 -1 +1 @@@\n", 1, "combined diffs");
    refused("@@ -1 +1 @@\n-a\n+b\n--- a\n+++ b\n", 1, "belongs to no file");
    refused("@@ f\n+b\n", 1, "belongs to no file");
    refused("Binary files a and b differ\n", 1, "binary");
}

#[test]
fn a_section_of_v4a_without_its_first_marker_is_told_so() {
    for line in ["*** Update File: a", " *** Add File: a ***", "*** Delete File: a"] {
        refused(&format!("\n{line}\n*** Begin Patch\n"), 2, "stands outside of a V4A patch");
    }
}

#[test]
fn three_stars_in_prose_are_no_header() {
    assert_eq!(found("*** Note ***\n***\n* * *\n--- a\n+++ b\n"), (Format::Unified, 4));
}

fn wrapper<'text>(lines: &[&'text str]) -> Wrapper<'text> {
    let mut wrapper = Wrapper::default();
    for line in lines {
        wrapper.pass(line);
    }
    wrapper
}

#[test]
fn a_fence_is_closed_by_one_that_is_as_long_and_nothing_else() {
    let opened = wrapper(&["````diff"]);
    assert!(opened.closes("````") && opened.closes("````` "));
    for line in ["```", "````diff", "~~~~", " ````", "x"] {
        assert!(!opened.closes(line), "{line}");
    }
    assert!(wrapper(&["  ~~~"]).closes("~~~"));
    for lines in [&["```", "a", "```"][..], &["```a```"], &["``"], &[]] {
        assert!(!wrapper(lines).closes("```"), "{lines:?}");
    }
}

#[test]
fn a_here_document_is_closed_by_its_word() {
    for line in ["cat <<'EOF'", "<<EOF", "apply_patch <<\"EOF\" && ls", "<<- EOF", "<<\\EOF"] {
        let opened = wrapper(&[line]);
        assert!(opened.closes("EOF") && opened.closes("\tEOF\t"), "{line}");
        assert!(!opened.closes(" EOF") && !opened.closes("EOF2"), "{line}");
    }
    assert!(wrapper(&["```sh", "cat <<X"]).closes("X"));
    for lines in [&["<<EOF", "EOF"][..], &["<< "], &["a < b"], &[]] {
        assert!(!wrapper(lines).closes("EOF") && !wrapper(lines).closes(""), "{lines:?}");
    }
}
