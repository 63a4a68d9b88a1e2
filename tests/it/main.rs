//! One test binary.

mod formats;
mod yaml_corpus;
mod yaml_decode;
mod yaml_limits;
mod yaml_properties;
mod yaml_rules;
mod yaml_support;
