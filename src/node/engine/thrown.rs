//! A value that JavaScript threw, kept for later.

use napi::Env;
use napi::bindgen_prelude::Unknown;

use super::raw::Reference;

/// A value that JavaScript threw, or the reason of a rejected promise. `None` if the engine itself
/// failed.
pub struct Thrown(pub Option<Reference>);

impl Thrown {
    /// Keeps a thrown value beyond the present call.
    pub fn keeping(env: &Env, value: Option<Unknown<'_>>) -> Self {
        Self(value.and_then(|value| Reference::new(env, value).ok()))
    }
}
