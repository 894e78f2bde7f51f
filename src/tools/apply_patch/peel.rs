//! Finds the patch in a text: its format, and its lines from the first header on.
//!
//! What stands before is passed over: prose, the first lines of Markdown fences and here-documents, a byte order
//! mark. Lines keep the numbers that they have in the text.

use super::patch::PatchError;
use super::v4a::Marker;

#[cfg(test)]
mod tests;

/// The format of a patch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// `*** Begin Patch` … `*** End Patch`.
    V4a,
    /// What `diff -u` and `git diff` write.
    Unified,
}

impl Format {
    /// Its name in answers.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::V4a => "v4a",
            Self::Unified => "unified",
        }
    }
}

/// The lines of a text, without their line feeds.
#[derive(Debug)]
pub struct Lines<'text> {
    all: Vec<&'text str>,
    /// Where the patch begins: the index of its first header.
    pub start: usize,
    /// What is open around the patch there.
    pub wrapper: Wrapper<'text>,
}

/// Finds the first header of a patch.
///
/// # Errors
///
/// [`PatchError`] if there is none, or before it something that is no patch of either format.
pub fn find_patch(text: &str) -> Result<(Format, Lines<'_>), PatchError> {
    let mut lines = Lines::of(text);
    while let Some(line) = lines.without_mark(lines.start) {
        if let Some(format) = lines.format_at(lines.start) {
            if line.ends_with('\r') {
                lines.drop_carriage_returns();
            }
            return Ok((format, lines));
        }
        if let Some(reason) = lines.refusal_at(lines.start) {
            return Err(lines.error(lines.start, reason));
        }
        lines.wrapper.pass(line);
        lines.start += 1;
    }
    let is_escaped =
        ["*** Begin Patch\\n", "+++ ", "diff --git "].iter().any(|header| text.contains(header));
    if is_escaped && text.contains("\\n") {
        return Err(PatchError::new(
            1,
            "the patch has `\\n` where its lines end: send line ends as such, and not as a backslash and an n",
        ));
    }
    Err(PatchError::new(
        1,
        "there is no patch in this text: the first line of a V4A patch is `*** Begin Patch`, the first line of a \
         unified diff is `diff --git a/path b/path`, or `--- a/path` with `+++ b/path` on the next line (ed \
         scripts, search-and-replace blocks and diffs without these lines cannot be applied)",
    ))
}

impl<'text> Lines<'text> {
    fn of(text: &'text str) -> Self {
        let mut lines: Vec<_> = text.split('\n').collect();
        if lines.last().is_some_and(|last| last.is_empty()) {
            lines.pop();
        }
        Self { all: lines, start: 0, wrapper: Wrapper::default() }
    }

    /// A line, from which a byte order mark is taken off.
    fn without_mark(&mut self, index: usize) -> Option<&'text str> {
        let line = self.all.get_mut(index)?;
        *line = line.strip_prefix('\u{feff}').unwrap_or(line);
        Some(*line)
    }

    fn drop_carriage_returns(&mut self) {
        for line in &mut self.all[self.start..] {
            *line = line.strip_suffix('\r').unwrap_or(line);
        }
    }

    /// A line by its index, from 0.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<&'text str> {
        self.all.get(index).copied()
    }

    /// How many lines the text has.
    #[must_use]
    pub fn count(&self) -> usize {
        self.all.len()
    }

    /// Whether there is a line, and it begins so.
    #[must_use]
    pub fn begins(&self, index: usize, start: &str) -> bool {
        self.get(index).is_some_and(|line| line.starts_with(start))
    }

    /// An error on a line.
    pub fn error(&self, index: usize, reason: impl Into<String>) -> PatchError {
        PatchError::new(number_of(index), reason)
    }

    /// The first line from an index on that does not consist of blanks.
    #[must_use]
    pub fn next_filled(&self, from: usize) -> usize {
        let is_filled = |line: &&str| !is_blank_line(line);
        let rest = self.all.get(from..).unwrap_or_default();
        from + rest.iter().position(is_filled).unwrap_or(rest.len())
    }

    /// The format of which a line is a first header.
    #[must_use]
    pub fn format_at(&self, index: usize) -> Option<Format> {
        if self.is_unified_header(index) {
            return Some(Format::Unified);
        }
        let marker = Marker::of(self.get(index)?);
        (marker == Some(Marker::Begin)).then_some(Format::V4a)
    }

    /// Whether a file's section of a unified diff begins on a line.
    #[must_use]
    pub fn is_unified_header(&self, index: usize) -> bool {
        self.begins(index, "diff --git ") || self.is_pair(index)
    }

    /// Whether a line is `--- a` and the next one `+++ b`.
    #[must_use]
    pub fn is_pair(&self, index: usize) -> bool {
        self.begins(index, "--- ") && self.begins(index + 1, "+++ ")
    }

    /// Why a line outside of all sections, which is not a header, must not be passed over as prose.
    #[must_use]
    pub fn refusal_at(&self, index: usize) -> Option<&'static str> {
        let line = self.get(index)?.trim_end_matches(is_blank);
        if line.starts_with("diff --cc ") || line.starts_with("diff --combined ") {
            return Some(COMBINED);
        }
        if line.starts_with("Binary files ") && line.ends_with(" differ") {
            return Some(BINARY);
        }
        if let Some(rest) = line.strip_prefix("@@") {
            return Some(if rest.starts_with('@') { COMBINED } else { LONELY_HUNK });
        }
        if let Some(Marker::Add(_) | Marker::Delete(_) | Marker::Update(_)) = Marker::of(line) {
            return Some(OUTSIDE);
        }
        let is_header = line.starts_with("*** ") && self.begins(index + 1, "--- ");
        (is_header || is_context_range(line)).then_some(CONTEXT_DIFF)
    }
}

/// The number of a line, from 1, by its index.
#[must_use]
pub fn number_of(index: usize) -> u64 {
    index as u64 + 1
}

/// Why combined diffs are refused.
pub const COMBINED: &str = "combined diffs of merges (`diff --cc`, `@@@`) cannot be applied: send a unified diff \
                            against one version (`diff --git`, `@@`)";
/// Why binary diffs are refused.
pub const BINARY: &str =
    "binary files cannot be changed by a patch: leave this file out of the patch";
const LONELY_HUNK: &str = "this hunk belongs to no file: put `--- a/path` and `+++ b/path` before the first `@@` of \
                           each file, and no text between its hunks";
const OUTSIDE: &str = "this marker stands outside of a V4A patch: put one `*** Begin Patch` before the sections of \
                       all files and one `*** End Patch` after them";
const CONTEXT_DIFF: &str = "context diffs (`*** a`, `--- b`, `*** 1,3 ****`) cannot be applied: send a unified diff \
                            (`--- a/path`, `+++ b/path`, `@@`)";

/// Whether a line is `*** 1,3 ****`, or the line of asterisks before it.
fn is_context_range(line: &str) -> bool {
    let is_range = |character: char| character.is_ascii_digit() || character == ',';
    let inner = line.strip_prefix("*** ").and_then(|rest| rest.strip_suffix(" ****"));
    inner.is_some_and(|inner| !inner.is_empty() && inner.chars().all(is_range))
        || line.len() >= 15 && line.bytes().all(|byte| byte == b'*')
}

/// Whether a character is peeled off around markers.
#[must_use]
pub fn is_blank(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\r')
}

/// Whether a line consists of blanks, or of nothing.
#[must_use]
pub fn is_blank_line(line: &str) -> bool {
    line.trim_start_matches(is_blank).is_empty()
}

/// Whether a line is an empty context line of which an editor has stripped the blank, or a separator. A CR that
/// belongs to the texts stays in such a line.
#[must_use]
pub fn is_empty_line(line: &str) -> bool {
    matches!(line, "" | "\r")
}

/// What is open around a patch.
#[derive(Debug, Clone, Copy, Default)]
pub struct Wrapper<'text> {
    /// The characters that opened a Markdown fence.
    fence: Option<&'text str>,
    /// The word that ends a here-document.
    word: Option<&'text str>,
}

impl<'text> Wrapper<'text> {
    /// Passes over a line around the patch.
    pub fn pass(&mut self, line: &'text str) {
        let line = line.trim_matches(is_blank);
        if self.closes_fence(line) {
            self.fence = None;
        } else if self.is_word(line) {
            self.word = None;
        } else {
            self.fence = self.fence.or_else(|| opened_fence(line));
            self.word = word_of_here_document(line).or(self.word);
        }
    }

    /// Whether a line ends what is open.
    #[must_use]
    pub fn closes(&self, line: &str) -> bool {
        let line = line.trim_end_matches(is_blank);
        self.closes_fence(line) || self.is_word(line.trim_start_matches('\t'))
    }

    fn closes_fence(&self, line: &str) -> bool {
        self.fence.is_some_and(|fence| {
            opened_fence(line).is_some_and(|run| run == line && run.starts_with(fence))
        })
    }

    fn is_word(&self, line: &str) -> bool {
        self.word == Some(line)
    }
}

/// The three or more characters with which a line opens a Markdown fence.
fn opened_fence(line: &str) -> Option<&str> {
    let sign = line.chars().next().filter(|sign| matches!(sign, '`' | '~'))?;
    let rest = line.trim_start_matches(sign);
    let run = &line[..line.len() - rest.len()];
    // Behind backticks, another one makes a piece of code of them.
    (run.len() >= 3 && !(sign == '`' && rest.contains(sign))).then_some(run)
}

/// The word of `<<'EOF'`, `<<"EOF"`, `<<EOF` or `<<-EOF`.
fn word_of_here_document(line: &str) -> Option<&str> {
    let (_, rest) = line.split_once("<<")?;
    let rest = rest.strip_prefix('-').unwrap_or(rest).trim_start_matches(is_blank);
    let rest = rest.trim_start_matches(['\'', '"', '\\']);
    let is_of_word = |character: char| character.is_ascii_alphanumeric() || character == '_';
    let word = &rest[..rest.len() - rest.trim_start_matches(is_of_word).len()];
    (!word.is_empty()).then_some(word)
}
