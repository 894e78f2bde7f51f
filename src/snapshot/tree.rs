//! Growing the tree: level by level, so that a limit cuts the deepest first, and no folder hides
//! the others.
//!
//! A level that does not fit into the entries that are left is shared out among its folders. As
//! long as there are folders to go into, it gets only half of them; what the deeper levels then
//! do not need is given back. A folder that is cut shows the folders in it first: they tell most of
//! where things are.

use std::ops::ControlFlow;
use std::rc::Rc;

use super::gitignore::{self, Rules};
use super::share::{share, water_level};
use super::{BUILD_ARTIFACTS, SnapshotError, SnapshotOptions};
use crate::sandbox::{EntryKind, EntryName, Listed, ListedFolder, OpenError, Sandbox};

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
    rules: Option<Rc<Rules>>,
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

    fn listing(&self, folder: usize) -> Option<&Listing> {
        match &self.folders[folder].contents {
            Contents::Listed(listing) => Some(listing),
            _ => None,
        }
    }

    fn listing_mut(&mut self, folder: usize) -> Option<&mut Listing> {
        match &mut self.folders[folder].contents {
            Contents::Listed(listing) => Some(listing),
            _ => None,
        }
    }

    /// The names that lead to a folder from the root.
    fn names(&self, folder: usize) -> Vec<&EntryName> {
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

impl Listing {
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
    fn rank(&self) -> (bool, &[u8]) {
        rank(self.kind, self.name.as_os_str())
    }
}

fn rank(kind: EntryKind, name: &std::ffi::OsStr) -> (bool, &[u8]) {
    (kind != EntryKind::Folder, name.as_encoded_bytes())
}

/// Grows the tree of a workspace.
pub(super) fn grow(
    sandbox: &Sandbox,
    options: &SnapshotOptions,
    cancelled: &dyn Fn() -> bool,
) -> Result<Tree, SnapshotError> {
    let limit = |number: std::num::NonZeroU64| usize::try_from(number.get()).unwrap_or(usize::MAX);
    let root = Folder { place: None, contents: Contents::LeftOut, rules: None };
    let mut growth = Growth {
        sandbox,
        cancelled,
        gitignore: options.gitignore,
        tree: Tree { folders: vec![root] },
        left: limit(options.max_entries),
    };
    growth.grow(limit(options.max_depth))?;
    Ok(growth.tree)
}

struct Growth<'run> {
    sandbox: &'run Sandbox,
    cancelled: &'run dyn Fn() -> bool,
    gitignore: bool,
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
        let mut room = self.left;
        let mut kept = 0;
        for (index, &folder) in level.iter().enumerate() {
            self.tree.folders[folder].contents = self.list(folder, room)?;
            kept += self.tree.listing(folder).map_or(0, |listing| listing.kept.len());
            // The more folders have been listed, the less can each of them show.
            if kept > 2 * (self.left + level.len()) {
                let listed = &level[..=index];
                room = water_level(&self.totals(listed), self.left).saturating_add(1);
                kept = 0;
                for &folder in listed {
                    let Some(listing) = self.tree.listing_mut(folder) else { continue };
                    listing.kept.truncate(room);
                    kept += listing.kept.len();
                }
            }
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
        let listed: Vec<usize> = (0..self.tree.folders.len()).collect();
        self.tree.add_shown_folders(&listed);
        for folder in 0..self.tree.folders.len() {
            if matches!(self.tree.contents(folder), Contents::LeftOut) {
                self.tree.folders[folder].contents = self.glance(folder)?;
            }
        }
        Ok(())
    }

    fn glance(&mut self, folder: usize) -> Result<Contents, SnapshotError> {
        let mut is_empty = true;
        let visited = self.visit(folder, &mut |_| {
            is_empty = false;
            ControlFlow::Break(())
        })?;
        Ok(match visited {
            Ok(()) if is_empty => Contents::Listed(Listing::default()),
            Ok(()) => Contents::LeftOut,
            Err(contents) => contents,
        })
    }

    /// Lists a folder, and keeps the `room` entries that come first.
    fn list(&mut self, folder: usize, room: usize) -> Result<Contents, SnapshotError> {
        let mut choice = Choice::new(room);
        let visited = self.visit(folder, &mut |entry| {
            choice.offer(entry);
            ControlFlow::Continue(())
        })?;
        Ok(match visited {
            Ok(()) => Contents::Listed(choice.made()),
            Err(contents) => contents,
        })
    }

    /// Hands the entries of a folder that are not ignored to `take`. The inner error is what is
    /// known instead of a folder's contents.
    fn visit(
        &mut self,
        folder: usize,
        take: &mut dyn FnMut(&Listed<'_>) -> ControlFlow<()>,
    ) -> Result<Result<(), Contents>, SnapshotError> {
        match self.try_visit(folder, take) {
            _ if (self.cancelled)() => Err(SnapshotError::Cancelled),
            // A folder that was removed while it was open lists as an empty one, or not at all.
            _ if folder == ROOT && self.sandbox.is_gone() => Err(SnapshotError::RootGone),
            Ok(()) => Ok(Ok(())),
            Err(OpenError::RootGone) => Err(SnapshotError::RootGone),
            Err(error) if folder == ROOT => Err(SnapshotError::List(error)),
            Err(OpenError::NotFound | OpenError::NotFolder | OpenError::Escapes) => {
                Ok(Err(Contents::Gone))
            }
            Err(_) => Ok(Err(Contents::Unreadable)),
        }
    }

    fn try_visit(
        &mut self,
        folder: usize,
        take: &mut dyn FnMut(&Listed<'_>) -> ControlFlow<()>,
    ) -> Result<(), OpenError> {
        let names = self.tree.names(folder);
        let mut opened = self.sandbox.open_folder_by_names(&names)?;
        let mut ignored = self.gitignore.then(|| Ignored {
            rules: self.rules(folder, &names, &opened),
            path: gitignore::path_of(&names),
        });
        let visited = opened.visit(&mut |entry| {
            if (self.cancelled)() {
                return ControlFlow::Break(());
            }
            let is_ignored = ignored.as_mut().is_some_and(|ignored| ignored.holds(&entry));
            if is_ignored || is_build_artifact(&entry) {
                return ControlFlow::Continue(());
            }
            take(&entry)
        });
        self.tree.folders[folder].rules = ignored.map(|ignored| ignored.rules);
        visited
    }

    fn rules(&self, folder: usize, names: &[&EntryName], opened: &ListedFolder<'_>) -> Rc<Rules> {
        let above = self.tree.folders[folder].place;
        let above = above.and_then(|(above, _)| self.tree.folders[above].rules.clone());
        Rules::in_folder(opened, names, above)
    }
}

/// What `.gitignore` files say of one folder's entries.
struct Ignored {
    rules: Rc<Rules>,
    /// The folder's path and a `/`; empty for the root.
    path: Vec<u8>,
}

impl Ignored {
    fn holds(&mut self, entry: &Listed<'_>) -> bool {
        let length = self.path.len();
        self.path.extend(entry.name().as_encoded_bytes());
        let ignored = self.rules.ignore(&self.path, entry.kind() == EntryKind::Folder);
        self.path.truncate(length);
        ignored
    }
}

fn is_build_artifact(entry: &Listed<'_>) -> bool {
    matches!(entry.kind(), EntryKind::Folder | EntryKind::Link)
        && BUILD_ARTIFACTS.iter().any(|name| entry.name() == *name)
}

impl Default for Listing {
    fn default() -> Self {
        Choice::new(0).made()
    }
}

/// The entries of a folder that come first, however many there are.
struct Choice {
    room: usize,
    kept: Vec<Entry>,
    /// Whether the last of `kept` is the last that may still come in.
    is_full: bool,
    total: usize,
}

impl Choice {
    /// How many entries are gathered at the least before the last ones are let go.
    const BATCH: usize = 256;

    fn new(room: usize) -> Self {
        Self { room, kept: Vec::new(), is_full: false, total: 0 }
    }

    fn offer(&mut self, entry: &Listed<'_>) {
        self.total += 1;
        let bar = if self.is_full { self.kept.get(self.room.wrapping_sub(1)) } else { None };
        if bar.is_some_and(|bar| rank(entry.kind(), entry.name()) > bar.rank()) {
            return;
        }
        self.kept.push(Entry { name: entry.to_name(), kind: entry.kind(), folder: None });
        if self.kept.len() >= 2 * self.room.max(Self::BATCH) {
            self.let_go();
        }
    }

    /// Keeps what there is room for; the last of it is then the bar for what still comes.
    fn let_go(&mut self) {
        if self.kept.len() > self.room && self.room > 0 {
            self.kept
                .select_nth_unstable_by(self.room - 1, |one, other| one.rank().cmp(&other.rank()));
            self.is_full = true;
        }
        self.kept.truncate(self.room);
    }

    fn made(mut self) -> Listing {
        self.let_go();
        self.kept.sort_unstable_by(|one, other| one.rank().cmp(&other.rank()));
        Listing { kept: self.kept, shown: 0, total: self.total }
    }
}
