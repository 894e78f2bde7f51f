//! `readBytes`.

use std::sync::atomic::{AtomicBool, Ordering};

use napi::Env;
use napi::bindgen_prelude::{Buffer, Unknown};
use napi_derive::napi;

use super::argument::{Argument, number};
use super::failure::{FailureOf, HasErrorName};
use super::path_argument::PathInContext;
use super::signals::read_signals;
use crate::argument::ArgumentError;
use crate::node::call::run::{Call, Prepared, run_async};
use crate::tools::read_bytes::{self as core, LENGTH, ReadBytesOptions};

/// The result of `readBytes`.
#[napi(object, object_from_js = false)]
pub struct ReadBytesOutput {
    /// The path relative to the workspace root, components separated by `/`; never absolute.
    pub path: String,
    /// The bytes of the range, as many as the file has there.
    #[napi(ts_type = "Bytes")]
    pub bytes: Buffer,
    /// Where the range begins in the file.
    pub offset: f64,
    /// The size of the whole file.
    #[napi(js_name = "byte_length")]
    pub byte_length: f64,
    /// The media type: by the first bytes of the file, then by its name; `text/plain` or
    /// `application/octet-stream` where neither tells it.
    #[napi(js_name = "media_type")]
    pub media_type: &'static str,
    /// When the file last changed: whole milliseconds since 1970, rounded down.
    #[napi(js_name = "mtime_ms")]
    pub mtime_ms: i64,
    /// SHA-256 of the whole file, lowercase hex. Only there when the options ask for it with
    /// `include_hash: true`.
    pub sha256: Option<String>,
}

/// Reads a range of bytes of a file in the workspace. The file may have any size.
///
/// A range past the end of the file is empty. With `include_hash` the whole file is read once, so that hash,
/// size and range are of the same bytes; files of more than 64 MiB are then `SIZE_LIMIT_EXCEEDED`. Runs on a
/// worker thread.
///
/// Rejects with a `ReadBytesError`, or with `signal.reason` when a signal is aborted; never throws.
#[napi(
    ts_args_type = "context: WorkspaceContext | Workspace, path: string, options?: ReadBytesOptions | null",
    ts_return_type = "Promise<ReadBytesOutput>"
)]
pub fn read_bytes<'env>(
    env: &'env Env,
    context: Unknown<'env>,
    path: Unknown<'env>,
    options: Unknown<'env>,
) -> napi::Result<Unknown<'env>> {
    run_async(env, || prepare(env, context, path, options))
}

struct ReadBytes;

impl HasErrorName for ReadBytes {
    const ERROR_NAME: &'static str = "ReadBytesError";
}

type ReadBytesResult = Result<ReadBytesOutput, FailureOf<ReadBytes>>;

fn prepare<'env>(
    env: &'env Env,
    context: Unknown<'env>,
    path: Unknown<'env>,
    options: Unknown<'env>,
) -> Prepared<'env, impl FnOnce(&AtomicBool) -> ReadBytesResult + Send + 'static, ReadBytesResult> {
    let context = Argument::new(env, "context", context);
    let path = Argument::new(env, "path", path);
    let options = Argument::new(env, "options", options).present();
    let signals = read_signals(env, [options, Some(context)])?;
    let others = || Ok((read_options(options)?, signals?));
    let (file, (options, signals)) =
        PathInContext::read(context, path, others).map_err(FailureOf::<ReadBytes>::from)?;
    Ok(Call::new(signals, move |aborted: &AtomicBool| {
        let cancelled = || aborted.load(Ordering::Relaxed);
        let sandbox = file.open()?;
        Ok(core::read_bytes(&sandbox, &file.path, &options, &cancelled)?.into())
    }))
}

fn read_options(options: Option<Argument<'_>>) -> Result<ReadBytesOptions, ArgumentError> {
    let mut read = ReadBytesOptions::default();
    let Some(options) = options.map(Argument::object).transpose()? else { return Ok(read) };
    if let Some(offset) = options.optional(c"offset", "offset", Argument::size)? {
        read.offset = offset;
    }
    let length = |value: Argument<'_>| value.integer_in(&LENGTH);
    if let Some(length) = options.optional(c"length", "length", length)? {
        read.length = length;
    }
    if let Some(hash) = options.optional(c"include_hash", "include_hash", Argument::boolean)? {
        read.include_hash = hash;
    }
    Ok(read)
}

impl From<core::ReadBytesOutput> for ReadBytesOutput {
    fn from(output: core::ReadBytesOutput) -> Self {
        let core::ReadBytesOutput {
            path,
            bytes,
            offset,
            byte_length,
            media_type,
            mtime_ms,
            sha256,
        } = output;
        Self {
            path,
            bytes: bytes.into(),
            offset: number(offset),
            byte_length: number(byte_length),
            media_type,
            mtime_ms,
            sha256,
        }
    }
}
