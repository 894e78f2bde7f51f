//! Errors as JavaScript sees them, and the outcomes that hold them.
//!
//! An error is an `Error` whose `name` tells the tool, with an enumerable `code`. The code also leads the
//! message, because the message is all that some hosts show.

use std::fmt::Display;

use napi::Env;
use napi::bindgen_prelude::{ToNapiValue, Unknown};

use super::argument::Argument;
use crate::argument::ArgumentError;
use crate::node::call::outcome::{JsResult, Outcome};
use crate::node::call::panic::guard;
use crate::node::call::run::NotStarted;
use crate::node::engine::error_object::{ErrorObject, Property};
use crate::node::engine::raw::{Reference, to_js};

/// An error of the addon.
pub trait JsError: Display + Sized + 'static {
    /// The class-like `name`.
    const NAME: &'static str;

    /// The error after a panic.
    fn bug() -> Self;

    /// The value of `code`.
    fn code(&self) -> &str;

    /// The whole message.
    fn message(&self) -> String {
        format!("{}: {self}", self.code())
    }

    /// Enumerable properties other than `code`, in order.
    fn details(&self) -> Vec<(&'static str, Property)> {
        Vec::new()
    }

    /// The value that the host threw, if that caused the error.
    fn take_cause(&mut self) -> Option<Reference> {
        None
    }

    /// Whether the work stopped because it was told to.
    fn was_aborted(&self) -> bool {
        false
    }
}

/// Makes the error object.
pub fn into_js<E: JsError>(env: &Env, mut error: E) -> napi::Result<Unknown<'_>> {
    let cause = error.take_cause();
    let mut properties = vec![("code", error.code().to_owned().into())];
    properties.extend(error.details());
    ErrorObject { name: E::NAME, message: &error.message(), properties, cause }.make(env)
}

/// A result is returned, or resolves a promise; an error is thrown, or rejects it.
impl<T: ToNapiValue + 'static, E: JsError> Outcome for Result<T, E> {
    fn into_js(self, env: &Env) -> JsResult<'_> {
        Ok(match self {
            Ok(value) => Ok(to_js(env, value)?),
            Err(error) => Err(into_js(env, error)?),
        })
    }

    fn bug() -> Self {
        Err(E::bug())
    }

    fn was_aborted(&self) -> bool {
        self.as_ref().is_err_and(E::was_aborted)
    }
}

impl<T, E: From<ArgumentError>> From<ArgumentError> for NotStarted<'_, Result<T, E>> {
    fn from(error: ArgumentError) -> Self {
        Self::Refused(Err(error.into()))
    }
}

impl<T, E: JsError> From<E> for NotStarted<'_, Result<T, E>> {
    fn from(error: E) -> Self {
        Self::Refused(Err(error))
    }
}

/// Runs a function that returns no promise: returns its result, or throws its error.
pub fn or_throw<T, E: JsError>(env: &Env, run: impl FnOnce() -> Result<T, E>) -> napi::Result<T> {
    let result = guard(run).unwrap_or_else(|| Err(E::bug()));
    result.or_else(|error| Err(napi::Error::from(into_js(env, error)?)))
}

/// The `code` of an error that the host threw, if it has one.
pub fn code_of(env: &Env, thrown: &Reference) -> Option<String> {
    let thrown = Argument::new(env, "error", thrown.value(env).ok()?).object().ok()?;
    thrown.optional(c"code", "code", Argument::unicode).ok()?
}
