//! Error objects in the contract's form: an `Error` whose `name` tells the tool, with an
//! enumerable `code`, and the code again at the front of the message, because that is all that
//! some hosts let through.

use napi::bindgen_prelude::{JsObjectValue, Object, Unknown};
use napi::{Env, Property, PropertyAttributes, Status, ValueType};

use super::raw::{self, Kept, to_js};
use super::value::Argument;
use crate::argument::ArgumentError;
use crate::read_file::ReadFileError;
use crate::sandbox::RootError;

/// An error that JavaScript can be shown.
pub(super) trait IntoJsError {
    /// The class-like `name`.
    const NAME: &'static str;
    /// The value of `code`.
    fn code(&self) -> &str;
    /// The whole message.
    fn message(&self) -> String;
    /// Further enumerable properties, in order.
    fn details(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }
}

/// Builds the error object.
pub(super) fn into_js<'env, E: IntoJsError>(
    env: &'env Env,
    error: &E,
) -> napi::Result<Unknown<'env>> {
    into_js_because(env, error, None)
}

/// Builds the error object, with what the host threw as its `cause`.
pub(super) fn into_js_because<'env, E: IntoJsError>(
    env: &'env Env,
    error: &E,
    cause: Option<Kept>,
) -> napi::Result<Unknown<'env>> {
    let mut object = env.create_error(napi::Error::new(Status::GenericFailure, error.message()))?;
    // Like the `name` of the built-in errors: there, but not among the keys.
    let hidden = PropertyAttributes::Writable | PropertyAttributes::Configurable;
    let name = env.create_string(E::NAME)?;
    object.define_properties(&[Property::new()
        .with_utf8_name("name")?
        .with_value(&name)
        .with_property_attributes(hidden)])?;
    if lacks_stack(env, &object)? {
        // Bun gives none to an error that is made while no JavaScript runs, and programs that
        // print errors expect one.
        let stack = env.create_string(format!("{}: {}", E::NAME, error.message()))?;
        object.define_properties(&[Property::new()
            .with_utf8_name("stack")?
            .with_value(&stack)
            .with_property_attributes(hidden)])?;
    }
    if let Some(cause) = cause {
        let cause = cause.value(env)?;
        object.define_properties(&[Property::new()
            .with_utf8_name("cause")?
            .with_value(&cause)
            .with_property_attributes(hidden)])?;
    }
    object.set_named_property("code", error.code())?;
    for (key, value) in error.details() {
        object.set_named_property(key, value)?;
    }
    to_js(env, object)
}

/// The `code` of an error that a host threw, if it has one.
pub(super) fn code_of(env: &Env, thrown: &Kept) -> Option<String> {
    let thrown = Argument::new(env, "error", thrown.value(env).ok()?).object().ok()?;
    thrown.optional(c"code", "code", Argument::unicode).ok()?
}

/// What a function without a promise answers: its value, or its error thrown. `None` is a panic.
pub(super) fn or_throw<T, E: IntoJsError>(
    env: &Env,
    answer: Option<Result<T, E>>,
    bug: E,
) -> napi::Result<T> {
    answer.unwrap_or(Err(bug)).or_else(|error| Err(napi::Error::from(into_js(env, &error)?)))
}

fn lacks_stack(env: &Env, error: &Object<'_>) -> napi::Result<bool> {
    let stack = raw::get_property(env, to_js(env, error)?, c"stack");
    Ok(stack.is_none_or(|stack| stack.get_type().is_ok_and(|kind| kind == ValueType::Undefined)))
}

impl IntoJsError for ReadFileError {
    const NAME: &'static str = "ReadFileError";

    fn code(&self) -> &str {
        ReadFileError::code(self).as_str()
    }

    fn message(&self) -> String {
        self.to_string()
    }

    fn details(&self) -> Vec<(&'static str, String)> {
        vec![("path", self.path().to_owned())]
    }
}

/// Why a `Workspace` could not be opened.
#[derive(Debug, thiserror::Error)]
pub(super) enum WorkspaceError {
    /// The host's mistake.
    #[error(transparent)]
    Argument(#[from] ArgumentError),
    /// What stands at the root.
    #[error("workspaceRoot {0}")]
    Root(#[from] RootError),
    /// A panic.
    #[error("ringfence failed: please report it")]
    Bug,
}

impl IntoJsError for WorkspaceError {
    const NAME: &'static str = "WorkspaceError";

    fn code(&self) -> &str {
        match self {
            Self::Root(RootError::System(_)) | Self::Bug => "INTERNAL",
            Self::Argument(_) | Self::Root(_) => "INVALID_ARGUMENT",
        }
    }

    fn message(&self) -> String {
        format!("{}: {self}", self.code())
    }
}

/// Why no hash was computed.
#[derive(Debug, thiserror::Error)]
pub(super) enum ContentHashError {
    /// The caller's mistake.
    #[error(transparent)]
    Argument(#[from] ArgumentError),
    /// A panic.
    #[error("ringfence failed: please report it")]
    Bug,
}

impl IntoJsError for ContentHashError {
    const NAME: &'static str = "ContentHashError";

    fn code(&self) -> &str {
        match self {
            Self::Argument(_) => "INVALID_ARGUMENT",
            Self::Bug => "INTERNAL",
        }
    }

    fn message(&self) -> String {
        format!("{}: {self}", self.code())
    }
}
