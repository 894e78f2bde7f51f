//! ActiveFiles: whether the host has a document in context, in whatever it keeps them.

use std::ffi::CStr;

use napi::bindgen_prelude::{FromNapiValue, JsObjectValue, Object, Unknown};
use napi::{Env, JsValue, ValueType};

use super::raw::{self, to_js};
use super::value::Argument;
use crate::argument::{ArgumentError, Got};

/// Whether `path` is a key of an object or a Map, or an element of an array or a Set: exact, and
/// case-sensitive. What an object inherits is none of its keys.
///
/// What is none of these is refused: an unknown collection must not count as an empty one, for then
/// a stale document would be read.
pub(super) fn is_active(
    env: &Env,
    active_files: Argument<'_>,
    path: &str,
) -> Result<bool, ArgumentError> {
    let object = if active_files.is_array() {
        active_files
    } else {
        active_files.object().map_err(|_| active_files.refuse(RULE))?
    };
    let asked = ask(env, object.value(), path);
    raw::clear_exception(env);
    let unreadable = |_| ArgumentError::new("activeFiles", "could not be asked", Got::Unsaid);
    asked.map_err(unreadable)?.ok_or_else(|| object.refuse(RULE))
}

const RULE: &str = "must be an object or Map keyed by DocPath, or an array or Set of DocPaths";

/// `None` if it is no collection of `DocPath`s.
fn ask(env: &Env, collection: Unknown<'_>, path: &str) -> napi::Result<Option<bool>> {
    // Node-API takes no Proxy for an array; JavaScript does.
    if call_static(env, c"Array", c"isArray", collection)? {
        return is_element(env, collection, path);
    }
    // Each `has` knows its own kind, wherever that was made, and throws for the other.
    let of_class = call_builtin(env, c"Map", c"has", collection, path)
        .or_else(|_| call_builtin(env, c"Set", c"has", collection, path));
    if let Ok(has) = of_class {
        return Ok(Some(has));
    }
    // A Map or Set that is wrapped, as reactive frameworks do it, answers by itself.
    let argument = Argument::new(env, "activeFiles", collection);
    if argument.has_method(c"has") {
        let has = raw::call_method(env, collection, c"has", &[to_js(env, path)?]);
        return bool::from_unknown(has.map_err(|_| failed())?).map(Some);
    }
    if is_iterable(env, collection)? {
        return Ok(None);
    }
    Object::from_raw(env.raw(), collection.raw()).has_own_property(path).map(Some)
}

/// `None` if an element is no string.
fn is_element(env: &Env, array: Unknown<'_>, path: &str) -> napi::Result<Option<bool>> {
    let object = Object::from_raw(env.raw(), array.raw());
    let length = raw::get_property(env, array, c"length").ok_or_else(failed)?;
    for index in 0..u32::from_unknown(length)? {
        let element: Unknown<'_> = object.get_element(index)?;
        if element.get_type()? != ValueType::String {
            return Ok(None);
        }
    }
    call_builtin(env, c"Array", c"includes", array, path).map(Some)
}

fn is_iterable(env: &Env, object: Unknown<'_>) -> napi::Result<bool> {
    let symbols = global(env, c"Symbol")?;
    let iterator = raw::get_property(env, symbols, c"iterator").ok_or_else(failed)?;
    let method: Unknown<'_> = Object::from_raw(env.raw(), object.raw()).get_property(iterator)?;
    Ok(method.get_type()? == ValueType::Function)
}

fn failed() -> napi::Error {
    napi::Error::from_reason("activeFiles could not be asked")
}

fn global<'env>(env: &'env Env, name: &CStr) -> napi::Result<Unknown<'env>> {
    raw::get_property(env, to_js(env, env.get_global()?)?, name).ok_or_else(failed)
}

fn call_static(
    env: &Env,
    class: &CStr,
    function: &CStr,
    argument: Unknown<'_>,
) -> napi::Result<bool> {
    let answer = raw::call_method(env, global(env, class)?, function, &[argument]);
    bool::from_unknown(answer.map_err(|_| failed())?)
}

/// Calls the method that a built-in class has, which no object can shadow.
fn call_builtin(
    env: &Env,
    class: &CStr,
    method: &CStr,
    collection: Unknown<'_>,
    path: &str,
) -> napi::Result<bool> {
    let class = global(env, class)?;
    let prototype = raw::get_property(env, class, c"prototype").ok_or_else(failed)?;
    let method = raw::get_property(env, prototype, method).ok_or_else(failed)?;
    let answer = raw::call_function(env, collection, method, &[to_js(env, path)?]);
    bool::from_unknown(answer.map_err(|_| failed())?)
}
