//! `resolveFileUri` and `readFileUri`.

use std::sync::Arc;

use napi::Env;
use napi::bindgen_prelude::Unknown;
use napi_derive::napi;

use super::abort::Signals;
use super::call::{Call, Converted, NotStarted, OnAbort, Outcome, guard};
use super::context::{Context, is_host_object};
use super::dialogue::{Js, Thrown, run_dialogue};
use super::error::{self, IntoJsError, or_throw};
use super::file_store::FileStore as NativeStore;
use super::js_text::JsText;
use super::raw::{self, Kept, to_js};
use super::value::{Argument, Text, number};
use crate::argument::{ArgumentError, Got, SAFE_INTEGERS};
use crate::file_uri::{
    self as core, DEFAULT_MAX_BYTES, FileUri, FileUriError, HostFault, Problem, UriRefusal,
    VirtualFile, root_argument,
};
use crate::store::{ContentAddress, FileStore, HASH_RULE};
use crate::text::MAX_STRING_BYTES;

/// A `file:` URI, parsed (specification `read`).
#[napi(object, object_from_js = false)]
pub struct ResolvedFileUri {
    /// The URI as it was given.
    pub uri: String,
    /// Where it looks.
    #[napi(ts_type = "FileUriScope")]
    pub scope: &'static str,
    /// The segments joined by `/`: `assets/brand.md`, `files/notes/a.md`.
    pub path: String,
    /// The names from the scope's root down, percent-decoded; the first of a chat's is `files`.
    pub segments: Vec<String>,
}

/// A text file that a `file:` URI leads to (specification `read`).
#[napi(object, object_from_js = false)]
pub struct FileUriContent {
    /// The URI as it was given.
    pub uri: String,
    /// Where it was found.
    #[napi(ts_type = "FileUriScope")]
    pub scope: &'static str,
    /// From the scope's root down, components separated by `/`.
    pub path: String,
    /// The file's text, decoded as `TextDecoder("utf-8")` does it; Markdown as it stands.
    #[napi(ts_type = "string")]
    pub text: JsText<'static>,
    /// The media type as the host's tree has it, or as the name and the content tell it;
    /// `text/plain` where there is none.
    pub mime_type: String,
    /// The file's size in bytes, a byte order mark included.
    pub size_bytes: f64,
}

/// Parses a `file:` URI: `file:///a/b` looks in the space, `file:a/b` in the files of the chat.
/// Touches no disk.
///
/// Each segment is percent-decoded once; empty and `.` segments vanish, `..` takes one back. Refused
/// are hosts, other numbers of slashes, drive letters, `..` above the root, bad escapes, and names
/// with `/`, `\`, NUL or control characters. `?` and `#` are ordinary.
///
/// Throws a `FileUriError` with the code `INVALID_ARGUMENT` or `INVALID_URI`.
#[napi(ts_args_type = "uri: string", ts_return_type = "ResolvedFileUri")]
pub fn resolve_file_uri<'env>(env: &'env Env, uri: Unknown<'env>) -> napi::Result<Unknown<'env>> {
    let uri = Argument::new(env, "uri", uri);
    let resolved = guard(|| {
        parse(uri).map(|(uri, parsed)| ResolvedFileUri {
            uri,
            scope: parsed.scope().as_str(),
            path: parsed.path(),
            segments: parsed.segments(),
        })
    });
    to_js(env, or_throw(env, resolved, FileUriError::Bug)?)
}

/// Reads the text file that a `file:` URI leads to, from a directory or from a host's own tree.
///
/// Of a directory the type is told by the extension and, where that is unknown, by the content. Of
/// a host's tree the size and the type are looked at before any bytes are loaded, and the bytes are
/// checked against their hash. Files up to `maxBytes` are read.
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
    run_dialogue(env, || prepare(env, uri, context))
}

/// What a URI's root is.
enum Root {
    Directory(Context),
    Virtual(VirtualRoot),
}

/// A host's own tree.
struct VirtualRoot {
    tree: Kept,
    store: Store,
}

enum Store {
    /// Ours: read by a worker.
    Native(Arc<FileStore>),
    /// Whatever has `getBytes`.
    Host(Kept),
}

/// A call's arguments, read and checked.
struct Request {
    given: String,
    uri: FileUri,
    root: Root,
    max_bytes: u64,
}

struct Failure {
    error: FileUriError,
    /// What the host threw, if that is why.
    cause: Option<Kept>,
}

impl From<FileUriError> for Failure {
    fn from(error: FileUriError) -> Self {
        Self { error, cause: None }
    }
}

type Answer = Result<FileUriContent, Failure>;

fn prepare<'env>(
    env: &'env Env,
    uri: Unknown<'env>,
    context: Unknown<'env>,
) -> Result<Call<'env, impl FnOnce(Js) -> Reading>, NotStarted<'env, Answer>> {
    let uri = Argument::new(env, "uri", uri);
    let context = Argument::new(env, "context", context).present();
    let signals = Signals::read(env, [context, None])?;
    let request = read_request(uri, context);
    let checked =
        request.and_then(|request| Ok((request, signals.map_err(FileUriError::Argument)?)));
    match checked {
        Ok((request, signals)) => {
            let work = move |js| -> Reading { Box::pin(request.run(js)) };
            Ok(Call { work, signals, on_abort: OnAbort::Reject })
        }
        Err(error) => Err(NotStarted::Refused(Err(error.into()))),
    }
}

type Reading = std::pin::Pin<Box<dyn Future<Output = Answer>>>;

fn parse(uri: Argument<'_>) -> Result<(String, FileUri), FileUriError> {
    match uri.string().map_err(FileUriError::Argument)? {
        Text::Unicode(given) => {
            let parsed = FileUri::parse(&given).map_err(FileUriError::Uri)?;
            Ok((given, parsed))
        }
        Text::LoneSurrogate(_) => Err(FileUriError::Uri(UriRefusal::LoneSurrogate)),
    }
}

fn read_request(uri: Argument<'_>, context: Option<Argument<'_>>) -> Result<Request, FileUriError> {
    let context = context.map(Argument::object).transpose().map_err(FileUriError::Argument)?;
    // A URI that is no string comes before a wrong context, a wrong context before a wrong URI.
    uri.string().map_err(FileUriError::Argument)?;
    let read_integer = |value: Argument<'_>| value.integer(&SAFE_INTEGERS);
    let max_bytes = match context {
        Some(context) => context
            .optional(c"maxBytes", "maxBytes", read_integer)
            .map_err(FileUriError::Argument)?,
        None => None,
    };
    let (given, uri) = parse(uri)?;
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
    let max_bytes = max_bytes.map_or(DEFAULT_MAX_BYTES, std::num::NonZeroU64::get);
    let max_bytes = max_bytes.min(MAX_STRING_BYTES);
    Ok(Request { given, uri, root, max_bytes })
}

fn read_root(root: Argument<'_>) -> Result<Root, ArgumentError> {
    if !is_host_object(root, c"resolve") {
        let rule = "must be an absolute path, a Workspace, or an object with resolve() and store";
        return Context::read_directory(root, rule).map(Root::Directory);
    }
    let store = root
        .property(c"store", "store")?
        .ok_or_else(|| ArgumentError::new("store", "must be a FileStore", Got::Kind("nothing")))?;
    let tree = root.keep()?;
    Ok(Root::Virtual(VirtualRoot { tree, store: read_store(store)? }))
}

fn read_store(store: Argument<'_>) -> Result<Store, ArgumentError> {
    if let Some(native) = NativeStore::from_js(store.value()) {
        return native.map(Store::Native);
    }
    if is_host_object(store, c"getBytes") {
        return Ok(Store::Host(store.keep()?));
    }
    Err(store.refuse("must be a FileStore, or an object with getBytes()"))
}

impl Request {
    async fn run(self, js: Js) -> Answer {
        let Self { given, uri, root, max_bytes } = self;
        let content = match root {
            Root::Directory(context) => {
                let uri = uri.clone();
                let read = js.work(move || read_directory(&context, &uri, max_bytes)).await;
                read.unwrap_or(Err(FileUriError::Bug)).map_err(Failure::from)
            }
            Root::Virtual(root) => root.read(&js, &uri, max_bytes).await,
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

/// What was read, its text in the form that the engine takes.
struct Content {
    text: JsText<'static>,
    media_type: String,
    size_bytes: f64,
}

impl From<core::FileUriContent> for Content {
    fn from(content: core::FileUriContent) -> Self {
        let core::FileUriContent { text, media_type, size_bytes } = content;
        Self { text: text.into(), media_type, size_bytes: number(size_bytes) }
    }
}

fn read_directory(
    context: &Context,
    uri: &FileUri,
    max_bytes: u64,
) -> Result<Content, FileUriError> {
    let sandbox = context.open().map_err(|error| FileUriError::Root(uri.scope(), error))?;
    core::read_from_directory(&sandbox, uri, max_bytes)
        .map(Content::from)
        .map_err(|problem| FileUriError::File(uri.clone(), problem))
}

impl VirtualRoot {
    /// Lookup, then vertex → hash → store → text.
    async fn read(self, js: &Js, uri: &FileUri, max_bytes: u64) -> Result<Content, Failure> {
        let fail = |problem| Failure::from(FileUriError::File(uri.clone(), problem));
        let segments = uri.segments();
        let looked_up = js
            .ask(
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
                Failure { error: FileUriError::File(uri.clone(), problem), cause }
            })?;
        let file = looked_up.map_err(&fail)?;
        core::check_before_loading(&file, max_bytes).map_err(&fail)?;
        let content = match self.store {
            Store::Native(store) => {
                js.work(move || core::read_from_store(&store, file, max_bytes).map(Content::from))
                    .await
            }
            Store::Host(store) => {
                let bytes = ask_for_bytes(js, &store, uri, &file, max_bytes).await?;
                js.work(move || core::read_from_bytes(file, bytes, max_bytes).map(Content::from))
                    .await
            }
        };
        content.ok_or_else(|| Failure::from(FileUriError::Bug))?.map_err(fail)
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

/// What a host's own store answers or throws, in our terms.
async fn ask_for_bytes(
    js: &Js,
    store: &Kept,
    uri: &FileUri,
    file: &VirtualFile,
    max_bytes: u64,
) -> Result<Vec<u8>, Failure> {
    let (address, hash) = (file.address, file.address.to_string());
    let asked = js
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
            let code = cause.as_ref().and_then(|cause| error::code_of(js.env(), cause));
            let problem = match code.as_deref() {
                Some("NOT_FOUND") => Problem::NotStored(address),
                Some("CORRUPT") => Problem::Corrupt(address),
                Some("PERMISSION_DENIED") => Problem::StoreDenied,
                _ => Problem::HostStoreFailed(HostFault::Threw),
            };
            (problem, cause)
        }
    };
    Err(Failure { error: FileUriError::File(uri.clone(), problem), cause })
}

fn read_bytes(env: &Env, bytes: Unknown<'_>, max_bytes: u64) -> Result<Vec<u8>, Problem> {
    let bytes = Argument::new(env, "its answer", bytes).bytes();
    let bytes = bytes.map_err(|error| Problem::HostStoreFailed(HostFault::Answered(error)))?;
    if bytes.len() as u64 > max_bytes {
        return Err(Problem::TooLarge { size: format!("{} bytes", bytes.len()), max_bytes });
    }
    Ok(bytes.to_vec())
}

impl Outcome for Answer {
    fn into_js(self, env: &Env) -> Converted<'_> {
        Ok(match self {
            Ok(content) => Ok(to_js(env, content)?),
            Err(Failure { error, cause }) => Err(error::into_js_because(env, &error, cause)?),
        })
    }

    fn bug() -> Self {
        Err(FileUriError::Bug.into())
    }

    fn bytes(&self) -> usize {
        self.as_ref().map_or(0, |content| content.text.bytes())
    }
}

impl IntoJsError for FileUriError {
    const NAME: &'static str = "FileUriError";

    fn code(&self) -> &str {
        FileUriError::code(self).as_str()
    }

    fn message(&self) -> String {
        self.to_string()
    }
}
