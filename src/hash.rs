//! Content hashes: plain SHA-256, and the canonical content hash of the Aptix host.
//!
//! ```
//! use ringfence::hash::ContentHash;
//!
//! let empty = "01ba4719c80b6fe911b091a7c05124b64eeece964e09c058ef8f9805daca546b";
//! assert_eq!(ContentHash::Aptix.of_text(""), empty);
//! ```

use std::io::{self, Read};

use sha2::{Digest, Sha256};

/// SHA-256 as bytes.
pub type Sha256Digest = [u8; 32];

/// How content is hashed; either way the result is 64 lowercase hex digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ContentHash {
    /// SHA-256 of the bytes: what `sha256sum` prints.
    #[default]
    Sha256,
    /// The canonical content hash of the Aptix host (TUL-004 §5.1 step 6): line ends become LF,
    /// every line is cut to [`APTIX_LINE_UNITS`] UTF-16 units and ended with LF, the last one too,
    /// and the UTF-8 of that is hashed with SHA-256.
    Aptix,
}

/// How many UTF-16 units of a line count for [`ContentHash::Aptix`].
pub const APTIX_LINE_UNITS: usize = 500;

impl ContentHash {
    /// The hash of a text.
    #[must_use]
    pub fn of_text(self, text: &str) -> String {
        match self {
            Self::Sha256 => to_hex(&sha256(text.as_bytes())),
            Self::Aptix => to_hex(&aptix(text)),
        }
    }
}

/// SHA-256 of bytes.
#[must_use]
pub fn sha256(bytes: &[u8]) -> Sha256Digest {
    Sha256::digest(bytes).into()
}

/// SHA-256 of bytes that come in pieces.
#[derive(Debug, Clone, Default)]
pub struct Sha256Pieces(Sha256);

impl Sha256Pieces {
    /// Adds a piece.
    pub fn add(&mut self, piece: &[u8]) {
        self.0.update(piece);
    }

    /// SHA-256 of all pieces, one after the other.
    #[must_use]
    pub fn digest(self) -> Sha256Digest {
        self.0.finalize().into()
    }
}

/// Why a reader's bytes were not hashed.
#[derive(Debug)]
pub enum HashStop {
    /// The reader has more bytes than the limit.
    TooLong,
    /// The caller does not want the hash any more.
    CalledOff,
    /// Reading failed.
    System(io::Error),
}

/// SHA-256 of the bytes of a reader, in little memory, if it has at most `limit` bytes.
///
/// `cancelled` is asked before each 64 KiB.
///
/// # Errors
///
/// [`HashStop`].
pub fn sha256_of(
    reader: impl Read,
    limit: u64,
    cancelled: &dyn Fn() -> bool,
) -> Result<Sha256Digest, HashStop> {
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 64 << 10];
    let mut reader = reader.take(limit.saturating_add(1));
    let mut size = 0;
    loop {
        if cancelled() {
            return Err(HashStop::CalledOff);
        }
        match reader.read(&mut buffer) {
            Ok(0) => return Ok(hasher.finalize().into()),
            Ok(length) => {
                size += length as u64;
                if size > limit {
                    return Err(HashStop::TooLong);
                }
                hasher.update(&buffer[..length]);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(HashStop::System(error)),
        }
    }
}

/// A digest as 64 lowercase hex digits.
#[must_use]
pub fn to_hex(digest: &Sha256Digest) -> String {
    // The formatter of `{byte:02x}` takes five times the instructions: 6,000 of the 19,000 that creating an
    // empty file takes in all.
    let digit = |half: u8| char::from(b"0123456789abcdef"[usize::from(half)]);
    digest.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 0xf)]).collect()
}

/// Reads a digest from 64 lowercase hex digits; `None` for anything else.
#[must_use]
pub fn from_lowercase_hex(hex: &str) -> Option<Sha256Digest> {
    from_hex(hex).filter(|_| !hex.bytes().any(|digit| digit.is_ascii_uppercase()))
}

/// Reads a digest from 64 hex digits of either case; `None` for anything else.
#[must_use]
pub fn from_hex(hex: &str) -> Option<Sha256Digest> {
    let mut digest = [0; 32];
    if hex.len() != 64 || !hex.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return None;
    }
    for (byte, digits) in digest.iter_mut().zip(hex.as_bytes().chunks_exact(2)) {
        *byte = u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
    }
    Some(digest)
}

fn aptix(text: &str) -> Sha256Digest {
    let mut hasher = Sha256::new();
    write_aptix_form(text, |part| hasher.update(part));
    hasher.finalize().into()
}

/// Writes the canonical form of a text piece by piece: the whole may be as large as memory.
fn write_aptix_form(text: &str, mut write: impl FnMut(&str)) {
    let mut write_line = |line: &str| {
        let (kept, is_cut_in_two) = cut(line);
        write(kept);
        // That host's UTF-8 encoder writes U+FFFD for half of a surrogate pair.
        write(if is_cut_in_two { "\u{fffd}\n" } else { "\n" });
    };
    let mut lines = text.split('\n').peekable();
    while let Some(line) = lines.next() {
        // CRLF is one line end, and a CR alone another.
        let is_last = lines.peek().is_none();
        let line = if is_last { line } else { line.strip_suffix('\r').unwrap_or(line) };
        line.split('\r').for_each(&mut write_line);
    }
}

/// The first [`APTIX_LINE_UNITS`] UTF-16 units of a line, and whether the next one is the second half of
/// a surrogate pair.
fn cut(line: &str) -> (&str, bool) {
    let mut units = 0;
    for (at, character) in line.char_indices() {
        units += character.len_utf16();
        if units > APTIX_LINE_UNITS {
            return (&line[..at], units - APTIX_LINE_UNITS < character.len_utf16());
        }
    }
    (line, false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn aptix_form(text: &str) -> String {
        let mut form = String::new();
        write_aptix_form(text, |part| form.push_str(part));
        form
    }

    #[test]
    fn documented_vectors() {
        for (text, hash) in [
            ("", "01ba4719c80b6fe911b091a7c05124b64eeece964e09c058ef8f9805daca546b"),
            ("a", "87428fc522803d31065e7bce3cf03fe475096631e5e07bbd7a0fde60c4cf25c7"),
            ("a\n", "a7da489976d0047490617adb4f7a1f27f7af8b52a5176fd002ffe471863520ab"),
            ("a\r\nb", "911169ddaaf146aff539f58c26c489af3b892dff0fe283c1c264c65ae5aa59a2"),
            ("a\rb", "911169ddaaf146aff539f58c26c489af3b892dff0fe283c1c264c65ae5aa59a2"),
        ] {
            assert_eq!(ContentHash::Aptix.of_text(text), hash, "{text:?}");
        }
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(ContentHash::Sha256.of_text(""), empty);
    }

    #[test]
    fn lines_are_cut_at_500_utf16_units() {
        let line = "a".repeat(500);
        assert_eq!(aptix_form(&(line.clone() + "b")), line.clone() + "\n");
        let pair_fits = "a".repeat(498) + "😀";
        assert_eq!(aptix_form(&(pair_fits.clone() + "b")), pair_fits + "\n");
        let pair_is_cut = "a".repeat(499);
        assert_eq!(aptix_form(&(pair_is_cut.clone() + "😀")), pair_is_cut + "\u{fffd}\n");
    }

    #[test]
    fn a_reader_is_hashed_to_its_end() {
        let bytes: Vec<u8> = (0..200_000_u32).map(|index| index.to_le_bytes()[0]).collect();
        assert_eq!(sha256_of(&bytes[..], 200_000, &|| false).unwrap(), sha256(&bytes));
        assert_eq!(sha256_of(&b""[..], 0, &|| false).unwrap(), sha256(b""));
    }

    #[test]
    fn a_reader_that_gives_more_than_the_limit_has_no_hash() {
        let endless = sha256_of(io::repeat(7), 1_000_000, &|| false);
        assert!(matches!(endless, Err(HashStop::TooLong)));
        assert!(matches!(sha256_of(&b"ab"[..], 1, &|| false), Err(HashStop::TooLong)));
    }

    #[test]
    fn hashing_stops_within_64_kib_of_being_called_off() {
        let asked = std::cell::Cell::new(0);
        let called_off = || {
            asked.set(asked.get() + 1);
            asked.get() > 3
        };
        let stopped = sha256_of(io::repeat(7), u64::MAX, &called_off);
        assert!(matches!(stopped, Err(HashStop::CalledOff)));
        assert_eq!(asked.get(), 4);
    }

    #[test]
    fn hex_reads_back_and_nothing_else_reads() {
        let digest = sha256(b"a");
        assert_eq!(from_hex(&to_hex(&digest)), Some(digest));
        assert_eq!(from_hex(&to_hex(&digest).to_uppercase()), Some(digest));
        for bad in ["", "00", &"g".repeat(64), &"é".repeat(32), &"0".repeat(65), &"+0".repeat(32)]
        {
            assert_eq!(from_hex(bad), None, "{bad}");
        }
    }

    /// By the definition, over UTF-16 units.
    fn model(text: &str) -> String {
        let units: Vec<u16> =
            text.replace("\r\n", "\n").replace('\r', "\n").encode_utf16().collect();
        units
            .split(|&unit| unit == 10)
            .map(|line| String::from_utf16_lossy(&line[..line.len().min(500)]) + "\n")
            .collect()
    }

    proptest! {
        #[test]
        fn aptix_form_agrees_with_the_model(text in "([a-c]|é|😀|\r|\n|\r\n|(a{498}|b{499})){0,30}") {
            prop_assert_eq!(aptix_form(&text), model(&text));
        }
    }
}
