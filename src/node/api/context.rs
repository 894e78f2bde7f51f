//! The `context` that every function takes: a [`Workspace`], or an object of the host's own that has an
//! absolute `workspaceRoot`.

use std::ffi::CStr;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::access_rules::{may_name_root, read_rules_for, with_rules};
use super::argument::Argument;
use super::options::{
    ABSOLUTE, read_create_options, read_directory_path, read_invalid_utf8, read_root,
};
use super::workspace::Workspace;
use crate::access::AccessRules;
use crate::argument::{ArgumentError, Got};
use crate::path::WorkspacePath;
use crate::path::spelled_root::spells_root;
use crate::sandbox::{RootError, Sandbox};
use crate::text::InvalidUtf8;
use crate::tools::create_file::CreateFileOptions;

/// Where a function works, and with which options.
#[derive(Clone)]
pub struct Context {
    root: Root,
    /// The access rules of a plain context. A root that is open has its own.
    rules: Option<Arc<AccessRules>>,
    /// For readers.
    pub invalid_utf8: InvalidUtf8,
    /// For writers; the default where the context was read for a reader.
    pub create: CreateFileOptions,
}

/// The purpose for which a context is read. Options of the other purpose are ignored, because the
/// host may use their keys for something else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    Read,
    Create,
}

#[derive(Clone)]
enum Root {
    /// A `Workspace` holds it open.
    Held(Arc<Sandbox>),
    /// A plain context names it. Each call opens it anew, on its worker.
    Named(PathBuf),
}

impl Context {
    /// Reads a context. Keys other than those named here are the host's own.
    pub fn read(argument: Argument<'_>, purpose: Purpose) -> Result<Self, ArgumentError> {
        let object = argument.object().map_err(|error| ArgumentError {
            rule: "must be a Workspace or an object with an absolute workspaceRoot".to_owned(),
            ..error
        })?;
        if let Some(workspace) = Workspace::from_js(object.value()) {
            return Ok(Self {
                root: Root::Held(workspace.sandbox("context")?),
                rules: None,
                invalid_utf8: workspace.invalid_utf8,
                create: workspace.create.clone(),
            });
        }
        let root = read_named_root(object)?;
        Ok(Self {
            rules: read_rules_for(object, &root)?,
            root: Root::Named(root),
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

    /// Reads a directory: an absolute path, a `Workspace`, or an object with a `workspaceRoot`, of whose
    /// options only the access rules are looked at. Any other value breaks `rule`.
    pub fn read_directory(
        argument: Argument<'_>,
        rule: &'static str,
    ) -> Result<Self, ArgumentError> {
        if argument.is_string() {
            let path = read_directory_path(argument, argument.name())?;
            return Ok(Self::of_root(Root::Named(path)));
        }
        let object = argument.object().map_err(|_| argument.refuse(rule))?;
        if let Some(workspace) = Workspace::from_js(object.value()) {
            return Ok(Self::of_open(workspace.sandbox(argument.name())?));
        }
        let named = read_named_root(object).map_err(|error| match error.got {
            Got::Kind("nothing") => argument.refuse(rule),
            _ => error,
        });
        let root = named?;
        Ok(Self { rules: read_rules_for(object, &root)?, ..Self::of_root(Root::Named(root)) })
    }

    /// A directory that is open already.
    pub fn of_open(directory: Arc<Sandbox>) -> Self {
        Self::of_root(Root::Held(directory))
    }

    fn of_root(root: Root) -> Self {
        let (invalid_utf8, create) = (InvalidUtf8::default(), CreateFileOptions::default());
        Self { root, rules: None, invalid_utf8, create }
    }

    /// Whether the root is open already.
    pub fn is_held(&self) -> bool {
        matches!(self.root, Root::Held(_))
    }

    /// Whether a text holds the root's absolute path, which must not be shown.
    pub fn is_spelled_in(&self, text: &str) -> bool {
        match &self.root {
            Root::Held(sandbox) => sandbox.is_spelled_in(text),
            Root::Named(root) => root.to_str().is_some_and(|root| spells_root(text, root)),
        }
    }

    /// The part of an absolute path beneath the root, by its spelling.
    pub fn part_inside(&self, absolute: &str) -> Option<String> {
        match &self.root {
            Root::Held(sandbox) => Some(sandbox.locate(absolute).ok()?.to_string()),
            Root::Named(root) => {
                let part = Path::new(absolute).strip_prefix(root).ok()?.to_str()?;
                Some(WorkspacePath::parse(part).ok()?.to_string())
            }
        }
    }

    /// The sandbox to work in, if it can be opened without waiting.
    pub fn open_without_waiting(&self) -> Option<Arc<Sandbox>> {
        match &self.root {
            Root::Held(sandbox) => Some(Arc::clone(sandbox)),
            // To find out all spellings of the root may wait.
            Root::Named(_) if self.rules.as_deref().is_some_and(may_name_root) => None,
            Root::Named(path) => {
                let sandbox = Sandbox::open_without_waiting(path)?;
                Some(Arc::new(sandbox.with_rules(self.rules.clone())))
            }
        }
    }

    /// The sandbox to work in. To open a named root may wait for a disk or a server, which belongs on
    /// a worker.
    pub fn open(&self) -> Result<Arc<Sandbox>, RootError> {
        match &self.root {
            Root::Held(sandbox) => Ok(Arc::clone(sandbox)),
            Root::Named(path) => {
                // A pattern is the root's own path, by a spelling that the context does not tell.
                let refused = |_| RootError::System(io::ErrorKind::InvalidInput.into());
                let root = with_rules(Sandbox::open(path)?, self.rules.clone());
                Ok(Arc::new(root.map_err(refused)?))
            }
        }
    }
}

/// `postMessage` turns a `Workspace` into an object without any keys.
const SENT: &str = "must be an absolute path (a Workspace cannot be sent to another thread or be \
     cloned: send its workspaceRoot, and open that there)";

/// Whether an argument is an object of the host's own with such a method. A `Workspace` is not, whatever
/// a program has added to its prototype.
pub fn is_host_object(argument: Argument<'_>, method: &'static CStr) -> bool {
    argument.object().is_ok_and(|object| object.has_method(method))
        && Workspace::from_js(argument.value()).is_none()
}

fn read_named_root(object: Argument<'_>) -> Result<PathBuf, ArgumentError> {
    let root = object.property(c"workspaceRoot", "workspaceRoot")?;
    let missing = || {
        let rule = if object.is_empty() { SENT } else { ABSOLUTE };
        ArgumentError::new("workspaceRoot", rule, Got::Kind("nothing"))
    };
    read_root(root.ok_or_else(missing)?)
}
