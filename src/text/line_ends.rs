//! Line ends turned into LF, for reading and for writing.

use std::borrow::Cow;

use memchr::{memchr, memmem};

use super::decode::without_byte_order_mark;

/// A text in the form in which it is written: every CRLF and every lone CR an LF, one leading
/// U+FEFF dropped, nothing else touched.
#[must_use]
pub fn to_written_form(text: String) -> String {
    let mut bytes = without_byte_order_mark(text.into_bytes());
    if memchr(b'\r', &bytes).is_some() {
        make_line_ends_plain(&mut bytes);
    }
    // Only whole characters have gone, or become others.
    String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

/// Turns every CRLF and every lone CR into LF, in place: a content may be as large as memory.
fn make_line_ends_plain(bytes: &mut Vec<u8>) {
    let mut after_return = false;
    bytes.retain_mut(|byte| {
        let is_end_of_pair = after_return && *byte == b'\n';
        after_return = *byte == b'\r';
        if after_return {
            *byte = b'\n';
        }
        !is_end_of_pair
    });
}

/// Turns every CRLF into LF; a CR that no LF follows stays.
#[must_use]
pub fn normalise_line_ends(text: &str) -> Cow<'_, str> {
    // A search for CR alone costs a fraction of a search for CRLF, and most files have none.
    if memchr(b'\r', text.as_bytes()).is_none() {
        return text.into();
    }
    let mut pairs = memmem::find_iter(text.as_bytes(), b"\r\n").peekable();
    if pairs.peek().is_none() {
        return text.into();
    }
    let mut normalised = String::with_capacity(text.len());
    let mut copied = 0;
    for carriage_return in pairs {
        normalised.push_str(&text[copied..carriage_return]);
        copied = carriage_return + 1;
    }
    normalised.push_str(&text[copied..]);
    normalised.into()
}
