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

/// An outcome of any type, on its way to JavaScript. The code that settles promises exists once for all
/// functions, and not once for each: which keeps the addon 78 KB smaller.
pub struct AnyOutcome {
    into_js: Box<dyn for<'env> FnOnce(&'env Env) -> JsResult<'env> + Send>,
    was_aborted: bool,
}

/// [`Outcome::bug`] of the type that an outcome would have had.
pub type Bug = fn(&Env) -> JsResult<'_>;

impl AnyOutcome {
    pub fn of<T: Outcome + Send>(outcome: T) -> Self {
        let was_aborted = outcome.was_aborted();
        Self { into_js: Box::new(|env| outcome.into_js(env)), was_aborted }
    }

    /// How the outcome becomes JavaScript; `None` if the work was told to stop and did stop.
    pub fn unless_aborted(self) -> Option<ToJs> {
        if self.was_aborted { None } else { Some(self.into_js) }
    }
}

/// Makes the JavaScript value of an outcome.
pub type ToJs = Box<dyn for<'env> FnOnce(&'env Env) -> JsResult<'env>>;

/// The [`Bug`] of a type of outcome.
pub fn bug_of<T: Outcome>(env: &Env) -> JsResult<'_> {
    T::bug().into_js(env)
}

/// Settles a promise. Fails only where the environment is ending, and then nothing can wait for the
/// promise any more.
pub fn settle(env: &Env, deferred: Deferred, answer: JsResult<'_>, bug: Bug) -> napi::Result<()> {
    // A promise must not stay pending because the engine could not make the answer.
    match answer.or_else(|_| bug(env)) {
        Ok(Ok(value)) => deferred.resolve(env, value),
        Ok(Err(reason)) => deferred.reject(env, reason),
        Err(failure) => {
            let reason = env.create_error(failure)?;
            deferred.reject(env, to_js(env, reason)?)
        }
    }
}
