//! Patterns that a model sends, matched with bounds on time and memory.
//!
//! A pattern may be hostile, so no step of matching takes long without a look at the [`Deadline`]:
//!
//! - [`automaton`] matches everything that a finite automaton can, in linear time, with the lazy
//!   automata of `regex-automata`, or by [`simulation`] where those cannot;
//! - [`backtracking`] matches patterns with look-around or back-references, one position at a time,
//!   with `fancy-regex`.
//!
//! By default each line is matched alone, without its line feed: see [`line_pattern`]. A
//! [`Matcher`] then searches whole texts all the same, because a search for each line would cost
//! ten times as much.

mod automaton;
mod backtracking;
mod classes;
mod crlf_flag;
mod line_feed;
mod line_pattern;
mod simulation;

use std::ops::Range;

use memchr::memmem;
use regex_syntax::ast;
use regex_syntax::hir::translate::TranslatorBuilder;
use regex_syntax::hir::{Hir, HirKind};

use crate::deadline::{Deadline, Stop};
use crate::text::block_end;
use automaton::{Automaton, AutomatonCache};
use backtracking::{Backtracking, Line};

/// How large a compiled pattern may be, in bytes.
const MAX_COMPILED_BYTES: usize = 1 << 20;

/// How many parts a pattern may have if it has look-around or back-references: each step of the engine that
/// matches those can cost as much as the pattern has parts.
const MAX_PARTS: u64 = 256;

/// How many bytes are searched between two looks at the deadline.
const BLOCK_BYTES: usize = 64 << 10;

/// How a pattern is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[allow(clippy::struct_excessive_bools, reason = "each is an argument of the tool")]
pub struct PatternOptions {
    /// Every character stands for itself.
    pub literal: bool,
    /// The match has no word character before it or after it.
    pub word: bool,
    /// The flag `i`.
    pub case_insensitive: bool,
    /// The flag `m`: `^` and `$` match at the ends of lines.
    pub line_anchors: bool,
    /// The flag `s`: `.` matches a line feed.
    pub dot_matches_line_feed: bool,
    /// A match may hold line feeds.
    pub multiline: bool,
}

/// Why a pattern does not compile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatternFlaw {
    /// The engine's sentence.
    pub sentence: String,
    /// Where the flaw stands in the pattern, in UTF-16 units; 0 if the whole is at fault.
    pub offset: u64,
    /// Whether the pattern was probably meant literally.
    pub is_probably_literal: bool,
}

/// A compiled pattern.
#[derive(Debug)]
pub struct Pattern {
    engine: Engine,
    is_multiline: bool,
}

#[derive(Debug)]
enum Engine {
    /// The bytes of the text that is searched for.
    Literal(Box<memmem::Finder<'static>>),
    Automaton(Box<Automaton>),
    Backtracking(Box<Backtracking>),
}

/// Searches texts for a pattern. Each thread has its own.
#[derive(Debug)]
pub struct Matcher<'pattern> {
    pattern: &'pattern Pattern,
    cache: Option<AutomatonCache>,
}

impl Pattern {
    /// Compiles a pattern that is not empty.
    ///
    /// # Errors
    ///
    /// [`PatternFlaw`].
    pub fn compile(pattern: &str, options: PatternOptions) -> Result<Self, PatternFlaw> {
        if !options.multiline && line_feed::is_named_in(pattern, options.literal) {
            return Err(PatternFlaw::of_line_feed());
        }
        let engine = match parse(pattern, options)? {
            Ok(hir) => {
                let hir = if options.word { line_pattern::as_word(hir) } else { hir };
                let hir = if options.multiline { hir } else { line_pattern::within_lines(&hir) };
                engine_for(&hir, options.multiline)?
            }
            Err(error) => match needs_backtracking(&error) {
                Needs::Yes => {
                    Engine::Backtracking(Box::new(Backtracking::compile(pattern, options)?))
                }
                Needs::Perhaps => Backtracking::compile(pattern, options)
                    .map(|backtracking| Engine::Backtracking(Box::new(backtracking)))
                    .map_err(|_| PatternFlaw::of_syntax(&error, pattern))?,
                Needs::No => return Err(PatternFlaw::of_syntax(&error, pattern)),
            },
        };
        Ok(Self { engine, is_multiline: options.multiline })
    }

    /// Whether it has look-around or back-references, which cost more.
    #[must_use]
    pub fn backtracks(&self) -> bool {
        matches!(self.engine, Engine::Backtracking(_))
    }

    /// Whether a match may hold line feeds.
    #[must_use]
    pub fn is_multiline(&self) -> bool {
        self.is_multiline
    }

    /// A matcher for the present thread.
    #[must_use]
    pub fn matcher(&self) -> Matcher<'_> {
        let cache = match &self.engine {
            Engine::Automaton(automaton) => Some(automaton.cache()),
            _ => None,
        };
        Matcher { pattern: self, cache }
    }
}

impl<'pattern> Matcher<'pattern> {
    /// A search of a text.
    pub fn search<'text>(&mut self, text: &'text str) -> Search<'_, 'pattern, 'text> {
        Search { matcher: self, text, block: None, line: None }
    }
}

/// A search of a text, from its beginning to its end.
#[derive(Debug)]
pub struct Search<'search, 'pattern, 'text> {
    matcher: &'search mut Matcher<'pattern>,
    text: &'text str,
    /// The end of the lines that are searched at once. To find it for each match would take quadratic time
    /// in a long line with many.
    block: Option<usize>,
    /// The line that backtracking is in.
    line: Option<Line>,
}

impl Search<'_, '_, '_> {
    /// The first match that begins at an offset or after it. Offsets ascend from call to call.
    ///
    /// # Errors
    ///
    /// [`Stop`] when the deadline says so.
    pub fn find(
        &mut self,
        from: usize,
        deadline: &Deadline<'_>,
    ) -> Result<Option<Range<usize>>, Stop> {
        let mut start = from;
        loop {
            deadline.check()?;
            let end = self.block_end(start);
            let found = self.find_within(start..end, deadline)?;
            // The offset after the last line feed is no line.
            let found = found.filter(|found| is_in_a_line(self.text, found.start));
            if found.is_some() || end == self.text.len() {
                return Ok(found);
            }
            start = end + 1;
        }
    }

    fn block_end(&mut self, start: usize) -> usize {
        if self.matcher.pattern.is_multiline {
            return self.text.len();
        }
        match self.block {
            Some(end) if start <= end => end,
            _ => *self.block.insert(block_end(self.text, start, BLOCK_BYTES)),
        }
    }

    /// The first match within a span: whole lines, or the rest of the text if matches may hold line feeds.
    fn find_within(
        &mut self,
        span: Range<usize>,
        deadline: &Deadline<'_>,
    ) -> Result<Option<Range<usize>>, Stop> {
        let Matcher { pattern, cache } = self.matcher;
        match &pattern.engine {
            Engine::Literal(finder) => {
                let found = finder.find(&self.text.as_bytes()[span.clone()]);
                let length = finder.needle().len();
                Ok(found.map(|at| span.start + at..span.start + at + length))
            }
            Engine::Automaton(automaton) => {
                let cache = cache.get_or_insert_with(|| automaton.cache());
                automaton.find(cache, self.text, span, deadline)
            }
            Engine::Backtracking(backtracking) if pattern.is_multiline => {
                let line = self
                    .line
                    .get_or_insert_with(|| backtracking.line(self.text, 0..self.text.len()));
                backtracking.find(self.text, line, span.start, deadline)
            }
            Engine::Backtracking(backtracking) => {
                backtracking.find_in_lines(self.text, &mut self.line, span, deadline)
            }
        }
    }
}

/// Whether an offset lies in a line: the one behind a final line feed does not.
fn is_in_a_line(text: &str, offset: usize) -> bool {
    offset < text.len() || !text.is_empty() && !text.ends_with('\n')
}

/// Parses a pattern; the inner error is one of its syntax.
fn parse(
    pattern: &str,
    options: PatternOptions,
) -> Result<Result<Hir, Box<regex_syntax::Error>>, PatternFlaw> {
    let escaped;
    let pattern = if options.literal {
        escaped = regex_syntax::escape(pattern);
        &escaped
    } else {
        pattern
    };
    let mut ast = match ast::parse::Parser::new().parse(pattern) {
        Ok(ast) => ast,
        Err(error) => return Ok(Err(Box::new(error.into()))),
    };
    classes::check(&ast)?;
    crlf_flag::ignore_in(&mut ast);
    let mut translator = TranslatorBuilder::new()
        .case_insensitive(options.case_insensitive)
        .multi_line(options.line_anchors)
        .dot_matches_new_line(options.dot_matches_line_feed)
        .build();
    Ok(translator.translate(pattern, &ast).map_err(|error| Box::new(error.into())))
}

fn engine_for(hir: &Hir, is_multiline: bool) -> Result<Engine, PatternFlaw> {
    Ok(match hir.kind() {
        HirKind::Literal(literal) => {
            Engine::Literal(Box::new(memmem::Finder::new(&literal.0).into_owned()))
        }
        _ => Engine::Automaton(Box::new(Automaton::compile(hir, is_multiline)?)),
    })
}

/// Whether a pattern with a flaw is one of those that need backtracking.
enum Needs {
    Yes,
    /// `\k<name>` and `(?P=name)` look like other flaws.
    Perhaps,
    No,
}

fn needs_backtracking(error: &regex_syntax::Error) -> Needs {
    use ast::ErrorKind as Kind;
    let regex_syntax::Error::Parse(error) = error else { return Needs::No };
    match error.kind() {
        Kind::UnsupportedBackreference | Kind::UnsupportedLookAround => Needs::Yes,
        Kind::EscapeUnrecognized | Kind::FlagUnrecognized => Needs::Perhaps,
        _ => Needs::No,
    }
}

impl PatternFlaw {
    /// A flaw of the whole pattern.
    fn of_whole(sentence: impl Into<String>) -> Self {
        Self { sentence: sentence.into(), offset: 0, is_probably_literal: false }
    }

    fn too_large() -> Self {
        Self::of_whole(
            "the compiled pattern is larger than 1 MiB: repeat less, or use a smaller class",
        )
    }

    fn too_many_parts() -> Self {
        Self::of_whole(
            "the pattern has more than 256 parts when its repetitions are written out, which is the \
             limit with look-around and back-references: leave those out, or repeat less",
        )
    }

    fn of_line_feed() -> Self {
        Self::of_whole(
            "the pattern has a line feed, and each line is matched without its end: set multiline \
             to true to match over lines",
        )
    }

    fn of_syntax(error: &regex_syntax::Error, pattern: &str) -> Self {
        use ast::ErrorKind as Kind;
        let (sentence, offset, is_probably_literal) = match error {
            regex_syntax::Error::Parse(error) => {
                let is_about_brackets = matches!(
                    error.kind(),
                    Kind::GroupUnclosed
                        | Kind::GroupUnopened
                        | Kind::ClassUnclosed
                        | Kind::RepetitionCountUnclosed
                        | Kind::RepetitionCountInvalid
                        | Kind::RepetitionCountDecimalEmpty
                        | Kind::RepetitionMissing
                );
                (error.kind().to_string(), error.span().start.offset, is_about_brackets)
            }
            regex_syntax::Error::Translate(error) => {
                (error.kind().to_string(), error.span().start.offset, false)
            }
            error => (error.to_string(), 0, false),
        };
        Self { sentence, offset: utf16_offset(pattern, offset), is_probably_literal }
    }
}

/// The UTF-16 offset of a byte offset.
fn utf16_offset(text: &str, offset: usize) -> u64 {
    let before = text.get(..offset).unwrap_or(text);
    before.encode_utf16().count() as u64
}

#[cfg(test)]
mod tests;
