//! The version of this binary, for the loader.

use napi_derive::napi;

/// The loader refuses an addon of another version, and any other addon.
#[napi(skip_typescript)]
pub const RINGFENCE_VERSION: &str = env!("CARGO_PKG_VERSION");
