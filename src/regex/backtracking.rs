//! Patterns with look-around or back-references, matched by backtracking.
//!
//! Backtracking can take exponential time. So each position of a text is tried by itself, and the number of
//! steps back is bounded for each. The deadline is looked at while the engine reads the line: see [`Watched`].
//! Parts without look-around are matched by automata in one step each, which nothing can stop, so the cost of
//! such a step is bounded: see [`Steps`].

mod cost;
mod watched;

use std::ops::Range;

use fancy_regex::{ByteSet, Expr, Regex, RegexBuilder, RegexOptionsBuilder};
use memchr::memchr;

use super::crlf_flag;
use super::{MAX_COMPILED_BYTES, MAX_PARTS, PatternFlaw, PatternOptions, utf16_offset};
use crate::deadline::{Deadline, Stop};
use crate::text::line_around;
use cost::{Steps, parts};
use watched::Watched;

/// How often the engine may go back at one position. So many steps take some 10 ms.
const MAX_STEPS_BACK: usize = 200_000;

#[derive(Debug)]
pub struct Backtracking {
    regex: Regex,
    steps: Steps,
    /// The bytes that a match can begin with; `None` if it can begin with any, or be empty.
    first: Option<ByteSet>,
    /// The bytes that a text with a match holds.
    required: Vec<u8>,
}

/// A line of a text, which is matched alone.
#[derive(Debug)]
pub struct Line {
    span: Range<usize>,
    /// Whether it holds all bytes that a match needs.
    can_match: bool,
}

const BEFORE_WORD: &str = r"(?<!\w)(?:";
const AFTER_WORD: &str = r")(?!\w)";

impl Backtracking {
    pub fn compile(pattern: &str, options: PatternOptions) -> Result<Self, PatternFlaw> {
        let pattern = &*crlf_flag::ignored_in_text(pattern);
        let flaw = |error: fancy_regex::Error| flaw(&error, pattern);
        let tree = Expr::parse_tree(pattern).map_err(flaw)?;
        if parts(&tree.expr) > MAX_PARTS {
            return Err(PatternFlaw::too_many_parts());
        }
        let steps = Steps::of(&tree.expr);
        let build = |pattern: &str| {
            RegexBuilder::new(pattern)
                .case_insensitive(options.case_insensitive)
                .multi_line(options.line_anchors)
                .dot_matches_new_line(options.dot_matches_line_feed)
                .backtrack_limit(MAX_STEPS_BACK)
                .delegate_size_limit(MAX_COMPILED_BYTES)
                .max_prog_size(MAX_COMPILED_BYTES / 64)
                // The optimiser of version 0.20 has a bug: it matches `((.)+?)*(?=)` twice in "aa", not once.
                .optimize(false)
                .build()
        };
        // The pattern must compile by itself. Otherwise its `)` could close the group of `BEFORE_WORD`.
        let alone = build(pattern).map_err(flaw)?;
        let (regex, whole) = if options.word {
            let whole = format!("{BEFORE_WORD}{pattern}{AFTER_WORD}");
            // With `(?x)` the pattern may end in a comment.
            let after_comment = format!("{BEFORE_WORD}{pattern}\n{AFTER_WORD}");
            let whole = if build(&whole).is_ok() { whole } else { after_comment };
            (build(&whole).map_err(flaw)?, whole)
        } else {
            (alone, pattern.to_owned())
        };
        let mut bytes = RegexOptionsBuilder::new();
        bytes
            .case_insensitive(options.case_insensitive)
            .multi_line(options.line_anchors)
            .dot_matches_new_line(options.dot_matches_line_feed);
        let first = bytes.start_bytes(&whole).ok().flatten();
        let required = bytes.required_bytes(&whole).map(|bytes| bytes.iter().collect());
        Ok(Self { regex, steps, first, required: required.unwrap_or_default() })
    }

    /// A line of a text, or the whole.
    pub fn line(&self, text: &str, span: Range<usize>) -> Line {
        let bytes = &text.as_bytes()[span.clone()];
        let can_match = self.required.iter().all(|&byte| memchr(byte, bytes).is_some());
        Line { span, can_match }
    }

    /// The first match within a span of whole lines. Each line is matched alone. `line` keeps the last line from
    /// one call to the next.
    pub fn find_in_lines(
        &self,
        text: &str,
        line: &mut Option<Line>,
        span: Range<usize>,
        deadline: &Deadline<'_>,
    ) -> Result<Option<Range<usize>>, Stop> {
        let mut from = span.start;
        while from <= span.end {
            let line = match line {
                Some(line) if line.span.contains(&from) || line.span.end == from => line,
                _ => line.insert(self.line(text, line_around(text, from))),
            };
            if let Some(found) = self.find(text, line, from, deadline)? {
                return Ok(Some(found));
            }
            from = line.span.end + 1;
        }
        Ok(None)
    }

    /// The first match of a line alone that begins at an offset of the text or after it.
    pub fn find(
        &self,
        text: &str,
        line: &Line,
        from: usize,
        deadline: &Deadline<'_>,
    ) -> Result<Option<Range<usize>>, Stop> {
        deadline.check()?;
        if !line.can_match {
            return Ok(None);
        }
        let start = line.span.start;
        let alone = &text[line.span.clone()];
        let watched = Watched::new(alone, &self.steps, deadline)?;
        for at in from - start..=alone.len() {
            if !alone.is_char_boundary(at) || !self.can_begin_with(alone.as_bytes().get(at)) {
                continue;
            }
            if let Some(found) = watched.find_at(&self.regex, at)? {
                return Ok(Some(start + found.start..start + found.end));
            }
        }
        Ok(None)
    }

    fn can_begin_with(&self, byte: Option<&u8>) -> bool {
        let Some(first) = &self.first else { return true };
        byte.is_some_and(|&byte| first.contains(byte))
    }
}

fn flaw(error: &fancy_regex::Error, pattern: &str) -> PatternFlaw {
    match error {
        fancy_regex::Error::ParseError(offset, error) => PatternFlaw {
            sentence: error.to_string(),
            offset: utf16_offset(pattern, (*offset).min(pattern.len())),
            is_probably_literal: pattern.contains(['(', ')', '{', '[']),
        },
        error => {
            let sentence = error.to_string();
            let is_about_size = sentence.contains("size") && sentence.contains("limit");
            if is_about_size { PatternFlaw::too_large() } else { PatternFlaw::of_whole(sentence) }
        }
    }
}
