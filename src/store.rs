//! A content-addressed store: bytes under their SHA-256, in a directory.
//!
//! `<root>/<first two hex digits>/<the other 62>`, lowercase. Stored bytes are never changed, so
//! writing is idempotent. Bytes are checked against their address when they are read, so a bit
//! that has flipped on the disk is an error.
//!
//! ```
//! use ringfence::store::{ContentAddress, FileStore};
//!
//! let directory = tempfile::tempdir()?;
//! let store = FileStore::open(&directory.path().join("made-if-missing"))?;
//! let address = store.put(b"# Brand\n")?;
//! assert_eq!(store.get(&address, u64::MAX)?, b"# Brand\n");
//! assert_eq!(ContentAddress::parse("../../etc/passwd"), None);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::fmt;
use std::path::Path;

use crate::hash::{Sha256Digest, from_hex, sha256, to_hex};
use crate::memory::OutOfMemory;
use crate::path::NewFilePath;
use crate::sandbox::{FileSize, NewContent, OpenError, ReadError, RootError, Sandbox, WriteError};

/// The SHA-256 of stored bytes. Shows as 64 lowercase hex digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ContentAddress(Sha256Digest);

/// The rule of a hash argument, in words.
pub const HASH_RULE: &str = "must be a SHA-256 of 64 lowercase hex digits";

impl ContentAddress {
    /// The address of bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(sha256(bytes))
    }

    /// Reads 64 lowercase hex digits; `None` for anything else.
    #[must_use]
    pub fn parse(hash: &str) -> Option<Self> {
        let is_lowercase = !hash.bytes().any(|digit| digit.is_ascii_uppercase());
        from_hex(hash).filter(|_| is_lowercase).map(Self)
    }

    /// Whether bytes have this address.
    #[must_use]
    pub fn is_of(&self, bytes: &[u8]) -> bool {
        Self::of(bytes) == *self
    }

    /// Where its bytes are, beneath the store's root.
    #[allow(clippy::expect_used, reason = "a path on every system: see the message")]
    fn path(&self) -> NewFilePath {
        let hex = to_hex(&self.0);
        let (folder, name) = hex.split_at(2);
        NewFilePath::parse(&format!("{folder}/{name}")).expect("two names of hex digits")
    }
}

impl fmt::Display for ContentAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&to_hex(&self.0))
    }
}

/// Why a call of a store failed.
#[derive(Debug, thiserror::Error)]
pub enum FileStoreError {
    /// The store's directory: the host's mistake, but for [`RootError::System`].
    #[error("the store's directory {0}")]
    Root(#[from] RootError),
    /// There are no bytes under that hash.
    #[error("no bytes are stored under the hash {0}")]
    NotFound(ContentAddress),
    /// The bytes under that hash have another hash.
    #[error("what is stored under the hash {0} does not have it")]
    Corrupt(ContentAddress),
    /// The process has no permission.
    #[error("permission denied")]
    PermissionDenied,
    /// More bytes than the caller wants.
    #[error("the stored bytes are too many: {0}")]
    TooLarge(FileSize),
    /// Reading failed.
    #[error(transparent)]
    Read(ReadError),
    /// The store could not be reached.
    #[error(transparent)]
    Open(OpenError),
    /// The store's directory has been removed since it was opened.
    #[error("the store's directory does not exist any more")]
    Gone,
    /// Something other than a file stands where the bytes belong, or a file stands where their
    /// folder belongs.
    #[error("something else stands in the place of the bytes")]
    Occupied,
    /// Writing failed.
    #[error(transparent)]
    Write(WriteError),
    /// The bytes were stored already and could not be synced.
    #[error("the stored bytes could not be synced: {}", .0.kind())]
    Unsynced(std::io::Error),
    /// The bytes do not fit into memory.
    #[error(transparent)]
    Memory(#[from] OutOfMemory),
    /// This library broke its own rules.
    #[error("ringfence failed: please report it")]
    Bug,
}

/// A store in a directory.
#[derive(Debug)]
pub struct FileStore {
    sandbox: Sandbox,
}

/// How often a write is tried again because another writer of the same bytes came first, or one
/// that failed took the folder back.
const MAX_ATTEMPTS: u32 = 16;

impl FileStore {
    /// Opens a store, and makes its directory if it is missing.
    ///
    /// # Errors
    ///
    /// [`RootError`].
    pub fn open(directory: &Path) -> Result<Self, RootError> {
        Ok(Self { sandbox: Sandbox::open_or_make(directory)? })
    }

    /// Keeps bytes. They appear complete and, when this returns, have reached the disk. Bytes that
    /// are there already are not written again, but synced: their writer may not have done it yet.
    /// A corrupt file in their place is replaced.
    ///
    /// # Errors
    ///
    /// [`FileStoreError`].
    pub fn put(&self, bytes: &[u8]) -> Result<ContentAddress, FileStoreError> {
        let address = ContentAddress::of(bytes);
        let mut last = WriteError::Contended;
        for _ in 0..MAX_ATTEMPTS {
            let is_rotten = match self.keep_stored(&address, bytes) {
                Ok(true) => return Ok(address),
                Ok(false) => true,
                Err(FileStoreError::NotFound(_)) => false,
                Err(error) => return Err(error),
            };
            match self.write(&address, bytes, is_rotten) {
                Ok(()) => return Ok(address),
                Err(error @ (WriteError::Exists | WriteError::Contended)) => last = error,
                Err(error) => return Err(error.into()),
            }
        }
        Err(last.into())
    }

    /// The bytes under an address, which have been checked against it.
    ///
    /// # Errors
    ///
    /// [`FileStoreError`]; [`FileStoreError::TooLarge`] before more than `limit` bytes are loaded.
    pub fn get(&self, address: &ContentAddress, limit: u64) -> Result<Vec<u8>, FileStoreError> {
        let bytes = self.read(address, limit)?;
        if address.is_of(&bytes) { Ok(bytes) } else { Err(FileStoreError::Corrupt(*address)) }
    }

    /// Whether there are bytes under an address; they are not checked.
    ///
    /// # Errors
    ///
    /// [`FileStoreError`].
    pub fn exists(&self, address: &ContentAddress) -> Result<bool, FileStoreError> {
        let opened = self.sandbox.open_file(address.path().as_path());
        match opened.map_err(|error| at(address, error)) {
            Ok(_) => Ok(true),
            Err(FileStoreError::NotFound(_) | FileStoreError::Corrupt(_)) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Whether the bytes are stored already. If so, syncs them.
    fn keep_stored(&self, address: &ContentAddress, bytes: &[u8]) -> Result<bool, FileStoreError> {
        let path = address.path();
        let opened = self.sandbox.open_file(path.as_path());
        let mut file = opened.map_err(|error| at(address, error))?;
        if !file.holds(bytes).map_err(FileStoreError::Read)? {
            return Ok(false);
        }
        self.sandbox.sync_file(path.as_path(), &file).map_err(FileStoreError::Unsynced)?;
        Ok(true)
    }

    fn read(&self, address: &ContentAddress, limit: u64) -> Result<Vec<u8>, FileStoreError> {
        let opened = self.sandbox.open_file(address.path().as_path());
        let file = opened.map_err(|error| at(address, error))?;
        file.read_to_end(limit).map_err(|error| match error {
            ReadError::TooLarge(size) => FileStoreError::TooLarge(size),
            error => FileStoreError::Read(error),
        })
    }

    fn write(
        &self,
        address: &ContentAddress,
        bytes: &[u8],
        overwrite: bool,
    ) -> Result<(), WriteError> {
        let content =
            NewContent { bytes, overwrite, expected: None, durable: true, executable: None };
        self.sandbox.write_file(&address.path(), &content, &|| false).map(|_| ())
    }
}

/// The store's error for an error of opening the file of an address. Any entry there that is no
/// file is corruption.
fn at(address: &ContentAddress, error: OpenError) -> FileStoreError {
    match error {
        OpenError::NotFound | OpenError::NotFolder => FileStoreError::NotFound(*address),
        OpenError::IsDirectory | OpenError::SpecialFile | OpenError::Escapes | OpenError::Loops => {
            FileStoreError::Corrupt(*address)
        }
        OpenError::PermissionDenied => FileStoreError::PermissionDenied,
        OpenError::RootGone => FileStoreError::Gone,
        error => FileStoreError::Open(error),
    }
}

impl From<WriteError> for FileStoreError {
    fn from(error: WriteError) -> Self {
        match error {
            WriteError::Open(OpenError::PermissionDenied) => Self::PermissionDenied,
            WriteError::System(error) | WriteError::Folder(error)
                if error.kind() == std::io::ErrorKind::PermissionDenied =>
            {
                Self::PermissionDenied
            }
            WriteError::Open(OpenError::RootGone) => Self::Gone,
            WriteError::Exists
            | WriteError::NotRegularFile
            | WriteError::IsDirectory
            | WriteError::FileInTheWay => Self::Occupied,
            WriteError::Folder(error) if error.kind() == std::io::ErrorKind::NotADirectory => {
                Self::Occupied
            }
            error => Self::Write(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Barrier};

    use super::*;

    fn open() -> (tempfile::TempDir, FileStore) {
        let directory = tempfile::tempdir().unwrap();
        let store = FileStore::open(directory.path()).unwrap();
        (directory, store)
    }

    #[test]
    fn bytes_lie_under_the_first_two_digits_and_the_others() {
        let (directory, store) = open();
        store.put(b"a").unwrap();
        let hash = "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb";
        let file = directory.path().join(&hash[..2]).join(&hash[2..]);
        assert_eq!(std::fs::read(file).unwrap(), b"a");
    }

    #[test]
    fn a_bit_that_has_flipped_is_an_error_that_names_the_hash_and_is_healed_by_a_put() {
        let (directory, store) = open();
        let address = store.put(b"brand").unwrap();
        let hash = address.to_string();
        std::fs::write(directory.path().join(&hash[..2]).join(&hash[2..]), b"brane").unwrap();
        let error = store.get(&address, u64::MAX).unwrap_err();
        assert!(matches!(error, FileStoreError::Corrupt(_)) && error.to_string().contains(&hash));
        store.put(b"brand").unwrap();
        assert_eq!(store.get(&address, u64::MAX).unwrap(), b"brand");
    }

    #[test]
    fn no_more_is_loaded_than_the_caller_wants() {
        let (_directory, store) = open();
        let address = store.put(b"brand").unwrap();
        assert!(matches!(store.get(&address, 4), Err(FileStoreError::TooLarge(_))));
        assert!(store.get(&address, 5).is_ok());
    }

    #[test]
    fn only_64_lowercase_hex_digits_are_an_address() {
        let lowercase = "ab".repeat(32);
        assert!(ContentAddress::parse(&lowercase).is_some());
        for hash in ["", "ab", &lowercase.to_uppercase(), &lowercase[1..], "../../etc/passwd"] {
            assert_eq!(ContentAddress::parse(hash), None, "{hash}");
        }
    }

    #[test]
    fn writers_of_the_same_bytes_all_succeed() {
        let (directory, store) = open();
        let (store, together) = (Arc::new(store), Arc::new(Barrier::new(16)));
        let writers: Vec<_> = (0..16)
            .map(|_| {
                let (store, together) = (Arc::clone(&store), Arc::clone(&together));
                std::thread::spawn(move || {
                    together.wait();
                    (0..50u8).all(|number| store.put(&[number; 9]).is_ok())
                })
            })
            .collect();
        assert!(writers.into_iter().all(|writer| writer.join().unwrap()));
        let folders = std::fs::read_dir(directory.path()).unwrap();
        let files =
            folders.map(|folder| std::fs::read_dir(folder.unwrap().path()).unwrap().count());
        assert_eq!(files.sum::<usize>(), 50);
    }
}
