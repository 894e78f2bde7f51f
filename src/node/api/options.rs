//! The options of a workspace: the same keys in `Workspace.open` and in a plain context.

use std::num::NonZeroU64;
use std::path::PathBuf;

use super::argument::{Argument, lone_surrogate};
use crate::argument::{ArgumentError, Got, SAFE_INTEGERS};
use crate::hash::ContentHash;
use crate::node::engine::text::Text;
use crate::text::InvalidUtf8;
use crate::tools::create_file::{
    CreateFileOptions, DEFAULT_MAX_CREATE_BYTES, Durability, WriteScope,
};

/// Reads an absolute root.
pub fn read_root(argument: Argument<'_>) -> Result<PathBuf, ArgumentError> {
    read_directory_path(argument, "workspaceRoot")
}

/// Reads the absolute path of a directory. `name` is the name by which the caller knows it.
pub fn read_directory_path(
    argument: Argument<'_>,
    name: &'static str,
) -> Result<PathBuf, ArgumentError> {
    let text = match argument.string() {
        Ok(Text::Unicode(text)) => text,
        Ok(Text::LoneSurrogate(_)) => return Err(lone_surrogate(name)),
        Err(error) if argument.is_string() => return Err(ArgumentError { name, ..error }),
        Err(error) => return Err(ArgumentError::new(name, ABSOLUTE, error.got)),
    };
    if text.contains('\0') {
        return Err(ArgumentError::new(name, "must not contain a NUL character", Got::Unsaid));
    }
    let path = PathBuf::from(text);
    if path.is_absolute() {
        return Ok(path);
    }
    Err(ArgumentError::new(name, ABSOLUTE, Got::Kind("a relative one")))
}

/// The rule of a root.
pub const ABSOLUTE: &str = "must be an absolute path";

/// Reads the option that readers look at.
pub fn read_invalid_utf8(object: Argument<'_>) -> Result<InvalidUtf8, ArgumentError> {
    let names = [("reject", InvalidUtf8::Reject), ("replace", InvalidUtf8::Replace)];
    let read = |value: Argument<'_>| value.one_of(&names);
    Ok(object.optional(c"invalidUtf8", "invalidUtf8", read)?.unwrap_or_default())
}

/// The write scopes by name.
pub const WRITE_SCOPES: [(&str, WriteScope); 3] = [
    ("read-only", WriteScope::ReadOnly),
    ("workspace-write", WriteScope::WorkspaceWrite),
    ("unrestricted", WriteScope::Unrestricted),
];

/// The content hashes by name.
pub const CONTENT_HASHES: [(&str, ContentHash); 2] =
    [("sha256", ContentHash::Sha256), ("aptix", ContentHash::Aptix)];

/// Reads the options that writers look at.
pub fn read_create_options(object: Argument<'_>) -> Result<CreateFileOptions, ArgumentError> {
    let durabilities = [("full", Durability::Full), ("none", Durability::None)];
    let write_scope =
        object.optional(c"writeScope", "writeScope", |value| value.one_of(&WRITE_SCOPES))?;
    let durability =
        object.optional(c"durability", "durability", |value| value.one_of(&durabilities))?;
    let content_hash =
        object.optional(c"contentHash", "contentHash", |value| value.one_of(&CONTENT_HASHES))?;
    let max_create_bytes = object
        .optional(c"maxCreateBytes", "maxCreateBytes", |value| value.integer(&SAFE_INTEGERS))?;
    Ok(CreateFileOptions {
        write_scope: write_scope.unwrap_or_default(),
        durability: durability.unwrap_or_default(),
        content_hash: content_hash.unwrap_or_default(),
        max_create_bytes: max_create_bytes.map_or(DEFAULT_MAX_CREATE_BYTES, NonZeroU64::get),
    })
}
