//! Media types: which ones are text, and which one a file in a directory has.
//!
//! The types of names are those of the registries (crate `mime-db`), but for the extensions of
//! source code whose registered owner is somebody else, or whose registered type hides that they
//! are text: nobody keeps MPEG transport streams (`.ts`) in the workspace of an agent.

use crate::text::is_plain_text;

/// The type of a text of which nothing else is known.
pub const TEXT_PLAIN: &str = "text/plain";

/// The type of bytes that are not text.
pub const OCTET_STREAM: &str = "application/octet-stream";

/// Subtypes that are text under any type, with or without `x-` before them.
const TEXT_SUBTYPES: [&str; 14] = [
    "ecmascript",
    "javascript",
    "json",
    "json5",
    "jsonl",
    "jsonlines",
    "markdown",
    "ndjson",
    "toml",
    "typescript",
    "xml",
    "xml-dtd",
    "xml-external-parsed-entity",
    "yaml",
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

/// Whether a media type is one of text: `text/*`, `+json`, `+xml` (SVG too), and the JSON, XML,
/// JavaScript, TypeScript, Markdown, YAML and TOML types. Compared without case or parameters; a
/// blank one counts as text.
///
/// ```
/// use ringfence::media_type::is_text;
///
/// assert!(is_text("Text/Markdown; charset=utf-8") && is_text("image/svg+xml") && is_text(""));
/// assert!(!is_text("image/png"));
/// ```
#[must_use]
pub fn is_text(media_type: &str) -> bool {
    let essence = media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    if essence.is_empty() {
        return true;
    }
    let Some((kind, subtype)) = essence.split_once('/') else { return false };
    let plain = subtype.strip_prefix("x-").unwrap_or(subtype);
    kind == "text"
        || subtype.ends_with("+json")
        || subtype.ends_with("+xml")
        || kind == "application" && TEXT_SUBTYPES.contains(&plain)
}

/// The type that a file's extension tells, if it is known. Case does not matter.
#[must_use]
pub fn of_name(name: &str) -> Option<&'static str> {
    let (stem, extension) = name.rsplit_once('.')?;
    if stem.is_empty() {
        // `.json` is a hidden file without an extension.
        return None;
    }
    let extension = extension.to_ascii_lowercase();
    let source = SOURCE_CODE.iter().find(|(known, _)| *known == extension);
    source.map(|(_, media_type)| *media_type).or_else(|| mime_db::lookup(&extension))
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
    fn source_code_is_text_by_every_row_of_the_table() {
        for (extension, media_type) in SOURCE_CODE {
            assert!(is_text(media_type), "{extension}");
        }
    }
}
