//! Where the edits of a call go: each located in the text as it was, all of them apart from each other, and
//! with the same result one after the other.

use std::ops::Range;

use super::MAX_EDIT_FILE_SIZE_BYTES;
use super::locate::{Places, places_of, separate_places};

/// One edit, its texts with LF for CRLF.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// The text to replace; not empty.
    pub old: String,
    /// The text to put there.
    pub new: String,
    /// Whether every place is replaced, and not just the only one.
    pub replace_all: bool,
}

/// A place that an edit replaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span {
    /// The offset at which it begins.
    pub start: usize,
    /// Which edit replaces it.
    pub edit: u32,
}

/// Why a list of edits is not applied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Misfit {
    /// The caller has cancelled the call.
    Cancelled,
    /// The text would become longer than a file may be.
    TooLarge {
        /// How many bytes it would have.
        size: u64,
    },
    /// The old text of an edit does not occur.
    NoMatch {
        /// The edit.
        edit: usize,
    },
    /// The old text of an edit occurs more than once.
    MultipleMatches {
        /// The edit.
        edit: usize,
        /// How often.
        count: u64,
        /// The offsets of the first ones.
        first: Vec<usize>,
    },
    /// Two edits touch the same text, or one would find other places after the other.
    Overlap {
        /// The later edit.
        edit: usize,
        /// The earlier one.
        other: usize,
    },
}

/// The places that the edits replace, in ascending order. Of several misfits it tells the first: missing and
/// multiple places before overlaps, each by the lowest edit. `cancelled` is asked for each edit.
///
/// Texts do not grow beyond [`MAX_EDIT_FILE_SIZE_BYTES`], however the edits multiply each other.
pub fn plan(text: &str, edits: &[Edit], cancelled: &dyn Fn() -> bool) -> Result<Vec<Span>, Misfit> {
    let mut spans = Vec::new();
    // The text after the edits before the present one, which may write what it replaces.
    let is_list = edits.len() > 1;
    let mut written = Written::of(if is_list { text } else { "" });
    let (mut missing, mut unlike) = (None, None);
    for (index, edit) in edits.iter().enumerate() {
        if cancelled() {
            return Err(Misfit::Cancelled);
        }
        let span = |start| Span { start, edit: u32::try_from(index).unwrap_or(u32::MAX) };
        let before = spans.len();
        if edit.replace_all {
            spans.extend(separate_places(&edit.old, text).map(span));
        } else {
            match places_of(&edit.old, text) {
                Places::One(start) => spans.push(span(start)),
                Places::None => {}
                Places::Many { count, first } => {
                    return Err(Misfit::MultipleMatches { edit: index, count, first });
                }
            }
        }
        let count = spans.len() - before;
        if count == 0 {
            if places_of(&edit.old, &written.now) == Places::None {
                return Err(Misfit::NoMatch { edit: index });
            }
            missing.get_or_insert(index);
        } else if is_list && unlike.is_none() && !written.has_places(edit, count) {
            unlike = Some(index);
        }
        written.apply(edit);
    }
    if let Some(index) = missing {
        return Err(dependence(text, edits, index, cancelled));
    }
    if is_list {
        refuse_shared_text(text, edits, &spans)?;
    }
    let size = size_after(text, &spans, edits) as u64;
    if size > MAX_EDIT_FILE_SIZE_BYTES {
        return Err(Misfit::TooLarge { size });
    }
    if !is_list {
        return Ok(spans);
    }
    spans.sort_unstable();
    if let Some(index) = unlike {
        return Err(dependence(text, edits, index, cancelled));
    }
    if written.now != replaced(text, &spans, edits) {
        return Err(first_displaced(text, edits, &spans, cancelled));
    }
    Ok(spans)
}

/// The text with the edits made one after the other.
struct Written {
    now: String,
    /// Whether all edits are in it. One that would make it too long ends that.
    is_complete: bool,
}

impl Written {
    fn of(text: &str) -> Self {
        Self { now: text.to_owned(), is_complete: true }
    }

    /// Whether an edit has so many places in the text, by its own rule.
    fn has_places(&self, edit: &Edit, count: usize) -> bool {
        if edit.replace_all {
            separate_places(&edit.old, &self.now).count() == count
        } else {
            matches!(places_of(&edit.old, &self.now), Places::One(_))
        }
    }

    /// Makes an edit: the first place, or all of them.
    fn apply(&mut self, edit: &Edit) {
        if !self.is_complete {
            return;
        }
        let most = if edit.replace_all { usize::MAX } else { 1 };
        let spans: Vec<_> = separate_places(&edit.old, &self.now)
            .take(most)
            .map(|start| Span { start, edit: 0 })
            .collect();
        let edits = std::slice::from_ref(edit);
        self.is_complete = size_after(&self.now, &spans, edits) as u64 <= MAX_EDIT_FILE_SIZE_BYTES;
        match *spans {
            _ if !self.is_complete => {}
            [] => {}
            [Span { start, .. }] => {
                self.now.replace_range(start..start + edit.old.len(), &edit.new);
            }
            _ => self.now = replaced(&self.now, &spans, edits),
        }
    }
}

/// The size of a text with the spans replaced. The spans do not overlap.
fn size_after(text: &str, spans: &[Span], edits: &[Edit]) -> usize {
    spans.iter().fold(text.len(), |size, span| {
        let edit = &edits[span.edit as usize];
        (size - edit.old.len()).saturating_add(edit.new.len())
    })
}

/// The replacements of spans, as [`Document::replace`](crate::text::Document::replace) takes them.
pub fn replacements<'edits>(
    spans: &'edits [Span],
    edits: &'edits [Edit],
) -> impl Iterator<Item = (Range<usize>, &'edits str)> + Clone {
    spans.iter().map(|span| {
        let edit = &edits[span.edit as usize];
        (span.start..span.start + edit.old.len(), &*edit.new)
    })
}

/// The text with the spans replaced.
pub fn replaced(text: &str, spans: &[Span], edits: &[Edit]) -> String {
    let mut after = String::with_capacity(text.len());
    let mut copied = 0;
    for (span, new) in replacements(spans, edits) {
        after.push_str(&text[copied..span.start]);
        after.push_str(new);
        copied = span.end;
    }
    after.push_str(&text[copied..]);
    after
}

/// Refuses edits of which two replace the same character.
fn refuse_shared_text(text: &str, edits: &[Edit], spans: &[Span]) -> Result<(), Misfit> {
    /// A byte that no edit replaces; there are at most 1,000 edits.
    const FREE: u16 = u16::MAX;
    let mut owners = vec![FREE; text.len()];
    // The spans are still in the order of the edits.
    for (span, (bytes, _)) in spans.iter().zip(replacements(spans, edits)) {
        let bytes = &mut owners[bytes];
        if let Some(&owner) = bytes.iter().filter(|owner| **owner != FREE).min() {
            return Err(Misfit::Overlap { edit: span.edit as usize, other: owner.into() });
        }
        bytes.fill(u16::try_from(span.edit).unwrap_or(FREE));
    }
    Ok(())
}

/// The misfit of edits of all places of which one replaces as many places after the earlier edits, but others.
fn first_displaced(
    text: &str,
    edits: &[Edit],
    spans: &[Span],
    cancelled: &dyn Fn() -> bool,
) -> Misfit {
    let mut written = Written::of(text);
    for (index, edit) in edits.iter().enumerate() {
        if cancelled() {
            return Misfit::Cancelled;
        }
        written.apply(edit);
        let until = |span: &&Span| span.edit as usize <= index;
        let expected: Vec<_> = spans.iter().filter(until).copied().collect();
        if edit.replace_all && written.now != replaced(text, &expected, edits) {
            return dependence(text, edits, index, cancelled);
        }
    }
    dependence(text, edits, edits.len() - 1, cancelled)
}

/// The misfit of an edit that has other places after the earlier ones: the first that makes it so is told.
fn dependence(text: &str, edits: &[Edit], index: usize, cancelled: &dyn Fn() -> bool) -> Misfit {
    let counts = |text: &str| {
        let overlapping = match places_of(&edits[index].old, text) {
            Places::None => 0,
            Places::One(_) => 1,
            Places::Many { count, .. } => count,
        };
        (separate_places(&edits[index].old, text).count(), overlapping)
    };
    let before = counts(text);
    let mut written = Written::of(text);
    for (other, edit) in edits[..index].iter().enumerate() {
        if cancelled() {
            return Misfit::Cancelled;
        }
        written.apply(edit);
        if !written.is_complete || counts(&written.now) != before {
            return Misfit::Overlap { edit: index, other };
        }
    }
    Misfit::Overlap { edit: index, other: index.saturating_sub(1) }
}

#[cfg(test)]
mod tests;
