//! Windows: `NtCreateFile` beneath directory handles.
//!
//! Win32's own parsing of paths is never used. One component at a time goes to the system, beneath the
//! handle of the one before. Reparse points are opened themselves; symbolic links and junctions are
//! read, and the walk follows them like links elsewhere.

pub(crate) mod change;
pub(crate) mod error;
pub(crate) mod folder;
pub(crate) mod handle;
pub(crate) mod held;
pub(crate) mod list;
pub(crate) mod open;
pub(crate) mod reparse;
pub(crate) mod spelling;
pub(crate) mod sys;
pub(crate) mod wait;

#[cfg(test)]
mod tests;
