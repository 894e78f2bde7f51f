//! `isTextMediaType`.

use napi::Env;
use napi::bindgen_prelude::Unknown;
use napi_derive::napi;

use super::argument::Argument;
use crate::text::media_type;

/// Whether a media type is one of text, by the rule of `readFileUri`: for content from elsewhere, such as a
/// page that was fetched. `false` for a value that is no string.
#[napi(ts_args_type = "mediaType: string", ts_return_type = "boolean")]
pub fn is_text_media_type(env: &Env, media_type: Unknown<'_>) -> bool {
    let media_type = Argument::new(env, "mediaType", media_type).string();
    media_type.is_ok_and(|media_type| media_type::is_text(media_type.as_str()))
}
