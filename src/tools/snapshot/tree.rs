//! The tree of a snapshot: the folders that are shown, and the entries that each shows.

use std::ffi::OsStr;
use std::sync::Arc;

use crate::sandbox::{EntryKind, EntryName, Listed};
use crate::tree::Rules;

/// The workspace's root among the folders of its tree.
pub(super) const ROOT: usize = 0;

/// The folders that are shown, and their entries.
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

/// The contents of a folder, or why they are not listed.
pub(super) enum Contents {
    /// They were listed.
    Listed(Listing),
    /// The limits leave them out. Every folder begins in this state.
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
    /// How many there are in all, without those that are excluded.
    total: usize,
}

pub(super) struct Entry {
    name: EntryName,
    kind: EntryKind,
    /// The index in the tree, for a folder that is shown.
    folder: Option<usize>,
}

impl Tree {
    /// A tree of the root alone.
    pub(super) fn new() -> Self {
        let root = Folder { place: None, contents: Contents::LeftOut, rules: None };
        Self { folders: vec![root] }
    }

    /// How many folders are shown, the root included.
    pub(super) fn len(&self) -> usize {
        self.folders.len()
    }

    pub(super) fn contents(&self, folder: usize) -> &Contents {
        &self.folders[folder].contents
    }

    /// Keeps the contents of a folder, and the rules that hold in it.
    pub(super) fn fill(&mut self, folder: usize, contents: Contents, rules: Option<Arc<Rules>>) {
        let folder = &mut self.folders[folder];
        (folder.contents, folder.rules) = (contents, rules);
    }

    /// The rules that hold in the folder above, if there is one.
    pub(super) fn rules_above(&self, folder: usize) -> Option<Arc<Rules>> {
        let (above, _) = self.folders[folder].place?;
        self.folders[above].rules.clone()
    }

    pub(super) fn listing(&self, folder: usize) -> Option<&Listing> {
        self.folders[folder].contents.listing()
    }

    pub(super) fn listing_mut(&mut self, folder: usize) -> Option<&mut Listing> {
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
    pub(super) fn add_shown_folders(&mut self, folders: &[usize]) -> Vec<usize> {
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
    pub(super) fn listing(&self) -> Option<&Listing> {
        match self {
            Self::Listed(listing) => Some(listing),
            _ => None,
        }
    }

    pub(super) fn listing_mut(&mut self) -> Option<&mut Listing> {
        match self {
            Self::Listed(listing) => Some(listing),
            _ => None,
        }
    }
}

impl Listing {
    /// A listing of the entries that might be shown, in the order in which they are chosen, and of
    /// the number of all.
    pub(super) fn new(kept: Vec<Entry>, total: usize) -> Self {
        Self { kept, shown: 0, total }
    }

    /// How many entries there are in all.
    pub(super) fn total(&self) -> usize {
        self.total
    }

    /// Whether a folder is among the entries that might be shown: folders are chosen first.
    pub(super) fn holds_folders(&self) -> bool {
        self.kept.first().is_some_and(|entry| entry.kind == EntryKind::Folder)
    }

    /// How many entries might be shown.
    pub(super) fn keeps(&self) -> usize {
        self.kept.len()
    }

    /// Lets the entries go for which there is no room.
    pub(super) fn let_go_beyond(&mut self, room: usize) {
        self.kept.truncate(room);
    }

    /// Shows so many entries.
    pub(super) fn show(&mut self, count: usize) {
        self.shown = count;
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

    /// The order in which entries are chosen if not all can be shown: folders first, then by name.
    pub(super) fn rank(&self) -> (bool, &[u8]) {
        Self::rank_of(self.kind, self.name.as_os_str())
    }

    pub(super) fn rank_of(kind: EntryKind, name: &OsStr) -> (bool, &[u8]) {
        (kind != EntryKind::Folder, name.as_encoded_bytes())
    }
}
