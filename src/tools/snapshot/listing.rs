//! Listing folders, one at a time, without the entries that the host or a `.gitignore` excludes.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;

use super::SnapshotError;
use super::choice::Choice;
use super::tree::{Contents, Entry, Listing, ROOT, Tree};
use crate::sandbox::{Listed, OpenError, Sandbox};
use crate::tree::{Lister, Rules};

/// Lists the folders of a workspace.
pub(super) struct FolderLister<'run> {
    pub(super) sandbox: &'run Sandbox,
    /// The host's `exclude` and `include`.
    pub(super) choice: &'run Choice,
    pub(super) lister: Lister<'run>,
}

/// The result of listing a folder.
pub(super) struct FolderListing {
    pub(super) contents: Contents,
    /// The `.gitignore` rules that hold in it, if there are any.
    pub(super) rules: Option<Arc<Rules>>,
}

impl FolderLister<'_> {
    /// Lists a folder of the tree, and keeps the `room` entries that come first.
    pub(super) fn list(
        &self,
        tree: &Tree,
        folder: usize,
        room: usize,
    ) -> Result<FolderListing, SnapshotError> {
        let mut first = FirstEntries::new(room);
        let visited = self.visit(tree, folder, &mut |entry| {
            first.offer(entry);
            ControlFlow::Continue(())
        })?;
        Ok(match visited {
            Ok(rules) => FolderListing { contents: Contents::Listed(first.made()), rules },
            Err(contents) => FolderListing { contents, rules: None },
        })
    }

    /// Finds out whether the limits leave anything out of a folder that is not listed.
    pub(super) fn is_anything_left_out(
        &self,
        tree: &Tree,
        folder: usize,
    ) -> Result<Contents, SnapshotError> {
        let mut is_empty = true;
        let visited = self.visit(tree, folder, &mut |_| {
            is_empty = false;
            ControlFlow::Break(())
        })?;
        Ok(match visited {
            Ok(_) if is_empty => Contents::Listed(Listing::default()),
            Ok(_) => Contents::LeftOut,
            Err(contents) => contents,
        })
    }

    /// Hands the entries of a folder that are not excluded to `take`. The inner error says why the
    /// folder has no listing.
    fn visit(
        &self,
        tree: &Tree,
        folder: usize,
        take: &mut dyn FnMut(&Listed<'_>) -> ControlFlow<()>,
    ) -> Result<Result<Option<Arc<Rules>>, Contents>, SnapshotError> {
        match self.try_visit(tree, folder, take) {
            _ if (self.lister.cancelled)() => Err(SnapshotError::Cancelled),
            // A folder that was removed while it was open lists as an empty one, or not at all.
            _ if folder == ROOT && self.sandbox.is_gone() => Err(SnapshotError::RootGone),
            Ok(rules) => Ok(Ok(rules)),
            Err(OpenError::RootGone) => Err(SnapshotError::RootGone),
            Err(error) if folder == ROOT => Err(SnapshotError::List(error)),
            Err(OpenError::NotFound | OpenError::NotFolder | OpenError::Escapes) => {
                Ok(Err(Contents::Gone))
            }
            Err(_) => Ok(Err(Contents::Unreadable)),
        }
    }

    fn try_visit(
        &self,
        tree: &Tree,
        folder: usize,
        take: &mut dyn FnMut(&Listed<'_>) -> ControlFlow<()>,
    ) -> Result<Option<Arc<Rules>>, OpenError> {
        let names = tree.names(folder);
        let path: PathBuf = names.iter().map(|name| name.as_os_str()).collect();
        let mut opened = self.sandbox.open_folder_by_names(&names)?;
        let rules = self.lister.rules_in(&opened, &path, tree.rules_above(folder));
        self.lister.visit(&mut opened, &path, rules.as_deref(), &mut |seen| {
            if self.choice.leaves_out(seen.path, &seen.entry) || seen.is_ignored() {
                ControlFlow::Continue(())
            } else {
                take(&seen.entry)
            }
        })?;
        Ok(rules)
    }
}

/// The entries of a folder that come first, however many there are.
struct FirstEntries {
    room: usize,
    kept: Vec<Entry>,
    /// Whether `kept[room - 1]` is the last entry that fits. Later entries that rank after it are
    /// dropped at once.
    is_full: bool,
    total: usize,
}

impl FirstEntries {
    /// Entries without room are dropped in batches of at least this many.
    const BATCH: usize = 256;

    fn new(room: usize) -> Self {
        Self { room, kept: Vec::new(), is_full: false, total: 0 }
    }

    fn offer(&mut self, entry: &Listed<'_>) {
        self.total += 1;
        let bar = if self.is_full { self.kept.get(self.room.wrapping_sub(1)) } else { None };
        if bar.is_some_and(|bar| Entry::rank_of(entry.kind(), entry.name()) > bar.rank()) {
            return;
        }
        self.kept.push(Entry::new(entry));
        if self.kept.len() >= 2 * self.room.max(Self::BATCH) {
            self.let_go();
        }
    }

    /// Keeps the first `room` entries.
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
        Listing::new(self.kept, self.total)
    }
}
