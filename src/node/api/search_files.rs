//! `searchFiles`.

use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use napi::Env;
use napi::bindgen_prelude::Unknown;
use napi_derive::napi;

use super::argument::{Argument, milliseconds, number};
use super::context::{Context, Purpose};
use super::failure::{FailureOf, HasErrorName, given_path, opened_at, refused_in};
use super::signals::read_signals;
use crate::argument::{ArgumentError, Got};
use crate::node::call::progress::OnProgress;
use crate::node::call::run::{Call, Prepared, run_async};
use crate::node::engine::object::plain;
use crate::node::engine::raw::{Answer, IntoJs, List, to_js};
use crate::node::engine::text::JsText;
use crate::tools::search_files::{
    self as core, FileItem, Item, LINE_CHARS, MAX_CONTEXT_LINES, MAX_FILE_SIZE_BYTES, MAX_GLOBS,
    MAX_PATTERN_BYTES, MAX_RESULTS, MAX_TIMEOUT_MS, Output, SearchAnswer, SearchOptions,
};

/// Searches the contents of the workspace's files for a regular expression.
///
/// Lines and columns are those of the text that `readFile` shows. The items are the first ones by path, line
/// and column, and the same for the same tree on every run. By default `.git`, `node_modules`, `dist`,
/// `build`, `target` and `.vscode` are left out, and what `.gitignore` files ignore; `warnings` counts
/// everything that was left out. Links are never followed. The search runs on as many threads as the machine
/// has processors, eight at the most.
///
/// The syntax is that of Rust's crate `regex`; look-around and back-references work too, and cost more.
///
/// Rejects with a `SearchFilesError`, or with `signal.reason` when `options.signal` is aborted; never throws.
#[napi(
    ts_generic_types = "Output extends SearchOutput = \"matches\"",
    ts_args_type = "context: WorkspaceContext | Workspace, args: SearchFilesArguments<Output>, options?: SearchFilesOptions | null",
    ts_return_type = "Promise<SearchFilesOutput<Output>>"
)]
pub fn search_files<'env>(
    env: &'env Env,
    context: Unknown<'env>,
    args: Unknown<'env>,
    options: Unknown<'env>,
) -> napi::Result<Unknown<'env>> {
    run_async(env, || prepare(env, context, args, options))
}

struct SearchFiles;

impl HasErrorName for SearchFiles {
    const ERROR_NAME: &'static str = "SearchFilesError";
}

type SearchFilesError = FailureOf<SearchFiles>;
type SearchResult = Result<Answer<Found>, SearchFilesError>;

fn prepare<'env>(
    env: &'env Env,
    context: Unknown<'env>,
    args: Unknown<'env>,
    options: Unknown<'env>,
) -> Prepared<'env, impl FnOnce(&AtomicBool) -> SearchResult + Send + 'static, SearchResult> {
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
    let on_progress = read_on_progress(env, options).map_err(refused)?;
    let search = read_search(args).map_err(refused)?;
    let signals = signals.map_err(refused)?;
    Ok(Call::new(signals, move |aborted: &AtomicBool| {
        let answer = run(&context, &search, on_progress.as_ref(), aborted)?;
        let SearchOptions { pattern, flags, .. } = search;
        Ok(Answer(Found { pattern, flags, answer }))
    }))
}

fn run(
    context: &Context,
    search: &SearchOptions,
    on_progress: Option<&OnProgress>,
    aborted: &AtomicBool,
) -> Result<SearchAnswer, SearchFilesError> {
    let given = search.root_path.as_deref();
    let sandbox = context.open().map_err(|error| opened_at(error, context, given))?;
    let cancelled = || aborted.load(Ordering::Relaxed);
    let tell = |progress: core::Progress| {
        if let Some(on_progress) = on_progress {
            on_progress.tell((number(progress.scanned_files), number(progress.items)));
        }
    };
    Ok(core::search_files(&sandbox, search, &cancelled, &tell)?)
}

fn read_on_progress(
    env: &Env,
    options: Option<Argument<'_>>,
) -> Result<Option<OnProgress>, ArgumentError> {
    let Some(options) = options.map(Argument::object).transpose()? else { return Ok(None) };
    options.optional(c"onProgress", "onProgress", |function| {
        if !function.is_function() {
            return Err(function.refuse("must be a function"));
        }
        let keys = ["scanned_files", "items"];
        OnProgress::new(env, function.keep()?, keys)
            .map_err(|_| function.refuse("could not be kept"))
    })
}

fn read_search(args: Argument<'_>) -> Result<SearchOptions, ArgumentError> {
    let args = args.object().map(Argument::with_own_keys_only).map_err(|error| {
        let rule = "must be an object with pattern and, if wanted, root_path, include and others";
        ArgumentError { rule: rule.to_owned(), ..error }
    })?;
    let default = SearchOptions::default();
    let count = |key, name, range: RangeInclusive<u64>| {
        args.optional(key, name, |value| value.integer_in(&range)).map(|count| count.map(to_usize))
    };
    let boolean = |key, name| args.optional(key, name, Argument::boolean);
    let globs = |key, name| {
        args.optional(key, name, |list| list.string_or_strings(MAX_GLOBS))
            .map(Option::unwrap_or_default)
    };
    let outputs =
        [("matches", Output::Matches), ("files", Output::Files), ("counts", Output::Counts)];
    Ok(SearchOptions {
        pattern: read_pattern(args)?,
        flags: args.optional(c"flags", "flags", Argument::unicode)?.unwrap_or_default(),
        literal: boolean(c"literal", "literal")?.unwrap_or(default.literal),
        word: boolean(c"word", "word")?.unwrap_or(default.word),
        multiline: boolean(c"multiline", "multiline")?.unwrap_or(default.multiline),
        root_path: args.optional(c"root_path", "root_path", Argument::unicode)?,
        include: globs(c"include", "include")?,
        exclude: globs(c"exclude", "exclude")?,
        gitignore: boolean(c"gitignore", "gitignore")?.unwrap_or(default.gitignore),
        include_hidden: boolean(c"include_hidden", "include_hidden")?
            .unwrap_or(default.include_hidden),
        default_excludes: boolean(c"default_excludes", "default_excludes")?
            .unwrap_or(default.default_excludes),
        output: args
            .optional(c"output", "output", |value| value.one_of(&outputs))?
            .unwrap_or_default(),
        context_lines: count(c"context_lines", "context_lines", 0..=MAX_CONTEXT_LINES)?
            .unwrap_or(default.context_lines),
        max_results: count(c"max_results", "max_results", 1..=MAX_RESULTS)?
            .unwrap_or(default.max_results),
        after: args.optional(c"after", "after", Argument::unicode)?,
        max_line_chars: count(c"max_line_chars", "max_line_chars", LINE_CHARS)?
            .unwrap_or(default.max_line_chars),
        max_file_size_bytes: args
            .optional(c"max_file_size_bytes", "max_file_size_bytes", |value| {
                value.integer_in(&(1..=MAX_FILE_SIZE_BYTES))
            })?
            .unwrap_or(default.max_file_size_bytes),
        timeout: args
            .optional(c"timeout_ms", "timeout_ms", |value| value.integer_in(&(1..=MAX_TIMEOUT_MS)))?
            .map_or(default.timeout, Duration::from_millis),
    })
}

fn read_pattern(args: Argument<'_>) -> Result<String, ArgumentError> {
    let pattern =
        args.optional(c"pattern", "pattern", |value| value.unicode_up_to(MAX_PATTERN_BYTES))?;
    pattern.ok_or_else(|| {
        let rule = "is missing: the regular expression to search for";
        ArgumentError::new("pattern", rule, Got::Unsaid)
    })
}

/// The answer, and the part of the query that it repeats.
struct Found {
    pattern: String,
    flags: String,
    answer: SearchAnswer,
}

impl IntoJs for Found {
    fn into_js(self, env: &Env) -> napi::Result<Unknown<'_>> {
        let Self { pattern, flags, answer } = self;
        let query = plain(env, &[("pattern", text(env, pattern)?), ("flags", text(env, flags)?)])?;
        let items: napi::Result<List<_>> =
            answer.items.into_iter().map(|item| item_into_js(env, item)).collect();
        let mut fields = vec![
            ("query", query),
            ("root_path", text(env, answer.root_path)?),
            ("took_ms", to_js(env, milliseconds(answer.took))?),
            ("truncated", to_js(env, answer.truncated)?),
            ("scanned_files", to_js(env, number(answer.scanned_files))?),
            ("items", to_js(env, items?)?),
            ("warnings", to_js(env, List(answer.warnings))?),
        ];
        if let Some(next) = answer.next {
            fields.push(("next", text(env, next)?));
        }
        plain(env, &fields)
    }
}

fn text(env: &Env, text: String) -> napi::Result<Unknown<'_>> {
    to_js(env, JsText::from(text))
}

fn item_into_js(env: &Env, item: Item) -> napi::Result<Unknown<'_>> {
    let found = match item {
        Item::File(file) => return file_into_js(env, file),
        Item::Match(found) => *found,
    };
    let lines =
        |lines: Vec<String>| to_js(env, lines.into_iter().map(JsText::from).collect::<List<_>>());
    let count = |count| to_js(env, number(count));
    let mut fields = vec![
        ("path", text(env, found.path)?),
        ("line", count(found.line)?),
        ("column", count(found.column)?),
        ("match", text(env, found.text)?),
        ("line_text", text(env, found.line_text)?),
    ];
    let optional = [
        ("end_line", found.end_line.map(count).transpose()?),
        ("before", found.before.map(lines).transpose()?),
        ("after", found.after.map(lines).transpose()?),
        ("line_offset", found.line_offset.map(count).transpose()?),
        ("more_in_line", found.more_in_line.map(count).transpose()?),
    ];
    fields.extend(optional.into_iter().filter_map(|(key, value)| Some((key, value?))));
    plain(env, &fields)
}

fn file_into_js(env: &Env, file: FileItem) -> napi::Result<Unknown<'_>> {
    let mut fields =
        vec![("path", text(env, file.path)?), ("matches", to_js(env, number(file.matches))?)];
    if let Some(lines) = file.matching_lines {
        fields.push(("matching_lines", to_js(env, number(lines))?));
    }
    plain(env, &fields)
}

/// A count that is in its range.
fn to_usize(count: u64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}
