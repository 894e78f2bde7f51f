//! `Error` objects with a name, a code and a stack of their own.

use napi::bindgen_prelude::{JsObjectValue, Null, Object, Unknown};
use napi::{Env, JsValue, PropertyAttributes, Status, ValueType};

use super::object::{define, is_of, plain};
use super::raw::{self, List, Reference, to_js};
use super::text;

/// The parts of an `Error` object.
pub struct ErrorObject<'a> {
    /// The class-like `name`.
    pub name: &'static str,
    /// The whole message.
    pub message: &'a str,
    /// The enumerable properties, in order.
    pub properties: Vec<(&'static str, Property)>,
    /// The `cause`, if there is one.
    pub cause: Option<Reference>,
}

/// The value of a property of an error.
pub enum Property {
    /// A number.
    Number(f64),
    /// A string.
    Text(String),
    /// `null`.
    Null,
    /// An object with these properties.
    Object(Vec<(&'static str, Property)>),
    /// An array.
    List(Vec<Property>),
}

impl From<String> for Property {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl ErrorObject<'_> {
    /// Makes the object.
    pub fn make(self, env: &Env) -> napi::Result<Unknown<'_>> {
        let Self { name, message, properties, cause } = self;
        let mut object = env.create_error(napi::Error::new(Status::GenericFailure, message))?;
        define_hidden(&mut object, "name", to_js(env, name)?)?;
        if lacks_stack(env, &object)? {
            // Bun gives no stack to an error that is made while no JavaScript runs, and programs
            // that print errors expect one.
            define_hidden(&mut object, "stack", to_js(env, format!("{name}: {message}"))?)?;
        }
        if let Some(cause) = cause {
            define_hidden(&mut object, "cause", cause.value(env)?)?;
        }
        let properties: napi::Result<Vec<_>> =
            properties.into_iter().map(|(key, value)| Ok((key, value.into_js(env)?))).collect();
        define(&mut object, &properties?)?;
        to_js(env, object)
    }
}

impl Property {
    fn into_js(self, env: &Env) -> napi::Result<Unknown<'_>> {
        match self {
            Self::Number(number) => to_js(env, number),
            Self::Text(text) => to_js(env, text),
            Self::Null => to_js(env, Null),
            Self::Object(fields) => {
                let fields: napi::Result<Vec<_>> =
                    fields.into_iter().map(|(key, value)| Ok((key, value.into_js(env)?))).collect();
                plain(env, &fields?)
            }
            Self::List(values) => {
                let values: napi::Result<List<_>> =
                    values.into_iter().map(|value| value.into_js(env)).collect();
                to_js(env, values?)
            }
        }
    }
}

/// Defines a property as the built-in errors have `name` and `message`: not enumerable.
fn define_hidden(object: &mut Object<'_>, name: &str, value: Unknown<'_>) -> napi::Result<()> {
    let attributes = PropertyAttributes::Writable | PropertyAttributes::Configurable;
    let property = napi::Property::new().with_utf8_name(name)?;
    object.define_properties(&[property.with_value(&value).with_property_attributes(attributes)])
}

/// Whether an error has no stack.
///
/// Where a program's `Error.prepareStackTrace` throws, the stack cannot be read, and this says `false`:
/// defining another stack would have V8 ask the hook again, and its exception would leave the call.
fn lacks_stack(env: &Env, error: &Object<'_>) -> napi::Result<bool> {
    let stack = raw::get_property(env, to_js(env, error)?, c"stack");
    Ok(stack.is_some_and(|stack| is_of(stack, ValueType::Undefined)))
}

/// The stack of a call that returns a promise. An error that is made after the worker has finished has
/// no frame of the caller, so it gets these.
pub struct CallerStack(Reference);

impl CallerStack {
    /// Captures the stack, which takes some microseconds. Engines make text of it when it is read.
    pub fn capture(env: &Env) -> Option<Self> {
        let error = env.create_error(napi::Error::new(Status::GenericFailure, "")).ok()?;
        Reference::new(env, to_js(env, error).ok()?).ok().map(Self)
    }

    /// Puts the caller's frames into the stack of an error.
    pub fn put_on(&self, env: &Env, error: Unknown<'_>) {
        if self.try_put_on(env, error).is_none() {
            raw::clear_exception(env);
        }
    }

    fn try_put_on(&self, env: &Env, error: Unknown<'_>) -> Option<()> {
        let read = |object, key| text::read(raw::get_property(env, object, key)?);
        let stack = read(self.0.value(env).ok()?, c"stack")?;
        let frames = &stack.as_str()[stack.as_str().find("\n    at ")?..];
        let (name, message) = (read(error, c"name")?, read(error, c"message")?);
        let stack = format!("{}: {}{frames}", name.as_str(), message.as_str());
        let mut error = Object::from_raw(env.raw(), error.raw());
        define_hidden(&mut error, "stack", to_js(env, stack).ok()?).ok()
    }
}
