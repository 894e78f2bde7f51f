//! `file:` URIs: the text files of a space and of a chat, for a `read` tool that knows neither.
//!
//! | URI | where it looks | path |
//! | --- | --- | --- |
//! | `file:///assets/brand.md` | the current space | `assets/brand.md` |
//! | `file:notes/a.md` | the files of the current chat | `files/notes/a.md` |
//!
//! The text is parsed by hand, because URL parsers read `file:doc.md` as `file:///doc.md`.
//! [`FileUri::parse`] touches no disk. The file is read from a directory through the
//! [sandbox](crate::sandbox), or from a host's own tree, whose bytes are in a content-addressed
//! [store](crate::store).
//!
//! ```
//! use ringfence::tools::file_uri::{FileUri, Scope, UriRefusal};
//!
//! let uri = FileUri::parse("file:notes//./project%20a.md")?;
//! assert_eq!((uri.scope(), uri.path().as_str()), (Scope::Chat, "files/notes/project a.md"));
//! assert_eq!(FileUri::parse("file:///../etc/passwd"), Err(UriRefusal::AboveRoot));
//! # Ok::<(), UriRefusal>(())
//! ```

use std::fmt;

use super::error_text;
use crate::argument::ArgumentError;
use crate::memory::OutOfMemory;
use crate::path::{PathRefusal, Printable, WorkspacePath};
use crate::sandbox::{OpenError, ReadError, RootError, Sandbox};
use crate::store::{ContentAddress, FileStore, FileStoreError};
use crate::text;
use crate::text::media_type::{self, TEXT_PLAIN};

/// The largest file that is read unless the caller says otherwise, in bytes: 1 MiB.
pub const DEFAULT_MAX_BYTES: u64 = 1_048_576;

// URI formats.

/// The tree in which a URI is looked up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// `file:///…`: the current space.
    Workspace,
    /// `file:…`: the files of the current chat.
    Chat,
}

impl Scope {
    /// The scope's name in answers.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Workspace => "workspace",
            Self::Chat => "chat",
        }
    }
}

/// The folder of a chat's tree that holds its files.
const CHAT_FILES: &str = "files";

/// A `file:` URI, parsed. Its names are safe: none is empty, `.` or `..`, none holds `/`, `\` or a
/// control character, and none is a drive letter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileUri {
    scope: Scope,
    /// From the scope's root down, without [`CHAT_FILES`]; at least one.
    names: Vec<String>,
}

/// Why a text is not a `file:` URI of the two forms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum UriRefusal {
    /// Another scheme, or none.
    #[error(
        "is not a file: URI; write file:///path for a file of the workspace, file:path for one of the chat"
    )]
    NotFile,
    /// Nothing is left to look up.
    #[error("file without path")]
    WithoutPath,
    /// `file://host/…`, `localhost` too.
    #[error("names a host; write file:///path, with three slashes")]
    Authority,
    /// `file:/x`, `file:////x`.
    #[error(
        "has the wrong number of slashes; write file:///path for a file of the workspace, file:path for one of the chat"
    )]
    Slashes,
    /// A `%` without two hex digits after it, or escapes that are not UTF-8.
    #[error("has a bad percent-escape; write a percent sign itself as %25")]
    BadEscape,
    /// A character that no name may hold, raw or escaped.
    #[error("has a name that holds {0}")]
    Character(ForbiddenCharacter),
    /// More than [`LONGEST_URI`](crate::argument::LONGEST_URI).
    #[error("must not be longer than 1 MiB")]
    TooLong,
    /// A lone surrogate, which no file name can hold.
    #[error("must be well-formed Unicode, without lone surrogates")]
    LoneSurrogate,
    /// `C:`, `C|`.
    #[error("names a drive; write the path from the workspace's root")]
    DriveLetter,
    /// Its `..` rise above the root, even if later names come back.
    #[error("leaves its root: its `..` rise above it")]
    AboveRoot,
}

/// A character that no name of a URI may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ForbiddenCharacter {
    /// `%00`, or the character itself.
    #[error("NUL")]
    Nul,
    /// `%2F`: it would be taken for a separator further on.
    #[error("an escaped slash")]
    Slash,
    /// `\` or `%5C`.
    #[error("a backslash; write /")]
    Backslash,
    /// C0 controls and DEL; those of C1 are ordinary.
    #[error("a control character")]
    Control,
}

impl FileUri {
    /// Parses a URI. Each name is percent-decoded once; `?` and `#` are ordinary characters.
    ///
    /// # Errors
    ///
    /// [`UriRefusal`] says which rule the text breaks.
    pub fn parse(uri: &str) -> Result<Self, UriRefusal> {
        let (scope, path) = split_scope(uri)?;
        let mut names = Vec::new();
        for segment in path.split('/') {
            match checked_name(segment)?.as_str() {
                "" | "." => {}
                ".." => {
                    names.pop().ok_or(UriRefusal::AboveRoot)?;
                }
                name => names.push(name.to_owned()),
            }
        }
        if names.is_empty() {
            return Err(UriRefusal::WithoutPath);
        }
        Ok(Self { scope, names })
    }

    /// Where it looks.
    #[must_use]
    pub fn scope(&self) -> Scope {
        self.scope
    }

    /// The names from the root down; the first of a chat's is `files`.
    #[must_use]
    pub fn segments(&self) -> Vec<String> {
        self.root_folder()
            .map(str::to_owned)
            .into_iter()
            .chain(self.names.iter().cloned())
            .collect()
    }

    /// The [segments](FileUri::segments) joined by `/`.
    #[must_use]
    pub fn path(&self) -> String {
        self.segments().join("/")
    }

    /// Where a chat's file is looked for when nothing stands at its path: models write `file:files/a` for
    /// `file:a`, since that is how paths are shown to them.
    #[must_use]
    pub fn without_chat_folder(&self) -> Option<Self> {
        let (first, names) = self.names.split_first()?;
        let repeats = self.scope == Scope::Chat && first == CHAT_FILES && !names.is_empty();
        repeats.then(|| Self { scope: self.scope, names: names.to_vec() })
    }

    fn root_folder(&self) -> Option<&'static str> {
        match self.scope {
            Scope::Workspace => None,
            Scope::Chat => Some(CHAT_FILES),
        }
    }

    fn last_name(&self) -> &str {
        self.names.last().map_or("", String::as_str)
    }
}

/// The URI that parses as this one, everything escaped that has a meaning of its own.
impl fmt::Display for FileUri {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.scope {
            Scope::Workspace => "file:///",
            Scope::Chat => "file:",
        })?;
        for (index, name) in self.names.iter().enumerate() {
            f.write_str(if index == 0 { "" } else { "/" })?;
            for byte in name.bytes() {
                match byte {
                    b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                        write!(f, "{}", char::from(byte))?;
                    }
                    byte => write!(f, "%{byte:02X}")?,
                }
            }
        }
        Ok(())
    }
}

fn split_scope(uri: &str) -> Result<(Scope, &str), UriRefusal> {
    let Some((scheme, rest)) = uri.split_once(':') else {
        let is_scheme = uri.eq_ignore_ascii_case("file");
        return Err(if is_scheme { UriRefusal::WithoutPath } else { UriRefusal::NotFile });
    };
    if !scheme.eq_ignore_ascii_case("file") {
        return Err(UriRefusal::NotFile);
    }
    if let Some(path) = rest.strip_prefix("///") {
        return if path.starts_with('/') {
            Err(UriRefusal::Slashes)
        } else {
            Ok((Scope::Workspace, path))
        };
    }
    match rest {
        "//" => Err(UriRefusal::WithoutPath),
        _ if rest.starts_with("//") => Err(UriRefusal::Authority),
        _ if rest.starts_with('/') => Err(UriRefusal::Slashes),
        path => Ok((Scope::Chat, path)),
    }
}

/// A segment decoded, if it may stand in a URI: also one that a later `..` takes back.
fn checked_name(segment: &str) -> Result<String, UriRefusal> {
    let name = percent_decoded(segment)?;
    for character in name.chars() {
        let forbidden = match character {
            '\0' => ForbiddenCharacter::Nul,
            '/' => ForbiddenCharacter::Slash,
            '\\' => ForbiddenCharacter::Backslash,
            character if character.is_ascii_control() => ForbiddenCharacter::Control,
            _ => continue,
        };
        return Err(UriRefusal::Character(forbidden));
    }
    match name.as_bytes() {
        [letter, b':' | b'|'] if letter.is_ascii_alphabetic() => Err(UriRefusal::DriveLetter),
        _ => Ok(name),
    }
}

fn percent_decoded(segment: &str) -> Result<String, UriRefusal> {
    let mut parts = segment.split('%');
    let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        let (digits, rest) = part.as_bytes().split_at_checked(2).ok_or(UriRefusal::BadEscape)?;
        bytes.push(escaped_byte(digits).ok_or(UriRefusal::BadEscape)?);
        bytes.extend_from_slice(rest);
    }
    String::from_utf8(bytes).map_err(|_| UriRefusal::BadEscape)
}

/// Two hex digits. (`from_str_radix` alone would take a sign for one.)
fn escaped_byte(digits: &[u8]) -> Option<u8> {
    let digits = std::str::from_utf8(digits).ok()?;
    let all_hex = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    if all_hex { u8::from_str_radix(digits, 16).ok() } else { None }
}

// Resolution, and the bytes → text step.

/// A text file that a URI leads to.
#[derive(Debug, PartialEq, Eq)]
pub struct FileUriContent {
    /// The decoded text; Markdown as it stands.
    pub text: String,
    /// Its media type, as the tree or the name says.
    pub media_type: String,
    /// The file's size in bytes, a byte order mark included.
    pub size_bytes: u64,
}

/// A file of a host's tree, its hash parsed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VirtualFile {
    /// The address of its bytes in the store.
    pub address: ContentAddress,
    /// A missing one counts as text.
    pub media_type: Option<String>,
    /// In bytes, if the tree knows.
    pub size: Option<u64>,
}

/// Reads the file that a URI leads to in a directory, through the sandbox.
///
/// # Errors
///
/// [`Problem`], to be told with the URI in a [`FileUriError`].
pub fn read_from_directory(
    sandbox: &Sandbox,
    uri: &FileUri,
    max_bytes: u64,
) -> Result<FileUriContent, Problem> {
    let path = WorkspacePath::parse_beneath(&uri.path())?;
    let file = sandbox.open_file(&path)?;
    let by_name = media_type::of_name(uri.last_name());
    if let Some(media_type) = by_name {
        require_text(media_type)?;
    }
    let bytes =
        file.read_to_end(max_bytes).map_err(|error| Problem::of_reading(error, max_bytes))?;
    let media_type = by_name.unwrap_or_else(|| media_type::of_content(&bytes));
    require_text(media_type)?;
    decoded(bytes, media_type.to_owned())
}

/// Checks the type and the size that a host's tree tells, before any bytes are loaded.
///
/// # Errors
///
/// [`Problem::MediaType`], [`Problem::TooLarge`].
pub fn check_before_loading(
    file: &VirtualFile,
    uri: &FileUri,
    max_bytes: u64,
) -> Result<(), Problem> {
    if let Some(media_type) = &file.media_type
        && !media_type::is_text_file(media_type, uri.last_name())
    {
        return Err(Problem::MediaType(media_type.clone()));
    }
    match file.size {
        Some(size) if size > max_bytes => Err(Problem::TooLarge { size: exactly(size), max_bytes }),
        _ => Ok(()),
    }
}

/// Reads a file of a host's tree from the store on disk.
///
/// # Errors
///
/// [`Problem`].
pub fn read_from_store(
    store: &FileStore,
    file: VirtualFile,
    max_bytes: u64,
) -> Result<FileUriContent, Problem> {
    let bytes = store.get(&file.address, max_bytes).map_err(|error| match error {
        FileStoreError::NotFound(address) => Problem::NotStored(address),
        FileStoreError::Corrupt(address) => Problem::Corrupt(address),
        FileStoreError::TooLarge(size) => Problem::TooLarge { size: size.to_string(), max_bytes },
        FileStoreError::PermissionDenied => Problem::StoreDenied,
        _ => Problem::StoreFailed,
    })?;
    decoded_virtual(file, bytes)
}

/// Decodes the bytes that a host's own store gave, after checking them.
///
/// # Errors
///
/// [`Problem::TooLarge`], [`Problem::Corrupt`].
pub fn read_from_bytes(
    file: VirtualFile,
    bytes: Vec<u8>,
    max_bytes: u64,
) -> Result<FileUriContent, Problem> {
    let size = bytes.len() as u64;
    if size > max_bytes {
        return Err(Problem::TooLarge { size: exactly(size), max_bytes });
    }
    if !file.address.is_of(&bytes) {
        return Err(Problem::Corrupt(file.address));
    }
    decoded_virtual(file, bytes)
}

fn decoded_virtual(file: VirtualFile, bytes: Vec<u8>) -> Result<FileUriContent, Problem> {
    decoded(bytes, file.media_type.unwrap_or_else(|| TEXT_PLAIN.to_owned()))
}

/// As `TextDecoder("utf-8")` does it: a leading byte order mark is dropped, and ill-formed bytes
/// read as U+FFFD.
fn decoded(bytes: Vec<u8>, media_type: String) -> Result<FileUriContent, Problem> {
    let size_bytes = bytes.len() as u64;
    Ok(FileUriContent { text: text::decode_lossy(bytes)?, media_type, size_bytes })
}

fn require_text(media_type: &str) -> Result<(), Problem> {
    if media_type::is_text(media_type) {
        return Ok(());
    }
    Err(Problem::MediaType(media_type.to_owned()))
}

fn exactly(size: u64) -> String {
    format!("{size} bytes")
}

// Failure modes.

/// The error codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileUriErrorCode {
    /// An argument has the wrong type or value, or a root cannot be opened.
    InvalidArgument,
    /// The text is no URI of the two forms, or rises above its root.
    InvalidUri,
    /// A `file:///` URI, and no space was given.
    NoSpace,
    /// A `file:` URI, and no chat was given.
    NoChat,
    /// A link on the way leads out of the root.
    SandboxViolation,
    /// The root's access rules do not let it be read.
    PathDenied,
    /// Nothing stands there.
    NotFound,
    /// The process may not read it.
    PermissionDenied,
    /// A folder, or a file of another type than text.
    NotText,
    /// More than the caller wants.
    TooLarge,
    /// Bytes that do not have their hash.
    Corrupt,
    /// The host, the system, or this library failed.
    Internal,
}

impl FileUriErrorCode {
    /// The code as it stands in `code` and at the front of the message.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::InvalidArgument => "INVALID_ARGUMENT",
            Self::InvalidUri => "INVALID_URI",
            Self::NoSpace => "NO_SPACE",
            Self::NoChat => "NO_CHAT",
            Self::SandboxViolation => "SANDBOX_VIOLATION",
            Self::PathDenied => "PATH_DENIED",
            Self::NotFound => "NOT_FOUND",
            Self::PermissionDenied => "PERMISSION_DENIED",
            Self::NotText => "NOT_TEXT",
            Self::TooLarge => "TOO_LARGE",
            Self::Corrupt => "CORRUPT",
            Self::Internal => "INTERNAL",
        }
    }
}

/// Why a URI was not resolved or read. Shows as `CODE: sentence`.
#[derive(Debug)]
pub enum FileUriError {
    /// An argument is wrong.
    Argument(ArgumentError),
    /// The text is no URI of the two forms.
    Uri(UriRefusal),
    /// The URI's root was not given.
    NoRoot(Scope),
    /// The URI's root cannot be opened.
    Root(Scope, RootError),
    /// What stands in the way of one file.
    File(FileUri, Problem),
    /// This library broke its own rules.
    Bug,
}

/// What stands in the way of one file.
#[derive(Debug, thiserror::Error)]
pub enum Problem {
    /// The running system takes no such name.
    #[error(transparent)]
    Name(#[from] PathRefusal),
    /// What stands at the path.
    #[error("{}", error_text::open_error(.0))]
    Open(#[from] OpenError),
    /// The file's bytes, or its text, do not fit into memory.
    #[error(transparent)]
    Memory(#[from] OutOfMemory),
    /// The host's tree has nothing there.
    #[error("no such file")]
    NotInTree,
    /// The tree has the file, and the store lacks its bytes.
    #[error("the store has no bytes of hash {0}")]
    NotStored(ContentAddress),
    /// The tree has something without bytes there.
    #[error("it is a folder, or has no content")]
    WithoutContent,
    /// The type is not one of text.
    #[error("its type is {}", Printable(.0))]
    MediaType(String),
    /// More than the caller wants.
    #[error("it has {size}, more than the limit of {max_bytes} bytes")]
    TooLarge {
        /// As far as it is known.
        size: String,
        /// The limit.
        max_bytes: u64,
    },
    /// The store's bytes do not have their hash.
    #[error("the store's bytes do not have the hash {0}")]
    Corrupt(ContentAddress),
    /// Reading failed.
    #[error(transparent)]
    Read(ReadError),
    /// The host's tree failed, or its answer is no file.
    #[error("the host's resolve() {0}")]
    TreeFailed(HostFault),
    /// The host's store failed, or its answer is no bytes.
    #[error("the host's getBytes() {0}")]
    HostStoreFailed(HostFault),
    /// The store may not be read.
    #[error("the store may not be read: permission denied")]
    StoreDenied,
    /// The store failed.
    #[error("the store failed")]
    StoreFailed,
}

/// How a callback of the host failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HostFault {
    /// It threw, or its promise was rejected.
    #[error("failed")]
    Threw,
    /// Its answer has the wrong type.
    #[error("answered something else than it should: {0}")]
    Answered(ArgumentError),
}

impl Problem {
    /// Whether nothing stands at the path; something that cannot be read is there.
    #[must_use]
    pub fn is_missing(&self) -> bool {
        self.code() == FileUriErrorCode::NotFound && !matches!(self, Self::NotStored(_))
    }

    fn of_reading(error: ReadError, max_bytes: u64) -> Self {
        match error {
            ReadError::TooLarge(size) => Self::TooLarge { size: size.to_string(), max_bytes },
            error => Self::Read(error),
        }
    }

    #[allow(clippy::match_same_arms, reason = "a table, layer by layer")]
    fn code(&self) -> FileUriErrorCode {
        use FileUriErrorCode as Code;
        match self {
            Self::Name(_) => Code::NotFound,
            Self::Open(error) => match error {
                OpenError::RootGone => Code::InvalidArgument,
                OpenError::Escapes | OpenError::Loops => Code::SandboxViolation,
                OpenError::NotFound | OpenError::NotFolder | OpenError::NameTooLong => {
                    Code::NotFound
                }
                OpenError::Denied => Code::PathDenied,
                OpenError::PermissionDenied => Code::PermissionDenied,
                OpenError::IsDirectory | OpenError::SpecialFile => Code::NotText,
                OpenError::Leased | OpenError::Busy | OpenError::System(_) => Code::Internal,
            },
            Self::NotInTree | Self::NotStored(_) => Code::NotFound,
            Self::WithoutContent | Self::MediaType(_) => Code::NotText,
            Self::TooLarge { .. } => Code::TooLarge,
            Self::Corrupt(_) => Code::Corrupt,
            Self::Read(ReadError::Waits) => Code::NotText,
            Self::StoreDenied => Code::PermissionDenied,
            Self::Read(_)
            | Self::TreeFailed(_)
            | Self::HostStoreFailed(_)
            | Self::StoreFailed
            | Self::Memory(_) => Code::Internal,
        }
    }
}

impl FileUriError {
    /// The code, which is all that a program should branch on.
    #[must_use]
    #[allow(clippy::match_same_arms, reason = "a table, layer by layer")]
    pub fn code(&self) -> FileUriErrorCode {
        use FileUriErrorCode as Code;
        match self {
            Self::Argument(_) => Code::InvalidArgument,
            Self::Uri(_) => Code::InvalidUri,
            Self::NoRoot(Scope::Workspace) => Code::NoSpace,
            Self::NoRoot(Scope::Chat) => Code::NoChat,
            Self::Root(_, RootError::System(_)) | Self::Bug => Code::Internal,
            Self::Root(..) => Code::InvalidArgument,
            Self::File(_, problem) => problem.code(),
        }
    }
}

impl fmt::Display for FileUriError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.code().as_str())?;
        match self {
            Self::Argument(error) => write!(f, "{error}"),
            Self::Uri(refusal @ UriRefusal::WithoutPath) => write!(f, "{refusal}"),
            Self::Uri(refusal) => write!(f, "the uri {refusal}"),
            Self::NoRoot(Scope::Workspace) => f.write_str("file:/// URIs have no workspace here"),
            Self::NoRoot(Scope::Chat) => f.write_str("file: URIs have no chat here"),
            Self::Root(scope, error) => write!(f, "{} {error}", root_argument(*scope)),
            Self::File(uri, problem) => describe_file(f, uri, problem),
            Self::Bug => f.write_str("ringfence failed: please report it"),
        }
    }
}

impl std::error::Error for FileUriError {}

/// The argument that gives a scope's root.
#[must_use]
pub fn root_argument(scope: Scope) -> &'static str {
    match scope {
        Scope::Workspace => "space",
        Scope::Chat => "chat",
    }
}

/// The specification's sentences, and ours in their manner.
fn describe_file(f: &mut fmt::Formatter<'_>, uri: &FileUri, problem: &Problem) -> fmt::Result {
    let path = uri.path();
    let (whose, slash) = match uri.scope {
        Scope::Workspace => ("Workspace", "/"),
        Scope::Chat => ("Chat", ""),
    };
    let place = Printable(&path);
    match problem.code() {
        FileUriErrorCode::NotFound => {
            write!(f, "{whose} file not found at {slash}{place}")?;
            match problem {
                // The host has to know which bytes are missing.
                Problem::NotStored(_) => write!(f, ": {problem}"),
                _ => Ok(()),
            }
        }
        FileUriErrorCode::NotText => {
            write!(f, "{whose} file at {slash}{place} is not a text file: {problem}")
        }
        FileUriErrorCode::TooLarge => {
            write!(f, "{whose} file at {slash}{place} is too large: {problem}")
        }
        FileUriErrorCode::SandboxViolation => {
            let what = "a symbolic link on the way leads out, or round in a circle";
            write!(f, "{whose} file at {slash}{place} could not be read: {what}")
        }
        FileUriErrorCode::InvalidArgument => {
            write!(f, "{} does not exist any more", root_argument(uri.scope))
        }
        _ => write!(f, "{whose} file at {slash}{place} could not be read: {problem}"),
    }
}

#[cfg(test)]
mod tests;
