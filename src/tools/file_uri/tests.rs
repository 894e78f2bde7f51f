use proptest::prelude::*;

use super::*;

fn path_of(uri: &str) -> Result<String, UriRefusal> {
    FileUri::parse(uri).map(|parsed| parsed.path())
}

#[test]
fn the_two_forms() {
    assert_eq!(path_of("file:///assets/brand.md"), Ok("assets/brand.md".to_owned()));
    assert_eq!(path_of("file:notes/a.md"), Ok("files/notes/a.md".to_owned()));
    assert_eq!(path_of("FILE:a.md"), Ok("files/a.md".to_owned()));
}

#[test]
fn names_are_decoded_once() {
    assert_eq!(path_of("file:a%20b%2520.md"), Ok("files/a b%20.md".to_owned()));
    assert_eq!(path_of("file:///a?b#c"), Ok("a?b#c".to_owned()));
}

#[test]
fn dots_are_taken_for_dots_however_they_are_written() {
    assert_eq!(path_of("file:///a/%2e%2E/./b//c/"), Ok("b/c".to_owned()));
    assert_eq!(path_of("file:a/%2e%2e/../b"), Err(UriRefusal::AboveRoot));
}

#[test]
fn every_refusal() {
    use ForbiddenCharacter::{Backslash, Control, Nul, Slash};
    let character = UriRefusal::Character;
    for (uri, refusal) in [
        ("", UriRefusal::NotFile),
        ("http://a/b", UriRefusal::NotFile),
        (" file:a", UriRefusal::NotFile),
        ("file:", UriRefusal::WithoutPath),
        ("file:///", UriRefusal::WithoutPath),
        ("file://", UriRefusal::WithoutPath),
        ("file:a/..", UriRefusal::WithoutPath),
        ("file://host/a", UriRefusal::Authority),
        ("file://localhost/a", UriRefusal::Authority),
        ("file:/a", UriRefusal::Slashes),
        ("file:////a", UriRefusal::Slashes),
        ("file:%", UriRefusal::BadEscape),
        ("file:%+1", UriRefusal::BadEscape),
        ("file:%ff", UriRefusal::BadEscape),
        ("file:%é", UriRefusal::BadEscape),
        ("file:a%00", character(Nul)),
        ("file:a%2fb", character(Slash)),
        ("file:a\\b", character(Backslash)),
        ("file:a\nb", character(Control)),
        ("file:\u{7f}", character(Control)),
        ("file:///C:/a", UriRefusal::DriveLetter),
        ("file:c%7C", UriRefusal::DriveLetter),
        ("file:C:/../a", UriRefusal::DriveLetter),
        ("file:../a", UriRefusal::AboveRoot),
        ("file:a/../../a", UriRefusal::AboveRoot),
    ] {
        assert_eq!(FileUri::parse(uri), Err(refusal), "{uri:?}");
    }
}

#[test]
fn the_specifications_sentences() {
    let missing = |uri| {
        let uri = FileUri::parse(uri).unwrap();
        FileUriError::File(uri, Problem::NotInTree).to_string()
    };
    assert_eq!(
        missing("file:///assets/brand.md"),
        "NOT_FOUND: Workspace file not found at /assets/brand.md"
    );
    assert_eq!(
        missing("file:notes/project-a.md"),
        "NOT_FOUND: Chat file not found at files/notes/project-a.md"
    );
}

/// Texts that come near a URI in every way that matters.
fn near_uris() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "file",
        "FILE",
        ":",
        "/",
        "//",
        "///",
        ".",
        "..",
        "%2e",
        "%2F",
        "%5c",
        "%00",
        "%25",
        "%",
        "%zz",
        "%C3%A9",
        "%ff",
        "\\",
        "\n",
        "\u{7f}",
        "\u{85}",
        "é",
        "C:",
        "c|",
        "a",
        "b.md",
        "?",
        "#",
        " ",
        "localhost",
        "\u{202e}",
    ]);
    let pieces = prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat());
    let start = prop::sample::select(vec!["", "file:", "file:///", "FiLe:"]);
    (start, pieces).prop_map(|(start, rest)| format!("{start}{rest}"))
}

proptest! {
    #[test]
    fn parsing_never_panics(uri in any::<String>()) {
        let _ = FileUri::parse(&uri);
    }

    #[test]
    fn what_is_accepted_has_safe_names_and_survives_formatting(uri in near_uris()) {
        if let Ok(parsed) = FileUri::parse(&uri) {
            prop_assert!(!parsed.names.is_empty());
            for name in &parsed.names {
                prop_assert!(!matches!(name.as_str(), "" | "." | ".."), "{:?}", name);
                prop_assert!(!name.contains(['/', '\\']), "{:?}", name);
                prop_assert!(!name.bytes().any(|byte| byte.is_ascii_control()), "{:?}", name);
            }
            prop_assert_eq!(FileUri::parse(&parsed.to_string()), Ok(parsed));
        }
    }

    #[test]
    fn escaping_every_byte_of_a_name_changes_nothing(name in "[a-zA-Zé😀?#%+ .~-]{1,12}") {
        let escaped: Vec<_> = name.bytes().map(|byte| format!("%{byte:02x}")).collect();
        let escaped = escaped.concat();
        let raw = name.replace('%', "%25");
        prop_assert_eq!(path_of(&format!("file:///{escaped}")), path_of(&format!("file:///{raw}")));
    }
}
