//! `nearMisses`.

use std::sync::atomic::AtomicBool;

use napi::Env;
use napi::bindgen_prelude::Unknown;
use napi_derive::napi;

use super::argument::Argument;
use super::path_argument::PathInContext;
use super::read_file::read_options;
use super::signals::read_signals;
use crate::node::call::run::{Call, Prepared, run_async};
use crate::node::engine::raw::List;
use crate::tools::near_miss as core;
use crate::tools::read_file::ReadFileError;

/// Suggests paths that a model may have meant by a path where no file or folder is: up to three, relative
/// to the workspace root, nearest first; folders end in `/`.
///
/// The suggestions come from the deepest folder of the path that exists, of which at most 10,000 entries
/// are looked at. The list is empty if the path exists, if no name is like it, or if the folder cannot
/// be listed. A name with control, bidi or zero-width characters is never suggested, because
/// suggestions are shown. The arguments are those of `readFile`.
///
/// Rejects with a `ReadFileError` where the arguments or the path's spelling are refused, or with
/// `signal.reason`.
#[napi(
    ts_args_type = "context: WorkspaceContext | Workspace, path: string, options?: { signal?: AbortSignal | null } | null",
    ts_return_type = "Promise<string[]>"
)]
pub fn near_misses<'env>(
    env: &'env Env,
    context: Unknown<'env>,
    path: Unknown<'env>,
    options: Unknown<'env>,
) -> napi::Result<Unknown<'env>> {
    run_async(env, || prepare(env, context, path, options))
}

type NearMisses = Result<List<String>, ReadFileError>;

fn prepare<'env>(
    env: &'env Env,
    context: Unknown<'env>,
    path: Unknown<'env>,
    options: Unknown<'env>,
) -> Prepared<'env, impl FnOnce(&AtomicBool) -> NearMisses + Send + 'static, NearMisses> {
    let context = Argument::new(env, "context", context);
    let path = Argument::new(env, "path", path);
    let options = Argument::new(env, "options", options).present();
    let signals = read_signals(env, [options, Some(context)])?;
    let others = || read_options(options).and(signals);
    let (file, signals) = PathInContext::read(context, path, others)?;
    Ok(Call::new(signals, move |_: &AtomicBool| near_misses_of(&file)))
}

fn near_misses_of(file: &PathInContext) -> NearMisses {
    let sandbox = file.open()?;
    let path = sandbox.locate(&file.path).map_err(|refusal| {
        let error = ReadFileError::new(refusal, Some(&file.path));
        error.hiding(|text| sandbox.is_spelled_in(text))
    })?;
    Ok(List(core::near_misses(&sandbox, &file.path, &path)))
}
