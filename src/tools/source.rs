//! `workspace.read_file` (TUL-001): the whole text of a source document, by its DocPath.
//!
//! The documents are in a store of the host's choosing; a DocPath is an opaque, case-sensitive
//! key, and goes to the store exactly as it is given. A domain failure is an answer, not an
//! exception. The file reads like §5 of the specification: deserialise, validate, ask ActiveFiles,
//! ask the store. The calls to the host's store are in `node`. Everything that needs no host is
//! here.
//!
//! ```
//! use ringfence::tools::source::{SourceRequest, StoredDocument, read_document};
//!
//! let request = SourceRequest::from_json(r#"{ "path": "src/Billing.cs", "maxBytes": 7 }"#)?;
//! let stored = StoredDocument { bytes: "größer".into(), size_bytes: 8 };
//! let file = read_document(&request, stored)?;
//! assert_eq!((file.content.as_str(), file.size_bytes, file.is_truncated), ("größe", 8, true));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::fmt;
use std::num::NonZeroU64;

use serde::de::{self, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::error_text;
use crate::argument::{
    ArgumentError, Got, LONGEST_PATH, SAFE_INTEGERS, integer_rule, positive_integer, too_long,
};
use crate::memory::OutOfMemory;
use crate::path::invisible::Escaped;
use crate::path::{Printable, WorkspacePath};
use crate::sandbox::{FileSize, OpenError, ReadError, RootError, Sandbox};
use crate::text::{self, MAX_STRING_BYTES};

// §4: the arguments.

/// The arguments, parsed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceRequest {
    /// The DocPath, to the letter.
    pub path: String,
    /// Most bytes of the document that come; all without it.
    pub max_bytes: Option<NonZeroU64>,
}

/// The rule of `path`, in words.
pub const PATH_RULE: &str =
    "must be a non-empty string, the DocPath exactly as the RAG snippet gives it";

/// The arguments as they come in JSON, with values of any type. Unknown keys are the host's own and are
/// ignored. If a key comes twice, the last value counts.
#[derive(Default)]
struct RawArguments {
    path: Value,
    max_bytes: Value,
}

impl<'de> Deserialize<'de> for RawArguments {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ArgumentsVisitor)
    }
}

struct ArgumentsVisitor;

impl<'de> Visitor<'de> for ArgumentsVisitor {
    type Value = RawArguments;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_unit<E: de::Error>(self) -> Result<RawArguments, E> {
        Ok(RawArguments::default())
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<RawArguments, M::Error> {
        let mut arguments = RawArguments::default();
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "path" => arguments.path = map.next_value()?,
                "maxBytes" => arguments.max_bytes = map.next_value()?,
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(arguments)
    }
}

impl SourceRequest {
    /// §5, steps 1 and 2, from JSON text. An empty text and `null` are `{}`.
    ///
    /// # Errors
    ///
    /// [`ArgumentError`] names the argument and the rule.
    pub fn from_json(arguments: &str) -> Result<Self, ArgumentError> {
        let RawArguments { path, max_bytes } = deserialize(arguments)?;
        let path = match path {
            Value::String(path) => path,
            Value::Null => return Err(path_error(Got::Kind("nothing"))),
            other => return Err(path_error(got(&other))),
        };
        let max_bytes = match max_bytes {
            Value::Null => None,
            Value::Number(number) => {
                let number = number.as_f64().unwrap_or(f64::NAN);
                Some(positive_integer("maxBytes", number, &SAFE_INTEGERS)?)
            }
            other => {
                let rule = integer_rule(&SAFE_INTEGERS);
                return Err(ArgumentError::new("maxBytes", rule, got(&other)));
            }
        };
        Self::new(path, max_bytes)
    }

    /// §5, step 2: validates arguments whose types are right.
    ///
    /// # Errors
    ///
    /// [`ArgumentError`] for a path that is blank, or longer than [`LONGEST_PATH`].
    pub fn new(path: String, max_bytes: Option<NonZeroU64>) -> Result<Self, ArgumentError> {
        if path.len() > LONGEST_PATH {
            return Err(too_long("path", LONGEST_PATH));
        }
        if path.chars().all(char::is_whitespace) {
            return Err(path_error(Got::Kind("a blank one")));
        }
        Ok(Self { path, max_bytes })
    }
}

fn deserialize(arguments: &str) -> Result<RawArguments, ArgumentError> {
    if arguments.trim().is_empty() {
        return Ok(RawArguments::default());
    }
    serde_json::from_str(arguments).map_err(|error| {
        // Of a text that is no object it quotes the text.
        let error = error.to_string();
        let rule = format!("must be the JSON of an object: {}", Printable(&error));
        ArgumentError::new("argumentsJson", rule, Got::Unsaid)
    })
}

/// The error of a path that is none.
#[must_use]
pub fn path_error(got: Got) -> ArgumentError {
    ArgumentError::new("path", PATH_RULE, got)
}

fn got(value: &Value) -> Got {
    Got::Kind(match value {
        Value::Null => "null",
        Value::Bool(true) => "true",
        Value::Bool(false) => "false",
        Value::Number(number) => return Got::Number(number.to_string()),
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    })
}

// §4: the results.

/// A document, or its beginning.
#[derive(Debug, PartialEq, Eq)]
pub struct SourceFile {
    /// The DocPath.
    pub path: String,
    /// How many bytes the whole document has.
    pub size_bytes: u64,
    /// Its text, without a leading byte order mark; cut between two characters.
    pub content: String,
    /// Whether the document goes on.
    pub is_truncated: bool,
}

/// §3 and §4: why there is no document. Shows as the sentence for `errors`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SourceFailure {
    /// The session has it in context.
    #[error("File '{}' is already present in activeFiles for this session; reuse that content.", Escaped(.0))]
    AlreadyInContext(String),
    /// The store lacks it.
    #[error(
        "File '{}' is not available in activeFiles or cloud source storage. Ask the user to upload it if needed.",
        Escaped(.0)
    )]
    NotFound(String),
    /// An argument is wrong.
    #[error(transparent)]
    InvalidArgument(#[from] ArgumentError),
    /// The store, or this library, failed. Only the host is told why.
    #[error("The document could not be read because of an internal error; try again later.")]
    Internal,
}

impl SourceFailure {
    /// The code as it stands in `errorCode`.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::AlreadyInContext(_) => "ALREADY_IN_CONTEXT",
            Self::NotFound(_) => "NOT_FOUND",
            Self::InvalidArgument(_) => "INVALID_ARGUMENT",
            Self::Internal => "INTERNAL_ERROR",
        }
    }
}

// §5, step 4: the store.

/// A document, or its beginning, as a store gave it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredDocument {
    /// All its bytes, or at least as many as were asked for.
    pub bytes: Vec<u8>,
    /// How many bytes the whole document has.
    pub size_bytes: u64,
}

/// A fault of a store or of its answer. Only the host is told, by `onError`.
#[derive(Debug, thiserror::Error)]
pub enum StoreFault {
    /// The answer of a host's own store is no document.
    #[error("the store's answer: {0}")]
    Answered(ArgumentError),
    /// Fewer bytes than were asked for, or more than the document has.
    #[error("the store gave {given} bytes of a document of {size} bytes, {wanted} being wanted")]
    WrongLength {
        /// How many came.
        given: u64,
        /// How many the document has, by the store.
        size: u64,
        /// How many should have come.
        wanted: u64,
    },
    /// The document is no text.
    #[error("the document is not UTF-8: invalid byte at {0}")]
    NotUtf8(u64),
    /// No string could hold it.
    #[error("the document has {0} bytes, more than a string can hold; ask for less with maxBytes")]
    TooLarge(u64),
    /// A directory that cannot be opened.
    #[error("the store's directory {0}")]
    Root(#[from] RootError),
    /// What stands in the way of one document.
    #[error("{}", error_text::open_error(.0))]
    Open(#[from] OpenError),
    /// Reading failed.
    #[error(transparent)]
    Read(ReadError),
    /// The document does not fit into memory.
    #[error(transparent)]
    Memory(#[from] OutOfMemory),
    /// This library broke its own rules.
    #[error("ringfence failed: please report it")]
    Bug,
}

impl From<ReadError> for StoreFault {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::TooLarge(FileSize::Exactly(size) | FileSize::AtLeast(size)) => {
                Self::TooLarge(size)
            }
            error => Self::Read(error),
        }
    }
}

impl StoreFault {
    /// The code that the host may branch on.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Answered(_) | Self::WrongLength { .. } => "INVALID_DOCUMENT",
            Self::NotUtf8(_) => "NOT_UTF8",
            Self::TooLarge(_) => "TOO_LARGE",
            Self::Open(OpenError::Escapes | OpenError::Loops) => "SANDBOX_VIOLATION",
            Self::Open(OpenError::PermissionDenied) | Self::Root(RootError::PermissionDenied) => {
                "PERMISSION_DENIED"
            }
            Self::Root(RootError::System(_)) => "INTERNAL",
            Self::Root(_) | Self::Open(OpenError::RootGone) => "INVALID_ARGUMENT",
            Self::Open(_) | Self::Read(_) | Self::Memory(_) | Self::Bug => "INTERNAL",
        }
    }
}

/// Makes the answer from the bytes that the store gave. They are decoded, and cut at a character's
/// end so that no more come than were asked for.
///
/// # Errors
///
/// [`StoreFault`] where the store's answer does not fit, or is not UTF-8.
pub fn read_document(
    request: &SourceRequest,
    document: StoredDocument,
) -> Result<SourceFile, StoreFault> {
    let StoredDocument { mut bytes, size_bytes } = document;
    let given = bytes.len() as u64;
    let wanted = check_wanted(request.max_bytes, size_bytes)?;
    if given < wanted || given > size_bytes {
        return Err(StoreFault::WrongLength { given, size: size_bytes, wanted });
    }
    bytes.truncate(usize::try_from(wanted).unwrap_or(usize::MAX));
    let is_truncated = wanted < size_bytes;
    if is_truncated {
        bytes.truncate(text::end_of_last_character(&bytes));
    }
    let marked = bytes.len();
    let bytes = text::without_byte_order_mark(bytes);
    let dropped = marked - bytes.len();
    let content = String::from_utf8(bytes).map_err(|error| {
        StoreFault::NotUtf8((error.utf8_error().valid_up_to() + dropped) as u64)
    })?;
    Ok(SourceFile { path: request.path.clone(), size_bytes, content, is_truncated })
}

/// How many bytes of a document are wanted, if a string can hold them. Asked before they are loaded,
/// where its size is known by then.
///
/// # Errors
///
/// [`StoreFault::TooLarge`].
pub fn check_wanted(max_bytes: Option<NonZeroU64>, size_bytes: u64) -> Result<u64, StoreFault> {
    match max_bytes.map_or(size_bytes, |most| most.get().min(size_bytes)) {
        wanted if wanted > MAX_STRING_BYTES => Err(StoreFault::TooLarge(wanted)),
        wanted => Ok(wanted),
    }
}

/// The embedded store: looks a document up among the files of a directory. Keys are relative paths
/// in their shortest form, separated by `/`; `..` and links stay inside. `None` for a text that is
/// no key, for a folder and for a special file.
///
/// # Errors
///
/// [`StoreFault`]; a link that leads out is one, and not a missing document.
pub fn get_from_directory(
    sandbox: &Sandbox,
    doc_path: &str,
    max_bytes: Option<NonZeroU64>,
) -> Result<Option<StoredDocument>, StoreFault> {
    // A second spelling of one document would go past ActiveFiles.
    let key = WorkspacePath::parse(doc_path).ok().filter(|path| path.as_str() == doc_path);
    let Some(key) = key else { return Ok(None) };
    let file = match sandbox.open_file(&key) {
        Ok(file) => file,
        Err(
            OpenError::NotFound
            | OpenError::NotFolder
            | OpenError::Denied
            | OpenError::NameTooLong
            | OpenError::IsDirectory
            | OpenError::SpecialFile,
        ) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    check_wanted(max_bytes, file.size())?;
    let Some(most) = max_bytes else {
        let bytes = file.read_to_end(MAX_STRING_BYTES)?;
        let size_bytes = bytes.len() as u64;
        return Ok(Some(StoredDocument { bytes, size_bytes }));
    };
    // One byte more than can be answered tells that it is too much.
    let (bytes, size_bytes) = file.read_start(most.get().min(MAX_STRING_BYTES + 1))?;
    Ok(Some(StoredDocument { bytes, size_bytes }))
}

#[cfg(test)]
mod tests;
