//! A content-addressed store: bytes under their SHA-256, in a directory.
//!
//! `<root>/<first two hex digits>/<the other 62>`, lowercase. What is stored is never changed, so
//! writing is idempotent; and what is read is checked against its address, so that a bit that has
//! flipped on the disk is an error and never a text.
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

/// Why a store did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum FileStoreError {
    /// The store's directory: the host's mistake, but for [`RootError::System`].
    #[error("the store's directory {0}")]
    Root(#[from] RootError),
    /// There are no bytes under that hash.
    #[error("no bytes are stored under the hash {0}")]
    NotFound(ContentAddress),
    /// What is under that hash has another.
    #[error("what is stored under the hash {0} does not have it")]
    Corrupt(ContentAddress),
    /// The process may not.
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
    Way(OpenError),
    /// Writing failed.
    #[error(transparent)]
    Write(WriteError),
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
    /// are there already are not written again; a file that has rotted in their place is replaced.
    ///
    /// # Errors
    ///
    /// [`FileStoreError`].
    pub fn put(&self, bytes: &[u8]) -> Result<ContentAddress, FileStoreError> {
        let address = ContentAddress::of(bytes);
        let mut last = WriteError::Contended;
        for _ in 0..MAX_ATTEMPTS {
            let is_rotten = match self.read(&address, bytes.len() as u64) {
                Ok(stored) if stored == bytes => return Ok(address),
                Ok(_) | Err(FileStoreError::TooLarge(_)) => true,
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
        let content = NewContent { bytes, overwrite, expected: None, durable: true };
        self.sandbox.write_file(&address.path(), &content, &|| false).map(|_| ())
    }
}

/// What stands in the way of the bytes of one address. Nothing but a file can be right there.
fn at(address: &ContentAddress, error: OpenError) -> FileStoreError {
    match error {
        OpenError::NotFound | OpenError::NotFolder => FileStoreError::NotFound(*address),
        OpenError::IsDirectory | OpenError::SpecialFile | OpenError::Escapes | OpenError::Loops => {
            FileStoreError::Corrupt(*address)
        }
        OpenError::PermissionDenied => FileStoreError::PermissionDenied,
        error => FileStoreError::Way(error),
    }
}

impl From<WriteError> for FileStoreError {
    fn from(error: WriteError) -> Self {
        match error {
            WriteError::Way(OpenError::PermissionDenied) => Self::PermissionDenied,
            WriteError::System(error) | WriteError::Folder(error)
                if error.kind() == std::io::ErrorKind::PermissionDenied =>
            {
                Self::PermissionDenied
            }
            error => Self::Write(error),
        }
    }
}
