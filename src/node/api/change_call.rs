//! What the calls that change an entry have in common: `editFile`, `applyPatch`, `moveFile`,
//! `deleteFile`.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use napi::Env;
use napi::bindgen_prelude::Unknown;

use super::argument::Argument;
use super::context::{Context, Purpose};
use super::failure::{FailureOf, HasErrorName, given_path, opened_at, refused_in};
use super::signals::read_signals;
use crate::argument::{ArgumentError, Got};
use crate::hash::{Sha256Digest, from_lowercase_hex};
use crate::node::call::abort::Signals;
use crate::node::call::outcome::Outcome;
use crate::node::call::pending::OnAbort;
use crate::node::call::run::{Call, NotStarted, run_async};
use crate::sandbox::{EntryKind, Sandbox};
use crate::tools::create_file::WriteScope;
use crate::tools::entry_change::ChangeOptions;
use crate::tools::failure::Failure;

/// The arguments of a call.
pub struct Arguments<'env> {
    pub context: Unknown<'env>,
    pub args: Unknown<'env>,
    pub options: Unknown<'env>,
}

/// The work on a request. It asks the last argument whether it is to stop.
type Run<R, O> = fn(&Context, &R, &(dyn Fn() -> bool + Sync)) -> Result<O, Failure>;

/// Runs a call of the function `F` on a worker. `read` makes the request of `args`.
///
/// An abort is put to `run`, which alone knows whether anything has changed.
pub fn run_change<'env, F, R, O, T>(
    env: &'env Env,
    arguments: Arguments<'env>,
    read: fn(Argument<'env>) -> Result<R, ArgumentError>,
    run: Run<R, O>,
) -> napi::Result<Unknown<'env>>
where
    F: HasErrorName + Send,
    R: Send + 'static,
    O: Into<T> + 'static,
    Result<T, FailureOf<F>>: Outcome + Send,
    T: 'static,
{
    run_async(env, || {
        let mut request = None;
        let read = &mut |args| read(args).map(|read| request = Some(read));
        let (context, signals) = match read_call(env, arguments, read) {
            Ok(read) => read,
            Err(NotStarted::Refused(failure)) => {
                return Err(NotStarted::Refused(Err(failure.into())));
            }
            Err(NotStarted::Aborted(reason)) => return Err(NotStarted::Aborted(reason)),
        };
        let work = move |aborted: &AtomicBool| {
            // `read_call` fails unless it has been read.
            let Some(request) = request else { return Err(Failure::bug().into()) };
            let done = run(&context, &request, &|| aborted.load(Ordering::Relaxed));
            done.map(O::into).map_err(FailureOf::from)
        };
        Ok(Call { work, signals, on_abort: OnAbort::AskWork })
    })
}

/// Reads the context, the `args` by `read`, and the options. All functions share one copy of this.
fn read_call<'env>(
    env: &'env Env,
    Arguments { context, args, options }: Arguments<'env>,
    read: &mut dyn FnMut(Argument<'env>) -> Result<(), ArgumentError>,
) -> Result<(Context, Signals<'env>), NotStarted<'env, Failure>> {
    let context = Argument::new(env, "context", context);
    let args = Argument::new(env, "args", args);
    let options = Argument::new(env, "options", options).present();
    let signals = read_signals(env, [options, Some(context)])?;
    let own = args.object().map(Argument::with_own_keys_only);
    let given = given_path(own.as_ref().ok().and_then(|args| args.property(c"path", "path").ok()?));
    let refused = |error: ArgumentError, context| {
        NotStarted::Refused(match &given {
            Some(given) => refused_in(error, context, Some(given)),
            None => error.into(),
        })
    };
    let context = Context::read(context, Purpose::Create).map_err(|error| refused(error, None))?;
    let all = read(args).and_then(|()| options.map(Argument::object).transpose()).and(signals);
    match all {
        Ok(signals) => Ok((context, signals)),
        Err(error) => Err(refused(error, Some(&context))),
    }
}

/// Opens the workspace for a change. `path` is for its errors. If the host lets its tools write nothing, refuses
/// the call before it reads the disk: then `parse` makes the failure from the paths alone.
pub fn open_to_change<T>(
    context: &Context,
    path: &str,
    parse: impl FnOnce(ChangeOptions) -> Result<T, Failure>,
) -> Result<(Arc<Sandbox>, ChangeOptions), Failure> {
    let options = change_options(context);
    if options.write_scope == WriteScope::ReadOnly {
        parse(options)?;
    }
    let sandbox = context.open().map_err(|error| opened_at(error, context, Some(path)))?;
    Ok((sandbox, options))
}

/// The options of the host.
fn change_options(context: &Context) -> ChangeOptions {
    ChangeOptions { write_scope: context.create.write_scope, durability: context.create.durability }
}

/// The error of an argument that does not follow its rule. A missing argument is one case.
pub fn breaks_rule(name: &'static str, rule: impl Into<String>) -> ArgumentError {
    ArgumentError::new(name, rule, Got::Unsaid)
}

/// A path that must be given.
pub fn read_path(
    args: Argument<'_>,
    key: &'static std::ffi::CStr,
    name: &'static str,
    rule: &'static str,
) -> Result<String, ArgumentError> {
    args.optional(key, name, Argument::unicode)?.ok_or_else(|| breaks_rule(name, rule))
}

/// `expected_hash`.
pub fn read_expected_hash(args: Argument<'_>) -> Result<Option<Sha256Digest>, ArgumentError> {
    args.optional(c"expected_hash", "expected_hash", |hash| {
        from_lowercase_hex(hash.string()?.as_str()).ok_or_else(|| {
            let rule =
                "must be a SHA-256 as 64 lowercase hex digits, as readFile gives it in meta.sha256";
            breaks_rule("expected_hash", rule)
        })
    })
}

/// `expected_kind`.
pub fn read_expected_kind(args: Argument<'_>) -> Result<Option<EntryKind>, ArgumentError> {
    let kinds =
        [("file", EntryKind::File), ("directory", EntryKind::Folder), ("symlink", EntryKind::Link)];
    args.optional(c"expected_kind", "expected_kind", |kind| kind.one_of(&kinds))
}

/// An argument that is `true` or `false`, and `false` if absent.
pub fn read_flag(
    args: Argument<'_>,
    key: &'static std::ffi::CStr,
    name: &'static str,
) -> Result<bool, ArgumentError> {
    Ok(args.optional(key, name, Argument::boolean)?.unwrap_or_default())
}

/// The object of all arguments.
pub fn read_args<'env>(
    args: Argument<'env>,
    rule: &'static str,
) -> Result<Argument<'env>, ArgumentError> {
    args.object()
        .map(Argument::with_own_keys_only)
        .map_err(|error| ArgumentError { rule: rule.to_owned(), ..error })
}
