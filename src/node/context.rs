//! The `context` that every function takes: a [`Workspace`], or any object of the host's own that
//! has an absolute `workspaceRoot`.

use std::path::PathBuf;
use std::sync::Arc;

use napi::bindgen_prelude::{ClassInstance, FromNapiValue, Unknown};

use super::value::{Argument, Text};
use super::workspace::Workspace;
use crate::argument::{ArgumentError, Got};
use crate::read_file::Cause;
use crate::sandbox::Sandbox;
use crate::text::InvalidUtf8;

/// Where a function works, and what of the workspace's options concerns reading.
pub(super) struct Context {
    root: Root,
    pub(super) invalid_utf8: InvalidUtf8,
}

enum Root {
    /// A `Workspace` holds it open.
    Held(Arc<Sandbox>),
    /// A plain context names it; opened anew for each call, on the worker.
    Named(PathBuf),
}

impl Context {
    /// Reads a context. Keys other than those named here are the host's own.
    pub(super) fn read(argument: Argument<'_>) -> Result<Self, ArgumentError> {
        let object = argument.object().map_err(|error| ArgumentError {
            rule: "must be a Workspace or an object with an absolute workspaceRoot".to_owned(),
            ..error
        })?;
        if let Some(workspace) = Workspace::from_js(object.value()) {
            let sandbox = workspace.sandbox.clone().ok_or_else(|| {
                ArgumentError::new("context", "is a Workspace that was closed", Got::Unsaid)
            })?;
            return Ok(Self { root: Root::Held(sandbox), invalid_utf8: workspace.invalid_utf8 });
        }
        let root = object
            .property(c"workspaceRoot", "workspaceRoot")?
            .ok_or_else(|| root_rule(Got::Kind("nothing")))?;
        Ok(Self {
            root: Root::Named(read_root(root)?),
            invalid_utf8: read_invalid_utf8(object)?.unwrap_or_default(),
        })
    }

    /// The sandbox to work in. Opening a named root is a system call and belongs on a worker.
    pub(super) fn open(&self) -> Result<Arc<Sandbox>, Cause> {
        match &self.root {
            Root::Held(sandbox) => Ok(Arc::clone(sandbox)),
            Root::Named(path) => Ok(Arc::new(Sandbox::open(path)?)),
        }
    }
}

impl Workspace {
    fn from_js(value: Unknown<'_>) -> Option<ClassInstance<'_, Self>> {
        // napi-rs checks the object's type tag, so a forged prototype does not pass.
        ClassInstance::from_unknown(value).ok()
    }
}

/// Reads an absolute root.
pub(super) fn read_root(argument: Argument<'_>) -> Result<PathBuf, ArgumentError> {
    let text = match argument.string() {
        Ok(Text::Unicode(text)) => text,
        Ok(Text::LoneSurrogate(_)) => {
            return Err(root_error("must be well-formed Unicode, without lone surrogates"));
        }
        Err(error) => return Err(root_rule(error.got)),
    };
    if text.contains('\0') {
        return Err(root_error("must not contain a NUL character"));
    }
    let path = PathBuf::from(text);
    if path.is_absolute() { Ok(path) } else { Err(root_rule(Got::Kind("a relative one"))) }
}

fn root_rule(got: Got) -> ArgumentError {
    ArgumentError::new("workspaceRoot", "must be an absolute path", got)
}

fn root_error(rule: &str) -> ArgumentError {
    ArgumentError::new("workspaceRoot", rule, Got::Unsaid)
}

/// Reads the option `invalidUtf8`.
pub(super) fn read_invalid_utf8(
    object: Argument<'_>,
) -> Result<Option<InvalidUtf8>, ArgumentError> {
    object
        .property(c"invalidUtf8", "invalidUtf8")?
        .map(|value| {
            value.one_of(&[("reject", InvalidUtf8::Reject), ("replace", InvalidUtf8::Replace)])
        })
        .transpose()
}
