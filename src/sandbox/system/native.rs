//! The system of this build, Linux or macOS, for the files that both share.

#[cfg(target_os = "linux")]
pub(crate) use super::linux::*;
#[cfg(target_os = "macos")]
pub(crate) use super::macos::*;
