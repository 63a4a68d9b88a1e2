//! One test binary.

mod formats;
mod tables;
mod yaml_decode;
mod yaml_support;
