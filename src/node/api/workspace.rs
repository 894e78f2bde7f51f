//! The class `Workspace`.

use std::sync::Arc;

use napi::Env;
use napi::bindgen_prelude::{ClassInstance, FromNapiValue, Unknown};
use napi_derive::napi;

use super::argument::Argument;
use super::error::{JsError, or_throw};
use super::options::{WRITE_SCOPES, read_create_options, read_invalid_utf8, read_root};
use crate::argument::{ArgumentError, Got};
use crate::sandbox::{Containment, RootError, Sandbox};
use crate::text::InvalidUtf8;
use crate::tools::create_file::CreateFileOptions;

/// A workspace whose root is held open. Every function takes it in place of a context, and pays
/// less with it: the root is opened once instead of once per call.
#[napi]
pub struct Workspace {
    /// `None` once closed.
    sandbox: Option<Arc<Sandbox>>,
    pub(super) invalid_utf8: InvalidUtf8,
    pub(super) create: CreateFileOptions,
    root: String,
    containment: Containment,
}

#[napi]
impl Workspace {
    /// Opens a workspace by the absolute path of its root directory. Synchronous, so it blocks the thread
    /// where the file system is slow, over a network for instance. Calls that return promises do not
    /// block it.
    ///
    /// Throws a `WorkspaceError` whose `code` is `INVALID_ARGUMENT` when the root is relative, gone,
    /// not a directory or not permitted, or an option has a value it cannot have.
    #[napi(factory, ts_args_type = "workspaceRoot: string, options?: WorkspaceOptions | null")]
    pub fn open(
        env: &Env,
        workspace_root: Unknown<'_>,
        options: Unknown<'_>,
    ) -> napi::Result<Self> {
        let root = Argument::new(env, "workspaceRoot", workspace_root);
        let options = Argument::new(env, "options", options);
        or_throw(env, || Self::try_open(root, options))
    }

    fn try_open(root: Argument<'_>, options: Argument<'_>) -> Result<Self, WorkspaceError> {
        let root = read_root(root)?;
        let options = options.present().map(Argument::object).transpose()?;
        let invalid_utf8 = options.map(read_invalid_utf8).transpose()?.unwrap_or_default();
        let create = options.map(read_create_options).transpose()?.unwrap_or_default();
        let sandbox = Sandbox::open(&root)?;
        // This may wait. Done here, it need not be done by a call that is refused on the loop's thread.
        sandbox.find_spellings();
        Ok(Self {
            containment: sandbox.containment(),
            sandbox: Some(Arc::new(sandbox)),
            root: root.to_string_lossy().into_owned(),
            invalid_utf8,
            create,
        })
    }

    /// The root as it was given to `open`: for code that reads `workspaceRoot` of any context.
    #[napi(getter)]
    #[must_use]
    pub fn workspace_root(&self) -> String {
        self.root.clone()
    }

    /// How far tools may write here; `"workspace-write"` unless `open` was told otherwise.
    #[napi(getter, ts_return_type = "WriteScope")]
    #[must_use]
    pub fn write_scope(&self) -> &'static str {
        let scope = self.create.write_scope;
        WRITE_SCOPES.iter().find(|(_, known)| *known == scope).map_or("", |(name, _)| name)
    }

    /// How paths are kept inside the workspace: `"kernel"` where the kernel itself opens every file beneath
    /// the root (Linux with `openat2`), `"walk"` where this library opens one component after the
    /// other. Both give the same results.
    #[napi(getter, ts_return_type = "Containment")]
    #[must_use]
    pub fn containment(&self) -> &'static str {
        match self.containment {
            Containment::Kernel => "kernel",
            Containment::Walk => "walk",
        }
    }

    /// Closes the root directory now, instead of when the object is collected. Calls under way finish;
    /// later ones fail with `INVALID_ARGUMENT`. A second call does nothing.
    #[napi]
    pub fn close(&mut self) {
        self.sandbox = None;
    }
}

impl Workspace {
    /// The workspace, if the object is one. napi-rs checks the object's type tag, so an object with a
    /// forged prototype is none.
    pub fn from_js(value: Unknown<'_>) -> Option<ClassInstance<'_, Self>> {
        ClassInstance::from_unknown(value).ok()
    }

    /// The open root, unless the workspace, which came as the named argument, has been closed.
    pub fn sandbox(&self, argument: &'static str) -> Result<Arc<Sandbox>, ArgumentError> {
        let closed = || ArgumentError::new(argument, "is a Workspace that was closed", Got::Unsaid);
        self.sandbox.clone().ok_or_else(closed)
    }
}

/// Why a `Workspace` could not be opened.
#[derive(Debug, thiserror::Error)]
enum WorkspaceError {
    /// The host's mistake.
    #[error(transparent)]
    Argument(#[from] ArgumentError),
    /// The root cannot be opened.
    #[error("workspaceRoot {0}")]
    Root(#[from] RootError),
    /// A panic.
    #[error("ringfence failed: please report it")]
    Bug,
}

impl JsError for WorkspaceError {
    const NAME: &'static str = "WorkspaceError";

    fn bug() -> Self {
        Self::Bug
    }

    fn code(&self) -> &str {
        match self {
            Self::Root(RootError::System(_)) | Self::Bug => "INTERNAL",
            Self::Argument(_) | Self::Root(_) => "INVALID_ARGUMENT",
        }
    }
}
