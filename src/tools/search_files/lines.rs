//! The lines of a text that have matches.

use std::ops::{ControlFlow, Range};

use crate::deadline::{Deadline, Stop};
use crate::regex::Matcher;
use crate::text::line_around;

/// How many matches of one line are items.
pub const MAX_MATCHES_OF_LINE: usize = 20;

/// A line with its matches.
#[derive(Debug)]
pub struct MatchedLine {
    /// Where the line stands in the text, without its line feed.
    pub span: Range<usize>,
    /// Its number, from 1.
    pub number: u64,
    /// Its first matches.
    pub matches: Vec<Range<usize>>,
    /// How many matches it has.
    pub count: u64,
    first_empty: Option<Range<usize>>,
}

impl MatchedLine {
    fn around(text: &str, offset: usize, number: u64) -> Self {
        let span = line_around(text, offset);
        Self { span, number, matches: Vec::new(), count: 0, first_empty: None }
    }

    fn add(&mut self, found: Range<usize>) {
        if found.is_empty() {
            self.first_empty.get_or_insert(found);
            return;
        }
        self.count += 1;
        if self.matches.len() < MAX_MATCHES_OF_LINE {
            self.matches.push(found);
        }
    }

    /// An empty match counts once, if the line has no other.
    fn finish(mut self) -> Self {
        if self.count == 0 {
            self.matches.extend(self.first_empty.take());
            self.count = 1;
        }
        self
    }
}

/// Hands each line that has a match to `visit`, in order, until `visit` breaks off. A match that goes
/// over several lines belongs to the first.
///
/// # Errors
///
/// [`Stop`] when the deadline says so.
pub fn matched_lines(
    text: &str,
    matcher: &mut Matcher<'_>,
    deadline: &Deadline<'_>,
    visit: &mut dyn FnMut(&MatchedLine) -> ControlFlow<()>,
) -> Result<(), Stop> {
    let mut search = matcher.search(text);
    let mut line: Option<MatchedLine> = None;
    let (mut number, mut counted) = (1, 0);
    let mut from = 0;
    while from <= text.len() {
        let Some(found) = search.find(from, deadline)? else { break };
        if let Some(done) = line.take_if(|line| found.start > line.span.end)
            && visit(&done.finish()).is_break()
        {
            return Ok(());
        }
        from = after(text, &found);
        let line = line.get_or_insert_with(|| {
            let mut new = MatchedLine::around(text, found.start, 0);
            number += bytecount::count(&text.as_bytes()[counted..new.span.start], b'\n') as u64;
            counted = new.span.start;
            new.number = number;
            new
        });
        line.add(found);
    }
    if let Some(line) = line {
        let _ = visit(&line.finish());
    }
    Ok(())
}

/// Where the search goes on after a match.
fn after(text: &str, found: &Range<usize>) -> usize {
    if !found.is_empty() {
        return found.end;
    }
    found.end + text[found.end..].chars().next().map_or(1, char::len_utf8)
}
