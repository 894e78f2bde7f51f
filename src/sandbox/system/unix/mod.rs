//! The code that Linux and macOS share.

pub(crate) mod change;
pub(crate) mod error;
pub(crate) mod folder;
pub(crate) mod handle;
pub(crate) mod held;
pub(crate) mod inside;
pub(crate) mod open;
pub(crate) mod spelling;

pub(crate) use super::native::{Writers, is_append_only, link_unnamed, open_unnamed};
