//! # ringfence: the file layer of agent toolkits
//!
//! An agent's tools read and create files in a workspace. This crate is the core they call: it
//! opens nothing outside the workspace, whatever a model sends and whatever other processes do
//! meanwhile, and answers as the tools' specifications say, to the letter. It is built as an addon
//! for Node and Bun; everything but the module `node` is plain Rust.
//!
//! | module | what it is |
//! | --- | --- |
//! | [`read_file`] | the `read_file` specification: one file, one window of lines |
//! | [`create_file`] | the `workspace_create_file` specification: all or nothing, and nobody else's file |
//! | [`file_uri`] | the `read` specification: `file:` URIs of a space and a chat |
//! | [`source`] | the `workspace.read_file` specification: source documents by DocPath |
//! | [`snapshot`] | TUL-004's snapshot of the workspace tree, for a boot prompt |
//! | [`store`] | bytes under their SHA-256, in a directory |
//! | [`sandbox`] | the only folder that touches a disk: everything is opened beneath the root |
//! | [`near_miss`] | what may have been meant by a path at which nothing stands |
//! | [`path`] | a model's path, parsed once and refused once |
//! | [`text`] | decoding, newlines, line windows |
//! | [`media_type`] | which media types are text |
//! | [`hash`] | content hashes |
//! | [`argument`] | what a wrong argument is told |
//! | `node` | the only folder that knows JavaScript |
//!
//! Imports run one way: `node` → specifications → `store` → `sandbox` → `text`, `path`, `hash`,
//! `media_type`, `argument`.

pub mod argument;
pub mod create_file;
pub mod file_uri;
pub mod hash;
pub mod media_type;
pub mod near_miss;
#[cfg_attr(test, allow(dead_code, reason = "napi-derive registers nothing in unit tests"))]
mod node;
pub mod path;
pub mod read_file;
pub mod sandbox;
pub mod snapshot;
pub mod source;
pub mod store;
pub mod text;
