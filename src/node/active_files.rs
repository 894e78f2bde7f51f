//! ActiveFiles: whether the host has a document in context, in whatever it keeps them.

use napi::bindgen_prelude::{FromNapiValue, JsObjectValue, Object, Unknown};
use napi::{Env, JsValue};

use super::raw::{self, to_js};
use super::value::Argument;
use crate::argument::{ArgumentError, Got};

/// Whether `path` is a key of an object or a Map, or an element of an array or a Set: exact, and
/// case-sensitive. What an object inherits is none of its keys.
pub(super) fn is_active(
    env: &Env,
    active_files: Argument<'_>,
    path: &str,
) -> Result<bool, ArgumentError> {
    let rule = "must be an object or Map keyed by DocPath, or an array or Set of DocPaths";
    let unreadable = |_| ArgumentError::new("activeFiles", "could not be asked", Got::Unsaid);
    let asked = if active_files.is_array() {
        ask(env, c"Array", c"includes", active_files.value(), path)
    } else {
        let object = active_files.object().map_err(|_| active_files.refuse(rule))?.value();
        // Each `has` knows its own kind, wherever that was made, and throws for the other.
        ask(env, c"Map", c"has", object, path)
            .or_else(|_| ask(env, c"Set", c"has", object, path))
            .or_else(|_| has_own(env, object, path))
    };
    asked.map_err(unreadable)
}

/// Calls the method that a built-in class has, which no object can shadow.
fn ask(
    env: &Env,
    class: &std::ffi::CStr,
    method: &std::ffi::CStr,
    collection: Unknown<'_>,
    path: &str,
) -> napi::Result<bool> {
    let failed = || napi::Error::from_reason("");
    let global = to_js(env, env.get_global()?)?;
    let class = raw::get_property(env, global, class).ok_or_else(failed)?;
    let prototype = raw::get_property(env, class, c"prototype").ok_or_else(failed)?;
    let method = raw::get_property(env, prototype, method).ok_or_else(failed)?;
    let path = to_js(env, path)?;
    let answer = raw::call_function(env, collection, method, &[path]).map_err(|_| failed())?;
    bool::from_unknown(answer)
}

fn has_own(env: &Env, object: Unknown<'_>, path: &str) -> napi::Result<bool> {
    let object = Object::from_raw(env.raw(), object.raw());
    let answer = object.has_own_property(path);
    raw::clear_exception(env);
    answer
}
