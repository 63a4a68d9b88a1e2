//! See `targets::parsers`.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[allow(dead_code)]
#[path = "../../tests/it/fuzz/targets.rs"]
mod targets;

fuzz_target!(|data: &[u8]| targets::parsers(data));
