//! The page of an answer: the first items in order, and what was left out up to the last of them.

use super::cursor::Cursor;
use super::file::Found;
use super::item::{Item, MAX_UNITS};
use crate::tools::failure::{ErrorCode, Failure};
use crate::tools::walk_warnings::{SkippedCounts, unheeded_files};
use crate::tree::{RuleReader, Tally};
/// How many files were searched and left out so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Files whose text was searched.
    pub scanned: u64,
    /// What was left out.
    pub left_out: SkippedCounts,
}

impl Counts {
    /// Counts a file.
    pub fn count(&mut self, found: &Found) {
        *match found {
            Found::Items(_) => &mut self.scanned,
            Found::Binary => &mut self.left_out.binary,
            Found::TooLarge => &mut self.left_out.too_large,
            Found::Unreadable => &mut self.left_out.unreadable,
            Found::Gone => return,
        } += 1;
    }

    /// The counts after these and others that follow. The walk's own go on from the root.
    fn and(self, later: &Self) -> Self {
        let (before, after) = (self.left_out, later.left_out);
        Self {
            scanned: self.scanned + later.scanned,
            left_out: SkippedCounts {
                binary: before.binary + after.binary,
                too_large: before.too_large + after.too_large,
                unreadable: before.unreadable + after.unreadable,
                ..after
            },
        }
    }
}

/// The items of some files that follow each other.
#[derive(Debug, Default)]
pub struct Batch {
    /// The files that have items, each with the counts of the batch up to it.
    pub files: Vec<(Vec<Item>, Counts)>,
    /// The counts of the whole batch.
    pub counts: Counts,
    /// How many UTF-16 units the items' texts have.
    pub units: usize,
}

/// The items so far.
#[derive(Debug)]
pub struct Page {
    max_items: usize,
    units_left: usize,
    items: Vec<Item>,
    counts: Counts,
    counts_at_last_item: Counts,
    is_truncated: bool,
}

impl Page {
    pub fn new(max_items: usize) -> Self {
        Self {
            max_items,
            units_left: MAX_UNITS,
            items: Vec::new(),
            counts: Counts::default(),
            counts_at_last_item: Counts::default(),
            is_truncated: false,
        }
    }

    /// Adds the batch that follows those before.
    pub fn add(&mut self, batch: Batch) {
        for (items, counts) in batch.files {
            for item in items {
                let units = item.units();
                let has_room = self.items.is_empty() || units <= self.units_left;
                if self.items.len() >= self.max_items || !has_room {
                    self.is_truncated = true;
                    return;
                }
                self.units_left = self.units_left.saturating_sub(units);
                self.items.push(item);
                self.counts_at_last_item = self.counts.and(&counts);
            }
        }
        self.counts = self.counts.and(&batch.counts);
    }

    /// Adds the only file of a search, which was named.
    pub fn add_named(&mut self, found: Found, max_file_bytes: u64) -> Result<(), Failure> {
        let mut counts = Counts::default();
        counts.count(&found);
        let items = match found {
            Found::Items(items) => items,
            Found::Binary => {
                let sentence = "root_path is a binary file, or not in UTF-8 or UTF-16";
                return Err(Failure::new(ErrorCode::BinaryNotSupported, sentence));
            }
            Found::TooLarge => {
                let sentence = format!("root_path is a file of more than {max_file_bytes} bytes");
                return Err(Failure::new(ErrorCode::SizeLimitExceeded, sentence));
            }
            Found::Unreadable => {
                let sentence = "root_path is a file that could not be read";
                return Err(Failure::new(ErrorCode::PermissionDenied, sentence));
            }
            Found::Gone => return Err(Failure::new(ErrorCode::NotFound, "no such file")),
        };
        let units = items.iter().map(Item::units).sum();
        self.add(Batch { files: vec![(items, counts)], counts, units });
        Ok(())
    }

    /// The counts of a walk that has ended.
    pub fn end_walk(&mut self, tally: Tally) {
        self.counts.left_out.walk = tally;
    }

    /// Counts the `.gitignore` files that were not heeded, on whichever page.
    pub fn count_unheeded(&mut self, rules: RuleReader) {
        let unheeded = unheeded_files(rules);
        self.counts.left_out.unheeded = unheeded;
        self.counts_at_last_item.left_out.unheeded = unheeded;
    }

    /// Whether there are items that the page has no room for. Then it is certain.
    pub fn is_truncated(&self) -> bool {
        self.is_truncated
    }

    pub fn item_count(&self) -> usize {
        self.items.len()
    }

    pub fn counts(&self) -> Counts {
        if self.is_truncated { self.counts_at_last_item } else { self.counts }
    }

    /// The text that leads to the next page.
    pub fn next(&self) -> Option<String> {
        let last = self.items.last().filter(|_| self.is_truncated)?;
        Some(Cursor::of(last).to_string())
    }

    pub fn into_items(self) -> Vec<Item> {
        self.items
    }
}
