//! The Node-API calls that napi-rs has no safe form for. Beside the system calls of leases and of
//! Windows, the only `unsafe` code of this crate.

#![allow(unsafe_code, reason = "each block has its proof")]

use std::ffi::CStr;
use std::ptr;
use std::thread::ThreadId;

use napi::bindgen_prelude::{ToNapiValue, Unknown};
use napi::{Env, JsValue, Status, ValueType, sys};

use super::environment;
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
        let status = unsafe { sys::napi_resolve_deferred(env.raw(), self.0, value.raw()) };
        if status != sys::Status::napi_ok && take_exception(env).is_some() {
            // A getter `then` that every object inherits has thrown, and the promise has been rejected
            // with that. Left pending, the exception would come out of whatever is called next.
            return Ok(());
        }
        check(status)
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
    property_or_thrown(env, object, name).ok()
}

/// A property's value, or what its getter threw; `None` where the engine failed.
pub(super) fn property_or_thrown<'env>(
    env: &'env Env,
    object: Unknown<'_>,
    name: &CStr,
) -> Result<Unknown<'env>, Option<Unknown<'env>>> {
    let mut value = ptr::null_mut();
    // SAFETY: `object` is a live handle of `env`, `name` ends in NUL, and `value` is a local.
    let status = unsafe {
        sys::napi_get_named_property(env.raw(), object.raw(), name.as_ptr(), &raw mut value)
    };
    if status != sys::Status::napi_ok {
        return Err(take_exception(env));
    }
    // SAFETY: the call succeeded, so `value` is a handle of this environment and scope.
    Ok(unsafe { Unknown::from_raw_unchecked(env.raw(), value) })
}

/// Calls a method of an object; what it threw comes as an error, `None` where the object has no such
/// method or the engine failed.
pub(super) fn call_method<'env>(
    env: &'env Env,
    object: Unknown<'_>,
    name: &CStr,
    arguments: &[Unknown<'_>],
) -> Result<Unknown<'env>, Option<Unknown<'env>>> {
    let method = property_or_thrown(env, object, name)?;
    call_function(env, object, method, arguments)
}

/// Calls a function with a `this`; what it threw comes as an error, `None` where it is no function
/// or the engine failed.
pub(super) fn call_function<'env>(
    env: &'env Env,
    this: Unknown<'_>,
    function: Unknown<'_>,
    arguments: &[Unknown<'_>],
) -> Result<Unknown<'env>, Option<Unknown<'env>>> {
    let arguments: Vec<_> = arguments.iter().map(Unknown::raw).collect();
    let mut value = ptr::null_mut();
    // SAFETY: all are live handles of `env`, `arguments` has as many as is said, and `value` is a
    // local. Of what is no function Node-API says so.
    let status = unsafe {
        sys::napi_call_function(
            env.raw(),
            this.raw(),
            function.raw(),
            arguments.len(),
            arguments.as_ptr(),
            &raw mut value,
        )
    };
    if status != sys::Status::napi_ok {
        return Err(take_exception(env));
    }
    // SAFETY: the call succeeded, so `value` is a handle of this environment and scope.
    Ok(unsafe { Unknown::from_raw_unchecked(env.raw(), value) })
}

/// Calls a function of which nothing is expected: what it throws is dropped, and so is the
/// rejection of a promise that it returns, which would end a Node process.
pub(super) fn call_and_forget(env: &Env, function: Unknown<'_>, argument: Unknown<'_>) {
    let Ok(undefined) = to_js(env, ()) else { return };
    let Ok(returned) = call_function(env, undefined, function, &[argument]) else { return };
    if returned.get_type().is_ok_and(|kind| kind == ValueType::Object)
        && let Ok(ignore) = env.create_function_from_closure::<(), (), _>("ignore", |_| Ok(()))
        && let Ok(ignore) = to_js(env, ignore)
    {
        let _ = call_method(env, returned, c"then", &[undefined, ignore]);
    }
}

/// Takes the pending exception away, if there is one.
fn take_exception(env: &Env) -> Option<Unknown<'_>> {
    let (mut is_pending, mut exception) = (false, ptr::null_mut());
    // SAFETY: both out-pointers are locals.
    let status = unsafe { sys::napi_is_exception_pending(env.raw(), &raw mut is_pending) };
    if status != sys::Status::napi_ok || !is_pending {
        return None;
    }
    // SAFETY: as above.
    let status = unsafe { sys::napi_get_and_clear_last_exception(env.raw(), &raw mut exception) };
    // SAFETY: the call succeeded, so `exception` is a handle of this environment and scope.
    (status == sys::Status::napi_ok)
        .then(|| unsafe { Unknown::from_raw_unchecked(env.raw(), exception) })
}

/// A JavaScript value that is kept beyond the call that it came with, on the thread of its
/// environment.
pub(super) struct Kept {
    environment: sys::napi_env,
    key: usize,
    reference: sys::napi_ref,
    /// Whether the reference is to an array whose only element is the value: of the values that are
    /// no objects it takes none.
    is_wrapped: bool,
}

impl Kept {
    pub(super) fn new(env: &Env, value: Unknown<'_>) -> napi::Result<Self> {
        let key = environment::key(env)?;
        let is_wrapped = !matches!(value.get_type()?, ValueType::Object | ValueType::Function);
        let mut kept = value.raw();
        if is_wrapped {
            // SAFETY: the out-pointer is a local.
            check(unsafe { sys::napi_create_array_with_length(env.raw(), 1, &raw mut kept) })?;
            // SAFETY: both are live handles of `env`, and `kept` is an array.
            check(unsafe { sys::napi_set_element(env.raw(), kept, 0, value.raw()) })?;
        }
        let mut reference = ptr::null_mut();
        // SAFETY: `kept` is a live handle of `env` and an object, and the out-pointer is a local.
        check(unsafe { sys::napi_create_reference(env.raw(), kept, 1, &raw mut reference) })?;
        Ok(Self { environment: env.raw(), key, reference, is_wrapped })
    }

    pub(super) fn value<'env>(&self, env: &'env Env) -> napi::Result<Unknown<'env>> {
        let mut value = ptr::null_mut();
        // SAFETY: `self.reference` is strong and lives as long as `self`, in the environment that
        // the only thread which can hold `self` runs; the out-pointer is a local.
        check(unsafe { sys::napi_get_reference_value(env.raw(), self.reference, &raw mut value) })?;
        if self.is_wrapped {
            let array = value;
            // SAFETY: the call succeeded, so `array` is a handle; the out-pointer is a local.
            check(unsafe { sys::napi_get_element(env.raw(), array, 0, &raw mut value) })?;
        }
        // SAFETY: the call succeeded, so `value` is a handle of this environment and scope.
        Ok(unsafe { Unknown::from_raw_unchecked(env.raw(), value) })
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        // An environment that is ending takes its references along.
        if environment::is_live(self.key) {
            // SAFETY: the environment lives, this is its thread (raw pointers keep `Kept` from being
            // sent), and the reference was made in `new` and is deleted here alone.
            unsafe { sys::napi_delete_reference(self.environment, self.reference) };
        }
    }
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

impl ToNapiValue for JsText<'_> {
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
