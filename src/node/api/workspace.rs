//! The class `Workspace`.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use napi::Env;
use napi::bindgen_prelude::{ClassInstance, FromNapiValue, JavaScriptClassExt, Unknown};
use napi_derive::napi;

use super::access_rules::{RulesOfWorkspace, parse_rules, read_rules, with_rules};
use super::argument::Argument;
use super::error::{JsError, or_throw};
use super::options::{WRITE_SCOPES, read_create_options, read_invalid_utf8, read_root};
use crate::argument::{ArgumentError, Got};
use crate::path::EntryPath;
use crate::sandbox::{Containment, RootError, Sandbox};
use crate::text::InvalidUtf8;
use crate::tools::create_file::CreateFileOptions;

/// A patch has at most 1,000 files, and a file of it at most two paths.
const MAX_APPROVED: u32 = 2000;

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
    /// Whether this workspace has been closed.
    is_closed: Arc<AtomicBool>,
    /// The same of those from which [`Workspace::with_rules`] has made it.
    is_parent_closed: Vec<Arc<AtomicBool>>,
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
        let rules = options.map(read_rules).transpose()?.flatten();
        let sandbox = with_rules(Sandbox::open(&root)?, rules)?;
        // This may wait. Done here, it need not be done by a call that is refused on the loop's thread.
        sandbox.find_spellings();
        Ok(Self {
            containment: sandbox.containment(),
            sandbox: Some(Arc::new(sandbox)),
            root: root.to_string_lossy().into_owned(),
            invalid_utf8,
            create,
            is_closed: Arc::default(),
            is_parent_closed: Vec::new(),
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

    /// The access rules that it was opened with; `null` if there are none.
    #[napi(getter, ts_return_type = "AccessRules | null")]
    #[must_use]
    pub fn rules(&self) -> Option<RulesOfWorkspace> {
        self.sandbox.as_ref()?.rules().map(RulesOfWorkspace::from)
    }

    /// The same workspace, on the same open root, with these access rules in place of its own. Its other
    /// options are the same. Its calls fail once either of the two is closed.
    ///
    /// Throws a `WorkspaceError` whose `code` is `INVALID_ARGUMENT` when a pattern is wrong, or the workspace
    /// is closed.
    #[napi(ts_args_type = "rules: AccessRules | null", ts_return_type = "Workspace")]
    pub fn with_rules<'env>(
        &self,
        env: &'env Env,
        rules: Unknown<'env>,
    ) -> napi::Result<ClassInstance<'env, Self>> {
        let rules = Argument::new(env, "rules", rules);
        let workspace = or_throw(env, || self.try_with_rules(rules))?;
        workspace.into_instance(env)
    }

    fn try_with_rules(&self, rules: Argument<'_>) -> Result<Self, WorkspaceError> {
        let rules = rules.present().map(parse_rules).transpose()?.flatten();
        let sandbox = self.sandbox("workspace")?.try_clone().map_err(RootError::System)?;
        Ok(self.with_sandbox(with_rules(sandbox, rules)?))
    }

    /// The same workspace, on the same open root, in which `read_only` of its rules does not protect the places to which
    /// these paths lead now, nor what lies beneath them: a person has approved a change there. Where a link leads
    /// elsewhere later, the rules hold. Its calls fail once either of the two is closed. Synchronous.
    ///
    /// Throws a `WorkspaceError` whose `code` is `INVALID_ARGUMENT` when the paths are no list of at most 2,000 texts, or
    /// the workspace is closed. A text that is no path inside the workspace is left out.
    #[napi(ts_args_type = "paths: string[]", ts_return_type = "Workspace")]
    pub fn with_approved<'env>(
        &self,
        env: &'env Env,
        paths: Unknown<'env>,
    ) -> napi::Result<ClassInstance<'env, Self>> {
        let paths = Argument::new(env, "paths", paths);
        let workspace = or_throw(env, || self.try_with_approved(paths))?;
        workspace.into_instance(env)
    }

    fn try_with_approved(&self, paths: Argument<'_>) -> Result<Self, WorkspaceError> {
        let sandbox = self.sandbox("workspace")?;
        let entry = |path: String| EntryPath::parse(&path, |path| sandbox.part_inside(path)).ok();
        let paths: Vec<_> = paths.strings(MAX_APPROVED)?.into_iter().filter_map(entry).collect();
        let approved = sandbox.with_approved(&paths).map_err(RootError::System)?;
        Ok(self.with_sandbox(approved))
    }

    /// A second workspace that is closed with this one.
    fn with_sandbox(&self, sandbox: Sandbox) -> Self {
        Self {
            sandbox: Some(Arc::new(sandbox)),
            invalid_utf8: self.invalid_utf8,
            create: self.create.clone(),
            root: self.root.clone(),
            containment: self.containment,
            is_closed: Arc::default(),
            is_parent_closed: [&self.is_parent_closed[..], &[Arc::clone(&self.is_closed)]].concat(),
        }
    }

    /// Closes the root directory now, instead of when the object is collected. Calls under way finish;
    /// later ones fail with `INVALID_ARGUMENT`. A second call does nothing.
    #[napi]
    pub fn close(&mut self) {
        self.is_closed.store(true, Ordering::Relaxed);
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
        let is_closed = self.is_parent_closed.iter().any(|closed| closed.load(Ordering::Relaxed));
        self.sandbox.clone().filter(|_| !is_closed).ok_or_else(closed)
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
