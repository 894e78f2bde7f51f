//! Recognises a file by its first bytes.
//!
//! A signature is long enough, or has a byte that no text has, that a text cannot begin with it by
//! chance: `BM25 is a ranking function` is no bitmap.

/// A media type, and the bytes that a file of it has at these offsets.
type Signature = (&'static str, &'static [(usize, &'static [u8])]);

/// The signatures of formats. The first that matches counts.
const SIGNATURES: [Signature; 47] = [
    ("image/png", &[(0, b"\x89PNG\r\n\x1a\n")]),
    ("image/jpeg", &[(0, b"\xFF\xD8\xFF")]),
    ("image/gif", &[(0, b"GIF87a")]),
    ("image/gif", &[(0, b"GIF89a")]),
    ("image/webp", &[(0, b"RIFF"), (8, b"WEBPVP8")]),
    ("image/avif", &[(4, b"ftypavif")]),
    ("image/avif", &[(4, b"ftypavis")]),
    ("image/heic", &[(4, b"ftypheic")]),
    ("image/heic", &[(4, b"ftypheix")]),
    ("image/heif", &[(4, b"ftypmif1")]),
    ("image/bmp", &[(0, b"BM"), (6, b"\0\0\0\0")]),
    ("image/tiff", &[(0, b"II*\0")]),
    ("image/tiff", &[(0, b"MM\0*")]),
    ("image/vnd.microsoft.icon", &[(0, b"\0\0\x01\0")]),
    ("image/jxl", &[(0, b"\0\0\0\x0CJXL \r\n\x87\n")]),
    ("image/jp2", &[(0, b"\0\0\0\x0CjP  \r\n\x87\n")]),
    ("image/vnd.adobe.photoshop", &[(0, b"8BPS\0\x01")]),
    ("application/pdf", &[(0, b"%PDF-")]),
    ("application/gzip", &[(0, b"\x1F\x8B\x08")]),
    ("application/x-bzip2", &[(0, b"BZh"), (4, b"1AY&SY")]),
    ("application/x-xz", &[(0, b"\xFD7zXZ\0")]),
    ("application/zstd", &[(0, b"\x28\xB5\x2F\xFD")]),
    ("application/x-7z-compressed", &[(0, b"7z\xBC\xAF\x27\x1C")]),
    ("application/vnd.rar", &[(0, b"Rar!\x1A\x07")]),
    ("application/x-tar", &[(257, b"ustar\0")]),
    ("application/x-tar", &[(257, b"ustar  \0")]),
    ("application/wasm", &[(0, b"\0asm")]),
    ("application/x-elf", &[(0, b"\x7FELF")]),
    ("application/vnd.sqlite3", &[(0, b"SQLite format 3\0")]),
    ("font/woff", &[(0, b"wOFF\0\x01\0\0")]),
    ("font/woff", &[(0, b"wOFFOTTO")]),
    ("font/woff2", &[(0, b"wOF2\0\x01\0\0")]),
    ("font/woff2", &[(0, b"wOF2OTTO")]),
    ("font/ttf", &[(0, b"\0\x01\0\0\0")]),
    ("font/otf", &[(0, b"OTTO\0")]),
    ("audio/mpeg", &[(0, b"ID3\x02")]),
    ("audio/mpeg", &[(0, b"ID3\x03")]),
    ("audio/mpeg", &[(0, b"ID3\x04")]),
    ("audio/flac", &[(0, b"fLaC\0")]),
    ("audio/wav", &[(0, b"RIFF"), (8, b"WAVE")]),
    ("audio/midi", &[(0, b"MThd\0\0\0\x06")]),
    ("audio/mp4", &[(4, b"ftypM4A ")]),
    ("video/quicktime", &[(4, b"ftypqt  ")]),
    ("video/x-msvideo", &[(0, b"RIFF"), (8, b"AVI ")]),
    ("video/x-flv", &[(0, b"FLV\x01")]),
    ("video/3gpp", &[(4, b"ftyp3gp")]),
    ("video/mp4", &[(4, b"ftyp")]),
];

/// The signatures of formats that others are made of: a file's name may tell which.
const CONTAINERS: [Signature; 5] = [
    ("application/zip", &[(0, b"PK\x03\x04")]),
    ("application/zip", &[(0, b"PK\x05\x06")]),
    ("application/x-ole-storage", &[(0, b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1")]),
    ("application/ogg", &[(0, b"OggS\0")]),
    ("video/x-matroska", &[(0, b"\x1A\x45\xDF\xA3")]),
];

/// The type that a file's first bytes tell.
pub(super) enum HeadType {
    /// This one.
    Known(&'static str),
    /// This one, or a format that is made of it.
    Container(&'static str),
}

/// The type of the file with these first bytes, if they tell it.
pub(super) fn of_head(head: &[u8]) -> Option<HeadType> {
    let known = SIGNATURES.iter().find(|signature| matches(head, signature));
    let container = || CONTAINERS.iter().find(|signature| matches(head, signature));
    match known {
        Some((media_type, _)) => Some(HeadType::Known(media_type)),
        None => container().map(|(media_type, _)| HeadType::Container(media_type)),
    }
}

/// Whether files of a type are recognised by a signature of their own.
pub(super) fn has_signature(media_type: &str) -> bool {
    SIGNATURES.iter().any(|(known, _)| *known == media_type)
}

fn matches(head: &[u8], (_, parts): &Signature) -> bool {
    parts
        .iter()
        .all(|&(offset, part)| head.get(offset..).is_some_and(|from| from.starts_with(part)))
}
