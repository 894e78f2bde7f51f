//! The `context` that every function takes: a [`Workspace`], or any object of the host's own that
//! has an absolute `workspaceRoot`.

use std::ffi::CStr;
use std::num::NonZeroU64;
use std::path::PathBuf;
use std::sync::Arc;

use napi::bindgen_prelude::{ClassInstance, FromNapiValue, Unknown};

use super::value::{Argument, Text, lone_surrogate};
use super::workspace::Workspace;
use crate::argument::{ArgumentError, Got, SAFE_INTEGERS};
use crate::create_file::{CreateFileOptions, DEFAULT_MAX_CREATE_BYTES, Durability, WriteScope};
use crate::hash::ContentHash;
use crate::path::spells;
use crate::sandbox::{RootError, Sandbox};
use crate::text::InvalidUtf8;

/// Where a function works, and how.
#[derive(Clone)]
pub(super) struct Context {
    root: Root,
    /// What concerns reading.
    pub(super) invalid_utf8: InvalidUtf8,
    /// What concerns creating; for reading not looked at.
    pub(super) create: CreateFileOptions,
}

/// What a context is read for: options that do not concern it are not looked at, since a host may
/// use such keys for something else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    Read,
    Create,
}

#[derive(Clone)]
enum Root {
    /// A `Workspace` holds it open.
    Held(Arc<Sandbox>),
    /// A plain context names it; opened anew for each call, on the worker.
    Named(PathBuf),
}

impl Context {
    /// Reads a context. Keys other than those named here are the host's own.
    pub(super) fn read(argument: Argument<'_>, purpose: Purpose) -> Result<Self, ArgumentError> {
        let object = argument.object().map_err(|error| ArgumentError {
            rule: "must be a Workspace or an object with an absolute workspaceRoot".to_owned(),
            ..error
        })?;
        if let Some(workspace) = Workspace::from_js(object.value()) {
            return Ok(Self {
                root: workspace.held_root("context")?,
                invalid_utf8: workspace.invalid_utf8,
                create: workspace.create.clone(),
            });
        }
        Ok(Self {
            root: read_named_root(object)?,
            invalid_utf8: match purpose {
                Purpose::Read => read_invalid_utf8(object)?,
                Purpose::Create => InvalidUtf8::default(),
            },
            create: match purpose {
                Purpose::Read => CreateFileOptions::default(),
                Purpose::Create => read_create_options(object)?,
            },
        })
    }

    /// Reads a directory: an absolute path, a `Workspace`, or an object with a `workspaceRoot`, of
    /// which nothing else counts. What is none of these breaks the rule.
    pub(super) fn read_directory(
        argument: Argument<'_>,
        rule: &'static str,
    ) -> Result<Self, ArgumentError> {
        if argument.string().is_ok() {
            let path = read_directory_path(argument, argument.name())?;
            return Ok(Self::of_root(Root::Named(path)));
        }
        let object = argument.object().map_err(|_| argument.refuse(rule))?;
        if let Some(workspace) = Workspace::from_js(object.value()) {
            return Ok(Self::of_root(workspace.held_root(argument.name())?));
        }
        let named = read_named_root(object).map_err(|error| match error.got {
            Got::Kind("nothing") => argument.refuse(rule),
            _ => error,
        });
        Ok(Self::of_root(named?))
    }

    /// A directory that is open already.
    pub(super) fn of_open(directory: Arc<Sandbox>) -> Self {
        Self::of_root(Root::Held(directory))
    }

    fn of_root(root: Root) -> Self {
        let (invalid_utf8, create) = (InvalidUtf8::default(), CreateFileOptions::default());
        Self { root, invalid_utf8, create }
    }

    /// Whether a text holds the root's absolute path, which nobody is to be shown.
    pub(super) fn is_spelled_in(&self, text: &str) -> bool {
        match &self.root {
            Root::Held(sandbox) => sandbox.is_spelled_in(text),
            Root::Named(root) => root.to_str().is_some_and(|root| spells(text, root)),
        }
    }

    /// The sandbox to work in, if opening it waits for nothing.
    pub(super) fn open_without_waiting(&self) -> Option<Arc<Sandbox>> {
        match &self.root {
            Root::Held(sandbox) => Some(Arc::clone(sandbox)),
            Root::Named(path) => Sandbox::open_without_waiting(path).map(Arc::new),
        }
    }

    /// The sandbox to work in. Opening a named root is a system call and belongs on a worker.
    pub(super) fn open(&self) -> Result<Arc<Sandbox>, RootError> {
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

    fn held_root(&self, argument: &'static str) -> Result<Root, ArgumentError> {
        let closed = || ArgumentError::new(argument, "is a Workspace that was closed", Got::Unsaid);
        self.sandbox.clone().map(Root::Held).ok_or_else(closed)
    }
}

/// Whether an argument is an object of the host's own that has a method; a `Workspace` is none,
/// whatever it may inherit.
pub(super) fn is_host_object(argument: Argument<'_>, method: &'static CStr) -> bool {
    argument.object().is_ok_and(|object| object.has_method(method))
        && Workspace::from_js(argument.value()).is_none()
}

fn read_named_root(object: Argument<'_>) -> Result<Root, ArgumentError> {
    let root = object.property(c"workspaceRoot", "workspaceRoot")?;
    read_root(root.ok_or_else(|| root_rule(Got::Kind("nothing")))?).map(Root::Named)
}

/// Reads an absolute root.
pub(super) fn read_root(argument: Argument<'_>) -> Result<PathBuf, ArgumentError> {
    read_directory_path(argument, "workspaceRoot")
}

/// Reads the absolute path of a directory, under the name that its caller knows it by.
pub(super) fn read_directory_path(
    argument: Argument<'_>,
    name: &'static str,
) -> Result<PathBuf, ArgumentError> {
    let text = match argument.string() {
        Ok(Text::Unicode(text)) => text,
        Ok(Text::LoneSurrogate(_)) => return Err(lone_surrogate(name)),
        Err(error) => return Err(ArgumentError::new(name, ABSOLUTE, error.got)),
    };
    if text.contains('\0') {
        return Err(ArgumentError::new(name, "must not contain a NUL character", Got::Unsaid));
    }
    let path = PathBuf::from(text);
    if path.is_absolute() {
        return Ok(path);
    }
    Err(ArgumentError::new(name, ABSOLUTE, Got::Kind("a relative one")))
}

const ABSOLUTE: &str = "must be an absolute path";

fn root_rule(got: Got) -> ArgumentError {
    ArgumentError::new("workspaceRoot", ABSOLUTE, got)
}

/// Reads the option that concerns reading.
pub(super) fn read_invalid_utf8(object: Argument<'_>) -> Result<InvalidUtf8, ArgumentError> {
    let names = [("reject", InvalidUtf8::Reject), ("replace", InvalidUtf8::Replace)];
    let read = |value: Argument<'_>| value.one_of(&names);
    Ok(object.optional(c"invalidUtf8", "invalidUtf8", read)?.unwrap_or_default())
}

/// The write scopes by name.
pub(super) const WRITE_SCOPES: [(&str, WriteScope); 3] = [
    ("read-only", WriteScope::ReadOnly),
    ("workspace-write", WriteScope::WorkspaceWrite),
    ("unrestricted", WriteScope::Unrestricted),
];

/// The content hashes by name.
pub(super) const CONTENT_HASHES: [(&str, ContentHash); 2] =
    [("sha256", ContentHash::Sha256), ("aptix", ContentHash::Aptix)];

/// Reads the options that concern creating.
pub(super) fn read_create_options(
    object: Argument<'_>,
) -> Result<CreateFileOptions, ArgumentError> {
    let durabilities = [("full", Durability::Full), ("none", Durability::None)];
    let write_scope =
        object.optional(c"writeScope", "writeScope", |value| value.one_of(&WRITE_SCOPES))?;
    let durability =
        object.optional(c"durability", "durability", |value| value.one_of(&durabilities))?;
    let content_hash =
        object.optional(c"contentHash", "contentHash", |value| value.one_of(&CONTENT_HASHES))?;
    let max_create_bytes = object
        .optional(c"maxCreateBytes", "maxCreateBytes", |value| value.integer(&SAFE_INTEGERS))?;
    Ok(CreateFileOptions {
        write_scope: write_scope.unwrap_or_default(),
        durability: durability.unwrap_or_default(),
        content_hash: content_hash.unwrap_or_default(),
        max_create_bytes: max_create_bytes.map_or(DEFAULT_MAX_CREATE_BYTES, NonZeroU64::get),
    })
}
