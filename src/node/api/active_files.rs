//! ActiveFiles: whether the host has a document in context. Hosts keep them in collections of any kind.

use std::ffi::CStr;

use napi::bindgen_prelude::{FromNapiValue, JsObjectValue, Object, Unknown};
use napi::{Env, JsValue, ValueType};

use super::argument::Argument;
use crate::argument::{ArgumentError, Got};
use crate::node::engine::object::is_of;
use crate::node::engine::raw::{self, to_js};

/// Whether `path` is a key of an object or a Map, or an element of an array or a Set: exact, and
/// case-sensitive. Inherited properties are not keys.
///
/// A value of any other kind is refused: if an unknown collection counted as an empty one, a stale document
/// would be read.
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

/// `None` if the value is no collection of `DocPath`s.
fn ask(env: &Env, collection: Unknown<'_>, path: &str) -> napi::Result<Option<bool>> {
    // JavaScript's `isArray` looks through a Proxy; that of Node-API does not.
    if call_static(env, c"Array", c"isArray", collection)? {
        return is_element(env, collection, path);
    }
    // Each `has` accepts its own kind, also of another realm, and throws for any other.
    let of_class = call_builtin(env, c"Map", c"has", collection, path)
        .or_else(|_| call_builtin(env, c"Set", c"has", collection, path));
    if let Ok(has) = of_class {
        return Ok(Some(has));
    }
    // Reactive frameworks wrap a Map or Set into an object that has the same methods.
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
        if !is_of(element, ValueType::String) {
            return Ok(None);
        }
    }
    call_builtin(env, c"Array", c"includes", array, path).map(Some)
}

fn is_iterable(env: &Env, object: Unknown<'_>) -> napi::Result<bool> {
    let symbols = global(env, c"Symbol")?;
    let iterator = raw::get_property(env, symbols, c"iterator").ok_or_else(failed)?;
    let method: Unknown<'_> = Object::from_raw(env.raw(), object.raw()).get_property(iterator)?;
    Ok(is_of(method, ValueType::Function))
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

/// Calls the method of a built-in class, which an object's own method of that name does not replace.
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
