//! Access rules while paths are opened: every path that leads to an entry is judged.
//!
//! An operation has the path judged that it was given, before it looks at the disk ([`Sandbox::judge`]). Then it opens
//! the path by its names. If one of them is a link, the walk follows the link by hand and has judged:
//!
//! - the path that the link names, as it is spelled, before anything on it is looked at;
//! - each folder on the way, and the last component, before it is opened.
//!
//! So what was judged is what is opened: each name is opened beneath the handle of the one before, and none is a link.

use std::path::{Path, PathBuf};

use super::entry::EntryKind;
use super::error::OpenError;
use super::root::Sandbox;
use super::system::{Directory, PATH_MAX};
use crate::access::{Access, AccessRules, Judgement};
use crate::path::WorkspacePath;

impl Sandbox {
    /// Judges the access to a path as it was asked for.
    pub(super) fn judge(&self, path: &WorkspacePath, access: Access) -> Judgement {
        let Some(rules) = self.rules() else { return Judgement::default() };
        let text = path.as_str();
        if text.len() < PATH_MAX {
            return rules.judge(Path::new(text), access);
        }
        Self::judge_too_long(rules, text, access)
    }

    /// Judges a path that no system takes. To judge all folders on it would take seconds, so only those are judged that
    /// the system would take. If they are allowed, `check_length` refuses the path afterwards.
    fn judge_too_long(rules: &AccessRules, text: &str, access: Access) -> Judgement {
        let start = text.char_indices().take_while(|(at, _)| *at < PATH_MAX);
        let folder =
            start.filter(|(_, character)| *character == '/').last().map_or(0, |(at, _)| at);
        let judgement = rules.judge(Path::new(&text[..folder]), access);
        if judgement.refuses_folder { Judgement::REFUSED } else { Judgement::default() }
    }

    /// Checks that the access rules may let a call access a path, by its spelling alone.
    ///
    /// # Errors
    ///
    /// [`OpenError::Denied`].
    pub fn check_access(&self, path: &WorkspacePath, access: Access) -> Result<(), OpenError> {
        if self.judge(path, access).is_refused() { Err(OpenError::Denied) } else { Ok(()) }
    }
}

impl Judgement {
    /// Whether the access is refused if an entry of this kind stands at the path.
    pub(super) fn refuses(self, kind: EntryKind) -> bool {
        if kind == EntryKind::Folder { self.refuses_folder } else { self.refuses_file }
    }

    /// Whether an entry of this kind must not be made at the path, at which nothing stands.
    pub(super) fn refuses_new(self, kind: EntryKind) -> bool {
        self.refuses_folder || self.refuses(kind)
    }

    /// Whether an error must not be told, since it tells what stands at the path, or on the way to it.
    pub(super) fn hides(self, error: &OpenError) -> bool {
        self.refuses_folder
            || self.hides_ancestors && matches!(error, OpenError::NotFound | OpenError::NotFolder)
    }
}

/// The access rules for all that stands beneath a folder.
pub(super) struct Protection<'place> {
    rules: &'place AccessRules,
    /// The paths of the folder.
    folders: Vec<&'place Path>,
}

impl<'place> Protection<'place> {
    /// `None` without access rules.
    pub(super) fn of(root: &'place Sandbox, folders: Vec<&'place Path>) -> Option<Self> {
        Some(Self { rules: root.rules()?, folders })
    }

    /// Whether an entry beneath the folder must not be changed.
    pub(super) fn refuses(&self, beneath: &Path, kind: EntryKind) -> bool {
        let mut paths = self.folders.iter().map(|folder| folder.join(beneath));
        paths.any(|path| self.rules.judge(&path, Access::Change).refuses(kind))
    }
}

/// A folder, and the other paths that lead to the accessed entry in it, if links do.
pub(super) struct Reached {
    pub(super) directory: Directory,
    pub(super) other_paths: Vec<PathBuf>,
}

/// Judges the paths to which the links of one path lead.
pub(super) struct Judge<'rules> {
    rules: &'rules AccessRules,
    access: Access,
    /// Leads on from the end of the walk to the entry that is accessed.
    rest: PathBuf,
    paths: Vec<PathBuf>,
    /// Whether a link leads to a path at which a file may be accessed, and a folder not.
    hides_folder: bool,
    /// Whether a link names a path at which a folder, or nothing, must not be accessed.
    hides_absence: bool,
}

impl<'rules> Judge<'rules> {
    pub(super) fn new(rules: &'rules AccessRules, access: Access, rest: &WorkspacePath) -> Self {
        let rest = PathBuf::from(rest.as_str());
        Self { rules, access, rest, paths: Vec::new(), hides_folder: false, hides_absence: false }
    }

    /// Judges a path that a link names, before anything on it is looked at.
    pub(super) fn check_named(&mut self, path: PathBuf) -> Result<(), OpenError> {
        let path = self.with_rest(path);
        let judgement = self.rules.judge(&path, self.access);
        if judgement.is_refused() {
            return Err(OpenError::Denied);
        }
        self.hides_absence |= !judgement.is_allowed();
        self.hides_folder |= judgement.refuses_folder;
        self.paths.push(path);
        Ok(())
    }

    /// Judges a link before it is followed.
    pub(super) fn check_link(&self, path: &Path) -> Result<(), OpenError> {
        let refuses = self.rules.judge(path, Access::Read).refuses_file;
        if refuses { Err(OpenError::Denied) } else { Ok(()) }
    }

    /// Judges a folder on the way.
    pub(super) fn check_folder(&self, path: &Path) -> Result<(), OpenError> {
        let refuses = self.rules.judge(path, Access::Read).refuses_folder;
        if refuses { Err(OpenError::Denied) } else { Ok(()) }
    }

    /// Judges the last component of a walk. `kind` looks up what stands there.
    pub(super) fn check_last(
        &mut self,
        path: PathBuf,
        kind: &dyn Fn() -> Result<Option<EntryKind>, OpenError>,
    ) -> Result<(), OpenError> {
        let is_end = self.rest.as_os_str().is_empty();
        if !is_end {
            self.check_folder(&path)?;
        }
        let path = self.with_rest(path);
        let judgement = self.rules.judge(&path, self.access);
        let depends_on_kind = judgement.refuses_file != judgement.refuses_folder;
        // If more names follow, the caller looks up what stands at their end.
        let is_refused = judgement.is_refused()
            || is_end && depends_on_kind && kind()?.is_none_or(|kind| judgement.refuses(kind));
        self.hides_absence |= judgement.hides_ancestors;
        self.hides_folder |= judgement.refuses_folder;
        self.paths.push(path);
        if is_refused { Err(OpenError::Denied) } else { Ok(()) }
    }

    /// The error that a caller may see. That nothing stands at a path is not told of a path that is refused where
    /// nothing stands.
    pub(super) fn hide_absence(&self, error: OpenError) -> OpenError {
        match error {
            OpenError::NotFound | OpenError::NotFolder if self.hides_absence => OpenError::Denied,
            error => error,
        }
    }

    /// Whether it must not be told that a folder stands at the end of the walk.
    pub(super) fn hides_folder(&self) -> bool {
        self.hides_folder
    }

    pub(super) fn into_other_paths(mut self) -> Vec<PathBuf> {
        self.paths.sort_unstable();
        self.paths.dedup();
        self.paths
    }

    fn with_rest(&self, path: PathBuf) -> PathBuf {
        if self.rest.as_os_str().is_empty() { path } else { path.join(&self.rest) }
    }
}
