//! Looking into folders, one at a time: what is there, and what of it is left out for good.

use std::ops::ControlFlow;
use std::sync::Arc;

use super::gitignore::{self, Rules};
use super::tree::{Contents, Entry, Listing, ROOT, Tree};
use super::{BUILD_ARTIFACTS, SnapshotError};
use crate::sandbox::{EntryKind, EntryName, Listed, ListedFolder, OpenError, Sandbox};

/// Looks into the folders of a workspace, from any thread.
pub(super) struct Lister<'run> {
    pub(super) sandbox: &'run Sandbox,
    pub(super) cancelled: &'run (dyn Fn() -> bool + Sync),
    pub(super) gitignore: bool,
}

/// What a look into a folder has shown.
pub(super) struct Seen {
    pub(super) contents: Contents,
    /// The rules that hold in it; none where nobody asked for them, or it could not be opened.
    pub(super) rules: Option<Arc<Rules>>,
}

impl Lister<'_> {
    /// Lists a folder of the tree, and keeps the `room` entries that come first.
    pub(super) fn list(
        &self,
        tree: &Tree,
        folder: usize,
        room: usize,
    ) -> Result<Seen, SnapshotError> {
        let mut choice = Choice::new(room);
        let visited = self.visit(tree, folder, &mut |entry| {
            choice.offer(entry);
            ControlFlow::Continue(())
        })?;
        Ok(visited.map_or_else(Seen::no_further, |rules| Seen {
            contents: Contents::Listed(choice.made()),
            rules,
        }))
    }

    /// Finds out whether the limits leave anything out of a folder that is not listed.
    pub(super) fn glance(&self, tree: &Tree, folder: usize) -> Result<Seen, SnapshotError> {
        let mut is_empty = true;
        let visited = self.visit(tree, folder, &mut |_| {
            is_empty = false;
            ControlFlow::Break(())
        })?;
        Ok(Seen::no_further(match visited {
            Ok(_) if is_empty => Contents::Listed(Listing::default()),
            Ok(_) => Contents::LeftOut,
            Err(contents) => contents,
        }))
    }

    /// Hands the entries of a folder that are not left out for good to `take`. The inner error is
    /// what is known instead of the contents.
    fn visit(
        &self,
        tree: &Tree,
        folder: usize,
        take: &mut dyn FnMut(&Listed<'_>) -> ControlFlow<()>,
    ) -> Result<Result<Option<Arc<Rules>>, Contents>, SnapshotError> {
        match self.try_visit(tree, folder, take) {
            _ if (self.cancelled)() => Err(SnapshotError::Cancelled),
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
        let mut opened = self.sandbox.open_folder_by_names(&names)?;
        let above = tree.rules_above(folder);
        let mut ignored = self.gitignore.then(|| Ignored::in_folder(&opened, &names, above));
        opened.visit(&mut |entry| {
            if (self.cancelled)() {
                return ControlFlow::Break(());
            }
            if is_build_artifact(&entry) || ignored.as_mut().is_some_and(|it| it.holds(&entry)) {
                return ControlFlow::Continue(());
            }
            take(&entry)
        })?;
        Ok(ignored.map(|ignored| ignored.rules))
    }
}

impl Seen {
    /// Of a folder into which nobody goes further.
    fn no_further(contents: Contents) -> Self {
        Self { contents, rules: None }
    }
}

/// What `.gitignore` files say of one folder's entries.
struct Ignored {
    rules: Arc<Rules>,
    /// The folder's path and a `/`; empty for the root.
    path: Vec<u8>,
}

impl Ignored {
    fn in_folder(
        folder: &ListedFolder<'_>,
        names: &[&EntryName],
        above: Option<Arc<Rules>>,
    ) -> Self {
        let path = gitignore::path_of(names);
        Self { rules: Rules::in_folder(folder, path.len(), above), path }
    }

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

/// The entries of a folder that come first, however many there are.
struct Choice {
    room: usize,
    kept: Vec<Entry>,
    /// Whether the entry at the end of the room is the bar for what still comes.
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
        if bar.is_some_and(|bar| Entry::rank_of(entry.kind(), entry.name()) > bar.rank()) {
            return;
        }
        self.kept.push(Entry::new(entry));
        if self.kept.len() >= 2 * self.room.max(Self::BATCH) {
            self.let_go();
        }
    }

    /// Keeps what there is room for.
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
