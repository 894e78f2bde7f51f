//! Reading the properties of an object that a program passes, and making objects.
//!
//! A property that only `Object.prototype` has counts as absent: any code in the program can put one
//! there, and the caller did not write it.

use std::ffi::CStr;

use napi::bindgen_prelude::{JsObjectValue, Object, Unknown};
use napi::{Env, JsValue, Property, PropertyAttributes, ValueType};

use super::raw;

/// Which of an object's properties count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keys {
    /// Its own alone, as in JSON.
    Own,
    /// Its own and those of its classes, but not those of `Object.prototype`.
    OwnAndClasses,
}

/// A property's value; `None` if it is absent or `undefined`. The error is the value that its
/// getter threw.
pub fn property<'env>(
    env: &'env Env,
    object: Unknown<'env>,
    key: &CStr,
    keys: Keys,
) -> Result<Option<Unknown<'env>>, Option<Unknown<'env>>> {
    let value = raw::property_or_thrown(env, object, key);
    if value.as_ref().is_ok_and(|value| is_of(*value, ValueType::Undefined)) {
        return Ok(None);
    }
    let counts = key.to_str().is_ok_and(|key| counts(env, object, key, keys));
    // A proxy's trap may have thrown.
    raw::clear_exception(env);
    if counts { value.map(Some) } else { Ok(None) }
}

/// What an assignment makes.
const ORDINARY: PropertyAttributes = PropertyAttributes::Writable
    .union(PropertyAttributes::Enumerable)
    .union(PropertyAttributes::Configurable);

/// Makes a plain object with these keys, in order. No setter that a program has put on
/// `Object.prototype` is called.
pub fn plain<'env>(
    env: &'env Env,
    fields: &[(&'static str, Unknown<'env>)],
) -> napi::Result<Unknown<'env>> {
    let mut object = Object::new(env)?;
    define(&mut object, fields)?;
    raw::to_js(env, object)
}

/// Defines ordinary properties of an object. No setter that a program has put on `Object.prototype` is
/// called.
pub fn define(object: &mut Object<'_>, fields: &[(&'static str, Unknown<'_>)]) -> napi::Result<()> {
    let properties: napi::Result<Vec<_>> = fields
        .iter()
        .map(|(key, value)| {
            let property = Property::new().with_utf8_name(key)?.with_value(value);
            Ok(property.with_property_attributes(ORDINARY))
        })
        .collect();
    object.define_properties(&properties?)
}

/// Defines an element that an array lacks. No setter that a program has put on `Array.prototype` is called.
pub fn define_element(
    env: &Env,
    array: &mut Object<'_>,
    index: u32,
    value: Unknown<'_>,
) -> napi::Result<()> {
    // To set an element is faster than to define it. What the array seems to have already comes from a
    // prototype; a proxy among those may throw.
    if array.has_element(index).is_ok_and(|has| !has) {
        return array.set_element(index, value);
    }
    raw::clear_exception(env);
    let property = Property::new().with_utf8_name(&index.to_string())?.with_value(&value);
    array.define_properties(&[property.with_property_attributes(ORDINARY)])
}

/// Whether a value is of a type, as `typeof` tells it.
pub fn is_of(value: Unknown<'_>, kind: ValueType) -> bool {
    value.get_type().is_ok_and(|found| found == kind)
}

/// How many classes of an object are searched for a property.
const MAX_CLASSES: usize = 100;

/// Whether a property that the object has, its own or inherited, is one that counts.
fn counts(env: &Env, object: Unknown<'_>, key: &str, keys: Keys) -> bool {
    let mut holder = Object::from_raw(env.raw(), object.raw());
    for depth in 0..MAX_CLASSES {
        // A proxy that does not answer is taken at its word: it has given a value.
        let Ok(has) = holder.has_own_property(key) else { return true };
        if has {
            let is_own = depth == 0;
            return is_own || (keys == Keys::OwnAndClasses && !is_object_prototype(&holder));
        }
        let Ok(prototype) = holder.get_prototype() else { return true };
        if !is_of(prototype, ValueType::Object) {
            break;
        }
        holder = Object::from_raw(env.raw(), prototype.raw());
    }
    keys == Keys::OwnAndClasses
}

/// Whether this is an `Object.prototype`, of this realm or of another: it inherits from nothing and
/// has these methods.
fn is_object_prototype(object: &Object<'_>) -> bool {
    let inherits_nothing =
        object.get_prototype().is_ok_and(|prototype| is_of(prototype, ValueType::Null));
    let has = |name: &str| object.has_own_property(name).unwrap_or(false);
    inherits_nothing && has("hasOwnProperty") && has("isPrototypeOf")
}
