//! Media types: which ones are text, and which one a file in a directory has.
//!
//! The type of a name is the registries' type of its extension (crate `mime-db`). Extensions of
//! source code are exceptions, if the registries give them to another format or have a type that
//! is not one of text. In the workspace of an agent, `.ts` is TypeScript and not an MPEG transport
//! stream.

use super::decode::{end_of_last_character, is_plain_text};

mod head;

use head::HeadType;

/// The type of a text of which nothing else is known.
pub const TEXT_PLAIN: &str = "text/plain";

/// The type of bytes that are not text.
pub const OCTET_STREAM: &str = "application/octet-stream";

/// Subtypes of `application` that are text, with or without `x-` before them.
const TEXT_SUBTYPES: [&str; 49] = [
    "bat",
    "csh",
    "dart",
    "ecmascript",
    "graphql",
    "hjson",
    "httpd-php",
    "javascript",
    "json",
    "json5",
    "jsonc",
    "jsonl",
    "jsonlines",
    "latex",
    "lua",
    "markdown",
    "mpegurl",
    "n-quads",
    "n-triples",
    "ndjson",
    "node",
    "pem-certificate-chain",
    "pem-file",
    "perl",
    "php",
    "python",
    "python-code",
    "ruby",
    "rust",
    "sh",
    "shellscript",
    "sparql-query",
    "sparql-update",
    "sql",
    "subrip",
    "tcl",
    "tex",
    "texinfo",
    "toml",
    "trig",
    "troff",
    "typescript",
    "vnd.apple.mpegurl",
    "xml",
    "xml-dtd",
    "xml-external-parsed-entity",
    "yaml",
    "yang",
    "zsh",
];

/// Source code and other text by its extension, where the registries have another answer.
const SOURCE_CODE: [(&str, &str); 43] = [
    ("asc", TEXT_PLAIN),
    ("bash", "text/x-shellscript"),
    ("bat", "text/x-bat"),
    ("cjs", "text/javascript"),
    ("cmd", "text/x-bat"),
    ("csh", "text/x-shellscript"),
    ("cts", "text/typescript"),
    ("dart", "text/x-dart"),
    ("eml", TEXT_PLAIN),
    ("fish", "text/x-shellscript"),
    ("hjson", TEXT_PLAIN),
    ("js", "text/javascript"),
    ("jsonc", "application/json"),
    ("ksh", "text/x-shellscript"),
    ("latex", "text/x-tex"),
    ("m3u", TEXT_PLAIN),
    ("m3u8", TEXT_PLAIN),
    ("mdx", "text/mdx"),
    ("mjs", "text/javascript"),
    ("mts", "text/typescript"),
    ("nq", TEXT_PLAIN),
    ("nt", TEXT_PLAIN),
    ("org", "text/x-org"),
    ("pem", TEXT_PLAIN),
    ("php", "text/x-php"),
    ("pl", "text/x-perl"),
    ("pm", "text/x-perl"),
    ("pot", TEXT_PLAIN),
    ("raml", TEXT_PLAIN),
    ("rq", TEXT_PLAIN),
    ("rs", "text/x-rust"),
    ("scm", TEXT_PLAIN),
    ("sh", "text/x-shellscript"),
    ("sql", "text/x-sql"),
    ("srt", TEXT_PLAIN),
    ("tcl", "text/x-tcl"),
    ("tex", "text/x-tex"),
    ("tpl", TEXT_PLAIN),
    ("trig", TEXT_PLAIN),
    ("ts", "text/typescript"),
    ("tsx", "text/tsx"),
    ("yang", "text/x-yang"),
    ("zsh", "text/x-shellscript"),
];

/// Whether a media type is one of text: `text/*`, `+json`, `+xml` (SVG too), `+yaml`, and the JSON, XML,
/// JavaScript, TypeScript, Markdown, YAML and TOML types, those of shell scripts, SQL and other source
/// code. Compared without case or parameters; a blank one counts as text.
///
/// ```
/// use ringfence::text::media_type::is_text;
///
/// assert!(is_text("Text/Markdown; charset=utf-8") && is_text("image/svg+xml") && is_text(""));
/// assert!(!is_text("image/png"));
/// ```
#[must_use]
pub fn is_text(media_type: &str) -> bool {
    let essence = essence(media_type);
    if essence.is_empty() {
        return true;
    }
    let Some((kind, subtype)) = essence.split_once('/') else { return false };
    let plain = subtype.strip_prefix("x-").unwrap_or(subtype);
    kind == "text"
        || subtype.ends_with("+json")
        || subtype.ends_with("+xml")
        || subtype.ends_with("+yaml")
        || kind == "application" && TEXT_SUBTYPES.contains(&plain)
}

fn essence(media_type: &str) -> String {
    media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// Whether a file is text of which both a media type and a name are known. For the extensions of source
/// code the registries' own type means no more than the extension does: many programs say `video/mp2t` of
/// every `.ts`.
///
/// ```
/// use ringfence::text::media_type::is_text_file;
///
/// assert!(is_text_file("video/mp2t", "src/main.ts") && !is_text_file("video/mp2t", "film.m2ts"));
/// ```
#[must_use]
pub fn is_text_file(media_type: &str, name: &str) -> bool {
    is_text(media_type)
        || extension(name).is_some_and(|extension| {
            let of_source = of_source_code(&extension).is_some_and(is_text);
            let essence = essence(media_type);
            let says_the_same = mime_db::lookup(&extension) == Some(&essence)
                || OTHER_TYPES.contains(&(extension.as_str(), essence.as_str()));
            of_source && says_the_same
        })
}

/// Types that are said of an extension beside the registries' first one.
const OTHER_TYPES: [(&str, &str); 4] = [
    ("cts", "video/mp2t"),
    ("mts", "video/mp2t"),
    ("ts", "video/vnd.dlna.mpeg-tts"),
    ("tsx", "video/mp2t"),
];

/// The type that a file's extension tells, if it is known. Case does not matter.
#[must_use]
pub fn of_name(name: &str) -> Option<&'static str> {
    let extension = extension(name)?;
    of_source_code(&extension).or_else(|| mime_db::lookup(&extension))
}

/// In lower case.
fn extension(name: &str) -> Option<String> {
    let (stem, extension) = name.rsplit_once('.')?;
    // `.json` is a hidden file without an extension.
    (!stem.is_empty()).then(|| extension.to_ascii_lowercase())
}

fn of_source_code(extension: &str) -> Option<&'static str> {
    let source = SOURCE_CODE.iter().find(|(known, _)| *known == extension);
    source.map(|(_, media_type)| *media_type)
}

/// The type of a file by its first bytes, then by its name, then by whether those bytes are text.
///
/// Where the bytes tell only that other formats may be inside, as a ZIP archive does, the name tells
/// which.
///
/// ```
/// use ringfence::text::media_type::of_file;
///
/// assert_eq!(of_file(b"\x89PNG\r\n\x1a\n", "photo.txt"), "image/png");
/// assert_eq!(of_file(b"# Title\n", "README.md"), "text/markdown");
/// assert_eq!(of_file(b"all: build\n", "Makefile"), "text/plain");
/// ```
#[must_use]
pub fn of_file(head: &[u8], name: &str) -> &'static str {
    let of_name = of_name(name);
    match head::of_head(head) {
        Some(HeadType::Known(media_type)) => media_type,
        Some(HeadType::Container(container)) => {
            let may_be_inside = |named: &&str| !is_text(named) && !head::has_signature(named);
            of_name.filter(may_be_inside).unwrap_or(container)
        }
        // The head may end within a character.
        None => of_name.unwrap_or_else(|| of_content(&head[..end_of_last_character(head)])),
    }
}

/// The type of a file whose extension is not known: text if it is UTF-8 and has no NUL near its
/// start.
#[must_use]
pub fn of_content(bytes: &[u8]) -> &'static str {
    if is_plain_text(bytes) { TEXT_PLAIN } else { OCTET_STREAM }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_of_text() {
        for text in [
            "text/plain",
            "TEXT/HTML",
            "text/markdown; charset=utf-8",
            "application/json",
            "application/ld+json",
            "application/x-yaml ; version=1",
            "application/toml",
            "application/markdown",
            "application/typescript",
            "application/x-javascript",
            "image/svg+xml",
            "application/xml",
            "application/xhtml+xml",
            "",
            " ",
        ] {
            assert!(is_text(text), "{text}");
        }
    }

    #[test]
    fn types_of_other_things() {
        for other in [
            "image/png",
            "application/octet-stream",
            "application/pdf",
            "application/zip",
            "model/json",
            "text",
            "json",
            "+json",
            "application/jsonx",
            "application/vnd.text",
            "xtext/plain",
        ] {
            assert!(!is_text(other), "{other}");
        }
    }

    #[test]
    fn a_type_that_the_registries_give_source_code_is_text_under_its_name() {
        for (extension, _) in SOURCE_CODE {
            let Some(registered) = mime_db::lookup(extension) else { continue };
            assert!(is_text_file(registered, &format!("a.{extension}")), "{extension}");
        }
        for (media_type, name) in [
            ("video/mp2t; x=y", "a.TS"),
            ("VIDEO/MP2T", "a.b.mts"),
            ("application/sql", "query"),
            ("application/x-sh", "deploy"),
            ("application/vnd.ms-powerpoint", "messages.pot"),
        ] {
            assert!(is_text_file(media_type, name), "{media_type} {name}");
        }
        for (media_type, name) in [
            ("video/mp2t", "a"),
            ("video/mp2t", "a.m2ts"),
            ("video/mp4", "a.ts"),
            ("application/octet-stream", "a.ts"),
            ("application/vnd.ms-powerpoint", "a.ppt"),
            ("image/png", "a.png"),
        ] {
            assert!(!is_text_file(media_type, name), "{media_type} {name}");
        }
    }

    #[test]
    fn names_of_source_code_are_text_and_those_of_media_are_not() {
        for name in ["a.md", "A.MD", "a.ts", "b.d.mts", "c.rs", "d.sh", "e.sql", "f.json", "g.svg"]
        {
            assert!(of_name(name).is_some_and(is_text), "{name}");
        }
        for name in ["a.png", "a.md.zip", "a.pdf", "a.woff2", "a.wasm", "a.exe", "a.mp4"] {
            assert!(of_name(name).is_some_and(|known| !is_text(known)), "{name}");
        }
    }

    #[test]
    fn names_that_tell_nothing() {
        for name in ["Makefile", ".json", "a.", "a.unheard-of", "LICENSE", ".env"] {
            assert_eq!(of_name(name), None, "{name}");
        }
    }

    #[test]
    fn content_tells_where_the_name_does_not() {
        assert_eq!(of_content("größer".as_bytes()), TEXT_PLAIN);
        assert_eq!(of_content(b""), TEXT_PLAIN);
        assert_eq!(of_content(b"a\0b"), OCTET_STREAM);
        assert_eq!(of_content(b"gr\xF6\xDFer"), OCTET_STREAM);
    }

    #[test]
    fn the_head_tells_before_the_name() {
        let isobmff = |brand: &str| format!("\0\0\0\x1cftyp{brand}").into_bytes();
        for (head, name, expected) in [
            (&b"\xFF\xD8\xFF\xE0"[..], "a.png", "image/jpeg"),
            (b"GIF89a", "a", "image/gif"),
            (b"RIFF\x24\0\0\0WEBPVP8 ", "a.jpg", "image/webp"),
            (b"RIFF\x24\0\0\0WAVEfmt ", "a.bin", "audio/wav"),
            (b"%PDF-1.7\n", "a.txt", "application/pdf"),
            (&isobmff("avif"), "a.jpg", "image/avif"),
            (&isobmff("qt  "), "a.mp4", "video/quicktime"),
            (&isobmff("isom"), "a.mp4", "video/mp4"),
            (b"\x1F\x8B\x08\0", "a.tgz", "application/gzip"),
            (b"\x7FELF\x02\x01", "a.md", "application/x-elf"),
        ] {
            assert_eq!(of_file(head, name), expected, "{name}");
        }
    }

    #[test]
    fn a_name_tells_which_format_a_container_holds() {
        let document = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";
        for (head, name, expected) in [
            (&b"PK\x03\x04\x14\0"[..], "a.docx", document),
            (b"PK\x03\x04\x14\0", "a.zip", "application/zip"),
            (b"PK\x03\x04\x14\0", "a", "application/zip"),
            // Neither a text nor an image begins so.
            (b"PK\x03\x04\x14\0", "a.md", "application/zip"),
            (b"PK\x03\x04\x14\0", "a.png", "application/zip"),
            (b"OggS\0\x02", "a.ogg", "audio/ogg"),
            (b"\x1A\x45\xDF\xA3\x9F", "a.webm", "video/webm"),
            (b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1", "a.doc", "application/msword"),
        ] {
            assert_eq!(of_file(head, name), expected, "{name}");
        }
    }

    #[test]
    fn a_text_is_not_taken_for_another_format() {
        for text in ["BM25 is a ranking", "MZ", "ID3 tags", "PK", "RIFF or WEBP", "II*", "OTTO"] {
            assert_eq!(of_file(text.as_bytes(), "note"), TEXT_PLAIN, "{text}");
        }
    }

    #[test]
    fn without_a_signature_the_name_tells_and_then_the_text() {
        assert_eq!(of_file(b"", "a.png"), "image/png");
        assert_eq!(of_file(b"let a = 1;", "a.ts"), "text/typescript");
        assert_eq!(of_file(b"\0\x01\x02", "blob"), OCTET_STREAM);
        assert_eq!(of_file("gr\u{f6}\u{df}".as_bytes(), "note"), TEXT_PLAIN);
        // The head ends within a character.
        assert_eq!(of_file(b"caf\xC3", "note"), TEXT_PLAIN);
        assert_eq!(of_file(b"caf\xC3\x28", "note"), OCTET_STREAM);
    }

    #[test]
    fn source_code_is_text_by_every_row_of_the_table() {
        for (extension, media_type) in SOURCE_CODE {
            assert!(is_text(media_type), "{extension}");
        }
    }
}
