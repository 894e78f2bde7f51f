//! Unified diffs, as people read them and as `patch` and `git apply` take them.

use std::fmt::Write;
use std::ops::Range;

use imara_diff::{Algorithm, Diff, Hunk, InternedInput};

use super::lines::lines_ended;

/// How many lines around a change are shown.
const CONTEXT: u32 = 3;

/// A unified diff.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnifiedDiff {
    /// The diff; empty if nothing differs.
    pub text: String,
    /// Whether its end was cut off.
    pub is_truncated: bool,
}

/// A text before and after a change.
#[derive(Debug, Clone, Copy)]
pub struct Change<'text> {
    /// The text before.
    pub before: &'text str,
    /// The text after.
    pub after: &'text str,
    /// How many bytes at the beginning of both are the same, as far as the caller knows.
    pub same_start: usize,
    /// How many bytes at the end of both are the same. These and the ones at the beginning do not overlap.
    pub same_end: usize,
}

impl Change<'_> {
    /// The change as a unified diff of lines, at most `max_units` UTF-16 units of it, cut at the end of a
    /// line. `path` stands in the header, as `a/path` and `b/path`.
    #[must_use]
    pub fn unified_diff(&self, path: &str, max_units: usize) -> UnifiedDiff {
        // Among lines that are alike, a hunk may slide to the edge of the part that is compared. Then more
        // lines are needed for the context around it.
        let mut context = CONTEXT;
        let (start, input, hunks) = loop {
            let start = self.start_of_context(context);
            let (before, after) = self.parts_with_context(start, context);
            let cut = self.before.len() - start - before.len();
            let input = InternedInput::new(before, after);
            let mut diff = Diff::compute(Algorithm::Histogram, &input);
            diff.postprocess_lines(&input);
            let hunks: Vec<_> = diff.hunks().collect();
            let lines = u32::try_from(input.before.len()).unwrap_or(u32::MAX);
            let has_head = start == 0 || hunks.first().is_none_or(|it| it.before.start >= CONTEXT);
            let has_tail =
                cut == 0 || hunks.last().is_none_or(|it| lines - it.before.end >= CONTEXT);
            if has_head && has_tail {
                break (start, input, hunks);
            }
            context = context.saturating_mul(8);
        };
        let first_line = u32::try_from(lines_ended(&self.before.as_bytes()[..start]));
        let mut writer = DiffWriter::with_limit(max_units);
        if !hunks.is_empty() {
            writer.header(path);
        }
        let printer = Printer { input: &input, first_line: first_line.unwrap_or(u32::MAX) };
        for group in groups_of(&hunks) {
            printer.print(group, &mut writer);
        }
        writer.finish()
    }

    /// Where the lines of context before the change begin, the same in both texts.
    fn start_of_context(&self, context: u32) -> usize {
        let same = &self.before.as_bytes()[..self.same_start];
        let mut ends = memchr::memrchr_iter(b'\n', same);
        ends.nth(context as usize).map_or(0, |line_feed| line_feed + 1)
    }

    /// Both texts from there to the end of the lines of context after the change.
    fn parts_with_context(&self, start: usize, context: u32) -> (&str, &str) {
        let same = &self.before.as_bytes()[self.before.len() - self.same_end..];
        let mut ends = memchr::memchr_iter(b'\n', same);
        let kept = ends.nth(context as usize).map_or(same.len(), |line_feed| line_feed + 1);
        let cut = same.len() - kept;
        (&self.before[start..self.before.len() - cut], &self.after[start..self.after.len() - cut])
    }
}

/// Hunks that are so near to each other that they are shown as one.
fn groups_of(hunks: &[Hunk]) -> impl Iterator<Item = &[Hunk]> {
    hunks.chunk_by(|one, next| next.before.start - one.before.end <= 2 * CONTEXT)
}

struct Printer<'input, 'text> {
    input: &'input InternedInput<&'text str>,
    /// How many lines precede those of the input.
    first_line: u32,
}

impl Printer<'_, '_> {
    fn print(&self, group: &[Hunk], writer: &mut DiffWriter) {
        let [first, .., last] = group else {
            let [only] = group else { return };
            return self.print_between(group, only, only, writer);
        };
        self.print_between(group, first, last, writer);
    }

    fn print_between(&self, group: &[Hunk], first: &Hunk, last: &Hunk, writer: &mut DiffWriter) {
        let lead = first.before.start.min(CONTEXT);
        let all = u32::try_from(self.input.before.len()).unwrap_or(u32::MAX);
        let trail = (all - last.before.end).min(CONTEXT);
        let before = first.before.start - lead..last.before.end + trail;
        let after = first.after.start - lead..last.after.end + trail;
        writer.hunk_header(self.place(&before), self.place(&after));
        let mut at = before.start;
        for hunk in group {
            self.lines(' ', true, at..hunk.before.start, writer);
            self.lines('-', true, hunk.before.clone(), writer);
            self.lines('+', false, hunk.after.clone(), writer);
            at = hunk.before.end;
        }
        self.lines(' ', true, at..before.end, writer);
    }

    /// How many lines precede some, and how many those are.
    fn place(&self, lines: &Range<u32>) -> (usize, usize) {
        ((self.first_line + lines.start) as usize, lines.len())
    }

    fn lines(&self, sign: char, is_before: bool, lines: Range<u32>, writer: &mut DiffWriter) {
        let tokens = if is_before { &self.input.before } else { &self.input.after };
        for &token in &tokens[lines.start as usize..lines.end as usize] {
            let line = self.input.interner[token];
            let text = line.strip_suffix('\n');
            writer.hunk_line(sign, text.unwrap_or(line), text.is_none());
        }
    }
}

/// Writes a diff line by line, as long as there is room.
#[derive(Debug)]
pub struct DiffWriter {
    text: String,
    units_left: usize,
    is_truncated: bool,
}

impl DiffWriter {
    /// A writer of at most so many UTF-16 units.
    #[must_use]
    pub fn with_limit(max_units: usize) -> Self {
        Self { text: String::new(), units_left: max_units, is_truncated: false }
    }

    /// The diff, cut at the end of a line.
    #[must_use]
    pub fn finish(self) -> UnifiedDiff {
        UnifiedDiff { text: self.text, is_truncated: self.is_truncated }
    }

    fn header(&mut self, path: &str) {
        for (sign, side) in [("---", 'a'), ("+++", 'b')] {
            self.line(&format!("{sign} {}\n", quoted_path(&format!("{side}/{path}"))));
        }
    }

    /// Writes the header of a hunk. For the old and the new side it takes how many lines precede the hunk, and how many
    /// it has.
    pub fn hunk_header(&mut self, old: (usize, usize), new: (usize, usize)) {
        // Of no lines, a header names the line before.
        let place = |(before, count): (usize, usize)| {
            let first = before + usize::from(count > 0);
            if count == 1 { first.to_string() } else { format!("{first},{count}") }
        };
        self.line(&format!("@@ -{} +{} @@\n", place(old), place(new)));
    }

    /// Writes a line of a hunk.
    pub fn hunk_line(&mut self, sign: char, text: &str, has_no_end: bool) {
        let end = if has_no_end { "\n\\ No newline at end of file\n" } else { "\n" };
        self.line(&format!("{sign}{text}{end}"));
    }

    /// Writes a line whole, or nothing more.
    pub fn line(&mut self, line: &str) {
        let units =
            if line.len() <= self.units_left { line.len() } else { line.encode_utf16().count() };
        if self.is_truncated || units > self.units_left {
            self.is_truncated = true;
            return;
        }
        self.units_left -= units;
        self.text.push_str(line);
    }
}

/// A path as git writes it in a header: like a string of C if it holds quotes, backslashes or control
/// characters; with a tab behind it if it holds a space, so that `patch` finds its end.
#[must_use]
pub fn quoted_path(path: &str) -> String {
    let needs_quotes = |character: char| character.is_ascii_control() || "\"\\".contains(character);
    if !path.contains(needs_quotes) {
        return if path.contains(' ') { format!("{path}\t") } else { path.to_owned() };
    }
    let mut quoted = "\"".to_owned();
    for character in path.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            '\t' => quoted.push_str("\\t"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            control if control.is_ascii_control() => {
                // Writing to a String cannot fail.
                let _ = write!(quoted, "\\{:03o}", u32::from(control));
            }
            other => quoted.push(other),
        }
    }
    quoted + "\""
}

#[cfg(test)]
mod tests {
    use super::*;

    fn diff(before: &str, after: &str) -> UnifiedDiff {
        Change { before, after, same_start: 0, same_end: 0 }.unified_diff("dir/a.txt", 20_000)
    }

    #[test]
    fn a_change_has_three_lines_of_context() {
        let before = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
        let text = diff(before, &before.replace('5', "five")).text;
        let expected = "--- a/dir/a.txt\n+++ b/dir/a.txt\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn what_the_caller_knows_to_be_the_same_changes_nothing() {
        let before = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
        let after = before.replace('5', "five");
        for same_start in 0..=8 {
            for same_end in 0..=9 {
                let change = Change { before, after: &after, same_start, same_end };
                assert_eq!(change.unified_diff("dir/a.txt", 20_000), diff(before, &after));
            }
        }
    }

    #[test]
    fn a_change_among_lines_that_are_alike_has_its_context() {
        let before = format!("a\n{}b\n", "x\n".repeat(10));
        let after = before.replacen("a\n", "a\nx\n", 1);
        let change = Change { before: &before, after: &after, same_start: 2, same_end: 22 };
        assert_eq!(change.unified_diff("dir/a.txt", 20_000), diff(&before, &after));
        assert!(diff(&before, &after).text.ends_with("+x\n b\n"));
    }

    #[test]
    fn a_last_line_without_an_end_is_marked() {
        let text = diff("a", "a\n").text;
        assert!(text.ends_with("@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n"), "{text}");
        assert!(diff("", "a\n").text.ends_with("@@ -0,0 +1 @@\n+a\n"));
        assert!(diff("a\n", "").text.ends_with("@@ -1 +0,0 @@\n-a\n"));
        assert_eq!(diff("a", "a").text, "");
    }

    #[test]
    fn a_long_diff_is_cut_at_the_end_of_a_line() {
        let change = Change { before: "", after: "ab\n😀\n", same_start: 0, same_end: 0 };
        let whole = change.unified_diff("a", 1000).text;
        let units = whole.encode_utf16().count();
        assert_eq!(
            change.unified_diff("a", units),
            UnifiedDiff { text: whole, is_truncated: false }
        );
        let cut = change.unified_diff("a", units - 1);
        assert!(cut.is_truncated && cut.text.ends_with("+ab\n"));
    }

    #[test]
    fn a_path_with_odd_characters_is_quoted() {
        assert_eq!(quoted_path("a/b c"), "a/b c\t");
        assert_eq!(quoted_path("a/é\"\\\t\u{1}"), "\"a/é\\\"\\\\\\t\\001\"");
    }
}
