//! The class `FileStore`.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use napi::Env;
use napi::bindgen_prelude::{ClassInstance, FromNapiValue, Uint8Array, Unknown};
use napi_derive::napi;

use super::abort::Signals;
use super::call::{Call, Converted, NotStarted, OnAbort, Outcome, guard, run_async};
use super::context::read_directory_path;
use super::error::{self, IntoJsError, or_throw};
use super::raw::to_js;
use super::value::{Argument, number};
use crate::argument::{ArgumentError, Got};
use crate::sandbox::RootError;
use crate::store::{self as core, ContentAddress, HASH_RULE};

/// A content-addressed store in a directory: bytes under their SHA-256, at
/// `<directory>/<first two hex digits>/<the other 62>`.
///
/// Bytes appear complete or not at all, and are checked against their hash on the way out.
#[napi]
pub struct FileStore {
    /// `None` once closed.
    store: Option<Arc<core::FileStore>>,
}

#[napi]
impl FileStore {
    /// Opens a store by the absolute path of its directory, which is made if it is missing;
    /// synchronous.
    ///
    /// Throws a `FileStoreError`.
    #[napi(factory, ts_args_type = "directory: string")]
    pub fn open(env: &Env, directory: Unknown<'_>) -> napi::Result<Self> {
        let directory = Argument::new(env, "directory", directory);
        or_throw(env, guard(|| Self::try_open(directory)), FileStoreError::BUG)
    }

    fn try_open(directory: Argument<'_>) -> Result<Self, FileStoreError> {
        let directory: PathBuf = read_directory_path(directory, "directory")?;
        let store = core::FileStore::open(&directory).map_err(core::FileStoreError::from)?;
        Ok(Self { store: Some(Arc::new(store)) })
    }

    /// Keeps bytes, which have reached the disk when the promise resolves. Bytes that are there
    /// already are not written again; a file that has rotted in their place is replaced.
    /// Those of an aborted call may be kept all the same, whole.
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
        run_async(env, || {
            let read = || {
                // The caller may change them as soon as the call has returned.
                Ok(Argument::new(env, "bytes", bytes).bytes()?.to_vec())
            };
            prepare(
                env,
                options,
                read,
                |store, bytes: Vec<u8>| {
                    let address = store.put(&bytes)?;
                    Ok(Stored::Bytes { hash: address.to_string(), size: bytes.len() })
                },
                self.store.as_ref(),
            )
        })
    }

    /// The bytes of a hash, which have been checked against it.
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
        self.with_hash(env, hash, options, |store, address| {
            store.get(&address, MAX_BUFFER_BYTES).map(Stored::Content)
        })
    }

    /// Whether there are bytes under a hash; they are not checked.
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
        self.with_hash(env, hash, options, |store, address| {
            store.exists(&address).map(Stored::Exists)
        })
    }

    /// Lets go of the directory at once, instead of when the object is collected. Calls under way
    /// finish; later ones fail with `INVALID_ARGUMENT`. Closing twice is no mistake.
    #[napi]
    pub fn close(&mut self) {
        self.store = None;
    }
}

/// The largest buffer of every engine that is supported, in bytes: 4 GiB, that of Node 20.
const MAX_BUFFER_BYTES: u64 = 1 << 32;

impl FileStore {
    /// The store, if the object is one.
    pub(super) fn from_js(
        value: Unknown<'_>,
    ) -> Option<Result<Arc<core::FileStore>, ArgumentError>> {
        // napi-rs checks the object's type tag, so a forged prototype does not pass.
        let instance: ClassInstance<'_, Self> = ClassInstance::from_unknown(value).ok()?;
        Some(open(instance.store.as_ref()))
    }

    /// A call that takes a hash.
    fn with_hash<'env>(
        &self,
        env: &'env Env,
        hash: Unknown<'env>,
        options: Unknown<'env>,
        work: impl FnOnce(&core::FileStore, ContentAddress) -> Result<Stored, core::FileStoreError>
        + Send
        + 'static,
    ) -> napi::Result<Unknown<'env>> {
        let read = || read_hash(Argument::new(env, "hash", hash));
        run_async(env, || prepare(env, options, read, work, self.store.as_ref()))
    }
}

fn open(store: Option<&Arc<core::FileStore>>) -> Result<Arc<core::FileStore>, ArgumentError> {
    let closed = || ArgumentError::new("store", "is a FileStore that was closed", Got::Unsaid);
    store.cloned().ok_or_else(closed)
}

/// What a store answers.
enum Stored {
    Bytes { hash: String, size: usize },
    Content(Vec<u8>),
    Exists(bool),
}

type Answer = Result<Stored, FileStoreError>;

fn read_hash(hash: Argument<'_>) -> Result<ContentAddress, ArgumentError> {
    let text =
        hash.unicode().map_err(|error| ArgumentError { rule: HASH_RULE.to_owned(), ..error })?;
    ContentAddress::parse(&text).ok_or_else(|| ArgumentError::new("hash", HASH_RULE, Got::Unsaid))
}

fn prepare<'env, A: Send + 'static>(
    env: &'env Env,
    options: Unknown<'env>,
    read: impl FnOnce() -> Result<A, ArgumentError>,
    work: impl FnOnce(&core::FileStore, A) -> Result<Stored, core::FileStoreError> + Send + 'static,
    store: Option<&Arc<core::FileStore>>,
) -> Result<Call<'env, impl FnOnce(&AtomicBool) -> Answer + Send + 'static>, NotStarted<'env, Answer>>
{
    let options = Argument::new(env, "options", options).present();
    let signals = Signals::read(env, [options, None])?;
    let is_object = options.map(Argument::object).transpose();
    let checked = read().and_then(|argument| Ok((argument, is_object.and(signals)?, open(store)?)));
    let (argument, signals, store) =
        checked.map_err(|error| NotStarted::Refused(Err(error.into())))?;
    let work = move |_: &AtomicBool| Ok(work(&store, argument)?);
    Ok(Call { work, signals, on_abort: OnAbort::Reject })
}

impl Outcome for Answer {
    fn into_js(self, env: &Env) -> Converted<'_> {
        Ok(match self {
            Ok(Stored::Bytes { hash, size }) => {
                let mut stored = napi::bindgen_prelude::Object::new(env)?;
                stored.set("hash", hash)?;
                stored.set("size", number(size as u64))?;
                Ok(to_js(env, stored)?)
            }
            Ok(Stored::Content(bytes)) => Ok(to_js(env, Uint8Array::from(bytes))?),
            Ok(Stored::Exists(exists)) => Ok(to_js(env, exists)?),
            Err(error) => Err(error::into_js(env, &error)?),
        })
    }

    fn bug() -> Self {
        Err(FileStoreError::BUG)
    }
}

/// Why a store did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub(super) enum FileStoreError {
    /// The caller's mistake.
    #[error(transparent)]
    Argument(#[from] ArgumentError),
    /// What the store found.
    #[error(transparent)]
    Store(#[from] core::FileStoreError),
}

impl FileStoreError {
    const BUG: Self = Self::Store(core::FileStoreError::Bug);
}

impl IntoJsError for FileStoreError {
    const NAME: &'static str = "FileStoreError";

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

    fn message(&self) -> String {
        format!("{}: {self}", self.code())
    }
}
