//! Growing the tree: level by level, so that a limit cuts the deepest first, and no folder hides
//! the others.
//!
//! A level that does not fit into the entries that are left is shared out among its folders. As
//! long as there are folders to go into, it gets only half of them; entries that the deeper levels
//! then do not need are given back. A folder that is cut shows the folders in it first, because
//! they tell a reader most about the workspace.

use std::num::NonZeroU64;

use super::choice::Choice;
use super::listing::{FolderLister, FolderListing};
use super::share::{share, water_level};
use super::tree::{Contents, Listing, ROOT, Tree};
use super::{SnapshotError, SnapshotOptions};
use crate::sandbox::Sandbox;
use crate::tree::{Lister, RuleReader};

/// Grows the tree of a workspace.
pub(super) fn grow(
    sandbox: &Sandbox,
    options: &SnapshotOptions,
    rules: Option<&RuleReader>,
    cancelled: &dyn Fn() -> bool,
) -> Result<Tree, SnapshotError> {
    let choice = Choice::parse(sandbox, &options.exclude, &options.include)?;
    let limit = |number: NonZeroU64| usize::try_from(number.get()).unwrap_or(usize::MAX);
    let mut growth = Growth {
        folders: FolderLister { sandbox, choice: &choice, lister: Lister { rules, cancelled } },
        tree: Tree::new(),
        left: limit(options.max_entries),
    };
    growth.grow(limit(options.max_depth))?;
    Ok(growth.tree)
}

struct Growth<'run> {
    folders: FolderLister<'run>,
    tree: Tree,
    /// How many more entries may be shown.
    left: usize,
}

impl Growth<'_> {
    fn grow(&mut self, max_depth: usize) -> Result<(), SnapshotError> {
        let mut levels = Vec::new();
        let mut level = vec![ROOT];
        for depth in 1..=max_depth {
            self.list_level(&level)?;
            self.show_level(&level, depth < max_depth);
            let next = self.tree.add_shown_folders(&level);
            levels.push(level);
            level = next;
            if level.is_empty() || self.left == 0 {
                break;
            }
        }
        self.give_back(&levels);
        self.glance_at_the_rest()
    }

    /// Lists the folders of one level, and keeps the entries that might be shown.
    fn list_level(&mut self, level: &[usize]) -> Result<(), SnapshotError> {
        let mut harvest = LevelListings::new(self.left, level.len());
        for &folder in level {
            harvest.add(self.folders.list(&self.tree, folder, harvest.room)?);
        }
        for (&folder, seen) in level.iter().zip(harvest.seen) {
            self.tree.fill(folder, seen.contents, seen.rules);
        }
        Ok(())
    }

    fn totals(&self, level: &[usize]) -> Vec<usize> {
        let total = |&folder: &usize| self.tree.listing(folder).map_or(0, Listing::total);
        level.iter().map(total).collect()
    }

    /// Decides how many entries each folder of a level shows.
    fn show_level(&mut self, level: &[usize], may_go_deeper: bool) {
        let totals = self.totals(level);
        let fits = totals.iter().sum::<usize>() <= self.left;
        let holds_folders =
            |&folder: &usize| self.tree.listing(folder).is_some_and(Listing::holds_folders);
        let keeps_half = !fits && may_go_deeper && level.iter().any(holds_folders);
        let budget = if keeps_half { self.left.div_ceil(2) } else { self.left };
        self.show(level, &share(&totals, budget));
    }

    /// Shows more of the levels that were cut, the uppermost first.
    fn give_back(&mut self, levels: &[Vec<usize>]) {
        for level in levels {
            if self.left == 0 {
                return;
            }
            let shown = |&folder: &usize| self.tree.listing(folder).map_or(0, Listing::shows);
            let budget = self.left + level.iter().map(shown).sum::<usize>();
            self.show(level, &share(&self.totals(level), budget));
        }
    }

    fn show(&mut self, level: &[usize], shares: &[usize]) {
        for (&folder, &share) in level.iter().zip(shares) {
            let Some(listing) = self.tree.listing_mut(folder) else { continue };
            let share = share.min(listing.keeps());
            self.left = (self.left + listing.shows()).saturating_sub(share);
            listing.show(share);
        }
    }

    /// Finds out whether the limits leave anything out of the folders that were not listed.
    fn glance_at_the_rest(&mut self) -> Result<(), SnapshotError> {
        let all: Vec<usize> = (0..self.tree.len()).collect();
        self.tree.add_shown_folders(&all);
        for folder in 0..self.tree.len() {
            if matches!(self.tree.contents(folder), Contents::LeftOut) {
                let contents = self.folders.is_anything_left_out(&self.tree, folder)?;
                self.tree.fill(folder, contents, None);
            }
        }
        Ok(())
    }
}

/// The listings of one level's folders, as they come in.
struct LevelListings {
    seen: Vec<FolderListing>,
    /// How many entries there are to share out.
    budget: usize,
    /// How many entries the listings may keep together. Beyond that, entries for which there will
    /// be no room are dropped.
    capacity: usize,
    kept: usize,
    /// How many entries a folder can come to show at the most: the more folders have been listed,
    /// the fewer.
    room: usize,
}

impl LevelListings {
    fn new(budget: usize, folders: usize) -> Self {
        let capacity = 2 * (budget + folders);
        Self { seen: Vec::with_capacity(folders), budget, capacity, kept: 0, room: budget }
    }

    fn add(&mut self, seen: FolderListing) {
        self.kept += seen.contents.listing().map_or(0, Listing::keeps);
        self.seen.push(seen);
        if self.kept > self.capacity {
            let totals: Vec<_> = self.listings().map(|listing| listing.total()).collect();
            self.room = water_level(&totals, self.budget).saturating_add(1);
            let room = self.room;
            self.listings().for_each(|listing| listing.let_go_beyond(room));
            self.kept = self.listings().map(|listing| listing.keeps()).sum();
        }
    }

    fn listings(&mut self) -> impl Iterator<Item = &mut Listing> {
        self.seen.iter_mut().filter_map(|seen| seen.contents.listing_mut())
    }
}
