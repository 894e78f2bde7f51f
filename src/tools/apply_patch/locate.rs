//! Where the hunks of a section stand in their file (docs/contract.md §11).
//!
//! The context and the removed lines of a hunk must stand in the file, next to each other. Hunks are expected in
//! the order of the file, so the places after the previous hunk come first. A hunk that fits several places is
//! refused, unless a unified diff states the line of one of them.

use std::collections::BTreeMap;
use std::ops::Range;

use super::file_lines::{FileLines, Grade, LineEnd, Pattern};
use super::patch::{Hunk, HunkLine, LineKind};

/// How many places an error lists at most.
const MAX_REPORTED_PLACES: usize = 10;

/// How many places are examined for all hunks of a section together. Looking at so many takes about a second. A
/// patch comes so far only if its hunks have few different lines, each of which occurs very often in the file.
const MAX_EXAMINED: u64 = 200_000_000;

/// After so many places or `@@` lines the search asks `cancelled`. They take a millisecond at most.
const CANCEL_CHECK_INTERVAL: u64 = 4096;

/// The place of a hunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Placed {
    /// The first of its old lines in the file, from 0; if it has none, the line before which it adds lines.
    pub start: usize,
    /// How far that is from the line that a unified diff states.
    pub offset: i64,
    /// How its lines had to be compared.
    pub grade: Grade,
}

/// Why a hunk has no place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Misfit {
    /// The caller has cancelled the call.
    Cancelled,
    /// Its lines do not stand in the file.
    NotFound,
    /// A line that an `@@` of it names does not stand in the file, or only before the previous hunk.
    NoSuchLine {
        /// Which of its `@@` lines.
        narrowing: usize,
    },
    /// Its lines stand in the file, but only before the line that its `@@` names, or where an earlier hunk changes them.
    BeforeNarrowing {
        /// The line after the named one.
        line: usize,
    },
    /// Its lines stand behind the line that its `@@` names, but before the previous hunk.
    OutOfOrder,
    /// Its lines stand in the file, but not at the end of it, as the patch requires; or the file's last line has an end,
    /// which the patch denies.
    NotAtEnd,
    /// Its only place overlaps that of an earlier hunk.
    Overlaps {
        /// The earlier hunk.
        other: usize,
    },
    /// It fits several places, or says none.
    Ambiguous {
        /// The lines of the first ones, from 1.
        lines: Vec<u64>,
    },
    /// It only adds lines, and the file has fewer lines than the one at which they belong.
    BeyondFile {
        /// How many lines the file has.
        lines: usize,
    },
    /// Too many places would have to be examined.
    TooCostly,
}

impl Hunk<'_> {
    /// The lines that must stand in the file.
    pub fn old_lines(&self) -> impl Iterator<Item = &HunkLine<'_>> {
        self.lines.iter().filter(|line| line.kind != LineKind::Added)
    }

    /// How many lines must stand in the file.
    #[must_use]
    pub fn old_count(&self) -> usize {
        self.old_lines().count()
    }

    /// The old lines from the first change to the last one. Empty between two lines if lines are only added there.
    fn changed(&self) -> Range<usize> {
        let (mut old, mut changed) = (0, None);
        for line in &self.lines {
            let before = old;
            old += usize::from(line.kind != LineKind::Added);
            if line.kind != LineKind::Context {
                changed = Some(changed.map_or(before..old, |at: Range<usize>| at.start..old));
            }
        }
        changed.unwrap_or(0..0)
    }

    /// Whether the last line after the change is an added one that must have no end.
    fn adds_line_without_end(&self) -> bool {
        let new = |line: &&HunkLine<'_>| line.kind != LineKind::Removed;
        let last = self.lines.iter().rfind(new);
        last.is_some_and(|line| line.kind == LineKind::Added && line.has_no_end)
    }
}

/// Finds the places of all hunks of a section, in the order of the hunks. Of several hunks without a place, the
/// first is told. `cancelled` is asked for each hunk.
///
/// # Errors
///
/// The index of the hunk, and why it has no place.
pub fn locate(
    file: &FileLines<'_>,
    hunks: &[Hunk<'_>],
    cancelled: &dyn Fn() -> bool,
) -> Result<Vec<Placed>, (usize, Misfit)> {
    let mut locating = Locating {
        file,
        cancelled,
        previous: None,
        changed: BTreeMap::new(),
        lines_gained: 0,
        examined: 0,
    };
    let mut placed = Vec::with_capacity(hunks.len());
    let mut failed = None;
    for (index, hunk) in hunks.iter().enumerate() {
        let found = if cancelled() { Err(Misfit::Cancelled) } else { locating.place(hunk) };
        match found {
            Ok(place) => placed.push(place),
            Err(misfit) => {
                failed = Some((index, misfit));
                break;
            }
        }
    }
    match (first_overlap(hunks, &placed), failed) {
        (Some((index, other)), _) => Err((index, Misfit::Overlaps { other })),
        (None, Some(failed)) => Err(failed),
        (None, None) => Ok(placed),
    }
}

/// The place of a hunk, for the next one.
struct Previous {
    /// The end of its lines in the file.
    end: usize,
    /// The end of those that it changes. Lines of context after them may belong to the next hunk, too.
    end_of_change: usize,
    /// As in [`Placed`].
    offset: i64,
}

struct Locating<'call, 'file> {
    file: &'call FileLines<'file>,
    cancelled: &'call dyn Fn() -> bool,
    /// The place of the previous hunk.
    previous: Option<Previous>,
    /// The lines that the hunks before change: where they begin, and where they end.
    changed: BTreeMap<usize, usize>,
    /// How many more lines the hunks before add than they remove.
    lines_gained: i64,
    examined: u64,
}

impl Locating<'_, '_> {
    fn place(&mut self, hunk: &Hunk<'_>) -> Result<Placed, Misfit> {
        let narrowed = self.narrow(hunk)?;
        let old_count = hunk.old_count();
        let placed = if old_count == 0 {
            self.place_additions(hunk, narrowed)?
        } else {
            self.place_lines(hunk, narrowed, old_count)?
        };
        let changed = hunk.changed();
        let end_of_change = placed.start + changed.end;
        self.previous =
            Some(Previous { end: placed.start + old_count, end_of_change, offset: placed.offset });
        if !changed.is_empty() {
            self.changed.insert(placed.start + changed.start, end_of_change);
        }
        let new_count = hunk.lines.iter().filter(|line| line.kind != LineKind::Removed).count();
        self.lines_gained += signed(new_count) - signed(old_count);
        Ok(placed)
    }

    fn end_of_previous(&self) -> usize {
        self.previous.as_ref().map_or(0, |previous| previous.end)
    }

    fn end_of_previous_change(&self) -> usize {
        self.previous.as_ref().map_or(0, |previous| previous.end_of_change)
    }

    /// The line after the one that the last `@@` names; `None` if no `@@` names a line.
    fn narrow(&self, hunk: &Hunk<'_>) -> Result<Option<usize>, Misfit> {
        let mut narrowed = None;
        for (narrowing, text) in hunk.narrowing.iter().map(|named| named.text).enumerate() {
            if (narrowing as u64 + 1).is_multiple_of(CANCEL_CHECK_INTERVAL) && (self.cancelled)() {
                return Err(Misfit::Cancelled);
            }
            let from = narrowed.unwrap_or_else(|| self.end_of_previous());
            let exact = self.file.index(Grade::Exact).places_of(text);
            let trimmed = || self.file.trimmed_index().places_of(text.trim());
            let places = match after(exact, from) {
                [] => after(trimmed(), from),
                exact => exact,
            };
            // Models name one line for several hunks, and a line that the previous hunk has as its context.
            let (places, named) = match (places, before(exact, from)) {
                ([first, ..], _) => (places, first),
                ([], before @ [.., last]) if narrowing == 0 => (before, last),
                _ => match before(trimmed(), from) {
                    before @ [.., last] if narrowing == 0 => (before, last),
                    _ => return Err(Misfit::NoSuchLine { narrowing }),
                },
            };
            // Lines that are only added have nothing else to tell one place from the others.
            if narrowing == 0 && places.len() > 1 && hunk.old_count() == 0 {
                return Err(ambiguous(places.iter().map(|&place| place as usize)));
            }
            narrowed = Some(*named as usize + 1);
        }
        Ok(narrowed)
    }

    /// The place of a hunk that only adds lines.
    fn place_additions(&self, hunk: &Hunk<'_>, narrowed: Option<usize>) -> Result<Placed, Misfit> {
        let count = self.file.count();
        let is_at_end = hunk.is_at_end || hunk.adds_line_without_end();
        let start = match (narrowed, self.stated_start(hunk)) {
            _ if count == 0 => 0,
            _ if hunk.is_at_end => count,
            (Some(line), _) => line,
            (None, Some(stated)) => {
                // Moved as far as the previous hunk was, it would stand before the file.
                let Ok(stated) = usize::try_from(stated) else {
                    return Err(ambiguous(std::iter::empty()));
                };
                if stated > count {
                    return Err(Misfit::BeyondFile { lines: count });
                }
                stated
            }
            (None, None) => return Err(ambiguous(std::iter::empty())),
        };
        if is_at_end && start != count {
            return Err(Misfit::NotAtEnd);
        }
        Ok(self.placed(hunk, start, Grade::Exact))
    }

    /// The line, from 0, at which a hunk's header says that it begins, moved as far as the previous hunk was.
    fn stated_start(&self, hunk: &Hunk<'_>) -> Option<i64> {
        let moved = self.previous.as_ref().map_or(0, |previous| previous.offset);
        self.stated_line(hunk).map(|stated| stated.saturating_add(moved))
    }

    /// The line, from 0, at which a hunk's header says that it begins.
    fn stated_line(&self, hunk: &Hunk<'_>) -> Option<i64> {
        let stated = hunk.stated?;
        let line = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        Some(match (hunk.old_count(), stated.old_count) {
            // Of no lines, the header names the line before.
            (0, 0) => line(stated.old_start),
            // A count that the body belies: the number in the new file says where they are added.
            (0, _) => (line(stated.new_start) - 1).saturating_sub(self.lines_gained).max(0),
            _ => (line(stated.old_start) - 1).max(0),
        })
    }

    fn placed(&self, hunk: &Hunk<'_>, start: usize, grade: Grade) -> Placed {
        let offset = self.stated_line(hunk).map_or(0, |stated| signed(start) - stated);
        Placed { start, offset, grade }
    }

    /// The place of a hunk with old lines.
    fn place_lines(
        &mut self,
        hunk: &Hunk<'_>,
        narrowed: Option<usize>,
        old_count: usize,
    ) -> Result<Placed, Misfit> {
        if narrowed.is_none()
            && let Some(start) = self.as_stated(hunk, old_count)
        {
            return Ok(self.placed(hunk, start, Grade::Exact));
        }
        let mut misfit = Misfit::NotFound;
        for grade in Grade::ALL {
            let lines = hunk.old_lines().map(|line| line.text);
            let Some(pattern) = Pattern::of(self.file, grade, lines) else { continue };
            match self.place_pattern(hunk, &pattern, narrowed, old_count) {
                Ok(start) => return Ok(self.placed(hunk, start, grade)),
                Err(Misfit::NotFound) => {}
                // At the end, the same lines may stand in a looser form.
                Err(Misfit::NotAtEnd) => misfit = Misfit::NotAtEnd,
                Err(error) => return Err(error),
            }
        }
        Err(misfit)
    }

    /// The stated line, if the hunk stands there exactly. This is where most diffs stand, and spares the index, which
    /// costs more than all else for a file of some hundred lines.
    fn as_stated(&self, hunk: &Hunk<'_>, old_count: usize) -> Option<usize> {
        let start = usize::try_from(self.stated_start(hunk)?).ok()?;
        let end = start.checked_add(old_count)?;
        let is_possible = start >= self.end_of_previous_change()
            && end <= self.file.count()
            && self.only_end_of(hunk).is_none_or(|last| last == end && self.has_ends(hunk, start));
        let stands =
            || hunk.old_lines().zip(start..).all(|(line, at)| self.file.line(at) == line.text);
        (is_possible && stands()).then_some(start)
    }

    fn place_pattern(
        &mut self,
        hunk: &Hunk<'_>,
        pattern: &Pattern<'_>,
        narrowed: Option<usize>,
        old_count: usize,
    ) -> Result<usize, Misfit> {
        let from = narrowed.unwrap_or_else(|| self.end_of_previous());
        if let Some(end) = self.only_end_of(hunk) {
            let last = end.checked_sub(old_count);
            let last = last.filter(|&start| pattern.is_at(start) && self.has_ends(hunk, start));
            return match last {
                // The line of the `@@` may be repeated as the first line of the hunk.
                Some(start) if start + 1 >= from || narrowed.is_none() => Ok(start),
                Some(_) => Err(Misfit::BeforeNarrowing { line: from }),
                None => {
                    let stands = !self.places(pattern, 0, usize::MAX)?.is_empty();
                    Err(if stands { Misfit::NotAtEnd } else { Misfit::NotFound })
                }
            };
        }
        let stated = self.stated_start(hunk).and_then(|line| usize::try_from(line).ok());
        let certain = narrowed.or(stated.filter(|&line| line >= self.end_of_previous_change()));
        if let Some(start) = certain.filter(|&start| pattern.is_at(start)) {
            return self.in_order(start);
        }
        let mut places = self.places(pattern, from, usize::MAX)?;
        if narrowed.is_some() {
            // The named line may stand before the previous hunk.
            places.retain(|&start| self.is_unchanged(start..start + old_count));
        }
        match places[..] {
            [start] => return self.in_order(start),
            [] => {}
            _ => return Err(ambiguous(places.into_iter())),
        }
        if let Some(line) = narrowed {
            return self.place_around_narrowing(pattern, line);
        }
        let places = self.places(pattern, 0, from)?;
        match places[..] {
            [start] => Ok(start),
            [] => Err(Misfit::NotFound),
            _ => Err(ambiguous(places.into_iter())),
        }
    }

    /// Models often repeat the line of the `@@` as the first line of the hunk.
    fn place_around_narrowing(
        &mut self,
        pattern: &Pattern<'_>,
        line: usize,
    ) -> Result<usize, Misfit> {
        if pattern.is_at(line - 1) {
            return self.in_order(line - 1);
        }
        let anywhere = self.places(pattern, 0, usize::MAX)?;
        Err(if anywhere.is_empty() { Misfit::NotFound } else { Misfit::BeforeNarrowing { line } })
    }

    /// A place behind an `@@` line, if the hunk is not before the one that precedes it in the patch.
    fn in_order(&self, start: usize) -> Result<usize, Misfit> {
        if start < self.end_of_previous_change() { Err(Misfit::OutOfOrder) } else { Ok(start) }
    }

    /// Whether no hunk before changes one of some lines.
    fn is_unchanged(&self, lines: Range<usize>) -> bool {
        let last = self.changed.range(..lines.end).next_back();
        last.is_none_or(|(_, &end)| end <= lines.start)
    }

    /// The end of the file, if the hunk must end there.
    fn only_end_of(&self, hunk: &Hunk<'_>) -> Option<usize> {
        let is_at_end = hunk.is_at_end
            || hunk.adds_line_without_end()
            || hunk.old_lines().any(|line| line.has_no_end);
        is_at_end.then_some(self.file.count())
    }

    /// Whether those lines have no end of which the patch says so. The others may have one or not.
    fn has_ends(&self, hunk: &Hunk<'_>, start: usize) -> bool {
        let mut lines = hunk.old_lines().zip(start..);
        lines.all(|(line, at)| !line.has_no_end || self.file.end(at) == LineEnd::Missing)
    }

    /// The first places of a pattern that begin in a part of the file.
    fn places(
        &mut self,
        pattern: &Pattern<'_>,
        from: usize,
        until: usize,
    ) -> Result<Vec<usize>, Misfit> {
        let mut places = Vec::new();
        for start in pattern.candidates(from) {
            if start >= until || places.len() > MAX_REPORTED_PLACES {
                break;
            }
            self.examined += 1;
            if self.examined > MAX_EXAMINED {
                return Err(Misfit::TooCostly);
            }
            if self.examined.is_multiple_of(CANCEL_CHECK_INTERVAL) && (self.cancelled)() {
                return Err(Misfit::Cancelled);
            }
            if pattern.is_at(start) {
                places.push(start);
            }
        }
        Ok(places)
    }
}

fn ambiguous(places: impl Iterator<Item = usize>) -> Misfit {
    Misfit::Ambiguous {
        lines: places.take(MAX_REPORTED_PLACES).map(|place| place as u64 + 1).collect(),
    }
}

/// The places from a line on, of ascending ones.
fn after(places: &[u32], from: usize) -> &[u32] {
    &places[places.partition_point(|&place| (place as usize) < from)..]
}

/// The places before a line, of ascending ones.
fn before(places: &[u32], until: usize) -> &[u32] {
    &places[..places.partition_point(|&place| (place as usize) < until)]
}

fn signed(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// The first hunk that overlaps an earlier one, and that one. Two hunks overlap if one changes lines that the other
/// changes or has as its context. They may share lines that both have as context.
fn first_overlap(hunks: &[Hunk<'_>], placed: &[Placed]) -> Option<(usize, usize)> {
    struct Area {
        hunk: usize,
        lines: Range<usize>,
        changed: Range<usize>,
        /// Whether it only adds lines, behind its `@@` line.
        is_narrowed: bool,
    }
    let mut areas: Vec<_> = std::iter::zip(hunks, placed)
        .enumerate()
        .map(|(hunk, (lines, place))| {
            let changed = lines.changed();
            Area {
                hunk,
                lines: place.start..place.start + lines.old_count(),
                changed: place.start + changed.start..place.start + changed.end,
                is_narrowed: lines.old_count() == 0 && !lines.narrowing.is_empty(),
            }
        })
        .collect();
    areas.sort_by_key(|area| (area.lines.start, area.hunk));
    let changes_in = |one: &Area, other: &Area| {
        // What is added behind an `@@` line may stand among another hunk's context.
        let lines = if one.is_narrowed { &other.changed } else { &other.lines };
        let changed = &one.changed;
        if changed.is_empty() {
            lines.start < changed.start && changed.start < lines.end
        } else {
            changed.start < lines.end && lines.start < changed.end
        }
    };
    let mut first: Option<(usize, usize)> = None;
    let mut open: Vec<&Area> = Vec::new();
    for area in &areas {
        open.retain(|before| before.lines.end > area.lines.start);
        for before in &open {
            if changes_in(area, before) || changes_in(before, area) {
                let pair = (area.hunk.max(before.hunk), area.hunk.min(before.hunk));
                first = Some(first.map_or(pair, |first| first.min(pair)));
            }
        }
        open.push(area);
    }
    first
}

#[cfg(test)]
mod tests;
