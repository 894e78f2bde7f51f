//! One thread's part of a page, of a walk in no order.

use super::Sort;
use super::item::{FirstItems, item_of};
use super::literal::{BracketPattern, Matched};
use super::page::{Asked, Page};
use crate::tools::walk_warnings::SkippedCounts;
use crate::tree::{Collect, SkipReason, WalkEntry};

/// How many entries that are left out a part remembers by their paths.
const MAX_PLACES: usize = if cfg!(test) { 3 } else { 50_000 };

/// The entries that one thread has collected.
pub struct Part<'call> {
    asked: &'call Asked,
    bracket_patterns: &'call [BracketPattern],
    /// Which of the bracket patterns have matched something.
    pub matched: Matched,
    kept: FirstItems,
    /// How many entries match, those that may not be looked at included.
    total: u64,
    left_out: SkippedCounts,
    /// The paths of the entries that were left out. The reason is `None` if the process may not look at the
    /// entry.
    places: Vec<(String, Option<SkipReason>)>,
    has_all_places: bool,
}

impl<'call> Part<'call> {
    pub fn new(asked: &'call Asked, bracket_patterns: &'call [BracketPattern]) -> Self {
        Self {
            asked,
            bracket_patterns,
            matched: Matched::none_of(bracket_patterns),
            kept: FirstItems::new(asked.sort, asked.max_items),
            total: 0,
            left_out: SkippedCounts::default(),
            places: Vec::new(),
            has_all_places: true,
        }
    }

    /// Takes the item of an entry, if the page may have room for it. Says whether the entry is there.
    fn take(&mut self, entry: &WalkEntry<'_>) -> bool {
        if self.asked.sort == Sort::Path && !self.kept.has_room_for(&entry.path) {
            return true;
        }
        match item_of(entry) {
            Some(Ok(item)) => self.kept.add(item),
            Some(Err(_)) => self.leave_out(&entry.path, None),
            None => return false,
        }
        true
    }

    fn leave_out(&mut self, path: &str, reason: Option<SkipReason>) {
        count(&mut self.left_out, reason);
        if self.places.len() < MAX_PLACES {
            self.places.push((path.to_owned(), reason));
        } else {
            self.has_all_places = false;
        }
    }
}

impl Collect for Part<'_> {
    fn entry(&mut self, entry: &WalkEntry<'_>) {
        self.matched.note(self.bracket_patterns, entry);
        if self.asked.is_earlier(&entry.path) || self.take(entry) {
            self.total += 1;
        }
    }

    fn left_out(&mut self, path: &str, reason: SkipReason) {
        self.leave_out(path, Some(reason));
    }
}

/// The page of all parts; `None` if so much was left out that only a walk in order can tell how much of it
/// belongs to this page.
pub fn join(asked: &Asked, parts: Vec<Part<'_>>, scanned: u64) -> Option<Page> {
    let mut kept = FirstItems::new(asked.sort, asked.max_items);
    let (mut total, mut left_out) = (0, SkippedCounts::default());
    let (mut places, mut has_all_places) = (Vec::new(), true);
    for part in parts {
        total += part.total;
        left_out = left_out.and(&part.left_out);
        kept.and(part.kept);
        places.extend(part.places);
        has_all_places &= part.has_all_places;
    }
    let is_truncated = kept.is_truncated();
    let items = kept.into_page();
    let last = items.last().filter(|_| is_truncated && asked.sort == Sort::Path);
    if last.is_some() || asked.after.is_some() {
        if !has_all_places {
            return None;
        }
        let last = last.map(|last| &*last.path);
        left_out = SkippedCounts::default();
        for (_, reason) in places.iter().filter(|(path, _)| asked.is_on_page(path, last)) {
            count(&mut left_out, *reason);
        }
    }
    Some(Page { items, is_truncated, total, scanned, left_out })
}

fn count(left_out: &mut SkippedCounts, reason: Option<SkipReason>) {
    match reason {
        Some(reason) => left_out.walk.count(reason),
        None => left_out.unreadable += 1,
    }
}
