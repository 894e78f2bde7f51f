//! The class `FileStore`.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use napi::Env;
use napi::bindgen_prelude::{ClassInstance, FromNapiValue, Uint8Array, Unknown};
use napi_derive::napi;

use super::argument::{Argument, number};
use super::error::{JsError, or_throw};
use super::options::read_directory_path;
use super::signals::read_signals;
use crate::argument::{ArgumentError, Got};
use crate::memory;
use crate::node::call::outcome::Outcome;
use crate::node::call::run::{Call, Prepared, run_async};
use crate::sandbox::RootError;
use crate::store::{self as core, ContentAddress, HASH_RULE};

/// A content-addressed store in a directory: bytes under their SHA-256, at
/// `<directory>/<first two hex digits>/<the other 62>`.
///
/// Bytes appear complete or not at all, and are checked against their hash when they are read.
#[napi]
pub struct FileStore {
    /// `None` once closed.
    store: Option<Arc<core::FileStore>>,
}

#[napi]
impl FileStore {
    /// Opens a store by the absolute path of its directory, which is made if it is missing. Synchronous.
    ///
    /// Throws a `FileStoreError`.
    #[napi(factory, ts_args_type = "directory: string")]
    pub fn open(env: &Env, directory: Unknown<'_>) -> napi::Result<Self> {
        let directory = Argument::new(env, "directory", directory);
        or_throw(env, || -> Result<Self, FileStoreError> {
            let directory = read_directory_path(directory, "directory")?;
            let store = core::FileStore::open(&directory).map_err(core::FileStoreError::from)?;
            Ok(Self { store: Some(Arc::new(store)) })
        })
    }

    /// Keeps bytes. They have reached the disk when the promise resolves. Bytes that the store has
    /// already are synced, not written again; a corrupt file in their place is replaced. An aborted
    /// call may still keep its bytes, complete.
    ///
    /// Rejects with a `FileStoreError`, or with `signal.reason`.
    #[napi(
        ts_args_type = "bytes: Uint8Array, options?: CallOptions | null",
        ts_return_type = "Promise<StoredBytes>"
    )]
    pub fn put_bytes<'env>(
        &self,
        env: &'env Env,
        bytes: Unknown<'env>,
        options: Unknown<'env>,
    ) -> napi::Result<Unknown<'env>> {
        self.run(
            env,
            options,
            || {
                // The caller may change them as soon as the call has returned.
                let bytes = Argument::new(env, "bytes", bytes).bytes()?;
                Ok(memory::copy_of(&bytes).map_err(core::FileStoreError::from)?)
            },
            |store, bytes: Vec<u8>| {
                let hash = store.put(&bytes)?.to_string();
                Ok(StoredBytes { hash, size: number(bytes.len() as u64) })
            },
        )
    }

    /// The bytes of a hash, checked against it.
    ///
    /// Rejects with a `FileStoreError`, or with `signal.reason`.
    #[napi(
        ts_args_type = "hash: string, options?: CallOptions | null",
        ts_return_type = "Promise<Uint8Array>"
    )]
    pub fn get_bytes<'env>(
        &self,
        env: &'env Env,
        hash: Unknown<'env>,
        options: Unknown<'env>,
    ) -> napi::Result<Unknown<'env>> {
        self.run(
            env,
            options,
            || read_hash(env, hash),
            |store, address| store.get(&address, MAX_BUFFER_BYTES).map(Uint8Array::from),
        )
    }

    /// Whether the store has bytes under a hash. They are not checked.
    ///
    /// Rejects with a `FileStoreError`, or with `signal.reason`.
    #[napi(
        ts_args_type = "hash: string, options?: CallOptions | null",
        ts_return_type = "Promise<boolean>"
    )]
    pub fn exists<'env>(
        &self,
        env: &'env Env,
        hash: Unknown<'env>,
        options: Unknown<'env>,
    ) -> napi::Result<Unknown<'env>> {
        self.run(env, options, || read_hash(env, hash), |store, address| store.exists(&address))
    }

    /// Closes the directory now, instead of when the object is collected. Calls under way finish; later
    /// ones fail with `INVALID_ARGUMENT`. A second call does nothing.
    #[napi]
    pub fn close(&mut self) {
        self.store = None;
    }
}

/// The result of `putBytes`.
#[napi(object, object_from_js = false)]
pub struct StoredBytes {
    /// SHA-256 of the bytes, 64 lowercase hex digits.
    pub hash: String,
    /// How many bytes.
    pub size: f64,
}

/// The largest buffer of every engine that is supported, in bytes: 4 GiB, that of Node 20.
const MAX_BUFFER_BYTES: u64 = 1 << 32;

impl FileStore {
    /// The store, if the object is one. napi-rs checks the object's type tag, so an object with a
    /// forged prototype is none.
    pub fn from_js(value: Unknown<'_>) -> Option<Result<Arc<core::FileStore>, ArgumentError>> {
        let instance: ClassInstance<'_, Self> = ClassInstance::from_unknown(value).ok()?;
        Some(instance.store())
    }

    fn store(&self) -> Result<Arc<core::FileStore>, ArgumentError> {
        let closed = || ArgumentError::new("store", "is a FileStore that was closed", Got::Unsaid);
        self.store.clone().ok_or_else(closed)
    }

    /// Runs a call that has one argument and options.
    fn run<'env, A: Send + 'static, R: Send>(
        &self,
        env: &'env Env,
        options: Unknown<'env>,
        read: impl FnOnce() -> Result<A, FileStoreError>,
        work: impl FnOnce(&core::FileStore, A) -> Result<R, core::FileStoreError> + Send + 'static,
    ) -> napi::Result<Unknown<'env>>
    where
        Result<R, FileStoreError>: Outcome,
    {
        run_async(env, || -> Prepared<'env, _, Result<R, FileStoreError>> {
            let options = Argument::new(env, "options", options).present();
            let signals = read_signals(env, [options, None])?;
            let argument = read()?;
            options.map(Argument::object).transpose()?;
            let (signals, store) = (signals?, self.store()?);
            Ok(Call::new(signals, move |_: &AtomicBool| Ok(work(&store, argument)?)))
        })
    }
}

fn read_hash(env: &Env, hash: Unknown<'_>) -> Result<ContentAddress, FileStoreError> {
    let text = Argument::new(env, "hash", hash).unicode();
    let text = text.map_err(|error| ArgumentError { rule: HASH_RULE.to_owned(), ..error })?;
    let address = ContentAddress::parse(&text);
    Ok(address.ok_or_else(|| ArgumentError::new("hash", HASH_RULE, Got::Unsaid))?)
}

/// Why a call on a store failed.
#[derive(Debug, thiserror::Error)]
enum FileStoreError {
    /// The caller's mistake.
    #[error(transparent)]
    Argument(#[from] ArgumentError),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] core::FileStoreError),
}

impl JsError for FileStoreError {
    const NAME: &'static str = "FileStoreError";

    fn bug() -> Self {
        Self::Store(core::FileStoreError::Bug)
    }

    #[allow(clippy::match_same_arms, reason = "a table, layer by layer")]
    fn code(&self) -> &str {
        use core::FileStoreError as Store;
        match self {
            Self::Argument(_) => "INVALID_ARGUMENT",
            Self::Store(Store::Root(RootError::PermissionDenied)) => "PERMISSION_DENIED",
            Self::Store(Store::Root(RootError::System(_))) => "INTERNAL",
            Self::Store(Store::Root(_)) => "INVALID_ARGUMENT",
            Self::Store(Store::NotFound(_)) => "NOT_FOUND",
            Self::Store(Store::Corrupt(_)) => "CORRUPT",
            Self::Store(Store::PermissionDenied) => "PERMISSION_DENIED",
            Self::Store(_) => "INTERNAL",
        }
    }
}
