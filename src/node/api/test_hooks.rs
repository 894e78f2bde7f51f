//! Ways to fail on purpose, in builds with the feature `test-hooks` alone.

use std::sync::atomic::AtomicBool;

use napi::Env;
use napi::bindgen_prelude::Unknown;
use napi_derive::napi;

use crate::node::call::abort::Signals;
use crate::node::call::run::{Call, run_async, run_sync};
use crate::tools::read_file::ReadFileError;

type Work = fn(&AtomicBool) -> Result<(), ReadFileError>;

const PANIC: Work = |_| panic!("test hook");

/// Panics in the worker.
#[napi(js_name = "__panicInWorker")]
pub fn panic_in_worker(env: &Env) -> napi::Result<Unknown<'_>> {
    run_async(env, || Ok(Call::new(Signals::NONE, PANIC)))
}

/// Panics on the JavaScript thread, in the work.
#[napi(js_name = "__panicInCall")]
pub fn panic_in_call(env: &Env) -> napi::Result<Unknown<'_>> {
    run_sync(env, || Ok(Call::new(Signals::NONE, PANIC)))
}

/// Panics on the JavaScript thread, while arguments are read.
#[napi(js_name = "__panicInArguments")]
pub fn panic_in_arguments(env: &Env) -> napi::Result<Unknown<'_>> {
    run_async::<Work, _>(env, || panic!("test hook"))
}
