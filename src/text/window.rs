//! Line windows: a run of whole lines cut out of a text.

use std::borrow::Cow;
use std::num::NonZeroU64;

use super::line_ends::normalise_line_ends;
use super::lines::Lines;

/// A run of whole lines: where it starts, from 1, and how many lines it holds at the most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineWindow {
    start: NonZeroU64,
    max_lines: NonZeroU64,
}

/// The lines that a [`LineWindow`] cuts out of a text.
#[derive(Debug, PartialEq, Eq)]
pub struct WindowText<'text> {
    /// The window's lines joined by LF; a final LF of the text is kept by the window that reaches
    /// the text's end.
    pub content: Cow<'text, str>,
    /// How many lines the whole text has.
    pub line_count: u64,
    /// How many lines are in `content`.
    pub returned_line_count: u64,
    /// The line after this window, if the text has one.
    pub next_start_line: Option<u64>,
}

impl WindowText<'_> {
    /// The same, independent of the text.
    #[must_use]
    pub fn into_owned(self) -> WindowText<'static> {
        WindowText { content: self.content.into_owned().into(), ..self }
    }
}

impl LineWindow {
    /// A window of at most `max_lines` lines from line `start` on.
    #[must_use]
    pub const fn new(start: NonZeroU64, max_lines: NonZeroU64) -> Self {
        Self { start, max_lines }
    }

    /// Cuts the window out of a text. A window past the end is empty.
    ///
    /// Reads the whole text once, to count its lines; so the cost does not depend on the place of
    /// the window.
    #[must_use]
    pub fn cut<'text>(&self, text: &'text str) -> WindowText<'text> {
        let lines = Lines::of(text);
        let line_count = lines.count(text);
        let skipped = self.start.get() - 1;
        let returned_line_count = self.max_lines.get().min(line_count.saturating_sub(skipped));
        if returned_line_count == 0 {
            let content = Cow::default();
            return WindowText { content, line_count, returned_line_count, next_start_line: None };
        }
        let end = skipped + returned_line_count;
        let reaches_end = end == line_count;
        let from = lines.start_of(text, skipped);
        let window = if reaches_end {
            &text[from..]
        } else {
            without_line_end(&text[from..lines.start_of(text, end)])
        };
        WindowText {
            content: normalise_line_ends(window),
            line_count,
            returned_line_count,
            next_start_line: (!reaches_end).then_some(end + 1),
        }
    }
}

fn without_line_end(window: &str) -> &str {
    let window = window.strip_suffix('\n').unwrap_or(window);
    window.strip_suffix('\r').unwrap_or(window)
}
