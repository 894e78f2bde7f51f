//! `readSourceDocument`.

use std::num::NonZeroU64;
use std::pin::Pin;

use napi::Env;
use napi::bindgen_prelude::{JsObjectValue, Object, Unknown};
use napi_derive::napi;

use super::active_files::is_active;
use super::argument::{Argument, lone_surrogate, number};
use super::context::{Context, is_host_object};
use super::directory_store::{DirectoryStore, DocumentStoreError};
use super::error;
use super::signals::read_signals;
use crate::argument::{ArgumentError, Got, LONGEST_JSON, SAFE_INTEGERS};
use crate::memory;
use crate::node::call::abort::Signals;
use crate::node::call::outcome::{JsResult, Outcome};
use crate::node::call::run::{Call, NotStarted, Prepared};
use crate::node::call::with_host::{Host, run_with_host};
use crate::node::engine::raw::{self, List, Reference, to_js};
use crate::node::engine::text::{JsText, Text};
use crate::node::engine::thrown::Thrown;
use crate::tools::source::{
    self as core, PATH_RULE, SourceFailure, SourceRequest, StoreFault, StoredDocument, path_error,
};

/// The result of `readSourceDocument` (specification TUL-001 §4).
#[napi(object, object_from_js = false, use_nullable = true)]
pub struct ReadSourceResult {
    /// Whether the document was read.
    pub success: bool,
    /// `null` on success.
    #[napi(ts_type = "ReadSourceErrorCode")]
    pub error_code: Option<&'static str>,
    /// What is wrong, in sentences; empty on success.
    #[napi(ts_type = "Array<string>")]
    pub errors: List<String>,
    /// The document; `null` on failure.
    pub file: Option<SourceFile>,
    /// The `sessionId` of the context.
    pub session_id: Option<String>,
    /// The `conversationId` of the context.
    pub conversation_id: Option<String>,
}

/// A source document, or its beginning.
#[napi(object, object_from_js = false)]
pub struct SourceFile {
    /// The DocPath.
    pub path: String,
    /// The size of the whole document in bytes, a byte order mark included.
    pub size_bytes: f64,
    /// The text, without a leading byte order mark. With `maxBytes` it is cut after the last character
    /// that fits.
    #[napi(ts_type = "string")]
    pub content: JsText<'static>,
    /// Whether the text was cut.
    pub is_truncated: bool,
}

/// Reads a source document by its DocPath, unless the session has it in context already.
///
/// The arguments come as an object, or as the JSON text of one. `context.activeFiles` is asked
/// first, exact and case-sensitive; then the store, with the DocPath exactly as it was given.
///
/// A failure is a result, too: the promise rejects only with `signal.reason`, when the context's signal is
/// aborted.
#[napi(
    ts_args_type = "args: ReadSourceArguments | string | null | undefined, context: ReadSourceContext",
    ts_return_type = "Promise<ReadSourceResult>"
)]
pub fn read_source_document<'env>(
    env: &'env Env,
    args: Unknown<'env>,
    context: Unknown<'env>,
) -> napi::Result<Unknown<'env>> {
    run_with_host(env, || prepare(env, args, context))
}

/// The ids that a result takes over from the context.
#[derive(Default)]
struct Ids {
    session: Option<String>,
    conversation: Option<String>,
}

/// The outcome of a call.
struct ReadSourceOutcome {
    result: Result<SourceFile, SourceFailure>,
    ids: Ids,
}

/// A call whose arguments have been read and whose document is not in the session's context.
struct ReadSourceCall {
    request: SourceRequest,
    store: SourceStore,
    signal: Option<Reference>,
    on_error: Option<Reference>,
}

enum SourceStore {
    /// A worker reads it.
    Directory(Context),
    /// The host's own object with `get`.
    Host(Reference),
}

fn prepare<'env>(
    env: &'env Env,
    args: Unknown<'env>,
    context: Unknown<'env>,
) -> Prepared<'env, impl FnOnce(Host) -> RunningCall, ReadSourceOutcome> {
    let args = Argument::new(env, "argumentsJson", args);
    let context = Argument::new(env, "context", context);
    let signals = read_signals(env, [Some(context), None])?;
    let ids = read_ids(context);
    let signal = signals.as_ref().ok().and_then(Signals::first_object);
    let call = read_call(env, args, context, signal);
    match (ids, signals, call) {
        (Ok(ids), Ok(signals), Ok(call)) => {
            let work = move |host| -> RunningCall { Box::pin(call.run(host, ids)) };
            Ok(Call::new(signals, work))
        }
        (Ok(ids), _, Err(failure)) => Err(refused(failure, ids)),
        (Ok(ids), Err(error), _) => Err(refused(error.into(), ids)),
        (Err(error), ..) => Err(refused(error.into(), Ids::default())),
    }
}

type RunningCall = Pin<Box<dyn Future<Output = ReadSourceOutcome>>>;

fn refused<'env>(failure: SourceFailure, ids: Ids) -> NotStarted<'env, ReadSourceOutcome> {
    NotStarted::Refused(ReadSourceOutcome { result: Err(failure), ids })
}

fn read_ids(context: Argument<'_>) -> Result<Ids, ArgumentError> {
    let Ok(context) = context.object() else { return Ok(Ids::default()) };
    Ok(Ids {
        session: context.optional(c"sessionId", "sessionId", Argument::unicode)?,
        conversation: context.optional(c"conversationId", "conversationId", Argument::unicode)?,
    })
}

/// §5, steps 1 to 3: deserialise, validate, look into ActiveFiles.
fn read_call(
    env: &Env,
    args: Argument<'_>,
    context: Argument<'_>,
    signal: Option<Unknown<'_>>,
) -> Result<ReadSourceCall, SourceFailure> {
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
    Ok(ReadSourceCall { request, store, signal, on_error })
}

const STORE_RULE: &str = "must be an object with get(), or a directory";

fn read_request(args: Argument<'_>) -> Result<SourceRequest, ArgumentError> {
    let Some(args) = args.present() else { return SourceRequest::from_json("") };
    if args.is_string() {
        return match args.string_up_to(LONGEST_JSON)? {
            Text::Unicode(json) => SourceRequest::from_json(&json),
            Text::LoneSurrogate(_) => Err(lone_surrogate("argumentsJson")),
        };
    }
    let args = args.object().map_err(|_| args.refuse("must be an object, or the JSON of one"))?;
    let args = args.with_own_keys_only();
    let path = args.property(c"path", "path")?.ok_or_else(|| path_error(Got::Kind("nothing")))?;
    let path = match path.string() {
        Ok(Text::Unicode(path)) => path,
        Ok(Text::LoneSurrogate(_)) => return Err(lone_surrogate("path")),
        Err(error) if path.is_string() => return Err(error),
        Err(_) => return Err(path.refuse(PATH_RULE)),
    };
    let max_bytes =
        args.optional(c"maxBytes", "maxBytes", |value| value.integer(&SAFE_INTEGERS))?;
    SourceRequest::new(path, max_bytes)
}

fn read_store(store: Argument<'_>) -> Result<SourceStore, ArgumentError> {
    if let Some(directory) = DirectoryStore::from_js(store.value()) {
        return Ok(SourceStore::Directory(Context::of_open(directory?)));
    }
    if is_host_object(store, c"get") {
        return Ok(SourceStore::Host(store.keep()?));
    }
    Context::read_directory(store, STORE_RULE).map(SourceStore::Directory)
}

fn read_function(value: Argument<'_>) -> Result<Reference, ArgumentError> {
    if value.is_function() { value.keep() } else { Err(value.refuse("must be a function")) }
}

/// Why the store gave no document.
enum SourceStoreFault {
    /// This library found it.
    Ours(StoreFault),
    /// The host's store threw.
    Thrown(Thrown),
}

impl From<StoreFault> for SourceStoreFault {
    fn from(fault: StoreFault) -> Self {
        Self::Ours(fault)
    }
}

impl ReadSourceCall {
    /// §5, steps 4 to 6: ask the store.
    async fn run(self, host: Host, ids: Ids) -> ReadSourceOutcome {
        let result = match self.read(&host).await {
            Ok(Some(file)) => Ok(file),
            Ok(None) => Err(SourceFailure::NotFound(self.request.path)),
            Err(fault) => {
                if let Some(on_error) = &self.on_error {
                    report(host.env(), on_error, fault);
                }
                Err(SourceFailure::Internal)
            }
        };
        ReadSourceOutcome { result, ids }
    }

    async fn read(&self, host: &Host) -> Result<Option<SourceFile>, SourceStoreFault> {
        let request = self.request.clone();
        let worked = match &self.store {
            SourceStore::Directory(context) => {
                let context = context.clone();
                host.work(move || {
                    let sandbox = context.open()?;
                    let (path, most) = (&request.path, request.max_bytes);
                    let document = core::get_from_directory(&sandbox, path, most)?;
                    document.map(|document| read_document(&request, document)).transpose()
                })
                .await
            }
            SourceStore::Host(store) => {
                let Some(document) = self.ask(host, store).await? else { return Ok(None) };
                host.work(move || read_document(&request, document).map(Some)).await
            }
        };
        Ok(worked.ok_or(StoreFault::Bug)??)
    }

    async fn ask(
        &self,
        host: &Host,
        store: &Reference,
    ) -> Result<Option<StoredDocument>, SourceStoreFault> {
        let most = self.request.max_bytes;
        let asked = host.ask(
            |env| {
                let options = request_options(env, most, self.signal.as_ref());
                let options = options.map_err(|_| None)?;
                let path = to_js(env, &self.request.path).map_err(|_| None)?;
                raw::call_method(env, store.value(env).map_err(|_| None)?, c"get", &[path, options])
            },
            move |env, document| read_stored(env, document, most),
        );
        Ok(asked.await.map_err(SourceStoreFault::Thrown)??)
    }
}

/// `{ maxBytes, signal }`, with the keys that were given.
fn request_options<'env>(
    env: &'env Env,
    max_bytes: Option<NonZeroU64>,
    signal: Option<&Reference>,
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
    let content = JsText::of_any_size(content)?;
    Ok(SourceFile { path, size_bytes: number(size_bytes), content, is_truncated })
}

/// Reads the answer of a host's store. Only the bytes that are wanted are copied.
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
    core::check_wanted(NonZeroU64::new(most), size_bytes)?;
    let kept = usize::try_from(most).map_or(slice.len(), |most| most.min(slice.len()));
    Ok(StoredDocument { bytes: memory::copy_of(&slice[..kept])?, size_bytes })
}

/// Calls the host's `onError` with the fault. The outcome of the call does not depend on it.
fn report(env: &Env, on_error: &Reference, fault: SourceStoreFault) {
    let store_error = |fault| error::into_js(env, DocumentStoreError::Store(fault));
    let error = match fault {
        SourceStoreFault::Ours(fault) => store_error(fault).ok(),
        SourceStoreFault::Thrown(Thrown(thrown)) => {
            thrown.and_then(|thrown| thrown.value(env).ok())
        }
    };
    let error = error.map_or_else(|| store_error(StoreFault::Bug), Ok);
    if let (Ok(error), Ok(on_error)) = (error, on_error.value(env)) {
        raw::call_and_forget(env, on_error, error);
    }
}

impl Outcome for ReadSourceOutcome {
    fn into_js(self, env: &Env) -> JsResult<'_> {
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
}
