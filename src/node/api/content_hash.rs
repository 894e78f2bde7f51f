//! `contentHash`.

use napi::Env;
use napi::bindgen_prelude::Unknown;
use napi_derive::napi;

use super::argument::Argument;
use super::error::{JsError, or_throw};
use super::options::CONTENT_HASHES;
use crate::argument::ArgumentError;

/// The hash of a text as 64 lowercase hex digits. `"sha256"`, the default, is SHA-256 of its UTF-8.
/// `"aptix"` is that host's canonical content hash: it makes line ends LF, cuts every line to 500
/// UTF-16 units, ends each with LF, and takes SHA-256 of that.
///
/// Throws a `ContentHashError` with the code `INVALID_ARGUMENT`.
#[napi(ts_args_type = "text: string, algorithm?: ContentHash | null", ts_return_type = "string")]
pub fn content_hash(env: &Env, text: Unknown<'_>, algorithm: Unknown<'_>) -> napi::Result<String> {
    let text = Argument::new(env, "text", text);
    let algorithm = Argument::new(env, "algorithm", algorithm).present();
    or_throw(env, || -> Result<String, ContentHashError> {
        let algorithm = algorithm.map(|value| value.one_of(&CONTENT_HASHES)).transpose()?;
        Ok(algorithm.unwrap_or_default().of_text(text.string_up_to(usize::MAX)?.as_str()))
    })
}

/// Why no hash was computed.
#[derive(Debug, thiserror::Error)]
enum ContentHashError {
    /// The caller's mistake.
    #[error(transparent)]
    Argument(#[from] ArgumentError),
    /// A panic.
    #[error("ringfence failed: please report it")]
    Bug,
}

impl JsError for ContentHashError {
    const NAME: &'static str = "ContentHashError";

    fn bug() -> Self {
        Self::Bug
    }

    fn code(&self) -> &str {
        match self {
            Self::Argument(_) => "INVALID_ARGUMENT",
            Self::Bug => "INTERNAL",
        }
    }
}
