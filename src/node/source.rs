//! `readSourceDocument`, and the class `DirectoryStore`.

use std::num::NonZeroU64;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use napi::Env;
use napi::bindgen_prelude::{
    ClassInstance, FromNapiValue, JsObjectValue, Object, Uint8Array, Unknown,
};
use napi_derive::napi;

use super::abort::Signals;
use super::active_files::is_active;
use super::call::{Call, Converted, NotStarted, OnAbort, Outcome, guard, run_async};
use super::context::{Context, is_host_object, read_directory_path};
use super::dialogue::{Js, Thrown, run_dialogue};
use super::error::{self, IntoJsError, or_throw};
use super::js_text::JsText;
use super::raw::{self, Kept, to_js};
use super::value::{Argument, Text, lone_surrogate, number};
use crate::argument::{ArgumentError, Got, SAFE_INTEGERS};
use crate::sandbox::Sandbox;
use crate::source::{
    self as core, PATH_RULE, SourceFailure, SourceRequest, StoreFault, StoredDocument, path_error,
};

/// What `readSourceDocument` answers (specification TUL-001 §4).
#[napi(object, object_from_js = false, use_nullable = true)]
pub struct ReadSourceResult {
    /// Whether `file` is there.
    pub success: bool,
    /// `null` on success.
    #[napi(ts_type = "ReadSourceErrorCode")]
    pub error_code: Option<&'static str>,
    /// What is wrong, in sentences; empty on success.
    pub errors: Vec<String>,
    /// The document; `null` on failure.
    pub file: Option<SourceFile>,
    /// As the context has it.
    pub session_id: Option<String>,
    /// As the context has it.
    pub conversation_id: Option<String>,
}

/// A source document, or its beginning.
#[napi(object, object_from_js = false)]
pub struct SourceFile {
    /// The DocPath.
    pub path: String,
    /// The size of the whole document in bytes, a byte order mark included.
    pub size_bytes: f64,
    /// The text, without a leading byte order mark; with `maxBytes` cut at the end of a character,
    /// at or below so many bytes.
    #[napi(ts_type = "string")]
    pub content: JsText<'static>,
    /// Whether the document goes on.
    pub is_truncated: bool,
}

/// Reads a source document by its DocPath, unless the session has it in context already.
///
/// The arguments come as an object, or as the JSON text of one. `context.activeFiles` is asked
/// first, exact and case-sensitive; then the store, with the DocPath exactly as it was given.
///
/// Resolves with the result, also of a failure; rejects only with `signal.reason` when the
/// context's signal is aborted.
#[napi(
    ts_args_type = "args: ReadSourceArguments | string | null | undefined, context: ReadSourceContext",
    ts_return_type = "Promise<ReadSourceResult>"
)]
pub fn read_source_document<'env>(
    env: &'env Env,
    args: Unknown<'env>,
    context: Unknown<'env>,
) -> napi::Result<Unknown<'env>> {
    run_dialogue(env, || prepare(env, args, context))
}

/// The ids that every result has.
#[derive(Default)]
struct Ids {
    session: Option<String>,
    conversation: Option<String>,
}

struct Answer {
    result: Result<SourceFile, SourceFailure>,
    ids: Ids,
}

/// A call's arguments, read and checked, and ActiveFiles asked.
struct Hydration {
    request: SourceRequest,
    store: Store,
    signal: Option<Kept>,
    on_error: Option<Kept>,
}

enum Store {
    /// Read by a worker.
    Directory(Context),
    /// Whatever has `get`.
    Host(Kept),
}

fn prepare<'env>(
    env: &'env Env,
    args: Unknown<'env>,
    context: Unknown<'env>,
) -> Result<Call<'env, impl FnOnce(Js) -> Hydrating>, NotStarted<'env, Answer>> {
    let args = Argument::new(env, "argumentsJson", args);
    let context = Argument::new(env, "context", context);
    let signals = Signals::read(env, [Some(context), None])?;
    let ids = read_ids(context);
    let signal = signals.as_ref().ok().and_then(Signals::first);
    let hydration = read_hydration(env, args, context, signal);
    match (ids, signals, hydration) {
        (Ok(ids), Ok(signals), Ok(hydration)) => {
            let work = move |js| -> Hydrating { Box::pin(hydration.run(js, ids)) };
            Ok(Call { work, signals, on_abort: OnAbort::Reject })
        }
        (Ok(ids), _, Err(failure)) => Err(refused(failure, ids)),
        (Ok(ids), Err(error), _) => Err(refused(error.into(), ids)),
        (Err(error), ..) => Err(refused(error.into(), Ids::default())),
    }
}

type Hydrating = std::pin::Pin<Box<dyn Future<Output = Answer>>>;

fn refused<'env>(failure: SourceFailure, ids: Ids) -> NotStarted<'env, Answer> {
    NotStarted::Refused(Answer { result: Err(failure), ids })
}

fn read_ids(context: Argument<'_>) -> Result<Ids, ArgumentError> {
    let Ok(context) = context.object() else { return Ok(Ids::default()) };
    Ok(Ids {
        session: context.optional(c"sessionId", "sessionId", Argument::unicode)?,
        conversation: context.optional(c"conversationId", "conversationId", Argument::unicode)?,
    })
}

/// §5, steps 1 to 3: deserialise, validate, ask ActiveFiles.
fn read_hydration(
    env: &Env,
    args: Argument<'_>,
    context: Argument<'_>,
    signal: Option<Unknown<'_>>,
) -> Result<Hydration, SourceFailure> {
    let request = read_request(args)?;
    let context = context.object()?;
    if let Some(active_files) = context.property(c"activeFiles", "activeFiles")?
        && is_active(env, active_files, &request.path)?
    {
        return Err(SourceFailure::AlreadyInContext(request.path));
    }
    let store = context.property(c"store", "store")?;
    let no_store = || ArgumentError::new("store", STORE_RULE, Got::Kind("nothing"));
    let store = read_store(store.ok_or_else(no_store)?)?;
    let signal = signal.map(|signal| Argument::new(env, "signal", signal).keep()).transpose()?;
    let on_error = context.optional(c"onError", "onError", read_function)?;
    Ok(Hydration { request, store, signal, on_error })
}

const STORE_RULE: &str = "must be an object with get(), or a directory";

fn read_request(args: Argument<'_>) -> Result<SourceRequest, ArgumentError> {
    let Some(args) = args.present() else { return SourceRequest::from_json("") };
    if let Ok(json) = args.string() {
        return match json {
            Text::Unicode(json) => SourceRequest::from_json(&json),
            Text::LoneSurrogate(_) => Err(lone_surrogate("argumentsJson")),
        };
    }
    let args = args.object().map_err(|_| args.refuse("must be an object, or the JSON of one"))?;
    let path = args.property(c"path", "path")?.ok_or_else(|| path_error(Got::Kind("nothing")))?;
    let path = match path.string() {
        Ok(Text::Unicode(path)) => path,
        Ok(Text::LoneSurrogate(_)) => return Err(lone_surrogate("path")),
        Err(_) => return Err(path.refuse(PATH_RULE)),
    };
    let max_bytes =
        args.optional(c"maxBytes", "maxBytes", |value| value.integer(&SAFE_INTEGERS))?;
    SourceRequest::new(path, max_bytes)
}

fn read_store(store: Argument<'_>) -> Result<Store, ArgumentError> {
    if let Some(directory) = DirectoryStore::from_js(store.value()) {
        return Ok(Store::Directory(Context::of_open(directory?)));
    }
    if is_host_object(store, c"get") {
        return Ok(Store::Host(store.keep()?));
    }
    Context::read_directory(store, STORE_RULE).map(Store::Directory)
}

fn read_function(value: Argument<'_>) -> Result<Kept, ArgumentError> {
    if value.is_function() { value.keep() } else { Err(value.refuse("must be a function")) }
}

/// Why the store gave no document.
enum Fault {
    /// Ours to tell.
    Ours(StoreFault),
    /// The host's own error.
    Thrown(Thrown),
}

impl From<StoreFault> for Fault {
    fn from(fault: StoreFault) -> Self {
        Self::Ours(fault)
    }
}

impl Hydration {
    /// §5, steps 4 to 6: ask the store.
    async fn run(self, js: Js, ids: Ids) -> Answer {
        let result = match self.hydrate(&js).await {
            Ok(Some(file)) => Ok(file),
            Ok(None) => Err(SourceFailure::NotFound(self.request.path)),
            Err(fault) => {
                if let Some(on_error) = &self.on_error {
                    report(js.env(), on_error, fault);
                }
                Err(SourceFailure::Internal)
            }
        };
        Answer { result, ids }
    }

    async fn hydrate(&self, js: &Js) -> Result<Option<SourceFile>, Fault> {
        let request = self.request.clone();
        let worked = match &self.store {
            Store::Directory(context) => {
                let context = context.clone();
                js.work(move || {
                    let sandbox = context.open()?;
                    let (path, most) = (&request.path, request.max_bytes);
                    let document = core::get_from_directory(&sandbox, path, most)?;
                    document.map(|document| read_document(&request, document)).transpose()
                })
                .await
            }
            Store::Host(store) => {
                let Some(document) = self.ask(js, store).await? else { return Ok(None) };
                js.work(move || read_document(&request, document).map(Some)).await
            }
        };
        Ok(worked.ok_or(StoreFault::Bug)??)
    }

    async fn ask(&self, js: &Js, store: &Kept) -> Result<Option<StoredDocument>, Fault> {
        let most = self.request.max_bytes;
        let asked = js.ask(
            |env| {
                let options = request_options(env, most, self.signal.as_ref());
                let options = options.map_err(|_| None)?;
                let path = to_js(env, &self.request.path).map_err(|_| None)?;
                raw::call_method(env, store.value(env).map_err(|_| None)?, c"get", &[path, options])
            },
            move |env, document| read_stored(env, document, most),
        );
        Ok(asked.await.map_err(Fault::Thrown)??)
    }
}

/// `{ maxBytes, signal }`, each if it is there.
fn request_options<'env>(
    env: &'env Env,
    max_bytes: Option<NonZeroU64>,
    signal: Option<&Kept>,
) -> napi::Result<Unknown<'env>> {
    let mut options = Object::new(env)?;
    if let Some(most) = max_bytes {
        options.set_named_property("maxBytes", number(most.get()))?;
    }
    if let Some(signal) = signal {
        options.set_named_property("signal", signal.value(env)?)?;
    }
    to_js(env, options)
}

fn read_document(
    request: &SourceRequest,
    document: StoredDocument,
) -> Result<SourceFile, StoreFault> {
    let core::SourceFile { path, size_bytes, content, is_truncated } =
        core::read_document(request, document)?;
    Ok(SourceFile { path, size_bytes: number(size_bytes), content: content.into(), is_truncated })
}

/// What a host's store answered. No more bytes are copied than are wanted.
fn read_stored(
    env: &Env,
    document: Unknown<'_>,
    most: Option<NonZeroU64>,
) -> Result<Result<Option<StoredDocument>, StoreFault>, Thrown> {
    let document = match Argument::new(env, "document", document).present().map(Argument::object) {
        None => return Ok(Ok(None)),
        Some(Err(error)) => return Ok(Err(StoreFault::Answered(error))),
        Some(Ok(document)) => document,
    };
    let [bytes, size] = document.fields([(c"bytes", "bytes"), (c"sizeBytes", "sizeBytes")])?;
    Ok(read_beginning(bytes, size, most).map(Some))
}

fn read_beginning(
    bytes: Option<Argument<'_>>,
    size: Option<Argument<'_>>,
    most: Option<NonZeroU64>,
) -> Result<StoredDocument, StoreFault> {
    let missing = |name| ArgumentError::new(name, "must be there", Got::Kind("nothing"));
    let bytes = bytes.ok_or_else(|| missing("bytes")).and_then(Argument::bytes);
    let slice = bytes.map_err(StoreFault::Answered)?;
    let size = size.ok_or_else(|| missing("sizeBytes")).and_then(Argument::size);
    let size_bytes = size.map_err(StoreFault::Answered)?;
    let (given, most) = (slice.len() as u64, most.map_or(u64::MAX, NonZeroU64::get));
    if given > size_bytes {
        let wanted = most.min(size_bytes);
        return Err(StoreFault::WrongLength { given, size: size_bytes, wanted });
    }
    let kept = usize::try_from(most).map_or(slice.len(), |most| most.min(slice.len()));
    Ok(StoredDocument { bytes: slice[..kept].to_vec(), size_bytes })
}

/// Tells the host what happened. Whatever its `onError` does, the answer is on its way.
fn report(env: &Env, on_error: &Kept, fault: Fault) {
    let error = match fault {
        Fault::Ours(fault) => error::into_js(env, &DocumentStoreError::Store(fault)).ok(),
        Fault::Thrown(Thrown(thrown)) => thrown.and_then(|thrown| thrown.value(env).ok()),
    };
    let error =
        error.map_or_else(|| error::into_js(env, &DocumentStoreError::Store(StoreFault::Bug)), Ok);
    if let (Ok(error), Ok(on_error)) = (error, on_error.value(env)) {
        raw::call_and_forget(env, on_error, error);
    }
}

impl Outcome for Answer {
    fn into_js(self, env: &Env) -> Converted<'_> {
        let Ids { session, conversation } = self.ids;
        let (file, failure) = match self.result {
            Ok(file) => (Some(file), None),
            Err(failure) => (None, Some(failure)),
        };
        let result = ReadSourceResult {
            success: failure.is_none(),
            error_code: failure.as_ref().map(SourceFailure::code),
            errors: failure.iter().map(ToString::to_string).collect(),
            file,
            session_id: session,
            conversation_id: conversation,
        };
        Ok(Ok(to_js(env, result)?))
    }

    fn bug() -> Self {
        Self { result: Err(SourceFailure::Internal), ids: Ids::default() }
    }

    fn bytes(&self) -> usize {
        self.result.as_ref().map_or(0, |file| file.content.bytes())
    }
}

/// The embedded store of source documents: the files of a directory.
///
/// Its keys are relative paths in their shortest form, separated by `/`. Nothing outside the
/// directory is reached: what is no such key has no document, and a symbolic link that leads out is
/// an error.
#[napi]
pub struct DirectoryStore {
    /// `None` once closed.
    directory: Option<Arc<Sandbox>>,
}

#[napi]
impl DirectoryStore {
    /// Opens a store by the absolute path of its directory; synchronous.
    ///
    /// Throws a `DocumentStoreError`.
    #[napi(factory, ts_args_type = "directory: string")]
    pub fn open(env: &Env, directory: Unknown<'_>) -> napi::Result<Self> {
        let directory = Argument::new(env, "directory", directory);
        let bug = DocumentStoreError::Store(StoreFault::Bug);
        or_throw(env, guard(|| Self::try_open(directory)), bug)
    }

    fn try_open(directory: Argument<'_>) -> Result<Self, DocumentStoreError> {
        let directory = read_directory_path(directory, "directory")?;
        let directory = Sandbox::open(&directory).map_err(StoreFault::from)?;
        Ok(Self { directory: Some(Arc::new(directory)) })
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
        let directory = self.open_directory();
        run_async(env, || prepare_get(env, directory, doc_path, options))
    }

    /// Lets go of the directory at once, instead of when the object is collected. Calls under way
    /// finish; later ones fail with `INVALID_ARGUMENT`. Closing twice is no mistake.
    #[napi]
    pub fn close(&mut self) {
        self.directory = None;
    }

    /// The store, if the object is one.
    fn from_js(value: Unknown<'_>) -> Option<Result<Arc<Sandbox>, ArgumentError>> {
        let instance: ClassInstance<'_, Self> = ClassInstance::from_unknown(value).ok()?;
        Some(instance.open_directory())
    }

    fn open_directory(&self) -> Result<Arc<Sandbox>, ArgumentError> {
        let rule = "is a DirectoryStore that was closed";
        let closed = || ArgumentError::new("store", rule, Got::Unsaid);
        self.directory.clone().ok_or_else(closed)
    }
}

type Found = Result<Option<StoredDocument>, DocumentStoreError>;

fn prepare_get<'env>(
    env: &'env Env,
    directory: Result<Arc<Sandbox>, ArgumentError>,
    doc_path: Unknown<'env>,
    options: Unknown<'env>,
) -> Result<Call<'env, impl FnOnce(&AtomicBool) -> Found + Send + 'static>, NotStarted<'env, Found>>
{
    let options = Argument::new(env, "options", options).present();
    let signals = Signals::read(env, [options, None])?;
    let read = || {
        let doc_path = Argument::new(env, "docPath", doc_path).unicode()?;
        let options = options.map(Argument::object).transpose()?;
        let read_integer = |value: Argument<'_>| value.integer(&SAFE_INTEGERS);
        let most = options.map(|options| options.optional(c"maxBytes", "maxBytes", read_integer));
        Ok((doc_path, most.transpose()?.flatten(), signals?, directory?))
    };
    let read: Result<_, ArgumentError> = read();
    let (doc_path, most, signals, directory) =
        read.map_err(|error| NotStarted::Refused(Err(error.into())))?;
    let work = move |_: &AtomicBool| Ok(core::get_from_directory(&directory, &doc_path, most)?);
    Ok(Call { work, signals, on_abort: OnAbort::Reject })
}

impl Outcome for Found {
    fn into_js(self, env: &Env) -> Converted<'_> {
        Ok(match self {
            Ok(None) => Ok(to_js(env, napi::bindgen_prelude::Null)?),
            Ok(Some(StoredDocument { bytes, size_bytes })) => {
                let mut document = Object::new(env)?;
                document.set_named_property("bytes", Uint8Array::from(bytes))?;
                document.set_named_property("sizeBytes", number(size_bytes))?;
                Ok(to_js(env, document)?)
            }
            Err(error) => Err(error::into_js(env, &error)?),
        })
    }

    fn bug() -> Self {
        Err(DocumentStoreError::Store(StoreFault::Bug))
    }
}

/// Why a store gave no document.
#[derive(Debug, thiserror::Error)]
enum DocumentStoreError {
    /// The caller's mistake.
    #[error(transparent)]
    Argument(#[from] ArgumentError),
    /// What the store found.
    #[error(transparent)]
    Store(#[from] StoreFault),
}

impl IntoJsError for DocumentStoreError {
    const NAME: &'static str = "DocumentStoreError";

    fn code(&self) -> &str {
        match self {
            Self::Argument(_) => "INVALID_ARGUMENT",
            Self::Store(fault) => fault.code(),
        }
    }

    fn message(&self) -> String {
        format!("{}: {self}", self.code())
    }
}
