//! Which kinds there are and in which scope.

mod builtin;

pub use builtin::*;
