//! The walk: the entries beneath a folder, one after the other, in the order of their paths.
//!
//! A folder is read as a whole and sorted when the walk enters it, so the walk holds the names of the
//! folders on the way to where it is, and no others. An entry comes with the handle of the folder
//! that holds it: a caller opens a file beneath that handle, in any thread, without a walk of paths.

use std::cmp::Ordering;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::entry_paths::EntryPaths;
use super::lister::Lister;
use super::order::{SortKey, by_path, compare_bytes};
use super::read_folder::{ENTRIES_PER_QUESTION, ReadFolder, Unread};
use super::rules::{RuleReader, Rules};
use super::selection::{Fate, Selection, SkipReason, Tally};
use crate::path::WorkspacePath;
use crate::sandbox::{
    EntryFacts, EntryKind, EntryName, ListedFolder, OpenError, OpenFile, Sandbox,
};

/// How many handles of folders a walk holds at once. A path may have two thousand components, and a
/// process often has a thousand handles; further down, a folder is opened anew when the walk comes
/// back to it.
const MAX_HELD_FOLDERS: usize = 64;

/// The order in which a walk gives entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Order {
    /// By the UTF-16 code units of the whole path, `/` included.
    #[default]
    ByPath,
    /// Each folder with all that it holds, then the next; in a folder the folders, then the files,
    /// then the links, each by the UTF-16 code units of the name.
    FoldersFirst,
}

/// The order and the limits of a walk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WalkOptions<'run> {
    /// The order of the entries.
    pub order: Order,
    /// The deepest level that is given. The entries of the folder itself have level 1.
    pub max_depth: usize,
    /// How many names the walk looks at, those that it leaves out included.
    pub max_names: usize,
    /// The path at which a walk [`Order::ByPath`] goes on. Entries before it are neither given nor
    /// counted, and folders that hold no others are not listed.
    pub from: Option<&'run str>,
}

impl Default for WalkOptions<'_> {
    fn default() -> Self {
        Self { order: Order::ByPath, max_depth: usize::MAX, max_names: usize::MAX, from: None }
    }
}

/// One result of a walk.
#[derive(Debug)]
pub enum WalkItem<'run> {
    /// An entry.
    Entry(WalkEntry<'run>),
    /// A folder that was given and cannot be read: its path.
    Unreadable(String),
}

/// An entry that a walk gives.
#[derive(Debug, Clone)]
pub struct WalkEntry<'run> {
    /// The path relative to the workspace's root.
    pub path: String,
    /// How deep it stands: 1 in the folder that the walk began at.
    pub depth: usize,
    /// A file, a folder or a link.
    pub kind: EntryKind,
    name: EntryName,
    folder: Arc<ListedFolder<'run>>,
}

impl<'run> WalkEntry<'run> {
    pub(super) fn new(
        path: String,
        depth: usize,
        kind: EntryKind,
        name: EntryName,
        folder: Arc<ListedFolder<'run>>,
    ) -> Self {
        Self { path, depth, kind, name, folder }
    }

    /// Opens the file beneath the handle of its folder; no link is followed.
    ///
    /// # Errors
    ///
    /// [`OpenError`], as of [`ListedFolder::open_file`].
    pub fn open_file(&self) -> Result<OpenFile, OpenError> {
        self.folder.open_file(&self.name)
    }

    /// The facts of the entry itself, asked for beneath the handle of its folder.
    ///
    /// # Errors
    ///
    /// [`OpenError`], as of [`ListedFolder::facts`].
    pub fn facts(&self) -> Result<EntryFacts, OpenError> {
        self.folder.facts(&self.name)
    }
}

/// Why a walk ends early.
#[derive(Debug, thiserror::Error)]
pub enum WalkError {
    /// The folder that it begins at cannot be listed.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// There are more names than [`WalkOptions::max_names`].
    #[error("there are too many entries to look at")]
    TooManyNames,
    /// The caller cancelled it.
    #[error("cancelled")]
    Cancelled,
}

/// A walk under way. As an iterator it ends after the first error.
pub struct Walk<'run> {
    selection: &'run Selection,
    options: WalkOptions<'run>,
    default_excludes: bool,
    lister: Lister<'run>,
    /// The folders that the walk is in, from that one down.
    frames: Vec<Frame<'run>>,
    names_left: usize,
    tally: Tally,
}

/// A folder that a walk is in.
struct Frame<'run> {
    /// Its name in the folder above; the folder that the walk began at has none.
    name: Option<EntryName>,
    /// Its handle; `None` while the walk is too far below to hold it.
    folder: Option<Arc<ListedFolder<'run>>>,
    rules: Option<Arc<Rules>>,
    path: PathBuf,
    /// The tasks still to do, the next one last.
    to_do: Vec<Task>,
}

struct Task {
    name: EntryName,
    action: Action,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Action {
    Give(EntryKind),
    Enter,
    Count(SkipReason),
}

impl<'run> Walk<'run> {
    /// Begins a walk at a folder of the workspace. A link that is named as the folder is followed if
    /// it ends inside; an ignored folder that is named is walked. If it lies in a folder of
    /// [`DEFAULT_EXCLUDES`], those are not left out.
    ///
    /// # Errors
    ///
    /// [`WalkError`].
    pub fn begin(
        sandbox: &'run Sandbox,
        start: &WorkspacePath,
        selection: &'run Selection,
        options: WalkOptions<'run>,
        rules: Option<&'run RuleReader>,
        cancelled: &'run dyn Fn() -> bool,
    ) -> Result<Self, WalkError> {
        let folder = sandbox.open_folder(start)?;
        let path = PathBuf::from(start.as_str());
        let mut walk = Self {
            selection,
            options,
            default_excludes: selection.excludes_by_default(&path),
            lister: Lister { rules, cancelled },
            frames: Vec::new(),
            names_left: options.max_names,
            tally: Tally::default(),
        };
        let above = walk.lister.rules_above(sandbox, &path);
        let read = ReadFolder::read(folder, options.max_names, cancelled)?;
        walk.enter(None, read, path, above)?;
        Ok(walk)
    }

    /// The entries that the walk has left out so far.
    #[must_use]
    pub fn tally(&self) -> Tally {
        self.tally
    }

    /// How many names the walk has looked at so far, those that it leaves out included.
    #[must_use]
    pub fn looked_at(&self) -> usize {
        self.options.max_names - self.names_left
    }

    /// Makes a folder the one that the walk is in.
    fn enter(
        &mut self,
        name: Option<EntryName>,
        read: ReadFolder<'run>,
        path: PathBuf,
        above: Option<Arc<Rules>>,
    ) -> Result<(), WalkError> {
        self.names_left -= read.entries.len();
        let rules = self.lister.rules_of(&read, &path, above);
        let to_do = self.plan(read.entries, &path, rules.as_deref())?;
        self.let_go_of_handles();
        let folder = Some(Arc::new(read.folder));
        self.frames.push(Frame { name, folder, rules, path, to_do });
        Ok(())
    }

    /// Plans the tasks for the entries of a folder, the next one last.
    fn plan(
        &self,
        entries: Vec<(EntryName, EntryKind)>,
        path: &Path,
        rules: Option<&Rules>,
    ) -> Result<Vec<Task>, WalkError> {
        let enters = self.frames.len() + 1 < self.options.max_depth;
        let mut to_do = Vec::new();
        let mut paths = EntryPaths::of(path);
        for (index, (name, kind)) in entries.into_iter().enumerate() {
            if index.is_multiple_of(ENTRIES_PER_QUESTION) && (self.lister.cancelled)() {
                return Err(WalkError::Cancelled);
            }
            let path = paths.at(name.as_os_str());
            let seen = self.lister.listed_entry(name.as_listed(kind), path, rules);
            let actions = match self.selection.fate_of(&seen, self.default_excludes) {
                Fate::Unwanted => [None, None],
                Fate::Skipped(reason) => [Some(Action::Count(reason)), None],
                Fate::Entered => [None, enters.then_some(Action::Enter)],
                Fate::Given => {
                    let enters = enters && kind == EntryKind::Folder;
                    [Some(Action::Give(kind)), enters.then_some(Action::Enter)]
                }
            };
            let actions =
                actions.into_iter().flatten().filter(|action| !self.is_passed(path, *action));
            to_do.extend(actions.map(|action| Task { name: name.clone(), action }));
        }
        let order = self.options.order;
        to_do.sort_unstable_by(|one, other| compare(order, other, one));
        Ok(to_do)
    }

    /// Whether a task lies before [`WalkOptions::from`].
    fn is_passed(&self, path: &Path, action: Action) -> bool {
        let Some(from) = self.options.from else { return false };
        // By the bytes of the names, as the walk sorts them: one that is not UTF-8 has its place, too.
        let names: Vec<_> = path.iter().map(OsStr::as_encoded_bytes).collect();
        let path = names.join(&b'/');
        match action {
            Action::Enter => {
                let contents = [&path[..], b"/"].concat();
                !from.as_bytes().starts_with(&contents)
                    && compare_bytes(&contents, from.as_bytes()).is_lt()
            }
            Action::Give(_) | Action::Count(_) => compare_bytes(&path, from.as_bytes()).is_lt(),
        }
    }

    /// Closes handles so that few enough are held when one more is added. The first one stays.
    fn let_go_of_handles(&mut self) {
        if let Some(index) = self.frames.len().checked_sub(MAX_HELD_FOLDERS - 1)
            && index > 0
        {
            self.frames[index].folder = None;
        }
    }

    /// The handle of the folder that the walk is in.
    fn folder(&mut self) -> Result<Arc<ListedFolder<'run>>, OpenError> {
        let held = self.frames.iter().rposition(|frame| frame.folder.is_some());
        let mut folder = held.and_then(|held| self.frames[held].folder.clone());
        for frame in self.frames.iter().skip(held.map_or(0, |held| held + 1)) {
            let (Some(above), Some(name)) = (&folder, &frame.name) else { continue };
            folder = Some(Arc::new(above.open_folder(name)?));
        }
        let folder = folder.ok_or(OpenError::NotFound)?;
        if let Some(frame) = self.frames.last_mut() {
            frame.folder = Some(Arc::clone(&folder));
        }
        Ok(folder)
    }

    /// Does a task. Gives the step that it results in; `None` if there is none.
    fn perform(&mut self, task: Task) -> Result<Option<WalkItem<'run>>, WalkError> {
        match task.action {
            Action::Count(reason) => {
                self.tally.count(reason);
                Ok(None)
            }
            Action::Give(kind) => Ok(self.give(task.name, kind)),
            Action::Enter => self.enter_named(task.name),
        }
    }

    fn give(&mut self, name: EntryName, kind: EntryKind) -> Option<WalkItem<'run>> {
        let depth = self.frames.len();
        let path = self.path_of(&name);
        let Ok(folder) = self.folder() else {
            self.tally.count(SkipReason::Unreadable);
            return None;
        };
        Some(WalkItem::Entry(WalkEntry { path: shown(&path), depth, kind, name, folder }))
    }

    fn enter_named(&mut self, name: EntryName) -> Result<Option<WalkItem<'run>>, WalkError> {
        let path = self.path_of(&name);
        let shown = shown(&path);
        let rules = self.frames.last().and_then(|frame| frame.rules.clone());
        match self.read_named(&name) {
            Ok(read) => self.enter(Some(name), read, path, rules).map(|()| None),
            Err(WalkError::Open(error)) => {
                // A folder that was removed or replaced meanwhile is not counted.
                Ok((!is_gone(&error)).then(|| {
                    self.tally.count(SkipReason::Unreadable);
                    WalkItem::Unreadable(shown)
                }))
            }
            Err(error) => Err(error),
        }
    }

    /// Reads a folder in the one that the walk is in.
    fn read_named(&mut self, name: &EntryName) -> Result<ReadFolder<'run>, WalkError> {
        let folder = self.folder()?.open_folder(name)?;
        Ok(ReadFolder::read(folder, self.names_left, self.lister.cancelled)?)
    }

    /// The path of an entry of the folder that the walk is in.
    fn path_of(&self, name: &EntryName) -> PathBuf {
        let above = self.frames.last().map_or(Path::new(""), |frame| &frame.path);
        above.join(name.as_os_str())
    }
}

impl<'run> Iterator for Walk<'run> {
    type Item = Result<WalkItem<'run>, WalkError>;

    fn next(&mut self) -> Option<Self::Item> {
        while let Some(frame) = self.frames.last_mut() {
            let done = match frame.to_do.pop() {
                _ if (self.lister.cancelled)() => Err(WalkError::Cancelled),
                Some(task) => self.perform(task),
                None => {
                    self.frames.pop();
                    Ok(None)
                }
            };
            match done {
                Ok(None) => {}
                Ok(Some(step)) => return Some(Ok(step)),
                Err(error) => {
                    self.frames.clear();
                    return Some(Err(error));
                }
            }
        }
        None
    }
}

/// Whether a folder that was listed has been removed or replaced since.
pub(super) fn is_gone(error: &OpenError) -> bool {
    matches!(error, OpenError::NotFound | OpenError::NotFolder | OpenError::Escapes)
}

impl From<Unread> for WalkError {
    fn from(unread: Unread) -> Self {
        match unread {
            Unread::TooLarge => Self::TooManyNames,
            Unread::Cancelled => Self::Cancelled,
            Unread::Open(error) => Self::Open(error),
        }
    }
}

/// Compares two tasks of one folder by the order of the walk.
fn compare(order: Order, one: &Task, other: &Task) -> Ordering {
    fn key(task: &Task, is_contents: bool) -> SortKey<'_> {
        SortKey { name: task.name.as_os_str().as_encoded_bytes(), is_contents }
    }
    let enters = |task: &Task| task.action == Action::Enter;
    match order {
        Order::ByPath => by_path(&key(one, enters(one)), &key(other, enters(other))),
        Order::FoldersFirst => {
            let by_name = || by_path(&key(one, false), &key(other, false));
            let rank = |task: &Task| match task.action {
                Action::Give(EntryKind::Folder) | Action::Enter => 0,
                Action::Give(EntryKind::File) => 1,
                Action::Give(_) => 2,
                Action::Count(_) => 3,
            };
            let by_rank = rank(one).cmp(&rank(other)).then_with(by_name);
            by_rank.then_with(|| enters(one).cmp(&enters(other)))
        }
    }
}

/// A path with `/` between its names, which are UTF-8.
pub(super) fn shown(path: &Path) -> String {
    let text = path.to_string_lossy();
    if cfg!(windows) { text.replace('\\', "/") } else { text.into_owned() }
}

#[cfg(test)]
mod tests;
