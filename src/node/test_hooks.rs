//! Ways to fail on purpose, in builds with the feature `test-hooks` alone.

use napi::Env;
use napi::bindgen_prelude::Unknown;
use napi_derive::napi;

use super::call::{Call, NotStarted, run_async, run_sync};
use crate::read_file::{ReadFileError, ReadFileOutput};

type Answer = Result<ReadFileOutput, ReadFileError>;

fn panicking<'env>() -> Result<Call<'env, fn() -> Answer>, NotStarted<'env, Answer>> {
    Ok(Call { work: || panic!("test hook"), signal: None })
}

type Work = fn() -> Answer;

/// Panics in the worker.
#[napi(js_name = "__panicInWorker")]
pub fn panic_in_worker(env: &Env) -> napi::Result<Unknown<'_>> {
    run_async(env, panicking)
}

/// Panics on the JavaScript thread, in the work.
#[napi(js_name = "__panicInCall")]
pub fn panic_in_call(env: &Env) -> napi::Result<Unknown<'_>> {
    run_sync(env, panicking)
}

/// Panics on the JavaScript thread, while arguments are read.
#[napi(js_name = "__panicInArguments")]
pub fn panic_in_arguments(env: &Env) -> napi::Result<Unknown<'_>> {
    run_async::<Work, _>(env, || panic!("test hook"))
}
