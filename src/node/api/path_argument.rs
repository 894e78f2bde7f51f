//! The `path` of a function whose errors are `ReadFileError`s.

use std::sync::Arc;

use super::argument::Argument;
use super::context::{Context, Purpose};
use crate::argument::{ArgumentError, LONGEST_PATH};
use crate::node::engine::text::Text;
use crate::sandbox::{OpenError, Sandbox};
use crate::tools::read_file::ReadFileError;

/// A context, and a path in it as it was given.
pub struct PathInContext {
    pub context: Context,
    pub path: String,
}

impl PathInContext {
    /// Reads the context, the path and the other arguments, in that order.
    ///
    /// An error names the path as far as it may be shown: no more of an absolute path than the part
    /// beneath the root, and nothing of one that spells out the root.
    pub fn read<R>(
        context: Argument<'_>,
        path: Argument<'_>,
        read_others: impl FnOnce() -> Result<R, ArgumentError>,
    ) -> Result<(Self, R), ReadFileError> {
        let given = || path.string().ok();
        let context = Context::read(context, Purpose::Read)
            .map_err(|error| ReadFileError::new(error, given().as_ref().map(Text::as_str)))?;
        let text = read_path(path)?;
        match text.and_then(|text| Ok((text, read_others()?))) {
            Ok((path, others)) => Ok((Self { context, path }, others)),
            Err(error) => {
                let given = given();
                let given = given.as_ref().map(Text::as_str);
                // A secure-tool host has made an absolute path of the model's.
                let beneath = given.and_then(|given| context.part_inside(given));
                let error = ReadFileError::new(error, beneath.as_deref().or(given));
                Err(error.hiding(|text| context.is_spelled_in(text)))
            }
        }
    }

    /// The sandbox to work in, which belongs on a worker: see [`Context::open`].
    pub fn open(&self) -> Result<Arc<Sandbox>, ReadFileError> {
        self.context.open().map_err(|error| {
            let error = ReadFileError::new(error, Some(&self.path));
            error.hiding(|text| self.context.is_spelled_in(text))
        })
    }
}

/// Reads a path. One that is too long is refused by its length alone; the inner error is for the caller
/// to complete.
pub fn read_path(path: Argument<'_>) -> Result<Result<String, ArgumentError>, ReadFileError> {
    match path.utf16_len() {
        Ok(length) if length > LONGEST_PATH => {
            Err(ReadFileError::new(OpenError::NameTooLong, None))
        }
        // Few enough bytes are left for the system itself to say that the path is too long.
        Ok(_) => Ok(path.unicode_of_known_length()),
        Err(error) => Ok(Err(error)),
    }
}
