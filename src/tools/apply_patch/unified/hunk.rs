//! The hunks of a unified diff. Where a hunk ends, its lines say; the counts of its header help only where these
//! leave it open.

use super::super::patch::{Hunk, HunkLine, LineKind, PatchError, Stated};
use super::super::peel::{COMBINED, is_blank, is_empty_line, number_of};
use super::super::v4a::{NO_CHANGE, NO_HUNK_LINE, split_sign};
use super::Parser;

/// The lines of a hunk, counted.
#[derive(Default)]
struct Tally {
    /// How many lines the header says, old and new.
    stated: Option<(u64, u64)>,
    old: u64,
    new: u64,
    /// How many of them are wholly empty and stand at the end.
    trailing: u64,
}

impl Tally {
    fn count(&mut self, kind: LineKind, is_empty: bool) {
        self.old += u64::from(kind != LineKind::Added);
        self.new += u64::from(kind != LineKind::Removed);
        self.trailing = if is_empty { self.trailing + 1 } else { 0 };
    }

    /// How many of the empty lines at the end belong to the hunk, so that its counts are right; `None` if they are
    /// not right with any number.
    fn fitting(&self) -> Option<u64> {
        let (old, new) = self.stated?;
        let kept = old.checked_sub(self.old - self.trailing)?;
        (kept <= self.trailing && new.checked_sub(self.new - self.trailing) == Some(kept))
            .then_some(kept)
    }

    /// Whether the header says that more lines follow, and no empty line stands between the hunk and the next line: this
    /// line has lost its sign, or the line before was broken in two.
    fn ends_in_the_middle(&self) -> bool {
        let is_short = |(old, new): (u64, u64)| old > self.old || new > self.new;
        self.trailing == 0 && self.stated.is_some_and(is_short)
    }

    /// Whether the counts are right with one more line on either side.
    fn lacks_one_each(&self) -> bool {
        self.stated == Some((self.old + 1, self.new + 1))
    }
}

impl<'text> Parser<'text> {
    /// The hunks of a section.
    pub fn hunks(&mut self, is_git: bool) -> Result<Vec<Hunk<'text>>, PatchError> {
        let mut hunks = Vec::new();
        self.skip_empty_lines(|lines, index| lines.begins(index, "@@"));
        while self.lines.begins(self.at, "@@") {
            hunks.push(self.hunk(is_git)?);
            if self.is_signature(self.at) {
                self.at += 2;
                break;
            }
        }
        Ok(hunks)
    }

    fn hunk(&mut self, is_git: bool) -> Result<Hunk<'text>, PatchError> {
        let rest = self.rest_behind("@@").unwrap_or_default();
        if rest.starts_with('@') {
            return Err(self.error(COMBINED));
        }
        let numbers = Numbers::of(rest).and_then(|(numbers, _)| numbers);
        let mut hunk = Hunk {
            line: number_of(self.at),
            narrowing: Vec::new(),
            stated: numbers.map(|numbers| numbers.stated),
            lines: Vec::new(),
            is_at_end: false,
        };
        self.at += 1;
        let counts = numbers.map(|numbers| (numbers.stated.old_count, numbers.new_count));
        self.body(&mut hunk, Tally { stated: counts, ..Tally::default() }, is_git)?;
        if hunk.lines.iter().all(|line| line.kind == LineKind::Context) {
            return Err(PatchError::new(hunk.line, NO_CHANGE));
        }
        check_ends(&hunk.lines)?;
        Ok(hunk)
    }

    fn body(
        &mut self,
        hunk: &mut Hunk<'text>,
        mut tally: Tally,
        is_git: bool,
    ) -> Result<(), PatchError> {
        while let Some(line) = self.lines.get(self.at) {
            if self.is_behind_hunk(is_git && tally.lacks_one_each()) {
                break;
            }
            if line.starts_with('\\') {
                let last = hunk.lines.last_mut().ok_or_else(|| {
                    self.error("a line that begins with a backslash says that the line before it has no line end: \
                                here is none before it")
                })?;
                last.has_no_end = true;
                tally.trailing = 0;
            } else if let Some((kind, text)) = split_sign(line) {
                let number = number_of(self.at);
                hunk.lines.push(HunkLine { line: number, kind, text, has_no_end: false });
                tally.count(kind, is_empty_line(line));
            } else if self.wrapper.closes(line)
                || tally.fitting().is_some() && (tally.trailing > 0 || !self.lines_follow(is_added))
                || !tally.ends_in_the_middle() && !self.lines_follow(has_sign)
            {
                break;
            } else {
                return Err(self.error(NO_HUNK_LINE));
            }
            self.at += 1;
        }
        // Lines were counted one by one, so these are not more than there are.
        let separators = tally.trailing - tally.fitting().unwrap_or_default();
        let separators = usize::try_from(separators).unwrap_or_default();
        hunk.lines.truncate(hunk.lines.len() - separators);
        Ok(())
    }

    /// Whether the next line stands behind the hunk, whatever the counts say; but a pair may be two of its lines.
    fn is_behind_hunk(&self, may_be_pair: bool) -> bool {
        let at = self.at;
        self.lines.begins(at, "@@")
            || self.lines.begins(at, "diff --git ")
            || !may_be_pair && self.lines.is_pair(at) && self.lines.begins(at + 2, "@@")
            || self.is_signature(at)
    }

    /// Whether such a line follows before the next header or the end of what is open.
    fn lines_follow(&self, is_such: fn(&str) -> bool) -> bool {
        let mut index = self.at;
        while let Some(line) = self.lines.get(index) {
            let is_end = self.lines.is_unified_header(index)
                || line.starts_with("@@")
                || self.is_signature(index)
                || self.wrapper.closes(line);
            if is_end {
                return false;
            }
            if is_such(line) {
                return true;
            }
            index += 1;
        }
        false
    }

    /// Whether `-- ` and git's version end a patch here, as in a mail.
    fn is_signature(&self, index: usize) -> bool {
        let dashes = self.lines.get(index).map(|line| line.trim_end_matches(is_blank));
        dashes == Some("--") && self.lines.get(index + 1).is_some_and(is_git_version)
    }
}

fn has_sign(line: &str) -> bool {
    line.starts_with(['+', '-', ' '])
}

/// Whether a line is an added one of a hunk, and not `+ item` of a list in the prose behind a patch.
fn is_added(line: &str) -> bool {
    let is_item = |text: &str| {
        text.strip_prefix(' ').is_some_and(|item| item.starts_with(char::is_alphanumeric))
    };
    line.strip_prefix('+').is_some_and(|text| !is_item(text))
}

/// Checks that a line without an end is the last one of its side. An added line may follow one of context, which has no
/// end in the old file alone.
fn check_ends(lines: &[HunkLine<'_>]) -> Result<(), PatchError> {
    let (mut is_after_old_end, mut is_after_new_end) = (false, false);
    for line in lines {
        let is_old = line.kind != LineKind::Added;
        let is_new = line.kind != LineKind::Removed;
        if is_old && is_after_old_end || is_new && is_after_new_end {
            return Err(PatchError::new(line.line, AFTER_THE_END));
        }
        is_after_old_end |= is_old && line.has_no_end;
        is_after_new_end |= line.kind == LineKind::Added && line.has_no_end;
    }
    Ok(())
}

/// Why a line is refused after the last one of the file.
pub const AFTER_THE_END: &str = "this line stands after one of which the patch says that it is the last of the file and has no \
                             line end (`\\ No newline at end of file`): leave that line out";

/// Whether a line is `2.39.2`, `2.40.0.windows.1` or the like.
fn is_git_version(line: &str) -> bool {
    let line = line.trim_end_matches(is_blank);
    let (version, rest) = line.split_once(' ').unwrap_or((line, ""));
    let mut parts = version.split('.');
    let is_number = |part: Option<&str>| {
        part.is_some_and(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let is_of_version =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'+');
    is_number(parts.next())
        && parts.next().is_some_and(|part| part.starts_with(|start: char| start.is_ascii_digit()))
        && version.bytes().all(is_of_version)
        && (rest.is_empty() || rest.starts_with('('))
}

/// The numbers of a hunk's header.
#[derive(Clone, Copy)]
struct Numbers {
    stated: Stated,
    new_count: u64,
}

impl Numbers {
    /// Reads `-1,3 +1,4 @@ text`: the numbers, if none is too large, and what stands behind them.
    fn of(rest: &str) -> Option<(Option<Self>, &str)> {
        let (old, rest) = range('-', rest)?;
        let (new, rest) = range('+', rest)?;
        let rest = rest.trim_start_matches(is_blank);
        let rest = if rest.is_empty() { rest } else { rest.strip_prefix("@@")? };
        let numbers = old.zip(new).map(|((old_start, old_count), (new_start, new_count))| Self {
            stated: Stated { old_start, old_count, new_start },
            new_count,
        });
        Some((numbers, rest))
    }
}

/// What stands behind the numbers of a hunk's header, of which the first `@@` is left out.
#[must_use]
pub fn behind_numbers(rest: &str) -> Option<&str> {
    Numbers::of(rest).map(|(_, rest)| rest)
}

/// Reads a start and a count with their sign; `None` in place of numbers that are too large.
fn range(sign: char, text: &str) -> Option<(Option<(u64, u64)>, &str)> {
    let rest = text.trim_start_matches(is_blank).strip_prefix(sign)?;
    let (start, rest) = digits(rest)?;
    let (count, rest) = match rest.strip_prefix(',') {
        Some(rest) => digits(rest)?,
        None => (Some(1), rest),
    };
    Some((start.zip(count), rest))
}

fn digits(text: &str) -> Option<(Option<u64>, &str)> {
    let rest = text.trim_start_matches(|character: char| character.is_ascii_digit());
    let digits = &text[..text.len() - rest.len()];
    // A file has fewer lines than 2³².
    (!digits.is_empty()).then(|| (digits.parse::<u32>().ok().map(u64::from), rest))
}
