//! The hand-over-hand walk: one component at a time, beneath the handle of the one before.
//!
//! The system never follows a link here. The walk reads a link and puts the target's components in
//! front of those that are still ahead. Two things lead out, and are refused: a `..` above the
//! root ([`PathWalk::step_back`]), and an absolute target outside the root ([`PathWalk::follow`]). `..`,
//! which only links can bring, steps back to the handle that the walk came through, never by name.
//! Another process may move things meanwhile; still, each handle was reached from the root by
//! names that were no links at that moment.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::path::PathBuf;

use super::entry::{Found, LinkTarget, MAX_LINKS, Step};
use super::error::OpenError;
use super::judge::{Judge, Reached};
use super::root::Sandbox;
use super::system::{self, Directory};
use crate::access::Access;
use crate::path::WorkspacePath;

/// Opens the last component.
pub(super) type OpenLast<'a, T> = &'a dyn Fn(&Directory, &OsStr) -> Result<Found<T>, OpenError>;

/// A walk from the root, and where it ended.
pub(super) struct PathWalk<'root> {
    root: &'root Sandbox,
    /// The directories walked into, outermost first. `..` steps back to their handles. Only the
    /// innermost [`MAX_HANDLES`] handles are kept.
    entered: Vec<(OsString, Option<Directory>)>,
    /// The steps still to take, the next one last.
    ahead: Vec<Step>,
    links: u32,
    /// Judges the paths to which links lead; `None` without access rules.
    judge: Option<Judge<'root>>,
}

/// How many handles a walk holds at most, beside the root's. A path may have two thousand components,
/// and a process may have a thousand handles.
const MAX_HANDLES: usize = 32;

impl<'root> PathWalk<'root> {
    /// A walk that stands at the root, with the path's names still to take. Access rules judge what they judge
    /// after the first link: the caller has had the path itself judged.
    pub(super) fn new(root: &'root Sandbox, path: &WorkspacePath, access: Access) -> Self {
        Self::towards(root, path, access, &WorkspacePath::root())
    }

    /// [`PathWalk::new`] to a folder from which `rest` leads on to the entry that is accessed.
    pub(super) fn towards(
        root: &'root Sandbox,
        folder: &WorkspacePath,
        access: Access,
        rest: &WorkspacePath,
    ) -> Self {
        let ahead = folder.names().rev().map(|name| Step::Into(name.into())).collect();
        let judge = root.rules().map(|rules| Judge::new(rules, access, rest));
        Self { root, entered: Vec::new(), ahead, links: 0, judge }
    }

    /// Takes every step, and opens the last component with `open_last`.
    pub(super) fn finish<T>(&mut self, open_last: OpenLast<'_, T>) -> Result<T, OpenError> {
        let opened = self.take_all(open_last);
        match &self.judge {
            Some(judge) => opened.map_err(|error| judge.hide_absence(error)),
            None => opened,
        }
    }

    /// The other paths of the entry by which links have led to it, if access rules judge them.
    pub(super) fn other_paths(&mut self) -> Vec<PathBuf> {
        self.judge.take().map_or_else(Vec::new, Judge::into_other_paths)
    }

    fn take_all<T>(&mut self, open_last: OpenLast<'_, T>) -> Result<T, OpenError> {
        loop {
            let step = self.ahead.pop().unwrap_or(Step::Stay);
            if self.ahead.is_empty() {
                if let Some(opened) = self.last_step(&step, open_last)? {
                    return Ok(opened);
                }
            } else {
                self.step(step)?;
            }
        }
    }

    /// The names that lead from the root to the directory that holds the last component, free of
    /// links when they were walked.
    #[cfg(target_os = "linux")]
    pub(super) fn entered_names(&self) -> impl Iterator<Item = &OsStr> {
        self.entered.iter().map(|(name, _)| name.as_os_str())
    }

    fn step(&mut self, step: Step) -> Result<(), OpenError> {
        match step {
            Step::Stay => Ok(()),
            Step::Up => self.step_back(),
            Step::Into(name) => {
                self.judge_way(&name)?;
                match system::open_directory(self.here(), &name)? {
                    Found::Opened(directory) => {
                        self.enter(name, directory);
                        Ok(())
                    }
                    Found::Link(target) => self.follow(&name, target),
                }
            }
        }
    }

    /// Refuses a short (8.3) name of Windows. The access rules compare long names.
    fn refuse_short_name(&self, name: &OsStr) -> Result<(), OpenError> {
        match &self.judge {
            Some(_) if system::is_short_name(self.here(), name)? => Err(OpenError::Denied),
            _ => Ok(()),
        }
    }

    /// Judges a folder on the way, once a link has been followed.
    fn judge_way(&self, name: &OsStr) -> Result<(), OpenError> {
        self.refuse_short_name(name)?;
        match &self.judge {
            Some(judge) if self.links > 0 => judge.check_folder(&self.path_to(name)),
            _ => Ok(()),
        }
    }

    /// Judges the last component, once a link has been followed.
    fn judge_last(&mut self, name: &OsStr) -> Result<(), OpenError> {
        self.refuse_short_name(name)?;
        if self.links == 0 {
            return Ok(());
        }
        let path = self.path_to(name);
        let here = innermost(&self.entered, self.root);
        match &mut self.judge {
            Some(judge) => judge.check_last(path, &|| system::kind_at(here, name)),
            None => Ok(()),
        }
    }

    /// The path of a component of the directory that the walk is in.
    fn path_to(&self, name: &OsStr) -> PathBuf {
        let names = self.entered.iter().map(|(name, _)| name.as_os_str());
        names.chain([name]).filter(|&name| name != ".").collect()
    }

    /// The path that a link names, as it is spelled; `None` if its `..` lead out.
    fn path_ahead(&self) -> Option<PathBuf> {
        let mut names: Vec<&OsStr> =
            self.entered.iter().map(|(name, _)| name.as_os_str()).collect();
        for step in self.ahead.iter().rev() {
            match step {
                Step::Stay => {}
                Step::Up => drop(names.pop()?),
                Step::Into(name) => names.push(name),
            }
        }
        Some(names.into_iter().collect())
    }

    /// `None` if the last component was a link. The steps of its target are then the next ones to
    /// take.
    fn last_step<T>(
        &mut self,
        step: &Step,
        open_last: OpenLast<'_, T>,
    ) -> Result<Option<T>, OpenError> {
        let name = match step {
            Step::Into(name) => name.as_os_str(),
            Step::Stay => OsStr::new("."),
            Step::Up => {
                self.step_back()?;
                OsStr::new(".")
            }
        };
        self.judge_last(name)?;
        match open_last(self.here(), name)? {
            Found::Opened(opened) => Ok(Some(opened)),
            Found::Link(target) => {
                self.follow(name, target)?;
                Ok(None)
            }
        }
    }

    fn here(&self) -> &Directory {
        innermost(&self.entered, self.root)
    }

    fn enter(&mut self, name: OsString, directory: Directory) {
        self.entered.push((name, Some(directory)));
        if let Some(outer) = self.entered.len().checked_sub(MAX_HANDLES + 1) {
            self.entered[outer].1 = None;
        }
    }

    fn step_back(&mut self) -> Result<(), OpenError> {
        self.entered.pop().ok_or(OpenError::Escapes)?;
        match self.entered.last() {
            Some((_, None)) => self.walk_again(),
            _ => Ok(()),
        }
    }

    /// Opens the innermost directory anew, whose handle was let go. Its names were no links when they
    /// were walked; a name that is a link by now was exchanged by another process.
    fn walk_again(&mut self) -> Result<(), OpenError> {
        let here = descend(self.root, self.entered.iter().map(|(name, _)| name.as_os_str()))?;
        if let Some((_, innermost)) = self.entered.last_mut() {
            *innermost = here;
        }
        Ok(())
    }

    fn follow(&mut self, name: &OsStr, target: LinkTarget) -> Result<(), OpenError> {
        if let Some(judge) = &self.judge {
            judge.check_link(&self.path_to(name))?;
        }
        self.links += 1;
        if self.links > MAX_LINKS {
            return Err(OpenError::Loops);
        }
        let steps = match target {
            LinkTarget::Relative(steps) => steps,
            LinkTarget::Absolute(target) => {
                let steps = self.root.steps_to(&target).ok_or(OpenError::Escapes)?;
                self.entered.clear();
                steps
            }
        };
        self.ahead.extend(steps.into_iter().rev());
        if let Some(named) = self.path_ahead()
            && let Some(judge) = &mut self.judge
        {
            judge.check_named(named)?;
        }
        Ok(())
    }
}

/// The directory that a walk is in.
fn innermost<'walk>(
    entered: &'walk [(OsString, Option<Directory>)],
    root: &'walk Sandbox,
) -> &'walk Directory {
    let innermost = entered.last().and_then(|(_, directory)| directory.as_ref());
    innermost.unwrap_or(&root.directory)
}

/// Walks from the root into folders by names of which none may be a link; `None` is the root.
pub(super) fn descend<'names>(
    root: &Sandbox,
    names: impl IntoIterator<Item = &'names OsStr>,
) -> Result<Option<Directory>, OpenError> {
    let mut here: Option<Directory> = None;
    for name in names {
        let parent = here.as_ref().unwrap_or(&root.directory);
        match system::open_directory(parent, name)? {
            Found::Opened(directory) => here = Some(directory),
            Found::Link(_) => return Err(OpenError::Escapes),
        }
    }
    Ok(here)
}

/// Opens a file to read it.
pub(super) fn open_to_read(
    root: &Sandbox,
    path: &WorkspacePath,
    access: Access,
) -> Result<File, OpenError> {
    let must_be_directory = path.must_be_directory();
    let mut walk = PathWalk::new(root, path, access);
    let file =
        walk.finish(&|parent, name| system::open_to_read(parent, name, must_be_directory))?;
    // Another program has put the folder there since the rules have judged a file.
    let is_folder = || file.metadata().is_ok_and(|metadata| metadata.is_dir());
    if walk.judge.is_some_and(|judge| judge.hides_folder()) && is_folder() {
        return Err(OpenError::Denied);
    }
    Ok(file)
}

/// Opens a folder to create in. `rest` leads on from it to the entry that is made or changed.
pub(super) fn open_to_write_in(
    root: &Sandbox,
    folder: &WorkspacePath,
    rest: &WorkspacePath,
) -> Result<Reached, OpenError> {
    let mut walk = PathWalk::towards(root, folder, Access::Change, rest);
    let directory = walk.finish(&system::open_directory_to_write_in)?;
    Ok(Reached { directory, other_paths: walk.other_paths() })
}

/// Opens a folder to list it.
pub(super) fn open_to_list(root: &Sandbox, path: &WorkspacePath) -> Result<Reached, OpenError> {
    let mut walk = PathWalk::new(root, path, Access::Read);
    let directory = walk.finish(&system::open_directory_to_list)?;
    Ok(Reached { directory, other_paths: walk.other_paths() })
}

/// Opens a folder to list it, by names of which none may be a link.
pub(super) fn open_to_list_by_names(
    root: &Sandbox,
    names: &[&OsStr],
) -> Result<Directory, OpenError> {
    let Some((last, names)) = names.split_last() else {
        return root.directory.reopen_to_list();
    };
    let parent = descend(root, names.iter().copied())?;
    // By its name, because a folder that may be read but not entered cannot be opened from within.
    match system::open_directory_to_list(parent.as_ref().unwrap_or(&root.directory), last)? {
        Found::Opened(directory) => Ok(directory),
        Found::Link(_) => Err(OpenError::Escapes),
    }
}

/// Follows all links of a path. Gives the folder in which the path ends, open to create in, and
/// the last name, which was no link a moment ago.
pub(super) fn resolve(
    root: &Sandbox,
    path: &WorkspacePath,
) -> Result<(Directory, OsString), OpenError> {
    PathWalk::new(root, path, Access::Change).finish(&|parent, name| {
        Ok(match system::read_link(parent, name)? {
            Some(target) => Found::Link(target),
            None => Found::Opened((parent.reopen_to_write_in()?, name.to_owned())),
        })
    })
}
