//! The failures of planning.

use super::{at, key};
use crate::hash::Sha256Digest;
use crate::path::EntryPath;
use crate::tools::apply_patch::{ExpectedFile, hex_or_null};
use crate::tools::edit_file::{MAX_EDIT_FILE_SIZE_BYTES, too_large_after};
use crate::tools::failure::{ErrorCode, Failure};

/// The failure where something stands at the path of a new or a moved file.
pub(in crate::tools::apply_patch) fn exists(path: &EntryPath) -> Failure {
    let sentence = "something stands there, and a patch puts no new file in its place: to change a file, give hunks \
                    against its present lines (V4A: `*** Update File:`); to replace it, delete it in an earlier section";
    at(Failure::new(ErrorCode::AlreadyExists, sentence), path)
}

pub(super) fn two_names(other: &str, path: &EntryPath) -> Failure {
    let sentence = format!(
        "the patch changes one file as \"{other}\" and as \"{}\": give all its changes under one name",
        key(path)
    );
    at(Failure::new(ErrorCode::PatchInvalid, sentence), path)
}

pub(super) fn gone(path: &EntryPath) -> Failure {
    let sentence = "expected_hashes has a hash for this path, but nothing stands there any more";
    at(Failure::new(ErrorCode::Stale, sentence).with("sha256", hex_or_null(None)), path)
}

pub(super) fn not_expected(expected: ExpectedFile, present: &Sha256Digest) -> Failure {
    let sentence = match expected {
        ExpectedFile::Hash(_) => {
            "the file has changed since it was read, so its hash is not that in expected_hashes: read it again"
        }
        ExpectedFile::Absent => "expected_hashes says that nothing stands there, but a file does",
    };
    Failure::new(ErrorCode::Stale, sentence).with("sha256", hex_or_null(Some(*present)))
}

pub(super) fn link_stands() -> Failure {
    let sentence = "expected_hashes says that nothing stands there, but a link does";
    Failure::new(ErrorCode::Stale, sentence).with("sha256", hex_or_null(None))
}

pub(super) fn folder_stands() -> Failure {
    let sentence = "a folder, not a file: a patch deletes and moves files and links";
    Failure::new(ErrorCode::NotFile, sentence)
}

pub(super) fn not_comparable() -> Failure {
    let sentence =
        "expected_hashes has the hash of a file's bytes for this path, but a link stands there";
    Failure::new(ErrorCode::NotFile, sentence)
}

pub(super) fn too_large() -> Failure {
    let sentence = format!("the file has more than {MAX_EDIT_FILE_SIZE_BYTES} bytes (10 MiB)");
    Failure::new(ErrorCode::SizeLimitExceeded, sentence)
}

pub(super) fn refuse_large(bytes: &[u8], path: &EntryPath) -> Result<(), Failure> {
    let size = bytes.len() as u64;
    if size > MAX_EDIT_FILE_SIZE_BYTES { Err(at(too_large_after(size), path)) } else { Ok(()) }
}
