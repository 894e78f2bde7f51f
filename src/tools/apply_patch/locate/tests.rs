#![allow(clippy::unnecessary_wraps, reason = "what is compared is a result")]

use super::*;
use crate::tools::apply_patch::file_lines::CarriageReturns;
use crate::tools::apply_patch::patch::{FileChange, Patch};

/// The lines, from 1, at which the hunks of a V4A patch stand, with their grades.
fn places(text: &str, hunks: &str) -> Result<Vec<(usize, Grade)>, (usize, Misfit)> {
    let patch = format!("*** Begin Patch\n*** Update File: a\n{hunks}*** End Patch\n");
    Ok(located(text, &patch)?.iter().map(|place| (place.start + 1, place.grade)).collect())
}

/// The lines, from 1, and the offsets of the hunks of a unified diff.
fn unified(text: &str, hunks: &str) -> Result<Vec<(usize, i64)>, (usize, Misfit)> {
    let patch = format!("--- a/a\n+++ b/a\n{hunks}");
    Ok(located(text, &patch)?.iter().map(|place| (place.start + 1, place.offset)).collect())
}

fn located(text: &str, patch: &str) -> Result<Vec<Placed>, (usize, Misfit)> {
    let file = FileLines::of(text.as_bytes(), CarriageReturns::EndLines).unwrap();
    let patch = Patch::parse(patch).unwrap();
    let FileChange::Update { hunks, .. } = &patch.sections[0].change else { panic!("an update") };
    locate(&file, hunks, &|| false)
}

fn exact(lines: &[usize]) -> Result<Vec<(usize, Grade)>, (usize, Misfit)> {
    Ok(lines.iter().map(|&line| (line, Grade::Exact)).collect())
}

fn ambiguous_at(hunk: usize, lines: &[u64]) -> (usize, Misfit) {
    (hunk, Misfit::Ambiguous { lines: lines.to_vec() })
}

// P-36
#[test]
fn an_exact_match_wins_over_a_trimmed_one_before_it() {
    assert_eq!(places("a \nb\na\n", "@@\n-a\n+x\n"), exact(&[3]));
    assert_eq!(places("a \nb\n", "@@\n-a\n+x\n"), Ok(vec![(1, Grade::TrailingWhitespace)]));
    assert_eq!(places("b\na\n", "@@\n-a  \n+x\n"), Ok(vec![(2, Grade::TrailingWhitespace)]));
}

// P-34
#[test]
fn typographic_characters_match_after_everything_else() {
    let found = places("say “hi” – now…\u{a0} \n", "@@\n-say \"hi\" - now...\n+x\n");
    assert_eq!(found, Ok(vec![(1, Grade::Lookalike)]));
    // Blanks count, other than at the end.
    assert!(places("say “hi”\n", "@@\n-say  \"hi\"\n+x\n").is_err());
}

// P-31
#[test]
fn the_order_of_hunks_decides_between_places_before_and_after() {
    let hunks = "@@\n-b\n+x\n@@\n-a\n+x\n";
    assert_eq!(places("a\nb\na\n", hunks), exact(&[2, 3]));
    assert_eq!(places("a\nb\na\nc\na\n", hunks), Err(ambiguous_at(1, &[3, 5])));
}

// P-32
#[test]
fn a_hunk_before_the_previous_one_is_found_if_that_is_its_only_place() {
    let hunks = "@@\n-c\n+x\n@@\n-a\n+x\n";
    assert_eq!(places("a\nb\nc\n", hunks), exact(&[3, 1]));
    assert_eq!(places("a\nb\na\nc\n", hunks), Err(ambiguous_at(1, &[1, 3])));
}

#[test]
fn hunks_that_change_each_others_lines_overlap() {
    for hunks in
        ["@@\n-a\n+x\n@@\n-a\n+y\n", "@@\n a\n-b\n+x\n@@\n-a\n+y\n", "@@\n-a\n+y\n@@\n a\n-b\n+x\n"]
    {
        assert_eq!(places("a\nb\n", hunks), Err((1, Misfit::Overlaps { other: 0 })), "{hunks}");
    }
}

#[test]
fn hunks_may_share_their_context() {
    assert_eq!(places("a\nb\nc\n", "@@\n-a\n+x\n b\n@@\n b\n-c\n+y\n"), exact(&[1, 2]));
}

// P-21
#[test]
fn equal_lines_of_several_at_lines_are_taken_one_after_the_other() {
    assert_eq!(places("A\nold\nA\nold\nA\nold\n", "@@ A\n@@ A\n-old\n+new\n"), exact(&[4]));
}

// P-22
#[test]
fn an_at_line_names_a_whole_line_exactly_or_else_trimmed() {
    assert_eq!(
        places("x\n    def f(self):\n  y\nx\n", "@@ def f(self):\n x\n-\n"),
        Err((0, Misfit::NotFound))
    );
    assert_eq!(places("x\n    def f(self):\n  y\n", "@@ def f(self):\n-  y\n"), exact(&[3]));
    assert_eq!(
        places("    def f(self):\n  y\n", "@@ def f\n-  y\n"),
        Err((0, Misfit::NoSuchLine { narrowing: 0 }))
    );
    assert_eq!(places(" A\nx\nA\nx\n", "@@ A\n-x\n"), exact(&[4]));
}

#[test]
fn a_hunk_that_follows_its_at_line_directly_is_there() {
    assert_eq!(places("A\nx\nB\nx\n", "@@ A\n-x\n"), exact(&[2]));
    assert_eq!(places("A\ny\nx\nB\nx\n", "@@ A\n-x\n"), Err(ambiguous_at(0, &[3, 5])));
}

#[test]
fn a_hunk_may_repeat_its_at_line() {
    assert_eq!(places("x\nA\nx\n", "@@ A\n A\n-x\n+y\n"), exact(&[2]));
}

#[test]
fn a_hunk_before_its_at_line_is_not_taken() {
    assert_eq!(places("x\nA\n", "@@ A\n-x\n"), Err((0, Misfit::BeforeNarrowing { line: 2 })));
}

// P-24, P-26
#[test]
fn added_lines_stand_after_their_at_line_or_at_the_end() {
    assert_eq!(places("a\nfn f\nb\n", "@@ fn f\n+x\n"), exact(&[3]));
    assert_eq!(places("a\nb\n", "@@\n+x\n*** End of File\n"), exact(&[3]));
    assert_eq!(places("", "@@\n+x\n"), exact(&[1]));
    assert_eq!(places("a\n", "@@\n+x\n"), Err(ambiguous_at(0, &[])));
    assert_eq!(places("A\nA\n", "@@ A\n+x\n"), Err(ambiguous_at(0, &[1, 2])));
    assert_eq!(places("c\nA\nd\nA\n", "@@ c\n@@ A\n+x\n"), exact(&[3]));
}

#[test]
fn a_hunk_at_the_end_of_the_file_is_found_only_there() {
    assert_eq!(places("a\nb\na\n", "@@\n-a\n+x\n*** End of File\n"), exact(&[3]));
    assert_eq!(places("a\nb\n", "@@\n-a\n+x\n*** End of File\n"), Err((0, Misfit::NotAtEnd)));
    assert_eq!(
        places("a\nb\na \n", "@@\n-a\n+x\n*** End of File\n"),
        Ok(vec![(3, Grade::TrailingWhitespace)])
    );
}

// D-04
#[test]
fn of_several_places_a_diff_takes_the_stated_one_and_no_near_one() {
    assert_eq!(unified("a\nb\na\n", "@@ -3 +3 @@\n-a\n+x\n"), Ok(vec![(3, 0)]));
    assert_eq!(unified("a\nb\na\n", "@@ -2 +2 @@\n-a\n+x\n"), Err(ambiguous_at(0, &[1, 3])));
    assert_eq!(unified("a\nb\nc\n", "@@ -7 +7 @@\n-b\n+x\n"), Ok(vec![(2, -5)]));
}

// D-06
#[test]
fn stated_lines_move_with_the_previous_hunk() {
    let hunks = "@@ -1 +1,2 @@\n-b\n+x\n+y\n@@ -3 +4 @@\n-a\n+z\n";
    assert_eq!(unified("b\na\na\n", hunks), Ok(vec![(1, 0), (3, 0)]));
    assert_eq!(unified("0\nb\na\na\n", hunks), Ok(vec![(2, 1), (4, 1)]));
}

#[test]
fn lines_that_a_diff_only_adds_stand_at_the_stated_line() {
    assert_eq!(unified("a\nb\n", "@@ -1,0 +2 @@\n+x\n"), Ok(vec![(2, 0)]));
    assert_eq!(unified("a\nb\n", "@@ -0,0 +1 @@\n+x\n"), Ok(vec![(1, 0)]));
    assert_eq!(unified("a\nb\n", "@@ -2,0 +3 @@\n+x\n"), Ok(vec![(3, 0)]));
    assert_eq!(unified("a\nb\n", "@@ -3,0 +4 @@\n+x\n"), Err((0, Misfit::BeyondFile { lines: 2 })));
    assert_eq!(unified("a\nb\n", "@@ @@\n+x\n"), Err(ambiguous_at(0, &[])));
    let out_of_order = "@@ -2,0 +4 @@\n+z\n@@ -1,0 +2 @@\n+y\n";
    assert_eq!(unified("a\nb\n", out_of_order), Ok(vec![(3, 0), (2, 0)]));
    // Counts that the body belies.
    assert_eq!(unified("a\nb\n", "@@ -1,4 +2,7 @@\n+x\n"), Ok(vec![(2, 0)]));
}

// D-11
#[test]
fn a_missing_last_line_end_of_which_the_file_has_one_does_not_match() {
    let marker = "\\ No newline at end of file\n";
    assert_eq!(unified("a", &format!("@@ -1 +1 @@\n-a\n{marker}+b\n")), Ok(vec![(1, 0)]));
    let belied = unified("a\n", &format!("@@ -1 +1 @@\n-a\n{marker}+b\n"));
    assert_eq!(belied, Err((0, Misfit::NotAtEnd)));
    let in_the_middle = unified("a\nb\n", &format!("@@ -1 +1 @@\n-a\n+c\n{marker}"));
    assert_eq!(in_the_middle, Err((0, Misfit::NotAtEnd)));
    // D-12
    assert_eq!(unified("a", "@@ -1 +1 @@\n-a\n+b\n"), Ok(vec![(1, 0)]));
}
