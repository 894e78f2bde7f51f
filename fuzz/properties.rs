//! What holds of every input. The fuzzers look for one of which it does not; the committed corpora
//! are replayed by `tests/fuzz_corpus.rs` in every test run.

use ringfence::file_uri::FileUri;
use ringfence::source::{SourceRequest, StoredDocument, read_document};

/// Parsing a URI does not panic; what is accepted has safe names, stays beneath its root, and is
/// the same when it is formatted and parsed again.
pub fn file_uri(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let Ok(uri) = FileUri::parse(text) else { return };
    assert!(text.get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("file:")));
    let segments = uri.segments();
    assert!(!segments.is_empty());
    for name in &segments {
        assert!(!matches!(name.as_str(), "" | "." | ".."), "{name:?}");
        assert!(!name.contains(['/', '\\']), "{name:?}");
        assert!(!name.bytes().any(|byte| byte.is_ascii_control()), "{name:?}");
    }
    assert_eq!(uri.path(), segments.join("/"));
    assert_eq!(FileUri::parse(&uri.to_string()).as_ref(), Ok(&uri));
}

/// Reading arguments does not panic, and a document is cut to at most the bytes asked for, at the
/// end of a character. Before the first NUL stands the JSON, behind it the document.
pub fn source_request(data: &[u8]) {
    let (json, document) = match data.iter().position(|&byte| byte == 0) {
        Some(at) => (&data[..at], &data[at + 1..]),
        None => (data, &b""[..]),
    };
    let Ok(json) = std::str::from_utf8(json) else { return };
    let Ok(request) = SourceRequest::from_json(json) else { return };
    assert!(!request.path.trim().is_empty());
    let stored = StoredDocument { bytes: document.to_vec(), size_bytes: document.len() as u64 };
    let Ok(file) = read_document(&request, stored) else { return };
    let most = request.max_bytes.map_or(u64::MAX, std::num::NonZeroU64::get);
    assert!(file.content.len() as u64 <= most);
    assert_eq!(file.is_truncated, most < file.size_bytes);
    let body = document.strip_prefix(b"\xEF\xBB\xBF".as_slice()).unwrap_or(document);
    // A cut may fall into the byte order mark itself.
    assert!(file.content.is_empty() || body.starts_with(file.content.as_bytes()));
}
