//! The hand-over-hand walk: one component at a time, beneath the handle of the one before.
//!
//! Links are never followed by the system here. A link is read, and its components are put in
//! front of what is still ahead; `..`, which only links can bring, steps back to the handle that
//! the walk came through, never by name. So wherever another process moves things meanwhile, each
//! handle was reached from the root by names that were no links at that moment.

use std::ffi::{OsStr, OsString};

use super::system::{self, Directory};
use super::{MAX_LINKS, OpenError, Root};
use crate::path::WorkspacePath;

/// One step of a path, as links may hold them too.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step {
    /// Into, or onto, the entry of that name.
    Into(OsString),
    /// `.`, or a trailing separator: what stands before it must be a directory.
    Stay,
    /// `..`
    Up,
}

/// What a link points to.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum LinkTarget {
    /// Relative to the directory that holds the link.
    Relative(Vec<Step>),
    /// Absolute, inside the root: relative to the root.
    FromRoot(Vec<Step>),
    /// Absolute, elsewhere.
    Outside,
}

/// What stood at a name.
pub(super) enum Entry<T> {
    /// What was asked for, open.
    Opened(T),
    /// A symbolic link (on Windows, also a junction).
    Link(LinkTarget),
}

/// Opens the last component.
pub(super) type OpenLast<'a, T> =
    &'a dyn Fn(&Root, &Directory, &OsStr) -> Result<Entry<T>, OpenError>;

/// A walk from the root, and where it ended.
pub(super) struct Walk<'root> {
    root: &'root Root,
    /// The directories walked into, outermost first. Their handles are what `..` steps back to; of
    /// a deep path only the innermost are kept.
    entered: Vec<(OsString, Option<Directory>)>,
    /// The steps still to take, the next one last.
    ahead: Vec<Step>,
    links: u32,
}

/// How many handles a walk holds at the most, beside the root's: a path may have two thousand
/// components, and a process a thousand handles.
const MAX_HANDLES: usize = 32;

impl<'root> Walk<'root> {
    /// Stands at the root with the path's names ahead.
    pub(super) fn new(root: &'root Root, path: &WorkspacePath) -> Self {
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
    #[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "only a kernel tier re-opens"))]
    pub(super) fn entered_names(&self) -> impl Iterator<Item = &OsStr> {
        self.entered.iter().map(|(name, _)| name.as_os_str())
    }

    fn step(&mut self, step: Step) -> Result<(), OpenError> {
        match step {
            Step::Stay => Ok(()),
            Step::Up => self.step_back(),
            Step::Into(name) => match system::open_directory(self.root, self.here(), &name)? {
                Entry::Opened(directory) => {
                    self.enter(name, directory);
                    Ok(())
                }
                Entry::Link(target) => self.follow(target),
            },
        }
    }

    /// `None` where the last component was a link that lies ahead now.
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
        match open_last(self.root, self.here(), name)? {
            Entry::Opened(opened) => Ok(Some(opened)),
            Entry::Link(target) => {
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

    /// Comes to the innermost directory anew, whose handle was let go. Its names were no links
    /// when they were walked; if one is a link by now, somebody has exchanged it.
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
            LinkTarget::FromRoot(steps) => {
                self.entered.clear();
                steps
            }
            LinkTarget::Outside => return Err(OpenError::Escapes),
        };
        self.ahead.extend(steps.into_iter().rev());
        Ok(())
    }
}

/// Walks from the root into folders by names of which none may be a link; `None` is the root.
pub(super) fn descend<'names>(
    root: &Root,
    names: impl IntoIterator<Item = &'names OsStr>,
) -> Result<Option<Directory>, OpenError> {
    let mut here: Option<Directory> = None;
    for name in names {
        let parent = here.as_ref().unwrap_or(&root.directory);
        match system::open_directory(root, parent, name)? {
            Entry::Opened(directory) => here = Some(directory),
            Entry::Link(_) => return Err(OpenError::Escapes),
        }
    }
    Ok(here)
}
