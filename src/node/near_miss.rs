//! `nearMisses`.

use std::sync::atomic::AtomicBool;

use napi::Env;
use napi::bindgen_prelude::Unknown;
use napi_derive::napi;

use super::call::{Converted, run_async};
use super::raw::to_js;
use super::read_file::{Answered, Request, prepare};
use crate::near_miss as core;
use crate::read_file::ReadFileError;

/// Names what a model may have meant by a path at which nothing stands: up to three paths relative to
/// the workspace root, nearest first; folders end in `/`.
///
/// They stand in the deepest folder of the path that exists, of which at most 10,000 entries are
/// looked at. None come where something stands at the path, where nothing is like it, and where the
/// folder may not be listed; and none whose name holds control, bidi or zero-width characters, since
/// they are meant to be shown. The arguments are those of `readFile`.
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
    let prepare = || prepare(env, context, path, options);
    run_async(env, || Ok(prepare()?.map(|request| move |_: &AtomicBool| run(&request))))
}

type Answer = Result<Vec<String>, ReadFileError>;

fn run(request: &Request) -> Answer {
    let sandbox = request.open()?;
    let path = sandbox.locate(&request.path).map_err(|refusal| {
        let error = ReadFileError::new(refusal, Some(&request.path));
        error.hiding(|text| sandbox.is_spelled_in(text))
    })?;
    Ok(core::near_misses(&sandbox, &path))
}

impl Answered for Vec<String> {
    fn into_js(self, env: &Env) -> Converted<'_> {
        Ok(Ok(to_js(env, self)?))
    }
}
