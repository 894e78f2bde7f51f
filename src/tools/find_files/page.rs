//! The items of an answer, and what was left out up to the last of them.

use std::fmt;

use super::Sort;
use super::item::{FirstItems, Item, item_of};
use crate::tools::walk_arguments::is_item_path;
use crate::tools::walk_warnings::{SkippedCounts, unheeded_files};
use crate::tree::{RuleReader, Tally, WalkEntry, compare_paths};

/// Where a page ends: the text that `next` gives and `after` takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cursor(String);

impl Cursor {
    /// Reads `:` and the path of an item; `None` for any other text.
    pub fn parse(text: &str) -> Option<Self> {
        let path = text.strip_prefix(':')?;
        is_item_path(path).then(|| Self(path.to_owned()))
    }

    /// Whether a path comes after the place.
    pub fn is_before(&self, path: &str) -> bool {
        compare_paths(&self.0, path).is_lt()
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, ":{}", self.0)
    }
}

/// The page that is asked for.
#[derive(Debug, Clone)]
pub struct Asked {
    pub sort: Sort,
    pub max_items: usize,
    pub after: Option<Cursor>,
}

impl Asked {
    /// Whether a path stands on the page whose last item has that path; `None` means that the page has all.
    pub fn is_on_page(&self, path: &str, last: Option<&str>) -> bool {
        !self.is_earlier(path) && last.is_none_or(|last| compare_paths(path, last).is_le())
    }

    /// Whether an item stands on an earlier page.
    pub fn is_earlier(&self, path: &str) -> bool {
        self.after.as_ref().is_some_and(|after| !after.is_before(path))
    }
}

/// A page.
#[derive(Debug)]
pub struct Page {
    pub items: Vec<Item>,
    /// Whether there are items that the page has no room for.
    pub is_truncated: bool,
    /// How many entries match, on all pages together, those that may not be looked at included. So each page
    /// has the same number, although it looks at its own items alone.
    pub total: u64,
    /// How many entries were looked at.
    pub scanned: u64,
    /// What was left out, on this page alone.
    pub left_out: SkippedCounts,
}

impl Page {
    /// The text that leads to the next page.
    pub fn next(&self, asked: &Asked) -> Option<String> {
        let last = self.items.last().filter(|_| self.is_truncated && asked.sort == Sort::Path)?;
        Some(Cursor(last.path.clone()).to_string())
    }
}

/// A page in the making, by a walk in the order of paths.
pub struct OrderedPage<'call> {
    asked: &'call Asked,
    kept: FirstItems,
    total: u64,
    /// What earlier pages have left out.
    before: Tally,
    left_out: SkippedCounts,
    left_out_at_last_item: SkippedCounts,
}

impl<'call> OrderedPage<'call> {
    pub fn new(asked: &'call Asked) -> Self {
        Self {
            asked,
            kept: FirstItems::new(asked.sort, asked.max_items),
            total: 0,
            before: Tally::default(),
            left_out: SkippedCounts::default(),
            left_out_at_last_item: SkippedCounts::default(),
        }
    }

    /// Adds the next entry that matches. `tally` is the walk's up to it.
    pub fn add(&mut self, entry: &WalkEntry<'_>, tally: Tally) {
        self.left_out.walk = tally;
        self.total += 1;
        if self.asked.is_earlier(&entry.path) {
            self.before = tally;
            return;
        }
        if self.asked.sort == Sort::Path && self.kept.is_truncated() {
            return;
        }
        match item_of(entry) {
            Some(Ok(item)) => {
                if !self.kept.is_full() {
                    self.left_out_at_last_item = self.left_out;
                }
                self.kept.add(item);
            }
            Some(Err(_)) => self.left_out.unreadable += 1,
            None => self.total -= 1,
        }
    }

    /// The page, with the counts of the whole walk.
    pub fn finish(mut self, tally: Tally, scanned: u64, rules: Option<RuleReader>) -> Page {
        self.left_out.walk = tally;
        let is_truncated = self.kept.is_truncated();
        let mut left_out = match self.asked.sort {
            Sort::Path if is_truncated => self.left_out_at_last_item,
            _ => self.left_out,
        };
        left_out.walk = left_out.walk.since(&self.before);
        left_out.unheeded = rules.map_or(0, unheeded_files);
        Page { items: self.kept.into_page(), is_truncated, total: self.total, scanned, left_out }
    }
}

#[cfg(test)]
mod tests {
    use super::Cursor;

    #[test]
    fn a_place_comes_back_from_its_text() {
        for text in [":a", ":src/a.ts", "::", ":a\\b", ":...", ": "] {
            assert_eq!(Cursor::parse(text).unwrap().to_string(), text);
        }
    }

    #[test]
    fn a_text_that_was_no_next_is_refused() {
        for text in ["", ":", "a", "src/a.ts", "1:2:a", ":/a", ":a/", ":a//b", ":../a", ":.", ":\0"]
        {
            assert!(Cursor::parse(text).is_none(), "{text:?}");
        }
    }
}
