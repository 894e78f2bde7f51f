//! Growing the tree: level by level, so that a limit cuts the deepest first, and no folder hides
//! the others.
//!
//! A level that does not fit into the entries that are left is shared out among its folders. As
//! long as there are folders to go into, it gets only half of them; what the deeper levels then
//! do not need is given back. A folder that is cut shows the folders in it first: they tell most of
//! where things are.

use std::ffi::OsStr;
use std::num::NonZeroU64;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::gitignore::Rules;
use super::listing::{Lister, Seen};
use super::share::{share, water_level};
use super::threads::for_each;
use super::{SnapshotError, SnapshotOptions};
use crate::sandbox::{EntryKind, EntryName, Listed, Sandbox};

/// The workspace's root among the folders of its tree.
pub(super) const ROOT: usize = 0;

/// The folders that are shown, and what is shown of them.
pub(super) struct Tree {
    /// Each comes after the one that holds it.
    folders: Vec<Folder>,
}

struct Folder {
    /// The folder that holds it, and which of its entries this is; the root has none.
    place: Option<(usize, usize)>,
    contents: Contents,
    /// The rules that hold in it, once it has been opened.
    rules: Option<Arc<Rules>>,
}

/// What is known of a folder's contents.
pub(super) enum Contents {
    /// They were listed.
    Listed(Listing),
    /// There are some, and the limits leave them out. So begins every folder.
    LeftOut,
    /// The process may not list them, or the system failed.
    Unreadable,
    /// By the time it was opened, it was no folder any more.
    Gone,
}

/// The entries of a folder.
#[derive(Default)]
pub(super) struct Listing {
    /// Those that might be shown, in the order in which they are chosen.
    kept: Vec<Entry>,
    /// How many of them are shown.
    shown: usize,
    /// How many there are in all, but for what is ignored.
    total: usize,
}

pub(super) struct Entry {
    name: EntryName,
    kind: EntryKind,
    /// Of a folder that is shown, which of the tree's it is.
    folder: Option<usize>,
}

impl Tree {
    pub(super) fn contents(&self, folder: usize) -> &Contents {
        &self.folders[folder].contents
    }

    /// The rules that hold in the folder above, if there is one.
    pub(super) fn rules_above(&self, folder: usize) -> Option<Arc<Rules>> {
        let (above, _) = self.folders[folder].place?;
        self.folders[above].rules.clone()
    }

    fn listing(&self, folder: usize) -> Option<&Listing> {
        self.folders[folder].contents.listing()
    }

    fn listing_mut(&mut self, folder: usize) -> Option<&mut Listing> {
        self.folders[folder].contents.listing_mut()
    }

    /// The names that lead to a folder from the root.
    pub(super) fn names(&self, folder: usize) -> Vec<&EntryName> {
        let mut names = Vec::new();
        let mut here = folder;
        while let Some((above, index)) = self.folders[here].place {
            names.extend(self.listing(above).map(|listing| &listing.kept[index].name));
            here = above;
        }
        names.reverse();
        names
    }

    /// Gives each folder that one of `folders` shows its place among the tree's, and returns them.
    fn add_shown_folders(&mut self, folders: &[usize]) -> Vec<usize> {
        let mut added = Vec::new();
        for &above in folders {
            let mut next = self.folders.len();
            let Some(listing) = self.listing_mut(above) else { continue };
            let mut places = Vec::new();
            for (index, entry) in listing.kept[..listing.shown].iter_mut().enumerate() {
                if entry.kind == EntryKind::Folder && entry.folder.is_none() {
                    entry.folder = Some(next);
                    places.push((above, index));
                    next += 1;
                }
            }
            for place in places {
                added.push(self.folders.len());
                let contents = Contents::LeftOut;
                self.folders.push(Folder { place: Some(place), contents, rules: None });
            }
        }
        added
    }
}

impl Contents {
    fn listing(&self) -> Option<&Listing> {
        match self {
            Self::Listed(listing) => Some(listing),
            _ => None,
        }
    }

    fn listing_mut(&mut self) -> Option<&mut Listing> {
        match self {
            Self::Listed(listing) => Some(listing),
            _ => None,
        }
    }
}

impl Listing {
    /// The entries that might be shown, in the order in which they are chosen, of so many.
    pub(super) fn new(kept: Vec<Entry>, total: usize) -> Self {
        Self { kept, shown: 0, total }
    }

    /// How many entries are shown.
    pub(super) fn shows(&self) -> usize {
        self.shown
    }

    /// How many are not.
    pub(super) fn hides(&self) -> usize {
        self.total - self.shown
    }

    /// The entries that are shown, in the order of their names' bytes.
    pub(super) fn shown_by_name(&self) -> Vec<&Entry> {
        let mut shown: Vec<_> = self.kept[..self.shown].iter().collect();
        // The folders and the others are each in order already, which a stable sort makes use of.
        shown.sort_by(|one, other| one.name.cmp(&other.name));
        shown
    }
}

impl Entry {
    pub(super) fn new(listed: &Listed<'_>) -> Self {
        Self { name: listed.to_name(), kind: listed.kind(), folder: None }
    }

    pub(super) fn name(&self) -> &EntryName {
        &self.name
    }

    pub(super) fn kind(&self) -> EntryKind {
        self.kind
    }

    pub(super) fn folder(&self) -> Option<usize> {
        self.folder
    }

    /// What is chosen first where not all can be shown: folders, then by name.
    pub(super) fn rank(&self) -> (bool, &[u8]) {
        Self::rank_of(self.kind, self.name.as_os_str())
    }

    pub(super) fn rank_of(kind: EntryKind, name: &OsStr) -> (bool, &[u8]) {
        (kind != EntryKind::Folder, name.as_encoded_bytes())
    }
}

/// Grows the tree of a workspace.
pub(super) fn grow(
    sandbox: &Sandbox,
    options: &SnapshotOptions,
    cancelled: &(dyn Fn() -> bool + Sync),
) -> Result<Tree, SnapshotError> {
    let limit = |number: NonZeroU64| usize::try_from(number.get()).unwrap_or(usize::MAX);
    let root = Folder { place: None, contents: Contents::LeftOut, rules: None };
    let mut growth = Growth {
        lister: Lister { sandbox, cancelled, gitignore: options.gitignore },
        tree: Tree { folders: vec![root] },
        left: limit(options.max_entries),
    };
    growth.grow(limit(options.max_depth))?;
    Ok(growth.tree)
}

struct Growth<'run> {
    lister: Lister<'run>,
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

    /// Lists the folders of one level, and keeps what might be shown of them.
    fn list_level(&mut self, level: &[usize]) -> Result<(), SnapshotError> {
        let mut harvest = Harvest::new(self.left, level.len());
        let room = AtomicUsize::new(self.left);
        let (lister, tree) = (&self.lister, &self.tree);
        for_each(
            level.len(),
            &|index| lister.list(tree, level[index], room.load(Ordering::Relaxed)),
            &mut |index, seen| room.store(harvest.bring_in(index, seen), Ordering::Relaxed),
        )?;
        for (index, seen) in harvest.seen {
            let folder = &mut self.tree.folders[level[index]];
            (folder.contents, folder.rules) = (seen.contents, seen.rules);
        }
        Ok(())
    }

    fn totals(&self, level: &[usize]) -> Vec<usize> {
        let total = |&folder: &usize| self.tree.listing(folder).map_or(0, |listing| listing.total);
        level.iter().map(total).collect()
    }

    /// Decides what is shown of a level.
    fn show_level(&mut self, level: &[usize], may_go_deeper: bool) {
        let totals = self.totals(level);
        let fits = totals.iter().sum::<usize>() <= self.left;
        let holds_folders = |&folder: &usize| {
            let listing = self.tree.listing(folder);
            listing.is_some_and(|listing| {
                listing.kept.first().is_some_and(|entry| entry.kind == EntryKind::Folder)
            })
        };
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
            let share = share.min(listing.kept.len());
            self.left = (self.left + listing.shown).saturating_sub(share);
            listing.shown = share;
        }
    }

    /// Finds out whether the limits leave anything out of the folders that were not listed.
    fn glance_at_the_rest(&mut self) -> Result<(), SnapshotError> {
        let all: Vec<usize> = (0..self.tree.folders.len()).collect();
        self.tree.add_shown_folders(&all);
        let is_unknown = |&folder: &usize| matches!(self.tree.contents(folder), Contents::LeftOut);
        let rest: Vec<_> = (0..self.tree.folders.len()).filter(is_unknown).collect();
        let mut seen = Vec::new();
        let (lister, tree) = (&self.lister, &self.tree);
        for_each(rest.len(), &|index| lister.glance(tree, rest[index]), &mut |index, look| {
            seen.push((rest[index], look));
        })?;
        for (folder, look) in seen {
            self.tree.folders[folder].contents = look.contents;
        }
        Ok(())
    }
}

/// The listings of one level's folders, as they come in.
struct Harvest {
    seen: Vec<(usize, Seen)>,
    /// How many entries there are to share out.
    budget: usize,
    /// How many entries the listings may keep together before those are let go for which there
    /// will be no room.
    capacity: usize,
    kept: usize,
    /// How many entries a folder can come to show at the most: the more folders have been listed,
    /// the fewer.
    room: usize,
}

impl Harvest {
    fn new(budget: usize, folders: usize) -> Self {
        let capacity = 2 * (budget + folders);
        Self { seen: Vec::with_capacity(folders), budget, capacity, kept: 0, room: budget }
    }

    /// Takes a folder's listing in, and says how much room there is for the next one's.
    fn bring_in(&mut self, index: usize, seen: Seen) -> usize {
        self.kept += seen.contents.listing().map_or(0, |listing| listing.kept.len());
        self.seen.push((index, seen));
        if self.kept > self.capacity {
            let totals: Vec<_> = self.listings().map(|listing| listing.total).collect();
            self.room = water_level(&totals, self.budget).saturating_add(1);
            let room = self.room;
            self.listings().for_each(|listing| listing.kept.truncate(room));
            self.kept = self.listings().map(|listing| listing.kept.len()).sum();
        }
        self.room
    }

    fn listings(&mut self) -> impl Iterator<Item = &mut Listing> {
        self.seen.iter_mut().filter_map(|(_, seen)| seen.contents.listing_mut())
    }
}
