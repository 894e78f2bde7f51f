#![allow(clippy::format_collect, clippy::format_push_string, reason = "tests need no speed")]

use proptest::prelude::*;

use super::*;
use crate::tools::apply_patch::file_lines::CarriageReturns;
use crate::tools::apply_patch::locate::locate;
use crate::tools::apply_patch::patch::{FileChange, Patch};

fn patched(file: &str, patch: &str) -> String {
    let lines = FileLines::of(file.as_bytes(), CarriageReturns::EndLines).unwrap();
    let patch = Patch::parse(patch).unwrap();
    let FileChange::Update { hunks, .. } = &patch.sections[0].change else { panic!("an update") };
    let placed = locate(&lines, hunks, &|| false).unwrap();
    String::from_utf8(assemble(&lines, hunks, &placed).bytes).unwrap()
}

fn v4a(file: &str, hunks: &str) -> String {
    patched(file, &format!("*** Begin Patch\n*** Update File: a\n{hunks}*** End Patch\n"))
}

fn unified(file: &str, hunks: &str) -> String {
    patched(file, &format!("--- a/a\n+++ b/a\n{hunks}"))
}

#[test]
fn added_lines_get_the_ends_of_the_removed_ones_and_further_ones_that_of_the_last() {
    let file = "a\r\nb\nc\r\n";
    assert_eq!(v4a(file, "@@\n-a\n-b\n+1\n+2\n+3\n"), "1\r\n2\n3\nc\r\n");
    assert_eq!(v4a(file, "@@\n-b\n-c\n+1\n"), "a\r\n1\n");
}

#[test]
fn lines_that_replace_none_get_the_end_of_the_line_before() {
    let file = "a\r\nb\nc\r\n";
    assert_eq!(v4a(file, "@@\n a\n+1\n"), "a\r\n1\r\nb\nc\r\n");
    assert_eq!(v4a(file, "@@\n b\n+1\n"), "a\r\nb\n1\nc\r\n");
    // Before the first line, its own end.
    assert_eq!(v4a(file, "@@\n+1\n a\n"), "1\r\na\r\nb\nc\r\n");
    assert_eq!(v4a("", "@@\n+1\n"), "1\n");
}

#[test]
fn context_keeps_the_bytes_of_the_file() {
    assert_eq!(v4a("“a”  \r\nb\n", "@@\n \"a\"\n-b\n+c\n"), "“a”  \r\nc\n");
}

#[test]
fn hunks_that_share_context_are_made_in_the_order_of_their_changes() {
    let file = "a\nL\nb\n";
    // The first hunk adds after the line, the second one before it.
    assert_eq!(v4a(file, "@@\n L\n+0\n@@\n+1\n L\n"), "a\n1\nL\n0\nb\n");
    assert_eq!(v4a(file, "@@\n+1\n L\n@@\n L\n+0\n"), "a\n1\nL\n0\nb\n");
    assert_eq!(v4a(file, "@@\n L\n b\n+0\n@@\n+1\n L\n b\n"), "a\n1\nL\nb\n0\n");
    let three = "@@ -2,1 +1,2 @@\n+0\n L\n@@ -1,0 +1,1 @@\n+1\n@@ -2,0 +1,1 @@\n+2\n";
    assert_eq!(unified(file, three), "a\n0\n1\nL\n2\nb\n");
    // Without context, out of order, as `git apply --unidiff-zero`.
    let file = "e\nb\nc\nd\n";
    assert_eq!(unified(file, "@@ -2 +2 @@\n-b\n+X\n@@ -1,0 +2 @@\n+Y\n"), "e\nY\nX\nc\nd\n");
    assert_eq!(unified(file, "@@ -3,2 +2,0 @@\n-c\n-d\n@@ -2,0 +3 @@\n+X\n"), "e\nb\nX\n");
}

#[test]
fn a_hunk_stands_at_its_stated_line_even_if_the_hunk_before_has_that_line_as_context() {
    let file = "A\nx\nB\nx\nC\nq\nB\nx\nD\n";
    let hunks = "@@ -1,3 +1,3 @@\n A\n-x\n+y\n B\n@@ -3,2 +3,2 @@\n B\n-x\n+z\n";
    assert_eq!(unified(file, hunks), "A\ny\nB\nz\nC\nq\nB\nx\nD\n");
}

#[test]
fn several_hunks_may_name_one_line_or_a_line_of_context() {
    let file = "class F\n x\n y\n z\n";
    assert_eq!(v4a(file, "@@ class F\n- x\n+ X\n@@ class F\n- y\n+ Y\n"), "class F\n X\n Y\n z\n");
    assert_eq!(v4a("a\nb\nc\nd\n", "@@\n a\n-b\n+B\n c\n@@ c\n-d\n+D\n"), "a\nB\nc\nD\n");
}

// P-29, D-12
#[test]
fn an_untouched_last_line_stays_without_an_end_and_an_added_one_gets_one() {
    assert_eq!(v4a("a\nb", "@@\n-a\n+x\n b\n"), "x\nb");
    assert_eq!(v4a("a\nb", "@@\n-b\n+x\n"), "a\nx\n");
    assert_eq!(v4a("a\r\nb", "@@\n-b\n+x\n+y\n"), "a\r\nx\r\ny\r\n");
    assert_eq!(v4a("a\r\nb", "@@\n b\n+x\n*** End of File\n"), "a\r\nb\r\nx\r\n");
    assert_eq!(v4a("a", "@@\n+x\n*** End of File\n"), "a\nx\n");
    assert_eq!(v4a("a\nb", "@@\n-b\n"), "a\n");
}

// D-11
#[test]
fn the_marker_of_a_missing_end_is_heeded_on_both_sides() {
    let marker = "\\ No newline at end of file\n";
    assert_eq!(unified("a\nb\n", &format!("@@ -2 +2 @@\n-b\n+c\n{marker}")), "a\nc");
    assert_eq!(unified("a\nb", &format!("@@ -2 +2 @@\n-b\n{marker}+c\n{marker}")), "a\nc");
    assert_eq!(unified("a\nb", &format!("@@ -2 +2 @@\n-b\n{marker}+c\n")), "a\nc\n");
    assert_eq!(unified("a\nb", &format!("@@ -1,2 +1,2 @@\n-a\n+c\n b\n{marker}")), "c\nb");
}

#[test]
fn a_cr_of_an_added_line_is_not_doubled() {
    assert_eq!(v4a("a\r\nb\r\n", "@@\n-a\n+x\r\n"), "x\r\nb\r\n");
    assert_eq!(v4a("a\nb\n", "@@\n-a\n+x\r\n"), "x\r\nb\n");
}

#[test]
fn a_byte_order_mark_stays() {
    assert_eq!(v4a("\u{FEFF}a\n", "@@\n-a\n+x\n"), "\u{FEFF}x\n");
}

#[test]
fn a_last_line_that_gets_an_end_is_printed_as_changed() {
    for (hunks, printed) in
        [("@@\n a\n+x\n", "-a|\n+a\n+x\n"), ("@@\n+x\n*** End of File\n", "-a|\n+a\n+x\n")]
    {
        let patch = format!("*** Begin Patch\n*** Update File: a\n{hunks}*** End Patch\n");
        let lines = FileLines::of(b"a", CarriageReturns::EndLines).unwrap();
        let patch = Patch::parse(&patch).unwrap();
        let FileChange::Update { hunks, .. } = &patch.sections[0].change else {
            panic!("an update")
        };
        let placed = locate(&lines, hunks, &|| false).unwrap();
        let assembled = assemble(&lines, hunks, &placed);
        assert_eq!((assembled.hunks[0].old_start, assembled.hunks[0].new_start), (0, 0));
        assert_eq!(shown(&assembled.hunks[0].lines), printed);
    }
}

fn shown(lines: &[PrintedLine]) -> String {
    let sign = |kind| match kind {
        LineKind::Context => ' ',
        LineKind::Removed => '-',
        LineKind::Added => '+',
    };
    let line = |line: &PrintedLine| {
        format!("{}{}{}\n", sign(line.kind), line.text, if line.has_no_end { "|" } else { "" })
    };
    lines.iter().map(line).collect()
}

proptest! {
    /// Hunks of a random edit, with their right numbers, make just that edit: in files of few different lines, with
    /// all contexts, in any form of line ends. The edit is the model.
    #[test]
    fn hunks_with_their_numbers_make_the_edit_that_they_come_from(
        old in prop::collection::vec((0..4_u8, any::<bool>()), 0..30),
        kept in prop::collection::vec((0..5_u8, 0..4_u8), 30),
        context in 0..4_usize,
        ends in 0..3_u8,
    ) {
        let end = |is_crlf: bool| match ends { 0 => "\n", 1 => "\r\n", _ if is_crlf => "\r\n", _ => "\n" };
        let old: Vec<(String, &str)> = old.iter().map(|&(line, is_crlf)| (line.to_string(), end(is_crlf))).collect();
        // 0: removed, 1: a line is added before, others: kept.
        let mut steps = Vec::new();
        for ((line, end), (action, added)) in old.iter().zip(&kept) {
            match action {
                0 => steps.push(('-', line.clone(), *end)),
                1 => {
                    steps.push(('+', format!("+{added}"), ""));
                    steps.push((' ', line.clone(), *end));
                }
                _ => steps.push((' ', line.clone(), *end)),
            }
        }
        prop_assume!(steps.iter().any(|step| step.0 != ' '));
        let file: String = old.iter().map(|(line, end)| format!("{line}{end}")).collect();
        let diff = print_with_context(&steps, context);
        let after = unified(&file, &diff);
        let plain = after.replace("\r\n", "\n");
        let model: String = steps.iter().filter(|step| step.0 != '-').map(|step| format!("{}\n", step.1)).collect();
        prop_assert_eq!(plain, model, "{}", diff);
        if ends < 2 {
            prop_assert!(ends == 1 || !after.contains('\r'));
            prop_assert!(ends == 0 || !after.replace("\r\n", "").contains('\n'));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2048))]

    /// Hunks in any order, with any context: wherever they are placed, each line that they add stands where its hunk puts
    /// it, and of the others just those are gone that a hunk removes.
    #[test]
    fn hunks_in_any_order_lose_no_line_and_double_none(
        count in 1..8_usize,
        hunks in prop::collection::vec(
            (0..8_usize, prop::collection::vec((0..3_u8, any::<bool>()), 0..4), any::<bool>()), 1..5,
        ),
    ) {
        let file: String = (0..count).map(|line| format!("L{line}\n")).collect();
        let mut added = 0;
        let mut add = || { added += 1; format!("+N{added}\n") };
        let mut diff = String::new();
        for (start, steps, adds_first) in &hunks {
            let start = *start % (count + 1);
            let steps = &steps[..steps.len().min(count - start)];
            let mut body = if *adds_first { add() } else { String::new() };
            for (line, (action, adds)) in (start..).zip(steps) {
                body += &format!("{}L{line}\n", if *action == 0 { '-' } else { ' ' });
                if *adds { body += &add(); }
            }
            if !body.contains(['+', '-']) { body += &add(); }
            diff += &format!("@@ -{},{} +1 @@\n{body}", start + usize::from(!steps.is_empty()), steps.len());
        }
        let text = format!("--- a/a\n+++ b/a\n{diff}");
        let patch = Patch::parse(&text).unwrap();
        let FileChange::Update { hunks, .. } = &patch.sections[0].change else { panic!("an update") };
        let lines = FileLines::of(file.as_bytes(), CarriageReturns::EndLines).unwrap();
        let Ok(placed) = locate(&lines, hunks, &|| false) else { return Ok(()) };

        let mut added = vec![Vec::new(); count + 1];
        let mut removed = vec![false; count];
        for (hunk, place) in hunks.iter().zip(&placed) {
            let mut at = place.start;
            for line in &hunk.lines {
                match line.kind {
                    LineKind::Added => added[at].push(line.text.to_owned()),
                    LineKind::Removed => { removed[at] = true; at += 1; }
                    LineKind::Context => at += 1,
                }
            }
        }
        let bytes = assemble(&lines, hunks, &placed).bytes;
        let mut made: Vec<_> = std::str::from_utf8(&bytes).unwrap().lines().map(str::to_owned).collect();
        let mut model = Vec::new();
        for (at, added) in added.iter_mut().enumerate() {
            // Of lines that several hunks add at one place, the order is not told here.
            let (from, until) = (model.len(), (model.len() + added.len()).min(made.len()));
            added.sort();
            if from < until { made[from..until].sort(); }
            model.append(added);
            if removed.get(at) == Some(&false) { model.push(format!("L{at}")); }
        }
        prop_assert_eq!(made, model, "{}", text);
    }
}

/// A unified diff of steps with so many lines of context.
fn print_with_context(steps: &[(char, String, &str)], context: usize) -> String {
    let changed: Vec<usize> = (0..steps.len()).filter(|&at| steps[at].0 != ' ').collect();
    let mut diff = String::new();
    let mut at = 0;
    while at < changed.len() {
        let mut last = at;
        while last + 1 < changed.len() && changed[last + 1] - changed[last] <= 2 * context + 1 {
            last += 1;
        }
        let (from, until) =
            (changed[at].saturating_sub(context), (changed[last] + context + 1).min(steps.len()));
        let count = |part: &[(char, String, &str)], without| {
            part.iter().filter(|step| step.0 != without).count()
        };
        let place = |without| {
            let (before, lines) =
                (count(&steps[..from], without), count(&steps[from..until], without));
            format!("{},{lines}", before + usize::from(lines > 0))
        };
        diff += &format!("@@ -{} +{} @@\n", place('+'), place('-'));
        for (sign, line, _) in &steps[from..until] {
            diff += &format!("{sign}{line}\n");
        }
        at = last + 1;
    }
    diff
}
