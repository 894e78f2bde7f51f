//! The outcome of a call, and settling a promise with it.

use napi::Env;
use napi::bindgen_prelude::Unknown;

use crate::node::engine::raw::{Deferred, to_js};

/// `Ok(Ok(value))` resolves the promise, `Ok(Err(reason))` rejects it. `Err` is a failure of the engine.
pub type JsResult<'env> = napi::Result<Result<Unknown<'env>, Unknown<'env>>>;

/// The outcome of a call: a result or an error.
pub trait Outcome: Sized + 'static {
    /// The outcome as JavaScript sees it.
    fn into_js(self, env: &Env) -> JsResult<'_>;

    /// The outcome of a call that panicked.
    fn bug() -> Self;

    /// Whether the work was told to stop and did stop, so that the signal's reason is the answer.
    fn was_aborted(&self) -> bool {
        false
    }
}

/// Settles a promise. Fails only where the environment is ending, and then nothing can wait for the
/// promise any more.
pub fn settle<T: Outcome>(env: &Env, deferred: Deferred, answer: JsResult<'_>) -> napi::Result<()> {
    // A promise must not stay pending because the engine could not make the answer.
    match answer.or_else(|_| T::bug().into_js(env)) {
        Ok(Ok(value)) => deferred.resolve(env, value),
        Ok(Err(reason)) => deferred.reject(env, reason),
        Err(failure) => {
            let reason = env.create_error(failure)?;
            deferred.reject(env, to_js(env, reason)?)
        }
    }
}
