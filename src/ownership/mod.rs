//! The edges between objects, written and implied, and who removes which finalizer.

pub mod known_finalizers;
