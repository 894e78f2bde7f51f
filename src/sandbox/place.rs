//! Where a path leads for an operation that changes something: a name in a folder that is held open.
//!
//! An operation finds its place first, looks at what stands there, and acts beneath the held folder.
//! Just before and after its last step it asks whether the path still leads to that folder
//! ([`Place::is_current`]).

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::entry::{EntryKind, FolderId};
use super::error::OpenError;
use super::judge::Reached;
use super::open;
use super::root::Sandbox;
use super::system::{self, Directory};
use crate::access::{Access, Judgement};
use crate::path::{EntryPath, WorkspacePath};

/// A name in a folder, and the path that led there.
pub(super) struct Place<'path> {
    root: &'path Sandbox,
    path: &'path WorkspacePath,
    /// The path that the access rules judge: the same, except where a patch gives a file a spare name for a moment.
    judged: &'path WorkspacePath,
    /// Further paths of the place, to which links lead, if there are access rules.
    other_paths: Vec<PathBuf>,
    /// Open to create in.
    pub(super) folder: Rc<Directory>,
    pub(super) name: OsString,
    /// Whether the path's last name is a link, and this is the place where that link leads.
    pub(super) is_behind_link: bool,
}

/// How far a path leads through folders that exist.
pub(super) enum Located<'path> {
    /// To its end: every folder exists. The last name is not followed if it is a link.
    Complete(Place<'path>),
    /// Some folders are missing.
    FoldersMissing(MissingFolders),
}

/// Where the folders that exist end before the path does.
pub(super) struct MissingFolders {
    /// The deepest folder that exists, open to create in.
    pub(super) folder: Directory,
    /// How many of the path's names lead to it.
    pub(super) existing: usize,
    other_paths: Vec<PathBuf>,
}

/// A place for an entry, the same for all paths that lead there: a folder, and the names behind it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PlaceId {
    folder: FolderId,
    names: String,
}

impl Sandbox {
    /// The place to which a path leads, if its folders can be opened. The last name is not followed if it is a link.
    #[must_use]
    pub fn place_of(&self, path: &EntryPath) -> Option<PlaceId> {
        let path = path.as_path();
        let (folder, existing) = deepest_folder(self, path, path).ok()?;
        let names: Vec<_> = path.names().skip(existing).collect();
        Some(PlaceId { folder: system::folder_id(&folder.directory).ok()?, names: names.join("/") })
    }
}

/// Follows a path as far as its folders exist. Changes nothing. `judged` is the path for which the access rules hold.
///
/// [`OpenError::Denied`] if the rules do not let the entry at the path be made, changed, moved or removed.
/// `made` is the kind of the entry that the call makes if nothing stands there.
pub(super) fn find<'path>(
    root: &'path Sandbox,
    path: &'path WorkspacePath,
    judged: &'path WorkspacePath,
    made: EntryKind,
) -> Result<Located<'path>, OpenError> {
    let Some(rules) = root.rules() else { return find_entry(root, path, judged) };
    let asked = root.judge(judged, Access::Change);
    if asked.is_refused() {
        return Err(OpenError::Denied);
    }
    let located = find_entry(root, path, judged)
        .map_err(|error| if asked.hides(&error) { OpenError::Denied } else { error })?;
    let others = located.other_paths().iter().map(|path| rules.judge(path, Access::Change));
    let judgement = others.fold(asked, Judgement::or);
    if let Located::Complete(place) = &located
        && system::is_short_name(&place.folder, &place.name)?
    {
        return Err(OpenError::Denied);
    }
    if judgement.is_allowed() {
        return Ok(located);
    }
    let is_refused = match &located {
        Located::Complete(place) => match place.kind()? {
            Some(kind) => judgement.refuses(kind),
            None => judgement.refuses_new(made),
        },
        Located::FoldersMissing(_) => judgement.refuses_new(made) || judgement.hides_ancestors,
    };
    if is_refused { Err(OpenError::Denied) } else { Ok(located) }
}

/// Follows the path. Access rules judge only the paths to which links lead; [`find`] judges the path itself.
fn find_entry<'path>(
    root: &'path Sandbox,
    path: &'path WorkspacePath,
    judged: &'path WorkspacePath,
) -> Result<Located<'path>, OpenError> {
    let (Reached { directory: folder, other_paths }, existing) =
        deepest_folder(root, path, judged)?;
    if existing < depth(path) {
        return Ok(Located::FoldersMissing(MissingFolders { folder, existing, other_paths }));
    }
    let (folder, name) = (Rc::new(folder), name(path, depth(path)));
    Ok(Located::Complete(Place {
        root,
        path,
        judged,
        other_paths,
        folder,
        name,
        is_behind_link: false,
    }))
}

impl<'path> Place<'path> {
    /// The place of the path's last name, in the folder to which the names before it lead.
    pub(super) fn at_end(
        root: &'path Sandbox,
        path: &'path WorkspacePath,
        folder: Rc<Directory>,
    ) -> Self {
        let name = name(path, depth(path));
        let (judged, other_paths) = (path, Vec::new());
        Self { root, path, judged, other_paths, folder, name, is_behind_link: false }
    }

    /// The place where a path leads whose last name is a link: at the end of all links.
    pub(super) fn behind_link(
        root: &'path Sandbox,
        path: &'path WorkspacePath,
    ) -> Result<Self, OpenError> {
        let (folder, name) = open::resolve(root, path)?;
        let (judged, other_paths, folder) = (path, Vec::new(), Rc::new(folder));
        Ok(Self { root, path, judged, other_paths, folder, name, is_behind_link: true })
    }

    /// Looks up the kind of the entry that stands at the place now.
    pub(super) fn kind(&self) -> Result<Option<EntryKind>, OpenError> {
        system::kind_at(&self.folder, &self.name)
    }

    /// The paths of the place for which the access rules hold.
    pub(super) fn judged_paths(&self) -> impl Iterator<Item = &Path> {
        let asked = Path::new(self.judged.as_str());
        std::iter::once(asked).chain(self.other_paths.iter().map(PathBuf::as_path))
    }

    /// Checks that the access rules let an entry of this kind, which stands at the place, be changed.
    pub(super) fn check_rules(&self, kind: EntryKind) -> Result<(), OpenError> {
        let Some(rules) = self.root.rules() else { return Ok(()) };
        let judge = |path| rules.judge(path, Access::Change).refuses(kind);
        if self.judged_paths().any(judge) { Err(OpenError::Denied) } else { Ok(()) }
    }

    /// Whether the path still leads to the folder. Another process may have moved the folder since it
    /// was opened, also out of the workspace.
    pub(super) fn is_current(&self) -> bool {
        let now = if self.is_behind_link {
            open::resolve(self.root, self.path).map(|(folder, _)| folder)
        } else {
            let depth = depth(self.path);
            open::to_write_in(self.root, &self.path.first(depth), &self.judged.after(depth))
                .map(|folder| folder.directory)
        };
        let ids = (now.map(|now| system::folder_id(&now)), system::folder_id(&self.folder));
        matches!(ids, (Ok(Ok(now)), Ok(then)) if now == then)
    }
}

impl Located<'_> {
    /// The other paths of the place at the end of the path, to which links lead, if there are access rules.
    fn other_paths(&self) -> &[PathBuf] {
        match self {
            Self::Complete(place) => &place.other_paths,
            Self::FoldersMissing(missing) => &missing.other_paths,
        }
    }
}

impl MissingFolders {
    /// The other paths of the place at the end of the path, to which links lead, if there are access rules.
    pub(super) fn other_paths(&self) -> &[PathBuf] {
        &self.other_paths
    }

    /// Looks at the first name after the deepest folder that exists. If a link stands there, its
    /// target is missing.
    pub(super) fn kind_of_next(
        &self,
        path: &WorkspacePath,
    ) -> Result<Option<EntryKind>, OpenError> {
        system::kind_at(&self.folder, &name(path, self.existing))
    }
}

/// How many folders lead to the last name of a path.
pub(super) fn depth(path: &WorkspacePath) -> usize {
    path.names().count() - 1
}

pub(super) fn name(path: &WorkspacePath, index: usize) -> OsString {
    path.names().nth(index).unwrap_or_default().into()
}

/// The deepest folder on the way that exists, and how many names lead to it.
///
/// To open a folder by its path takes a step for each name, so the number of attempts must not grow
/// with the path. The search goes back from the end in steps that double, and then halves the interval
/// between the last two.
fn deepest_folder(
    root: &Sandbox,
    path: &WorkspacePath,
    judged: &WorkspacePath,
) -> Result<(Reached, usize), OpenError> {
    let open = |names| open::to_write_in(root, &path.first(names), &judged.after(names));
    let mut missing = depth(path) + 1;
    let mut step = 1;
    let (mut folder, mut existing) = loop {
        let fewer = missing.saturating_sub(step);
        match open(fewer) {
            Err(OpenError::NotFound) if fewer > 0 => (missing, step) = (fewer, step * 2),
            opened => break (opened?, fewer),
        }
    };
    while existing + 1 < missing {
        let middle = existing.midpoint(missing);
        match open(middle) {
            Err(OpenError::NotFound) => missing = middle,
            opened => (folder, existing) = (opened?, middle),
        }
    }
    Ok((folder, existing))
}
