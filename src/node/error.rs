//! Error objects in the contract's form: an `Error` whose `name` tells the tool, with an
//! enumerable `code`, and the code again at the front of the message, because that is all that
//! some hosts let through.

use napi::bindgen_prelude::{JsObjectValue, Unknown};
use napi::{Env, Property, PropertyAttributes, Status};

use super::raw::to_js;
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
    let mut object = env.create_error(napi::Error::new(Status::GenericFailure, error.message()))?;
    // Like the `name` of the built-in errors: there, but not among the keys.
    let hidden = PropertyAttributes::Writable | PropertyAttributes::Configurable;
    let name = env.create_string(E::NAME)?;
    object.define_properties(&[Property::new()
        .with_utf8_name("name")?
        .with_value(&name)
        .with_property_attributes(hidden)])?;
    object.set_named_property("code", error.code())?;
    for (key, value) in error.details() {
        object.set_named_property(key, value)?;
    }
    to_js(env, object)
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
