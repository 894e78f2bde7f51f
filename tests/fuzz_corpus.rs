//! Every input that fuzzing has kept, replayed.

#[path = "../fuzz/properties.rs"]
mod properties;

#[allow(clippy::unwrap_used, reason = "a test")]
fn replay(target: &str, property: fn(&[u8])) {
    let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/fuzz/corpus/").to_owned() + target;
    let mut replayed = 0;
    for input in std::fs::read_dir(corpus).unwrap() {
        property(&std::fs::read(input.unwrap().path()).unwrap());
        replayed += 1;
    }
    assert!(replayed >= 20, "the corpus of {target} is gone");
}

#[test]
fn file_uri() {
    replay("file_uri", properties::file_uri);
}

#[test]
fn source_request() {
    replay("source_request", properties::source_request);
}
