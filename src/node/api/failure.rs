//! The errors that the tools of docs/contract.md §9 share, as JavaScript sees them.

use std::fmt;
use std::marker::PhantomData;

use super::argument::{Argument, number};
use super::context::Context;
use super::error::JsError;
use crate::argument::ArgumentError;
use crate::node::engine::error_object::Property;
use crate::path::{last_name, shown_path};
use crate::sandbox::RootError;
use crate::tools::failure::{Detail, Failure};

/// A function whose errors are [`Failure`]s.
pub trait HasErrorName: 'static {
    /// The `name` of its errors: the function's name with a capital and `Error`.
    const ERROR_NAME: &'static str;
}

/// A failure of a function.
pub struct FailureOf<F> {
    failure: Failure,
    function: PhantomData<F>,
}

impl<F, E: Into<Failure>> From<E> for FailureOf<F> {
    fn from(error: E) -> Self {
        Self { failure: error.into(), function: PhantomData }
    }
}

impl<F> fmt::Display for FailureOf<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.failure.fmt(f)
    }
}

impl<F: HasErrorName> JsError for FailureOf<F> {
    const NAME: &'static str = F::ERROR_NAME;

    fn bug() -> Self {
        Failure::bug().into()
    }

    fn code(&self) -> &str {
        self.failure.code().as_str()
    }

    fn message(&self) -> String {
        self.failure.to_string()
    }

    fn details(&self) -> Vec<(&'static str, Property)> {
        let path = ("path", self.failure.path().to_owned().into());
        let others =
            self.failure.details().iter().map(|(name, detail)| (*name, property_of(detail)));
        std::iter::once(path).chain(others).collect()
    }

    fn was_aborted(&self) -> bool {
        self.failure.is_cancelled()
    }
}

fn property_of(detail: &Detail) -> Property {
    match detail {
        Detail::Number(count) => Property::Number(number(*count)),
        Detail::Text(text) => Property::Text(text.clone()),
        Detail::Numbers(counts) => {
            Property::List(counts.iter().map(|count| Property::Number(number(*count))).collect())
        }
        Detail::Null => Property::Null,
        Detail::List(details) => Property::List(details.iter().map(property_of).collect()),
        Detail::Object(fields) => Property::Object(
            fields.iter().map(|(name, detail)| (*name, property_of(detail))).collect(),
        ),
    }
}

/// The folder that a call names, as it was given; `None` if it is absent or no well-formed text.
pub fn given_path(argument: Option<Argument<'_>>) -> Option<String> {
    argument.and_then(|argument| argument.unicode().ok())
}

/// The error of a wrong argument of a call about a folder, at that folder.
pub fn refused_in(error: ArgumentError, context: Option<&Context>, given: Option<&str>) -> Failure {
    Failure::from(error).at(shown_folder(context, given))
}

/// The error of a root that cannot be opened, at the folder that the call is about.
pub fn opened_at(error: RootError, context: &Context, given: Option<&str>) -> Failure {
    Failure::from(error).at(shown_folder(Some(context), given))
}

/// A folder as it may be shown: no more of an absolute path than the part beneath the root, and nothing of
/// one that spells out the root. The root is `.`.
fn shown_folder(context: Option<&Context>, given: Option<&str>) -> String {
    let Some(given) = given else { return ".".to_owned() };
    let beneath = context.and_then(|context| context.part_inside(given));
    let shown = beneath.unwrap_or_else(|| shown_path(given));
    let is_secret = context.is_some_and(|context| context.is_spelled_in(&shown));
    if is_secret { last_name(&shown) } else { shown }
}
