//! Nothing in a manifest breaks a format.
