//! Text: how bytes become text, where its lines are, and how an edited text becomes bytes again.
//!
//! - [`decode`](decode()) and its like turn bytes into text;
//! - [`LineWindow`] cuts a run of lines out of a text;
//! - [`Document`] keeps a file's bytes beside the text that a model sees, so that an edit of the text
//!   leaves every other byte as it is;
//! - [`media_type`] knows which media types are text.
//!
//! A line ends at LF; CRLF counts as LF; a lone CR, FF, VT, NEL, U+2028 and U+2029 are ordinary
//! characters. The windows of a text, joined by LF, are the whole text with its line ends
//! normalised, to the byte.
//!
//! On its way from the disk to the window a file is not copied, unless it holds bytes that are not
//! UTF-8, or the window holds CRLF: fresh memory costs more than the work done in it.
//!
//! ```
//! use ringfence::text::{LineWindow, decode, InvalidUtf8};
//!
//! let decoded = decode(b"\xEF\xBB\xBFone\r\ntwo\r\nthree", InvalidUtf8::Reject)?;
//! let window = LineWindow::new(1.try_into()?, 2.try_into()?).cut(&decoded.text);
//! assert_eq!((&*window.content, window.next_start_line), ("one\ntwo", Some(3)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod media_type;

mod decode;
mod document;
mod line_ends;
mod line_spans;
mod lines;
mod searched;
mod unified_diff;
mod window;

pub use decode::{
    BINARY_CHECK_BYTES, Decoded, InvalidUtf8, MAX_STRING_BYTES, NotText, WideEncoding, decode,
    decode_lossy, end_of_last_character, is_plain_text, without_byte_order_mark,
};
pub use document::{Document, Position, Replacements};
pub use line_ends::{normalise_line_ends, to_written_form};
pub use line_spans::{block_end, line_around, line_end};
pub use lines::lines_ended;
pub use searched::{NotSearched, searched_text};
pub use unified_diff::{Change, DiffWriter, UnifiedDiff, quoted_path};
pub use window::{LineWindow, WindowText};

#[cfg(test)]
mod tests;
