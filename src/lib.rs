//! # ringfence: the file layer of agent toolkits
//!
//! An agent's tools read and create files in a workspace. This crate is the core they call: it
//! opens nothing outside the workspace, whatever a model sends and whatever other processes do
//! meanwhile, and answers as the tools' specifications say, to the letter. It is built as an addon
//! for Node and Bun; everything but the module `node` is plain Rust.
//!
//! | module | content |
//! | --- | --- |
//! | [`tools`] | one file per specification of a tool |
//! | [`store`] | bytes under their SHA-256, in a directory |
//! | [`tree`] | one walker over folders: ignore rules, globs, order, budget |
//! | [`sandbox`] | the only folder that touches a disk: everything is opened beneath the root |
//! | [`access`] | which paths tools may read and change |
//! | [`glob`] | patterns as in a `.gitignore` |
//! | [`path`] | a model's path, parsed once and refused once |
//! | [`text`] | decoding, line windows, documents to edit, media types |
//! | [`hash`] | content hashes |
//! | [`memory`] | memory for sizes that come from outside |
//! | [`regex`] | patterns of models, matched within bounded time and memory |
//! | [`deadline`] | the moment at which a call has to stop |
//! | [`argument`] | the sentences about wrong arguments |
//! | `node` | the only folder that knows JavaScript |
//!
//! Imports run one way: `node` → `tools` → `tree`, `store`, `regex` → `sandbox` → `access` → `glob`, `path`,
//! `text`, `hash`, `memory`, `argument`, `deadline`.

pub mod access;
pub mod argument;
pub mod deadline;
pub mod glob;
pub mod hash;
pub mod memory;
#[cfg_attr(test, allow(dead_code, reason = "napi-derive registers nothing in unit tests"))]
mod node;
pub mod path;
pub mod regex;
pub mod sandbox;
pub mod store;
pub mod text;
pub mod tools;
pub mod tree;
