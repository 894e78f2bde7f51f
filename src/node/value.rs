//! Reading JavaScript values without coercing any.

use std::ffi::CStr;
use std::num::NonZeroU64;
use std::ops::RangeInclusive;

use napi::bindgen_prelude::{FromNapiValue, Uint8ArraySlice, Unknown};
use napi::{Env, JsString, JsValue, ValueType};

use super::dialogue::Thrown;
use super::raw::{self, Kept};
use crate::argument::{ArgumentError, Got, SAFE_INTEGERS, integer_rule, positive_integer};

/// A value together with the name that its caller knows it by.
#[derive(Clone, Copy)]
pub(super) struct Argument<'env> {
    env: &'env Env,
    name: &'static str,
    value: Unknown<'env>,
    kind: ValueType,
}

/// A JavaScript string in Rust's terms.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Text {
    /// Well-formed.
    Unicode(String),
    /// It holds a lone surrogate, shown here as U+FFFD: no file name and no file can hold it.
    LoneSurrogate(String),
}

impl Text {
    /// The text, lone surrogates shown as U+FFFD.
    pub(super) fn as_str(&self) -> &str {
        match self {
            Self::Unicode(text) | Self::LoneSurrogate(text) => text,
        }
    }
}

impl<'env> Argument<'env> {
    pub(super) fn new(env: &'env Env, name: &'static str, value: Unknown<'env>) -> Self {
        let kind = value.get_type().unwrap_or(ValueType::Unknown);
        Self { env, name, value, kind }
    }

    /// The argument, unless it is `undefined` or `null`: both mean absent.
    pub(super) fn present(self) -> Option<Self> {
        (!matches!(self.kind, ValueType::Undefined | ValueType::Null)).then_some(self)
    }

    /// The name that its caller knows it by.
    pub(super) fn name(self) -> &'static str {
        self.name
    }

    pub(super) fn value(self) -> Unknown<'env> {
        self.value
    }

    /// The argument if it is an object, and neither a function nor an array.
    pub(super) fn object(self) -> Result<Self, ArgumentError> {
        if self.kind == ValueType::Object && !self.is_array() {
            return Ok(self);
        }
        Err(self.refuse("must be an object"))
    }

    /// A property of the argument, which must be an object. A getter may run, and may throw.
    pub(super) fn property(
        self,
        key: &'static CStr,
        name: &'static str,
    ) -> Result<Option<Self>, ArgumentError> {
        let value = raw::get_property(self.env, self.value, key).ok_or_else(|| {
            ArgumentError::new(name, "could not be read: its getter threw", Got::Unsaid)
        })?;
        Ok(Self::new(self.env, name, value).present())
    }

    /// The properties of an object that a host answered, in order; what a getter throws is the
    /// host's own fault, and kept for it.
    pub(super) fn fields<const N: usize>(
        self,
        keys: [(&'static CStr, &'static str); N],
    ) -> Result<[Option<Self>; N], Thrown> {
        let mut fields = [None; N];
        for (field, (key, name)) in fields.iter_mut().zip(keys) {
            let value = raw::property_or_thrown(self.env, self.value, key)
                .map_err(|thrown| Thrown::keeping(self.env, thrown))?;
            *field = Self::new(self.env, name, value).present();
        }
        Ok(fields)
    }

    /// A property read by `read`, if it is there.
    pub(super) fn optional<T>(
        self,
        key: &'static CStr,
        name: &'static str,
        read: impl FnOnce(Self) -> Result<T, ArgumentError>,
    ) -> Result<Option<T>, ArgumentError> {
        self.property(key, name)?.map(read).transpose()
    }

    /// A string that a file, or its name, can hold.
    pub(super) fn unicode(self) -> Result<String, ArgumentError> {
        match self.string()? {
            Text::Unicode(text) => Ok(text),
            Text::LoneSurrogate(_) => Err(lone_surrogate(self.name)),
        }
    }

    pub(super) fn string(self) -> Result<Text, ArgumentError> {
        if self.kind != ValueType::String {
            return Err(self.refuse("must be a string"));
        }
        read_text(self.value).ok_or_else(|| self.refuse("could not be read"))
    }

    /// How many UTF-16 units a string has, without a copy of it.
    pub(super) fn utf16_len(self) -> Result<usize, ArgumentError> {
        if self.kind != ValueType::String {
            return Err(self.refuse("must be a string"));
        }
        let length = JsString::from_unknown(self.value).and_then(|string| string.utf16_len());
        length.map_err(|_| self.refuse("could not be read"))
    }

    pub(super) fn boolean(self) -> Result<bool, ArgumentError> {
        match self.kind {
            ValueType::Boolean => bool::from_unknown(self.value).ok(),
            _ => None,
        }
        .ok_or_else(|| self.refuse("must be true or false"))
    }

    pub(super) fn integer(
        self,
        range: &RangeInclusive<NonZeroU64>,
    ) -> Result<NonZeroU64, ArgumentError> {
        match self.kind {
            ValueType::Number => f64::from_unknown(self.value).ok(),
            _ => None,
        }
        .ok_or_else(|| self.refuse(integer_rule(range)))
        .and_then(|number| positive_integer(self.name, number, range))
    }

    /// A size in bytes: an integer from 0 to 2^53 - 1.
    pub(super) fn size(self) -> Result<u64, ArgumentError> {
        let zero = self.kind == ValueType::Number
            && f64::from_unknown(self.value).is_ok_and(|number| number == 0.0);
        if zero {
            return Ok(0);
        }
        self.integer(&SAFE_INTEGERS)
            .map(NonZeroU64::get)
            .map_err(|error| ArgumentError { rule: "must be an integer >= 0".to_owned(), ..error })
    }

    /// Bytes, to be copied before JavaScript runs again.
    pub(super) fn bytes(self) -> Result<Uint8ArraySlice<'env>, ArgumentError> {
        Uint8ArraySlice::from_unknown(self.value).map_err(|_| self.refuse("must be a Uint8Array"))
    }

    /// Whether the argument is a function.
    pub(super) fn is_function(self) -> bool {
        self.kind == ValueType::Function
    }

    /// Whether the argument, an object, has a method of that name, its own or inherited.
    pub(super) fn has_method(self, name: &CStr) -> bool {
        let method = raw::get_property(self.env, self.value, name);
        method.is_some_and(|method| method.get_type().is_ok_and(|kind| kind == ValueType::Function))
    }

    /// The value, for later than this call.
    pub(super) fn keep(self) -> Result<Kept, ArgumentError> {
        Kept::new(self.env, self.value).map_err(|_| self.refuse("could not be kept"))
    }

    /// One of a few strings.
    pub(super) fn one_of<T: Copy>(self, choices: &[(&str, T)]) -> Result<T, ArgumentError> {
        let text = match self.kind {
            ValueType::String => read_text(self.value),
            _ => None,
        };
        let chosen = choices
            .iter()
            .find(|(name, _)| matches!(&text, Some(Text::Unicode(text)) if text.as_str() == *name));
        chosen.map(|(_, choice)| *choice).ok_or_else(|| {
            let names: Vec<_> = choices.iter().map(|(name, _)| format!("\"{name}\"")).collect();
            self.refuse(format!("must be {}", names.join(" or ")))
        })
    }

    /// The error of an argument that breaks a rule.
    pub(super) fn refuse(self, rule: impl Into<String>) -> ArgumentError {
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

    pub(super) fn is_array(self) -> bool {
        self.kind == ValueType::Object
            && napi::bindgen_prelude::Object::from_raw(self.env.raw(), self.value.raw())
                .is_array()
                .unwrap_or(false)
    }
}

/// A count or a size as JavaScript's number.
#[allow(
    clippy::cast_precision_loss,
    reason = "what a file, a buffer or a JavaScript number can hold; none comes near 2^53"
)]
pub(super) fn number(count: u64) -> f64 {
    count as f64
}

/// The error of a string that no file name and no file can hold.
pub(super) fn lone_surrogate(name: &'static str) -> ArgumentError {
    ArgumentError::new(name, "must be well-formed Unicode, without lone surrogates", Got::Unsaid)
}

/// Reads a string; `None` if the engine fails, as it does for strings that no memory can hold.
fn read_text(value: Unknown<'_>) -> Option<Text> {
    let string = JsString::from_unknown(value).ok()?;
    let utf8 = string.into_utf8().ok()?.into_owned().ok()?;
    // Engines write U+FFFD for a lone surrogate; only the UTF-16 form tells it from a real one.
    if utf8.contains(char::REPLACEMENT_CHARACTER) {
        let utf16 = string.into_utf16().ok()?;
        if String::from_utf16(utf16.as_slice()).is_err() {
            return Some(Text::LoneSurrogate(utf8));
        }
    }
    Some(Text::Unicode(utf8))
}
