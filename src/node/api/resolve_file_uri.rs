//! `resolveFileUri`.

use napi::Env;
use napi::bindgen_prelude::Unknown;
use napi_derive::napi;

use super::argument::Argument;
use super::error::{JsError, or_throw};
use crate::argument::LONGEST_URI;
use crate::node::engine::raw::List;
use crate::node::engine::text::Text;
use crate::tools::file_uri::{FileUri, FileUriError, UriRefusal};

/// A `file:` URI, parsed (specification `read`).
#[napi(object, object_from_js = false)]
pub struct ResolvedFileUri {
    /// The URI as it was given.
    pub uri: String,
    /// The scope in which it is looked up.
    #[napi(ts_type = "FileUriScope")]
    pub scope: &'static str,
    /// The segments joined by `/`: `assets/brand.md`, `files/notes/a.md`.
    pub path: String,
    /// The names from the scope's root down, percent-decoded; the first of a chat's is `files`.
    #[napi(ts_type = "Array<string>")]
    pub segments: List<String>,
}

/// Parses a `file:` URI: `file:///a/b` looks in the space, `file:a/b` in the files of the chat.
/// Touches no disk.
///
/// Each segment is percent-decoded once; empty and `.` segments vanish, `..` takes one back. Refused
/// are hosts, other numbers of slashes, drive letters, `..` above the root, bad escapes, and names
/// with `/`, `\`, NUL or control characters. `?` and `#` are ordinary.
///
/// Throws a `FileUriError` with the code `INVALID_ARGUMENT` or `INVALID_URI`.
#[napi(ts_args_type = "uri: string", ts_return_type = "ResolvedFileUri")]
pub fn resolve_file_uri(env: &Env, uri: Unknown<'_>) -> napi::Result<ResolvedFileUri> {
    let uri = Argument::new(env, "uri", uri);
    or_throw(env, || -> Result<_, FileUriError> {
        let (uri, parsed) = parse_argument(uri)?;
        Ok(ResolvedFileUri {
            uri,
            scope: parsed.scope().as_str(),
            path: parsed.path(),
            segments: List(parsed.segments()),
        })
    })
}

/// Reads and parses a URI: as it was given, and parsed.
pub fn parse_argument(uri: Argument<'_>) -> Result<(String, FileUri), FileUriError> {
    if uri.utf16_len().map_err(FileUriError::Argument)? > LONGEST_URI {
        return Err(FileUriError::Uri(UriRefusal::TooLong));
    }
    match uri.string_up_to(usize::MAX).map_err(FileUriError::Argument)? {
        Text::Unicode(given) if given.len() > LONGEST_URI => {
            Err(FileUriError::Uri(UriRefusal::TooLong))
        }
        Text::Unicode(given) => {
            let parsed = FileUri::parse(&given).map_err(FileUriError::Uri)?;
            Ok((given, parsed))
        }
        Text::LoneSurrogate(_) => Err(FileUriError::Uri(UriRefusal::LoneSurrogate)),
    }
}

impl JsError for FileUriError {
    const NAME: &'static str = "FileUriError";

    fn bug() -> Self {
        Self::Bug
    }

    fn code(&self) -> &str {
        FileUriError::code(self).as_str()
    }

    fn message(&self) -> String {
        self.to_string()
    }
}
