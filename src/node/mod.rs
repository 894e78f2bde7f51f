//! The only folder that knows JavaScript.
//!
//! A binding file such as [`read_file`] is a thin surface: it reads its arguments with
//! [`value`], puts the work into a closure, and hands both to [`call`], which runs the work at
//! once (`…Sync`) or on a worker thread, and settles the answer. Nothing below this folder
//! mentions Node-API, and no panic leaves it.
//!
//! Numbers, strings and objects come in as `unknown` and are checked here, because Node-API's own
//! conversions coerce: see [`argument`](crate::argument).

#![allow(
    clippy::result_large_err,
    reason = "an `Err` here is an answer on its way to JavaScript, made at most once per call"
)]
#![allow(
    clippy::trivially_copy_pass_by_ref,
    reason = "napi-rs lends `&Env`, and the values made from it live as long as that borrow"
)]

pub mod create_file;
pub mod file_store;
pub mod file_uri;
pub mod near_miss;
pub mod read_file;
pub mod snapshot;
pub mod source;
pub mod workspace;

mod abort;
mod active_files;
mod call;
mod context;
mod dialogue;
mod environment;
mod error;
mod js_text;
mod object_literal;
mod raw;
#[cfg(feature = "test-hooks")]
pub mod test_hooks;
mod turn;
mod value;
