//! A value that JavaScript threw, kept for later.

use napi::Env;
use napi::bindgen_prelude::Unknown;

use super::raw::Kept;

/// A value that JavaScript threw, or the reason of a rejected promise. `None` if the engine itself
/// failed.
pub struct Thrown(pub Option<Kept>);

impl Thrown {
    /// Keeps a thrown value beyond the present call.
    pub fn keeping(env: &Env, value: Option<Unknown<'_>>) -> Self {
        Self(value.and_then(|value| Kept::new(env, value).ok()))
    }
}
