//! An item, and the items that come first.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::Sort;
use crate::sandbox::{EntryKind, OpenError};
use crate::tree::{WalkEntry, compare_paths};

/// An entry that matches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// Relative to the workspace's root.
    pub path: String,
    /// Whether it is a folder.
    pub is_folder: bool,
    /// How many bytes a file has.
    pub size: u64,
    /// When it last changed: milliseconds since 1970, rounded down.
    pub mtime_ms: i64,
}

/// The item of an entry; `None` if it was removed or replaced meanwhile. The error is that it may not be
/// looked at.
pub fn item_of(entry: &WalkEntry<'_>) -> Option<Result<Item, OpenError>> {
    let is_folder = entry.kind == EntryKind::Folder;
    match entry.facts() {
        Ok(facts) if facts.kind == entry.kind => {
            let size = if is_folder { 0 } else { facts.size };
            let (path, mtime_ms) = (entry.path.clone(), facts.modified_ms);
            Some(Ok(Item { path, is_folder, size, mtime_ms }))
        }
        Ok(_) | Err(OpenError::NotFound | OpenError::NotFolder) => None,
        Err(error) => Some(Err(error)),
    }
}

/// The items that come first: as many as a page has, and one more, which shows that the page is truncated.
pub struct FirstItems {
    sort: Sort,
    max_items: usize,
    /// The one that comes last is on top.
    items: BinaryHeap<Ranked>,
}

impl FirstItems {
    pub fn new(sort: Sort, max_items: usize) -> Self {
        Self { sort, max_items, items: BinaryHeap::new() }
    }

    /// Whether the page is full.
    pub fn is_full(&self) -> bool {
        self.items.len() >= self.max_items
    }

    /// Whether there are more items than the page has room for.
    pub fn is_truncated(&self) -> bool {
        self.items.len() > self.max_items
    }

    /// Whether an item of that path, sorted by path, would be kept.
    pub fn has_room_for(&self, path: &str) -> bool {
        let is_before_last =
            || self.items.peek().is_some_and(|last| compare_paths(path, &last.item.path).is_lt());
        !self.is_truncated() || is_before_last()
    }

    /// Adds an item; the one that then comes last makes way if there are too many.
    pub fn add(&mut self, item: Item) {
        self.items.push(Ranked { sort: self.sort, item });
        if self.items.len() > self.max_items + 1 {
            self.items.pop();
        }
    }

    /// Adds the items that another thread has kept.
    pub fn and(&mut self, other: Self) {
        other.items.into_iter().for_each(|ranked| self.add(ranked.item));
    }

    /// The items of the page, in order.
    pub fn into_page(self) -> Vec<Item> {
        let ranked = self.items.into_sorted_vec().into_iter().take(self.max_items);
        ranked.map(|ranked| ranked.item).collect()
    }
}

/// An item that compares by its place in the order.
struct Ranked {
    sort: Sort,
    item: Item,
}

impl Ord for Ranked {
    fn cmp(&self, other: &Self) -> Ordering {
        let (one, other) = (&self.item, &other.item);
        let by_path = || compare_paths(&one.path, &other.path);
        match self.sort {
            Sort::Path => by_path(),
            Sort::Mtime => other.mtime_ms.cmp(&one.mtime_ms).then_with(by_path),
        }
    }
}

impl PartialOrd for Ranked {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Ranked {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Ranked {}
