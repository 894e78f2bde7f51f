//! `workspaceSnapshot` and `workspaceSnapshotSync`.

use std::sync::atomic::{AtomicBool, Ordering};

use napi::Env;
use napi::bindgen_prelude::Unknown;
use napi_derive::napi;

use super::abort::Signals;
use super::call::{Call, Converted, NotStarted, OnAbort, Outcome, run_async, run_sync};
use super::context::{Context, Purpose};
use super::error::{self, IntoJsError};
use super::js_text::JsText;
use super::raw::to_js;
use super::value::Argument;
use crate::argument::ArgumentError;
use crate::snapshot::{self as core, MAX_DEPTH, MAX_ENTRIES, SnapshotError, SnapshotOptions};

/// What `workspaceSnapshot` answers.
#[napi(object, object_from_js = false)]
pub struct WorkspaceSnapshot {
    /// The tree, ready for a prompt: a line for each entry, two spaces of indentation for each
    /// level, no line feed at the end, `""` if there is nothing. A folder ends in `/`; a link is
    /// marked `(link)` and its target not told; a FIFO, socket or device is marked
    /// `(special file)`, a folder that the process may not list `(unreadable)`, and one that was
    /// removed meanwhile `(gone)`.
    ///
    /// Where a limit has left something out stands a `…`: `… 12 more` for as many further entries
    /// of that very folder, or a mere `…` behind a folder that was not looked through.
    #[napi(ts_type = "string")]
    pub text: JsText<'static>,
    /// The paths of the entries in `text`, in the same order: relative to the root, components
    /// separated by `/`, those of folders with a final `/`. At most `maxEntries`.
    ///
    /// Names are spelled as in `text`. A name that could break out of its line stands escaped:
    /// `\n`, `\u{202e}`, `\xff` for a byte that is not UTF-8, `\\` for a backslash. So a path with
    /// a `\` in it is to be shown, and cannot be opened.
    #[napi(ts_type = "string[]")]
    pub entries: Vec<JsText<'static>>,
    /// Whether `maxDepth` or `maxEntries` has left something out. What is always left out, or
    /// cannot be read, does not count.
    pub truncated: bool,
}

/// The tree of the workspace, for the boot prompt of an agent (TUL-004 §7.5). Folders and links
/// called `bin`, `obj`, `node_modules`, `.git` or `dist` are left out at every depth.
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

type Answer = Result<WorkspaceSnapshot, SnapshotError>;

fn prepare<'env>(
    env: &'env Env,
    context: Unknown<'env>,
    options: Unknown<'env>,
) -> Result<Call<'env, impl FnOnce(&AtomicBool) -> Answer + Send + 'static>, NotStarted<'env, Answer>>
{
    let context = Argument::new(env, "context", context);
    let options = Argument::new(env, "options", options).present();

    let signals = Signals::read(env, [options, Some(context)])?;
    let read = || {
        let context = Context::read(context, Purpose::Read)?;
        Ok((context, read_options(options)?, signals?))
    };
    let (context, options, signals) =
        read().map_err(|error: ArgumentError| NotStarted::Refused(Err(error.into())))?;
    let work = move |aborted: &AtomicBool| {
        let sandbox = context.open()?;
        let cancelled = || aborted.load(Ordering::Relaxed);
        core::workspace_snapshot(&sandbox, &options, &cancelled).map(Into::into)
    };
    Ok(Call { work, signals, on_abort: OnAbort::Reject })
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
    Ok(read)
}

impl Outcome for Answer {
    fn into_js(self, env: &Env) -> Converted<'_> {
        Ok(match self {
            Ok(snapshot) => Ok(to_js(env, snapshot)?),
            Err(error) => Err(error::into_js(env, &error)?),
        })
    }

    fn bug() -> Self {
        Err(SnapshotError::Bug)
    }

    fn was_aborted(&self) -> bool {
        matches!(self, Err(SnapshotError::Cancelled))
    }

    fn bytes(&self) -> usize {
        self.as_ref().map_or(0, |snapshot| {
            snapshot.text.bytes() + snapshot.entries.iter().map(JsText::bytes).sum::<usize>()
        })
    }
}

impl IntoJsError for SnapshotError {
    const NAME: &'static str = "WorkspaceSnapshotError";

    fn code(&self) -> &str {
        SnapshotError::code(self)
    }

    fn message(&self) -> String {
        format!("{}: {self}", SnapshotError::code(self))
    }
}

impl From<core::Snapshot> for WorkspaceSnapshot {
    fn from(snapshot: core::Snapshot) -> Self {
        let core::Snapshot { text, entries, truncated } = snapshot;
        let entries = entries.into_iter().map(Into::into).collect();
        Self { text: text.into(), entries, truncated }
    }
}
