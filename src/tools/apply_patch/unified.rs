//! Unified diffs, as git and `diff -u` write them, and models.
//!
//! A section begins with `diff --git` or with a pair of `--- ` and `+++ `. Lines around the sections are passed
//! over, but for those that look like a part of a patch ([`Lines::refusal_at`]).

use self::hunk::AFTER_THE_END;
pub use self::hunk::behind_numbers;
use self::names::{Names, is_of_epoch, name, names_of_git_line, spellings};
use super::patch::{FileChange, Hunk, HunkLine, LineKind, PatchError, Section};
use super::peel::{BINARY, Format, Lines, Wrapper, is_blank, is_empty_line, number_of};

mod hunk;
mod names;
#[cfg(test)]
mod tests;

/// Parses a diff from its first header on.
///
/// # Errors
///
/// [`PatchError`].
pub fn parse(lines: Lines<'_>) -> Result<Vec<Section<'_>>, PatchError> {
    let mut parser = Parser { at: lines.start, wrapper: lines.wrapper, lines };
    let mut sections = Vec::new();
    while let Some(line) = parser.lines.get(parser.at) {
        match parser.lines.format_at(parser.at) {
            Some(Format::Unified) => sections.push(parser.section()?),
            Some(Format::V4a) => {
                return Err(
                    parser.error("a V4A patch begins after a unified diff: send one format")
                );
            }
            None => {
                if let Some(reason) = parser.lines.refusal_at(parser.at) {
                    return Err(parser.error(reason));
                }
                parser.wrapper.pass(line);
                parser.at += 1;
            }
        }
    }
    Ok(sections)
}

struct Parser<'text> {
    lines: Lines<'text>,
    /// The next line.
    at: usize,
    /// What is open around the patch.
    wrapper: Wrapper<'text>,
}

/// What the headers of a section say.
#[derive(Default)]
struct Headers {
    /// The line on which the section begins.
    start: usize,
    /// The names of its `diff --git` line, if they can be told apart.
    git_names: Option<(String, String)>,
    is_git: bool,
    /// The names of `--- ` and `+++ `; `None` is `/dev/null`.
    pair: Option<Names>,
    old_mode: Option<Mode>,
    new_mode: Option<Mode>,
    created: Option<Mode>,
    is_deleted: bool,
    rename_from: Option<String>,
    rename_to: Option<String>,
}

#[derive(Clone, Copy)]
struct Mode {
    is_executable: bool,
}

impl<'text> Parser<'text> {
    /// An error on the next line.
    fn error(&self, reason: impl Into<String>) -> PatchError {
        self.lines.error(self.at, reason)
    }

    fn section(&mut self) -> Result<Section<'text>, PatchError> {
        let mut headers = Headers { start: self.at, ..Headers::default() };
        if let Some(rest) = self.rest_behind("diff --git ") {
            headers.is_git = true;
            headers.git_names = names_of_git_line(rest);
            self.at += 1;
            while self.extended_header(&mut headers)? {
                self.at += 1;
            }
            self.skip_empty_lines(Lines::is_pair);
        }
        if self.lines.is_pair(self.at) {
            headers.pair = Some((self.side("--- ", 0)?, self.side("+++ ", 1)?));
            self.at += 2;
        } else if self.lines.begins(self.at, "--- ") || self.lines.begins(self.at, "+++ ") {
            return Err(self.error(HALF_PAIR));
        }
        let pair = self.at.saturating_sub(2);
        let hunks = self.hunks(headers.is_git)?;
        if !headers.is_git {
            headers
                .treat_epoch_as_missing([self.lines.get(pair), self.lines.get(pair + 1)], &hunks);
        }
        let (paths, change) = headers.change(hunks).map_err(|(line, reason)| {
            PatchError::new(line.unwrap_or(number_of(headers.start)), reason)
        })?;
        Ok(Section { line: number_of(headers.start), paths, change })
    }

    fn rest_behind(&self, head: &str) -> Option<&'text str> {
        self.lines.get(self.at)?.strip_prefix(head)
    }

    /// Passes over empty lines if something stands behind them.
    fn skip_empty_lines(&mut self, is_wanted: impl Fn(&Lines<'text>, usize) -> bool) {
        let mut next = self.at;
        while self.lines.get(next).is_some_and(is_empty_line) {
            next += 1;
        }
        if is_wanted(&self.lines, next) {
            self.at = next;
        }
    }

    /// One side of a pair, whose first line is the next one.
    fn side(&self, head: &str, offset: usize) -> Result<Option<String>, PatchError> {
        let index = self.at + offset;
        let rest = self.lines.get(index).and_then(|line| line.strip_prefix(head));
        let name = name(rest.unwrap_or_default()).map_err(|flaw| self.lines.error(index, flaw))?;
        Ok((name.trim_end_matches(is_blank) != "/dev/null").then_some(name))
    }

    /// Reads the next line if it belongs to the header of a `diff --git` section.
    fn extended_header(&self, headers: &mut Headers) -> Result<bool, PatchError> {
        let Some(line) = self.lines.get(self.at) else { return Ok(false) };
        let line = line.trim_end_matches('\r');
        if line.starts_with("copy from ") || line.starts_with("copy to ") {
            return Err(self.error(COPY));
        }
        if line.starts_with("Binary files ") || line.starts_with("GIT binary patch") {
            return Err(self.error(BINARY));
        }
        let rest = |head| line.strip_prefix(head);
        if let Some(mode) = rest("old mode ") {
            headers.old_mode = Some(self.mode(mode)?);
        } else if let Some(mode) = rest("new mode ") {
            headers.new_mode = Some(self.mode(mode)?);
        } else if let Some(mode) = rest("new file mode ") {
            headers.created = Some(self.mode(mode)?);
        } else if let Some(mode) = rest("deleted file mode ") {
            self.mode(mode)?;
            headers.is_deleted = true;
        } else if let Some(from) = rest("rename from ") {
            headers.rename_from = Some(name(from).map_err(|flaw| self.error(flaw))?);
        } else if let Some(to) = rest("rename to ") {
            headers.rename_to = Some(name(to).map_err(|flaw| self.error(flaw))?);
        } else if let Some(index) = rest("index ") {
            if let Some((_, mode)) = index.trim_end_matches(is_blank).split_once(' ') {
                self.mode(mode)?;
            }
        } else {
            return Ok(
                line.starts_with("similarity index ") || line.starts_with("dissimilarity index ")
            );
        }
        Ok(true)
    }

    fn mode(&self, digits: &str) -> Result<Mode, PatchError> {
        let mode = u32::from_str_radix(digits.trim_matches(is_blank), 8);
        match mode.as_ref().map(|mode| mode >> 12) {
            Ok(0o10 | 0) => Ok(Mode { is_executable: mode.is_ok_and(|mode| mode & 0o111 != 0) }),
            Ok(0o12) => Err(self.error(LINK)),
            Ok(0o16) => Err(self.error(SUBMODULE)),
            _ => Err(self.error(NO_MODE)),
        }
    }
}

/// Why the headers and hunks of a section do not fit, and the line if it is not the section's.
type HeaderError = (Option<u64>, &'static str);

const HALF_PAIR: &str =
    "`--- a/path` and `+++ b/path` stand on two lines, one directly after the other";
const COPY: &str = "copies (`copy from`, `copy to`) cannot be applied: send the new file as `--- /dev/null` and `+++ \
                    b/path`, with all of its lines";
const LINK: &str =
    "symbolic links (mode 120000) cannot be patched: leave this file out of the patch";
const SUBMODULE: &str =
    "submodules (mode 160000) cannot be patched: leave this one out of the patch";
const NO_MODE: &str =
    "this is no mode of a file: it is 100644, or 100755 if the file may be executed";
const NO_PATH: &str = "one of both sides must be a path, not `/dev/null`";
const UNCLEAR_NAMES: &str =
    "the path cannot be told from this line: put `--- a/path` and `+++ b/path` after it";
const CONTRADICTION: &str = "a file is either created, deleted or renamed: the lines of this header contradict each \
                             other";
const HALF_RENAME: &str =
    "a rename needs both lines, `rename from old/path` and `rename to new/path`";
const NO_HUNK: &str =
    "no hunk follows: after `+++ ` comes a line with `@@`, and after it the hunk's lines";
const EMPTY_SECTION: &str = "this section changes nothing: put hunks after it, each with its `@@` line, or leave it \
                             out";
const NOT_ADDED: &str = "each line of a new file (`--- /dev/null`) begins with +, an empty line is a lone +; to \
                         change a file that exists put its path after `--- `";
const NOT_REMOVED: &str = "each line of a file that is deleted (`+++ /dev/null`) begins with -, an empty line is a \
                           lone -; to change a file put its path after `+++ `";

impl Headers {
    /// `diff -N` shows a file that does not exist as one that was last changed at the beginning of 1970. A real file may
    /// have that time stamp, so the hunk must also start at line 0 on that side.
    fn treat_epoch_as_missing(&mut self, pair: [Option<&str>; 2], hunks: &[Hunk<'_>]) {
        let (Some((old, new)), [hunk]) = (&mut self.pair, hunks) else { return };
        let is_all = |kind| hunk.lines.iter().all(|line| line.kind == kind);
        let is_of_epoch = pair.map(|line| line.is_some_and(is_of_epoch));
        match (is_of_epoch, hunk.stated) {
            ([true, false], Some(stated)) if stated.old_start == 0 && is_all(LineKind::Added) => {
                *old = None;
            }
            ([false, true], Some(stated)) if stated.new_start == 0 && is_all(LineKind::Removed) => {
                *new = None;
            }
            _ => {}
        }
    }

    fn change<'text>(
        &self,
        hunks: Vec<Hunk<'text>>,
    ) -> Result<(Vec<String>, FileChange<'text>), HeaderError> {
        let (has_old, has_new) =
            self.pair.as_ref().map_or((true, true), |(old, new)| (old.is_some(), new.is_some()));
        if !has_old && !has_new {
            return Err((None, NO_PATH));
        }
        let (is_new, is_deleted) =
            (self.created.is_some() || !has_old, self.is_deleted || !has_new);
        let is_renamed = self.rename_from.is_some() || self.rename_to.is_some();
        if u8::from(is_new) + u8::from(is_deleted) + u8::from(is_renamed) > 1 {
            return Err((None, CONTRADICTION));
        }
        if is_renamed {
            return self.renamed(hunks);
        }
        let paths = self.paths()?;
        let has_hunks = !hunks.is_empty();
        if !has_hunks && !self.is_git {
            return Err((None, NO_HUNK));
        }
        let change = if is_new {
            let is_executable = self.created.is_some_and(|mode| mode.is_executable);
            FileChange::Add { lines: lines_of(hunks, LineKind::Added)?, is_executable }
        } else if is_deleted {
            FileChange::Delete { content: Some(lines_of(hunks, LineKind::Removed)?) }
        } else if has_hunks || self.old_mode.is_some() || self.new_mode.is_some() {
            FileChange::Update { hunks, to: None, executable: self.executable() }
        } else {
            return Err((None, EMPTY_SECTION));
        };
        Ok((paths, change))
    }

    fn renamed<'text>(
        &self,
        hunks: Vec<Hunk<'text>>,
    ) -> Result<(Vec<String>, FileChange<'text>), HeaderError> {
        let (Some(from), Some(to)) = (&self.rename_from, &self.rename_to) else {
            return Err((None, HALF_RENAME));
        };
        let change =
            FileChange::Update { hunks, to: Some(to.clone()), executable: self.executable() };
        Ok((vec![from.clone()], change))
    }

    fn executable(&self) -> Option<bool> {
        let new = self.new_mode?.is_executable;
        (self.old_mode.is_none_or(|old| old.is_executable != new)).then_some(new)
    }

    fn paths(&self) -> Result<Vec<String>, HeaderError> {
        let git_names = self.git_names.as_ref();
        let Some((old, new)) = &self.pair else {
            let (old, new) = git_names.ok_or((None, UNCLEAR_NAMES))?;
            return Ok(spellings(Some(old), Some(new)));
        };
        match (old, new) {
            // The prefix of the only name can be told for sure if the line `diff --git` has it twice.
            (Some(only), None) | (None, Some(only)) => Ok(match git_names {
                Some((a, b)) if [a, b].contains(&only) => {
                    let mut paths = spellings(Some(a), Some(b));
                    paths.retain(|path| path == only || ![a, b].contains(&path));
                    paths
                }
                _ => spellings(old.as_deref(), new.as_deref()),
            }),
            _ => Ok(spellings(old.as_deref(), new.as_deref())),
        }
    }
}

/// The lines of a file that is created or deleted as a whole.
fn lines_of(hunks: Vec<Hunk<'_>>, kind: LineKind) -> Result<Vec<HunkLine<'_>>, HeaderError> {
    let lines: Vec<_> = hunks.into_iter().flat_map(|hunk| hunk.lines).collect();
    let ends = lines.iter().position(|line| line.has_no_end).unwrap_or(lines.len());
    if let Some(line) = lines.get(ends + 1) {
        return Err((Some(line.line), AFTER_THE_END));
    }
    match lines.iter().find(|line| line.kind != kind) {
        None => Ok(lines),
        Some(other) if kind == LineKind::Added => Err((Some(other.line), NOT_ADDED)),
        Some(other) => Err((Some(other.line), NOT_REMOVED)),
    }
}
