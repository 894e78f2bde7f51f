//! `findFiles`.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use napi::Env;
use napi::bindgen_prelude::Unknown;
use napi_derive::napi;

use super::argument::{Argument, milliseconds, number};
use super::context::{Context, Purpose};
use super::failure::{FailureOf, HasErrorName, given_path, opened_at, refused_in};
use super::signals::read_signals;
use crate::argument::{ArgumentError, Got, LONGEST_URI};
use crate::node::call::run::{Call, Prepared, run_async};
use crate::node::engine::raw::List;
use crate::node::engine::text::JsText;
use crate::tools::find_files::{
    self as core, FindOptions, FoundFiles, Item, Kinds, MAX_GLOBS, MAX_RESULTS, Sort, TIMEOUT_MS,
};

/// The result of `findFiles`.
#[napi(object, object_from_js = false)]
pub struct FindFilesResult {
    /// The patterns, as they were given.
    #[napi(ts_type = "string[]")]
    pub patterns: List<JsText<'static>>,
    /// The folder that was looked in, relative to the workspace root; `"."` for the root.
    #[napi(js_name = "root_path", ts_type = "string")]
    pub root_path: JsText<'static>,
    /// How long it took, in whole milliseconds.
    #[napi(js_name = "took_ms")]
    pub took_ms: f64,
    /// Whether there are more items than these.
    pub truncated: bool,
    /// How many entries match, on all pages together. Entries that may not be looked at are among them.
    pub total: f64,
    /// How many entries were looked at, those that were left out included.
    #[napi(js_name = "scanned_entries")]
    pub scanned_entries: f64,
    /// The entries that match.
    #[napi(ts_type = "Array<FindFilesItem>")]
    pub items: List<FindFilesItem>,
    /// What was left out, one text for each kind, such as `skipped_ignored_entries=3`.
    #[napi(ts_type = "string[]")]
    pub warnings: List<JsText<'static>>,
    /// The `after` of the next page. Only there if the items are sorted by path and there are more.
    #[napi(ts_type = "string")]
    pub next: Option<JsText<'static>>,
}

/// An entry that `findFiles` has found.
#[napi(object, object_from_js = false)]
pub struct FindFilesItem {
    /// Relative to the workspace root, components separated by `/`.
    #[napi(ts_type = "string")]
    pub path: JsText<'static>,
    /// A file or a folder.
    #[napi(ts_type = "\"file\" | \"directory\"")]
    pub kind: &'static str,
    /// How many bytes a file has; 0 for a folder.
    pub size: f64,
    /// When it last changed: whole milliseconds since 1970, rounded down.
    #[napi(js_name = "mtime_ms")]
    pub mtime_ms: i64,
}

/// Finds files and folders whose paths match globs.
///
/// Links are never followed in the walk, and nothing outside the workspace is looked at. What is left out
/// (`node_modules` and its like, ignored files, links, unreadable folders) is counted in `warnings`. A
/// pattern with brackets that matches nothing is taken to the letter, so `app/[id].tsx` finds a file of that
/// name. The same call on the same tree gives the same answer, `took_ms` apart.
///
/// Rejects with a `FindFilesError`, or with `signal.reason` when `options.signal` is aborted; never throws.
#[napi(
    ts_args_type = "context: WorkspaceContext | Workspace, args: FindFilesArguments, options?: CallOptions | null",
    ts_return_type = "Promise<FindFilesResult>"
)]
pub fn find_files<'env>(
    env: &'env Env,
    context: Unknown<'env>,
    args: Unknown<'env>,
    options: Unknown<'env>,
) -> napi::Result<Unknown<'env>> {
    run_async(env, || prepare(env, context, args, options))
}

struct FindFiles;

impl HasErrorName for FindFiles {
    const ERROR_NAME: &'static str = "FindFilesError";
}

type FindFilesOutcome = Result<FindFilesResult, FailureOf<FindFiles>>;

fn prepare<'env>(
    env: &'env Env,
    context: Unknown<'env>,
    args: Unknown<'env>,
    options: Unknown<'env>,
) -> Prepared<'env, impl FnOnce(&AtomicBool) -> FindFilesOutcome + Send + 'static, FindFilesOutcome>
{
    let context = Argument::new(env, "context", context);
    let args = Argument::new(env, "args", args);
    let options = Argument::new(env, "options", options).present();
    let signals = read_signals(env, [options, Some(context)])?;
    let given = given_path(args.object().ok().and_then(|args| {
        args.with_own_keys_only().property(c"root_path", "root_path").ok().flatten()
    }));
    let refused = |error| FailureOf::from(refused_in(error, None, given.as_deref()));
    let context = Context::read(context, Purpose::Read).map_err(refused)?;
    let refused = |error| FailureOf::from(refused_in(error, Some(&context), given.as_deref()));
    let find = read_options(args).map_err(refused)?;
    let signals = signals.map_err(refused)?;
    Ok(Call::new(signals, move |aborted: &AtomicBool| {
        let cancelled = || aborted.load(Ordering::Relaxed);
        let sandbox =
            context.open().map_err(|error| opened_at(error, &context, given.as_deref()))?;
        let found = core::find_files(&sandbox, &find, &cancelled)?;
        Ok(answer(find.patterns, found))
    }))
}

fn read_options(args: Argument<'_>) -> Result<FindOptions, ArgumentError> {
    let args = args.object().map(Argument::with_own_keys_only)?;
    let mut read = FindOptions::default();
    let globs = |list: Argument<'_>| list.string_or_strings(MAX_GLOBS);
    let missing = || {
        let rule = "must be a pattern or an array of patterns";
        ArgumentError::new("patterns", rule, Got::Kind("nothing"))
    };
    read.patterns = args.optional(c"patterns", "patterns", globs)?.ok_or_else(missing)?;
    read.root_path = args.optional(c"root_path", "root_path", Argument::unicode)?;
    if let Some(exclude) = args.optional(c"exclude", "exclude", globs)? {
        read.exclude = exclude;
    }
    let kinds = [("file", Kinds::Files), ("directory", Kinds::Folders), ("all", Kinds::All)];
    if let Some(kinds) = args.optional(c"kind", "kind", |kind| kind.one_of(&kinds))? {
        read.kinds = kinds;
    }
    let flag = |key, name, value: &mut bool| -> Result<(), ArgumentError> {
        if let Some(given) = args.optional(key, name, Argument::boolean)? {
            *value = given;
        }
        Ok(())
    };
    flag(c"case_insensitive", "case_insensitive", &mut read.case_insensitive)?;
    flag(c"gitignore", "gitignore", &mut read.gitignore)?;
    flag(c"include_hidden", "include_hidden", &mut read.include_hidden)?;
    flag(c"default_excludes", "default_excludes", &mut read.default_excludes)?;
    let sorts = [("path", Sort::Path), ("mtime", Sort::Mtime)];
    if let Some(sort) = args.optional(c"sort", "sort", |sort| sort.one_of(&sorts))? {
        read.sort = sort;
    }
    let integer = |range| move |value: Argument<'_>| value.integer(range);
    if let Some(most) = args.optional(c"max_results", "max_results", integer(&MAX_RESULTS))? {
        read.max_results = usize::try_from(most.get()).unwrap_or(usize::MAX);
    }
    let place = |after: Argument<'_>| after.unicode_up_to(LONGEST_URI);
    read.after = args.optional(c"after", "after", place)?;
    if let Some(time) = args.optional(c"timeout_ms", "timeout_ms", integer(&TIMEOUT_MS))? {
        read.timeout = Duration::from_millis(time.get());
    }
    Ok(read)
}

fn answer(patterns: Vec<String>, found: FoundFiles) -> FindFilesResult {
    let texts = |texts: Vec<String>| texts.into_iter().map(Into::into).collect();
    FindFilesResult {
        patterns: texts(patterns),
        root_path: found.root_path.into(),
        took_ms: milliseconds(found.took),
        truncated: found.truncated,
        total: number(found.total),
        scanned_entries: number(found.scanned_entries),
        items: found.items.into_iter().map(Into::into).collect(),
        warnings: texts(found.warnings),
        next: found.next.map(Into::into),
    }
}

impl From<Item> for FindFilesItem {
    fn from(item: Item) -> Self {
        Self {
            path: item.path.into(),
            kind: if item.is_folder { "directory" } else { "file" },
            size: number(item.size),
            mtime_ms: item.mtime_ms,
        }
    }
}
