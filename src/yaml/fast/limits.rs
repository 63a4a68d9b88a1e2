//! Where the subset ends, so that none of the real limits has to be known here.

/// How deep collections may be nested; Kubernetes reads 10,000 levels.
pub(super) const MAX_DEPTH: usize = 200;

/// How many bytes a colon may be away from the start of its key; go-yaml allows 1024 characters.
pub(super) const MAX_KEY: usize = 1024;
