//! An addon that exports one empty function.

use napi_derive::napi;

/// Does nothing.
#[napi]
pub fn empty() {}
