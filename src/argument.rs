//! The error of a wrong argument: its name, the rule that it breaks, and the value that came.
//!
//! Integers are checked here because the binding generator coerces: Node-API turns -1 into
//! 4294967295 and 1.7 into 1.

use std::fmt;
use std::num::NonZeroU64;
use std::ops::RangeInclusive;

/// The largest integer a JavaScript number holds exactly: 2^53 - 1.
pub const MAX_SAFE_INTEGER: u64 = (1 << 53) - 1;

/// The positive integers that a JavaScript number holds exactly.
pub const SAFE_INTEGERS: RangeInclusive<NonZeroU64> = positive_up_to(MAX_SAFE_INTEGER);

/// The integers from 1 to `last`.
///
/// # Panics
///
/// If `last` is 0.
#[must_use]
#[allow(clippy::unwrap_used, reason = "evaluated by the compiler, which would say so")]
pub const fn positive_up_to(last: u64) -> RangeInclusive<NonZeroU64> {
    NonZeroU64::MIN..=NonZeroU64::new(last).unwrap()
}

/// The longest path, `DocPath`, root or id that is read, in bytes of UTF-8: 64 KiB. No system has longer
/// paths, and refusing one by its length costs nothing.
pub const LONGEST_PATH: usize = 64 << 10;

/// The longest URI that is parsed, in bytes of UTF-8: 1 MiB. Each byte of a path may be escaped.
pub const LONGEST_URI: usize = 1 << 20;

/// The longest JSON text of arguments that is parsed, in bytes of UTF-8: 16 MiB.
pub const LONGEST_JSON: usize = 16 << 20;

/// The error of a string that is longer than its limit in bytes.
#[must_use]
pub fn too_long(name: &'static str, limit: usize) -> ArgumentError {
    let (size, unit) =
        if limit.is_multiple_of(1 << 20) { (limit >> 20, "MiB") } else { (limit >> 10, "KiB") };
    ArgumentError::new(name, format!("must not be longer than {size} {unit}"), Got::Unsaid)
}

/// An argument that breaks its rule.
///
/// Its text reads `start_line must be an integer >= 1, got -1`, or `exclude[2] must be …` for a rule that begins
/// with the index of an element. It never quotes a string, which might be
/// a path.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{name}{}{rule}{got}", if .rule.starts_with('[') { "" } else { " " })]
pub struct ArgumentError {
    /// The argument, as the caller spells it.
    pub name: &'static str,
    /// The rule it breaks: `must be …`.
    pub rule: String,
    /// The value that came, if that says more than the rule.
    pub got: Got,
}

/// The value that came instead of a legal argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Got {
    /// The rule is enough.
    Unsaid,
    /// A number, as JavaScript prints it.
    Number(String),
    /// A value of another kind, with its article: `a string`, `null`.
    Kind(&'static str),
}

impl fmt::Display for Got {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unsaid => Ok(()),
            Self::Number(number) => write!(f, ", got {number}"),
            Self::Kind(kind) => write!(f, ", got {kind}"),
        }
    }
}

impl ArgumentError {
    /// An argument whose kind or value is wrong.
    #[must_use]
    pub fn new(name: &'static str, rule: impl Into<String>, got: Got) -> Self {
        Self { name, rule: rule.into(), got }
    }
}

impl Got {
    /// A number as JavaScript prints it.
    #[must_use]
    pub fn number(number: f64) -> Self {
        Self::Number(js_number(number))
    }
}

/// Reads a positive integer from a JavaScript number: 2.0 is 2, and 1.5, NaN and infinities are
/// refused.
///
/// # Errors
///
/// [`ArgumentError`] with the range as the rule. A range that ends at [`MAX_SAFE_INTEGER`] is
/// named by its lower bound alone.
pub fn positive_integer(
    name: &'static str,
    number: f64,
    range: &RangeInclusive<NonZeroU64>,
) -> Result<NonZeroU64, ArgumentError> {
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        clippy::float_cmp,
        reason = "2^53 - 1 at most on either side: exact, or out of range and refused"
    )]
    let integer = Some(number as u64).filter(|&integer| integer as f64 == number);
    integer
        .and_then(NonZeroU64::new)
        .filter(|integer| range.contains(integer))
        .ok_or_else(|| ArgumentError::new(name, integer_rule(range), Got::number(number)))
}

/// The rule of an integer argument, in words.
#[must_use]
pub fn integer_rule(range: &RangeInclusive<NonZeroU64>) -> String {
    let (from, to) = (range.start(), range.end());
    if to.get() == MAX_SAFE_INTEGER {
        format!("must be an integer >= {from}")
    } else {
        format!("must be an integer >= {from} and <= {to}")
    }
}

/// A number as JavaScript prints it (ECMA-262, `Number::toString`).
fn js_number(number: f64) -> String {
    match number.abs() {
        0.0 => "0".to_owned(),
        f64::INFINITY => if number > 0.0 { "Infinity" } else { "-Infinity" }.to_owned(),
        1e-6..1e21 => number.to_string(),
        _ if number.is_nan() => "NaN".to_owned(),
        _ => {
            let text = format!("{number:e}");
            if text.contains("e-") { text } else { text.replace('e', "e+") }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const LINES: RangeInclusive<NonZeroU64> = positive_up_to(500);
    const ANY: RangeInclusive<NonZeroU64> = SAFE_INTEGERS;

    fn nonzero(number: u64) -> NonZeroU64 {
        number.try_into().unwrap()
    }

    #[test]
    fn whole_floats_are_integers() {
        assert_eq!(positive_integer("max_lines", 2.0, &LINES), Ok(nonzero(2)));
        assert_eq!(
            positive_integer("start_line", 9_007_199_254_740_991.0, &ANY),
            Ok(nonzero(MAX_SAFE_INTEGER))
        );
    }

    #[test]
    fn nothing_is_coerced() {
        for number in [
            0.0,
            -0.0,
            -1.0,
            1.5,
            f64::NAN,
            f64::INFINITY,
            f64::NEG_INFINITY,
            501.0,
            4_294_967_297.0,
            1e300,
        ] {
            assert!(positive_integer("max_lines", number, &LINES).is_err(), "{number}");
        }
        assert!(positive_integer("start_line", 9_007_199_254_740_992.0, &ANY).is_err());
    }

    #[test]
    fn the_message_names_the_argument_the_rule_and_what_came() {
        let message =
            |number, range| positive_integer("start_line", number, range).unwrap_err().to_string();
        assert_eq!(message(-1.0, &ANY), "start_line must be an integer >= 1, got -1");
        assert_eq!(
            message(501.0, &LINES),
            "start_line must be an integer >= 1 and <= 500, got 501"
        );
        assert_eq!(message(f64::NAN, &ANY), "start_line must be an integer >= 1, got NaN");
        assert_eq!(
            message(f64::NEG_INFINITY, &ANY),
            "start_line must be an integer >= 1, got -Infinity"
        );
        assert_eq!(message(1e300, &ANY), "start_line must be an integer >= 1, got 1e+300");
        assert_eq!(message(5e-324, &ANY), "start_line must be an integer >= 1, got 5e-324");
        assert_eq!(message(-0.0, &ANY), "start_line must be an integer >= 1, got 0");
        assert_eq!(message(1.5e-6, &ANY), "start_line must be an integer >= 1, got 0.0000015");
    }

    proptest! {
        #[test]
        fn integers_come_through_and_nothing_else_does(number in any::<f64>(), whole in 1u64..=500) {
            #[allow(clippy::cast_precision_loss, reason = "small")]
            let exact = whole as f64;
            prop_assert_eq!(positive_integer("max_lines", exact, &LINES), Ok(nonzero(whole)));
            let is_legal = number.fract() == 0.0 && (1.0..=500.0).contains(&number);
            prop_assert_eq!(positive_integer("max_lines", number, &LINES).is_ok(), is_legal);
        }
    }
}
