//! The Node-API calls that napi-rs has no safe form for. Beside the system calls of leases and of
//! Windows, the only `unsafe` code of this crate.

#![allow(unsafe_code, reason = "each block has its proof")]

use std::ffi::CStr;
use std::ptr;
use std::thread::ThreadId;

use napi::bindgen_prelude::{ToNapiValue, Unknown};
use napi::{Env, JsValue, Status, sys};

use super::js_text::JsText;

/// A promise that has been handed out and waits for its answer.
///
/// Belongs to the thread of the environment it was made in, and is settled once, or never if the
/// environment ends first.
pub(super) struct Deferred(sys::napi_deferred);

impl Deferred {
    /// Makes a pending promise and the means to settle it.
    pub(super) fn new(env: &Env) -> napi::Result<(Self, Unknown<'_>)> {
        let (mut deferred, mut promise) = (ptr::null_mut(), ptr::null_mut());
        // SAFETY: `env` is live for the duration of the call into this addon that it was lent to,
        // and both out-pointers point to locals.
        let status =
            unsafe { sys::napi_create_promise(env.raw(), &raw mut deferred, &raw mut promise) };
        check(status)?;
        // SAFETY: the call succeeded, so `promise` is a handle of this environment and scope.
        let promise = unsafe { Unknown::from_raw_unchecked(env.raw(), promise) };
        Ok((Self(deferred), promise))
    }

    /// Resolves the promise.
    pub(super) fn resolve(self, env: &Env, value: Unknown<'_>) -> napi::Result<()> {
        // SAFETY: `self.0` came from `napi_create_promise` and has not been used, as settling
        // takes `self`; `value` is a handle of the same environment and of a scope still open.
        check(unsafe { sys::napi_resolve_deferred(env.raw(), self.0, value.raw()) })
    }

    /// Rejects the promise.
    pub(super) fn reject(self, env: &Env, reason: Unknown<'_>) -> napi::Result<()> {
        // SAFETY: as in `resolve`.
        check(unsafe { sys::napi_reject_deferred(env.raw(), self.0, reason.raw()) })
    }
}

/// Lets a value that belongs to the JavaScript thread travel inside a worker's task.
///
/// napi-rs moves a task to the heap on the JavaScript thread, shows it to a worker as `&mut` for
/// `compute`, and takes it back to the JavaScript thread to settle and drop it.
pub(super) struct OnJsThread<T> {
    value: T,
    thread: ThreadId,
}

// SAFETY: the wrapped value can be reached through `get` alone, which is called where an `Env` is
// at hand, that is on the JavaScript thread, and panics on any other; and the task is dropped
// there, by napi-rs.
unsafe impl<T> Send for OnJsThread<T> {}

impl<T> OnJsThread<T> {
    pub(super) fn new(value: T, _made_on: &Env) -> Self {
        Self { value, thread: std::thread::current().id() }
    }

    pub(super) fn get(&mut self, _on: &Env) -> &mut T {
        assert_eq!(std::thread::current().id(), self.thread);
        &mut self.value
    }
}

/// A property's value; `None` if reading it threw, in which case the exception is gone.
pub(super) fn get_property<'env>(
    env: &'env Env,
    object: Unknown<'_>,
    name: &CStr,
) -> Option<Unknown<'env>> {
    let mut value = ptr::null_mut();
    // SAFETY: `object` is a live handle of `env`, `name` ends in NUL, and `value` is a local.
    let status = unsafe {
        sys::napi_get_named_property(env.raw(), object.raw(), name.as_ptr(), &raw mut value)
    };
    if status == sys::Status::napi_ok {
        // SAFETY: the call succeeded, so `value` is a handle of this environment and scope.
        return Some(unsafe { Unknown::from_raw_unchecked(env.raw(), value) });
    }
    clear_exception(env);
    None
}

/// Drops a pending exception, so that Node-API takes further calls.
pub(super) fn clear_exception(env: &Env) {
    let mut exception = ptr::null_mut();
    // SAFETY: the out-pointer is a local; without an exception this yields `undefined`.
    let _ = unsafe { sys::napi_get_and_clear_last_exception(env.raw(), &raw mut exception) };
}

/// A value in JavaScript's form.
pub(super) fn to_js(env: &Env, value: impl ToNapiValue) -> napi::Result<Unknown<'_>> {
    value.into_unknown(env)
}

impl ToNapiValue for JsText {
    unsafe fn to_napi_value(env: sys::napi_env, text: Self) -> napi::Result<sys::napi_value> {
        let env = Env::from_raw(env);
        match text {
            Self::Latin1(bytes) => env.create_string_latin1(bytes),
            Self::Utf16(units) => env.create_string_utf16(units),
        }
        .map(|string| string.raw())
    }
}

fn check(status: sys::napi_status) -> napi::Result<()> {
    match status {
        sys::Status::napi_ok => Ok(()),
        status => Err(napi::Error::from_status(Status::from(status))),
    }
}
