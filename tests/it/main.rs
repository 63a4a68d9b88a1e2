//! One test binary.
mod gc_support;
