//! Node-API, and nothing that ringfence does with it.

pub mod environment;
pub mod error_object;
pub mod object;
pub mod object_literal;
pub mod raw;
pub mod text;
pub mod thrown;
