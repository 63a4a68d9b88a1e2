//! One test binary.

mod formats;
mod yaml_decode;
mod yaml_support;
