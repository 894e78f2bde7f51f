//! The class `DirectoryStore`.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use napi::Env;
use napi::bindgen_prelude::{ClassInstance, FromNapiValue, Uint8Array, Unknown};
use napi_derive::napi;

use super::access_rules::{read_rules, with_rules};
use super::argument::{Argument, number};
use super::error::{JsError, or_throw};
use super::options::read_directory_path;
use super::signals::read_signals;
use crate::argument::{ArgumentError, Got, SAFE_INTEGERS};
use crate::node::call::run::{Call, Prepared, run_async};
use crate::sandbox::Sandbox;
use crate::tools::source::{self as core, StoreFault};

/// The embedded store of source documents: the files of a directory.
///
/// A DocPath is a relative path in its shortest form, separated by `/`; any other text has no document. A
/// symbolic link that leads out of the directory is an error.
#[napi]
pub struct DirectoryStore {
    /// `None` once closed.
    directory: Option<Arc<Sandbox>>,
}

#[napi]
impl DirectoryStore {
    /// Opens a store by the absolute path of its directory. Synchronous.
    ///
    /// A document that the access rules `options.rules` deny counts as absent.
    ///
    /// Throws a `DocumentStoreError`.
    #[napi(factory, ts_args_type = "directory: string, options?: DirectoryStoreOptions | null")]
    pub fn open(env: &Env, directory: Unknown<'_>, options: Unknown<'_>) -> napi::Result<Self> {
        let directory = Argument::new(env, "directory", directory);
        let options = Argument::new(env, "options", options);
        or_throw(env, || -> Result<Self, DocumentStoreError> {
            let directory = read_directory_path(directory, "directory")?;
            let options = options.present().map(Argument::object).transpose()?;
            let rules = options.map(read_rules).transpose()?.flatten();
            let directory = Sandbox::open(&directory).map_err(StoreFault::from)?;
            Ok(Self { directory: Some(Arc::new(with_rules(directory, rules)?)) })
        })
    }

    /// Looks a document up by its DocPath; `null` if there is none.
    ///
    /// Rejects with a `DocumentStoreError`, or with `signal.reason`.
    #[napi(
        ts_args_type = "docPath: string, options?: DocumentRequest | null",
        ts_return_type = "Promise<StoredDocument | null>"
    )]
    pub fn get<'env>(
        &self,
        env: &'env Env,
        doc_path: Unknown<'env>,
        options: Unknown<'env>,
    ) -> napi::Result<Unknown<'env>> {
        let directory = self.directory();
        run_async(env, || prepare_get(env, directory, doc_path, options))
    }

    /// Closes the directory now, instead of when the object is collected. Calls under way finish; later
    /// ones fail with `INVALID_ARGUMENT`. A second call does nothing.
    #[napi]
    pub fn close(&mut self) {
        self.directory = None;
    }
}

impl DirectoryStore {
    /// The store's directory, if the object is a store. napi-rs checks the object's type tag, so an object
    /// with a forged prototype is none.
    pub fn from_js(value: Unknown<'_>) -> Option<Result<Arc<Sandbox>, ArgumentError>> {
        let instance: ClassInstance<'_, Self> = ClassInstance::from_unknown(value).ok()?;
        Some(instance.directory())
    }

    fn directory(&self) -> Result<Arc<Sandbox>, ArgumentError> {
        let rule = "is a DirectoryStore that was closed";
        let closed = || ArgumentError::new("store", rule, Got::Unsaid);
        self.directory.clone().ok_or_else(closed)
    }
}

/// A document in a store.
#[napi(object, object_from_js = false)]
pub struct StoredDocument {
    /// All its bytes, or at least the first `maxBytes`.
    pub bytes: Uint8Array,
    /// How many bytes the whole document has.
    pub size_bytes: f64,
}

type GetResult = Result<Option<StoredDocument>, DocumentStoreError>;

fn prepare_get<'env>(
    env: &'env Env,
    directory: Result<Arc<Sandbox>, ArgumentError>,
    doc_path: Unknown<'env>,
    options: Unknown<'env>,
) -> Prepared<'env, impl FnOnce(&AtomicBool) -> GetResult + Send + 'static, GetResult> {
    let options = Argument::new(env, "options", options).present();
    let signals = read_signals(env, [options, None])?;
    let doc_path = Argument::new(env, "docPath", doc_path).unicode()?;
    let options = options.map(Argument::object).transpose()?;
    let read_integer = |value: Argument<'_>| value.integer(&SAFE_INTEGERS);
    let most = options.map(|options| options.optional(c"maxBytes", "maxBytes", read_integer));
    let most = most.transpose()?.flatten();
    let (signals, directory) = (signals?, directory?);
    Ok(Call::new(signals, move |_: &AtomicBool| {
        let document = core::get_from_directory(&directory, &doc_path, most)?;
        Ok(document.map(Into::into))
    }))
}

impl From<core::StoredDocument> for StoredDocument {
    fn from(document: core::StoredDocument) -> Self {
        let core::StoredDocument { bytes, size_bytes } = document;
        Self { bytes: bytes.into(), size_bytes: number(size_bytes) }
    }
}

/// Why a store gave no document.
#[derive(Debug, thiserror::Error)]
pub enum DocumentStoreError {
    /// The caller's mistake.
    #[error(transparent)]
    Argument(#[from] ArgumentError),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreFault),
}

impl JsError for DocumentStoreError {
    const NAME: &'static str = "DocumentStoreError";

    fn bug() -> Self {
        Self::Store(StoreFault::Bug)
    }

    fn code(&self) -> &str {
        match self {
            Self::Argument(_) => "INVALID_ARGUMENT",
            Self::Store(fault) => fault.code(),
        }
    }
}
