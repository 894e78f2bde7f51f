//! The workspace root, held open, and the spellings of its path.

use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, OnceLock};

use super::entry::Step;
use super::error::{OpenError, RootError};
use super::spelling::without_dots;
use super::system::{self, Directory};
use crate::access::AccessRules;
use crate::path::spelled_root::spells_root;
use crate::path::{EntryPath, PathRefusal, WorkspacePath};

/// The tier that keeps a path inside the workspace while it is opened. On either tier a directory
/// that another process moves out of the workspace stays open if it was open already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Containment {
    /// The kernel, in one system call that cannot be raced.
    Kernel,
    /// The hand-over-hand walk. It cannot be led out either.
    Walk,
}

/// A workspace root, held open.
///
/// The handle stays on the same directory if the root's path is renamed or removed. Opening costs
/// one system call; everything else about the root is found out when it is first needed.
#[derive(Debug)]
pub struct Sandbox {
    pub(super) directory: Directory,
    pub(super) containment: Containment,
    /// What may be read and changed; `None` if everything may.
    pub(super) rules: Option<Arc<AccessRules>>,
    /// As the host spelled it: absolute, possibly through symbolic links.
    spelled: PathBuf,
    /// The same without `..`, for hosts that resolve paths by their spelling. `None` where that names
    /// another directory, because the `..` followed a link.
    plain: OnceLock<Option<PathBuf>>,
    /// As the system calls it, without links; `None` where the system does not say.
    canonical: OnceLock<Option<PathBuf>>,
    /// The key under which `cached` remembers what it has learnt about this root.
    #[cfg(target_os = "linux")]
    id: OnceLock<Option<system::MountedInode>>,
}

impl Sandbox {
    /// Opens a workspace root by its absolute path, which may lead through symbolic links: the
    /// host chose it.
    ///
    /// # Errors
    ///
    /// [`RootError`]: relative, gone, not a directory, not permitted.
    pub fn open(root: &Path) -> Result<Self, RootError> {
        let directory = open_directory(root)?;
        let containment = containment_of(system::offers_openat2(&directory));
        Ok(Self::new(root, directory, containment))
    }

    /// [`Sandbox::open`] on the walking tier, whatever the system offers. So the tier of systems
    /// without `openat2` can be used, and tested, anywhere.
    ///
    /// # Errors
    ///
    /// As [`Sandbox::open`].
    pub fn open_walking(root: &Path) -> Result<Self, RootError> {
        let directory = open_directory(root)?;
        Ok(Self::new(root, directory, Containment::Walk))
    }

    /// [`Sandbox::open`] of a directory of the host's own, which is made if it is missing.
    ///
    /// # Errors
    ///
    /// As [`Sandbox::open`].
    pub fn open_or_make(root: &Path) -> Result<Self, RootError> {
        match Self::open(root) {
            Err(RootError::Gone) => {
                std::fs::create_dir_all(root).map_err(RootError::from_system)?;
                Self::open(root)
            }
            opened => opened,
        }
    }

    pub(super) fn new(spelled: &Path, directory: Directory, containment: Containment) -> Self {
        Self {
            directory,
            containment,
            rules: None,
            spelled: spelled.to_owned(),
            plain: OnceLock::new(),
            canonical: OnceLock::new(),
            #[cfg(target_os = "linux")]
            id: OnceLock::new(),
        }
    }

    /// The same root, in which these access rules hold in place of those that it has.
    #[must_use]
    pub fn with_rules(self, rules: Option<Arc<AccessRules>>) -> Self {
        Self { rules, ..self }
    }

    /// The same root, in which `read_only` does not protect the places to which these paths lead now, nor what lies beneath
    /// them: a person has approved changes there. Where a link leads elsewhere later, the rules hold.
    ///
    /// # Errors
    ///
    /// The system's error.
    pub fn with_approved(&self, paths: &[EntryPath]) -> io::Result<Self> {
        let Some(rules) = self.rules() else { return self.try_clone() };
        let asking = Arc::new(rules.asking());
        let root = self.try_clone()?.with_rules(Some(Arc::clone(&asking)));
        for path in paths {
            // What stands there is for the call itself to find out. These two look where the path leads: as a folder, and
            // behind a link at its end.
            let _ = root.is_folder_to_change(path);
            let _ = root.check_creatable(path);
        }
        let approving = Arc::new(rules.approving(&asking));
        Ok(root.with_rules(Some(approving)))
    }

    /// A second handle of the same root.
    ///
    /// # Errors
    ///
    /// The system's error.
    pub fn try_clone(&self) -> io::Result<Self> {
        Ok(Self {
            directory: self.directory.try_clone()?,
            containment: self.containment,
            rules: self.rules.clone(),
            spelled: self.spelled.clone(),
            plain: self.plain.clone(),
            canonical: self.canonical.clone(),
            #[cfg(target_os = "linux")]
            id: self.id.clone(),
        })
    }

    /// The access rules that hold beneath this root.
    #[must_use]
    pub fn rules(&self) -> Option<&AccessRules> {
        self.rules.as_deref()
    }

    /// Which tier opens paths beneath this root.
    #[must_use]
    pub fn containment(&self) -> Containment {
        self.containment
    }

    /// Whether the root has been removed since it was opened.
    #[must_use]
    pub fn is_gone(&self) -> bool {
        self.directory.is_removed()
    }

    /// The error of an opening, unless it failed because the root has been removed.
    pub(super) fn unless_gone(&self, error: OpenError) -> OpenError {
        if self.is_gone() { OpenError::RootGone } else { error }
    }

    /// Finds out the spellings of the root's path, which may wait. After that, [`Sandbox::locate`]
    /// and [`Sandbox::is_spelled_in`] wait for nothing.
    pub fn find_spellings(&self) {
        self.plain();
        self.canonical();
    }

    /// Parses a path, which may be absolute if it lies inside the root by one of the root's names.
    ///
    /// # Errors
    ///
    /// [`PathRefusal`] where the spelling alone refuses it.
    pub fn locate(&self, path: &str) -> Result<WorkspacePath, PathRefusal> {
        WorkspacePath::parse_allowing_absolute(path, |absolute| self.part_beneath(absolute))
    }

    /// The part of an absolute path that lies beneath the root, by one of the root's names; `None` for
    /// any other text.
    #[must_use]
    pub fn part_inside(&self, absolute: &str) -> Option<String> {
        Path::new(absolute).is_absolute().then(|| self.part_beneath(absolute)).flatten()
    }

    /// The part of a pattern's absolute path that lies beneath the root, by any path to the root, also
    /// through links. Asks the system about each folder on the path, as far as its names hold no sign of a pattern.
    #[must_use]
    pub fn part_of_pattern(&self, absolute: &str) -> Option<String> {
        self.part_inside(absolute).or_else(|| {
            let ends = absolute.match_indices('/').map(|(slash, _)| slash).filter(|&end| end > 0);
            let folders = ends.chain([absolute.len()]).map(|end| absolute.split_at(end));
            let exists = |folder: &str| {
                let name = folder.rsplit('/').next().unwrap_or_default();
                !name.contains(['*', '?', '[', '\\']) && std::fs::metadata(folder).is_ok()
            };
            let folders = folders.take_while(|(folder, _)| exists(folder));
            let roots = folders.filter(|(folder, _)| self.is_at(Path::new(folder)));
            roots.last().map(|(_, rest)| rest.to_owned())
        })
    }

    fn is_at(&self, folder: &Path) -> bool {
        if cfg!(unix) {
            return self.directory.is_at(folder);
        }
        // Windows tells folders apart by their paths alone.
        let canonical = |path: &Path| std::fs::canonicalize(path).ok();
        canonical(folder).is_some_and(|folder| Some(folder) == canonical(&self.spelled))
    }

    /// [`Sandbox::locate`] without any system call; `None` also where one would be needed.
    #[must_use]
    pub fn locate_at_once(&self, path: &str) -> Option<WorkspacePath> {
        let inside = |absolute: &str| self.part_beneath_at_once(absolute);
        WorkspacePath::parse_allowing_absolute(path, inside).ok()
    }

    /// Whether a text holds the root's absolute path, which must not be shown.
    #[must_use]
    pub fn is_spelled_in(&self, text: &str) -> bool {
        let spellings = [Some(&*self.spelled), self.plain(), self.canonical()];
        spellings.into_iter().flatten().filter_map(Path::to_str).any(|root| spells_root(text, root))
    }

    fn plain(&self) -> Option<&Path> {
        let plain = self.plain.get_or_init(|| {
            let plain = without_dots(&self.spelled);
            (!self.climbs() || self.directory.is_at(&plain)).then_some(plain)
        });
        plain.as_deref()
    }

    fn canonical(&self) -> Option<&Path> {
        self.canonical.get_or_init(|| self.directory.canonical_path(&self.spelled)).as_deref()
    }

    fn part_beneath(&self, absolute: &str) -> Option<String> {
        // The spelled root answers nearly always, and asking for the other costs a system call.
        let part = |root| system::part_beneath(&self.directory, root, absolute);
        self.plain().and_then(part).or_else(|| self.canonical().and_then(part))
    }

    fn part_beneath_at_once(&self, absolute: &str) -> Option<String> {
        let plain = if self.climbs() { self.plain.get()?.as_deref() } else { self.plain() };
        let canonical = self.canonical.get().and_then(Option::as_deref);
        let mut spellings = [plain, canonical].into_iter().flatten();
        spellings.find_map(|root| system::part_beneath(&self.directory, root, absolute))
    }

    /// The steps from the root to a link's absolute target; `None` if the target lies outside.
    pub(super) fn steps_to(&self, target: &Path) -> Option<Vec<Step>> {
        let spellings = [self.plain(), self.canonical()].into_iter().flatten();
        spellings.into_iter().find_map(|root| system::steps_beneath(root, target))
    }

    /// Whether the root is spelled with `..`, which may follow a link.
    fn climbs(&self) -> bool {
        self.spelled.components().any(|part| part == Component::ParentDir)
    }

    /// The key of this root in `cached`; asking for it waits for nothing.
    #[cfg(target_os = "linux")]
    pub(super) fn id(&self) -> Option<system::MountedInode> {
        *self.id.get_or_init(|| system::MountedInode::of(&self.directory))
    }
}

fn open_directory(root: &Path) -> Result<Directory, RootError> {
    if !root.is_absolute() {
        return Err(RootError::Relative);
    }
    Directory::open_root(root).map_err(RootError::from_system)
}

pub(super) fn containment_of(offers_openat2: bool) -> Containment {
    if offers_openat2 { Containment::Kernel } else { Containment::Walk }
}
