//! The only folder that touches a file system.
//!
//! A [`Sandbox`] holds the workspace root open as a handle. Everything is opened beneath that
//! handle; no path is ever checked first and opened afterwards. There are two ways to open the
//! file or folder of a path, called tiers. Both give the same answers:
//!
//! - **kernel**: Linux' `openat2(RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS)`. The kernel refuses,
//!   during its own walk, to step outside.
//! - **walk**: a hand-over-hand walk. It opens one component at a time beneath the handle of the
//!   one before, follows no link that it has not read itself, and steps back only to handles that
//!   it came through.
//!
//! [`Sandbox::containment`] says which tier is in force.
//!
//! Each file imports only from those above it in this table:
//!
//! | file | contents |
//! | --- | --- |
//! | `entry`, `error`, `spelling` | kinds of entries, errors, spellings of paths |
//! | `temporary`, `sweeps` | names of temporary files, and when a folder was last cleared of them |
//! | `system/` | each system's operations on one open folder and one name |
//! | `root` | [`Sandbox`]: the root, held open, and the names it goes by |
//! | `file`, `buffer` | an open file, and reading it |
//! | `judge` | the access rules, asked about each path that leads to an entry |
//! | `walk`, `kernel`, `open` | the two tiers, and the choice between them |
//! | `cached` | Linux: reading a small file without waiting for anything |
//! | `reading`, `list`, `sync` | opening and reading files; listing folders; making a file last |
//! | `place`, `folders` | where a path leads for writing; making the folders it needs |
//! | `callbacks`, `attempts` | what a change asks its caller; repeating one that another process has disturbed |
//! | `put/error`, `entry_error` | the errors of writing, and of moving and removing |
//! | `folder_tree` | counting and removing everything beneath a folder |
//! | `put/` | creating and replacing files |
//! | `remove/` | removing files, links and folders |
//! | `rename/` | moving files, links and folders |

mod attempts;
mod buffer;
#[cfg_attr(not(target_os = "linux"), path = "uncached.rs")]
mod cached;
mod callbacks;
mod entry;
mod entry_error;
mod error;
mod file;
mod folder_tree;
mod folders;
mod judge;
#[cfg(target_os = "linux")]
mod kernel;
mod list;
mod open;
mod place;
mod put;
mod reading;
mod remove;
mod rename;
mod root;
mod spelling;
mod sweeps;
mod sync;
mod system;
mod temporary;
mod walk;

pub use buffer::ReadBuffer;
pub use callbacks::Callbacks;
pub use entry::{EntryFacts, EntryKind, EntryName, Listed, MAX_LINKS};
pub use entry_error::EntryError;
pub use error::{FileSize, Obstacle, OpenError, ReadError, RootError};
pub use file::{CachedRead, FileFacts, FileId, OpenFile};
pub use list::ListedFolder;
pub use place::PlaceId;
pub use put::content::{Before, Expected, NewContent, Visibility, Written};
pub use put::error::{Flaw, MAX_COMPARED_BYTES, Stray, WriteError};
pub use remove::{RemoveOptions, RemovedEntry};
pub use rename::{MoveEnd, MoveError, MoveOptions, MovedEntry};
pub use root::{Containment, Sandbox};

#[cfg(test)]
mod tests;
