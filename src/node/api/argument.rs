//! An argument that a program passes, read without coercing any value.

use std::ffi::CStr;
use std::num::NonZeroU64;
use std::ops::RangeInclusive;
use std::time::Duration;

use napi::bindgen_prelude::{
    FromNapiValue, JsObjectValue, KeyCollectionMode, KeyConversion, KeyFilter, Object,
    Uint8ArraySlice, Unknown,
};
use napi::{Env, JsValue, ValueType};

use crate::argument::{
    ArgumentError, Got, LONGEST_PATH, SAFE_INTEGERS, integer_rule, positive_integer, too_long,
};
use crate::node::engine::object::{self, Keys, is_of};
use crate::node::engine::raw::{self, Reference, to_js};
use crate::node::engine::text::{self, Text};
use crate::node::engine::thrown::Thrown;

/// A value, and the name by which the caller knows it.
#[derive(Clone, Copy)]
pub struct Argument<'env> {
    env: &'env Env,
    name: &'static str,
    value: Unknown<'env>,
    kind: ValueType,
    /// Which properties count, where the value is an object.
    keys: Keys,
}

impl<'env> Argument<'env> {
    pub fn new(env: &'env Env, name: &'static str, value: Unknown<'env>) -> Self {
        let kind = value.get_type().unwrap_or(ValueType::Unknown);
        Self { env, name, value, kind, keys: Keys::OwnAndClasses }
    }

    /// The argument, unless it is `undefined` or `null`: both mean absent.
    pub fn present(self) -> Option<Self> {
        (!matches!(self.kind, ValueType::Undefined | ValueType::Null)).then_some(self)
    }

    /// Whether the argument is `undefined`.
    pub fn is_undefined(self) -> bool {
        self.kind == ValueType::Undefined
    }

    /// The name by which the caller knows it.
    pub fn name(self) -> &'static str {
        self.name
    }

    /// The same value by another name.
    pub fn named(self, name: &'static str) -> Self {
        Self { name, ..self }
    }

    pub fn value(self) -> Unknown<'env> {
        self.value
    }

    /// The argument if it is an object, and neither a function nor an array.
    pub fn object(self) -> Result<Self, ArgumentError> {
        if self.kind == ValueType::Object && !self.is_array() {
            return Ok(self);
        }
        Err(self.refuse("must be an object"))
    }

    /// The same object, of which only its own keys count: a model's arguments are JSON.
    pub fn with_own_keys_only(self) -> Self {
        Self { keys: Keys::Own, ..self }
    }

    fn read(self, key: &CStr) -> Result<Option<Unknown<'env>>, Option<Unknown<'env>>> {
        object::property(self.env, self.value, key, self.keys)
    }

    /// A property of the argument, which must be an object; `None` if it is absent. A getter may run.
    pub fn property(
        self,
        key: &'static CStr,
        name: &'static str,
    ) -> Result<Option<Self>, ArgumentError> {
        let value = self.read(key).map_err(|_| {
            ArgumentError::new(name, "could not be read: its getter threw", Got::Unsaid)
        })?;
        Ok(value.and_then(|value| Self::new(self.env, name, value).present()))
    }

    /// The properties of an object that the host's code returned. If a getter throws, the thrown
    /// value is kept, so that the host gets it as the error's `cause`.
    pub fn fields<const N: usize>(
        self,
        keys: [(&'static CStr, &'static str); N],
    ) -> Result<[Option<Self>; N], Thrown> {
        let mut fields = [None; N];
        for (field, (key, name)) in fields.iter_mut().zip(keys) {
            let value = self.read(key).map_err(|thrown| Thrown::keeping(self.env, thrown))?;
            *field = value.and_then(|value| Self::new(self.env, name, value).present());
        }
        Ok(fields)
    }

    /// A property, read by `read`, if it is there.
    pub fn optional<T>(
        self,
        key: &'static CStr,
        name: &'static str,
        read: impl FnOnce(Self) -> Result<T, ArgumentError>,
    ) -> Result<Option<T>, ArgumentError> {
        self.property(key, name)?.map(read).transpose()
    }

    /// Whether the argument is a string, however long.
    pub fn is_string(self) -> bool {
        self.kind == ValueType::String
    }

    /// A well-formed string of at most [`LONGEST_PATH`] bytes.
    pub fn unicode(self) -> Result<String, ArgumentError> {
        self.unicode_up_to(LONGEST_PATH)
    }

    /// A well-formed string of at most `limit` bytes of UTF-8.
    pub fn unicode_up_to(self, limit: usize) -> Result<String, ArgumentError> {
        self.well_formed(self.string_up_to(limit)?)
    }

    /// A well-formed string whose length has been looked at.
    pub fn unicode_of_known_length(self) -> Result<String, ArgumentError> {
        self.well_formed(self.text()?)
    }

    fn well_formed(self, text: Text) -> Result<String, ArgumentError> {
        match text {
            Text::Unicode(text) => Ok(text),
            Text::LoneSurrogate(_) => Err(lone_surrogate(self.name)),
        }
    }

    /// A string of at most [`LONGEST_PATH`] bytes.
    pub fn string(self) -> Result<Text, ArgumentError> {
        self.string_up_to(LONGEST_PATH)
    }

    /// A string of at most `limit` bytes of UTF-8. A longer one is refused by its length, before the
    /// engine copies it.
    pub fn string_up_to(self, limit: usize) -> Result<Text, ArgumentError> {
        // Each UTF-16 unit makes at least one byte.
        if self.utf16_len()? > limit {
            return Err(too_long(self.name, limit));
        }
        let text = self.text()?;
        if text.as_str().len() > limit { Err(too_long(self.name, limit)) } else { Ok(text) }
    }

    fn text(self) -> Result<Text, ArgumentError> {
        text::read(self.value).ok_or_else(|| self.refuse("could not be read"))
    }

    /// An array of at most `most` well-formed strings. Getters of its elements may run.
    pub fn strings(self, most: u32) -> Result<Vec<String>, ArgumentError> {
        if !self.is_array() {
            return Err(self.refuse("must be an array of strings"));
        }
        let length = self.array_length()?;
        if length > most {
            let rule = format!("must have no more than {most} elements");
            return Err(ArgumentError::new(self.name, rule, Got::number(length.into())));
        }
        let element = |index| {
            let text = self.element(index)?.unicode();
            text.map_err(|error| ArgumentError {
                rule: format!("[{index}] {}", error.rule),
                ..error
            })
        };
        (0..length).map(element).collect()
    }

    /// How many elements an array has.
    pub fn array_length(self) -> Result<u32, ArgumentError> {
        let length = raw::get_property(self.env, self.value, c"length");
        let length = length.and_then(|length| u32::from_unknown(length).ok());
        length.ok_or_else(|| self.unreadable())
    }

    /// An element of an array. Its getter may run.
    pub fn element(self, index: u32) -> Result<Self, ArgumentError> {
        let value = raw::get_element(self.env, self.value, index);
        let value = value.ok_or_else(|| self.unreadable())?;
        Ok(Self::new(self.env, self.name, value))
    }

    fn unreadable(self) -> ArgumentError {
        ArgumentError::new(self.name, "could not be read", Got::Unsaid)
    }

    /// A string, or an array of strings as [`Argument::strings`] reads it.
    pub fn string_or_strings(self, most: u32) -> Result<Vec<String>, ArgumentError> {
        if self.is_string() {
            return Ok(vec![self.unicode()?]);
        }
        if self.is_array() {
            return self.strings(most);
        }
        Err(self.refuse("must be a string or an array of strings"))
    }

    /// How many UTF-16 units a string has. The string is not copied.
    pub fn utf16_len(self) -> Result<usize, ArgumentError> {
        if !self.is_string() {
            return Err(self.refuse("must be a string"));
        }
        // Node-API's own call would have JavaScriptCore join the pieces of a concatenated string.
        let length = raw::get_property(self.env, self.value, c"length");
        let length = length.and_then(|length| u32::from_unknown(length).ok());
        length.map(|length| length as usize).ok_or_else(|| self.refuse("could not be read"))
    }

    pub fn boolean(self) -> Result<bool, ArgumentError> {
        match self.kind {
            ValueType::Boolean => bool::from_unknown(self.value).ok(),
            _ => None,
        }
        .ok_or_else(|| self.refuse("must be true or false"))
    }

    pub fn integer(self, range: &RangeInclusive<NonZeroU64>) -> Result<NonZeroU64, ArgumentError> {
        match self.kind {
            ValueType::Number => f64::from_unknown(self.value).ok(),
            _ => None,
        }
        .ok_or_else(|| self.refuse(integer_rule(range)))
        .and_then(|number| positive_integer(self.name, number, range))
    }

    /// An integer in a range that may begin with 0.
    pub fn integer_in(self, range: &RangeInclusive<u64>) -> Result<u64, ArgumentError> {
        self.size().ok().filter(|integer| range.contains(integer)).ok_or_else(|| {
            let (first, last) = (range.start(), range.end());
            self.refuse(format!("must be an integer >= {first} and <= {last}"))
        })
    }

    /// A size in bytes: an integer from 0 to 2^53 - 1.
    pub fn size(self) -> Result<u64, ArgumentError> {
        let zero = self.kind == ValueType::Number
            && f64::from_unknown(self.value).is_ok_and(|number| number == 0.0);
        if zero {
            return Ok(0);
        }
        self.integer(&SAFE_INTEGERS)
            .map(NonZeroU64::get)
            .map_err(|error| ArgumentError { rule: "must be an integer >= 0".to_owned(), ..error })
    }

    /// Bytes. They must be copied before JavaScript runs again, which may change them.
    pub fn bytes(self) -> Result<Uint8ArraySlice<'env>, ArgumentError> {
        Uint8ArraySlice::from_unknown(self.value).map_err(|_| self.refuse("must be a Uint8Array"))
    }

    /// Whether the argument is a function.
    pub fn is_function(self) -> bool {
        self.kind == ValueType::Function
    }

    /// Whether the argument, an object, has a method of that name, its own or inherited.
    pub fn has_method(self, name: &'static CStr) -> bool {
        self.read(name).ok().flatten().is_some_and(|method| is_of(method, ValueType::Function))
    }

    /// A reference to the value, which outlives this call.
    pub fn keep(self) -> Result<Reference, ArgumentError> {
        Reference::new(self.env, self.value).map_err(|_| self.refuse("could not be kept"))
    }

    /// The value that belongs to the string, which must be one of the names in `choices`.
    pub fn one_of<T: Copy>(self, choices: &[(&str, T)]) -> Result<T, ArgumentError> {
        let text = self.string().ok();
        let chosen = choices
            .iter()
            .find(|(name, _)| matches!(&text, Some(Text::Unicode(text)) if text.as_str() == *name));
        chosen.map(|(_, choice)| *choice).ok_or_else(|| {
            let names: Vec<_> = choices.iter().map(|(name, _)| format!("\"{name}\"")).collect();
            self.refuse(format!("must be {}", names.join(" or ")))
        })
    }

    /// The error of an argument that breaks a rule.
    pub fn refuse(self, rule: impl Into<String>) -> ArgumentError {
        ArgumentError::new(self.name, rule, self.got())
    }

    fn got(self) -> Got {
        Got::Kind(match self.kind {
            ValueType::Undefined => "undefined",
            ValueType::Null => "null",
            ValueType::Boolean => match bool::from_unknown(self.value) {
                Ok(true) => "true",
                _ => "false",
            },
            ValueType::Number => {
                let number = f64::from_unknown(self.value).unwrap_or(f64::NAN);
                return Got::number(number);
            }
            ValueType::String => "a string",
            ValueType::Symbol => "a symbol",
            ValueType::Function => "a function",
            ValueType::BigInt => "a bigint",
            ValueType::Object if self.is_array() => "an array",
            _ => "an object",
        })
    }

    /// The own enumerable properties of an object, at most `most` of them: names and values. `null` and `undefined`
    /// come as values, too. Getters may run.
    pub fn entries(self, most: u32) -> Result<Vec<(String, Self)>, ArgumentError> {
        let unreadable = || {
            raw::clear_exception(self.env);
            self.unreadable()
        };
        let object = Object::from_raw(self.env.raw(), self.object()?.value.raw());
        let class = self.env.get_global().and_then(|global| to_js(self.env, global));
        let class = class.ok().and_then(|global| raw::get_property(self.env, global, c"Object"));
        let class = class.ok_or_else(unreadable)?;
        let keys = raw::call_method(self.env, class, c"keys", &[self.value]);
        let keys = Self::new(self.env, self.name, keys.map_err(|_| unreadable())?);
        let length = keys.array_length()?;
        if length > most {
            let rule = format!("must have no more than {most} keys");
            return Err(ArgumentError::new(self.name, rule, Got::number(length.into())));
        }
        let entry = |index| {
            let key = keys.element(index)?;
            let value: Unknown<'env> = object.get_property(key.value).map_err(|_| unreadable())?;
            Ok((key.unicode()?, Self::new(self.env, self.name, value)))
        };
        (0..length).map(entry).collect()
    }

    /// Whether the argument, an object, has no keys of its own.
    pub fn is_empty(self) -> bool {
        self.keys().is_some_and(|keys| keys.is_empty())
    }

    /// The argument's own enumerable keys, if it is an object; `None` if they cannot be read.
    pub fn keys(self) -> Option<Vec<String>> {
        let object = Object::from_raw(self.env.raw(), self.value.raw());
        let keys = object.get_all_property_names(
            KeyCollectionMode::OwnOnly,
            // Symbols are no names of lists.
            KeyFilter::Enumerable,
            KeyConversion::NumbersToStrings,
        );
        if keys.is_err() {
            raw::clear_exception(self.env);
        }
        let keys = Self::new(self.env, self.name, keys.ok()?.to_unknown());
        let key = |index| keys.element(index).and_then(Self::unicode);
        let length = keys.array_length().ok()?;
        // A key that is no text is some other key.
        Some((0..length).map(|index| key(index).unwrap_or_default()).collect())
    }

    /// Whether it is an object as `{}` makes it, in whatever realm: without a prototype, or with one that has none.
    pub fn is_plain_object(self) -> bool {
        let prototype = |value: Unknown<'env>| {
            let prototype = Object::from_raw(self.env.raw(), value.raw()).get_prototype().ok()?;
            Some(Self::new(self.env, self.name, prototype))
        };
        let Some(first) = prototype(self.value) else { return false };
        first.kind == ValueType::Null
            || prototype(first.value).is_some_and(|second| second.kind == ValueType::Null)
    }

    pub fn is_array(self) -> bool {
        self.kind == ValueType::Object
            && Object::from_raw(self.env.raw(), self.value.raw()).is_array().unwrap_or(false)
    }
}

/// A count or a size as JavaScript's number.
#[allow(
    clippy::cast_precision_loss,
    reason = "what a file, a buffer or a JavaScript number can hold; none comes near 2^53"
)]
pub fn number(count: u64) -> f64 {
    count as f64
}

/// A time in whole milliseconds as JavaScript's number.
pub fn milliseconds(time: Duration) -> f64 {
    number(u64::try_from(time.as_millis()).unwrap_or(u64::MAX))
}

/// The error of a string with a lone surrogate, which no file name and no UTF-8 file can hold.
pub fn lone_surrogate(name: &'static str) -> ArgumentError {
    ArgumentError::new(name, "must be well-formed Unicode, without lone surrogates", Got::Unsaid)
}
