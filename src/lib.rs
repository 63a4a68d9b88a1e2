//! x
pub mod gc;
