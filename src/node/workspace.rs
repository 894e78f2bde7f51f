//! The class `Workspace`.

use std::sync::Arc;

use napi::Env;
use napi::bindgen_prelude::Unknown;
use napi_derive::napi;

use super::call::guard;
use super::context::{WRITE_SCOPES, read_create_options, read_invalid_utf8, read_root};
use super::error::{WorkspaceError, or_throw};
use super::value::Argument;
use crate::create_file::{CreateFileOptions, WriteScope};
use crate::sandbox::{Containment, Sandbox};
use crate::text::InvalidUtf8;

/// A workspace whose root is held open. Every function takes it in place of a context, and pays
/// less with it: the root is opened once instead of once per call.
#[napi]
pub struct Workspace {
    /// `None` once closed.
    pub(super) sandbox: Option<Arc<Sandbox>>,
    pub(super) invalid_utf8: InvalidUtf8,
    pub(super) create: CreateFileOptions,
    root: String,
    containment: Containment,
}

#[napi]
impl Workspace {
    /// Opens a workspace by the absolute path of its root directory; synchronous.
    ///
    /// Throws a `WorkspaceError` whose `code` is `INVALID_ARGUMENT` when the root is relative, gone,
    /// not a directory or not permitted, or an option has a value it cannot have.
    ///
    /// Unless the scope is `"read-only"`, what killed processes have left of their work in the root
    /// directory is removed.
    #[napi(factory, ts_args_type = "workspaceRoot: string, options?: WorkspaceOptions | null")]
    pub fn open(
        env: &Env,
        workspace_root: Unknown<'_>,
        options: Unknown<'_>,
    ) -> napi::Result<Self> {
        let root = Argument::new(env, "workspaceRoot", workspace_root);
        let options = Argument::new(env, "options", options);
        or_throw(env, guard(|| Self::try_open(root, options)), WorkspaceError::Bug)
    }

    fn try_open(root: Argument<'_>, options: Argument<'_>) -> Result<Self, WorkspaceError> {
        let root = read_root(root)?;
        let options = options.present().map(Argument::object).transpose()?;
        let invalid_utf8 = options.map(read_invalid_utf8).transpose()?.unwrap_or_default();
        let create = options.map(read_create_options).transpose()?.unwrap_or_default();
        let sandbox = Sandbox::open(&root)?;
        if create.write_scope != WriteScope::ReadOnly {
            sandbox.sweep();
        }
        Ok(Self {
            containment: sandbox.containment(),
            sandbox: Some(Arc::new(sandbox)),
            root: root.to_string_lossy().into_owned(),
            invalid_utf8,
            create,
        })
    }

    /// The root as it was given to `open`, so that a `Workspace` is a context for hosts too.
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

    /// Which guarantee is in force: `"kernel"` where the kernel itself keeps every opening beneath
    /// the root (Linux with `openat2`), `"walk"` where paths are walked by hand, component by
    /// component. Both give the same answers.
    #[napi(getter, ts_return_type = "Containment")]
    #[must_use]
    pub fn containment(&self) -> &'static str {
        match self.containment {
            Containment::Kernel => "kernel",
            Containment::Walk => "walk",
        }
    }

    /// Lets go of the root directory at once, instead of when the object is collected. Calls under
    /// way finish; later ones fail with `INVALID_ARGUMENT`. Closing twice is no mistake.
    #[napi]
    pub fn close(&mut self) {
        self.sandbox = None;
    }
}
