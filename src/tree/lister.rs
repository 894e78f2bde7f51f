//! Listing the folders of a walk, one at a time.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::read_folder::ReadFolder;
use super::rules::{RuleReader, Rules};
use crate::path::WorkspacePath;
use crate::sandbox::{EntryKind, Listed, ListedFolder, OpenError, Sandbox};

/// Lists folders, and knows which entries their `.gitignore` files ignore.
#[derive(Clone, Copy)]
pub struct Lister<'run> {
    /// Reads `.gitignore` files; `None` where they are not to be heeded.
    pub rules: Option<&'run RuleReader>,
    /// Asked before each entry, so that listing a large folder can be cancelled, too.
    pub cancelled: &'run dyn Fn() -> bool,
}

/// An entry while its folder is listed.
pub struct ListedEntry<'seen> {
    /// The entry as the sandbox listed it.
    pub entry: Listed<'seen>,
    /// Its path, relative to the workspace's root.
    pub path: &'seen Path,
    rules: Option<&'seen Rules>,
    lister: Lister<'seen>,
}

impl Lister<'_> {
    /// The rules that hold in a folder that is open; `None` where none hold.
    #[must_use]
    pub fn rules_in(
        &self,
        folder: &ListedFolder<'_>,
        path: &Path,
        above: Option<Arc<Rules>>,
    ) -> Option<Arc<Rules>> {
        self.rules?.rules_in(folder, path, above, self.cancelled)
    }

    /// The rules of the folders above the one at a path.
    pub(super) fn rules_above(&self, sandbox: &Sandbox, path: &Path) -> Option<Arc<Rules>> {
        let reader = self.rules?;
        let mut rules = None;
        let mut above = PathBuf::new();
        for component in path {
            let path = above.to_str().and_then(|above| match above {
                "" => Some(WorkspacePath::root()),
                above => WorkspacePath::parse(above).ok(),
            });
            if let Some(folder) = path.and_then(|path| sandbox.open_folder(&path).ok()) {
                rules = self.rules_in(&folder, &above, rules);
            }
            above.push(component);
            // The caller has named this folder, so it is walked even if a rule ignores it. That rule then
            // does not apply to its contents either.
            rules = rules.filter(|rules| !reader.ignores(rules, &above, true, self.cancelled));
        }
        rules
    }

    /// The rules that hold in a folder that is read. Most folders have none of their own, which costs no
    /// call of the system then.
    #[must_use]
    pub(super) fn rules_of(
        &self,
        read: &ReadFolder<'_>,
        path: &Path,
        above: Option<Arc<Rules>>,
    ) -> Option<Arc<Rules>> {
        if read.may_have_rules() { self.rules_in(&read.folder, path, above) } else { above }
    }

    /// An entry of a folder in which these rules hold.
    pub(super) fn listed_entry<'seen>(
        &'seen self,
        entry: Listed<'seen>,
        path: &'seen Path,
        rules: Option<&'seen Rules>,
    ) -> ListedEntry<'seen> {
        ListedEntry { entry, path, rules, lister: *self }
    }

    /// Hands every entry of a folder to `visit`, in the system's order, until `visit` breaks off
    /// or the walk is cancelled. `path` is the folder's, relative to the workspace's root.
    ///
    /// # Errors
    ///
    /// [`OpenError`], as of [`ListedFolder::visit`].
    pub fn visit(
        &self,
        folder: &mut ListedFolder<'_>,
        path: &Path,
        rules: Option<&Rules>,
        visit: &mut dyn FnMut(&ListedEntry<'_>) -> ControlFlow<()>,
    ) -> Result<(), OpenError> {
        let mut path: PathBuf = path.to_owned();
        folder.visit(&mut |entry| {
            if (self.cancelled)() {
                return ControlFlow::Break(());
            }
            path.push(entry.name());
            let flow = visit(&ListedEntry { entry, path: &path, rules, lister: *self });
            path.pop();
            flow
        })
    }
}

impl ListedEntry<'_> {
    /// Whether a `.gitignore` ignores the entry.
    #[must_use]
    pub fn is_ignored(&self) -> bool {
        let (Some(reader), Some(rules)) = (self.lister.rules, self.rules) else { return false };
        let is_folder = self.entry.kind() == EntryKind::Folder;
        reader.ignores(rules, self.path, is_folder, self.lister.cancelled)
    }
}
