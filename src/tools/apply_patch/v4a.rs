//! V4A patches: `*** Begin Patch`, sections of files, `*** End Patch`.
//!
//! A line of a hunk that begins with a space and would be a marker without it is a line of the file, or a marker
//! that is indented. What follows it decides ([`Parser::is_meant`]).

use super::patch::{FileChange, Hunk, HunkLine, LineKind, Narrowing, PatchError, Section};
use super::peel::{Lines, is_blank, is_blank_line, is_empty_line, number_of};
use super::unified::behind_numbers;

#[cfg(test)]
mod tests;

/// A line that is no content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Marker<'text> {
    /// `*** Begin Patch`
    Begin,
    /// `*** End Patch`
    End,
    /// `*** Add File: path`
    Add(&'text str),
    /// `*** Delete File: path`
    Delete(&'text str),
    /// `*** Update File: path`
    Update(&'text str),
    /// `*** Move to: path`
    Move(&'text str),
    /// `*** End of File`
    EndOfFile,
}

impl<'text> Marker<'text> {
    /// The marker that a line is, but for blanks around it and a final ` ***`.
    #[must_use]
    pub fn of(line: &'text str) -> Option<Self> {
        let line = line.trim_start_matches(is_blank);
        if !line.starts_with("*** ") {
            return None;
        }
        let line = line.trim_end_matches(is_blank);
        let line = line.strip_suffix(" ***").unwrap_or(line).trim_end_matches(is_blank);
        let path = |head| line.strip_prefix(head).map(|path| path.trim_start_matches(is_blank));
        match line {
            "*** Begin Patch" => Some(Self::Begin),
            "*** End Patch" => Some(Self::End),
            "*** End of File" => Some(Self::EndOfFile),
            _ => None
                .or_else(|| path("*** Add File:").map(Self::Add))
                .or_else(|| path("*** Delete File:").map(Self::Delete))
                .or_else(|| path("*** Update File:").map(Self::Update))
                .or_else(|| path("*** Move to:").map(Self::Move)),
        }
    }
}

/// Parses a patch from its `*** Begin Patch` on.
///
/// # Errors
///
/// [`PatchError`].
pub fn parse(lines: Lines<'_>) -> Result<Vec<Section<'_>>, PatchError> {
    let first = lines.start + 1;
    let is_end = |index: &usize| lines.get(*index).and_then(Marker::of) == Some(Marker::End);
    let Some(last_end) = (first..lines.count()).rev().find(is_end) else {
        return Err(cut_off(&lines));
    };
    Parser { lines, at: first, last_end }.sections()
}

fn cut_off(lines: &Lines<'_>) -> PatchError {
    let reason = "the patch seems cut off, and nothing of it was applied: its last line must be `*** End Patch`";
    lines.error(lines.count().saturating_sub(1), reason)
}

struct Parser<'text> {
    lines: Lines<'text>,
    /// The next line.
    at: usize,
    /// The last line that is `*** End Patch`.
    last_end: usize,
}

impl<'text> Parser<'text> {
    fn sections(mut self) -> Result<Vec<Section<'text>>, PatchError> {
        let mut sections = Vec::new();
        loop {
            let start = self.lines.next_filled(self.at);
            let Some(line) = self.lines.get(start) else { return Err(cut_off(&self.lines)) };
            self.at = start + 1;
            let marker = Marker::of(line);
            let path = match marker {
                Some(Marker::End) => break,
                Some(Marker::Add(path) | Marker::Delete(path) | Marker::Update(path)) => path,
                other => return Err(self.lines.error(start, no_section(other, sections.last()))),
            };
            let paths = vec![self.path(start, path)?];
            let change = match marker {
                Some(Marker::Add(_)) => self.add()?,
                Some(Marker::Update(_)) => self.update(start)?,
                _ => FileChange::Delete { content: None },
            };
            sections.push(Section { line: number_of(start), paths, change });
        }
        self.check_rest()?;
        if sections.is_empty() {
            let reason = "the patch has no file sections: put `*** Update File: path`, `*** Add File: path` or \
                          `*** Delete File: path` between `*** Begin Patch` and `*** End Patch`";
            return Err(self.lines.error(self.at - 1, reason));
        }
        Ok(sections)
    }

    /// What stands after the patch is not looked at, but must not be a patch.
    fn check_rest(&self) -> Result<(), PatchError> {
        let is_patch =
            |&at: &usize| self.lines.format_at(at).is_some() || self.lines.refusal_at(at).is_some();
        match (self.at..self.lines.count()).find(is_patch) {
            None => Ok(()),
            Some(index) => Err(self.lines.error(
                index,
                "another patch begins after `*** End Patch`: put the sections of all files between one `*** Begin \
                 Patch` and one `*** End Patch`",
            )),
        }
    }

    fn path(&self, index: usize, path: &str) -> Result<String, PatchError> {
        if path.is_empty() {
            return Err(self.lines.error(index, "the path is missing after the colon"));
        }
        Ok(path.to_owned())
    }

    fn add(&mut self) -> Result<FileChange<'text>, PatchError> {
        let mut lines = Vec::new();
        let mut gap = None;
        while let Some(line) = self.lines.get(self.at) {
            if let Some(text) = line.strip_prefix('+') {
                if let Some(gap) = gap {
                    return Err(self.lines.error(gap, NEW_LINES));
                }
                lines.push(self.hunk_line(LineKind::Added, text));
            } else if is_blank_line(line) {
                gap = gap.or(Some(self.at));
            } else if Marker::of(line).is_some() {
                break;
            } else {
                return Err(self.lines.error(self.at, NEW_LINES));
            }
            self.at += 1;
        }
        Ok(FileChange::Add { lines, is_executable: false })
    }

    fn update(&mut self, start: usize) -> Result<FileChange<'text>, PatchError> {
        let to = self.move_target()?;
        let mut hunks = Vec::new();
        while let Some(hunk) = self.hunk(hunks.is_empty())? {
            hunks.push(hunk);
        }
        if hunks.is_empty() && to.is_none() {
            let reason = "this section changes nothing: put hunks after `*** Update File:`, or `*** Move to: path`";
            return Err(self.lines.error(start, reason));
        }
        Ok(FileChange::Update { hunks, to, executable: None })
    }

    fn move_target(&mut self) -> Result<Option<String>, PatchError> {
        let index = self.lines.next_filled(self.at);
        let Some(Marker::Move(path)) = self.lines.get(index).and_then(Marker::of) else {
            return Ok(None);
        };
        self.at = index + 1;
        self.path(index, path).map(Some)
    }

    /// The next hunk of a section, if there is one.
    fn hunk(&mut self, is_first: bool) -> Result<Option<Hunk<'text>>, PatchError> {
        let mut hunk = Hunk {
            line: 0,
            narrowing: Vec::new(),
            stated: None,
            lines: Vec::new(),
            is_at_end: false,
        };
        if is_first {
            self.body(&mut hunk)?;
        } else {
            self.at = self.lines.next_filled(self.at);
        }
        let headers = self.at;
        while hunk.lines.is_empty() && !hunk.is_at_end && self.lines.begins(self.at, "@@") {
            self.header(&mut hunk);
            self.body(&mut hunk)?;
        }
        let is_headed = self.at > headers;
        if !is_headed && hunk.lines.is_empty() && !hunk.is_at_end {
            return self.no_hunk();
        }
        let first = hunk.lines.first().map(|line| line.line);
        let headers = number_of(headers);
        hunk.line = if is_headed { headers } else { first.unwrap_or(headers) };
        if hunk.lines.iter().all(|line| line.kind == LineKind::Context) {
            return Err(PatchError::new(hunk.line, NO_CHANGE));
        }
        Ok(Some(hunk))
    }

    /// At a line that begins no hunk: the section ends with a marker only.
    fn no_hunk(&self) -> Result<Option<Hunk<'text>>, PatchError> {
        match self.lines.get(self.at) {
            Some(line) if Marker::of(line).is_none() => {
                let reason = "the hunk ended with `*** End of File`: begin the next one with `@@`, and the next \
                              file's section with its `***` line";
                Err(self.lines.error(self.at, reason))
            }
            _ => Ok(None),
        }
    }

    fn header(&mut self, hunk: &mut Hunk<'text>) {
        let rest = self.lines.get(self.at).and_then(|line| line.strip_prefix("@@"));
        let rest = rest.unwrap_or_default();
        let text = behind_numbers(rest).unwrap_or(rest);
        let text = text.strip_prefix(' ').unwrap_or(text);
        if !matches!(text.trim_matches(is_blank), "" | "@@") {
            hunk.narrowing.push(Narrowing { line: number_of(self.at), text });
        }
        self.at += 1;
    }

    /// The lines of a hunk, up to the next `@@` or marker.
    fn body(&mut self, hunk: &mut Hunk<'text>) -> Result<(), PatchError> {
        let mut kept = 0;
        while let Some(line) = self.lines.get(self.at) {
            if line.starts_with("@@") {
                break;
            }
            if let Some(marker) = Marker::of(line).filter(|marker| self.is_meant(line, *marker)) {
                hunk.is_at_end = marker == Marker::EndOfFile;
                self.at += usize::from(hunk.is_at_end);
                break;
            }
            let Some((kind, text)) = split_sign(line) else {
                return Err(self.lines.error(self.at, no_hunk_line(line)));
            };
            hunk.lines.push(self.hunk_line(kind, text));
            if !is_empty_line(line) {
                kept = hunk.lines.len();
            }
            self.at += 1;
        }
        // Empty lines at the end separate.
        hunk.lines.truncate(kept);
        Ok(())
    }

    /// Whether the next line, which is a marker but for blanks around it, is meant as one.
    fn is_meant(&self, line: &str, marker: Marker<'_>) -> bool {
        if !line.starts_with(' ') {
            return true;
        }
        let next = self.lines.get(self.lines.next_filled(self.at + 1)).unwrap_or_default();
        let is_header = next.starts_with("@@");
        let is_starred = next.trim_start_matches(is_blank).starts_with("***");
        match marker {
            Marker::End => self.at == self.last_end,
            Marker::Add(_) => is_header || is_starred || next.starts_with('+'),
            Marker::Delete(_) | Marker::Update(_) => is_header || is_starred,
            Marker::EndOfFile => is_header || Marker::of(next).is_some(),
            Marker::Begin | Marker::Move(_) => false,
        }
    }

    fn hunk_line(&self, kind: LineKind, text: &'text str) -> HunkLine<'text> {
        HunkLine { line: number_of(self.at), kind, text, has_no_end: false }
    }
}

/// Why a hunk without added or removed lines is refused.
pub const NO_CHANGE: &str = "this hunk changes nothing: none of its lines begins with + (added) or - (removed), which must be the first \
     character of a line";

const NEW_LINES: &str = "each line of a file of `*** Add File:` begins with +, an empty line is a lone +; to change \
                         a file that exists use `*** Update File:`";

/// The kind and the text of a line of a hunk. A wholly empty one is an empty context line.
#[must_use]
pub fn split_sign(line: &str) -> Option<(LineKind, &str)> {
    let kind = match line.as_bytes().first() {
        Some(b' ') => LineKind::Context,
        Some(b'+') => LineKind::Added,
        Some(b'-') => LineKind::Removed,
        _ => return is_empty_line(line).then_some((LineKind::Context, line)),
    };
    Some((kind, &line[1..]))
}

fn no_hunk_line(line: &str) -> &'static str {
    if line.starts_with("***") {
        return "this is no marker of a V4A patch: these are `*** Update File: path`, `*** Add File: path`, `*** \
                Delete File: path`, `*** Move to: path` directly after `*** Update File:`, `*** End of File` and \
                `*** End Patch`; a line of a hunk begins with a space, + or -";
    }
    NO_HUNK_LINE
}

/// Why a line in a hunk is refused.
pub const NO_HUNK_LINE: &str =
    "a line of a hunk begins with a space (a line that stays), + (added) or - (removed)";

/// Why a section cannot begin at a line.
fn no_section(marker: Option<Marker<'_>>, before: Option<&Section<'_>>) -> &'static str {
    match (marker, before.map(|section| &section.change)) {
        (Some(Marker::Move(_)), _) => {
            "`*** Move to:` stands once and directly after the `*** Update File:` line of the file to move"
        }
        (Some(Marker::EndOfFile), _) => {
            "`*** End of File` stands only once and at the end of a hunk of `*** Update File:`"
        }
        (Some(_), _) => "`*** Begin Patch` stands only once, before the sections of all files",
        (None, Some(FileChange::Delete { .. })) => {
            "`*** Delete File:` has no lines: leave them out, and begin the next section with its `***` line"
        }
        (None, _) => {
            "a section begins here with `*** Update File: path`, `*** Add File: path` or `*** Delete File: path`"
        }
    }
}
