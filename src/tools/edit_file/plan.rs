//! Where the edits of a call go: each located in the text as it was, all of them apart from each other, and
//! with the same result one after the other.

use std::ops::Range;

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
pub fn plan(text: &str, edits: &[Edit], cancelled: &dyn Fn() -> bool) -> Result<Vec<Span>, Misfit> {
    let mut spans = Vec::new();
    for (index, edit) in edits.iter().enumerate() {
        if cancelled() {
            return Err(Misfit::Cancelled);
        }
        let span = |start| Span { start, edit: u32::try_from(index).unwrap_or(u32::MAX) };
        if edit.replace_all {
            let before = spans.len();
            spans.extend(separate_places(&edit.old, text).map(span));
            if spans.len() == before {
                return Err(missing(text, edits, index));
            }
            continue;
        }
        match places_of(&edit.old, text) {
            Places::One(start) => spans.push(span(start)),
            Places::None => return Err(missing(text, edits, index)),
            Places::Many { count, first } => {
                return Err(Misfit::MultipleMatches { edit: index, count, first });
            }
        }
    }
    if edits.len() > 1 {
        refuse_shared_text(text, edits, &spans)?;
        spans.sort_unstable();
        refuse_dependence(text, edits, &spans, cancelled)?;
    }
    Ok(spans)
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

/// The misfit of an edit whose old text does not occur. Perhaps an earlier edit would write it.
fn missing(text: &str, edits: &[Edit], index: usize) -> Misfit {
    let mut text = text.to_owned();
    for (other, edit) in edits[..index].iter().enumerate() {
        apply(edit, &mut text);
        if places_of(&edits[index].old, &text) != Places::None {
            return Misfit::Overlap { edit: index, other };
        }
    }
    Misfit::NoMatch { edit: index }
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

/// Refuses edits that would have another result one after the other.
fn refuse_dependence(
    text: &str,
    edits: &[Edit],
    spans: &[Span],
    cancelled: &dyn Fn() -> bool,
) -> Result<(), Misfit> {
    let mut now = text.to_owned();
    for (index, edit) in edits.iter().enumerate() {
        if cancelled() {
            return Err(Misfit::Cancelled);
        }
        if !edit.replace_all && !matches!(places_of(&edit.old, &now), Places::One(_)) {
            return Err(dependence(text, edits, index));
        }
        apply(edit, &mut now);
    }
    if now == replaced(text, spans, edits) {
        return Ok(());
    }
    // Only an edit of all places can have replaced others unnoticed.
    let other_places = |index: &usize| {
        let (before, edit) = (after(text, &edits[..*index]), &edits[*index]);
        let expected: Vec<_> =
            spans.iter().filter(|span| span.edit as usize <= *index).copied().collect();
        edit.replace_all && replace_all(edit, &before) != replaced(text, &expected, edits)
    };
    let index = (0..edits.len()).find(other_places).unwrap_or_default();
    Err(dependence(text, edits, index))
}

/// The misfit of an edit that has other places after the earlier ones: the first that makes it so is told.
fn dependence(text: &str, edits: &[Edit], index: usize) -> Misfit {
    let places = |text: &str| separate_places(&edits[index].old, text).count();
    let overlapping = |text: &str| match places_of(&edits[index].old, text) {
        Places::None => 0,
        Places::One(_) => 1,
        Places::Many { count, .. } => count,
    };
    let counts = |text: &str| (places(text), overlapping(text));
    let (mut now, before) = (text.to_owned(), counts(text));
    for (other, edit) in edits[..index].iter().enumerate() {
        apply(edit, &mut now);
        if counts(&now) != before {
            return Misfit::Overlap { edit: index, other };
        }
    }
    Misfit::Overlap { edit: index, other: index.saturating_sub(1) }
}

fn after(text: &str, edits: &[Edit]) -> String {
    let mut text = text.to_owned();
    for edit in edits {
        apply(edit, &mut text);
    }
    text
}

/// Applies an edit to a text as it stands: the first place, or all of them.
fn apply(edit: &Edit, text: &mut String) {
    if edit.replace_all {
        *text = replace_all(edit, text);
        return;
    }
    let first = separate_places(&edit.old, text).next();
    if let Some(start) = first {
        text.replace_range(start..start + edit.old.len(), &edit.new);
    }
}

fn replace_all(edit: &Edit, text: &str) -> String {
    let spans: Vec<_> =
        separate_places(&edit.old, text).map(|start| Span { start, edit: 0 }).collect();
    replaced(text, &spans, std::slice::from_ref(edit))
}

#[cfg(test)]
mod tests;
