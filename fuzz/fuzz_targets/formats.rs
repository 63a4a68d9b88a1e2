//! See `formats` in `targets`.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../tests/it/fuzz/targets/mod.rs"]
mod targets;

fuzz_target!(init: targets::alone(), |data: &[u8]| targets::run("formats", data));
