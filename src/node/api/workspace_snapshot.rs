//! `workspaceSnapshot` and `workspaceSnapshotSync`.

use std::sync::atomic::{AtomicBool, Ordering};

use napi::Env;
use napi::bindgen_prelude::Unknown;
use napi_derive::napi;

use super::argument::Argument;
use super::context::{Context, Purpose};
use super::error::JsError;
use super::signals::read_signals;
use crate::argument::ArgumentError;
use crate::node::call::run::{Call, Prepared, run_async, run_sync};
use crate::node::engine::raw::List;
use crate::node::engine::text::JsText;
use crate::tools::snapshot::{
    self as core, MAX_DEPTH, MAX_ENTRIES, MAX_PATTERNS, SnapshotError, SnapshotOptions,
};

/// The result of `workspaceSnapshot`.
#[napi(object, object_from_js = false)]
pub struct WorkspaceSnapshot {
    /// The tree, ready for a prompt: a line for each entry, two spaces of indentation for each
    /// level, no line feed at the end, `""` if the tree is empty. A folder ends in `/`. A link is
    /// marked `(link)`, without its target; a FIFO, socket or device is marked `(special file)`, a
    /// folder that the process may not list `(unreadable)`, and one that was removed meanwhile
    /// `(gone)`.
    ///
    /// A `…` shows what a limit left out: `… 12 more` stands for twelve further entries of that
    /// folder, `…` after a folder says that the folder was not listed.
    #[napi(ts_type = "string")]
    pub text: JsText<'static>,
    /// The paths of the entries in `text`, in the same order: relative to the root, components
    /// separated by `/`, those of folders with a final `/`. At most `maxEntries`.
    ///
    /// Names are spelled as in `text`. A name that could break out of its line is escaped:
    /// `\n`, `\u{202e}`, `\xff` for a byte that is not UTF-8, `\\` for a backslash. A path with a `\`
    /// in it is therefore for display alone and cannot be opened.
    #[napi(ts_type = "string[]")]
    pub entries: List<JsText<'static>>,
    /// Whether `maxDepth` or `maxEntries` left entries out. Entries that are always left out, or cannot
    /// be read, do not count.
    pub truncated: bool,
    /// One sentence, there only with `gitignore: true` and only if a `.gitignore` file was not heeded,
    /// or not as a whole: which, and why. Some of what it ignores may then be listed.
    #[napi(ts_type = "string")]
    pub hint: Option<JsText<'static>>,
}

/// The tree of the workspace, for the boot prompt of an agent (TUL-004 §7.5). Folders and links
/// called `bin`, `obj`, `node_modules`, `.git` or `dist` are left out at every depth, unless `include`
/// names them, and so is a file called `.git`, which a worktree or submodule has.
///
/// The order is that of the names' bytes, so that the same tree always gives the same text. Links
/// are listed and not followed; no file is opened (but for `.gitignore`, if it is asked for), and
/// nothing outside the workspace is looked at. `maxEntries` is shared out level by level and
/// fairly, so that a huge folder does not hide the others: small folders show all they have, and a
/// folder that is cut shows the folders in it first. Runs on a worker thread.
///
/// Rejects with a `WorkspaceSnapshotError`, or with `signal.reason` when `options.signal` is
/// aborted; never throws.
#[napi(
    ts_args_type = "context: WorkspaceContext | Workspace, options?: WorkspaceSnapshotOptions | null",
    ts_return_type = "Promise<WorkspaceSnapshot>"
)]
pub fn workspace_snapshot<'env>(
    env: &'env Env,
    context: Unknown<'env>,
    options: Unknown<'env>,
) -> napi::Result<Unknown<'env>> {
    run_async(env, || prepare(env, context, options))
}

/// `workspaceSnapshot` on the calling thread: returns the answer, or throws the
/// `WorkspaceSnapshotError`.
#[napi(
    ts_args_type = "context: WorkspaceContext | Workspace, options?: WorkspaceSnapshotOptions | null",
    ts_return_type = "WorkspaceSnapshot"
)]
pub fn workspace_snapshot_sync<'env>(
    env: &'env Env,
    context: Unknown<'env>,
    options: Unknown<'env>,
) -> napi::Result<Unknown<'env>> {
    run_sync(env, || prepare(env, context, options))
}

type SnapshotResult = Result<WorkspaceSnapshot, SnapshotError>;

fn prepare<'env>(
    env: &'env Env,
    context: Unknown<'env>,
    options: Unknown<'env>,
) -> Prepared<'env, impl FnOnce(&AtomicBool) -> SnapshotResult + Send + 'static, SnapshotResult> {
    let context = Argument::new(env, "context", context);
    let options = Argument::new(env, "options", options).present();
    let signals = read_signals(env, [options, Some(context)])?;
    let context = Context::read(context, Purpose::Read)?;
    let options = read_options(options)?;
    Ok(Call::new(signals?, move |aborted: &AtomicBool| {
        let cancelled = || aborted.load(Ordering::Relaxed);
        core::workspace_snapshot(&*context.open()?, &options, &cancelled).map(Into::into)
    }))
}

fn read_options(options: Option<Argument<'_>>) -> Result<SnapshotOptions, ArgumentError> {
    let mut read = SnapshotOptions::default();
    let Some(options) = options.map(Argument::object).transpose()? else { return Ok(read) };
    let integer = |range| move |value: Argument<'_>| value.integer(range);
    if let Some(depth) = options.optional(c"maxDepth", "maxDepth", integer(&MAX_DEPTH))? {
        read.max_depth = depth;
    }
    if let Some(entries) = options.optional(c"maxEntries", "maxEntries", integer(&MAX_ENTRIES))? {
        read.max_entries = entries;
    }
    if let Some(gitignore) = options.optional(c"gitignore", "gitignore", Argument::boolean)? {
        read.gitignore = gitignore;
    }
    let patterns = |list: Argument<'_>| list.strings(MAX_PATTERNS);
    if let Some(exclude) = options.optional(c"exclude", "exclude", patterns)? {
        read.exclude = exclude;
    }
    if let Some(include) = options.optional(c"include", "include", patterns)? {
        read.include = include;
    }
    Ok(read)
}

impl JsError for SnapshotError {
    const NAME: &'static str = "WorkspaceSnapshotError";

    fn bug() -> Self {
        Self::Bug
    }

    fn code(&self) -> &str {
        SnapshotError::code(self)
    }

    fn was_aborted(&self) -> bool {
        matches!(self, Self::Cancelled)
    }
}

impl From<core::Snapshot> for WorkspaceSnapshot {
    fn from(snapshot: core::Snapshot) -> Self {
        let core::Snapshot { text, entries, truncated, hint } = snapshot;
        let entries = entries.into_iter().map(Into::into).collect();
        Self { text: text.into(), entries, truncated, hint: hint.map(Into::into) }
    }
}
