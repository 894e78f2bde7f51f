//! The only folder that knows JavaScript. Nothing below it mentions Node-API, and no panic leaves it.
//!
//! | folder | content |
//! | --- | --- |
//! | [`engine`] | Node-API alone: values, text, references, promises, and the state of an environment |
//! | [`call`] | how a call runs: at once, on a worker, or asking code of the host; and how it is aborted |
//! | [`api`] | one file for each exported function or class, and their shared parts |
//!
//! `api` imports `call` and `engine`; `call` imports `engine`.

#![allow(
    clippy::result_large_err,
    reason = "an `Err` here is on its way to JavaScript and is made at most once per call"
)]
#![allow(
    clippy::trivially_copy_pass_by_ref,
    reason = "napi-rs lends `&Env`, and the values made from it live as long as that borrow"
)]

mod api;
mod call;
mod engine;
