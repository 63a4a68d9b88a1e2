//! One test binary.

mod formats;
