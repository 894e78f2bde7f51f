//! A folder that is read as a whole.

use std::ops::ControlFlow;

use crate::sandbox::{EntryKind, EntryName, ListedFolder, OpenError};

/// How many entries are looked at between two questions whether to go on.
pub(super) const ENTRIES_PER_QUESTION: usize = 64;

/// A folder, and the entries that it had when it was read.
#[derive(Debug)]
pub(super) struct ReadFolder<'run> {
    pub(super) folder: ListedFolder<'run>,
    pub(super) entries: Vec<(EntryName, EntryKind)>,
}

/// Why a folder is not read.
#[derive(Debug)]
pub(super) enum Unread {
    /// It has more entries than were asked for.
    TooLarge,
    /// The caller has cancelled the walk.
    Cancelled,
    /// The system does not give its entries.
    Open(OpenError),
}

impl<'run> ReadFolder<'run> {
    /// Reads all entries of a folder, if it has at most `most`.
    pub(super) fn read(
        mut folder: ListedFolder<'run>,
        most: usize,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<Self, Unread> {
        let mut entries = Vec::new();
        let mut unread = None;
        let visited = folder.visit(&mut |entry| {
            if entries.len() == most {
                unread = Some(Unread::TooLarge);
            } else if entries.len().is_multiple_of(ENTRIES_PER_QUESTION) && cancelled() {
                unread = Some(Unread::Cancelled);
            } else {
                entries.push((entry.to_name(), entry.kind()));
                return ControlFlow::Continue(());
            }
            ControlFlow::Break(())
        });
        match (unread, visited) {
            (Some(unread), _) => Err(unread),
            (None, Err(error)) => Err(Unread::Open(error)),
            (None, Ok(())) => Ok(Self { folder, entries }),
        }
    }

    /// Whether an entry may change the rules that hold in the folder: `.git` or `.gitignore`, or the like
    /// on a file system that ignores case.
    pub(super) fn may_have_rules(&self) -> bool {
        self.entries.iter().any(|(name, _)| {
            let start = name.as_os_str().as_encoded_bytes().get(..4);
            start.is_some_and(|start| start.eq_ignore_ascii_case(b".git"))
        })
    }
}
