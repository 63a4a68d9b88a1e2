//! The same with the real helm.
