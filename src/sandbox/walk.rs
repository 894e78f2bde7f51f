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

use super::entry::{Found, LinkTarget, MAX_LINKS, Step};
use super::error::OpenError;
use super::root::Sandbox;
use super::system::{self, Directory};
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
}

/// How many handles a walk holds at most, beside the root's. A path may have two thousand components,
/// and a process may have a thousand handles.
const MAX_HANDLES: usize = 32;

impl<'root> PathWalk<'root> {
    /// A walk that stands at the root, with the path's names still to take.
    pub(super) fn new(root: &'root Sandbox, path: &WorkspacePath) -> Self {
        let ahead = path.names().rev().map(|name| Step::Into(name.into())).collect();
        Self { root, entered: Vec::new(), ahead, links: 0 }
    }

    /// Takes every step, and opens the last component with `open_last`.
    pub(super) fn finish<T>(&mut self, open_last: OpenLast<'_, T>) -> Result<T, OpenError> {
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
            Step::Into(name) => match system::open_directory(self.here(), &name)? {
                Found::Opened(directory) => {
                    self.enter(name, directory);
                    Ok(())
                }
                Found::Link(target) => self.follow(target),
            },
        }
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
        match open_last(self.here(), name)? {
            Found::Opened(opened) => Ok(Some(opened)),
            Found::Link(target) => {
                self.follow(target)?;
                Ok(None)
            }
        }
    }

    fn here(&self) -> &Directory {
        let innermost = self.entered.last().and_then(|(_, directory)| directory.as_ref());
        innermost.unwrap_or(&self.root.directory)
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

    fn follow(&mut self, target: LinkTarget) -> Result<(), OpenError> {
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
        Ok(())
    }
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
pub(super) fn open_to_read(root: &Sandbox, path: &WorkspacePath) -> Result<File, OpenError> {
    let must_be_directory = path.must_be_directory();
    PathWalk::new(root, path)
        .finish(&|parent, name| system::open_to_read(parent, name, must_be_directory))
}

/// Opens a folder to create in.
pub(super) fn open_to_write_in(
    root: &Sandbox,
    path: &WorkspacePath,
) -> Result<Directory, OpenError> {
    PathWalk::new(root, path).finish(&system::open_directory_to_write_in)
}

/// Opens a folder to list it.
pub(super) fn open_to_list(root: &Sandbox, path: &WorkspacePath) -> Result<Directory, OpenError> {
    PathWalk::new(root, path).finish(&system::open_directory_to_list)
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
    PathWalk::new(root, path).finish(&|parent, name| {
        Ok(match system::read_link(parent, name)? {
            Some(target) => Found::Link(target),
            None => Found::Opened((parent.reopen_to_write_in()?, name.to_owned())),
        })
    })
}
