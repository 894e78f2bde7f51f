use proptest::prelude::*;

use super::*;

fn request(max_bytes: Option<u64>) -> SourceRequest {
    let max_bytes = max_bytes.map(|most| most.try_into().unwrap());
    SourceRequest { path: "a.md".to_owned(), max_bytes }
}

fn whole(bytes: &[u8]) -> StoredDocument {
    StoredDocument { bytes: bytes.to_vec(), size_bytes: bytes.len() as u64 }
}

#[test]
fn arguments_of_the_wrong_types_are_named() {
    for (json, named) in [
        ("", "path must be"),
        ("null", "path must be"),
        ("{}", "path must be"),
        (
            r#"{"path":1}"#,
            "path must be a non-empty string, the DocPath exactly as the RAG snippet gives it, got 1",
        ),
        (r#"{"path":" "}"#, "path must be"),
        (r#"{"path":"a","maxBytes":0}"#, "maxBytes must be an integer >= 1, got 0"),
        (r#"{"path":"a","maxBytes":1.5}"#, "maxBytes must be an integer >= 1, got 1.5"),
        (r#"{"path":"a","maxBytes":"10"}"#, "maxBytes must be an integer >= 1, got a string"),
        (r#"{"path":"a","maxBytes":9007199254740992}"#, "maxBytes must be"),
        ("[]", "argumentsJson must be the JSON of an object: "),
        ("{", "argumentsJson must be the JSON of an object: "),
        (&"[".repeat(100_000), "argumentsJson must be the JSON of an object: "),
    ] {
        let message = SourceRequest::from_json(json).unwrap_err().to_string();
        assert!(message.starts_with(named), "{message}");
    }
}

#[test]
fn whole_floats_null_and_unknown_keys_are_taken_as_meant() {
    let json = r#"{"path":"a","maxBytes":10.0,"other":[1]}"#;
    assert_eq!(SourceRequest::from_json(json).unwrap().max_bytes, 10.try_into().ok());
    let json = r#"{"path":"a","maxBytes":null}"#;
    assert_eq!(SourceRequest::from_json(json).unwrap().max_bytes, None);
}

#[test]
fn what_an_unknown_key_holds_does_not_matter() {
    let deep = format!(r#"{{"x":{}{},"path":"a"}}"#, "[".repeat(200), "]".repeat(200));
    for json in [r#"{"path":"a","x":"\ud800"}"#, r#"{"path":"a","x":1e400}"#, &deep] {
        assert!(SourceRequest::from_json(json).is_ok(), "{json}");
    }
    let twice = SourceRequest::from_json(r#"{"path":1,"path":"b"}"#).unwrap();
    assert_eq!(twice.path, "b");
}

#[test]
fn a_byte_order_mark_is_counted_and_not_shown() {
    let document = read_document(&request(None), whole(b"\xEF\xBB\xBFa")).unwrap();
    assert_eq!((document.content.as_str(), document.size_bytes), ("a", 4));
    let cut = read_document(&request(Some(2)), whole(b"\xEF\xBB\xBFa")).unwrap();
    assert_eq!((cut.content.as_str(), cut.is_truncated), ("", true));
}

#[test]
fn a_document_that_is_not_utf8_is_no_document() {
    for bytes in [&b"a\xff"[..], b"\xEF\xBB\xBF\xC3", b"a\xC3"] {
        let read = read_document(&request(None), whole(bytes));
        assert!(matches!(read, Err(StoreFault::NotUtf8(_))), "{bytes:?}");
    }
    // Ill-formed at the cut is not the same as cut.
    let read = read_document(&request(Some(2)), whole(b"a\xffbc"));
    assert!(matches!(read, Err(StoreFault::NotUtf8(1))));
}

#[test]
fn a_store_that_gives_too_little_or_too_much_is_found_out() {
    let short = StoredDocument { bytes: b"ab".to_vec(), size_bytes: 5 };
    assert!(matches!(
        read_document(&request(None), short.clone()),
        Err(StoreFault::WrongLength { given: 2, size: 5, wanted: 5 })
    ));
    assert!(read_document(&request(Some(2)), short).is_ok());
    let long = StoredDocument { bytes: b"abc".to_vec(), size_bytes: 2 };
    assert!(read_document(&request(None), long).is_err());
}

#[test]
fn keys_of_a_directory_are_relative_paths_in_their_shortest_form() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::create_dir(directory.path().join("src")).unwrap();
    std::fs::write(directory.path().join("src/a.cs"), "class A").unwrap();
    let store = Sandbox::open(directory.path()).unwrap();
    let get =
        |path: &str| get_from_directory(&store, path, None).unwrap().map(|document| document.bytes);
    assert_eq!(get("src/a.cs").as_deref(), Some(&b"class A"[..]));
    let absolute = directory.path().join("src/a.cs");
    let others =
        ["./src/a.cs", "src//a.cs", "src/a.cs/", "src\\a.cs", "src/../src/a.cs", "../a", "src", ""];
    for path in others.into_iter().chain(absolute.to_str()) {
        assert_eq!(get(path), None, "{path}");
    }
}

#[cfg(unix)]
#[test]
fn a_link_out_of_a_directory_is_a_fault_and_no_missing_document() {
    let outside = tempfile::NamedTempFile::new().unwrap();
    let directory = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(outside.path(), directory.path().join("a.cs")).unwrap();
    let store = Sandbox::open(directory.path()).unwrap();
    assert_eq!(get_from_directory(&store, "a.cs", None).unwrap_err().code(), "SANDBOX_VIOLATION");
}

#[test]
fn the_beginning_of_a_large_file_is_all_that_is_read() {
    let directory = tempfile::tempdir().unwrap();
    let file = std::fs::File::create(directory.path().join("large")).unwrap();
    file.set_len(1 << 40).unwrap();
    let store = Sandbox::open(directory.path()).unwrap();
    let document = get_from_directory(&store, "large", 1000.try_into().ok()).unwrap().unwrap();
    assert_eq!((document.bytes.len(), document.size_bytes), (1000, 1 << 40));
}

proptest! {
    #[test]
    fn a_cut_is_the_longest_run_of_whole_characters(text in "[a-zé漢😀]{0,20}", most in 1usize..90) {
        let document = read_document(&request(Some(most as u64)), whole(text.as_bytes())).unwrap();
        let mut expected = String::new();
        for character in text.chars() {
            if expected.len() + character.len_utf8() > most {
                break;
            }
            expected.push(character);
        }
        prop_assert_eq!(document.is_truncated, most < text.len());
        prop_assert_eq!(document.content, expected);
    }
}
