//! `readFileUri`.

use std::fmt::{self, Display};
use std::num::NonZeroU64;
use std::pin::Pin;
use std::sync::Arc;

use napi::Env;
use napi::bindgen_prelude::Unknown;
use napi_derive::napi;

use super::argument::{Argument, number};
use super::context::{Context, is_host_object};
use super::error::{JsError, code_of};
use super::file_store::FileStore as OurFileStore;
use super::resolve_file_uri::parse_argument;
use super::signals::read_signals;
use crate::argument::{ArgumentError, Got, SAFE_INTEGERS};
use crate::memory;
use crate::node::call::run::{Call, Prepared};
use crate::node::call::with_host::{Host, run_with_host};
use crate::node::engine::raw::{self, Reference, to_js};
use crate::node::engine::text::JsText;
use crate::node::engine::thrown::Thrown;
use crate::store::{ContentAddress, FileStore, HASH_RULE};
use crate::text::MAX_STRING_BYTES;
use crate::tools::file_uri::{
    self as core, DEFAULT_MAX_BYTES, FileUri, FileUriError, HostFault, Problem, VirtualFile,
    root_argument,
};

/// A text file that a `file:` URI leads to (specification `read`).
#[napi(object, object_from_js = false)]
pub struct FileUriContent {
    /// The URI as it was given.
    pub uri: String,
    /// The scope in which it was found.
    #[napi(ts_type = "FileUriScope")]
    pub scope: &'static str,
    /// The path from the scope's root, components separated by `/`.
    pub path: String,
    /// The file's text, decoded as `TextDecoder("utf-8")` does it; Markdown as it stands.
    #[napi(ts_type = "string")]
    pub text: JsText<'static>,
    /// The media type of the host's tree, or the one that the name and the content suggest;
    /// `text/plain` where there is none.
    pub mime_type: String,
    /// The file's size in bytes, a byte order mark included.
    pub size_bytes: f64,
}

/// Reads the text file that a `file:` URI leads to, from a directory or from a host's own tree.
///
/// In a directory, the extension tells the type; where that is unknown, the content does. In a host's tree,
/// size and type are checked before any bytes are loaded, and the bytes are checked against their hash.
/// Files up to `maxBytes` are read. If `file:files/a` does not exist, `file:a` is read instead; `path`
/// tells which one was read.
///
/// Rejects with a `FileUriError`, or with `signal.reason` when the context's signal is aborted;
/// never throws.
#[napi(
    ts_args_type = "uri: string, context: FileUriContext",
    ts_return_type = "Promise<FileUriContent>"
)]
pub fn read_file_uri<'env>(
    env: &'env Env,
    uri: Unknown<'env>,
    context: Unknown<'env>,
) -> napi::Result<Unknown<'env>> {
    run_with_host(env, || prepare(env, uri, context))
}

/// Where a URI is looked up.
enum FileUriRoot {
    Directory(Context),
    Virtual(VirtualRoot),
}

/// A host's own tree.
struct VirtualRoot {
    tree: Reference,
    store: FileUriStore,
}

enum FileUriStore {
    /// A store of this library: a worker reads it.
    Ours(Arc<FileStore>),
    /// The host's own object with `getBytes`.
    Host(Reference),
}

/// A call whose arguments have been read.
struct ReadFileUriCall {
    given: String,
    uri: FileUri,
    root: FileUriRoot,
    max_bytes: u64,
}

/// An error, and the value that the host threw, if that caused it.
struct ReadFileUriError {
    error: FileUriError,
    cause: Option<Reference>,
}

impl From<FileUriError> for ReadFileUriError {
    fn from(error: FileUriError) -> Self {
        Self { error, cause: None }
    }
}

type ReadFileUriResult = Result<FileUriContent, ReadFileUriError>;

fn prepare<'env>(
    env: &'env Env,
    uri: Unknown<'env>,
    context: Unknown<'env>,
) -> Prepared<'env, impl FnOnce(Host) -> RunningCall, ReadFileUriResult> {
    let uri = Argument::new(env, "uri", uri);
    let context = Argument::new(env, "context", context).present();
    let signals = read_signals(env, [context, None])?;
    let call = read_call(uri, context)
        .and_then(|call| Ok((call, signals.map_err(FileUriError::Argument)?)));
    let (call, signals) = call.map_err(ReadFileUriError::from)?;
    Ok(Call::new(signals, move |host| -> RunningCall { Box::pin(call.run(host)) }))
}

type RunningCall = Pin<Box<dyn Future<Output = ReadFileUriResult>>>;

fn read_call(
    uri: Argument<'_>,
    context: Option<Argument<'_>>,
) -> Result<ReadFileUriCall, FileUriError> {
    let context = context.map(Argument::object).transpose().map_err(FileUriError::Argument)?;
    // The order of errors: a URI that is no string, a wrong context, a URI that does not parse.
    uri.utf16_len().map_err(FileUriError::Argument)?;
    let read_integer = |value: Argument<'_>| value.integer(&SAFE_INTEGERS);
    let max_bytes = match context {
        Some(context) => context
            .optional(c"maxBytes", "maxBytes", read_integer)
            .map_err(FileUriError::Argument)?,
        None => None,
    };
    let (given, uri) = parse_argument(uri)?;
    let key = match uri.scope() {
        core::Scope::Workspace => c"space",
        core::Scope::Chat => c"chat",
    };
    let root = match context {
        Some(context) => context
            .optional(key, root_argument(uri.scope()), read_root)
            .map_err(FileUriError::Argument)?,
        None => None,
    };
    let root = root.ok_or(FileUriError::NoRoot(uri.scope()))?;
    let max_bytes = max_bytes.map_or(DEFAULT_MAX_BYTES, NonZeroU64::get);
    let max_bytes = max_bytes.min(MAX_STRING_BYTES);
    Ok(ReadFileUriCall { given, uri, root, max_bytes })
}

fn read_root(root: Argument<'_>) -> Result<FileUriRoot, ArgumentError> {
    if !is_host_object(root, c"resolve") {
        let rule = "must be an absolute path, a Workspace, or an object with resolve() and store";
        return Context::read_directory(root, rule).map(FileUriRoot::Directory);
    }
    let store = root
        .property(c"store", "store")?
        .ok_or_else(|| ArgumentError::new("store", "must be a FileStore", Got::Kind("nothing")))?;
    let tree = root.keep()?;
    Ok(FileUriRoot::Virtual(VirtualRoot { tree, store: read_store(store)? }))
}

fn read_store(store: Argument<'_>) -> Result<FileUriStore, ArgumentError> {
    if let Some(native) = OurFileStore::from_js(store.value()) {
        return native.map(FileUriStore::Ours);
    }
    if is_host_object(store, c"getBytes") {
        return Ok(FileUriStore::Host(store.keep()?));
    }
    Err(store.refuse("must be a FileStore, or an object with getBytes()"))
}

impl ReadFileUriCall {
    async fn run(self, host: Host) -> ReadFileUriResult {
        let Self { given, uri, root, max_bytes } = self;
        let (uri, content) = match root {
            FileUriRoot::Directory(context) => {
                let read = host.work(move || read_directory(&context, uri, max_bytes)).await;
                read.unwrap_or(Err(FileUriError::Bug)).map_err(ReadFileUriError::from)
            }
            FileUriRoot::Virtual(root) => root.read(&host, uri, max_bytes).await,
        }?;
        Ok(FileUriContent {
            uri: given,
            scope: uri.scope().as_str(),
            path: uri.path(),
            text: content.text,
            mime_type: content.media_type,
            size_bytes: content.size_bytes,
        })
    }
}

/// The content that was read, with its text in the form that engines take fastest.
struct FileUriText {
    text: JsText<'static>,
    media_type: String,
    size_bytes: f64,
}

impl TryFrom<core::FileUriContent> for FileUriText {
    type Error = Problem;

    fn try_from(content: core::FileUriContent) -> Result<Self, Problem> {
        let core::FileUriContent { text, media_type, size_bytes } = content;
        let text = JsText::of_any_size(text)?;
        Ok(Self { text, media_type, size_bytes: number(size_bytes) })
    }
}

fn read_directory(
    directory: &Context,
    uri: FileUri,
    max_bytes: u64,
) -> Result<(FileUri, FileUriText), FileUriError> {
    let sandbox = directory.open().map_err(|error| FileUriError::Root(uri.scope(), error))?;
    let read = |uri: &FileUri| {
        core::read_from_directory(&sandbox, uri, max_bytes).and_then(FileUriText::try_from)
    };
    let problem = match read(&uri) {
        Ok(content) => return Ok((uri, content)),
        Err(problem) => problem,
    };
    let other = uri.without_chat_folder().filter(|_| problem.is_missing());
    match other.map(|other| (read(&other), other)) {
        Some((Ok(content), other)) => Ok((other, content)),
        Some((Err(there), other)) if !there.is_missing() => Err(FileUriError::File(other, there)),
        _ => Err(FileUriError::File(uri, problem)),
    }
}

impl VirtualRoot {
    /// Looks the URI up in the tree, then reads the bytes of that vertex's hash from the store.
    async fn read(
        self,
        host: &Host,
        asked: FileUri,
        max_bytes: u64,
    ) -> Result<(FileUri, FileUriText), ReadFileUriError> {
        let (uri, file) = match self.look_up(host, &asked).await? {
            Err(problem) if problem.is_missing() => match asked.without_chat_folder() {
                Some(other) => match self.look_up(host, &other).await? {
                    Err(missing) if missing.is_missing() => (asked, Err(problem)),
                    file => (other, file),
                },
                None => (asked, Err(problem)),
            },
            file => (asked, file),
        };
        let fail = |problem| ReadFileUriError::from(FileUriError::File(uri.clone(), problem));
        let file = file.map_err(fail)?;
        core::check_before_loading(&file, &uri, max_bytes).map_err(fail)?;
        let content = self.load(host, &uri, file, max_bytes).await?.map_err(fail)?;
        Ok((uri, content))
    }

    async fn look_up(
        &self,
        host: &Host,
        uri: &FileUri,
    ) -> Result<Result<VirtualFile, Problem>, ReadFileUriError> {
        let segments = uri.segments();
        host.ask(
            |env| {
                let segments = to_js(env, segments).map_err(|_| None)?;
                let tree = self.tree.value(env).map_err(|_| None)?;
                raw::call_method(env, tree, c"resolve", &[segments])
            },
            |env, vertex| read_vertex(Argument::new(env, "its answer", vertex)),
        )
        .await
        .map_err(|Thrown(cause)| {
            let problem = Problem::TreeFailed(HostFault::Threw);
            ReadFileUriError { error: FileUriError::File(uri.clone(), problem), cause }
        })
    }

    async fn load(
        self,
        host: &Host,
        uri: &FileUri,
        file: VirtualFile,
        max_bytes: u64,
    ) -> Result<Result<FileUriText, Problem>, ReadFileUriError> {
        let content = match self.store {
            FileUriStore::Ours(store) => {
                host.work(move || core::read_from_store(&store, file, max_bytes)?.try_into()).await
            }
            FileUriStore::Host(store) => {
                let bytes = ask_for_bytes(host, &store, uri, &file, max_bytes).await?;
                host.work(move || core::read_from_bytes(file, bytes, max_bytes)?.try_into()).await
            }
        };
        content.ok_or_else(|| ReadFileUriError::from(FileUriError::Bug))
    }
}

fn read_vertex(vertex: Argument<'_>) -> Result<Result<VirtualFile, Problem>, Thrown> {
    let wrong = |error: ArgumentError| Problem::TreeFailed(HostFault::Answered(error));
    let vertex = match vertex.present().map(Argument::object) {
        None => return Ok(Err(Problem::NotInTree)),
        Some(Err(error)) => return Ok(Err(wrong(error))),
        Some(Ok(vertex)) => vertex,
    };
    let [hash, media_type, size] =
        vertex.fields([(c"hash", "hash"), (c"mimeType", "mimeType"), (c"size", "size")])?;
    let read = || {
        let hash = hash.map(Argument::unicode).transpose()?.filter(|hash| !hash.is_empty());
        let media_type = media_type.map(Argument::unicode).transpose()?;
        let size = size.map(Argument::size).transpose()?;
        let address = hash.map(|hash| {
            ContentAddress::parse(&hash)
                .ok_or_else(|| ArgumentError::new("hash", HASH_RULE, Got::Unsaid))
        });
        let media_type = media_type.filter(|media_type| !media_type.trim().is_empty());
        Ok(address.transpose()?.map(|address| VirtualFile { address, media_type, size }))
    };
    let file = read().map_err(wrong);
    Ok(file.and_then(|file| file.ok_or(Problem::WithoutContent)))
}

/// Asks a host's own store, and reads its answer or the value that it throws.
async fn ask_for_bytes(
    host: &Host,
    store: &Reference,
    uri: &FileUri,
    file: &VirtualFile,
    max_bytes: u64,
) -> Result<Vec<u8>, ReadFileUriError> {
    let (address, hash) = (file.address, file.address.to_string());
    let asked = host
        .ask(
            |env| {
                let hash = to_js(env, hash).map_err(|_| None)?;
                raw::call_method(env, store.value(env).map_err(|_| None)?, c"getBytes", &[hash])
            },
            move |env, bytes| Ok(read_bytes(env, bytes, max_bytes)),
        )
        .await;
    let (problem, cause) = match asked {
        Ok(Ok(bytes)) => return Ok(bytes),
        Ok(Err(problem)) => (problem, None),
        Err(Thrown(cause)) => {
            let code = cause.as_ref().and_then(|cause| code_of(host.env(), cause));
            let problem = match code.as_deref() {
                Some("NOT_FOUND") => Problem::NotStored(address),
                Some("CORRUPT") => Problem::Corrupt(address),
                Some("PERMISSION_DENIED") => Problem::StoreDenied,
                _ => Problem::HostStoreFailed(HostFault::Threw),
            };
            (problem, cause)
        }
    };
    Err(ReadFileUriError { error: FileUriError::File(uri.clone(), problem), cause })
}

fn read_bytes(env: &Env, bytes: Unknown<'_>, max_bytes: u64) -> Result<Vec<u8>, Problem> {
    let bytes = Argument::new(env, "its answer", bytes).bytes();
    let bytes = bytes.map_err(|error| Problem::HostStoreFailed(HostFault::Answered(error)))?;
    if bytes.len() as u64 > max_bytes {
        return Err(Problem::TooLarge { size: format!("{} bytes", bytes.len()), max_bytes });
    }
    Ok(memory::copy_of(&bytes)?)
}

impl Display for ReadFileUriError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl JsError for ReadFileUriError {
    const NAME: &'static str = FileUriError::NAME;

    fn bug() -> Self {
        FileUriError::Bug.into()
    }

    fn code(&self) -> &str {
        JsError::code(&self.error)
    }

    fn message(&self) -> String {
        self.error.message()
    }

    fn take_cause(&mut self) -> Option<Reference> {
        self.cause.take()
    }
}
