//! The Node-API calls that napi-rs has no safe form for, and all the `unsafe` code of `src/node`.

#![allow(unsafe_code, reason = "each block has its proof")]

use std::ffi::CStr;
use std::ptr;
use std::thread::ThreadId;

use napi::bindgen_prelude::{Object, ToNapiValue, Unknown};
use napi::{Env, JsValue, Status, ValueType, sys};

use super::environment::{self, EnvironmentId};
use super::object;
use super::text::JsText;
use crate::memory;

/// A pending promise.
///
/// It belongs to the thread of its environment. It is settled once, or never if the environment ends
/// first.
pub struct Deferred(sys::napi_deferred);

impl Deferred {
    /// Makes a pending promise and the means to settle it.
    pub fn new(env: &Env) -> napi::Result<(Self, Unknown<'_>)> {
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
    pub fn resolve(self, env: &Env, value: Unknown<'_>) -> napi::Result<()> {
        // SAFETY: `self.0` came from `napi_create_promise` and has not been used, as settling
        // takes `self`; `value` is a handle of the same environment and of a scope still open.
        let status = unsafe { sys::napi_resolve_deferred(env.raw(), self.0, value.raw()) };
        if status != sys::Status::napi_ok && take_exception(env).is_some() {
            // A program has put a getter `then` on `Object.prototype`, and it threw. The engine has
            // rejected the promise with that; a pending exception would surface in the next call.
            return Ok(());
        }
        check(status)
    }

    /// Rejects the promise.
    pub fn reject(self, env: &Env, reason: Unknown<'_>) -> napi::Result<()> {
        // SAFETY: as in `resolve`.
        check(unsafe { sys::napi_reject_deferred(env.raw(), self.0, reason.raw()) })
    }
}

/// A value of the JavaScript thread inside a task that a worker runs.
///
/// napi-rs moves a task to the heap on the JavaScript thread, lends it to a worker as `&mut` for
/// `compute`, and settles and drops it on the JavaScript thread.
pub struct OnJsThread<T> {
    value: T,
    thread: ThreadId,
}

// SAFETY: only `get` reaches the wrapped value. It takes an `Env`, which exists on the JavaScript
// thread alone, and panics on any other thread. napi-rs drops the task on the JavaScript thread.
unsafe impl<T> Send for OnJsThread<T> {}

impl<T> OnJsThread<T> {
    pub fn new(value: T, _made_on: &Env) -> Self {
        Self { value, thread: std::thread::current().id() }
    }

    pub fn get(&mut self, _on: &Env) -> &mut T {
        assert_eq!(std::thread::current().id(), self.thread);
        &mut self.value
    }
}

/// A property's value; `None` if its getter threw. The exception is cleared.
pub fn get_property<'env>(
    env: &'env Env,
    object: Unknown<'_>,
    name: &CStr,
) -> Option<Unknown<'env>> {
    property_or_thrown(env, object, name).ok()
}

/// A property's value, or the value that its getter threw; `Err(None)` if the engine failed.
pub fn property_or_thrown<'env>(
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

/// An element of an array; `None` if its getter threw. The exception is cleared.
pub fn get_element<'env>(env: &'env Env, array: Unknown<'_>, index: u32) -> Option<Unknown<'env>> {
    let mut value = ptr::null_mut();
    // SAFETY: `array` is a live handle of `env`, and `value` is a local. Node-API refuses a value that is
    // no object.
    let status = unsafe { sys::napi_get_element(env.raw(), array.raw(), index, &raw mut value) };
    if status != sys::Status::napi_ok {
        clear_exception(env);
        return None;
    }
    // SAFETY: the call succeeded, so `value` is a handle of this environment and scope.
    Some(unsafe { Unknown::from_raw_unchecked(env.raw(), value) })
}

/// Calls a method. The error is the value that the method threw; it is `None` if the object has no
/// such method or the engine failed.
pub fn call_method<'env>(
    env: &'env Env,
    object: Unknown<'_>,
    name: &CStr,
    arguments: &[Unknown<'_>],
) -> Result<Unknown<'env>, Option<Unknown<'env>>> {
    let method = property_or_thrown(env, object, name)?;
    call_function(env, object, method, arguments)
}

/// Calls a function. The error is the value that the function threw; it is `None` if the value is
/// no function or the engine failed.
pub fn call_function<'env>(
    env: &'env Env,
    this: Unknown<'_>,
    function: Unknown<'_>,
    arguments: &[Unknown<'_>],
) -> Result<Unknown<'env>, Option<Unknown<'env>>> {
    let arguments: Vec<_> = arguments.iter().map(Unknown::raw).collect();
    let mut value = ptr::null_mut();
    // SAFETY: all are live handles of `env`, the length is that of `arguments`, and `value` is a
    // local. Node-API refuses a value that is no function.
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

/// Calls a function and ignores its result. An exception is dropped, and so is the rejection of a
/// promise that it returns: Node ends the process for a rejection that has no handler.
pub fn call_and_forget(env: &Env, function: Unknown<'_>, argument: Unknown<'_>) {
    let Ok(undefined) = to_js(env, ()) else { return };
    let Ok(returned) = call_function(env, undefined, function, &[argument]) else { return };
    if returned.get_type().is_ok_and(|kind| kind == ValueType::Object)
        && let Ok(ignore) = env.create_function_from_closure::<(), (), _>("ignore", |_| Ok(()))
        && let Ok(ignore) = to_js(env, ignore)
    {
        let _ = call_method(env, returned, c"then", &[undefined, ignore]);
    }
}

/// Clears the pending exception and returns it.
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

/// A strong reference to a JavaScript value: it outlives the call in which the value came.
///
/// It belongs to the thread of its environment.
pub struct Reference {
    env: sys::napi_env,
    environment: EnvironmentId,
    raw: sys::napi_ref,
    /// Whether the reference is to an array whose only element is the value. At `napi8` Node-API
    /// makes references to objects and functions alone.
    is_wrapped: bool,
}

impl Reference {
    pub fn new(env: &Env, value: Unknown<'_>) -> napi::Result<Self> {
        let environment = environment::id(env)?;
        let is_wrapped = !matches!(value.get_type()?, ValueType::Object | ValueType::Function);
        let kept = if is_wrapped { to_js(env, List(vec![value]))?.raw() } else { value.raw() };
        let mut reference = ptr::null_mut();
        // SAFETY: `kept` is a live handle of `env` and an object, and the out-pointer is a local.
        check(unsafe { sys::napi_create_reference(env.raw(), kept, 1, &raw mut reference) })?;
        Ok(Self { env: env.raw(), environment, raw: reference, is_wrapped })
    }

    pub fn value<'env>(&self, env: &'env Env) -> napi::Result<Unknown<'env>> {
        let mut value = ptr::null_mut();
        // SAFETY: `self.raw` is strong and lives as long as `self`. `self` is not `Send`, so this
        // is the environment's thread. The out-pointer is a local.
        check(unsafe { sys::napi_get_reference_value(env.raw(), self.raw, &raw mut value) })?;
        if self.is_wrapped {
            let array = value;
            // SAFETY: the call succeeded, so `array` is a handle; the out-pointer is a local.
            check(unsafe { sys::napi_get_element(env.raw(), array, 0, &raw mut value) })?;
        }
        // SAFETY: the call succeeded, so `value` is a handle of this environment and scope.
        Ok(unsafe { Unknown::from_raw_unchecked(env.raw(), value) })
    }
}

impl Drop for Reference {
    fn drop(&mut self) {
        // An environment that has ended has no references left to delete.
        if environment::is_live(self.environment) {
            // SAFETY: the environment is live, this is its thread (`Reference` holds raw pointers, so it is
            // not `Send`), and the reference was made in `new` and is deleted only here.
            unsafe { sys::napi_delete_reference(self.env, self.raw) };
        }
    }
}

/// Clears a pending exception: Node-API refuses most calls while there is one.
pub fn clear_exception(env: &Env) {
    let mut exception = ptr::null_mut();
    // SAFETY: the out-pointer is a local; without an exception this yields `undefined`.
    let _ = unsafe { sys::napi_get_and_clear_last_exception(env.raw(), &raw mut exception) };
}

/// Makes a JavaScript value.
pub fn to_js(env: &Env, value: impl ToNapiValue) -> napi::Result<Unknown<'_>> {
    value.into_unknown(env)
}

/// Memory is checked before a string of more bytes than this is made.
const LARGE: usize = 1 << 20;

impl ToNapiValue for JsText<'_> {
    unsafe fn to_napi_value(env: sys::napi_env, text: Self) -> napi::Result<sys::napi_value> {
        // Engines end the process when they have no memory for a large string.
        if text.bytes() > LARGE {
            memory::check(text.bytes())
                .map_err(|error| napi::Error::from_reason(error.to_string()))?;
        }
        let env = Env::from_raw(env);
        match text {
            Self::Latin1(bytes) => env.create_string_latin1(bytes),
            Self::Utf16(units) => env.create_string_utf16(units),
        }
        .map(|string| string.raw())
    }
}

/// Values that become an array. No setter is called that a program has put on `Array.prototype`, which napi-rs
/// does for a `Vec`.
pub struct List<T>(pub Vec<T>);

impl<T> FromIterator<T> for List<T> {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        Self(values.into_iter().collect())
    }
}

impl<T: ToNapiValue> ToNapiValue for List<T> {
    unsafe fn to_napi_value(env: sys::napi_env, list: Self) -> napi::Result<sys::napi_value> {
        let env = Env::from_raw(env);
        // No array has more elements.
        let length = u32::try_from(list.0.len())
            .map_err(|_| napi::Error::from_status(Status::InvalidArg))?;
        let mut array = Object::from_raw(env.raw(), env.create_array(length)?.raw());
        for (index, value) in (0..length).zip(list.0) {
            object::define_element(&env, &mut array, index, to_js(&env, value)?)?;
        }
        Ok(array.raw())
    }
}

/// A value that knows its JavaScript form.
pub trait IntoJs: 'static {
    /// Makes the form.
    fn into_js(self, env: &Env) -> napi::Result<Unknown<'_>>;
}

/// A value that becomes its JavaScript form when a call is answered with it.
pub struct Answer<T>(pub T);

impl<T: IntoJs> ToNapiValue for Answer<T> {
    unsafe fn to_napi_value(env: sys::napi_env, answer: Self) -> napi::Result<sys::napi_value> {
        answer.0.into_js(&Env::from_raw(env)).map(|value| value.raw())
    }
}

fn check(status: sys::napi_status) -> napi::Result<()> {
    match status {
        sys::Status::napi_ok => Ok(()),
        status => Err(napi::Error::from_status(Status::from(status))),
    }
}
