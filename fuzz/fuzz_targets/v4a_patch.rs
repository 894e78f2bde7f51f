#![no_main]

#[path = "../properties.rs"]
#[allow(dead_code, reason = "the other targets' properties")]
mod properties;

libfuzzer_sys::fuzz_target!(|data: &[u8]| properties::v4a_patch(data));
