//! `tree` (docs/contract.md §13): the folder tree as objects, depth first, within limits.
//!
//! In a folder the folders come first, then the files, then the links, each by the UTF-16 code units
//! of the name. Links are shown and never entered.
//!
//! ```
//! use ringfence::sandbox::Sandbox;
//! use ringfence::tools::tree::{Content, TreeOptions, tree};
//!
//! let workspace = tempfile::tempdir()?;
//! std::fs::create_dir_all(workspace.path().join("src/app"))?;
//! std::fs::write(workspace.path().join("README.md"), "")?;
//!
//! let sandbox = Sandbox::open(workspace.path())?;
//! let answer = tree(&sandbox, None, &TreeOptions::default(), &|| false)?;
//! let Content::Folder(Some(children)) = &answer.root.content else { unreachable!() };
//! assert_eq!((&*children[0].path, children[0].depth), ("src", 1));
//! assert_eq!((answer.total_dirs, answer.limit_reached), (3, false));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::num::NonZeroU64;
use std::ops::RangeInclusive;

use super::failure::Failure;
use super::walk_arguments::{folder_failure, locate, parse_globs};
use crate::argument::positive_up_to;
use crate::path::WorkspacePath;
use crate::sandbox::{EntryKind, OpenError, Sandbox};
use crate::tree::{
    Case, Order, RuleReader, Selection, Walk, WalkEntry, WalkError, WalkItem, WalkOptions,
};

/// The largest `max_depth`.
pub const MAX_DEPTH: u64 = 12;

/// The range of `max_entries`.
pub const MAX_ENTRIES: RangeInclusive<NonZeroU64> = positive_up_to(1000);

/// How many globs `exclude` may have.
pub const MAX_GLOBS: u32 = 1000;

/// The file in which macOS keeps the look of a folder. A model has no use for it.
const LEFT_OUT_FILE: &str = ".DS_Store";

/// The limits and the choice of a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeOptions {
    /// Whether files and links are shown, too.
    pub all_kinds: bool,
    /// How deep it goes. The folder itself has depth 0.
    pub max_depth: usize,
    /// The most nodes, the folder itself included.
    pub max_entries: usize,
    /// Whether names with a leading dot are shown.
    pub include_hidden: bool,
    /// Globs of files and folders to leave out, relative to the workspace's root.
    pub exclude: Vec<String>,
    /// Whether entries that `.gitignore` files ignore are left out.
    pub gitignore: bool,
}

impl Default for TreeOptions {
    fn default() -> Self {
        Self {
            all_kinds: false,
            max_depth: 3,
            max_entries: 100,
            include_hidden: false,
            exclude: Vec::new(),
            gitignore: false,
        }
    }
}

/// The answer.
#[derive(Debug, PartialEq, Eq)]
pub struct Tree {
    /// The folder that was asked for.
    pub root: Node,
    /// Whether [`TreeOptions::max_entries`] has left nodes out.
    pub limit_reached: bool,
    /// How many of the nodes are folders, the root included.
    pub total_dirs: u64,
    /// How many are files.
    pub total_files: u64,
    /// How many are links.
    pub total_symlinks: u64,
}

/// A node of the tree.
#[derive(Debug, PartialEq, Eq)]
pub struct Node {
    /// The last component of the path; `.` for the workspace's root.
    pub name: String,
    /// Relative to the workspace's root, `.` for the root itself.
    pub path: String,
    /// How deep it stands: the folder that was asked for has depth 0.
    pub depth: usize,
    /// What it is, and what it holds.
    pub content: Content,
}

/// What a node is, and what it holds.
#[derive(Debug, PartialEq, Eq)]
pub enum Content {
    /// A folder and the nodes in it; `None` where the depth ended, or where it may not be read.
    Folder(Option<Vec<Node>>),
    /// A file.
    File,
    /// A link.
    Link,
}

impl Tree {
    /// How many nodes there are.
    #[must_use]
    pub fn node_count(&self) -> u64 {
        self.total_dirs + self.total_files + self.total_symlinks
    }
}

/// The tree of a folder: the workspace's root, if no path is given.
///
/// # Errors
///
/// [`Failure`]; [`Failure::cancelled`] if `cancelled` said yes.
pub fn tree(
    sandbox: &Sandbox,
    given: Option<&str>,
    options: &TreeOptions,
    cancelled: &dyn Fn() -> bool,
) -> Result<Tree, Failure> {
    let path = locate(sandbox, "path", given)?;
    let grown = grow(sandbox, given, &path, options, cancelled);
    grown.map_err(|failure| failure.at(path.as_shown()))
}

fn grow(
    sandbox: &Sandbox,
    given: Option<&str>,
    path: &WorkspacePath,
    options: &TreeOptions,
    cancelled: &dyn Fn() -> bool,
) -> Result<Tree, Failure> {
    let exclude = parse_globs(sandbox, "exclude", "", &options.exclude, Case::Sensitive)?;
    let selection = Selection {
        hidden: options.include_hidden,
        files: options.all_kinds,
        links: options.all_kinds,
        exclude,
        ..Selection::default()
    };
    let failure_of = |error: OpenError| folder_failure(sandbox, "path", given, path, error);
    let mut growth = Growth::new(path, options);
    if options.max_depth == 0 {
        sandbox.open_folder(path).map_err(failure_of)?;
        return Ok(growth.finish());
    }
    let rules = options.gitignore.then(RuleReader::default);
    let walk_options = WalkOptions {
        order: Order::FoldersFirst,
        max_depth: options.max_depth,
        ..WalkOptions::default()
    };
    let walk = Walk::begin(sandbox, path, &selection, walk_options, rules.as_ref(), cancelled);
    for step in walk.map_err(|error| walk_failure(error, failure_of))? {
        match step.map_err(|error| walk_failure(error, failure_of))? {
            WalkItem::Entry(entry) if is_left_out(&entry) => {}
            WalkItem::Entry(_) if growth.is_full() => {
                growth.limit_reached = true;
                break;
            }
            WalkItem::Entry(entry) => growth.add(&entry),
            WalkItem::Unreadable(path) => growth.mark_unreadable(&path),
        }
    }
    Ok(growth.finish())
}

fn walk_failure(error: WalkError, failure_of: impl Fn(OpenError) -> Failure) -> Failure {
    match error {
        WalkError::Open(error) => failure_of(error),
        WalkError::Cancelled => Failure::cancelled(),
        WalkError::TooManyNames => Failure::bug(),
    }
}

fn is_left_out(entry: &WalkEntry<'_>) -> bool {
    entry.kind == EntryKind::File && last_name(&entry.path) == LEFT_OUT_FILE
}

fn last_name(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

/// A tree while the walk gives its nodes, depth first.
struct Growth<'call> {
    options: &'call TreeOptions,
    root: Node,
    /// The folders beneath the root that the walk is in.
    way: Vec<Node>,
    limit_reached: bool,
    dirs: u64,
    files: u64,
    symlinks: u64,
}

impl<'call> Growth<'call> {
    fn new(path: &WorkspacePath, options: &'call TreeOptions) -> Self {
        let path = path.as_shown().to_owned();
        let content = Content::Folder((options.max_depth > 0).then(Vec::new));
        let root = Node { name: last_name(&path).to_owned(), path, depth: 0, content };
        Self {
            options,
            root,
            way: Vec::new(),
            limit_reached: false,
            dirs: 1,
            files: 0,
            symlinks: 0,
        }
    }

    fn is_full(&self) -> bool {
        self.dirs + self.files + self.symlinks >= self.options.max_entries as u64
    }

    fn add(&mut self, entry: &WalkEntry<'_>) {
        self.leave_down_to(entry.depth - 1);
        let (count, content) = match entry.kind {
            EntryKind::Folder => {
                let is_entered = entry.depth < self.options.max_depth;
                (&mut self.dirs, Content::Folder(is_entered.then(Vec::new)))
            }
            EntryKind::File => (&mut self.files, Content::File),
            EntryKind::Link | EntryKind::Special => (&mut self.symlinks, Content::Link),
        };
        *count += 1;
        let name = last_name(&entry.path).to_owned();
        let node = Node { name, path: entry.path.clone(), depth: entry.depth, content };
        match node.content {
            Content::Folder(_) => self.way.push(node),
            _ => self.attach(node),
        }
    }

    fn mark_unreadable(&mut self, path: &str) {
        if let Some(folder) = self.way.last_mut().filter(|folder| folder.path == path) {
            folder.content = Content::Folder(None);
        }
    }

    /// Leaves folders until the walk is in so many beneath the root.
    fn leave_down_to(&mut self, depth: usize) {
        while self.way.len() > depth
            && let Some(folder) = self.way.pop()
        {
            self.attach(folder);
        }
    }

    /// Puts a finished node into the folder that the walk is in.
    fn attach(&mut self, node: Node) {
        let folder = self.way.last_mut().unwrap_or(&mut self.root);
        if let Content::Folder(Some(children)) = &mut folder.content {
            children.push(node);
        }
    }

    fn finish(mut self) -> Tree {
        self.leave_down_to(0);
        Tree {
            root: self.root,
            limit_reached: self.limit_reached,
            total_dirs: self.dirs,
            total_files: self.files,
            total_symlinks: self.symlinks,
        }
    }
}

#[cfg(test)]
mod tests;
